"""Run tasks in processes of this machine, which share arrays through a memory-mapped file."""

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
from covary.engines.base import ENGINES, Engine, Session, Task, number_of_workers, run_timed
from covary.engines.interrupts import interrupts_deferred, processes_ignore_interrupts

ALIGNMENT = 64
# An idle worker ends after this time, because its parent may have been killed.
IDLE_SECONDS = 300


@ENGINES.register("processes", "processes of this machine")
class Processes(Engine):
    """Run tasks in processes of this machine.

    Parameters
    ----------
    n_jobs : the number of processes; the number of available cores if None
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = number_of_workers(n_jobs)

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        folder = tempfile.mkdtemp(prefix="covary-")
        pool = None
        try:
            try:
                _write_shared(shared, Path(folder))
            except OSError as error:
                raise errors.unwritable(folder, error.strerror) from None
            pool = _start_pool(self.n_jobs)
            with warnings.catch_warnings():
                # The pool replaces workers that use much memory. This is harmless.
                warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
                yield _ProcessSession(self.n_jobs, pool, folder)
        except BrokenProcessPool:
            raise errors.worker_died() from None
        finally:
            if pool is not None:
                _stop_pool(pool)
            shutil.rmtree(folder, ignore_errors=True)


class _ProcessSession(Session):
    def __init__(self, n_workers: int, pool: Any, folder: str) -> None:
        super().__init__(n_workers)
        self.pool = pool
        self.folder = folder

    def submit(self, task: Task, items: Any) -> Future[Any]:
        future: Future[Any] = self.pool.submit(_run_in_worker, task, self.folder, items)
        return future


def _start_pool(n_jobs: int) -> Any:
    """Return a pool of running processes."""
    from joblib.externals.loky import ProcessPoolExecutor

    if current_process().daemon:
        raise errors.no_processes("this is a worker process itself")
    with processes_ignore_interrupts():
        pool = ProcessPoolExecutor(n_jobs, timeout=IDLE_SECONDS)
        pool.submit(int)
    return pool


def _stop_pool(pool: Any) -> None:
    """End all processes of a pool, also those that an interrupted pool has lost."""
    with interrupts_deferred():
        workers = list(pool._processes.values())
        pool.shutdown(kill_workers=True)
        for worker in workers:
            if worker.is_alive():
                worker.kill()


def _write_shared(shared: Any, folder: Path) -> None:
    """Write the shared argument: its arrays into one file, the rest into another.

    Objects that a worker cannot import, such as a measure of the user's script, are written by
    value.
    """
    import cloudpickle

    arrays: list[pickle.PickleBuffer] = []
    rest = cloudpickle.dumps(shared, protocol=5, buffer_callback=arrays.append)
    spans = []
    with open(folder / "arrays", "wb") as file:
        file.write(b"\0" * ALIGNMENT)  # an empty file cannot be mapped
        for array in arrays:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(array.raw())
            spans.append((begin, file.tell()))
    (folder / "rest").write_bytes(pickle.dumps((rest, spans)))


@lru_cache(maxsize=1)
def _read_shared(folder: str) -> Any:
    """Return the shared argument that the parent has written, without copying its arrays."""
    rest, spans = pickle.loads((Path(folder) / "rest").read_bytes())  # noqa: S301
    mapped = np.memmap(Path(folder) / "arrays", np.uint8, "r")
    return pickle.loads(rest, buffers=[mapped[slice(*span)] for span in spans])  # noqa: S301


def _run_in_worker(task: Task, folder: str, items: Any) -> tuple[float, Any]:
    return run_timed(task, _read_shared(folder), items)
