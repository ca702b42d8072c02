"""A search restored from its run file: finished, interrupted, or still running elsewhere."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from covary import errors
from covary.engines import Engine, Session, find_engine, run_here
from covary.measures import find_measure
from covary.runs import READABLE_VERSIONS, RunFile
from covary.searching.options import TEST_OPTIONS, SearchOptions
from covary.searching.plan import SearchPlan, plan_search
from covary.searching.relations import Relations
from covary.searching.run import Search
from covary.searching.strategies import find_strategy
from covary.significance.permutation import evidence_observed
from covary.table import Table, TableOptions, declare, read_table

# Parameters that strategies did not have in the first release, with the values that they had in
# effect.
LATER_PARAMETERS = {"beam": {"every": 0}}


def restore_search(
    path: str | os.PathLike[str],
    table: str | os.PathLike[str] | None = None,
) -> Search:
    """Return the search of a run file with its results so far; nothing is scored.

    Parameters
    ----------
    path : the run file, which is not changed
    table : the file that was searched; by default at its path then, or beside the run file
    """
    with RunFile.read(path) as run_file:
        facts = run_file.facts()
        source = table if table is not None else find_table(path, facts.get("table"))
        names = [name for name, _ in run_file.columns()]
        plan = _restore_plan(path, facts, source, names)
        if difference := run_file.difference(plan.description(), only_read=True):
            raise errors.not_the_table_of_run(source, path, difference)
        is_former = facts["versions"]["covary"] in READABLE_VERSIONS
        run_file.bounds = plan.measure.bounds
        search = FormerSearch(_ordered_by_position(plan)) if is_former else Search(plan)
        with suppress(NotStoredError):
            search.run(StoredResults(), run_file)
        search.started = parse_time(facts.get("started"))
        search.finished = parse_time(facts.get("finished"))
        search.engine = find_engine()  # for figures
    return search


class FormerSearch(Search):
    """A search by a former version, which stored p-values of the best sets only."""

    def relations(self) -> Relations:
        """Return the relations among the best sets."""
        folded = self.sifted is None
        return Relations(self.found(), self.plan.target, self.plan.options.top, folded=folded)


class NotStoredError(Exception):
    """The run file does not contain a result."""


class StoredResults(Engine):
    """An engine that computes almost nothing, so that only stored results are used.

    The evidence of the sets is computed, because it takes little time and is not stored before
    the search ends.
    """

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        yield _NoSession(shared)


class _NoSession(Session):
    def __init__(self, shared: Any) -> None:
        super().__init__(1)
        self.shared = shared

    def submit(self, task: Any, items: Any) -> Any:
        raise NotStoredError

    def run(self, task: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        if task is evidence_observed:
            yield from run_here(self.shared)(task, items)
        else:
            yield from super().run(task, items)


def find_table(path: str | os.PathLike[str], table: Any) -> str | os.PathLike[str]:
    """Return the path of the table: the one it had, or beside the run file."""
    if isinstance(table, str):
        for candidate in (Path(table), Path(path).parent / Path(table).name):
            if candidate.is_file():
                return candidate
    raise errors.table_of_run_is_gone(path, table)


def _restore_plan(
    path: str | os.PathLike[str],
    facts: dict[str, Any],
    source: str | os.PathLike[str],
    names: Sequence[str],
) -> SearchPlan:
    """Return the plan that the run file describes."""
    options = _restore_options(path, facts)
    plan = plan_search(
        restore_table(path, facts, source, names),
        None,
        find_measure(facts["measure"], **facts["measure_parameters"]),
        find_strategy(
            facts["strategy"],
            **LATER_PARAMETERS.get(facts["strategy"], {}) | facts["strategy_parameters"],
        ),
        options,
    )
    return dataclasses.replace(plan, source=os.fspath(source))


def _ordered_by_position(plan: SearchPlan) -> SearchPlan:
    """Return the plan with columns in the order of the table, instead of one by content."""
    candidates = plan.candidates
    columns = np.sort(candidates.columns)
    return dataclasses.replace(plan, candidates=candidates._replace(columns=columns))


def restore_table(
    path: str | os.PathLike[str],
    facts: dict[str, Any],
    source: str | os.PathLike[str],
    names: Sequence[str],
) -> Table:
    """Return the table of a run file with the columns that it had then."""
    try:
        former = TableOptions.former_defaults()
        declared = TableOptions(**{name: facts.get(name, former[name]) for name in former})
        table = read_table(declare(source, declared), names)
    except errors.ColumnError as error:
        raise errors.not_the_table_of_run(source, path, str(error).rstrip(".")) from None
    return dataclasses.replace(table, left_out=_left_out(facts.get("left_out")))


def _restore_options(path: str | os.PathLike[str], facts: dict[str, Any]) -> SearchOptions:
    """Return the options that the run file describes; raise an error if it is damaged."""
    kinds = {"measure": str, "measure_parameters": dict, "strategy": str, "target": str | None}
    for name, kind in {**kinds, "strategy_parameters": dict}.items():
        if name not in facts or not isinstance(facts[name], kind):
            raise errors.run_without_search(path)
    tests = facts.get("tests", {name: SearchOptions.defaults()[name] for name in TEST_OPTIONS})
    if not (isinstance(tests, dict) and set(TEST_OPTIONS) <= set(tests)):
        raise errors.run_without_tests(path)
    stored = {name: facts[name] for name in SearchOptions.defaults() if name in facts}
    try:
        return SearchOptions(**{**stored, **{name: tests[name] for name in TEST_OPTIONS}})
    except errors.ParameterError:
        raise errors.run_without_search(path) from None


def _left_out(listed: Any) -> tuple[tuple[str, str], ...]:
    """Return the columns that were left out, as far as the file names them."""
    entries = listed if isinstance(listed, list) else []
    return tuple(
        (str(each[0]), str(each[1]))
        for each in entries
        if isinstance(each, list) and len(each) == 2
    )


def parse_time(text: Any) -> datetime | None:
    """Return a time from its ISO text; None if it is something else."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
