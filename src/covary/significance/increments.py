"""Which sets add something beyond their subsets: increment tests of many sets.

A measure may have its own test (`Measure.increment_pvalue`). All others use the test of
`uds-chance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns, Floats
from covary.measures import Measure
from covary.measures.shared.content_order import content_hashes
from covary.measures.uds_chance.conditional import MAX_ROWS
from covary.measures.uds_chance.uds_chance import UDSChance
from covary.prepare import Need, Prepared, Ranks
from covary.prepare.selected_rows import with_rows
from covary.seeds import Purpose, random_stream


class IncrementTests(NamedTuple):
    """What every task needs to test increments.

    Parameters
    ----------
    target : the column that all sets explain, if there is one
    given : columns that are given in all tests
    """

    measure: Measure
    prepared: Prepared
    target: int | None
    given: Columns
    seed: int

    @property
    def tester(self) -> Measure:
        """The measure whose increment test is used."""
        return self.measure if self.measure.tests_increments else UDSChance()

    def precomputed(self) -> IncrementTests:
        """Compute derived data before the tests are sent to workers; return the tests."""
        self.prepared.precompute([Need(Ranks)])
        if self.prepared.n_rows <= MAX_ROWS:
            self.prepared.precompute(self.tester.needs())
        return self

    def pvalue(self, columns: Columns) -> float:
        """Return the p-value of the hypothesis that the set does not need one of its columns."""
        if self.prepared.n_rows > MAX_ROWS:
            return self._sampled(columns).pvalue(tuple(range(len(columns))))
        return self.tester.increment_pvalue(
            self.prepared, columns, self.target, self.given, self.seed
        )

    def _sampled(self, columns: Columns) -> IncrementTests:
        """Return the tests of some rows of these columns only."""
        hashes = content_hashes(self.prepared, columns)
        rng = random_stream(self.seed, Purpose.INCREMENTS, *sorted(hashes))
        dependent = self.prepared.dependent
        if dependent is None:
            rows = np.sort(rng.choice(self.prepared.n_rows, MAX_ROWS, replace=False))
        else:
            rows = dependent.some_rows(MAX_ROWS, rng)
            dependent = dependent.of_rows(rows)
        every = (*columns, *self.given)
        return self._replace(
            prepared=with_rows(self.prepared, every, [rows] * len(every), dependent),
            target=None if self.target is None else columns.index(self.target),
            given=tuple(range(len(columns), len(every))),
        )


def increment_pvalues(tests: IncrementTests, sets: Sequence[Columns]) -> Floats:
    """Return the p-values of many sets: a task."""
    return np.array([tests.pvalue(columns) for columns in sets])
