"""What explains each column of a whole table, and what parts of an explanation explain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from covary.array_types import Columns
from covary.engines import RunTasks
from covary.measures.shared.content_order import rows_by_content
from covary.measures.uds_chance.places import by_content
from covary.measures.uds_chance.scored_set import ScoredSet
from covary.measures.uds_chance.selection import Probe, examine
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.prepare import Prepared
from covary.seeds import Purpose, random_stream

# All conditions of two columns are examined if the rows that this takes are at most this many:
# half a minute of one core. More columns would need too much memory.
MAX_ROWS_OF_PAIRS = 6e9
MAX_COLUMNS_WITH_PAIRS = 200
# The most that a shuffled column seems to add by chance: this many standard deviations more than
# the mean, over this many shuffles.
N_SHUFFLES = 16
DEVIATIONS = 2.0


class _TableScorer(SetScorer):
    """Scores a whole table: examines all pairs of conditions as long as this is affordable."""

    def most(self, size: int) -> int:
        n_pairs = size * math.comb(max(size - 1, 0), 2)
        affordable = n_pairs * self.prepared.n_rows <= MAX_ROWS_OF_PAIRS
        if affordable and size <= MAX_COLUMNS_WITH_PAIRS:
            return max(super().most(size), 2)
        return super().most(size)


class Explanations:
    """The explanation of every column of a table by the columns before it.

    Parameters
    ----------
    prepared : the columns
    columns : those to explain, all of which vary
    run : runs tasks on an engine whose session has ``prepared``

    Attributes
    ----------
    score, order : the score of the table, and the order that gives it
    """

    def __init__(self, prepared: Prepared, columns: Sequence[int], run: RunTasks) -> None:
        self.prepared = prepared
        self._scored = ScoredSet.of(_TableScorer(prepared, None), columns, run)
        self.score = self._scored.score
        self.order = self._scored.order

    @property
    def most(self) -> int:
        """The number of columns up to which all conditions were examined."""
        return self._scored.level.most

    def best(self, target: int, allowed: Sequence[int]) -> tuple[Columns, float]:
        """Return the best condition within some columns, and the fraction that it explains."""
        if not allowed:
            return (), 0.0
        scored = self._scored
        best = scored.scorer.best_condition(target, allowed, scored.level, scored.examined)
        return (best.columns, best.estimate) if best.estimate > 0.0 else ((), 0.0)

    def explained(self, target: int, by: Sequence[int]) -> float:
        """Return the fraction of a target that columns explain together."""
        return self._scored.explained(target, tuple(sorted(by)))

    def unshrunken(self, target: int, other: int) -> float:
        """Return an unbiased estimate of the fraction that one column explains, at least 0."""
        found = self._scored.scorer.selector.best_stored(target, (other,), 1, 0.0)
        return max(found.estimate, 0.0)

    def added(self, target: int, by: Sequence[int]) -> dict[int, float]:
        """Return what each column explains of what the others leave unexplained."""
        explained = self.explained(target, by)
        return {column: self._scored.added(target, column, by, explained) for column in by}

    def alone(self, target: int, by: Sequence[int]) -> dict[int, float]:
        """Return what each column explains alone."""
        return {column: self.explained(target, (column,)) for column in by}

    def explained_with_shuffled(self, target: int, by: Columns, column: int) -> float:
        """Return the most that columns explain by chance if one of them is shuffled.

        A column that is unrelated to the target may seem to add something: it divides the cells of
        discrete columns into smaller ones, in which a larger fraction of an uncertain target is
        explained.
        """
        scorer, deviations = self._scored.scorer, self._scored.level.deviations
        rows = rows_by_content(self.prepared, (target, *by))
        absent = self.prepared.absent([column])
        moving = rows if absent is None else rows[~absent[rows]]
        probe, estimates = Probe(target, tuple(sorted(by))), []
        for number in range(N_SHUFFLES):
            shuffled = np.arange(self.prepared.n_rows, dtype=np.uint32)
            rng = random_stream(0, Purpose.REFERENCE, 3, number)
            shuffled[moving] = rng.permutation(moving)
            (found,) = examine(self.prepared.moved({column: shuffled}), [probe])
            estimates.append(scorer.selector.strength(probe.columns, found, deviations).estimate)
        return float(np.mean(estimates) + DEVIATIONS * np.std(estimates, ddof=1))

    def by_content(self, columns: Sequence[int]) -> Columns:
        """Return columns in an order that depends only on their contents."""
        return by_content(self.prepared, columns)
