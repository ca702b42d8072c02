"""Balanced cells over columns. The same cells serve many targets, so they are kept."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Self

import numpy as np

from covary import kernels
from covary.array_types import Columns, Integers, Rows
from covary.measures.uds_chance.places import Places
from covary.prepare import Derived, Moves, Prepared

# Of each row its cell in the finest level, of each of these cells its cell in every level, and the
# number of cells of every level; see `covary.kernels.uds_chance.cells.balanced_cells`.
Cells = tuple[Rows, Rows, Integers]

# Cells are kept until they take this much memory.
MAX_BYTES = 64_000_000


class KeptCells(Derived):
    """The balanced cells over those columns for which they were needed.

    Parameters
    ----------
    unmoved, moved_columns : the cells of the same table before some columns were moved
    """

    def __init__(self, unmoved: KeptCells | None = None, moved_columns: Set[int] = frozenset()):
        self.unmoved = unmoved
        self.moved_columns = moved_columns
        self._kept: dict[Columns, list[Cells]] = {}
        self._bytes = 0

    @classmethod
    def of(cls, _: Prepared) -> Self:
        return cls()

    def moved(self, moves: Moves) -> Self:
        return type(self)(self, frozenset(moves))

    def over(self, prepared: Prepared, columns: Columns) -> list[Cells]:
        """Return the balanced cells over columns; ``prepared`` is the table of these cells."""
        if self.unmoved is not None and self.moved_columns.isdisjoint(columns):
            return self.unmoved.over(prepared, columns)
        cells = self._kept.get(columns)
        if cells is None:
            cells = balanced_cells(prepared, columns)
            size = sum(array.nbytes for each in cells for array in each)
            if self._bytes + size > MAX_BYTES:
                self._kept.clear()
                self._bytes = 0
            self._kept[columns] = cells
            self._bytes += size
        return cells

    def __getstate__(self) -> dict[str, Any]:
        """Workers compute the cells that they need."""
        return {**self.__dict__, "_kept": {}, "_bytes": 0}


def balanced_cells(prepared: Prepared, columns: Sequence[int]) -> list[Cells]:
    """Return the balanced cells over columns, for each of the equally good orders of these."""
    places = prepared.derived(Places).arrays
    absent = prepared.absent(columns)
    counted = np.arange(prepared.n_rows) if absent is None else np.flatnonzero(~absent)
    rows = counted.astype(np.uint32)
    orders = kernels.uds_chance.cells.orders_of_columns(places, np.array(columns, np.int64))
    return [kernels.uds_chance.cells.balanced_cells(places, order, rows) for order in orders]
