"""The interface of an engine: it runs one task on chunks of many items."""

from __future__ import annotations

import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any, NamedTuple

from covary import errors
from covary.engines.interrupts import interrupts_deferred
from covary.engines.single_blas import single_threaded_blas
from covary.registry import Registry

CHUNK_SECONDS = 0.05

# A task is called as task(shared, items) and returns the results of these items.
Task = Callable[[Any, Any], Any]

# Runs a task on all items and yields (first, results of items[first:last]): see Session.run.
RunTasks = Callable[[Task, Any], Iterable[tuple[int, Any]]]


class Engine(ABC):
    """A number of workers. Every engine gives the same results.

    To add an engine, write one file in this folder with a subclass that registers itself in
    `ENGINES`. Its constructor must accept ``n_jobs``.
    """

    @classmethod
    def at(cls, place: Any, n_jobs: int | None) -> Engine | None:
        """Return an engine for a place such as an address, None if the place is not its own."""
        return None

    @abstractmethod
    def session(self, shared: Any) -> AbstractContextManager[Session]:
        """Return a context in which tasks run, all with the same ``shared`` argument."""


ENGINES: Registry[Engine] = Registry("engine", "covary.engines")


class _Chunk(NamedTuple):
    """The items first:last and the failures of their workers.

    Parameters
    ----------
    first, last : the range of items
    recoveries : the number of recoveries of the session when the chunk was submitted
    failures : how often the chunk was lost together with its worker
    """

    first: int
    last: int
    recoveries: int
    failures: int = 0


class Session(ABC):
    """Running workers that hold the shared argument of all tasks."""

    # Exceptions of a lost worker. The session submits such a chunk again.
    retryable: tuple[type[BaseException], ...] = ()

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._chunk_sizes: dict[Task, int] = {}
        self._recoveries = 0

    @abstractmethod
    def submit(self, task: Task, items: Any) -> Any:
        """Start ``run_timed(task, shared, items)`` on a worker and return its future."""

    def recover(self, error: BaseException, failures: int) -> None:
        """Prepare to submit a chunk again after this many failures; raise an error to give up."""
        raise error

    def run(self, task: Task, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield ``(first, task(shared, items[first:last]))`` for chunks that cover all items.

        Chunks are yielded in the order in which they finish. Their size adapts to the task, so
        that each takes about 50 ms. Pending chunks are cancelled if the caller stops iterating.
        """
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        pending: dict[Any, _Chunk] = {}
        n_submitted = 0

        def submit(chunk: _Chunk) -> None:
            with interrupts_deferred():
                future = self.submit(task, items[chunk.first : chunk.last])
                pending[future] = chunk
                future.add_done_callback(finished.put)

        try:
            while n_submitted < len(items) or pending:
                while n_submitted < len(items) and len(pending) < 2 * self.n_workers:
                    size = self._next_chunk_size(task, len(items) - n_submitted)
                    submit(_Chunk(n_submitted, n_submitted + size, self._recoveries))
                    n_submitted += size
                future = _wait_for_next(finished)
                chunk = pending.pop(future)
                try:
                    seconds, results = future.result()
                except self.retryable as error:
                    # One lost worker can lose several chunks: recover only once.
                    if chunk.recoveries == self._recoveries:
                        self.recover(error, chunk.failures + 1)
                        self._recoveries += 1
                    again = chunk._replace(recoveries=self._recoveries)
                    submit(again._replace(failures=chunk.failures + 1))
                    continue
                self._adapt_chunk_size(task, chunk.last - chunk.first, seconds)
                yield chunk.first, results
        finally:
            with interrupts_deferred():
                for future in pending:
                    future.cancel()

    def _next_chunk_size(self, task: Task, left: int) -> int:
        """Return the size of the next chunk.

        The last chunks are smaller, so that all workers finish at about the same time.
        """
        usual = self._chunk_sizes.get(task, 1)
        share = -(-left // (2 * self.n_workers))
        return min(usual, left, max(share, usual // 8))

    def _adapt_chunk_size(self, task: Task, n_items: int, seconds: float) -> None:
        """Move the chunk size towards `CHUNK_SECONDS`, by a factor of at most 2."""
        ideal = n_items * CHUNK_SECONDS / max(seconds, 1e-9)
        usual = self._chunk_sizes.get(task, 1)
        self._chunk_sizes[task] = int(min(max(ideal, 1, usual // 2), 2 * usual))


def _wait_for_next(finished: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            # With a timeout: on some systems, Ctrl-C takes effect only after the call returns.
            return finished.get(timeout=0.5)
        except queue.Empty:
            continue


_thread_state = threading.local()


def is_cancelled() -> bool:
    """Return whether the session of this worker thread has ended."""
    event = getattr(_thread_state, "cancelled", None)
    return event is not None and event.is_set()


def stop_if_cancelled() -> None:
    """Raise an error if the session of this worker thread has ended: long tasks call this."""
    if is_cancelled():
        raise RuntimeError("cancelled")


def run_cancellable(cancelled: threading.Event, task: Task, shared: Any, items: Any) -> Any:
    """Return `run_timed` of a task that can call `stop_if_cancelled`."""
    _thread_state.cancelled = cancelled
    return run_timed(task, shared, items)


def run_timed(task: Task, shared: Any, items: Any) -> tuple[float, Any]:
    """Return the duration of a task in seconds, and its results."""
    start = time.perf_counter()
    with single_threaded_blas():
        results = task(shared, items)
    return time.perf_counter() - start, results


def number_of_workers(n_jobs: int | None) -> int:
    """Return the number of workers; the number of available cores if ``n_jobs`` is None."""
    if n_jobs is None:
        n_jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        n_jobs = n_jobs or os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise errors.invalid_parameter("n_jobs", "a number of workers from 1, or None", n_jobs)
    return int(n_jobs)
