"""Costs of all intervals of initial bins: Algorithm 1, lines 9-11, without merging lists.

The rows are grouped by cube and sorted by target within each cube. The cost of a cell with the
sorted target values x_(1..n) is

    n h = sum_t x_(t) (g(t) - g(t - 1) - log n),    g(t) = t log t.

The cost of an interval of bins is the sum over its cells, one per cube. Costs are not divided by
counts, so they are additive over cubes and over the intervals of a partition.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint32, uint64

from covary.kernels.shared.jit import CODES, FLOATS, UNSIGNED, kernel

_COSTS = types.float64[:, :, ::1]

# Logarithms of smaller counts come from a table that fits into the first-level cache.
_N_LOGS = 4096
_LOGS = np.log(np.maximum(np.arange(_N_LOGS), 1))

# Cells are summed in blocks of rows. Their running counts fit into the second-level cache.
_BLOCK = 1024
# With fewer rows, inserting the used bins into a list is faster than checking all bins.
_TINY = 8
# With fewer rows, the simple kernel is faster than the blocked one.
_SMALL = 256


@kernel(float64(uint64))
def log_count(n):
    """Return the natural logarithm of a count, with log 0 = 0."""
    if n < uint64(_N_LOGS):
        return _LOGS[n]
    return np.log(float64(n))


@kernel(types.UniTuple(float64, 2)(FLOATS, UNSIGNED, FLOATS))
def undivided_costs(values, starts, increments):
    """Return the cost and the sum of g(n) of the cubes without any further cut.

    Parameters
    ----------
    values, starts : target values grouped by cube, and the start of each cube
    increments : table of g(t) - g(t - 1)

    """
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
        FLOATS, CODES, UNSIGNED, int64, FLOATS, types.boolean
    )
)
def outer_costs(values, codes, starts, n_bins, increments, with_merges):
    """Return bounds for all partitions, with one update per row, or three with merges.

    Parameters
    ----------
    values, codes, starts : target values and initial bins grouped by cube, start of each cube
    n_bins : the number of initial bins
    increments : table of g(t) - g(t - 1)
    with_merges : whether to compute ``merges``

    Returns
    -------
    finest : cost of the initial bins; every partition costs at least this
    splits : sum of g(n) over the cells of each partition in two parts, cut after bin 0, 1, ...
    merges : increase of the finest cost if bins k and k + 1 are merged

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
    """Add x (g(t) - g(t - 1)) of each row to the sum of each interval that contains the row.

    ``below`` is working space: the number of rows so far in the bins before each bin.
    """
    one, two, three = uint64(1), uint64(2), uint64(3)
    below[: n_used + one] = uint32(0)
    for r in range(uint64(values.size)):
        k = uint64(codes[r])
        x = values[r]
        for i in range(n_used + one):
            below[i] += uint32(i > k)
        # Four left ends at a time, so that the running counts are read once for all four.
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
    """Add the same sums as ``_sum_small_cell``, faster if there are many rows.

    The rows of a block are grouped by bin, each with a copy of the running counts. All rows of a
    group belong to the same intervals, so up to eight sums stay in registers.
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
            # A loop from k + 1 would mispredict its end each time, so loop over all bins.
            for i in range(width):
                below[i] += uint32(i > k)
                snapshots[at + i] = below[i]
        for k in range(n_used):
            first = starts[k]
            stop = starts[k + one]
            if first == stop:
                continue
            for j in range(uint64(0), k + one, two):
                # Two left ends (the same end twice if only one remains) and up to four right
                # ends at a time.
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


@kernel(types.void(types.float64[:, ::1], types.uint64[::1], uint64, types.float64[::1], _COSTS))
def _add_corners(cells, used, n_used, sums, corners):
    """Add the costs of one cube to all intervals of bins, as differences at corners.

    The cube has rows in the bins ``used[0] < used[1] < ...``. All intervals (j, i) that contain
    the same used bins have the same cost; they form a rectangle in the plane of j and i. The
    difference between neighbouring rectangles is added at the corner where they meet. The cost of
    an interval (j, i) is the sum over all corners above and to the left of it.

    Parameters
    ----------
    cells : the count and the sum of values of each used bin, and two columns of working space
    used, n_used : the used bins, and their number
    sums : sum of x (g(t) - g(t - 1)) for each interval of used bins
    corners : output, the cost and the sum of g(n) to add at each corner

    """
    one = uint64(1)
    for b in range(n_used):
        cells[b, 2] = cells[b, 3] = 0.0
    top = uint64(0)
    for a in range(n_used):
        # "above" starts one used bin earlier, "before" ends one used bin earlier.
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
    """Return the number of bins that a cube uses; fill in ``used`` and ``cells``.

    Parameters
    ----------
    values, codes, width : target values and bins of the rows of the cube, the number of bins
    counts, totals : working space, zero before and after the call
    used, cells : output, the used bins, and their counts and sums of values

    """
    one = uint64(1)
    n = uint64(values.size)
    n_used = uint64(0)
    for r in range(n):
        k = uint64(codes[r])
        if n < uint64(_TINY) and counts[k] == uint64(0):
            # Few rows: insert the bin into the sorted list of used bins.
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
            # A branch would be mispredicted. Without it, the next bin overwrites an unused one.
            used[n_used] = k
            n_used += uint64(counts[k] > uint64(0))
    for a in range(n_used):
        k = used[a]
        cells[a, 0] = float64(counts[k])
        cells[a, 1] = totals[k]
        counts[k] = uint64(0)
        totals[k] = 0.0
    return n_used


@kernel(_COSTS(FLOATS, CODES, UNSIGNED, int64, FLOATS))
def interval_costs(values, codes, starts, n_bins, increments):
    """Return the cost and the sum of g(n) of each interval of bins j .. i, at [j, i].

    Each cube is summed over its used bins only. With many cubes this saves most of the time.

    Parameters
    ----------
    values, codes, starts : target values and initial bins grouped by cube, start of each cube
    n_bins : the number of initial bins
    increments : table of g(t) - g(t - 1)

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
