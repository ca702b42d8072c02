"""Balanced cells over any number of columns: a k-d tree on the ranks of the columns.

The rows are split at the median of the column with the widest range of ranks, and the parts are
split again. A level of the tree consists of the first parts with fewer than a limit of rows. The
limits are 4, 8, 16, .. rows, so that each level refines the next one.

Nominal columns are split first, into all of their levels: these have no order in which they could
be split further.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types, uint32, uint64

from covary.kernels.shared.jit import INTEGERS, ROWS, kernel, subkernel
from covary.kernels.uds_chance.median_splits import (
    MISSING,
    PLACES,
    split,
    widest,
    workspace_for,
)

# The places of all columns, and the numbers of levels of nominal columns; 0 for other columns.
PLACES_AND_LEVELS = types.Tuple((PLACES, INTEGERS))

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


@subkernel
def _separation(own, other):
    """Return how well the halves of an ordered column separate another one."""
    total = int64(0)
    for row in range(own.size):
        if own[row] != MISSING and other[row] != MISSING:
            total += int64(other[row]) * (int64(own[row] > 0) - int64(own[row] < 0))
    return abs(total)


@subkernel
def _separation_by_levels(levels, n_levels, other, halves):
    """Return how well levels separate an ordered column, or its halves."""
    sums = np.zeros(n_levels, np.int64)
    for row in range(levels.size):
        if levels[row] != MISSING and other[row] != MISSING:
            half = int64(other[row] > 0) - int64(other[row] < 0)
            sums[levels[row]] += half if halves else int64(other[row])
    return np.abs(sums).sum()


@subkernel
def _separation_of_levels(levels, n_levels, other, n_others):
    """Return how well levels separate other levels."""
    counts = np.zeros(n_levels, np.int64)
    other_counts = np.zeros(n_others, np.int64)
    for row in range(levels.size):
        if levels[row] != MISSING and other[row] != MISSING:
            counts[levels[row]] += 1
            other_counts[other[row]] += 1
    total = int64(0)
    for row in range(levels.size):
        if levels[row] != MISSING and other[row] != MISSING:
            total += counts[levels[row]] * other_counts[other[row]] // levels.size
    return total


@kernel(types.int64[::1](PLACES_AND_LEVELS, INTEGERS))
def separations(places_and_levels, columns):
    """Return how well the halves of each column, or its levels, separate the other columns.

    The first column to be split should not depend on the order of the columns in the table. All
    columns without ties have the same range of ranks, so that this sum decides.
    """
    places, n_levels = places_and_levels
    k = columns.size
    separated = np.zeros(k, np.int64)
    for c in range(k):
        own, levels = places[columns[c]], n_levels[columns[c]]
        for j in range(k):
            other, others = places[columns[j]], n_levels[columns[j]]
            if levels > 0 and others > 0:
                separated[c] += _separation_of_levels(own, levels, other, others)
            elif levels > 0:
                separated[c] += _separation_by_levels(own, levels, other, False)
            elif others > 0:
                separated[c] += _separation_by_levels(other, others, own, True)
            else:
                separated[c] += _separation(own, other)
    return separated


@kernel(types.int64[:, ::1](PLACES_AND_LEVELS, INTEGERS))
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


@subkernel
def _group_by_level(levels, rows, start, end, counts, found, workspace):
    """Sort some rows by their level in a nominal column; return the number of levels among them.

    Parameters
    ----------
    levels : the level of each row, or `MISSING`
    rows, start, end : the rows of all parts, and where this part starts and ends
    counts, found : one entry per level and one for missing cells; counts are 0. After the call,
        ``found`` contains the levels of the rows, and ``counts`` their numbers of rows
    workspace : for as many rows

    """
    missing = counts.size - 1
    n_found = 0
    for i in range(start, end):
        level = levels[rows[i]]
        level = missing if level == MISSING else level
        if counts[level] == 0:
            found[n_found] = level
            n_found += 1
        counts[level] += 1
        workspace[i - start] = rows[i]
    if n_found > 1:
        at = int64(start)
        for which in range(n_found):  # counts become the ends of the levels, and counts again
            at += counts[found[which]]
            counts[found[which]] = at
        for i in range(end - start):
            row = workspace[i]
            level = levels[row]
            level = missing if level == MISSING else level
            counts[level] -= 1
            rows[counts[level]] = row
        for which in range(n_found):
            ends = counts[found[which + 1]] if which + 1 < n_found else int64(end)
            counts[found[which]] = ends - counts[found[which]]
    return n_found


@kernel(
    types.Tuple((types.uint32[::1], types.uint32[:, ::1], types.int64[::1]))(
        PLACES_AND_LEVELS, INTEGERS, ROWS
    )
)
def balanced_cells(places_and_levels, columns, counted):
    """Return the balanced cells over some columns.

    Parameters
    ----------
    places_and_levels : of all columns
    columns : nominal columns are split first, in this order. If several others have the widest
        range, the first of them is split
    counted : the rows to divide into cells; all others are in the cell 0, and do not count

    Returns
    -------
    cells : the cell of each row in the finest level
    maps : the cell in each level, coarsest first, of each cell of the finest level
    n_cells : the number of cells of each level

    """
    places, levels_of = places_and_levels
    nominal = columns[levels_of[columns] > 0]
    order = columns[levels_of[columns] == 0]
    counts = np.zeros(levels_of.max() + 1, np.int64)
    found = np.empty(counts.size, np.int64)
    n = counted.size
    levels = n_levels(n)
    n_cells = np.zeros(levels, np.int64)  # finest level first, until the end
    cells = np.zeros(places.shape[1], np.uint32)
    parents = np.zeros((n, levels), np.uint32)  # of each finest cell, its cell in each level
    rows = counted.copy()
    workspace = workspace_for(n)
    # Parts that are not finished: start, end, the size of the part that they were split from, and
    # the number of nominal columns along which they were split.
    waiting = np.empty((n + 1, 4), np.int64)
    n_waiting = 0
    n_split = 0
    # Unsigned numbers, because an index that may be negative takes longer.
    start, end = uint64(0), uint64(n)
    size_before = int64(SMALLEST_LIMIT) << levels
    while levels > 0:
        size = end - start
        column, missing, least, largest = int64(-1), False, int32(0), int32(0)
        n_found = 1
        while size >= SMALLEST_LIMIT and n_found == 1 and n_split < nominal.size:
            which = nominal[n_split]
            own = counts[: levels_of[which] + 1]
            n_found = _group_by_level(places[which], rows, start, end, own, found, workspace[3])
            if n_found == 1:
                own[found[0]] = 0
            n_split += 1
        if n_found > 1:
            column = nominal[n_split - 1]
        elif size >= SMALLEST_LIMIT:
            column, missing, least, largest = widest(places, order, rows, start, end)
        for level in range(levels):
            limit = SMALLEST_LIMIT << level
            if size_before < limit:
                break
            if size < limit or column < 0:
                n_cells[level] += 1
        if n_found > 1:
            at = int64(start)
            for k in range(n_found):
                waiting[n_waiting, 0] = at
                at += counts[found[k]]
                counts[found[k]] = 0
                waiting[n_waiting, 1] = at
                waiting[n_waiting, 2] = int64(size)
                waiting[n_waiting, 3] = n_split
                n_waiting += 1
        elif column >= 0:
            low, high = split(
                places, uint64(column), missing, least, largest, rows, start, end, workspace
            )
            # The lower part is next, the others wait.
            waiting[n_waiting, 0] = int64(high)
            waiting[n_waiting, 1] = int64(end)
            waiting[n_waiting, 2] = int64(size)
            waiting[n_waiting, 3] = n_split
            n_waiting += 1
            if low < high:
                waiting[n_waiting, 0] = int64(low)
                waiting[n_waiting, 1] = int64(high)
                waiting[n_waiting, 2] = int64(size)
                waiting[n_waiting, 3] = n_split
                n_waiting += 1
            end = low
            size_before = int64(size)
            continue
        else:
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
        n_split = waiting[n_waiting, 3]
    maps = np.empty((levels, n_cells[0] if levels > 0 else 1), np.uint32)
    for level in range(levels):
        for cell in range(n_cells[0]):
            maps[levels - 1 - level, cell] = parents[cell, level]
    return cells, maps, n_cells[::-1].copy()


@subkernel
def group_rows(cells, n_cells, absent):
    """Return the rows cell after cell, and where each cell starts, with the end of the last.

    Rows that are ``absent`` do not count; all rows count if it is empty.
    """
    some = absent.size > 0
    starts = np.zeros(n_cells + 1, np.int64)
    for row in range(cells.size):
        if not (some and absent[row]):
            starts[int64(cells[row]) + 1] += 1
    for cell in range(n_cells):
        starts[cell + 1] += starts[cell]
    rows = np.empty(starts[n_cells], np.uint32)
    at = starts.copy()
    for row in range(cells.size):
        if some and absent[row]:
            continue
        cell = cells[row]
        rows[at[cell]] = uint32(row)
        at[cell] += 1
    return rows, starts


@subkernel
def _split_by_levels(levels, n_levels, grouped, starts):
    """Return cells that are split into the levels of a nominal column, see `split_cells`."""
    n = grouped.size
    rows = grouped.copy()
    workspace = np.empty(n, np.uint32)
    counts = np.zeros(n_levels + 1, np.int64)
    found = np.empty(n_levels + 1, np.int64)
    cells = np.zeros(levels.size, np.uint32)
    maps = np.empty((3, n), np.uint32)
    n_cells = np.zeros(3, np.int64)
    for cell in range(starts.size - 1):
        start, end = uint64(starts[cell]), uint64(starts[cell + 1])
        n_found = _group_by_level(levels, rows, start, end, counts, found, workspace)
        at = int64(start)
        for which in range(n_found):
            for i in range(at, at + counts[found[which]]):
                cells[rows[i]] = uint32(n_cells[2])
            at += counts[found[which]]
            counts[found[which]] = 0
            maps[0, n_cells[2]] = uint32(n_cells[0])
            n_cells[2] += 1
        n_cells[0] += n_found > 0
    maps[1] = np.arange(n)
    maps[2] = maps[1]
    n_cells[1] = n_cells[2]
    return cells, maps[:, : n_cells[2]].copy(), n_cells


@subkernel
def split_cells(places_and_levels, column, grouped, starts):
    """Return cells that are split along another column: into two parts, and again into two.

    Along a nominal column, cells are split into its levels, once.

    Parameters
    ----------
    places_and_levels, column : of all columns, and the column to split along
    grouped, starts : the result of `group_rows` for the cells

    Returns
    -------
    cells, maps, n_cells : as for `balanced_cells`, with three levels: the cells, those split once
        and those split twice

    """
    places, levels_of = places_and_levels
    if levels_of[column] > 0:
        return _split_by_levels(places[column], levels_of[column], grouped, starts)
    n = grouped.size
    rows = grouped.copy()
    workspace = workspace_for(n)
    one = np.array([column])
    cells = np.zeros(places.shape[1], np.uint32)
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
