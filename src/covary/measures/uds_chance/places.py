"""Places: the ranks of every column, centred, as balanced cells need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.array_types import Columns, Integers
from covary.prepare import Derived, Moves, Prepared, move_entries


class Places(Derived):
    """Twice the mid-rank of every row minus its mean, one line per column.

    Reversing a column changes only the signs. The place in a nominal column is the number of the
    level.

    Attributes
    ----------
    by_row : the places, with a value of its own for missing cells
    n_levels : the number of levels of each nominal column; 0 for other columns
    """

    def __init__(self, by_row: npt.NDArray[np.int32], n_levels: Integers) -> None:
        self.by_row = by_row
        self.n_levels = n_levels

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int32], Integers]:
        """The arrays as the kernels expect them."""
        return self.by_row, self.n_levels

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        by_row = np.full(prepared.orders.shape, kernels.uds_chance.cells.MISSING, np.int32)
        n_levels = np.zeros(len(by_row), np.int64)
        for column, n in enumerate(prepared.n_present):
            if n == 0:
                continue
            order, values = prepared.orders[column, :n], prepared.values[column, :n]
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
            ends = np.append(starts[1:], n)
            places = starts + ends - n
            if prepared.nominal[column]:
                n_levels[column] = starts.size
                places = np.arange(starts.size)
            by_row[column, order] = np.repeat(places, ends - starts)
        return cls(by_row, n_levels)

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_entries(self.by_row, moves), self.n_levels)


def by_content(prepared: Prepared, columns: Sequence[int]) -> Columns:
    """Return columns in an order that depends only on their contents."""
    which = np.array(columns, np.int64)
    places = prepared.derived(Places).arrays
    order = np.argsort(kernels.uds_chance.cells.separations(places, which), kind="stable")
    return tuple(which[order].tolist())
