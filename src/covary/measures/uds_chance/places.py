"""Places: the ranks of every column, centred, as balanced cells need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.array_types import Columns
from covary.prepare import Derived, Moves, Prepared, move_entries


class Places(Derived):
    """Twice the mid-rank of every row minus its mean, one line per column.

    Reversing a column changes only the signs.

    Attributes
    ----------
    by_row : the places, with a value of its own for missing cells
    """

    def __init__(self, by_row: npt.NDArray[np.int32]) -> None:
        self.by_row = by_row

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        by_row = np.full(prepared.orders.shape, kernels.uds_chance.cells.MISSING, np.int32)
        columns = zip(prepared.orders, prepared.values, prepared.n_present, strict=True)
        for places, (order, values, n) in zip(by_row, columns, strict=True):
            if n > 0:
                starts = np.flatnonzero(np.append(True, values[1:n] != values[: n - 1]))
                ends = np.append(starts[1:], n)
                places[order[:n]] = np.repeat(starts + ends - n, ends - starts)
        return cls(by_row)

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_entries(self.by_row, moves))


def by_content(prepared: Prepared, columns: Sequence[int]) -> Columns:
    """Return columns in an order that depends only on their contents."""
    which = np.array(columns, np.int64)
    places = prepared.derived(Places).by_row
    order = np.argsort(kernels.uds_chance.cells.separations(places, which), kind="stable")
    return tuple(which[order].tolist())
