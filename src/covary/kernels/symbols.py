"""Columns as symbols: merged bins that are best for other columns, and what symbols share.

Sums of g(n) = n log n over counts stand for Shannon entropies: n H = g(n) - sum of g(counts).
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint64

from covary.kernels.cubes import group_by_cube
from covary.kernels.intervals import interval_costs, log_count
from covary.kernels.jit import CODES, FLOATS, ROWS, kernel, part
from covary.kernels.partition import best_partitions, part_ends

_COSTS = types.Array(types.float64, 2, "C", readonly=True)
_ENDS = types.uint8[::1]
# Values closer than this are equal: the fewest parts win, whatever the rounding.
_TOLERANCE = 1e-12


@part
def _g(n):
    return float64(n) * log_count(uint64(n))


@kernel(types.float64[:, ::1](ROWS, FLOATS, float64, CODES, int64, FLOATS))
def relative_costs(order, values, entropy, codes, n_bins, increments):
    """Return the share of a target's entropy that is left inside each interval of bins j .. i.

    Parameters
    ----------
    order, values, entropy : rows by ascending target (missing last), the sorted target values
        of the rows that have one, and their cumulative entropy
    codes, n_bins : initial bin of the column that is cut; code ``n_bins`` is missing
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


@part
def _partitions(costs):
    """Return the starts of the best partitions of all bins, by number of parts less one."""
    n_bins = len(costs)
    intervals = np.empty((n_bins, n_bins, 1))
    intervals[:, :, 0] = costs
    return best_partitions(intervals, n_bins, 1.0)[1]


@part
def _symbol_of(start, parts, n_bins):
    """Return the symbol of every code; a missing cell, the last code, has the last symbol."""
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


@part
def _ends(start, parts, n_bins):
    return part_ends(start, parts) if n_bins > 0 else np.empty(0, np.uint8)


@kernel(
    types.Tuple((float64, _ENDS, _ENDS))(
        CODES, int64, int64, _COSTS, CODES, int64, int64, _COSTS, float64
    )
)
def best_for_each_other(codes, n_bins, gaps, costs, codes2, n_bins2, gaps2, costs2, limit):
    """Return the highest normalised information of two columns, and the last bin of each part.

    Parameters
    ----------
    codes, n_bins, gaps : initial bin of every row, the number of bins, and whether (1) or not (0)
        some cells are missing; of the first column, and the same of the second
    costs : share of the other column that is left inside each interval of bins
    limit : the most cells

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
        alone = 0.0
        for symbol in range(parts + gaps):
            alone += _g(merged[symbol].sum())
        for parts2 in range(min(2, n_bins2), n_bins2 + 1):
            smallest = parts <= 2 and parts2 <= 2
            if (parts + gaps) * (parts2 + gaps2) > limit and not smallest:
                break
            symbols2 = _symbol_of(start2, parts2, n_bins2)
            alone2 = 0.0
            together = 0.0
            cells = np.zeros((parts + 1, parts2 + 1), np.int64)
            for symbol in range(parts + gaps):
                for code in range(n_bins2 + 1):
                    cells[symbol, symbols2[code]] += merged[symbol, code]
            for symbol2 in range(parts2 + gaps2):
                total = 0
                for symbol in range(parts + gaps):
                    total += cells[symbol, symbol2]
                    together += _g(cells[symbol, symbol2])
                alone2 += _g(total)
            most = np.log(float64(min(parts + gaps, parts2 + gaps2)))
            information = (_g(n) - alone - alone2 + together) / n
            value = information / most if most > 0.0 else 0.0
            fewer = parts + parts2 < best_parts + best_parts2
            if value > best + _TOLERANCE or (fewer and value > best - _TOLERANCE):
                best = value
                best_parts = parts
                best_parts2 = parts2
    ends = _ends(start, best_parts, n_bins)
    return best, ends, _ends(start2, best_parts2, n_bins2)


@kernel(
    types.Tuple((float64, _ENDS))(
        ROWS, int64, CODES, int64, int64, _COSTS, types.UniTuple(float64, 3), int64
    )
)
def best_extension(cubes, n_cubes, codes, n_bins, gaps, costs, chosen, most_parts):
    """Return the highest normalised total correlation with one column more, and how it is cut.

    Parameters
    ----------
    cubes, n_cubes : the cells of the columns that are chosen, see `covary.kernels.cubes`
    codes, n_bins, gaps : of the column, as for ``best_for_each_other``
    costs : share of all chosen columns that is left inside each interval of its bins
    chosen : sum of n H, sum of log k, and largest log k of the chosen columns
    most_parts : how many parts it may be cut into

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
    for parts in range(fewest, max(min(n_bins, most_parts), fewest) + 1):
        last = _symbol_of(start, parts, n_bins)
        together = 0.0
        column = 0.0
        merged = np.zeros(parts + 1, np.int64)
        for code in range(n_bins + 1):
            merged[last[code]] += totals[code]
        for symbol in range(parts + gaps):
            column += _g(merged[symbol])
        ends = np.zeros(width, np.bool_)
        for code in range(n_bins):
            ends[code] = last[code] != last[code + 1]
        ends[n_bins] = True
        for cube in range(alone):
            run = uint64(0)
            for code in range(width):
                run += counts[cube * width + code]
                if ends[code]:
                    together += _g(run)
                    run = uint64(0)
        log_k = np.log(float64(parts + gaps))
        most = logs + log_k - max(largest, log_k)
        shared = information + (_g(n) - column) - (_g(n) - together)
        value = shared / n / most if most > 0.0 else 0.0
        if value > best + _TOLERANCE:
            best = value
            best_parts = parts
    return best, _ends(start, best_parts, n_bins)
