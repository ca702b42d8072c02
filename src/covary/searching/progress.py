"""Progress of the stages of a search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from covary.array_types import OnProgress, OnStage
from covary.engines import RunTasks


def of_stage(stage: str, on_progress: OnStage | None) -> OnProgress:
    """Return a callback for one stage of several."""

    def report(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(stage, done, total)

    return report


def reporting(run: RunTasks, report: OnProgress) -> RunTasks:
    """Return a function that runs tasks in the same way and reports the items done."""

    def run_and_report(task: Any, items: Any) -> Iterator[tuple[int, Any]]:
        done = 0
        for first, found in run(task, items):
            done += len(found)
            report(done, len(items))
            yield first, found

    return run_and_report
