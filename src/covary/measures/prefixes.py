"""Scores many sets column by column; what sets have in common is computed once."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from covary.measures.base import Run, Scorer, Scores, Sets
from covary.measures.chains import NOTHING, Chain, Extensions, Known
from covary.prepare import Prepared

# An item of work takes about this many steps times rows: some 10 ms.
ROWS_PER_ITEM = 1 << 18
SETS_TO_ORDER = 1 << 12


class Grower(Protocol):
    """What a measure has to offer: the order of a set, and chains that grow along it."""

    def ordered(self, prepared: Prepared, sets: Sets) -> Sets:
        """Return each set in the order in which its columns are taken."""

    def extend(self, chain: Chain, column: int) -> Chain:
        """Return the chain with one column more."""

    def extend_many(self, chain: Chain, columns: npt.NDArray[np.int64]) -> Extensions:
        """Return the chain with one column more, for each of the columns."""

    def chain(
        self, prepared: Prepared, columns: tuple[int, ...] = (), known: Known = NOTHING
    ) -> Chain:
        """Return the chain that holds no column yet, or one of which only this is known."""


class Prefix(NamedTuple):
    """Sets that are alike but for their last column; ``known`` is None if not scored before."""

    columns: tuple[int, ...]
    known: Known | None
    last: npt.NDArray[np.int64]


class PrefixScorer(Scorer):
    """Scores sets that were scored without their last column before: one step each.

    It remembers as many of the best sets of the size before as it is told, which is the beam of a
    beam search; whatever else a set starts with is computed again, once for all neighbours that
    share it.
    """

    def __init__(self, grower: Grower, prepared: Prepared) -> None:
        super().__init__((grower, prepared))
        self.grower = grower
        self.prepared = prepared
        self.size = 0
        self.known: dict[tuple[int, ...], Known] = {}
        self.best: list[tuple[float, int, tuple[int, ...], Known]] = []
        self.n_scored = 0

    def score(
        self, sets: Sets, run: Run, remember: int = 0
    ) -> Iterator[tuple[npt.NDArray[np.int64], Scores]]:
        if sets.shape[1] != self.size:
            self.size = sets.shape[1]
            self.known = {columns: known for _, _, columns, known in self.best}
            self.best = []
            self.n_scored = 0
        # A few at a time, so that an interrupt need not wait for all.
        slices = [sets[at : at + SETS_TO_ORDER] for at in range(0, len(sets), SETS_TO_ORDER)]
        ordered = np.concatenate([self.grower.ordered(self.prepared, some) for some in slices])
        places = np.lexsort(ordered.T[::-1])
        ordered = ordered[places]
        starts = self._starts(ordered)
        prefixes = [
            Prefix(columns, self.known.get(columns), ordered[first:last, -1].astype(np.int64))
            for first, last, columns in zip(
                starts,
                [*starts[1:], len(sets)],
                map(tuple, ordered[starts, :-1].tolist()),
                strict=True,
            )
        ]
        for first, found in run(extend_prefixes, prefixes):
            begin = starts[first]
            done = [
                self._keep(prefix, extensions, places[start:], remember)
                for prefix, extensions, start in zip(
                    prefixes[first:], found, starts[first:], strict=False
                )
            ]
            scores = np.concatenate(done)
            yield places[begin : begin + len(scores)], scores
        self.n_scored += len(sets)

    def _starts(self, ordered: Sets) -> list[int]:
        """Return where each prefix starts, in sorted sets; long stretches are cut."""
        changes = (ordered[1:, :-1] != ordered[:-1, :-1]).any(axis=1)
        starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
        most = max(1, ROWS_PER_ITEM // self.prepared.n_rows)
        ends = [*starts[1:], len(ordered)]
        return [
            at for start, end in zip(starts, ends, strict=True) for at in range(start, end, most)
        ]

    def _keep(
        self,
        prefix: Prefix,
        found: Extensions,
        places: npt.NDArray[np.int64],
        remember: int,
    ) -> Scores:
        """Remember those extensions that are among the best so far; return all scores."""
        if remember == 0:
            return found.scores
        n_ways = len(prefix.last)
        ranks = -(self.n_scored + places[:n_ways])
        ways: Sequence[int] = range(n_ways)
        if len(self.best) == remember:
            score, rank = self.best[0][:2]
            better = (found.scores > score) | ((found.scores == score) & (ranks > rank))
            ways = np.flatnonzero(better).tolist()
        for way in ways:
            entry = (
                float(found.scores[way]),
                int(ranks[way]),
                (*prefix.columns, int(prefix.last[way])),
                found.known(way),
            )
            if len(self.best) < remember:
                heapq.heappush(self.best, entry)
            else:
                heapq.heappushpop(self.best, entry)
        return found.scores


def extend_prefixes(
    shared: tuple[Grower, Prepared], prefixes: Sequence[Prefix]
) -> list[Extensions]:
    """Extend each prefix by each of its last columns."""
    grower, prepared = shared
    trail = [grower.chain(prepared)]
    found = []
    for prefix in prefixes:
        if prefix.known is not None:
            chain = grower.chain(prepared, prefix.columns, prefix.known)
        else:
            while trail[-1].columns != prefix.columns[: len(trail) - 1]:
                trail.pop()
            for column in prefix.columns[len(trail) - 1 :]:
                trail.append(grower.extend(trail[-1], column))
            chain = trail[-1]
        found.append(grower.extend_many(chain, prefix.last))
    return found
