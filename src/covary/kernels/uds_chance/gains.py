"""Gains: the fraction of a target's entropy that the cells of a grid explain beyond chance.

The gain is 1 - h(target | cells) / h(target), minus its expectation under independence (the
expected gain). Four grids, each coarser than the given cells, share one pass over the rows.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint32, uint64

from covary.kernels.shared.jit import (
    FLOATS,
    FLOATS_2D,
    INTEGERS,
    ROWS_2D,
    kernel,
    subkernel,
)
from covary.kernels.uds_chance.expected_entropy import look_up
from covary.kernels.uds_chance.grids import GRIDS, cut_along

# Of all columns: orders, numbers of present values, entropies, table of gaps, row of each column
# in this table, table of biases, row of each column in this table. Of nominal columns also the
# entropy of the levels times the number of rows (0 for other columns). Of nominal columns and of
# columns with two values, the row of the table of biases with their degrees of freedom. The gaps
# of a nominal column mark the last row of each level.
TARGETS = types.Tuple(
    (ROWS_2D, INTEGERS, FLOATS, FLOATS_2D, INTEGERS, FLOATS_2D, INTEGERS, FLOATS, INTEGERS)
)
_GAINS = types.UniTuple(types.float64[:, ::1], 3)

NEARLY_ZERO = 1e-9
# Sums are computed in integers, because these do not depend on the order of summation.
_GAIN_SCALE = 2.0**52
_FREEDOM_SCALE = 2.0**40
# The number of grids that share a pass.
_GRIDS_PER_PASS = 4


@subkernel
def _count(cells, rows, n_cells):
    """Return the number of the given rows in each cell."""
    counts = np.zeros(n_cells, np.uint32)
    for r in range(uint64(rows.size)):
        counts[uint64(cells[uint64(rows[r])])] += uint32(1)
    return counts


@subkernel
def _set_up(counts, maps, n_cells, first, increments, places, sizes, starts, steps):
    """Fill in the arrays for a pass over four grids.

    The cells of the four grids are numbered consecutively.

    Parameters
    ----------
    counts : the number of rows in each cell of the finest grid
    maps, n_cells, first : cells in each grid, numbers of cells, first of the four grids
    increments : table of G(t) - G(t - 1)
    places : output, the cell in each of the four grids of each cell of the finest grid
    sizes, starts : output, the number of rows of each cell, and the start of its steps
    steps : output, the change of n H(k / n) from k to k + 1, cell after cell, for each grid

    """
    offset = 0
    sizes[:] = uint32(0)
    for lane in range(_GRIDS_PER_PASS):
        grid = min(first + lane, maps.shape[0] - 1)
        for cell in range(counts.size):
            place = offset + int64(maps[grid, cell])
            places[cell, lane] = uint32(place)
            sizes[place] += counts[cell]
        at = 0
        for place in range(offset, offset + n_cells[grid]):
            starts[place] = uint32(at)
            n = int64(sizes[place])
            for t in range(n):
                steps[lane, at + t] = increments[n - t] - increments[t + 1]
            at += n
        offset += n_cells[grid]


@subkernel
def _entropies(cells, rows, gaps, places, starts, steps):
    """Return sum over thresholds of gap times sum over cells of n H(k / n), for four grids.

    The rows are visited in the order of the target. The sums over cells are integers, so the order
    of rows with equal values does not matter.
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


@subkernel
def _level_entropies(cells, rows, ends, places, n_places, increments, wholes):
    """Return the sum over cells of n H, with the entropy H of the levels, for four grids.

    It is the sum over cells of G(n) minus the sum over cells and levels of G(k), where k rows of
    the cell have the level. The rows are visited level after level.

    Parameters
    ----------
    cells, rows : the cell of each row in the finest grid, and the rows by level
    ends : not 0 at the last row of each level
    places, n_places : the cell in each of the four grids of each finest cell; number of all cells
    increments : table of G(t) - G(t - 1)
    wholes : the sum over cells of G(n), for each grid

    """
    one = uint32(1)
    counts = np.zeros(n_places, np.uint32)
    sum_0 = sum_1 = sum_2 = sum_3 = int64(0)
    start = uint64(0)
    for r in range(uint64(rows.size)):
        cell = uint64(cells[uint64(rows[r])])
        here = uint64(places[cell, uint64(0)])
        counts[here] += one
        sum_0 += increments[uint64(counts[here])]
        here = uint64(places[cell, uint64(1)])
        counts[here] += one
        sum_1 += increments[uint64(counts[here])]
        here = uint64(places[cell, uint64(2)])
        counts[here] += one
        sum_2 += increments[uint64(counts[here])]
        here = uint64(places[cell, uint64(3)])
        counts[here] += one
        sum_3 += increments[uint64(counts[here])]
        if ends[r] != 0.0:
            for before in range(start, r + uint64(1)):
                cell = uint64(cells[uint64(rows[before])])
                for lane in range(uint64(_GRIDS_PER_PASS)):
                    counts[uint64(places[cell, lane])] = uint32(0)
            start = r + uint64(1)
    return (
        float64(wholes[0] - sum_0),
        float64(wholes[1] - sum_1),
        float64(wholes[2] - sum_2),
        float64(wholes[3] - sum_3),
    )


