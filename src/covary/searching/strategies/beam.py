"""Level-wise beam search, as in the paper (after Keller et al., HiCS, ICDE 2012)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary.array_types import Columns, ColumnSets, Floats
from covary.options import option
from covary.searching.strategies.base import (
    MAX_SIZE_HELP,
    REMEMBER,
    Batch,
    Batches,
    Strategy,
    all_sets,
    listed_sets,
    register,
)

# By default, every set of a size is scored if there are at most this many.
EVERY = 10_000


@register("beam", "the best sets of each size, joined to the next size")
@dataclass(frozen=True)
class Beam(Strategy):
    """Score all pairs, keep the best, join them to sets of three, and so on.

    Parameters
    ----------
    <options>
    """

    max_size: int = option(5, MAX_SIZE_HELP, minimum=2)
    beam: int = option(
        100,
        "Number of sets of each size from which sets of the next size are built. By default, sets "
        "of three are built from more pairs, if there is time.",
        minimum=1,
    )
    parents: Literal["all", "one"] | None = option(
        None,
        "'all' scores a larger set only if every subset with one column fewer was kept. 'one' "
        "scores it if any such subset was kept, which is slower by a factor of up to the number "
        "of columns. By default 'one' with a target, otherwise 'all'; for sets of three, also "
        "'one' as far as there is time.",
        choices=("all", "one"),
    )
    every: int | None = option(
        None,
        "Score every set of a size if there are at most this many. Relations that no smaller set "
        "shows are found only in this way. By default 10,000; with uds-chance, every set of three "
        "if this takes about 30 s on two cores, as predicted from the size of the table.",
        minimum=0,
    )

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        return self.batches_within(n_columns, fixed, None)

    def batches_within(self, n_columns: int, fixed: int, affordable: int | None) -> Batches:
        sizes = range(2 - fixed, min(self.max_size - fixed, n_columns) + 1)
        parents = self.parents or ("one" if fixed else "all")
        # The number of best pairs to which every other column is added.
        n_extended = 0
        if affordable is not None and self.every is None and self.parents is None:
            n_extended = affordable // max(n_columns, 1)
        kept: list[Columns] = []
        for size in sizes:
            n_kept = max(self.beam, n_extended if size == sizes[0] else 0)
            remember = 0 if size == sizes[-1] else n_kept
            if size < sizes[-1] and self._scores_every(size + 1, n_columns, fixed, affordable):
                remember = REMEMBER
            if size == sizes[0] or self._scores_every(size, n_columns, fixed, affordable):
                level = all_sets(n_columns, size, fixed, remember)
            else:
                larger = extended(kept, n_columns) if parents == "one" else joined(kept)
                if parents == "all" and size == sizes[0] + 1 and n_extended:
                    # Sets of which one subset is not among the best, such as two independent
                    # columns that explain a third one together.
                    more = extended(kept[:n_extended], n_columns)
                    larger = sorted({*joined(kept[: self.beam]), *more})
                level = listed_sets(larger, fixed, remember)
            kept = yield from self._score_and_keep(level, n_kept)

    def _scores_every(self, size: int, n_columns: int, fixed: int, affordable: int | None) -> bool:
        every = EVERY if self.every is None else self.every
        if self.every is None and affordable is not None and size + fixed == 3:
            every = affordable
        return math.comb(n_columns, size) <= every

    def _score_and_keep(
        self, level: Iterable[Batch], n_kept: int
    ) -> Generator[Batch, Floats, list[Columns]]:
        """Yield the batches of a level; return its best sets, best first."""
        kept_sets: ColumnSets = np.empty((0, 0), np.int32)
        kept_scores: Floats = np.empty(0)
        for batch in level:
            scores = yield batch
            kept_sets = np.concatenate([kept_sets.reshape(-1, batch.sets.shape[1]), batch.sets])
            kept_scores = np.concatenate([kept_scores, scores])
            # Of equal scores, the first sets come first; those of the next batch come later.
            best = np.argsort(-kept_scores, kind="stable")[:n_kept]
            kept_sets, kept_scores = kept_sets[best], kept_scores[best]
        return [tuple(columns) for columns in kept_sets.tolist()]


def joined(kept: list[Columns]) -> list[Columns]:
    """Return the sets with one more column of which every subset with one less was kept."""
    all_kept = set(kept)
    by_start: defaultdict[Columns, list[int]] = defaultdict(list)
    for columns in sorted(kept):
        by_start[columns[:-1]].append(columns[-1])
    found = []
    for start, lasts in by_start.items():
        for at, last in enumerate(lasts[:-1]):
            # The set without its first column must be kept as well: often the shorter list.
            rest = by_start.get((*start[1:], last), []) if start else lasts[at + 1 :]
            additions = rest if len(rest) < len(lasts) - at else lasts[at + 1 :]
            found += [
                (*start, last, addition)
                for addition in additions
                if all(subset in all_kept for subset in _parents(start, last, addition))
            ]
    return found


def _parents(start: Columns, last: int, addition: int) -> Iterator[Columns]:
    """Yield the subsets with one column less, except the one without the added column."""
    yield (*start, addition)
    for at in range(len(start)):
        yield (*start[:at], *start[at + 1 :], last, addition)


def extended(kept: list[Columns], n_columns: int) -> list[Columns]:
    """Return the sets with one more column of which any subset with one less was kept."""
    if not kept:
        return []
    sets = np.array(kept, np.int32)
    additions = np.tile(np.arange(n_columns, dtype=np.int32), len(sets))
    larger = np.column_stack([np.repeat(sets, n_columns, axis=0), additions])
    larger = larger[~(larger[:, :-1] == larger[:, -1:]).any(axis=1)]
    larger.sort(axis=1)
    return [tuple(columns) for columns in np.unique(larger, axis=0).tolist()]
