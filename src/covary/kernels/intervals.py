"""Costs of all intervals of initial bins: Algorithm 1, lines 9-11, without merging any list.

The rows come grouped by cube, in the order of the target. A cell with sorted target values
x_(1..n) costs

    n h = sum_t x_(t) (g(t) - g(t - 1) - log n),    g(t) = t log t,

and an interval of bins costs the sum over its cells, one in every cube. Costs are not divided by
counts, so that they add up: over cubes, and over the intervals of a partition.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint32, uint64

from covary.kernels.jit import CODES, FLOATS, kernel

INTERVALS = types.float64[:, :, ::1]
_STARTS = types.Array(types.uint64, 1, "C", readonly=True)

# Logarithms of counts below this come from a table that fits the fastest cache.
_FEW = 4096
_LOGS = np.log(np.maximum(np.arange(_FEW), 1))

# Cells are summed in blocks of this many rows, whose running counts fit the second cache.
_BLOCK = 1024
# Below this many rows, looking through all bins costs more than inserting those that are used.
_TINY = 8
# Below this many rows, setting up a block costs more than it saves.
_SMALL = 256


@kernel(float64(uint64))
def log_count(n):
    """Return the natural logarithm of a count, with log 0 = 0."""
    if n < uint64(_FEW):
        return _LOGS[n]
    return np.log(float64(n))


@kernel(types.UniTuple(float64, 2)(FLOATS, _STARTS, FLOATS))
def undivided_costs(values, starts, increments):
    """Return cost and sum of g(n) of the cubes as they are, cut no further."""
    one = uint64(1)
    cost = 0.0
    entropy = 0.0
    for c in range(uint64(starts.size) - one):
        n = uint64(0)
        total = 0.0
        weighted = 0.0
        for at in range(starts[c], starts[c + one]):
            n += one
            total += values[at]
            weighted += values[at] * increments[n]
        cost += weighted - log_count(n) * total
        entropy += float64(n) * log_count(n)
    return cost, entropy


@kernel(
    types.Tuple((float64, types.float64[::1], types.float64[::1]))(
        FLOATS, CODES, _STARTS, int64, FLOATS, types.boolean
    )
)
def outer_costs(values, codes, starts, n_bins, increments, with_merges):
    """Return what bounds all partitions and takes only one update per row, three with merges.

    Returns
    -------
    finest : cost of the initial bins themselves, below which no partition can go
    splits : sum of g(n) over the cells when the bins are cut in two after bin 0, 1, ...
    merges : what merging bins k and k + 1 of the finest partition adds to its cost

    """
    one = uint64(1)
    width = uint64(n_bins)
    counts = np.zeros(width + one, np.uint64)
    totals = np.zeros(width)
    weighted = np.zeros(width)
    pair_weighted = np.zeros(width)
    splits = np.zeros(width)
    merges = np.zeros(width)
    finest = 0.0
    for c in range(uint64(starts.size) - one):
        for at in range(starts[c], starts[c + one]):
            k = uint64(codes[at])
            x = values[at]
            t = counts[k] + one
            counts[k] = t
            totals[k] += x
            weighted[k] += x * increments[t]
            if with_merges:
                pair_weighted[k] += x * increments[t + counts[k + one]]
                if k > uint64(0):
                    pair_weighted[k - one] += x * increments[t + counts[k - one]]
        n = starts[c + one] - starts[c]
        left = uint64(0)
        before = float64(n) * log_count(n)
        splits[uint64(0)] += before
        last = width
        last_cost = 0.0
        for k in range(width):
            t = counts[k]
            if t > uint64(0):
                cost = weighted[k] - log_count(t) * totals[k]
                finest += cost
                if with_merges and last + one == k:
                    merged = pair_weighted[last]
                    merged -= log_count(counts[last] + t) * (totals[last] + totals[k])
                    merges[last] += merged - last_cost - cost
                last = k
                last_cost = cost
                left += t
                now = float64(left) * log_count(left) + float64(n - left) * log_count(n - left)
                splits[k] += now - before
                before = now
        if n > width:
            counts[:] = uint64(0)
            totals[:] = 0.0
            weighted[:] = 0.0
            pair_weighted[:] = 0.0
        else:
            for at in range(starts[c], starts[c + one]):
                k = uint64(codes[at])
                counts[k] = uint64(0)
                totals[k] = 0.0
                weighted[k] = 0.0
                pair_weighted[k] = 0.0
                pair_weighted[max(k, one) - one] = 0.0
    for k in range(one, width):
        splits[k] += splits[k - one]
    return finest, splits[: width - one].copy(), merges[: width - one].copy()


@kernel(types.void(FLOATS, CODES, uint64, FLOATS, types.uint32[::1], types.float64[::1]))
def _sum_small_cell(values, codes, n_used, increments, below, sums):
    """Add x (g(t) - g(t - 1)) of every row to every interval that holds the row.

    ``below`` is working space: the number of rows so far in the bins before each.
    """
    one, two, three = uint64(1), uint64(2), uint64(3)
    below[: n_used + one] = uint32(0)
    for r in range(uint64(values.size)):
        k = uint64(codes[r])
        x = values[r]
        for i in range(n_used + one):
            below[i] += uint32(i > k)
        # Four left ends at once: the running counts are read once for all of them.
        j = uint64(0)
        while j + three <= k:
            b0, b1, b2, b3 = below[j], below[j + one], below[j + two], below[j + three]
            s0 = j * n_used
            s1 = s0 + n_used
            s2 = s1 + n_used
            s3 = s2 + n_used
            for i in range(k, n_used):
                t = below[i + one]
                sums[s0 + i] += x * increments[t - b0]
                sums[s1 + i] += x * increments[t - b1]
                sums[s2 + i] += x * increments[t - b2]
                sums[s3 + i] += x * increments[t - b3]
            j += three + one
        while j <= k:
            b0 = below[j]
            for i in range(k, n_used):
                sums[j * n_used + i] += x * increments[below[i + one] - b0]
            j += one


@kernel(types.void(FLOATS, CODES, uint64, FLOATS, types.float64[::1]))
def _sum_large_cell(values, codes, n_used, increments, sums):
    """Do what ``_sum_small_cell`` does, faster where there are many rows.

    The rows of a block are grouped by bin, each with a copy of the running counts, so that the
    intervals of a whole group are the same: their sums stay in registers, up to eight at once.
    """
    one = uint64(1)
    two = uint64(2)
    four = uint64(4)
    width = n_used + one
    below = np.zeros(width, np.uint32)
    snapshots = np.empty(uint64(_BLOCK) * width, np.uint32)
    block_values = np.empty(_BLOCK)
    starts = np.empty(width, np.uint64)
    fill = np.empty(width, np.uint64)
    n = uint64(values.size)
    begin = uint64(0)
    while begin < n:
        end = min(n, begin + uint64(_BLOCK))
        starts[:] = uint64(0)
        for r in range(begin, end):
            starts[uint64(codes[r]) + one] += one
        for k in range(n_used):
            starts[k + one] += starts[k]
        fill[:] = starts
        for r in range(begin, end):
            k = uint64(codes[r])
            at = fill[k]
            fill[k] = at + one
            block_values[at] = values[r]
            at *= width
            # Always the same number of turns: a loop from k + 1 on is mispredicted every time.
            for i in range(width):
                below[i] += uint32(i > k)
                snapshots[at + i] = below[i]
        for k in range(n_used):
            first = starts[k]
            stop = starts[k + one]
            if first == stop:
                continue
            for j in range(uint64(0), k + one, two):
                # Two left ends (the same one twice when only one is left) and up to four right
                # ends at once.
                other = min(j + one, k)
                i = k
                while i + four <= n_used:
                    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
                    for r in range(first, stop):
                        at = r * width
                        x = block_values[r]
                        c = snapshots[at + j]
                        d = snapshots[at + other]
                        at += i
                        t = snapshots[at + one]
                        a0 += x * increments[t - c]
                        b0 += x * increments[t - d]
                        t = snapshots[at + two]
                        a1 += x * increments[t - c]
                        b1 += x * increments[t - d]
                        t = snapshots[at + uint64(3)]
                        a2 += x * increments[t - c]
                        b2 += x * increments[t - d]
                        t = snapshots[at + four]
                        a3 += x * increments[t - c]
                        b3 += x * increments[t - d]
                    at = j * n_used + i
                    sums[at] += a0
                    sums[at + one] += a1
                    sums[at + two] += a2
                    sums[at + uint64(3)] += a3
                    if other > j:
                        at += n_used
                        sums[at] += b0
                        sums[at + one] += b1
                        sums[at + two] += b2
                        sums[at + uint64(3)] += b3
                    i += four
                while i < n_used:
                    next_i = min(i + one, n_used - one)
                    a0 = a1 = b0 = b1 = 0.0
                    for r in range(first, stop):
                        at = r * width
                        x = block_values[r]
                        c = snapshots[at + j]
                        d = snapshots[at + other]
                        t = snapshots[at + i + one]
                        a0 += x * increments[t - c]
                        b0 += x * increments[t - d]
                        t = snapshots[at + next_i + one]
                        a1 += x * increments[t - c]
                        b1 += x * increments[t - d]
                    at = j * n_used + i
                    sums[at] += a0
                    if next_i > i:
                        sums[at + one] += a1
                    if other > j:
                        at += n_used
                        sums[at] += b0
                        if next_i > i:
                            sums[at + one] += b1
                    i += two
        begin = end


@kernel(
    types.void(types.float64[:, ::1], types.uint64[::1], uint64, types.float64[::1], INTERVALS)
)
def _add_corners(cells, used, n_used, sums, corners):
    """Add the costs of one cube to all intervals of bins, as corners that are yet to be summed.

    The cube uses the bins ``used[0] < used[1] < ...``; it has the same cost for every interval
    that holds the same ones of them, a rectangle of intervals (j, i). What differs between
    neighbouring rectangles goes to the corner where they meet; the sum over all corners above and
    left of (j, i) then is the cost of that interval.

    Parameters
    ----------
    cells : for every used bin its count and its sum of values, and working space for two more
    sums : sum of x (g(t) - g(t - 1)) for every interval of used bins
    """
    one = uint64(1)
    for b in range(n_used):
        cells[b, 2] = cells[b, 3] = 0.0
    top = uint64(0)
    for a in range(n_used):
        # above: the interval that starts one used bin earlier; before: that ends one earlier
        above_before_cost = above_before_entropy = 0.0
        if a > uint64(0):
            above_before_cost = cells[a - one, 2]
            above_before_entropy = cells[a - one, 3]
            corners[top, used[a - one], 0] -= above_before_cost
            corners[top, used[a - one], 1] -= above_before_entropy
        before_cost = before_entropy = 0.0
        count = 0.0
        total = 0.0
        for b in range(a, n_used):
            count += cells[b, 0]
            total += cells[b, 1]
            log_n = log_count(uint64(count))
            cost = sums[a * n_used + b] - log_n * total
            entropy = count * log_n
            above_cost = cells[b, 2]
            above_entropy = cells[b, 3]
            corners[top, used[b], 0] += cost - before_cost - above_cost + above_before_cost
            corners[top, used[b], 1] += (
                entropy - before_entropy - above_entropy + above_before_entropy
            )
            before_cost = cells[b, 2] = cost
            before_entropy = cells[b, 3] = entropy
            above_before_cost = above_cost
            above_before_entropy = above_entropy
        top = used[a] + one
    last = n_used - one
    corners[top, used[last], 0] -= cells[last, 2]
    corners[top, used[last], 1] -= cells[last, 3]


@kernel(
    uint64(
        FLOATS,
        CODES,
        uint64,
        types.uint64[::1],
        types.float64[::1],
        types.uint64[::1],
        types.float64[:, ::1],
    )
)
def _describe_cube(values, codes, width, counts, totals, used, cells):
    """Return how many bins a cube uses; fill in which, and their counts and sums of values.

    ``counts`` and ``totals`` are working space, all zero before and after.
    """
    one = uint64(1)
    n = uint64(values.size)
    n_used = uint64(0)
    for r in range(n):
        k = uint64(codes[r])
        if n < uint64(_TINY) and counts[k] == uint64(0):
            # Few rows: keep the list of used bins sorted as they come.
            at = n_used
            while at > uint64(0) and used[at - one] > k:
                used[at] = used[at - one]
                at -= one
            used[at] = k
            n_used += one
        counts[k] += one
        totals[k] += values[r]
    if n >= uint64(_TINY):
        for k in range(width):
            # Without a branch, which would be mispredicted: an unused bin is written over.
            used[n_used] = k
            n_used += uint64(counts[k] > uint64(0))
    for a in range(n_used):
        k = used[a]
        cells[a, 0] = float64(counts[k])
        cells[a, 1] = totals[k]
        counts[k] = uint64(0)
        totals[k] = 0.0
    return n_used


@kernel(INTERVALS(FLOATS, CODES, _STARTS, int64, FLOATS))
def interval_costs(values, codes, starts, n_bins, increments):
    """Return, for every interval of bins j .. i, its cost and its sum of g(n).

    A cube that uses few of the bins is summed over those alone, which is most of the saving where
    there are many cubes.
    """
    one = uint64(1)
    width = uint64(n_bins)
    corners = np.zeros((n_bins + 1, n_bins + 1, 2))
    counts = np.zeros(width, np.uint64)
    totals = np.zeros(width)
    cells = np.empty((n_bins, 4))
    used = np.empty(width, np.uint64)
    rank = np.empty(width, np.uint8)
    below = np.empty(width + one, np.uint32)
    sums = np.empty(width * width)
    largest = uint64(0)
    for c in range(uint64(starts.size) - one):
        largest = max(largest, starts[c + one] - starts[c])
    ranks = np.empty(largest, np.uint8)

    for c in range(uint64(starts.size) - one):
        first = starts[c]
        n = starts[c + one] - first
        if n < uint64(2):
            continue
        cell_values = values[first : first + n]
        cell_codes = codes[first : first + n]
        n_used = _describe_cube(cell_values, cell_codes, width, counts, totals, used, cells)
        for a in range(n_used):
            rank[used[a]] = uint8(a)
        if n_used < width:
            for r in range(n):
                ranks[r] = rank[cell_codes[r]]
            cell_codes = ranks[:n]
        sums[: n_used * n_used] = 0.0
        if n < uint64(_SMALL):
            _sum_small_cell(cell_values, cell_codes, n_used, increments, below, sums)
        else:
            _sum_large_cell(cell_values, cell_codes, n_used, increments, sums)
        _add_corners(cells, used, n_used, sums, corners)
    for j in range(n_bins):
        for i in range(1, n_bins):
            corners[j, i] += corners[j, i - 1]
    for j in range(1, n_bins):
        for i in range(n_bins):
            corners[j, i] += corners[j - 1, i]
    return corners
