"""The whole search, repeated on shuffled tables: how high does the best set score by chance?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import ColumnSets, Floats
from covary.engines import RunTasks, run_here, stop_if_cancelled
from covary.measures import Measure
from covary.prepare import Prepared
from covary.searching.candidates import Candidates, Observer
from covary.significance.nulls import RandomPermutations
from covary.tolerance import lower_limit


class NullSearchTask(NamedTuple):
    """What every search of a shuffled table needs.

    Parameters
    ----------
    thresholds : ascending scores; the sets that score at least as high are counted
    """

    prepared: Prepared
    measure: Measure
    candidates: Candidates
    thresholds: Floats
    permutations: RandomPermutations


class NullSearch(NamedTuple):
    """The result of the search of one shuffled table.

    Parameters
    ----------
    scored : the number of scored sets
    highest : the highest score
    counts : the number of sets that score at least each threshold
    """

    scored: int
    highest: float
    counts: list[int]


def search_shuffled(task: NullSearchTask, numbers: Sequence[int]) -> list[NullSearch]:
    """Search shuffled tables, given by their numbers: a task."""
    return [_search_one(task, number) for number in numbers]


def _search_one(task: NullSearchTask, number: int) -> NullSearch:
    prepared = task.prepared.moved(task.permutations.moves(number))
    scorer = task.measure.scorer(prepared, task.candidates.target)
    counter = _Counter(task.thresholds)
    task.candidates.score(scorer, _run_unless_cancelled(run_here(scorer.shared)), counter)
    return counter.result()


class _Counter(Observer):
    """Counts the scores between thresholds."""

    def __init__(self, thresholds: Floats) -> None:
        self.limits = lower_limit(thresholds)
        self.between = np.zeros(self.limits.size + 1, np.int64)
        self.highest = -np.inf

    def end(self, sets: ColumnSets, scores: Floats) -> None:
        self.highest = max(self.highest, float(scores.max()))
        places = np.searchsorted(self.limits, scores, side="right")
        self.between += np.bincount(places, None, self.between.size)

    def result(self) -> NullSearch:
        counts = np.cumsum(self.between[::-1])[::-1]
        return NullSearch(int(counts[0]), self.highest, counts[1:].tolist())


def _run_unless_cancelled(run: RunTasks) -> RunTasks:
    """Return a function that runs tasks in the same way, until the result is not needed."""

    def run_some(task: Any, items: Any) -> Iterator[tuple[int, Any]]:
        for found in run(task, items):
            stop_if_cancelled()
            yield found

    return run_some
