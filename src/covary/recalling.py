"""A search as its run file knows it: finished, interrupted, or still under way elsewhere."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from covary import errors
from covary.engines import Engine, Session
from covary.measures import find_measure
from covary.runs import RunFile
from covary.searching import Search, plan_search, storable
from covary.strategies import find_strategy
from covary.table import read_table


def recall_search(
    path: str | os.PathLike[str], table: str | os.PathLike[str] | None = None
) -> Search:
    """Return the search of a run file, with what it has found so far; nothing is scored.

    Parameters
    ----------
    path : the run file, which stays as it is
    table : the file that was searched; where it was then, or beside the run file, if None
    """
    with RunFile.read(path) as kept:
        facts = kept.facts()
        source = table if table is not None else _source(path, facts.get("table"))
        wanted = [name for name, _ in kept.columns()]
        search = _planned(path, facts, source, wanted)
        search.source = os.fspath(source)
        if difference := kept.difference(search.description()):
            raise errors.not_the_table_of_run(source, path, difference)
        kept.bounds = search.measure.bounds
        with suppress(_NotKnownError):
            search.run(_Memory(), kept)
        search.started = _moment(facts.get("started"), search.started)
        search.finished = _moment(facts.get("finished"), search.finished)
    return search


class _NotKnownError(Exception):
    """Something would have to be computed."""


class _Memory(Engine):
    """An engine that computes nothing: what the run file does not know stays unknown."""

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        yield _MemorySession(1)


class _MemorySession(Session):
    def submit(self, task: Any, items: Any) -> Any:
        raise _NotKnownError


def _source(path: str | os.PathLike[str], table: Any) -> str | os.PathLike[str]:
    """Return where the table is: where it was, or beside the run file."""
    if isinstance(table, str):
        for there in (Path(table), Path(path).parent / Path(table).name):
            if there.is_file():
                return there
    raise errors.table_of_run_is_gone(path, table)


def _planned(
    path: str | os.PathLike[str],
    facts: dict[str, Any],
    source: str | os.PathLike[str],
    wanted: Sequence[str],
) -> Search:
    """Return the search that the run file describes."""
    whole = read_table(source)
    positions = {storable(name): at for at, name in enumerate(whole.names)}
    for name in wanted:
        if name not in positions:
            difference = f"its table has a column '{name}', which is not here"
            raise errors.not_the_table_of_run(source, path, difference)
    table = whole.select([positions[name] for name in wanted])
    if len(wanted) < len(positions):  # columns were named, none was left out
        table = dataclasses.replace(table, left_out=())
    try:
        tests = facts.get("tests", {"permutations": 0, "seed": 0})
        target = facts["target"]
        if target is not None:
            target = whole.names[positions[storable(target)]]
        return plan_search(
            table,
            measure=find_measure(facts["measure"], **facts["measure_parameters"]),
            strategy=find_strategy(facts["strategy"], **facts["strategy_parameters"]),
            target=target,
            top=facts["top"],
            prune=facts["prune"],
            sift=facts["sift"],
            permutations=tests["permutations"],
            seed=tests["seed"],
        )
    except (KeyError, TypeError, AttributeError):
        raise errors.damaged_run(path, "it does not say what was searched") from None


def _moment(text: Any, otherwise: datetime) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return otherwise
