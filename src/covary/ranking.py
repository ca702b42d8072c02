"""The best sets of a search, while it goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations
from operator import and_

import numpy as np
import numpy.typing as npt

Columns = tuple[int, ...]
Found = tuple[Columns, float]

# What parts of so many columns are looked up all; of more, single columns and those with one less.
MOST_COLUMNS_TO_TAKE_APART = 12
# Scores of a set and of its part that are closer than this are equal: rounding tells nothing.
EQUAL = 1e-12


class Best:
    """The best sets so far; of equal scores the smaller sets, then the earlier columns."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.ranked: list[Found] = []

    def add(self, sets: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]) -> None:
        """Take in sets that come after all others: larger ones, or of later columns."""
        if len(self.ranked) == self.most:
            better = scores > self.ranked[-1][1]
            sets, scores = sets[better], scores[better]
        best = np.argsort(-scores, kind="stable")
        found = zip(map(tuple, sets[best].tolist()), scores[best].tolist(), strict=True)
        self.ranked += self.worth_keeping(found)
        self.ranked.sort(key=_rank)
        del self.ranked[self.most :]

    def worth_keeping(self, found: Iterable[Found]) -> list[Found]:
        """Return those of the sets, best first, that may be among the best."""
        return [each for _, each in zip(range(self.most), found, strict=False)]

    def listed(self, top: int) -> list[Found]:
        """Return the first sets."""
        return self.ranked[:top]


class LargestBest(Best):
    """The same without sets of which a superset scores at least as high."""

    def listed(self, top: int) -> list[Found]:
        # Where the list is full, other sets with the last score may be missing from it.
        cut_at = self.ranked[-1][1] if len(self.ranked) == self.most else -np.inf
        kept: list[Found] = []
        holding: defaultdict[int, int] = defaultdict(int)  # for each column, a bit per kept set
        # Of equal scores the larger sets first: they decide about the smaller.
        for found in sorted(self.ranked, key=lambda found: (-found[1], -len(found[0]), found[0])):
            columns, score = found
            if score <= cut_at or (len(kept) >= top and score < kept[top - 1][1]):
                break
            if not reduce(and_, (holding[column] for column in columns)):
                for column in columns:
                    holding[column] |= 1 << len(kept)
                kept.append(found)
        return sorted(kept, key=_rank)[:top]


class SmallestBest(Best):
    """The same without sets of which a part scores as high; all contain the target."""

    def __init__(self, most: int, target: int) -> None:
        super().__init__(most)
        self.target = target

    def add(self, sets: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]) -> None:
        self.scores = dict(self.ranked)  # the parts of a set are scored before it
        super().add(sets, scores)

    def worth_keeping(self, found: Iterable[Found]) -> list[Found]:
        kept = (each for each in found if not self._says_no_more_than_a_part(*each))
        return super().worth_keeping(kept)

    def _says_no_more_than_a_part(self, columns: Columns, score: float) -> bool:
        parts = (self.scores.get(part, -np.inf) for part in _parts(columns, self.target))
        return any(part >= score - EQUAL for part in parts)


def _parts(columns: Columns, target: int) -> Iterator[Columns]:
    """Yield the proper subsets that contain the target and another column."""
    others = [column for column in columns if column != target]
    sizes: Iterable[int] = range(1, len(others))
    if len(others) > MOST_COLUMNS_TO_TAKE_APART:
        sizes = (1, len(others) - 1)
    for size in sizes:
        for part in combinations(others, size):
            yield tuple(sorted((*part, target)))


def _rank(found: Found) -> tuple[float, int, Columns]:
    columns, score = found
    return -score, len(columns), columns
