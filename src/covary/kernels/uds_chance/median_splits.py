"""Splits of some rows at the median of a column: the steps of balanced cells.

Places are twice the mid-ranks minus their mean. Reversing a column only changes their signs. Every
rule below is symmetric in this sign, and none depends on the order of the rows.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types, uint32, uint64

from covary.kernels.shared.jit import read_only, subkernel

# By column and row: the place, or `MISSING`.
PLACES = read_only(types.int32, 2)
MISSING = np.iinfo(np.int32).max

# The median of parts up to this size is found by comparing all values.
_SMALL_PART = 48
# Parts up to this size are sorted.
_SORTED_PART = 16
_INTERVALS = 256


@subkernel
def _compare_all(values, n, k):
    """Return the k-th smallest of the first n values, and how many are below it and up to it."""
    for i in range(n):
        value = values[i]
        below = int32(0)
        up_to = int32(0)
        for j in range(n):
            below += int32(values[j] < value)
            up_to += int32(values[j] <= value)
        if below <= k < up_to:
            return value, int64(below), int64(up_to)
    return values[0], int64(0), int64(n)


@subkernel
def _select(values, n, k, least, largest, buffer, counts):
    """Return the k-th smallest of the first n values, and how many are below it and up to it.

    Values are counted in intervals between the least and the largest. Only those in the right
    interval are kept, and counted again.
    """
    before = int64(0)
    while n > _SMALL_PART and least < largest:
        shift = 0
        while ((int64(largest) - int64(least)) >> shift) >= _INTERVALS:
            shift += 1
        counts[:] = 0
        for i in range(n):
            counts[uint32(values[i] - least) >> shift] += int32(1)
        interval = 0
        while k - before >= counts[interval]:
            before += counts[interval]
            interval += 1
        least = int32(least + (interval << shift))
        largest = int32(min(int64(largest), int64(least) + (1 << shift) - 1))
        if shift == 0:
            return least, before, before + counts[interval]
        kept = uint64(0)
        for i in range(n):
            value = values[i]
            buffer[kept] = value
            kept += uint64(least <= value) & uint64(value <= largest)
        values = buffer
        n = kept
    value, below, up_to = _compare_all(values, n, k - before)
    return value, before + below, before + up_to


@subkernel
def widest(places, order, rows, start, end):
    """Return the column with the widest range in some rows, and whether it has missing cells.

    The first of several is preferred. The result is -1 if no column varies.
    """
    best = int64(-1)
    best_width = int64(0)
    best_missing = False
    best_least = int32(0)
    best_largest = int32(0)
    for at in range(order.size):
        column = uint64(order[at])
        least = int32(MISSING)
        largest = int32(-MISSING)
        for i in range(start, end):
            place = places[column, rows[i]]
            least = min(least, place)
            largest = max(largest, place)
        missing = largest == MISSING
        if missing:
            largest = int32(-MISSING)
            for i in range(start, end):
                place = places[column, rows[i]]
                if place != MISSING:
                    largest = max(largest, place)
        if largest < least:
            continue
        width = int64(largest) - int64(least) + int64(missing)
        if width > best_width:
            best, best_width, best_missing = int64(column), width, missing
            best_least, best_largest = least, largest
    return best, best_missing, best_least, best_largest


@subkernel
def _cut(size, below, up_to, middle):
    """Return the sizes of the lower part, and of the lower and the middle part together.

    The cut is the boundary between different values that is nearest to the median. If two are
    equally near, the value between them joins the half of the column to which it belongs. If it is
    exactly in the middle of the column, it becomes a part of its own.

    Parameters
    ----------
    size : the number of rows
    below, up_to : how many of them are below the median, and below it or equal
    middle : the place of the median

    """
    before = size - 2 * below
    after = 2 * up_to - size
    if up_to == size or (below > 0 and (before < after or (before == after and middle > 0))):
        return below, below
    if below == 0 or before > after or middle < 0:
        return up_to, up_to
    return below, up_to


@subkernel
def workspace_for(n):
    """Return arrays that `split` writes to."""
    return (
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(_INTERVALS, np.int32),
        np.empty(n + 1, np.uint32),
        np.empty(n + 1, np.uint32),
    )


@subkernel
def _sort(places, column, rows, start, end, values):
    """Sort the rows of a part by their places in a column (insertion sort), missing cells last."""
    for i in range(uint64(1), end - start + uint64(1)):
        row = rows[start + i - uint64(1)]
        value = places[column, row]
        j = i
        while j > uint64(1) and values[j - uint64(1)] > value:
            values[j] = values[j - uint64(1)]
            rows[start + j - uint64(1)] = rows[start + j - uint64(2)]
            j -= uint64(1)
        values[j] = value
        rows[start + j - uint64(1)] = row


@subkernel
def _split_sorted(places, column, missing, rows, start, end, values):
    """Do the same as `split` for a part of few rows."""
    _sort(places, column, rows, start, end, values)
    size = end - start
    if missing:
        low = size
        while values[low] == MISSING:
            low -= uint64(1)
        return start + low, start + low
    at = size // uint64(2) + uint64(1)  # of the median, numbered from 1
    middle = values[at]
    below = at - uint64(1)
    while below > uint64(0) and values[below] == middle:
        below -= uint64(1)
    up_to = at
    while up_to < size and values[up_to + uint64(1)] == middle:
        up_to += uint64(1)
    low, high = _cut(int64(size), int64(below), int64(up_to), middle)
    return start + uint64(low), start + uint64(high)


@subkernel
def split(places, column, missing, least, largest, rows, start, end, workspace):
    """Split a part of the rows at the median of a column, or into present and missing cells.

    The rows of the part are sorted into its lower, middle and upper part. The middle is usually
    empty, see `_cut`.

    Parameters
    ----------
    missing, least, largest : of the column in this part: whether cells are missing, and the range
    rows, start, end : the rows of all parts, and where this part starts and ends

    Returns
    -------
    low, high : where the lower part ends, and where the upper part starts

    """
    values, buffer, counts, middle_part, high_part = workspace
    size = end - start
    if size <= _SORTED_PART:
        return _split_sorted(places, column, missing, rows, start, end, values)
    for i in range(size):
        values[i] = places[column, rows[start + i]]
    low = high = int32(MISSING)
    if not missing:
        middle, below, up_to = _select(
            values, size, int64(size) // 2, least, largest, buffer, counts
        )
        n_lower, n_up_to = _cut(int64(size), below, up_to, middle)
        low = middle + int32(n_lower > below)
        high = middle + int32(n_up_to > below)
    n_low = n_middle = n_high = uint64(0)
    # There are no branches, because they would be mispredicted.
    for i in range(size):
        row = rows[start + i]
        rows[start + n_low] = row
        n_low += uint64(values[i] < low)
        high_part[n_high] = row
        n_high += uint64(values[i] >= low)
    if low < high:
        kept = uint64(0)
        for i in range(n_high):
            row = high_part[i]
            high_part[kept] = row
            kept += uint64(places[column, row] >= high)
            middle_part[n_middle] = row
            n_middle += uint64(places[column, row] < high)
        n_high = kept
        for i in range(n_middle):
            rows[start + n_low + i] = middle_part[i]
    for i in range(n_high):
        rows[end - n_high + i] = high_part[i]
    return start + n_low, end - n_high
