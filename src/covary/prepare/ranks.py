"""Ranks among the distinct values of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from covary.array_types import Rows
from covary.prepare.derived import Derived, Moves, move_entries

if TYPE_CHECKING:
    from covary.prepare.prepared import Prepared


class Ranks(Derived):
    """The rank of every row among the distinct values, one line per column.

    Missing cells have the highest rank.
    """

    def __init__(self, by_row: Rows) -> None:
        self.by_row = by_row

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        ranks = np.empty(prepared.orders.shape, np.uint32)
        for position, n_present in enumerate(prepared.n_present):
            values = prepared.values[position, :n_present]
            steps = np.zeros(n_present, np.uint32)
            steps[1:] = values[1:] != values[:-1]
            ranks[position] = n_present
            ranks[position, prepared.orders[position, :n_present]] = np.cumsum(steps)
        return cls(ranks)

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_entries(self.by_row, moves))
