"""How much of a column the cells of a grid explain, beyond chance: one update per row and grid.

Up to four grids, each coarser than the cells that are handed in, share a pass over the rows.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint32, uint64

from covary.kernels.chance import look_up
from covary.kernels.grids import GRIDS, cut_along
from covary.kernels.jit import FLOATS, ROWS, WHOLES, kernel, part

_LINES = types.Array(types.float64, 2, "C", readonly=True)
_ORDERS = types.Array(types.uint32, 2, "C", readonly=True)

_NOTHING = 1e-9
_WHOLE_SHARE = 2.0**52
_WHOLE_FREEDOM = 2.0**40
# How many grids share a pass.
AT_ONCE = 4


@part
def _count(cells, rows, n_cells):
    """Return how many of these rows each cell holds."""
    counts = np.zeros(n_cells, np.uint32)
    for r in range(uint64(rows.size)):
        counts[uint64(cells[uint64(rows[r])])] += uint32(1)
    return counts


@part
def _set_up(counts, maps, n_cells, first, increments, places, sizes, starts, steps):
    """Fill in what a pass over four grids needs, from the rows of each of the finest cells.

    Parameters
    ----------
    places : for each of the finest cells, the number of its cell in each grid, counted through
    sizes, starts : of the cells, counted through: rows, and where in ``steps`` its own begin
    steps : by grid, how n H(k / n) of a cell changes from row to row

    """
    base = 0
    sizes[:] = uint32(0)
    for lane in range(AT_ONCE):
        level = min(first + lane, maps.shape[0] - 1)
        for cell in range(counts.size):
            place = base + int64(maps[level, cell])
            places[cell, lane] = uint32(place)
            sizes[place] += counts[cell]
        at = 0
        for place in range(base, base + n_cells[level]):
            starts[place] = uint32(at)
            n = int64(sizes[place])
            for t in range(n):
                steps[lane, at + t] = increments[n - t] - increments[t + 1]
            at += n
        base += n_cells[level]


@part
def _entropies(cells, rows, gaps, places, starts, steps):
    """Return sum over thresholds of gap times sum over cells of n H(k / n), for four grids.

    Thresholds are passed in the order of the target. What is summed over cells is a whole number,
    so that it is the same in whatever order rows of equal value come.
    """
    one = uint32(1)
    at = starts.copy()
    steps_0, steps_1, steps_2, steps_3 = steps[0], steps[1], steps[2], steps[3]
    now_0 = now_1 = now_2 = now_3 = int64(0)
    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
    for r in range(uint64(rows.size)):
        cell = uint64(cells[uint64(rows[r])])
        gap = gaps[r]
        here = uint64(places[cell, uint64(0)])
        step = at[here]
        at[here] = step + one
        now_0 += steps_0[uint64(step)]
        sum_0 += gap * now_0
        here = uint64(places[cell, uint64(1)])
        step = at[here]
        at[here] = step + one
        now_1 += steps_1[uint64(step)]
        sum_1 += gap * now_1
        here = uint64(places[cell, uint64(2)])
        step = at[here]
        at[here] = step + one
        now_2 += steps_2[uint64(step)]
        sum_2 += gap * now_2
        here = uint64(places[cell, uint64(3)])
        step = at[here]
        at[here] = step + one
        now_3 += steps_3[uint64(step)]
        sum_3 += gap * now_3
    return sum_0, sum_1, sum_2, sum_3


@part
def _chance(sizes, biases, n):
    """Return what cells of these sizes explain on average by chance, and their degrees of freedom.

    A single row tells nothing: it has no degrees of freedom. Small cells vary more than large
    ones, which counts as some more. If there are two cells, there is at least one in all.
    Both are sums of whole numbers: the same in whatever order the cells come.
    """
    expected = int64(0)
    freedoms = int64(0)
    for size in sizes:
        if size > 0:
            expected += int64(np.rint(look_up(biases, int64(size)) * _WHOLE_SHARE))
        if size > 1:
            freedom = (1.0 - float64(size) / float64(n)) * (1.0 + 2.0 / float64(size))
            freedoms += int64(np.rint(freedom * _WHOLE_FREEDOM))
    freedom = float64(freedoms) / _WHOLE_FREEDOM
    return expected / _WHOLE_SHARE, max(freedom, 1.0) if freedom > _NOTHING else 0.0


COLUMNS = types.Tuple(
    (
        _ORDERS,
        types.Array(types.int64, 1, "C", readonly=True),
        FLOATS,
        _LINES,
        WHOLES,
        _LINES,
        WHOLES,
    )
)


_FOUND = types.UniTuple(types.float64[:, ::1], 3)


@part
def gains(cells, maps, n_cells, targets, columns, increments, unit):
    """Return for each target and grid the share of its entropy that is explained beyond chance.

    Parameters
    ----------
    cells, maps, n_cells : the cell of every row in a finest grid, the number of its cell in each
        of the grids to be used (one line per grid), and how many cells each has
    targets : which columns are explained
    columns : orders, numbers of present values, entropies, lines of gaps, the line of each column,
        lines of biases, the line of each column (`covary.prepare.Ranked`)
    increments, unit : `covary.kernels.tables.whole_increments`

    Returns
    -------
    gains, chances, freedoms : one line per target, one column per grid: 1 - h(target | cells) /
        h(target), corrected for chance; by how much it was corrected; and the degrees of freedom

    """
    orders, n_present, entropies, gap_lines, gap_of, bias_lines, bias_of = columns
    n_rows = int64(cells.size)
    n_grids = maps.shape[0]
    most = 0
    for first in range(0, n_grids, AT_ONCE):
        total = 0
        for lane in range(AT_ONCE):
            total += n_cells[min(first + lane, n_grids - 1)]
        most = max(most, total)
    all_counts = np.zeros(maps.shape[1], np.uint32)
    for row in range(uint64(n_rows)):
        all_counts[uint64(cells[row])] += uint32(1)
    found = np.zeros((targets.size, n_grids))
    chances = np.zeros((targets.size, n_grids))
    freedoms = np.zeros((targets.size, n_grids))
    places = np.empty((maps.shape[1], AT_ONCE), np.uint32)
    sizes = np.zeros(most, np.uint32)
    starts = np.zeros(most, np.uint32)
    steps = np.empty((AT_ONCE, n_rows), np.int64)
    for first in range(0, n_grids, AT_ONCE):
        last = min(first + AT_ONCE, n_grids)
        ready = False  # whether everything is set up for targets without missing cells
        like = -1  # the last of these
        for k in range(targets.size):
            target = targets[k]
            n = n_present[target]
            if entropies[target] <= 0.0:
                continue
            rows = orders[target, :n]
            if n < n_rows:
                counts = _count(cells, rows, maps.shape[1])
                _set_up(counts, maps, n_cells, first, increments, places, sizes, starts, steps)
                ready = False
            elif not ready:
                _set_up(all_counts, maps, n_cells, first, increments, places, sizes, starts, steps)
                ready = True
            left = _entropies(cells, rows, gap_lines[gap_of[target]], places, starts, steps)
            whole = 2.0 * float64(n) * float64(n) * entropies[target]
            same = ready and like >= 0 and bias_of[targets[like]] == bias_of[target]
            base = 0
            for grid in range(first, last):
                if same:
                    chances[k, grid] = chances[like, grid]
                    freedoms[k, grid] = freedoms[like, grid]
                else:
                    chances[k, grid], freedoms[k, grid] = _chance(
                        sizes[base : base + n_cells[grid]], bias_lines[bias_of[target]], n
                    )
                base += n_cells[grid]
                share = left[grid - first] * unit / whole
                found[k, grid] = 1.0 - share - chances[k, grid]
            if ready:
                like = k
    return found, chances, freedoms


@kernel(_FOUND(GRIDS, int64, int64, int64, WHOLES, COLUMNS, WHOLES, float64))
def gains_along(grids, one, other, n_grids, targets, columns, increments, unit):
    """Return what `gains` does for the grids along one or two columns (`cut_along`)."""
    cells, maps, n_cells, which = cut_along(grids, one, other, n_grids)
    found, chances, freedoms = gains(cells, maps, n_cells, targets, columns, increments, unit)
    return found[:, which], chances[:, which], freedoms[:, which]


@kernel(types.float64[:, ::1](ROWS, _ORDERS, WHOLES, WHOLES, COLUMNS, WHOLES, float64))
def gains_in(cells, maps, n_cells, targets, columns, increments, unit):
    """Return the explained shares that `gains` does, for any cells."""
    return gains(cells, maps, n_cells, targets, columns, increments, unit)[0]
