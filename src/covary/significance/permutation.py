"""Permutation tests of one set of columns, or of many sets on the same permuted tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Booleans, Columns, Floats, OnProgress
from covary.engines import RunTasks
from covary.measures import Measure
from covary.prepare import Prepared
from covary.significance.nulls import NullTables
from covary.significance.stopping import MIN_PERMUTATIONS, Stopping
from covary.tail_probability import tail_probability
from covary.tolerance import at_least

# After this many permutations, a set whose evidence is far above all of them may stop. Sets are
# examined after this number anyway.
FAR_PERMUTATIONS = 4 * MIN_PERMUTATIONS
# Its fitted tail probability is below this, and below this fraction of the smallest possible
# p-value. A tail that is fitted to so few permutations may be wrong by a factor of ten.
FAR_TAIL = 2e-6
FAR_FRACTION = 0.1
# If it is this many standard deviations above the mean, the first permutations are sufficient: the
# probability is below 1/901 for every distribution (Cantelli), and much smaller for usual ones.
VERY_FAR_DEVIATIONS = 30.0

# Stores the numbers of permutations, the sets, and their evidence.
StoreEvidence = Callable[[list[int], tuple[int, ...], Floats], None]


class PermutationTest(NamedTuple):
    """What every task needs to compute the evidence of sets on permuted tables.

    Parameters
    ----------
    target : the column whose independence of the others is tested, in all sets; None if the
        independence of all columns of a set is tested
    """

    measure: Measure
    prepared: Prepared
    sets: tuple[Columns, ...]
    target: int | None
    null_tables: NullTables

    def observed(self, run: RunTasks, on_progress: OnProgress | None = None) -> Floats:
        """Return the evidence of the sets in the table itself.

        Parameters
        ----------
        run : runs tasks on an engine whose session has this test
        on_progress : called with the number of sets done and the number of all
        """
        evidence = np.empty(len(self.sets))
        done = 0
        for start, found in run(evidence_observed, range(len(self.sets))):
            evidence[start : start + len(found)] = found
            done += len(found)
            if on_progress is not None:
                on_progress(done, len(self.sets))
        return evidence


class Permutation(NamedTuple):
    """One permuted table, and the sets whose evidence is computed on it."""

    number: int
    sets: tuple[int, ...]


def evidence_observed(test: PermutationTest, numbers: Sequence[int]) -> Floats:
    """Return the evidence of some of the sets in the table itself: a task."""
    sets = [test.sets[number] for number in numbers]
    return test.null_tables.observed(test.measure, test.prepared, sets, test.target)


def evidence_permuted(test: PermutationTest, permutations: Sequence[Permutation]) -> Floats:
    """Return the evidence of sets, one line per permutation: a task."""
    sets = [test.sets[at] for at in permutations[0].sets]
    numbers = [each.number for each in permutations]
    return test.null_tables.evidence(test.measure, test.prepared, sets, numbers, test.target)


class PermutationResult(NamedTuple):
    """The p-value of a set, its evidence, and its null distribution."""

    pvalue: float
    observed: float
    null: Floats


class NullDistribution:
    """The evidence of sets on permuted tables. A set is dropped when its p-value is decided.

    Parameters
    ----------
    observed : the evidence of each set
    maximum : the maximum number of permutations
    stopping : the rule to stop early; None to use all permutations
    skips_far : whether a set stops if its evidence is so far above that of the first permutations
        that the smallest possible p-value is certain
    stored : the evidence that was computed before, one line per permutation, NaN where missing
    """

    def __init__(
        self,
        observed: Floats,
        maximum: int,
        stopping: Stopping | None = None,
        stored: Floats | None = None,
        *,
        skips_far: bool = False,
    ) -> None:
        self.observed = observed
        self.skips_far = skips_far
        self._is_far = np.zeros(observed.size, np.bool_)
        self.maximum = maximum
        self.stopping = stopping
        self.values = np.empty((0, observed.size)) if stored is None else stored
        # The number of permutations after which each set is decided; None if it is not.
        self.stopped_at: list[int | None] = [None if maximum > 0 else 0] * observed.size
        self.n_permutations = 0  # computed for all undecided sets
        self.n_values = 0  # of all sets and permutations, for progress

    @property
    def undecided(self) -> tuple[int, ...]:
        """The sets that need more permutations."""
        return tuple(at for at, end in enumerate(self.stopped_at) if end is None)

    def grow(
        self,
        run: RunTasks,
        store: StoreEvidence | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Permute until every set is decided.

        Parameters
        ----------
        run : runs tasks on an engine whose session has the `PermutationTest`
        store : stores new values
        on_progress : called with the number of values computed and the number that are likely to
            be needed
        """
        while self.undecided and self.n_permutations < self.maximum:
            last = self.maximum
            if self.stopping is not None:
                last = min(last, max(2 * self.n_permutations, MIN_PERMUTATIONS))
            self._compute(last, run, store, on_progress)
            self.n_permutations = last
            for at in self.undecided:
                self.stopped_at[at] = self._stop(at)
        if on_progress is not None:
            on_progress(self.n_values, self.n_values)

    def _compute(
        self,
        last: int,
        run: RunTasks,
        store: StoreEvidence | None,
        on_progress: OnProgress | None,
    ) -> None:
        sets = self.undecided
        first = self.n_permutations
        more = np.full((max(last - len(self.values), 0), self.observed.size), np.nan)
        self.values = np.concatenate([self.values, more])
        block = self.values[first:last, sets]
        missing = (np.flatnonzero(np.isnan(block).any(axis=1)) + first).tolist()
        items = [Permutation(number, sets) for number in missing]
        ends = [min(max(self._likely_end(at), last), self.maximum) for at in sets]
        total = self.n_values + sum(ends) - first * len(sets)
        self.n_values += len(sets) * (last - first - len(items))
        for start, lines in run(evidence_permuted, items):
            numbers = missing[start : start + len(lines)]
            self.values[np.ix_(numbers, sets)] = lines
            self.n_values += lines.size
            if store is not None:
                store(numbers, sets, lines)
            if on_progress is not None:
                on_progress(self.n_values, total)

    def _stop(self, at: int) -> int | None:
        """Return the number of permutations after which a set is decided, or None."""
        if self.stopping is None:
            return self.n_permutations if self.n_permutations == self.maximum else None
        if self.skips_far and self.n_permutations < self.maximum:
            for n, is_far in (
                (MIN_PERMUTATIONS, self._seems_very_far),
                (FAR_PERMUTATIONS, self._seems_far),
            ):
                if n == self.n_permutations and is_far(at, n):
                    self._is_far[at] = True
                    return n
        return self.stopping.stops(np.cumsum(self._exceeding(at, self.n_permutations)))

    def _seems_far(self, at: int, n: int) -> bool:
        """Return whether the evidence of a set is far above that of the first n permutations."""
        limit = min(FAR_TAIL, FAR_FRACTION / (1 + self.maximum))
        return tail_probability(float(self.observed[at]), self.values[:n, at]) < limit

    def _seems_very_far(self, at: int, n: int) -> bool:
        """Return whether so few permutations are sufficient."""
        null = self.values[:n, at]
        spread = float(null.std())
        return spread > 0.0 and self.observed[at] > null.mean() + VERY_FAR_DEVIATIONS * spread

    def _likely_end(self, at: int) -> int:
        """Return the number of permutations that a set is likely to need."""
        n = self.n_permutations
        if self.stopping is None:
            return self.maximum
        if n == 0:  # most sets that a search reports depend strongly
            return FAR_PERMUTATIONS if self.skips_far else self.maximum
        if self.skips_far and n < FAR_PERMUTATIONS and self._seems_far(at, n):
            return FAR_PERMUTATIONS
        # A set whose p-value is clearly above the level is likely to stop soon.
        pvalue = (1 + int(self._exceeding(at, n).sum())) / (1 + n)
        return 2 * n if pvalue > 2 * self.stopping.level else self.maximum

    def _exceeding(self, at: int, end: int) -> Booleans:
        return at_least(self.values[:end, at], self.observed[at])

    def result(self, at: int) -> PermutationResult | None:
        """Return the result of a set, a rough one if it is undecided; None without any value."""
        end = self.stopped_at[at]
        used = self.n_permutations if end is None else end
        if used == 0 and self.maximum > 0:
            return None
        count = int(self._exceeding(at, used).sum())
        null = self.values[:used, at].copy()
        if self._is_far[at]:
            pvalue = 1 / (1 + self.maximum)
        elif self.stopping is None or end is None:
            pvalue = (1 + count) / (1 + used)
        else:
            pvalue = self.stopping.pvalue(end, count)
        return PermutationResult(pvalue, float(self.observed[at]), null)
