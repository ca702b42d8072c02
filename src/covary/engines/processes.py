"""Run tasks in processes of this machine, which share their arrays through a mapped file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from covary import errors
from covary.engines.base import (
    Engine,
    Session,
    Task,
    count_of_workers,
    interrupts_held_back,
    timed,
)


class Processes(Engine):
    """An engine of ``n_jobs`` processes; all cores if None."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = count_of_workers(n_jobs)

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        import joblib
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.backend.resource_tracker import ensure_running
        from joblib.externals.loky.process_executor import BrokenProcessPool

        folder = tempfile.mkdtemp(prefix="covary-")
        pool = None
        try:
            path = str(Path(folder) / "shared")
            try:
                joblib.dump(shared, path)
            except OSError as error:
                raise errors.unwritable(folder, error.strerror) from None
            ensure_running()  # or it would let interrupts through again
            with interrupts_held_back():
                pool = ProcessPoolExecutor(self.n_jobs)
                pool.submit(int)  # starts them all
            yield _ProcessSession(self.n_jobs, pool, path)
        except BrokenProcessPool:
            raise errors.worker_died() from None
        finally:
            if pool is not None:
                pool.shutdown(kill_workers=True)
            shutil.rmtree(folder, ignore_errors=True)


class _ProcessSession(Session):
    def __init__(self, n_workers: int, pool: Any, path: str) -> None:
        super().__init__(n_workers)
        self.pool = pool
        self.path = path

    def submit(self, task: Task, items: Any) -> Future[Any]:
        future: Future[Any] = self.pool.submit(_run, task, self.path, items)
        return future


def _run(task: Task, path: str, items: Any) -> tuple[float, Any]:
    return timed(task, _shared(path), items)


@lru_cache(maxsize=1)
def _shared(path: str) -> Any:
    """Return what the parent wrote for its workers a moment ago."""
    import joblib

    return joblib.load(path, mmap_mode="r")
