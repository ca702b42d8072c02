"""Run tasks on threads: the kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from numbers import Integral
from typing import Any

from covary import errors

CHUNK_SECONDS = 0.05


class Threads:
    """An engine of ``n_jobs`` threads in this process; all cores if None."""

    def __init__(self, n_jobs: int | None = None) -> None:
        if n_jobs is None:
            n_jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
            n_jobs = n_jobs or os.cpu_count() or 1
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
            raise errors.invalid_parameter("n_jobs", "a number of threads from 1, or None", n_jobs)
        self.n_jobs: int = int(n_jobs)

    def run(
        self,
        task: Callable[[Any, Any], Any],
        shared: Any,
        items: Sequence[Any],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> list[Any]:
        """Return ``[task(shared, item) for item in items]``.

        The items are handed out in chunks of about 50 ms, whatever one costs; ``on_progress`` is
        told after each how many are done, and how many there are.
        """
        work = _Work(task, shared, items, on_progress)
        with ThreadPoolExecutor(self.n_jobs) as pool:
            try:
                workers = [pool.submit(work.labour) for _ in range(min(self.n_jobs, len(items)))]
                wait(workers)
            finally:
                # An interrupt reaches this thread only: tell the others to stop after their chunk.
                work.stopped.set()
        for worker in workers:
            worker.result()
        return work.results


class _Work:
    """The items of one run, handed out to whoever asks."""

    def __init__(
        self,
        task: Callable[[Any, Any], Any],
        shared: Any,
        items: Sequence[Any],
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self.task = task
        self.shared = shared
        self.items = items
        self.on_progress = on_progress
        self.results: list[Any] = [None] * len(items)
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.next = 0
        self.done = 0

    def labour(self) -> None:
        size = 1
        try:
            while not self.stopped.is_set():
                with self.lock:
                    first, self.next = self.next, min(self.next + size, len(self.items))
                    last = self.next
                if first == last:
                    return
                begin = time.perf_counter()
                for position in range(first, last):
                    self.results[position] = self.task(self.shared, self.items[position])
                seconds = time.perf_counter() - begin
                # Grow or shrink the chunk toward the time it should take, not all at once.
                ideal = size * CHUNK_SECONDS / max(seconds, 1e-9)
                size = int(min(max(ideal, 1), 2 * size))
                with self.lock:
                    self.done += last - first
                    if self.on_progress is not None:
                        self.on_progress(self.done, len(self.items))
        except BaseException:
            self.stopped.set()
            raise
