"""Level-wise beam search, as the paper uses it (after Keller et al., HiCS, ICDE 2012)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors
from covary.strategies.base import (
    Batch,
    Batches,
    Scores,
    Sets,
    Strategy,
    all_sets,
    listed_sets,
)


@dataclass(frozen=True)
class Beam(Strategy):
    """Score all pairs, keep the best, join them to sets of three, and so on.

    Parameters
    ----------
    max_size : int
        The most columns of a set.
    beam : int
        How many sets of each size are kept to build the next size from. Of equal scores the
        earlier columns are kept.
    parents : "all" or "one"
        "all" scores a set only if every subset with one column less was kept; "one" if any was,
        which costs about as many sets as there are kept ones times columns.
    """

    name = "beam"
    summary = "the best of each size, joined to the next"

    max_size: int = 5
    beam: int = 100
    parents: Literal["all", "one"] = "all"

    def __post_init__(self) -> None:
        errors.whole_number("max_size", self.max_size, 2)
        errors.whole_number("beam", self.beam, 1)
        if self.parents not in ("all", "one"):
            raise errors.invalid_parameter("parents", "'all' or 'one'", self.parents)

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        size, last_size = 2 - fixed, self.max_size - fixed
        level = all_sets(n_columns, size, fixed, self.beam if size < last_size else 0)
        while kept := (yield from self._score_and_keep(level)):
            size += 1
            if size > last_size:
                return
            candidates = joined(kept) if self.parents == "all" else extended(kept, n_columns)
            level = listed_sets(candidates, fixed, self.beam if size < last_size else 0)

    def _score_and_keep(
        self, level: Iterable[Batch]
    ) -> Generator[Batch, Scores, list[tuple[int, ...]]]:
        """Yield the batches of a level; return its best sets."""
        kept_sets: Sets = np.empty((0, 0), np.int32)
        kept_scores: Scores = np.empty(0)
        for batch in level:
            scores = yield batch
            kept_sets = np.concatenate([kept_sets.reshape(-1, batch.sets.shape[1]), batch.sets])
            kept_scores = np.concatenate([kept_scores, scores])
            best = np.argsort(-kept_scores, kind="stable")[: self.beam]
            best.sort()  # in the order in which they came, for the next batch
            kept_sets, kept_scores = kept_sets[best], kept_scores[best]
        return [tuple(columns) for columns in kept_sets.tolist()]


def joined(kept: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the sets with one column more of which every subset with one less is kept."""
    known = set(kept)
    by_start: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for columns in sorted(kept):
        by_start[columns[:-1]].append(columns[-1])
    found = []
    for start, lasts in by_start.items():
        for at, last in enumerate(lasts[:-1]):
            # Without its first column, too, a set has to be kept: often the shorter list.
            rest = by_start.get((*start[1:], last), []) if start else lasts[at + 1 :]
            among = rest if len(rest) < len(lasts) - at else lasts[at + 1 :]
            found += [
                (*start, last, next_last)
                for next_last in among
                if all(subset in known for subset in _parents(start, last, next_last))
            ]
    return found


def _parents(start: tuple[int, ...], last: int, next_last: int) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of a set with one column less, but for the one without its last column."""
    yield (*start, next_last)
    for at in range(len(start)):
        yield (*start[:at], *start[at + 1 :], last, next_last)


def extended(kept: list[tuple[int, ...]], n_columns: int) -> list[tuple[int, ...]]:
    """Return the sets with one column more of which any subset with one less is kept."""
    sets = np.array(kept, np.int32)
    more = np.tile(np.arange(n_columns, dtype=np.int32), len(sets))
    larger = np.column_stack([np.repeat(sets, n_columns, axis=0), more])
    larger = larger[~(larger[:, :-1] == larger[:, -1:]).any(axis=1)]
    larger.sort(axis=1)
    return [tuple(columns) for columns in np.unique(larger, axis=0).tolist()]
