"""Kernels of MAC: optimal merged bins of a column, and the information that columns share.

Each merged bin is a symbol. With g(n) = n log n, the Shannon entropy H of the symbols of n rows is
given by n H = g(n) - sum of g(counts).
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint64

from covary.kernels.shared.cubes import group_by_cube
from covary.kernels.shared.intervals import interval_costs, log_count
from covary.kernels.shared.jit import CODES, FLOATS, FLOATS_2D, ROWS, kernel, subkernel
from covary.kernels.shared.partition import TOLERANCE, best_partitions, part_ends

_ENDS = types.uint8[::1]


@subkernel
def _g(n):
    """Return g(n) = n log n."""
    return float64(n) * log_count(uint64(n))


@kernel(types.float64[:, ::1](ROWS, FLOATS, float64, CODES, int64, FLOATS))
def relative_costs(order, values, entropy, codes, n_bins, increments):
    """Return the fraction of a target's entropy that remains in each interval of bins j .. i.

    Parameters
    ----------
    order, values, entropy : rows by ascending target (missing last), the sorted target values
        that are present, and their cumulative entropy
    codes, n_bins : initial bin of the discretised column; code ``n_bins`` means missing
    increments : table of g(t) - g(t - 1)

    """
    costs = np.zeros((n_bins, n_bins))
    n = values.size
    if n < 2 or entropy <= 0.0:
        return costs
    uncut = np.empty(0, np.uint32)
    grouped, grouped_codes, starts = group_by_cube(order, values, codes, n_bins, uncut, 1)
    intervals = interval_costs(grouped, grouped_codes, starts[:2], n_bins, increments)
    for j in range(n_bins):
        for i in range(j, n_bins):
            costs[j, i] = intervals[j, i, 0] / (n * entropy)
    return costs


@subkernel
def _partitions(costs):
    """Return the starts of the last parts of the optimal partitions, see `best_partitions`."""
    n_bins = len(costs)
    intervals = np.empty((n_bins, n_bins, 1))
    intervals[:, :, 0] = costs
    return best_partitions(intervals, n_bins, 1.0)[1]


@subkernel
def _symbol_of(start, parts, n_bins):
    """Return the symbol of each code; the code of missing cells has the last symbol."""
    symbols = np.empty(n_bins + 1, np.int64)
    symbols[n_bins] = min(parts, n_bins)
    if n_bins > 0:
        ends = part_ends(start, parts)
        at = 0
        for code in range(n_bins):
            if code > ends[at]:
                at += 1
            symbols[code] = at
    return symbols


@subkernel
def _ends(start, parts, n_bins):
    """Return the last bin of each part, also for a column without bins."""
    return part_ends(start, parts) if n_bins > 0 else np.empty(0, np.uint8)


@kernel(
    types.Tuple((float64, _ENDS, _ENDS))(
        CODES, int64, int64, FLOATS_2D, CODES, int64, int64, FLOATS_2D, float64
    )
)
def best_for_each_other(
    codes, n_bins, has_missing, costs, codes2, n_bins2, has_missing2, costs2, max_cells
):
    """Return the maximal normalised mutual information of two columns, and their partitions.

    A partition is given by the last bin of each part. The parameters that end in 2 describe the
    second column.

    Parameters
    ----------
    codes, n_bins : initial bin of each row, and the number of bins
    has_missing : 1 if the column has missing cells, 0 if not
    costs : fraction of the other column's entropy that remains in each interval of bins
    max_cells : the largest number of cells of the grid

    """
    counts = np.zeros((n_bins + 1, n_bins2 + 1), np.int64)
    for r in range(uint64(codes.size)):
        counts[codes[r], codes2[r]] += 1
    start = _partitions(costs)
    start2 = _partitions(costs2)
    n = codes.size
    best = -1.0
    best_parts = min(2, n_bins)
    best_parts2 = min(2, n_bins2)
    for parts in range(min(2, n_bins), n_bins + 1):
        symbols = _symbol_of(start, parts, n_bins)
        merged = np.zeros((parts + 1, n_bins2 + 1), np.int64)
        for code in range(n_bins + 1):
            merged[symbols[code]] += counts[code]
        sum_first = 0.0
        for symbol in range(parts + has_missing):
            sum_first += _g(merged[symbol].sum())
        for parts2 in range(min(2, n_bins2), n_bins2 + 1):
            smallest = parts <= 2 and parts2 <= 2
            if (parts + has_missing) * (parts2 + has_missing2) > max_cells and not smallest:
                break
            symbols2 = _symbol_of(start2, parts2, n_bins2)
            sum_second = 0.0
            sum_joint = 0.0
            cells = np.zeros((parts + 1, parts2 + 1), np.int64)
            for symbol in range(parts + has_missing):
                for code in range(n_bins2 + 1):
                    cells[symbol, symbols2[code]] += merged[symbol, code]
            for symbol2 in range(parts2 + has_missing2):
                total = 0
                for symbol in range(parts + has_missing):
                    total += cells[symbol, symbol2]
                    sum_joint += _g(cells[symbol, symbol2])
                sum_second += _g(total)
            maximum = np.log(float64(min(parts + has_missing, parts2 + has_missing2)))
            information = (_g(n) - sum_first - sum_second + sum_joint) / n
            value = information / maximum if maximum > 0.0 else 0.0
            fewer = parts + parts2 < best_parts + best_parts2
            if value > best + TOLERANCE or (fewer and value > best - TOLERANCE):
                best = value
                best_parts = parts
                best_parts2 = parts2
    ends = _ends(start, best_parts, n_bins)
    return best, ends, _ends(start2, best_parts2, n_bins2)


@kernel(
    types.Tuple((float64, _ENDS))(
        ROWS, int64, CODES, int64, int64, FLOATS_2D, types.UniTuple(float64, 3), int64
    )
)
def best_extension(cubes, n_cubes, codes, n_bins, has_missing, costs, chosen, max_parts):
    """Return the maximal normalised total correlation with one more column, and its partition.

    Parameters
    ----------
    cubes, n_cubes : the cells of the chosen columns, see `covary.kernels.shared.cubes`
    codes, n_bins, has_missing : the added column, as for ``best_for_each_other``
    costs : fraction of the chosen columns' entropy that remains in each interval of bins
    chosen : sum of n H, sum of log k, and largest log k of the chosen columns, each with k symbols
    max_parts : the largest number of parts of the added column

    """
    information, logs, largest = chosen
    n = codes.size
    width = uint64(n_bins + 1)
    alone = uint64(n_cubes)
    counts = np.zeros(alone * width, np.uint32)
    totals = np.zeros(width, np.int64)
    for r in range(uint64(n)):
        code = uint64(codes[r])
        cube = uint64(cubes[r])
        totals[code] += 1
        if cube != alone:
            counts[cube * width + code] += np.uint32(1)
    start = _partitions(costs)
    best = -1.0
    fewest = min(2, n_bins)
    best_parts = fewest
    for parts in range(fewest, max(min(n_bins, max_parts), fewest) + 1):
        symbols = _symbol_of(start, parts, n_bins)
        sum_joint = 0.0
        sum_added = 0.0
        merged = np.zeros(parts + 1, np.int64)
        for code in range(n_bins + 1):
            merged[symbols[code]] += totals[code]
        for symbol in range(parts + has_missing):
            sum_added += _g(merged[symbol])
        ends = np.zeros(width, np.bool_)
        for code in range(n_bins):
            ends[code] = symbols[code] != symbols[code + 1]
        ends[n_bins] = True
        for cube in range(alone):
            run = uint64(0)
            for code in range(width):
                run += counts[cube * width + code]
                if ends[code]:
                    sum_joint += _g(run)
                    run = uint64(0)
        log_k = np.log(float64(parts + has_missing))
        maximum = logs + log_k - max(largest, log_k)
        shared = information + (_g(n) - sum_added) - (_g(n) - sum_joint)
        value = shared / n / maximum if maximum > 0.0 else 0.0
        if value > best + TOLERANCE:
            best = value
            best_parts = parts
    return best, _ends(start, best_parts, n_bins)
