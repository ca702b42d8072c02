"""An overview restored from its run file: finished, interrupted, or still running elsewhere."""

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from typing import Any

from covary import errors
from covary.engines import find_engine
from covary.runs import RunFile
from covary.searching.resume import (
    NotStoredError,
    StoredResults,
    find_table,
    parse_time,
    restore_table,
)
from covary.structure.options import OverviewOptions
from covary.structure.plan import plan_overview
from covary.structure.run import OverviewRun


def restore_overview(
    path: str | os.PathLike[str], table: str | os.PathLike[str] | None = None
) -> OverviewRun:
    """Return the overview of a run file, as far as it is stored; nothing else is computed.

    Parameters
    ----------
    path : the run file, which is not changed
    table : the file of the table; by default at its path then, or beside the run file
    """
    with RunFile.read(path) as run_file:
        facts = run_file.facts()
        source = table if table is not None else find_table(path, facts.get("table"))
        names = [name for name, _ in run_file.columns()]
        plan = plan_overview(
            restore_table(path, facts, source, names), None, _restore_options(path, facts)
        )
        plan = dataclasses.replace(plan, source=os.fspath(source))
        if difference := run_file.difference(plan.description(), only_read=True):
            raise errors.not_the_table_of_run(source, path, difference)
        found = OverviewRun(plan)
        with suppress(NotStoredError):
            found.run(StoredResults(), run_file)
        found.started = parse_time(facts.get("started"))
        found.finished = parse_time(facts.get("finished"))
        found.engine = find_engine()  # for figures
    return found


def _restore_options(path: str | os.PathLike[str], facts: dict[str, Any]) -> OverviewOptions:
    """Return the options that the run file describes; raise an error if it is damaged."""
    defaults = OverviewOptions.defaults()
    try:
        return OverviewOptions(**{name: facts.get(name, defaults[name]) for name in defaults})
    except errors.ParameterError:
        raise errors.run_without_search(path) from None
