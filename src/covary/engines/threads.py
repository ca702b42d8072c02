"""Run tasks in threads of this process. The kernels release the interpreter lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from covary.engines.base import (
    ENGINES,
    Engine,
    Session,
    Task,
    number_of_workers,
    run_cancellable,
)


@ENGINES.register("threads", "threads of this process")
class Threads(Engine):
    """Run tasks in threads of this process.

    Parameters
    ----------
    n_jobs : the number of threads; the number of available cores if None
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = number_of_workers(n_jobs)

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="covary")
        cancelled = threading.Event()
        try:
            yield _ThreadSession(self.n_jobs, pool, shared, cancelled)
        finally:
            cancelled.set()
            pool.shutdown(cancel_futures=True)


class _ThreadSession(Session):
    def __init__(
        self, n_workers: int, pool: ThreadPoolExecutor, shared: Any, cancelled: threading.Event
    ) -> None:
        super().__init__(n_workers)
        self.pool = pool
        self.shared = shared
        self.cancelled = cancelled

    def submit(self, task: Task, items: Any) -> Future[Any]:
        return self.pool.submit(run_cancellable, self.cancelled, task, self.shared, items)
