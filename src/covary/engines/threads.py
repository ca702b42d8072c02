"""Run tasks on threads: the kernels release the interpreter lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from covary.engines.base import Engine, Session, Task, count_of_workers, timed_until


class Threads(Engine):
    """An engine of ``n_jobs`` threads in this process; all cores if None."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = count_of_workers(n_jobs)

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="covary")
        given_up = threading.Event()
        try:
            yield _ThreadSession(self.n_jobs, pool, shared, given_up)
        finally:
            given_up.set()
            pool.shutdown(cancel_futures=True)


class _ThreadSession(Session):
    def __init__(
        self, n_workers: int, pool: ThreadPoolExecutor, shared: Any, given_up: threading.Event
    ) -> None:
        super().__init__(n_workers)
        self.pool = pool
        self.shared = shared
        self.given_up = given_up

    def submit(self, task: Task, items: Any) -> Future[Any]:
        return self.pool.submit(timed_until, self.given_up, task, self.shared, items)
