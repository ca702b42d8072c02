"""The best sets of a search, updated while it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from operator import and_

import numpy as np

from covary.array_types import Columns, ColumnSets, Floats

# A set of columns and its score.
ScoredSet = tuple[Columns, float]

# Of sets with up to this many explaining columns, all subsets are compared. Of larger ones, only
# single columns and subsets with one column less.
MAX_COLUMNS_WITH_ALL_SUBSETS = 12
# Scores of a set and a subset that are closer than this count as equal.
TOLERANCE = 1e-12


class TopSets:
    """The best sets so far. Of equal scores, smaller sets and earlier columns come first.

    Parameters
    ----------
    capacity : the number of sets to keep
    places : the place of each column in the order that decides which columns are earlier
    """

    def __init__(self, capacity: int, places: Sequence[int]) -> None:
        self.capacity = capacity
        self.places = places
        self.ranked: list[ScoredSet] = []

    def add(self, sets: ColumnSets, scores: Floats) -> None:
        """Add sets that are larger than all sets so far, or have later columns."""
        if len(self.ranked) == self.capacity:
            better = scores > self.ranked[-1][1]
            sets, scores = sets[better], scores[better]
        best = np.argsort(-scores, kind="stable")
        found = zip(map(tuple, sets[best].tolist()), scores[best].tolist(), strict=True)
        self.ranked += self.select(found)
        self.ranked.sort(key=self.rank)
        del self.ranked[self.capacity :]

    def select(self, found: Iterable[ScoredSet]) -> list[ScoredSet]:
        """Return those of the sets, best first, that can be among the best."""
        return [each for _, each in zip(range(self.capacity), found, strict=False)]

    def first(self, top: int) -> list[ScoredSet]:
        """Return the first sets."""
        return self.ranked[:top]

    def rank(self, found: ScoredSet) -> tuple[float, int, list[int]]:
        """Return the key by which sets are sorted, best first."""
        columns, score = found
        return -score, len(columns), sorted(self.places[column] for column in columns)


class MaximalTopSets(TopSets):
    """The best sets without those that have a superset with at least the same score."""

    def first(self, top: int) -> list[ScoredSet]:
        # If the list is full, other sets with the last score may be missing from it.
        cut_off = self.ranked[-1][1] if len(self.ranked) == self.capacity else -np.inf
        kept: list[ScoredSet] = []
        sets_with: defaultdict[int, int] = defaultdict(int)  # by column, one bit per kept set
        # Of equal scores, larger sets come first because they exclude smaller ones.
        for found in sorted(self.ranked, key=lambda found: (-found[1], -len(found[0]))):
            columns, score = found
            if score <= cut_off or (len(kept) >= top and score < kept[top - 1][1]):
                break
            if not reduce(and_, (sets_with[column] for column in columns)):
                for column in columns:
                    sets_with[column] |= 1 << len(kept)
                kept.append(found)
        return sorted(kept, key=self.rank)[:top]


class MinimalTopSets(TopSets):
    """The best sets without those that have a subset with the same score.

    All sets contain the target.
    """

    def __init__(self, capacity: int, places: Sequence[int], target: int) -> None:
        super().__init__(capacity, places)
        self.target = target
        self.scores: dict[Columns, float] = {}

    def add(self, sets: ColumnSets, scores: Floats) -> None:
        self.scores = dict(self.ranked)  # subsets are scored before their supersets
        super().add(sets, scores)

    def select(self, found: Iterable[ScoredSet]) -> list[ScoredSet]:
        kept = (each for each in found if not self._has_equal_subset(*each))
        return super().select(kept)

    def _has_equal_subset(self, columns: Columns, score: float) -> bool:
        subsets = _subsets_with(columns, self.target)
        return any(self.scores.get(each, -np.inf) >= score - TOLERANCE for each in subsets)


def _subsets_with(columns: Columns, target: int) -> Iterator[Columns]:
    """Yield the proper subsets that contain the target and another column."""
    others = [column for column in columns if column != target]
    sizes: Iterable[int] = range(1, len(others))
    if len(others) > MAX_COLUMNS_WITH_ALL_SUBSETS:
        sizes = (1, len(others) - 1)
    for size in sizes:
        for subset in combinations(others, size):
            yield tuple(sorted((*subset, target)))
