"""What an engine is: somewhere to run a task on parts of many items."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from numbers import Integral
from typing import Any

from covary import errors

CHUNK_SECONDS = 0.05
Task = Callable[[Any, Any], Any]


class Engine(ABC):
    """A number of workers; every engine gives the same results."""

    @abstractmethod
    def session(self, shared: Any) -> AbstractContextManager[Session]:
        """Return a context in which tasks run, all with the same ``shared``."""


class Session(ABC):
    """Workers that hold what all tasks share."""

    # What a task raises when it is not to blame and may be tried again.
    lost: tuple[type[BaseException], ...] = ()

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._sizes: dict[Task, int] = {}

    @abstractmethod
    def submit(self, task: Task, items: Any) -> Any:
        """Start ``timed(task, shared, items)`` on a worker and return its future."""

    def succeeded(self, future: Any) -> None:  # noqa: B027
        """Note that a task is done."""

    def recover(self, future: Any, error: BaseException) -> None:
        """Get ready for another try after a task was lost; raise if that is hopeless."""
        raise error

    def run(self, task: Task, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield ``(first, task(shared, items[first:last]))`` for chunks that cover all items.

        Chunks come in the order in which they are done. They are cut to take about 50 ms each,
        whatever an item costs. What is under way is given up when the caller stops listening.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        underway: dict[Any, tuple[int, int]] = {}
        begun = 0
        try:
            while begun < len(items) or underway:
                while begun < len(items) and len(underway) < 2 * self.n_workers:
                    size = self._next_size(task, len(items) - begun)
                    self._begin(task, items, (begun, begun + size), underway, done)
                    begun += size
                future = _next_done(done)
                chunk = underway.pop(future)
                try:
                    seconds, results = future.result()
                except self.lost as error:
                    self.recover(future, error)
                    self._begin(task, items, chunk, underway, done)
                    continue
                self.succeeded(future)
                self._learn(task, chunk[1] - chunk[0], seconds)
                yield chunk[0], results
        finally:
            for future in underway:
                future.cancel()

    def _begin(
        self,
        task: Task,
        items: Sequence[Any],
        chunk: tuple[int, int],
        underway: dict[Any, tuple[int, int]],
        done: queue.SimpleQueue[Any],
    ) -> None:
        future = self.submit(task, items[slice(*chunk)])
        underway[future] = chunk
        future.add_done_callback(done.put)

    def _next_size(self, task: Task, left: int) -> int:
        """Return how many items to hand out: less toward the end, so that all finish together."""
        usual = self._sizes.get(task, 1)
        share = -(-left // (2 * self.n_workers))
        return min(usual, left, max(share, usual // 8))

    def _learn(self, task: Task, n_items: int, seconds: float) -> None:
        """Grow or shrink the chunks toward the time they should take, not all at once."""
        ideal = n_items * CHUNK_SECONDS / max(seconds, 1e-9)
        usual = self._sizes.get(task, 1)
        self._sizes[task] = int(min(max(ideal, 1, usual // 2), 2 * usual))


def _next_done(done: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            # Not forever: on some systems an interrupt has to wait for the call to return.
            return done.get(timeout=0.5)
        except queue.Empty:
            continue


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Let processes that are started meanwhile never see Ctrl-C, as a terminal sends it to all.

    This process sees it when they are started.
    """
    if threading.current_thread() is not threading.main_thread() or os.name == "nt":
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def timed(task: Task, shared: Any, items: Any) -> tuple[float, Any]:
    """Return how long a task took, and what it returned."""
    begin = time.perf_counter()
    results = task(shared, items)
    return time.perf_counter() - begin, results


def count_of_workers(n_jobs: int | None) -> int:
    """Return the number of workers that is asked for; all cores if None."""
    if n_jobs is None:
        n_jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        n_jobs = n_jobs or os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise errors.invalid_parameter("n_jobs", "a number of workers from 1, or None", n_jobs)
    return int(n_jobs)
