"""Scores many sets column by column; sets with a common prefix share its computation."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from covary.array_types import Columns, ColumnSets, Floats, Integers
from covary.engines.base import RunTasks
from covary.measures.scorer import Scorer
from covary.measures.uds.chains import EMPTY_STATE, Chain, ChainState, Extensions
from covary.prepare import Prepared

# The number of steps times rows of one item of work: about 10 ms.
ROWS_PER_ITEM = 1 << 18
# Sets are ordered in blocks of this size, so that an interrupt does not wait for all.
ORDER_BLOCK = 1 << 12


class ChainBuilder(Protocol):
    """What a measure offers: an order of the columns of a set, and chains along it."""

    def ordered(self, prepared: Prepared, sets: ColumnSets) -> ColumnSets:
        """Return each set in the order in which a chain takes its columns."""

    def extend(self, chain: Chain, column: int) -> Chain:
        """Return the chain with one more column."""

    def extend_many(self, chain: Chain, columns: Integers) -> Extensions:
        """Return the chain with one more column, for each of the columns."""

    def chain(
        self, prepared: Prepared, columns: Columns = (), state: ChainState = EMPTY_STATE
    ) -> Chain:
        """Return an empty chain, or the chain that a state describes."""


class Prefix(NamedTuple):
    """Sets that differ in their last column only; ``state`` is None if it was not kept."""

    columns: Columns
    state: ChainState | None
    last: Integers


class PrefixScorer(Scorer):
    """Scores a set with one step if the set without its last column was scored before.

    It keeps the states of the best sets of the previous size, which are the beam of a beam search.
    Other prefixes are computed again, once for all sets that share them.
    """

    def __init__(self, builder: ChainBuilder, prepared: Prepared) -> None:
        super().__init__((builder, prepared))
        self.builder = builder
        self.prepared = prepared
        self.size = 0
        self.states: dict[Columns, ChainState] = {}
        self.best: list[tuple[float, int, Columns, ChainState]] = []
        self.n_scored = 0

    def score(
        self, sets: ColumnSets, run: RunTasks, remember: int = 0
    ) -> Iterator[tuple[Integers, Floats]]:
        if sets.shape[1] != self.size:
            self.size = sets.shape[1]
            self.states = {columns: state for _, _, columns, state in self.best}
            self.best = []
            self.n_scored = 0
        blocks = [sets[at : at + ORDER_BLOCK] for at in range(0, len(sets), ORDER_BLOCK)]
        ordered = np.concatenate([self.builder.ordered(self.prepared, each) for each in blocks])
        places = np.lexsort(ordered.T[::-1])
        ordered = ordered[places]
        starts = self._prefix_starts(ordered)
        prefixes = [
            Prefix(columns, self.states.get(columns), ordered[first:last, -1].astype(np.int64))
            for first, last, columns in zip(
                starts,
                [*starts[1:], len(sets)],
                map(tuple, ordered[starts, :-1].tolist()),
                strict=True,
            )
        ]
        for first, found in run(extend_prefixes, prefixes):
            begin = starts[first]
            chunks = [
                self._keep_best(prefix, extensions, places[start:], remember)
                for prefix, extensions, start in zip(
                    prefixes[first:], found, starts[first:], strict=False
                )
            ]
            scores = np.concatenate(chunks)
            yield places[begin : begin + len(scores)], scores
        self.n_scored += len(sets)

    def _prefix_starts(self, ordered: ColumnSets) -> list[int]:
        """Return where each prefix starts in sorted sets; long runs are divided."""
        changes = (ordered[1:, :-1] != ordered[:-1, :-1]).any(axis=1)
        starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
        longest = max(1, ROWS_PER_ITEM // self.prepared.n_rows)
        ends = [*starts[1:], len(ordered)]
        return [
            at
            for start, end in zip(starts, ends, strict=True)
            for at in range(start, end, longest)
        ]

    def _keep_best(
        self, prefix: Prefix, found: Extensions, places: Integers, remember: int
    ) -> Floats:
        """Keep the states of extensions that are among the best so far; return all scores."""
        if remember == 0:
            return found.scores
        n_extensions = len(prefix.last)
        ranks = -(self.n_scored + places[:n_extensions])
        candidates: Sequence[int] = range(n_extensions)
        if len(self.best) == remember:
            score, rank = self.best[0][:2]
            better = (found.scores > score) | ((found.scores == score) & (ranks > rank))
            candidates = np.flatnonzero(better).tolist()
        for at in candidates:
            entry = (
                float(found.scores[at]),
                int(ranks[at]),
                (*prefix.columns, int(prefix.last[at])),
                found.state(at),
            )
            if len(self.best) < remember:
                heapq.heappush(self.best, entry)
            else:
                heapq.heappushpop(self.best, entry)
        return found.scores


def extend_prefixes(
    shared: tuple[ChainBuilder, Prepared], prefixes: Sequence[Prefix]
) -> list[Extensions]:
    """Return each prefix extended by each of its last columns: a task."""
    builder, prepared = shared
    path = [builder.chain(prepared)]  # the chains of ever longer prefixes
    found = []
    for prefix in prefixes:
        if prefix.state is not None:
            chain = builder.chain(prepared, prefix.columns, prefix.state)
        else:
            while path[-1].columns != prefix.columns[: len(path) - 1]:
                path.pop()
            for column in prefix.columns[len(path) - 1 :]:
                path.append(builder.extend(path[-1], column))
            chain = path[-1]
        found.append(builder.extend_many(chain, prefix.last))
    return found
