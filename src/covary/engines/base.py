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
from multiprocessing.resource_tracker import ensure_running
from numbers import Integral
from typing import Any, NamedTuple

from covary import errors

CHUNK_SECONDS = 0.05
Task = Callable[[Any, Any], Any]


class Engine(ABC):
    """A number of workers; every engine gives the same results."""

    @abstractmethod
    def session(self, shared: Any) -> AbstractContextManager[Session]:
        """Return a context in which tasks run, all with the same ``shared``."""


class _Chunk(NamedTuple):
    """Items first:last, handed out after so many recoveries, lost so often before."""

    first: int
    last: int
    recoveries: int
    times_lost: int = 0


class Session(ABC):
    """Workers that hold what all tasks share."""

    # What a task raises when it is not to blame and may be tried again.
    lost: tuple[type[BaseException], ...] = ()

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._sizes: dict[Task, int] = {}
        self._recoveries = 0

    @abstractmethod
    def submit(self, task: Task, items: Any) -> Any:
        """Start ``timed(task, shared, items)`` on a worker and return its future."""

    def recover(self, error: BaseException, times: int) -> None:
        """Get ready for another try of a task that was lost so often; raise if it is hopeless."""
        raise error

    def run(self, task: Task, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield ``(first, task(shared, items[first:last]))`` for chunks that cover all items.

        Chunks come in the order in which they are done. They are cut to take about 50 ms each,
        whatever an item costs. What is under way is given up when the caller stops listening.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        underway: dict[Any, _Chunk] = {}
        begun = 0

        def begin(chunk: _Chunk) -> None:
            future = self.submit(task, items[chunk.first : chunk.last])
            underway[future] = chunk
            future.add_done_callback(done.put)

        try:
            while begun < len(items) or underway:
                while begun < len(items) and len(underway) < 2 * self.n_workers:
                    size = self._next_size(task, len(items) - begun)
                    begin(_Chunk(begun, begun + size, self._recoveries))
                    begun += size
                future = _next_done(done)
                chunk = underway.pop(future)
                try:
                    seconds, results = future.result()
                except self.lost as error:
                    if chunk.recoveries == self._recoveries:  # else lost together with another
                        self.recover(error, chunk.times_lost + 1)
                        self._recoveries += 1
                    again = chunk._replace(recoveries=self._recoveries)
                    begin(again._replace(times_lost=chunk.times_lost + 1))
                    continue
                self._learn(task, chunk.last - chunk.first, seconds)
                yield chunk.first, results
        finally:
            for future in underway:
                future.cancel()

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
    ensure_running()  # Python's own tracker of processes would let interrupts through again
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


_worker = threading.local()


def given_up() -> bool:
    """Return whether nobody waits any more for what this thread does: a long task may stop."""
    event = getattr(_worker, "given_up", None)
    return event is not None and event.is_set()


def timed_until(given_up: threading.Event, task: Task, shared: Any, items: Any) -> Any:
    """Do what `timed` does in a thread of this process, until it is given up."""
    _worker.given_up = given_up
    return timed(task, shared, items)


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
