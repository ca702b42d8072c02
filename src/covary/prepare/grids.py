"""Fixed equal-frequency grids of every column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels

# Each grid of a family refines the one before, so that they can share a pass over the rows.
FAMILIES = ((2, 4, 8, 16, 32, 64, 128), (3, 6, 12, 24, 48, 96, 192))
# A cell should hold at least about so many rows; of a grid along two columns, so many.
ROWS_PER_BIN = 6
ROWS_PER_CELL = 6
MOST_BINS_OF_TWO = 32


class Grids(NamedTuple):
    """One family of grids.

    Parameters
    ----------
    codes : by column, the bin of every row in the finest grid
    maps : by column and grid, the bin of each code
    n_bins : by column and grid, how many bins there are, missing cells being one
    sizes : into how many bins each grid is meant to cut a column
    n_of_two : how many of the grids, the coarsest first, are used along two columns
    """

    codes: npt.NDArray[np.uint8]
    maps: npt.NDArray[np.uint8]
    n_bins: npt.NDArray[np.int64]
    sizes: tuple[int, ...]
    n_of_two: int


def make_grids(
    family: tuple[int, ...],
    orders: npt.NDArray[np.uint32],
    values: npt.NDArray[np.float64],
    n_present: npt.NDArray[np.int64],
) -> Grids:
    """Return one family of grids of all columns; a table of few rows gets only the first."""
    n_columns, n_rows = orders.shape
    sizes = tuple(n for n in family if n * ROWS_PER_BIN <= n_rows) or family[:1]
    of_two = [n for n in sizes if n <= MOST_BINS_OF_TWO and n * n * ROWS_PER_CELL <= n_rows]
    codes = np.empty((n_columns, n_rows), np.uint8)
    # One bin more may come from a middle row that is cut off on both sides, one from gaps.
    maps = np.zeros((n_columns, len(sizes), sizes[-1] + 2), np.uint8)
    n_bins = np.empty((n_columns, len(sizes)), np.int64)
    for column in range(n_columns):
        present = values[column, : n_present[column]]
        # No finer than what is there of the column allows; a grid that comes again is told apart.
        enough = [n for n in sizes if n * ROWS_PER_BIN <= present.size] or sizes[:1]
        wanted = np.minimum(np.array(sizes, np.int64), enough[-1])
        kernels.grids.fill_grids(
            orders[column], present, wanted, codes[column], maps[column], n_bins[column]
        )
    return Grids(codes, maps, n_bins, sizes, max(len(of_two), 1))
