"""Progress of the stages of a search."""

from __future__ import annotations

from covary.array_types import OnProgress, OnStage


def of_stage(stage: str, on_progress: OnStage | None) -> OnProgress:
    """Return a callback for one stage of several."""

    def report(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(stage, done, total)

    return report
