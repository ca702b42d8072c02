"""Equal-frequency grids along one or two columns, symmetric under reversal of a column."""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint16

from covary.kernels.shared.jit import (
    FLOATS,
    INTEGERS,
    ROWS,
    kernel,
    read_only,
    subkernel,
)


@subkernel
def cut_points(values, n_bins):
    """Return the positions of the cuts in the sorted values, for approximately ``n_bins`` bins.

    A cut that would separate equal values or split a row moves to the nearer end of the run of
    equal values. If both ends are equally near, it moves to the end nearer to the middle of the
    column. If there is still a tie, both ends become cuts. So the reversed column has the same
    cuts, and the cuts for ``n_bins`` / 2 are a subset of the cuts for ``n_bins``.
    """
    n = values.size
    cuts = np.empty(n_bins, np.int64)
    n_cuts = 0
    for j in range(1, n_bins):
        place = j * n // n_bins
        if place >= n:
            continue
        before = place
        after = place
        inside = j * n - place * n_bins > 0
        if inside or (place > 0 and values[place - 1] == values[place]):
            before = np.searchsorted(values, values[place])
            after = np.searchsorted(values, values[place], side="right")
        left = j * n - before * n_bins
        right = after * n_bins - j * n
        if left == right:
            left = abs(2 * before - n)
            right = abs(2 * after - n)
        for cut in (before, after):
            keep = left <= right if cut == before else right <= left
            if keep and 0 < cut < n and (n_cuts == 0 or cut > cuts[n_cuts - 1]):
                cuts[n_cuts] = cut
                n_cuts += 1
    return cuts[:n_cuts].copy()


@kernel(
    types.void(ROWS, FLOATS, INTEGERS, types.uint16[::1], types.uint16[:, ::1], types.int64[::1])
)
def fill_grids(order, values, sizes, codes, maps, n_bins):
    """Fill in the grids of one column. Each grid refines the previous one.

    Parameters
    ----------
    order, values : rows by ascending value (missing last), and the sorted values that are present
    sizes : the approximate number of bins of each grid, ascending
    codes : output, the bin of each row in the finest grid; missing cells are an additional bin
    maps : output, the bin in each grid of each bin of the finest grid
    n_bins : output, the number of bins of each grid, including the bin of missing cells

    """
    n = values.size
    cuts = cut_points(values, sizes[-1])
    at = 0
    for k in range(cuts.size + 1):
        end = cuts[k] if k < cuts.size else n
        while at < end:
            codes[order[at]] = uint16(k)
            at += 1
    for row in order[n:]:
        codes[row] = uint16(cuts.size + 1)
    missing = order.size > n
    for grid in range(sizes.size):
        coarser = cut_points(values, sizes[grid])
        coarse_bin = 0
        for k in range(maps.shape[1]):
            if k <= cuts.size:
                while coarse_bin < coarser.size and k > 0 and coarser[coarse_bin] <= cuts[k - 1]:
                    coarse_bin += 1
                maps[grid, k] = uint16(coarse_bin)
            else:
                maps[grid, k] = uint16(coarser.size + 1 if missing else 0)
        n_bins[grid] = coarser.size + 1 + missing


# Of all columns: the codes of the rows, the bin of each code in each grid, column after column,
# where each column starts there, and the numbers of bins.
GRIDS = types.Tuple(
    (read_only(types.uint16, 2), read_only(types.uint16), INTEGERS, read_only(types.int64, 2))
)


@subkernel
def _maps_of(grids, column):
    """Return the bin of each code of a column in each grid, shape (grids, codes)."""
    _, maps, starts, n_bins = grids
    return maps[starts[column] : starts[column + 1]].reshape((n_bins.shape[1], -1))


@subkernel
def _from_finest(maps, n_grids):
    """Return the bin in each of the first ``n_grids`` grids of each bin of the last of them."""
    n_codes = maps.shape[1]
    bins = np.zeros((n_grids, n_codes), np.uint16)
    for grid in range(n_grids):
        for code in range(n_codes):
            bins[grid, maps[n_grids - 1, code]] = maps[grid, code]
    return bins


# Grids with more cells are not used: their numbers have 16 bits.
_MAX_CELLS = 1 << 16


@subkernel
def _n_cells(grids, columns, grid):
    """Return the number of cells of a grid along some columns, or a number above the maximum."""
    n_cells = int64(1)
    for column in columns:
        n_cells = min(n_cells * grids[3][column, grid], int64(_MAX_CELLS + 1))
    return n_cells


@subkernel
def cut_along(grids, columns, n_grids):
    """Return the cells of the grids along one or more columns.

    A grid with too many cells is replaced by the previous one, or by a single cell.

    Parameters
    ----------
    grids : codes, bins of the codes, where these start, numbers of bins, see `GRIDS`
    columns : the columns
    n_grids : the number of grids to use, the coarsest first

    Returns
    -------
    cells : the cell of each row in the finest grid
    maps : the cell in each distinct grid of each cell of the finest grid, shape (distinct grids,
        cells); a grid is distinct if it differs from the previous one
    n_cells : the number of cells of each distinct grid
    which : the position of each of the ``n_grids`` grids among the distinct grids

    """
    codes, _, _, n_bins = grids
    which = np.zeros(n_grids, np.int64)
    n_cells = np.ones(n_grids, np.int64)
    n_distinct = 0
    n_used = 0
    while n_used < n_grids and _n_cells(grids, columns, n_used) <= _MAX_CELLS:
        distinct = n_used == 0
        for column in columns:
            distinct = distinct or n_bins[column, n_used] != n_bins[column, n_used - 1]
        if distinct:
            n_cells[n_distinct] = _n_cells(grids, columns, n_used)
            n_distinct += 1
        n_used += 1
        which[n_used - 1 :] = n_distinct - 1
    cells = np.zeros(codes.shape[1], np.uint16)
    if n_used == 0:
        return cells, np.zeros((1, 1), np.uint16), n_cells[:1].copy(), which
    finest = n_used - 1
    coarser = np.zeros((n_distinct, n_cells[n_distinct - 1]), np.uint16)
    for at in range(columns.size):
        column = columns[at]
        width = n_bins[column, finest]
        maps = _maps_of(grids, column)
        to_finest = maps[finest]
        for row in range(codes.shape[1]):
            cell = to_finest[codes[column, row]]
            cells[row] = uint16(int64(cells[row]) * width + int64(cell)) if at > 0 else cell
        from_finest = _from_finest(maps, n_used)
        inner = 1  # the number of cells that differ only in later columns
        for later in columns[at + 1 :]:
            inner *= n_bins[later, finest]
        for grid in range(n_used - 1, -1, -1):
            if grid > 0 and which[grid] == which[grid - 1]:
                continue
            cells_of_grid = coarser[which[grid]]
            for cell in range(cells_of_grid.size):
                coarse_bin = int64(from_finest[grid, (cell // inner) % width])
                cells_of_grid[cell] = uint16(
                    int64(cells_of_grid[cell]) * n_bins[column, grid] + coarse_bin
                )
    return cells, coarser, n_cells[:n_distinct].copy(), which
