"""Permutation tests of one set of columns, or of many sets on the same permuted tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Booleans, Columns, Floats, OnProgress
from covary.engines import RunTasks
from covary.measures import Measure
from covary.prepare import Prepared
from covary.significance.nulls import Arrangements
from covary.significance.stopping import MIN_PERMUTATIONS, Stopping
from covary.tolerance import at_least

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
    arrangements: Arrangements

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
    return test.measure.evidence_sets(test.prepared, sets, test.target)


def evidence_permuted(test: PermutationTest, permutations: Sequence[Permutation]) -> Floats:
    """Return the evidence of sets, one line per permutation: a task."""
    sets = [test.sets[at] for at in permutations[0].sets]
    moves = [test.arrangements.moves(each.number) for each in permutations]
    return test.measure.evidence_moved(test.prepared, sets, moves, test.target)


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
    stored : the evidence that was computed before, one line per permutation, NaN where missing
    """

    def __init__(
        self,
        observed: Floats,
        maximum: int,
        stopping: Stopping | None = None,
        stored: Floats | None = None,
    ) -> None:
        self.observed = observed
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
        on_progress : called with the number of values computed and the maximum
        """
        while self.undecided and self.n_permutations < self.maximum:
            last = self.maximum
            if self.stopping is not None:
                last = min(last, max(2 * self.n_permutations, MIN_PERMUTATIONS))
            self._compute(last, run, store, on_progress)
            self.n_permutations = last
            for at in self.undecided:
                self.stopped_at[at] = self._stop(at)

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
        total = self.n_values + len(sets) * (self.maximum - first)
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
        return self.stopping.stops(np.cumsum(self._exceeding(at, self.n_permutations)))

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
        if self.stopping is None or end is None:
            pvalue = (1 + count) / (1 + used)
        else:
            pvalue = self.stopping.pvalue(end, count)
        return PermutationResult(pvalue, float(self.observed[at]), null)
