"""Ways to run one task for many items; every engine gives the same results."""

from __future__ import annotations

from typing import Any

from covary import errors
from covary.engines.base import Engine, Session, given_up
from covary.engines.dask import Dask
from covary.engines.processes import Processes
from covary.engines.threads import Threads

SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")

__all__ = ["Dask", "Engine", "Processes", "Session", "Threads", "find_engine", "given_up"]


def find_engine(engine: Any = "threads", n_jobs: int | None = None) -> Engine:
    """Return an engine by its name, or for the address or client of a Dask scheduler.

    Examples
    --------
    >>> find_engine("threads", n_jobs=2).n_jobs
    2

    """
    if isinstance(engine, Engine):
        return engine
    if engine == "threads":
        return Threads(n_jobs)
    if engine == "processes":
        return Processes(n_jobs)
    if engine == "dask":
        return Dask(None, n_jobs)
    is_client = type(engine).__module__ == "distributed.client"
    if is_client or (isinstance(engine, str) and engine.partition("://")[0] in SCHEMES):
        return Dask(engine, n_jobs)
    raise errors.unknown_engine(engine)
