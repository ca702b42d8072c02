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
from covary.searching import Search, plan_search
from covary.strategies import find_strategy
from covary.table import read_table

# What a run file says of its search, and what kind of thing that is.
EXPECTED = {
    "measure": str,
    "measure_parameters": dict,
    "strategy": str,
    "strategy_parameters": dict,
    "target": str | None,
    "top": int,
    "prune": bool,
    "sift": bool,
}


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
        if difference := kept.difference(search.description()):
            raise errors.not_the_table_of_run(source, path, difference)
        kept.bounds = search.measure.bounds
        with suppress(_NotKnownError):
            search.run(_Memory(), kept)
        search.started = _moment(facts.get("started"))
        search.finished = _moment(facts.get("finished"))
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
    for name, kind in EXPECTED.items():
        if not isinstance(facts.get(name), kind):
            raise errors.damaged_run(path, "it does not say what was searched")
    tests = facts.get("tests", {"permutations": 0, "seed": 0})
    if not (isinstance(tests, dict) and {"permutations", "seed"} <= set(tests)):
        raise errors.damaged_run(path, "it does not say what was tested")
    try:
        table = read_table(source, wanted)
    except errors.ColumnError as error:
        raise errors.not_the_table_of_run(source, path, str(error).rstrip(".")) from None
    table = dataclasses.replace(table, left_out=_left_out(facts.get("left_out")))
    search = plan_search(
        table,
        measure=find_measure(facts["measure"], **facts["measure_parameters"]),
        strategy=find_strategy(facts["strategy"], **facts["strategy_parameters"]),
        target=facts["target"],
        top=facts["top"],
        prune=facts["prune"],
        sift=facts["sift"],
        permutations=tests["permutations"],
        seed=tests["seed"],
    )
    search.source = os.fspath(source)
    return search


def _left_out(listed: Any) -> tuple[tuple[str, str], ...]:
    """Return which columns were left out, as far as the file tells."""
    known = listed if isinstance(listed, list) else []
    return tuple(
        (str(each[0]), str(each[1])) for each in known if isinstance(each, list) and len(each) == 2
    )


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
