"""Run tasks in processes of this machine, which share their arrays through a mapped file."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numpy as np

from covary import errors
from covary.engines.base import (
    Engine,
    Session,
    Task,
    count_of_workers,
    interrupts_held_back,
    timed,
)

ALIGNMENT = 64
# A worker that has had nothing to do for so long ends: its parent may have been killed.
IDLE_SECONDS = 300


class Processes(Engine):
    """An engine of ``n_jobs`` processes; all cores if None."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = count_of_workers(n_jobs)

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        folder = tempfile.mkdtemp(prefix="covary-")
        pool = None
        try:
            try:
                _write(shared, Path(folder))
            except OSError as error:
                raise errors.unwritable(folder, error.strerror) from None
            pool = _started(self.n_jobs)
            with warnings.catch_warnings():
                # A worker that has grown is replaced by another: nothing to worry anybody.
                warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
                yield _ProcessSession(self.n_jobs, pool, folder)
        except BrokenProcessPool:
            raise errors.worker_died() from None
        finally:
            if pool is not None:
                pool.shutdown(kill_workers=True)
            shutil.rmtree(folder, ignore_errors=True)


class _ProcessSession(Session):
    def __init__(self, n_workers: int, pool: Any, folder: str) -> None:
        super().__init__(n_workers)
        self.pool = pool
        self.folder = folder

    def submit(self, task: Task, items: Any) -> Future[Any]:
        future: Future[Any] = self.pool.submit(_run, task, self.folder, items)
        return future


def _started(n_jobs: int) -> Any:
    """Return a pool whose processes are started."""
    from joblib.externals.loky import ProcessPoolExecutor

    if current_process().daemon:
        raise errors.no_processes("this is a worker process itself")
    with interrupts_held_back():
        pool = ProcessPoolExecutor(n_jobs, timeout=IDLE_SECONDS)
        pool.submit(int)
    return pool


def _write(shared: Any, folder: Path) -> None:
    """Write what all tasks share: the arrays into one file, the rest into another.

    By value where a worker cannot import it, such as a measure of the user's own script.
    """
    import cloudpickle

    arrays: list[pickle.PickleBuffer] = []
    rest = cloudpickle.dumps(shared, protocol=5, buffer_callback=arrays.append)
    spans = []
    with open(folder / "arrays", "wb") as file:
        file.write(b"\0" * ALIGNMENT)  # a file to be mapped is never empty
        for array in arrays:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(array.raw())
            spans.append((begin, file.tell()))
    (folder / "rest").write_bytes(pickle.dumps((rest, spans)))


@lru_cache(maxsize=1)
def _shared(folder: str) -> Any:
    """Return what the parent wrote for its workers a moment ago; arrays are not copied."""
    rest, spans = pickle.loads((Path(folder) / "rest").read_bytes())  # noqa: S301
    mapped = np.memmap(Path(folder) / "arrays", np.uint8, "r")
    return pickle.loads(rest, buffers=[mapped[slice(*span)] for span in spans])  # noqa: S301


def _run(task: Task, folder: str, items: Any) -> tuple[float, Any]:
    return timed(task, _shared(folder), items)
