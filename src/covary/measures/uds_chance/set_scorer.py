"""Scores of sets, from the strengths of conditions and from selected conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Columns, ColumnSets, Floats, Integers
from covary.engines.base import RunTasks
from covary.measures.scorer import Scorer
from covary.measures.uds_chance.midranks import MidRanks
from covary.measures.uds_chance.places import by_content
from covary.measures.uds_chance.selection import (
    MAX_COMPARED,
    MAX_COMPARED_FOR_ONE,
    Found,
    Selector,
    Strength,
)
from covary.measures.uds_chance.strengths import (
    StrengthTable,
    most_examined,
    noise_deviations,
)
from covary.prepare import Prepared

# Scores are returned after going through about this many rows: two seconds.
ROWS_PER_CHUNK = 2e9
MAX_SETS_PER_CHUNK = 1 << 15

# By target, the conditions that were examined with balanced cells.
Examined = dict[int, dict[Columns, Found]]


class Level(NamedTuple):
    """How conditions of a set are examined.

    Parameters
    ----------
    most : the number of columns up to which all conditions are examined by grids
    deviations : the noise level, in standard deviations
    """

    most: int
    deviations: float


class SetScorer(Scorer):
    """Scores sets; goes through the rows only for strengths that are missing.

    Parameters
    ----------
    max_given : the largest number of columns that explain one together; None if not limited
    target : the column that each set explains, or -1 if its columns explain each other
    given : columns beyond which the score of a target counts
    """

    def __init__(
        self,
        prepared: Prepared,
        max_given: int | None,
        target: int = -1,
        given: Columns = (),
    ) -> None:
        super().__init__(prepared)
        self.prepared = prepared
        self.max_given = max_given
        self.target = target
        self.given = given
        some_missing = prepared.absent(range(len(prepared.names))) is not None
        self.table = StrengthTable(len(prepared.names), with_nulls=some_missing)
        self.selector = Selector(prepared, self.table, max_given)
        self._best_given: Strength | None = None
        self._n_candidates = len(prepared.varying(range(len(prepared.names)))) - (target >= 0)

    def score(
        self, sets: ColumnSets, run: RunTasks, remember: int = 0
    ) -> Iterator[tuple[Integers, Floats]]:
        beyond = np.tile(np.array(self.given, np.int32), (len(sets), 1))
        sets = np.hstack([sets, beyond])
        most = self.most(sets.shape[1])
        chunk = self._sets_per_chunk(sets.shape[1])
        by_given = self.explained_by_given(run) if self.given else 0.0
        for first in range(0, len(sets), chunk):
            some = np.ascontiguousarray(sets[first : first + chunk])
            self.table.compute(some, most, run, self.target)
            scores = self._scores(some, run)
            if self.given:
                scores = beyond_fraction(scores, by_given)
            yield np.arange(first, first + len(some)), scores

    def explained_by_given(self, run: RunTasks) -> float:
        """Return the fraction of the target that the given columns explain."""
        if self._best_given is None:
            only = np.array([self.given], np.int32)
            self.table.compute(only, self.most(len(self.given)), run, self.target)
            varying = tuple(self.prepared.varying(self.given))
            (examined,) = self.examine([varying], run)
            level = self.level(varying)
            self._best_given = self._best_within(self.target, varying, level, examined)
        return self._rounded(self._best_given)

    def most(self, size: int) -> int:
        """Return the number of columns up to which all conditions are examined by grids."""
        n_columns = len(self.prepared.names)
        if self.target >= 0:
            return most_examined(size, 1, n_columns, self.max_given)
        return most_examined(max(size - 1, 0), size, n_columns, self.max_given)

    def level(self, columns: Sequence[int]) -> Level:
        """Return how the conditions of a set are examined; all columns vary."""
        return Level(self.most(len(columns)), self._deviations(len(columns)))

    def _deviations(self, size: int) -> float:
        """Return the noise level of a set of this size, without the target.

        With a target, all columns of the table are candidates to explain it, so that the noise
        level is the same for all sets.
        """
        if self.target >= 0:
            size = max(self._n_candidates, 0)
        return noise_deviations(size + (self.target >= 0), self.most(size))

    def examine(self, sets: Sequence[Columns], run: RunTasks) -> list[Examined]:
        """Return the conditions of each set that were examined with balanced cells.

        All columns vary, and all strengths are in the table.
        """
        if self.max_given == 1:
            return [{} for _ in sets]
        places: list[tuple[int, int]] = []
        selections = []
        n_compared = MAX_COMPARED if self.target < 0 else MAX_COMPARED_FOR_ONE
        for at, columns in enumerate(sets):
            if len(columns) + (self.target >= 0) < 3:
                continue
            most, deviations = level = self.level(columns)
            ordered = by_content(self.prepared, columns)
            # The best condition of few columns may lead further than a better one of three.
            sizes = (most,) if self.target < 0 else range(1, most + 1)
            for target in columns if self.target < 0 else (self.target,):
                others = self.prepared.unrelated(ordered, target)
                best = [
                    self.selector.best_stored(target, others, size, deviations) for size in sizes
                ]
                known = tuple(column for column in others if column in self.given)
                if known:
                    best.append(self.selector.best_stored(target, known, most, deviations))
                starts = [each.columns for each in best if each.bound > 0.0]
                if len(others) > 1 and starts:
                    places.append((at, target))
                    selections.append(
                        self.selector.select(target, others, starts, level, n_compared, known)
                    )
        examined: list[Examined] = [{} for _ in sets]
        results = self.selector.run(selections, run)
        for (at, target), found in zip(places, results, strict=True):
            examined[at][target] = found
        return examined

    def best_order(self, columns: Sequence[int], examined: Examined) -> tuple[float, list[int]]:
        """Return the score of a set and the order that gives it.

        All columns vary, and all strengths are in the table.
        """
        if len(columns) < 2:
            return 0.0, list(columns)
        which, midranks = np.array(columns, np.int64), self.prepared.derived(MidRanks)
        most, deviations = self.level(columns)
        contributions = kernels.uds_chance.contributions.contributions_of(
            which,
            most,
            self.table.arrays,
            as_arrays(columns, examined),
            midranks.entropies,
            midranks.null_moments,
            deviations,
        )
        of_orders = kernels.uds_chance.column_order
        wholes = np.rint(midranks.entropies[which] / of_orders.UNIT).astype(np.int64)
        # The kernel for many columns takes long to compile.
        few = len(columns) <= of_orders.MAX_EXACT
        best_order = of_orders.best_of_all_orders if few else of_orders.best_order
        score, order = best_order(contributions, wholes)
        return float(score), which[order].tolist()

    def best_condition(
        self, target: int, columns: Sequence[int], level: Level, examined: Examined
    ) -> Strength:
        """Return the best condition of a target within these columns.

        A column that is not given is used only if the best condition with it is worth more than
        the best one without it. So a column that only takes the place of a given one is not used.
        """
        allowed = list(columns)
        best = self._best_within(target, allowed, level, examined)
        while self.given and (new := [c for c in best.columns if c not in self.given]):
            without = {}
            for column in by_content(self.prepared, new):
                rest = [c for c in allowed if c != column]
                without[column] = self._best_within(target, rest, level, examined)
            needless = max(without, key=lambda column: without[column].value())
            if best.is_worth_more_than(without[needless]):
                break
            best = without[needless]
            allowed.remove(needless)
        return best

    def _best_within(
        self, target: int, columns: Sequence[int], level: Level, examined: Examined
    ) -> Strength:
        """Return the best condition within these columns, or the best one of given columns."""
        found = examined.get(target, {})
        best = self.selector.best(target, columns, level.most, level.deviations, found)
        given = self._best_given
        return given if given is not None and given.is_better(best) else best

    def _scores(self, sets: ColumnSets, run: RunTasks) -> Floats:
        """Return the scores of sets; all strengths must be in the table."""
        midranks, most = self.prepared.derived(MidRanks), self.most(sets.shape[1])
        arguments = (
            sets,
            self.target,
            most,
            self.prepared.varies,
            self.table.arrays,
            midranks.entropies,
            midranks.null_moments,
            np.array([self._deviations(size) for size in range(sets.shape[1] + 1)]),
        )
        scores: Floats = np.empty(len(sets))
        which = np.arange(len(sets))
        if not self.given:
            scores = kernels.uds_chance.contributions.score_sets(*arguments)
            if self.max_given == 1:
                return scores
            # Only sets with a condition of at least two columns need balanced cells.
            which = np.flatnonzero(kernels.uds_chance.contributions.have_conditions(*arguments))
        varying = [tuple(self.prepared.varying(columns)) for columns in sets[which].tolist()]
        for at, columns, found in zip(which, varying, self.examine(varying, run), strict=True):
            scores[at] = self._score(columns, found)
        return scores

    def _score(self, columns: Columns, examined: Examined) -> float:
        if self.target < 0:
            return self.best_order(columns, examined)[0]
        if not columns:
            return 0.0
        level = self.level(columns)
        return self._rounded(self.best_condition(self.target, columns, level, examined))

    def _rounded(self, best: Strength) -> float:
        """Return the explained fraction of the target, rounded as in the score of a set."""
        weight = float(self.prepared.derived(MidRanks).entropies[self.target])
        unit = kernels.uds_chance.column_order.UNIT
        return round(weight * best.estimate / unit) / round(weight / unit) if weight > 0.0 else 0.0

    def _sets_per_chunk(self, size: int) -> int:
        """Return the number of sets that are scored before scores are returned."""
        n_targets = size if self.target < 0 else 1
        n_conditions = sum(math.comb(size, k) for k in range(1, self.most(size) + 1))
        rows_per_set = self.prepared.n_rows * 16 * n_targets * n_conditions
        return int(min(max(ROWS_PER_CHUNK / rows_per_set, 16), MAX_SETS_PER_CHUNK))


def beyond_fraction(explained: Floats, by_given: float) -> Floats:
    """Return the fractions that are explained of what given columns leave unexplained."""
    if by_given >= 1.0:
        return np.zeros_like(explained)
    return np.maximum((explained - by_given) / (1.0 - by_given), 0.0)


def as_arrays(columns: Sequence[int], examined: Examined) -> tuple[Integers, Integers, Floats]:
    """Return targets, conditions and explained fractions, by positions in the set."""
    position = {column: at for at, column in enumerate(columns)}
    lines = [
        (position[target], [position[column] for column in condition], found)
        for target in columns
        for condition, found in examined.get(target, {}).items()
    ]
    widest = max((len(condition) for _, condition, _ in lines), default=1)
    conditions = np.full((len(lines), widest), -1, np.int64)
    for at, (_, condition, _) in enumerate(lines):
        conditions[at, : len(condition)] = condition
    fractions = np.array([found.fraction for _, _, found in lines])
    targets = np.array([target for target, _, _ in lines], np.int64)
    return targets, conditions, fractions.reshape(len(lines), 5)