@subkernel
def _whole_entropies(sizes, n_cells, first, n_grids, sums):
    """Return the sum over cells of G(n) for four grids whose cells are numbered consecutively.

    ``sums`` is a table of G in the unit of the increments.
    """
    wholes = np.zeros(_GRIDS_PER_PASS, np.int64)
    place = 0
    for lane in range(_GRIDS_PER_PASS):
        for _ in range(n_cells[min(first + lane, n_grids - 1)]):
            wholes[lane] += sums[uint64(sizes[place])]
            place += 1
    return wholes


@subkernel
def _expected_gain(sizes, tables, line, line_of_freedoms, n):
    """Return the expected gain of cells of given sizes, and their degrees of freedom.

    A cell of n_c of the n rows has (1 - n_c / n) (1 + 2 / n_c) degrees of freedom, because the
    entropy of small cells varies more. Those of a target with levels, or with two values, are in a
    table. A cell of one row has none. The total is at least 1 if any cell has several rows, but
    not all of them.

    Parameters
    ----------
    sizes : the number of rows of each cell
    tables, line, line_of_freedoms : tables by cell size, the line of the biases, and the line of
        the degrees of freedom, if the target has one; else 0
    n : the number of all rows

    """
    expected = int64(0)
    freedoms = int64(0)
    least = 0.0
    for size in sizes:
        if size > 0:
            expected += int64(np.rint(look_up(tables[line], int64(size)) * _GAIN_SCALE))
        if size > 1:
            if line_of_freedoms > 0:
                freedom = look_up(tables[line_of_freedoms], int64(size))
            else:
                freedom = (1.0 - float64(size) / float64(n)) * (1.0 + 2.0 / float64(size))
            freedoms += int64(np.rint(freedom * _FREEDOM_SCALE))
            if size < n:
                least = 1.0
    return expected / _GAIN_SCALE, max(float64(freedoms) / _FREEDOM_SCALE, least)


@subkernel
def gains(cells, maps, n_cells, targets, columns, increments, unit):
    """Return the gain, the expected gain and the degrees of freedom of each target and grid.

    Each result has the shape (targets, grids).

    Parameters
    ----------
    cells, maps, n_cells : the cell of each row in the finest grid, the cell in each grid of each
        cell of the finest grid, and the number of cells of each grid
    targets : the columns to explain
    columns : see `TARGETS`
    increments, unit : the result of `entropy_tables.whole_increments`

    """
    orders, n_present, entropies, gaps, gaps_of, biases, biases_of, shannon, freedoms_of = columns
    n_rows = int64(cells.size)
    n_grids = maps.shape[0]
    max_cells = 0
    for first in range(0, n_grids, _GRIDS_PER_PASS):
        total = 0
        for lane in range(_GRIDS_PER_PASS):
            total += n_cells[min(first + lane, n_grids - 1)]
        max_cells = max(max_cells, total)
    all_counts = np.zeros(maps.shape[1], np.uint32)
    for row in range(uint64(n_rows)):
        all_counts[uint64(cells[row])] += uint32(1)
    gain = np.zeros((targets.size, n_grids))
    expected = np.zeros((targets.size, n_grids))
    freedoms = np.zeros((targets.size, n_grids))
    places = np.empty((maps.shape[1], _GRIDS_PER_PASS), np.uint32)
    sizes = np.zeros(max_cells, np.uint32)
    starts = np.zeros(max_cells, np.uint32)
    steps = np.empty((_GRIDS_PER_PASS, n_rows), np.int64)
    sums = np.empty(0, np.int64)
    if targets.size > 0 and shannon[targets].max() > 0.0:
        sums = np.cumsum(increments[: n_rows + 1])
    for first in range(0, n_grids, _GRIDS_PER_PASS):
        last = min(first + _GRIDS_PER_PASS, n_grids)
        ready = False  # whether the arrays are set up for targets without missing cells
        previous = -1  # the previous target without missing cells
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
            if shannon[target] > 0.0:
                wholes = _whole_entropies(sizes, n_cells, first, n_grids, sums)
                remaining = _level_entropies(
                    cells, rows, gaps[gaps_of[target]], places, sizes.size, increments, wholes
                )
                whole = shannon[target]
            else:
                remaining = _entropies(cells, rows, gaps[gaps_of[target]], places, starts, steps)
                whole = 2.0 * float64(n) * float64(n) * entropies[target]
            same = ready and previous >= 0 and biases_of[targets[previous]] == biases_of[target]
            offset = 0
            for grid in range(first, last):
                if same:
                    expected[k, grid] = expected[previous, grid]
                    freedoms[k, grid] = freedoms[previous, grid]
                else:
                    expected[k, grid], freedoms[k, grid] = _expected_gain(
                        sizes[offset : offset + n_cells[grid]],
                        biases,
                        biases_of[target],
                        freedoms_of[target],
                        n,
                    )
                offset += n_cells[grid]
                unexplained = remaining[grid - first] * unit / whole
                gain[k, grid] = 1.0 - unexplained - expected[k, grid]
            if ready:
                previous = k
    return gain, expected, freedoms


@kernel(_GAINS(GRIDS, INTEGERS, int64, INTEGERS, TARGETS, INTEGERS, float64))
def gains_along(grids, given, n_grids, targets, columns, increments, unit):
    """Return the result of `gains` for the grids along some columns, see `cut_along`."""
    cells, maps, n_cells, which = cut_along(grids, given, n_grids)
    gain, expected, freedoms = gains(cells, maps, n_cells, targets, columns, increments, unit)
    return gain[:, which], expected[:, which], freedoms[:, which]
