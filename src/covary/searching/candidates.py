"""The scoring loop: a strategy proposes sets, a scorer scores them, an observer receives both.

Searches and matrices of pairs use this loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from covary.array_types import ColumnSets, Floats, Integers
from covary.engines import RunTasks, interrupts_deferred
from covary.measures import Scorer
from covary.searching.strategies import Batch, Strategy


class Observer:
    """Receives the scores of the loop; this one ignores them."""

    def begin(self, batch: Batch, sets: ColumnSets) -> Floats:
        """Return scores of the sets that are known already; NaN for all others."""
        return np.full(len(sets), np.nan)

    def scored_some(self, sets: ColumnSets, indices: Integers, scores: Floats) -> None:
        """Receive the scores of some sets of the batch, by their indices."""

    def end(self, sets: ColumnSets, scores: Floats) -> None:
        """Receive all scores of the batch; after an interrupt, NaN where there is none."""


class Candidates(NamedTuple):
    """The sets that a strategy proposes.

    Parameters
    ----------
    columns : the positions of the columns from which sets are built, without the target, in an
        order that does not depend on their positions: strategies prefer earlier columns if scores
        are equal
    target : the position of the column that all sets contain, if there is one
    affordable : the number of sets of three that can be scored in little time, if it is known
    """

    strategy: Strategy
    columns: ColumnSets
    target: int | None = None
    affordable: int | None = None

    @property
    def n_fixed(self) -> int:
        """The number of columns that all sets contain: 1 with a target, else 0."""
        return 0 if self.target is None else 1

    @property
    def number(self) -> int | None:
        """The number of sets, if the strategy knows it in advance."""
        return self.strategy.count(len(self.columns), self.n_fixed)

    def score(self, scorer: Scorer, run: RunTasks, observer: Observer) -> None:
        """Score every set that the strategy proposes."""

        def score_batch(batch: Batch) -> Floats:
            others = np.sort(self.columns[batch.sets], axis=1)
            sets = self._with_target(others)
            scores = observer.begin(batch, sets)
            missing = np.flatnonzero(np.isnan(scores))
            try:
                if len(missing) > 0:
                    for indices, found in scorer.score(others[missing], run, batch.remember):
                        scores[missing[indices]] = found
                        observer.scored_some(sets, missing[indices], found)
            finally:
                with interrupts_deferred():
                    observer.end(sets, scores)
            return scores

        self.strategy.run(len(self.columns), self.n_fixed, score_batch, self.affordable)

    def _with_target(self, others: ColumnSets) -> ColumnSets:
        if self.target is None:
            return others
        sets = np.insert(others, 0, self.target, axis=1)
        sets.sort(axis=1)
        return sets
