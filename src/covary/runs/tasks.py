"""Keeps the results of tasks in a run file, so that a computation can be resumed.

A computation that calls the same tasks with the same items every time needs no other record: its
calls are numbered, and results that are stored are not computed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from covary import errors
from covary.array_types import Floats
from covary.engines.base import RunTasks, Task
from covary.runs.file import RunFile


class Codec(NamedTuple):
    """How the result of an item becomes numbers, and numbers become the result."""

    to_numbers: Callable[[Any], Floats]
    from_numbers: Callable[[Floats], Any]


class StoredTasks:
    """Runs tasks, and keeps their results in a run file.

    Parameters
    ----------
    run_file : the file
    codecs : by task, how its results are stored
    """

    def __init__(self, run_file: RunFile, codecs: Mapping[Task, Codec]) -> None:
        self.run_file = run_file
        self.codecs = codecs
        self.n_calls = 0

    def around(self, run: RunTasks) -> RunTasks:
        """Return a function that runs tasks in the same way; stored results come first."""

        def run_missing(task: Task, items: Any) -> Iterator[tuple[int, Any]]:
            call, codec = self.n_calls, self.codecs[task]
            self.n_calls += 1
            missing = np.ones(len(items), np.bool_)
            for first, results in self._stored(call, items, codec):
                missing[first : first + len(results)] = False
                yield first, results
            places = np.flatnonzero(missing).tolist()
            todo = items if len(places) == len(items) else [items[at] for at in places]
            try:
                for start, results in run(task, todo) if places else ():
                    for first, some in _runs(places, start, results):
                        self._store(call, first, items, some, codec)
                        yield first, some
            finally:
                self.run_file.flush()

        return run_missing

    def _stored(self, call: int, items: Any, codec: Codec) -> Iterator[tuple[int, list[Any]]]:
        for first, digest, sizes, data in self.run_file.stored_results(call):
            counts = np.frombuffer(sizes, np.int64) if len(sizes) % 8 == 0 else np.empty(0)
            numbers = np.frombuffer(data, np.float64) if len(data) % 8 == 0 else np.empty(0)
            last = first + counts.size
            if (
                not 0 < counts.size <= len(items) - first
                or counts.min() < 0
                or counts.sum() != numbers.size
                or digest != _digest(items, first, last)
            ):
                raise errors.damaged_run(self.run_file.path, "a task has an invalid result")
            parts = np.split(numbers, np.cumsum(counts)[:-1])
            yield first, [codec.from_numbers(part) for part in parts]

    def _store(self, call: int, first: int, items: Any, results: Any, codec: Codec) -> None:
        numbers = [np.asarray(codec.to_numbers(each), np.float64).ravel() for each in results]
        sizes = np.array([each.size for each in numbers], np.int64)
        digest = _digest(items, first, first + len(results))
        data = np.concatenate(numbers).tobytes()
        self.run_file.store_results(call, first, digest, sizes.tobytes(), data)


def _runs(places: list[int], start: int, results: Any) -> Iterator[tuple[int, Any]]:
    """Yield results by the places of their items, in runs of neighbouring places."""
    here = places[start : start + len(results)]
    begin = 0
    for at in range(1, len(here) + 1):
        if at == len(here) or here[at] != here[at - 1] + 1:
            yield here[begin], results[begin:at]
            begin = at


def _digest(items: Any, first: int, last: int) -> str:
    """Return a hash of some items; a file of another computation is detected by it."""
    text = repr([_plain(each) for each in items[first:last]])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _plain(item: Any) -> Any:
    """Return an item as plain Python values, all of which are printed."""
    if isinstance(item, np.ndarray):
        return item.tolist()
    return [_plain(each) for each in item] if isinstance(item, tuple) else item
