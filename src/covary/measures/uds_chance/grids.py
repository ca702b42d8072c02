"""Fixed equal-frequency grids of every column, and groups of levels of nominal columns."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from covary import kernels
from covary.array_types import Floats, Integers, LevelCodes, Rows
from covary.prepare import Derived, Moves, Prepared, move_entries

# The grids of a family refine each other, so that they share one pass over the rows.
FAMILIES = ((2, 4, 8, 16, 32, 64, 128), (3, 6, 12, 24, 48, 96, 192))
# The average number of rows per bin, or per cell of a grid over several columns, is at least this.
MIN_ROWS_PER_BIN = 6
MIN_ROWS_PER_CELL = 6
MAX_BINS_OF_SEVERAL = 32
# A grid has all levels of a nominal column if these are at most twice as many as its bins. In
# grids over several columns, there are at most this many.
MAX_LEVELS_OF_SEVERAL = 39


class GridFamily(NamedTuple):
    """Grids that refine each other.

    Parameters
    ----------
    codes : by column, the bin of every row in the finest grid
    maps, starts : by column and grid, the bin of each code, in one line; where columns start in it
    n_bins : by column and grid, the number of bins; missing cells are one
    sizes : the intended number of bins of each grid
    n_of_two, n_of_three : the number of grids, coarsest first, that are used over more columns
    """

    codes: LevelCodes
    maps: LevelCodes
    starts: Integers
    n_bins: Integers
    sizes: tuple[int, ...]
    n_of_two: int
    n_of_three: int

    @property
    def arrays(self) -> tuple[LevelCodes, LevelCodes, Integers, Integers]:
        """The arrays as the kernels expect them."""
        return self.codes, self.maps, self.starts, self.n_bins

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

    def n_examined(self, n_columns: int, n_counted: int | None = None) -> tuple[int, int]:
        """Return the number of grids of each family that show how much some columns explain.

        The first family is enough for two or three columns: the best of these conditions are
        examined again with balanced cells. If only ``n_counted`` rows count, finer grids are not
        used: their cells would have too few rows.
        """
        first, second = self.families
        if n_columns == 1:
            numbers = len(first.sizes), len(second.sizes)
        else:
            numbers = (first.n_of_two if n_columns == 2 else first.n_of_three), 0
        if n_counted is None:
            return numbers
        enough = [
            sum(size**n_columns * MIN_ROWS_PER_CELL <= n_counted for size in family.sizes)
            for family in self.families
        ]
        return min(numbers[0], max(enough[0], 1)), min(numbers[1], max(enough[1], 1))


def _make_family(family: tuple[int, ...], prepared: Prepared) -> GridFamily:
    """Return one family of grids of all columns; a small table gets only the coarsest."""
    n_columns, n_rows = prepared.orders.shape
    sizes = tuple(n for n in family if n * MIN_ROWS_PER_BIN <= n_rows) or family[:1]
    n_of_two, n_of_three = (
        sum(n <= MAX_BINS_OF_SEVERAL and n**k * MIN_ROWS_PER_CELL <= n_rows for n in sizes)
        for k in (2, 3)
    )
    codes = np.empty((n_columns, n_rows), np.uint16)
    maps, starts = _empty_maps(prepared, sizes)
    n_bins = np.empty((n_columns, len(sizes)), np.int64)
    for column in range(n_columns):
        order = prepared.orders[column]
        present = prepared.values[column, : prepared.n_present[column]]
        # A column with few present cells repeats its finest possible grid.
        possible = [n for n in sizes if n * MIN_ROWS_PER_BIN <= present.size] or sizes[:1]
        wanted = np.minimum(np.array(sizes, np.int64), possible[-1])
        own_maps = maps[starts[column] : starts[column + 1]].reshape(len(sizes), -1)
        fill = _group_levels if prepared.nominal[column] else kernels.uds_chance.grids.fill_grids
        fill(order, present, wanted, codes[column], own_maps, n_bins[column])
    return GridFamily(codes, maps, starts, n_bins, sizes, max(n_of_two, 1), max(n_of_three, 1))


def _empty_maps(prepared: Prepared, sizes: tuple[int, ...]) -> tuple[LevelCodes, Integers]:
    """Return space for the bins of all codes, and where each column starts in it."""
    n_codes = np.full(len(prepared.names), sizes[-1])
    for column in np.flatnonzero(prepared.nominal):
        present = prepared.values[column, : prepared.n_present[column]]
        n_codes[column] = 1 + np.count_nonzero(present[1:] != present[:-1])
    # Up to two more bins: a middle row that is cut off on both sides, and missing cells.
    starts = np.append(0, np.cumsum((n_codes + 2) * len(sizes)))
    return np.zeros(starts[-1], np.uint16), starts


def _group_levels(
    order: Rows,
    values: Floats,
    sizes: Integers,
    codes: LevelCodes,
    maps: LevelCodes,
    n_bins: Integers,
) -> None:
    """Fill in the grids of a nominal column: its most frequent levels, and all others as one bin.

    The last grid has all levels. The arguments are those of
    `covary.kernels.uds_chance.grids.fill_grids`.
    """
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    counts = np.diff(starts, append=values.size)
    n_levels = counts.size
    # Levels in descending order of their number of rows.
    rank = np.empty(n_levels, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(n_levels)
    codes[order[: values.size]] = np.repeat(rank, counts)
    codes[order[values.size :]] = n_levels
    missing = int(order.size > values.size)
    ordered = np.sort(counts)[::-1]
    # Levels with equal numbers of rows are not separated from each other. The most frequent ones
    # are cells of their own in every grid, if two bins of another column leave enough rows.
    numbers = np.append(np.flatnonzero(np.diff(ordered)) + 1, n_levels)
    if numbers[0] * 2 * MIN_ROWS_PER_CELL > values.size:
        numbers = np.append(0, numbers)
    for grid, size in enumerate(sizes.tolist()):
        kept, most = n_levels, 2 * size
        allowed = numbers
        if size <= MAX_BINS_OF_SEVERAL:
            most = min(most, MAX_LEVELS_OF_SEVERAL)
            allowed = np.append(numbers[:1], numbers[1:][numbers[1:] < MAX_LEVELS_OF_SEVERAL])
        if n_levels > most and grid < sizes.size - 1:
            kept = int(allowed[np.argmin(np.abs(allowed - (size - 1)))])
        n_kept = min(kept + 1, n_levels)
        maps[grid, :n_levels] = np.minimum(np.arange(n_levels), kept)
        maps[grid, n_levels:] = n_kept
        n_bins[grid] = n_kept + missing
