"""Balanced cells over any number of columns: a k-d tree on the ranks of the columns.

The rows are split at the median of the column with the widest range of ranks, and the parts are
split again. A level of the tree consists of the first parts with fewer than a limit of rows. The
limits are 4, 8, 16, .. rows, so that each level refines the next one.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types, uint32, uint64

from covary.kernels.shared.jit import INTEGERS, kernel, subkernel
from covary.kernels.uds_chance.median_splits import (
    MISSING,
    PLACES,
    split,
    widest,
    workspace_for,
)

# Cells of the finest level have fewer rows than this.
SMALLEST_LIMIT = 4
# Coarser cells are not needed, because grids have them.
MAX_LEVELS = 8
# If more orders are equally good, only these are tried.
MAX_ORDERS = 24


@subkernel
def n_levels(n_rows):
    """Return the number of levels of a table; every level splits at least once."""
    levels = 0
    while levels < MAX_LEVELS and (SMALLEST_LIMIT << levels) <= n_rows:
        levels += 1
    return levels


@kernel(types.int64[::1](PLACES, INTEGERS))
def separations(places, columns):
    """Return how well the halves of each column separate the other columns.

    The first column to be split should not depend on the order of the columns in the table. All
    columns without ties have the same range of ranks, so that this sum decides.
    """
    k = columns.size
    n = places.shape[1]
    separated = np.zeros(k, np.int64)
    for c in range(k):
        own = places[columns[c]]
        for j in range(k):
            other = places[columns[j]]
            total = int64(0)
            if j == c:
                for row in range(n):
                    if own[row] != MISSING:
                        total += abs(int64(own[row]))
            else:
                for row in range(n):
                    if own[row] != MISSING and other[row] != MISSING:
                        total += int64(other[row]) * (int64(own[row] > 0) - int64(own[row] < 0))
            separated[c] += abs(total)
    return separated


@kernel(types.int64[:, ::1](PLACES, INTEGERS))
def orders_of_columns(places, columns):
    """Return the order, or the equally good orders, in which columns are preferred for a split.

    Columns that separate the others equally well are tried in all orders, at most `MAX_ORDERS`.
    """
    k = columns.size
    separated = separations(places, columns)
    first = np.argsort(-separated, kind="mergesort")
    orders = np.empty((MAX_ORDERS, k), np.int64)
    orders[0] = first
    number = 1
    start = 0
    while start < k:
        end = start + 1
        while end < k and separated[first[end]] == separated[first[start]]:
            end += 1
        # All permutations of the tied columns, inserted one by one at every place.
        for at in range(start + 1, end):
            known = number
            for which in range(known):
                for place in range(start, at):
                    if number < MAX_ORDERS:
                        orders[number] = orders[which]
                        moved = orders[which, at]
                        for i in range(at, place, -1):
                            orders[number, i] = orders[number, i - 1]
                        orders[number, place] = moved
                        number += 1
        start = end
    result = np.empty((number, k), np.int64)
    for which in range(number):
        for i in range(k):
            result[which, i] = columns[orders[which, i]]
    return result


@kernel(types.Tuple((types.uint32[::1], types.uint32[:, ::1], types.int64[::1]))(PLACES, INTEGERS))
def balanced_cells(places, order):
    """Return the balanced cells over some columns.

    Parameters
    ----------
    places : the places of all columns
    order : the columns; if several have the widest range, the first of them is split

    Returns
    -------
    cells : the cell of each row in the finest level
    maps : the cell in each level, coarsest first, of each cell of the finest level
    n_cells : the number of cells of each level

    """
    n = places.shape[1]
    levels = n_levels(n)
    n_cells = np.zeros(levels, np.int64)  # finest level first, until the end
    cells = np.zeros(n, np.uint32)
    parents = np.zeros((n, levels), np.uint32)  # of each finest cell, its cell in each level
    rows = np.arange(n).astype(np.uint32)
    workspace = workspace_for(n)
    # Parts that are not finished: start, end, and the size of the part that they were split from.
    waiting = np.empty((n + 1, 3), np.int64)
    n_waiting = 0
    # Unsigned numbers, because an index that may be negative takes longer.
    start, end = uint64(0), uint64(n)
    size_before = int64(SMALLEST_LIMIT) << levels
    while levels > 0:
        size = end - start
        column, missing, least, largest = int64(-1), False, int32(0), int32(0)
        if size >= SMALLEST_LIMIT:
            column, missing, least, largest = widest(places, order, rows, start, end)
        for level in range(levels):
            limit = SMALLEST_LIMIT << level
            if size_before < limit:
                break
            if size < limit or column < 0:
                n_cells[level] += 1
        if column >= 0:
            low, high = split(
                places, uint64(column), missing, least, largest, rows, start, end, workspace
            )
            # The lower part is next, the others wait.
            waiting[n_waiting, 0] = int64(high)
            waiting[n_waiting, 1] = int64(end)
            waiting[n_waiting, 2] = int64(size)
            n_waiting += 1
            if low < high:
                waiting[n_waiting, 0] = int64(low)
                waiting[n_waiting, 1] = int64(high)
                waiting[n_waiting, 2] = int64(size)
                n_waiting += 1
            end = low
            size_before = int64(size)
            continue
        cell = n_cells[0] - 1
        for i in range(start, end):
            cells[rows[i]] = uint32(cell)
        for level in range(levels):
            parents[cell, level] = uint32(n_cells[level] - 1)
        if n_waiting == 0:
            break
        n_waiting -= 1
        start = uint64(waiting[n_waiting, 0])
        end = uint64(waiting[n_waiting, 1])
        size_before = waiting[n_waiting, 2]
    maps = np.empty((levels, n_cells[0] if levels > 0 else 1), np.uint32)
    for level in range(levels):
        for cell in range(n_cells[0]):
            maps[levels - 1 - level, cell] = parents[cell, level]
    return cells, maps, n_cells[::-1].copy()


@subkernel
def group_rows(cells, n_cells):
    """Return the rows cell after cell, and where each cell starts, with the end of the last."""
    starts = np.zeros(n_cells + 1, np.int64)
    for cell in cells:
        starts[int64(cell) + 1] += 1
    for cell in range(n_cells):
        starts[cell + 1] += starts[cell]
    rows = np.empty(cells.size, np.uint32)
    at = starts.copy()
    for row in range(cells.size):
        cell = cells[row]
        rows[at[cell]] = uint32(row)
        at[cell] += 1
    return rows, starts


@subkernel
def split_cells(places, column, grouped, starts):
    """Return cells that are split along another column: into two parts, and again into two.

    Parameters
    ----------
    places, column : the places of all columns, and the column to split along
    grouped, starts : the result of `group_rows` for the cells

    Returns
    -------
    cells, maps, n_cells : as for `balanced_cells`, with three levels: the cells, those split once
        and those split twice

    """
    n = grouped.size
    rows = grouped.copy()
    workspace = workspace_for(n)
    one = np.array([column])
    cells = np.empty(n, np.uint32)
    maps = np.empty((3, n), np.uint32)
    n_cells = np.zeros(3, np.int64)
    # Parts of a cell that are not finished: start, end, and how often they were split.
    waiting = np.empty((8, 3), np.int64)
    for cell in range(starts.size - 1):
        if starts[cell] == starts[cell + 1]:
            continue
        n_cells[0] += 1
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = starts[cell], starts[cell + 1], 0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            start, end = uint64(waiting[n_waiting, 0]), uint64(waiting[n_waiting, 1])
            depth = waiting[n_waiting, 2]
            varies = False
            if depth < 2:
                found, missing, least, largest = widest(places, one, rows, start, end)
                varies = found >= 0
            if depth == 1 or not (varies or depth == 2):
                n_cells[1] += 1
            if varies:
                low, high = split(
                    places, uint64(column), missing, least, largest, rows, start, end, workspace
                )
                bounds = (int64(end), int64(high), int64(low), int64(start))
                for part in range(3):  # the lower part is next
                    if bounds[part + 1] < bounds[part]:
                        waiting[n_waiting, 0] = bounds[part + 1]
                        waiting[n_waiting, 1] = bounds[part]
                        waiting[n_waiting, 2] = depth + 1
                        n_waiting += 1
                continue
            finest = n_cells[2]
            n_cells[2] += 1
            for i in range(start, end):
                cells[rows[i]] = uint32(finest)
            maps[0, finest] = uint32(n_cells[0] - 1)
            maps[1, finest] = uint32(n_cells[1] - 1)
            maps[2, finest] = uint32(finest)
    return cells, maps[:, : n_cells[2]].copy(), n_cells
