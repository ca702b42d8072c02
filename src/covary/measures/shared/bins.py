"""Equal-frequency bins of every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from covary import kernels
from covary.array_types import Codes, Integers, Rows
from covary.prepare import Derived, Moves, Prepared, move_entries

# The code of a bin, and one code for missing cells, must fit into a byte.
MAX_BINS = 254


class EqualFrequencyBins(Derived):
    """At most ``beta`` bins of every column with about equally many rows. Ties stay together.

    Attributes
    ----------
    codes : by column, the bin of every row; equal to ``counts`` of the column if missing
    counts : the number of bins of each column, not counting missing cells
    ends : by column, the end of each bin in the sorted values, exclusive
    """

    def __init__(self, codes: Codes, counts: Integers, ends: tuple[Rows, ...]) -> None:
        self.codes = codes
        self.counts = counts
        self.ends = ends

    @classmethod
    def of(cls, prepared: Prepared, beta: int) -> Self:
        codes = np.empty(prepared.orders.shape, np.uint8)
        ends = []
        for position, n_present in enumerate(prepared.n_present):
            values = prepared.values[position, :n_present]
            ends.append(
                kernels.shared.columns.initial_bins(
                    prepared.orders[position], values, beta, codes[position]
                )
            )
        counts = np.array([each.size for each in ends], np.int64)
        codes.flags.writeable = counts.flags.writeable = False
        return cls(codes, counts, tuple(ends))

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_entries(self.codes, moves), self.counts, self.ends)

    def upper_values(
        self, prepared: Prepared, column: int, bins: Sequence[int]
    ) -> tuple[Any, ...]:
        """Return the largest value of each of these bins, in the column's own units."""
        own = prepared.table.columns[column]
        last = self.ends[column][np.asarray(bins, dtype=int)] - 1
        rows = prepared.orders[column, last]
        return tuple(own.in_own_units(float(value)) for value in own.values[rows])
