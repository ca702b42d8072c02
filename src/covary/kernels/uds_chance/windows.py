"""Windows of neighbouring rows along a column.

The weight of two rows is the number of windows that contain both. A window consists of
neighbouring rows, so that the weights follow from the numbers of windows that start and end up to
each place in the order of the column.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint64

from covary.kernels.shared.jit import subkernel
from covary.kernels.uds_chance.third_cumulants import RATIO_OF_UNTIED

# A column has windows only if it has at least this many times their rows.
_MIN_WINDOWS = 4
# A value that is shared by more rows than this many windows has no window.
_MAX_WINDOWS = 4
# The weights of a row with all others add up to less than this.
LARGEST_WEIGHT = 2**14


@subkernel
def _find_windows(values, least):
    """Return the starts and ends of the windows along a sorted column.

    A window consists of neighbouring rows. It has at least ``least`` rows, contains all rows of
    each of its values, and has fewer rows without its first or its last value. Smaller windows at
    both ends of the column are added, so that the outer rows have as many neighbours at each
    distance. A reversed column has the same windows. Without ties, two rows at distance l in the
    order are together in ``least`` - l windows.
    """
    n = values.size
    starts = np.empty(2 * n, np.int64)
    ends = np.empty(2 * n, np.int64)
    n_windows = 0
    first = 0  # the start of the window
    second = 0  # the start of its second value
    start = 0  # the start of its last value
    while start < n:
        end = start + 1
        while end < n and values[end] == values[start]:
            end += 1
        while first < start:
            if second <= first:
                second = first + 1
                while values[second] == values[first]:
                    second += 1
            if end - second < least:
                break
            first = second
        size = end - first
        whole = size >= least and start - first < least and size <= _MAX_WINDOWS * least
        if whole or end < least:
            starts[n_windows] = first
            ends[n_windows] = end
            n_windows += 1
        start = end
    for place in range(max(n - least + 1, 1), n):
        if values[place - 1] != values[place]:
            starts[n_windows] = place
            ends[n_windows] = n
            n_windows += 1
    return starts[:n_windows], ends[:n_windows]


@subkernel
def _count_windows(starts, ends, n):
    """Return three numbers for each place in the order of the column.

    The weight of two rows is the number of windows that are opened at the first one, minus the
    number that are closed before the second.

    Returns
    -------
    opened : the number of windows that start there or before
    closed : the number of windows that end before
    reached : the end of the last window that is opened

    """
    opened = np.zeros(n, np.int32)
    closed = np.zeros(n + 1, np.int32)
    reached = np.zeros(n, np.int32)
    for window in range(starts.size):
        opened[starts[window]] += int32(1)
        closed[ends[window]] += int32(1)
    for place in range(n):
        if place > 0:
            opened[place] += opened[place - 1]
            closed[place] += closed[place - 1]
        if opened[place] > 0:
            reached[place] = int32(ends[opened[place] - 1])
    return opened, closed[:n].copy(), reached


@subkernel
def restrict(opened, closed, reached, kept):
    """Return the numbers of `_count_windows` for some of the places."""
    n = kept.size
    some_reached = np.empty(n, np.int32)
    end = 0
    for i in range(n):
        while end < n and kept[end] < reached[kept[i]]:
            end += 1
        some_reached[i] = int32(end)
    return opened[kept], closed[kept], some_reached


@subkernel
def weigh_rows(opened, closed, reached):
    """Return the sum of the weights of each row with all others, and sums over all pairs of rows.

    The sums are those of the squares and of the cubes of the weights. The windows that contain a
    row are numbered from ``closed`` to ``opened``.
    """
    n = opened.size
    sizes = np.zeros(opened[-1] + 2 if n > 0 else 1, np.int64)
    for place in range(n):
        sizes[closed[place]] += 1
        sizes[opened[place]] -= 1
    for window in range(1, sizes.size):
        sizes[window] += sizes[window - 1]
    others = np.zeros(sizes.size, np.int64)  # of one row, in all windows before
    for window in range(1, sizes.size):
        others[window] = others[window - 1] + sizes[window - 1] - 1
    weights = np.empty(n, np.int64)
    squares = cubes = int64(0)
    for place in range(uint64(n)):
        windows = opened[place]
        weights[place] = others[windows] - others[closed[place]]
        for there in range(place + uint64(1), uint64(reached[place])):
            weight = int64(windows - closed[there])
            squares += weight * weight
            cubes += weight * weight * weight
    return weights, squares, cubes


@subkernel
def _weigh_rows_without_ties(n, size):
    """Return the same for a column without ties."""
    weights = np.zeros(n, np.int64)
    squares = cubes = int64(0)
    for lag in range(1, size):
        squares += (size - lag) ** 2 * (n - lag)
        cubes += (size - lag) ** 3 * (n - lag)
    for place in range(n):
        before = min(place, size - 1)
        after = min(n - 1 - place, size - 1)
        weights[place] = (before + after) * size
        weights[place] -= (before * (before + 1) + after * (after + 1)) // 2
    return weights, squares, cubes


@subkernel
def _average_cells(weights, total_rows, squares, cubes):
    """Return three numbers that the skewness of windows depends on.

    Parameters
    ----------
    weights, squares, cubes : see `weigh_rows`
    total_rows : the sum of the numbers of rows of all windows

    Returns
    -------
    size : the average number of rows of a window
    covered : the number of rows that have neighbours
    of_pairs : the sum of cubes over the sum of squares to the power 1.5

    """
    total = int64(0)
    covered = int64(0)
    for weight in weights:
        total += weight
        covered += weight > 0
    if total == 0:
        return 1.0, 0.0, 0.0
    return 1.0 + total / total_rows, float64(covered), cubes / float64(squares) ** 1.5


@subkernel
def skewness_of_windows(cells, cumulants):
    """Return the skewness of the gain of windows under independence.

    The gain is the sum over pairs of rows of the weight times g. Its third cumulant is the sum of
    the cubes of the weights times E g^3, plus a sum over triples of rows times
    E g(a,b) g(b,c) g(c,a). For a cell of l rows in which all weights are 1, it is
    l (l - 1) (E g^3 / 2 + (l - 2) E g(a,b) g(b,c) g(c,a)). Windows overlap, but without ties in
    the target, their gain is almost as skewed as the gain of separate cells of average size. Ties
    change E g^3, which counts by the cubes of the weights.

    Parameters
    ----------
    cells : the result of `_average_cells`
    cumulants : of the target, see `covary.kernels.uds_chance.third_cumulants`

    """
    size, covered, of_pairs = cells
    of_triples, ratio = cumulants
    if not size > 1.0:
        return 0.0
    separate = RATIO_OF_UNTIED + 2.0 * (size - 2.0)
    skewness = of_triples * separate * np.sqrt(2.0 / ((size - 1.0) * covered))
    return skewness + of_triples * (ratio - RATIO_OF_UNTIED) * of_pairs


@subkernel
def weighted_differences(sequence, nominal, opened, closed, reached):
    """Return the sum over pairs of rows of the weight times the difference.

    Two levels of a nominal column differ by 1.
    """
    total = int64(0)
    for place in range(uint64(sequence.size)):
        own = sequence[place]
        windows = opened[place]
        for there in range(place + uint64(1), uint64(reached[place])):
            other = sequence[there]
            difference = int64(own != other) if nominal else int64(abs(own - other))
            total += int64(windows - closed[there]) * difference
    return total


@subkernel
def windows_of_views(values, sizes, untied, counted):
    """Return the windows of each view; views without windows have the sum of squares 0.

    Parameters
    ----------
    values : the sorted values of the column
    sizes : the least number of rows of a window, by view
    untied : whether all values differ
    counted : whether opened, closed and reached windows are needed; otherwise they are 0

    Returns
    -------
    opened, closed, reached : by view, see `_count_windows`
    weights, squares : by view, see `weigh_rows`
    cells : by view, see `_average_cells`

    """
    n = values.size
    opened = np.zeros((sizes.size, n), np.int32)
    closed = np.zeros((sizes.size, n), np.int32)
    reached = np.zeros((sizes.size, n), np.int32)
    weights = np.zeros((sizes.size, n), np.int64)
    squares = np.zeros(sizes.size, np.int64)
    cells = np.zeros((sizes.size, 3))
    for view in range(sizes.size):
        size = sizes[view]
        if n < _MIN_WINDOWS * size:
            continue
        total_rows = n * size
        if counted or not untied:
            starts, ends = _find_windows(values, size)
            opened[view], closed[view], reached[view] = _count_windows(starts, ends, n)
            total_rows = (ends - starts).sum()
        if untied:
            weighed = _weigh_rows_without_ties(n, size)
        else:
            weighed = weigh_rows(opened[view], closed[view], reached[view])
        weights[view], squares[view], cubes = weighed
        cells[view] = _average_cells(weights[view], total_rows, squares[view], cubes)
    return opened, closed, reached, weights, squares, cells
