"""Equal-frequency bins that look the same from either end, and the cells of two columns."""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint8, uint16

from covary.kernels.jit import FLOATS, ROWS, WHOLES, kernel, part


@part
def cut_points(values, n_bins):
    """Return after how many of the sorted values to cut, for about ``n_bins`` bins.

    A cut that would separate equal values, or fall inside a row, moves to the nearer end of them;
    if both are as near, to the one nearer to the middle; and if both are as near to that, there
    are two cuts. So the cuts of a column turned upside down are the same ones, and those of half
    as many bins are among them.
    """
    n = values.size
    cuts = np.empty(n_bins, np.int64)
    number = 0
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
            if keep and 0 < cut < n and (number == 0 or cut > cuts[number - 1]):
                cuts[number] = cut
                number += 1
    return cuts[:number].copy()


@kernel(types.void(ROWS, FLOATS, WHOLES, types.uint8[::1], types.uint8[:, ::1], types.int64[::1]))
def fill_grids(order, values, sizes, codes, maps, n_bins):
    """Fill in the grids of one column; each refines the one before.

    Parameters
    ----------
    order, values : rows by ascending value (missing last), and the sorted values without these
    sizes : into about how many bins each grid cuts the column
    codes : gets the bin of every row in the last grid; missing cells are one bin more
    maps : gets by grid the bin of each of those bins
    n_bins : gets by grid how many bins there are, missing cells being one

    """
    n = values.size
    cuts = cut_points(values, sizes[-1])
    at = 0
    for k in range(cuts.size + 1):
        end = cuts[k] if k < cuts.size else n
        while at < end:
            codes[order[at]] = uint8(k)
            at += 1
    for row in order[n:]:
        codes[row] = uint8(cuts.size + 1)
    missing = order.size > n
    for grid in range(sizes.size):
        coarser = cut_points(values, sizes[grid])
        now = 0
        for k in range(maps.shape[1]):
            if k <= cuts.size:
                while now < coarser.size and k > 0 and coarser[now] <= cuts[k - 1]:
                    now += 1
                maps[grid, k] = uint8(now)
            else:
                maps[grid, k] = uint8(coarser.size + 1 if missing else 0)
        n_bins[grid] = coarser.size + 1 + missing


GRIDS = types.Tuple(
    (
        types.Array(types.uint8, 2, "C", readonly=True),
        types.Array(types.uint8, 3, "C", readonly=True),
        types.Array(types.int64, 2, "C", readonly=True),
    )
)


@part
def _from_finest(maps, n_grids, n_codes):
    """Return maps from the bins of the last of these grids to those of each."""
    maps_to = np.zeros((n_grids, n_codes), np.uint8)
    for grid in range(n_grids):
        for code in range(n_codes):
            maps_to[grid, maps[n_grids - 1, code]] = maps[grid, code]
    return maps_to


@part
def cut_along(grids, one, other, n_grids):
    """Return the cells of every row in the finest grid along two columns, and coarser ones.

    Parameters
    ----------
    grids : codes of every column, bins of the codes in every grid, number of bins in every grid
    one, other : the columns; the same twice if the grid is along one column only
    n_grids : how many grids to use, the coarsest first; each refines the one before

    Returns
    -------
    cells : of every row in the finest grid
    maps : one line per grid that differs from the one before: for each of these cells, its cell in
        the grid
    n_cells : how many cells each of those has
    which : for each of ``n_grids`` grids, which of those it is

    """
    codes, maps, n_bins = grids
    n_codes = maps.shape[2]
    which = np.empty(n_grids, np.int64)
    n_cells = np.empty(n_grids, np.int64)
    number = 0
    for grid in range(n_grids):
        if (
            grid == 0
            or n_bins[one, grid] != n_bins[one, grid - 1]
            or n_bins[other, grid] != n_bins[other, grid - 1]
        ):
            n_cells[number] = n_bins[one, grid]
            if other != one:
                n_cells[number] *= n_bins[other, grid]
            number += 1
        which[grid] = number - 1
    finest = n_grids - 1
    along_one = _from_finest(maps[one], n_grids, n_codes)
    along_other = _from_finest(maps[other], n_grids, n_codes)
    width = n_bins[other, finest] if other != one else 1
    to_one = maps[one, finest]
    to_other = maps[other, finest]
    cells = np.empty(codes.shape[1], np.uint16)
    if other == one:
        for row in range(codes.shape[1]):
            cells[row] = uint16(to_one[codes[one, row]])
    else:
        for row in range(codes.shape[1]):
            cell = int64(to_one[codes[one, row]]) * width + int64(to_other[codes[other, row]])
            cells[row] = uint16(cell)
    coarser = np.empty((number, n_bins[one, finest] * width), np.uint16)
    for grid in range(n_grids - 1, -1, -1):
        line = coarser[which[grid]]
        for k in range(n_bins[one, finest]):
            if other == one:
                line[k] = uint16(along_one[grid, k])
            else:
                for j in range(width):
                    cell = int64(along_one[grid, k]) * n_bins[other, grid]
                    line[k * width + j] = uint16(cell + int64(along_other[grid, j]))
    return cells, coarser, n_cells[:number].copy(), which
