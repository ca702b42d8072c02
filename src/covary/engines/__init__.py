"""Engines run one task on many items. Every engine gives the same results."""

from __future__ import annotations

from typing import Any

from covary import errors
from covary.engines.base import ENGINES, Engine, RunTasks, Session, stop_if_cancelled
from covary.engines.inline import run_here
from covary.engines.interrupts import interrupts_deferred

__all__ = [
    "ENGINES",
    "Engine",
    "RunTasks",
    "Session",
    "find_engine",
    "interrupts_deferred",
    "run_here",
    "stop_if_cancelled",
]


def find_engine(engine: Any = "threads", n_jobs: int | None = None) -> Engine:
    """Return an engine.

    Parameters
    ----------
    engine : an engine, the name of one, the address of a Dask scheduler, or a Dask client
    n_jobs : the number of workers; the default of the engine if None

    Examples
    --------
    >>> find_engine("threads", n_jobs=2).n_jobs
    2

    """
    if isinstance(engine, Engine):
        return engine
    entries = ENGINES.entries()
    if isinstance(engine, str) and engine.strip().lower() in entries:
        return entries[engine.strip().lower()].make({"n_jobs": n_jobs})
    for entry in entries.values():
        if (found := entry.cls.at(engine, n_jobs)) is not None:
            return found
    raise errors.unknown_engine(engine, list(entries))


def __getattr__(name: str) -> Any:
    """Return a registered class, such as ``Threads``."""
    if name[:1].isupper() and name in (classes := ENGINES.classes()):
        return classes[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
