"""Fixed equal-frequency grids of every column."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from covary import kernels
from covary.array_types import Codes, Integers
from covary.prepare import Derived, Moves, Prepared, move_entries

# The grids of a family refine each other, so that they share one pass over the rows.
FAMILIES = ((2, 4, 8, 16, 32, 64, 128), (3, 6, 12, 24, 48, 96, 192))
# The average number of rows per bin, or per cell of a grid over several columns, is at least this.
MIN_ROWS_PER_BIN = 6
MIN_ROWS_PER_CELL = 6
MAX_BINS_OF_SEVERAL = 32


class GridFamily(NamedTuple):
    """Grids that refine each other.

    Parameters
    ----------
    codes : by column, the bin of every row in the finest grid
    maps : by column and grid, the bin of each code
    n_bins : by column and grid, the number of bins; missing cells are one
    sizes : the intended number of bins of each grid
    n_of_two, n_of_three : the number of grids, coarsest first, that are used over more columns
    """

    codes: Codes
    maps: Codes
    n_bins: Integers
    sizes: tuple[int, ...]
    n_of_two: int
    n_of_three: int

    @property
    def arrays(self) -> tuple[Codes, Codes, Integers]:
        """The arrays as the kernels expect them."""
        return self.codes, self.maps, self.n_bins

    def n_grids(self, one: int, other: int) -> int:
        """Return the number of grids over one column, named twice, or over two."""
        return len(self.sizes) if one == other else self.n_of_two


class Grids(Derived):
    """Two families of grids.

    Attributes
    ----------
    families : the families
    """

    def __init__(self, families: tuple[GridFamily, ...]) -> None:
        self.families = families

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        return cls(tuple(_make_family(sizes, prepared) for sizes in FAMILIES))

    def moved(self, moves: Moves) -> Self:
        return type(self)(
            tuple(
                family._replace(codes=move_entries(family.codes, moves))
                for family in self.families
            )
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays of both families as the kernels expect them."""
        return tuple(family.arrays for family in self.families)

    def n_examined(self, n_columns: int) -> tuple[int, int]:
        """Return the number of grids of each family that show how much some columns explain.

        The first family is enough for two or three columns: the best of these conditions are
        examined again with balanced cells.
        """
        first, second = self.families
        if n_columns == 1:
            return len(first.sizes), len(second.sizes)
        return (first.n_of_two if n_columns == 2 else first.n_of_three), 0


def _make_family(family: tuple[int, ...], prepared: Prepared) -> GridFamily:
    """Return one family of grids of all columns; a small table gets only the coarsest."""
    n_columns, n_rows = prepared.orders.shape
    sizes = tuple(n for n in family if n * MIN_ROWS_PER_BIN <= n_rows) or family[:1]
    n_of_two, n_of_three = (
        sum(n <= MAX_BINS_OF_SEVERAL and n**k * MIN_ROWS_PER_CELL <= n_rows for n in sizes)
        for k in (2, 3)
    )
    codes = np.empty((n_columns, n_rows), np.uint8)
    # Up to two more bins: a middle row that is cut off on both sides, and missing cells.
    maps = np.zeros((n_columns, len(sizes), sizes[-1] + 2), np.uint8)
    n_bins = np.empty((n_columns, len(sizes)), np.int64)
    for column in range(n_columns):
        present = prepared.values[column, : prepared.n_present[column]]
        # A column with few present cells repeats its finest possible grid.
        possible = [n for n in sizes if n * MIN_ROWS_PER_BIN <= present.size] or sizes[:1]
        wanted = np.minimum(np.array(sizes, np.int64), possible[-1])
        kernels.uds_chance.grids.fill_grids(
            prepared.orders[column], present, wanted, codes[column], maps[column], n_bins[column]
        )
    return GridFamily(codes, maps, n_bins, sizes, max(n_of_two, 1), max(n_of_three, 1))
