"""Differences between neighbours, and rank correlations.

Neighbours are rows that are close in one column, the condition. If the target depends on the
condition, it differs less between neighbours than between other rows.

Ranks are places: twice the mid-rank minus its mean. The absolute place is the folded rank. Sums
over rows are sums of integers, so that the order of rows with equal values does not matter.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, types, uint64

from covary.kernels.shared.jit import FLOATS_2D, INTEGERS, ROWS_2D, kernel, subkernel
from covary.kernels.uds_chance.median_splits import MISSING, PLACES
from covary.kernels.uds_chance.windows import (
    LARGEST_WEIGHT,
    restrict,
    weigh_rows,
    weighted_differences,
    windows_of_views,
)

# Sums of integers must be smaller than this.
_LARGEST_SUM = 2**62


# ---------------------------------------------------------------- differences


@subkernel
def _differences(sequence, sums):
    """Fill in the sums of the differences between rows at distance 1, 2, .. in the order."""
    n = sequence.size
    for lag in range(1, min(sums.size, n)):
        total = int64(0)
        for place in range(uint64(n - lag)):
            total += int64(abs(sequence[place] - sequence[place + uint64(lag)]))
        sums[lag] = total


@subkernel
def _describe(places, n_rows, folded, distances):
    """Fill in the sum of the distances of each place from all others; return moments.

    Parameters
    ----------
    places : of the rows that are present
    folded : whether absolute places are used
    distances : output, by place plus the number of rows

    Returns
    -------
    mean : of the difference between two rows
    variance : of this difference minus the mean differences of both rows from all others
    unit : distances times this are means over all other rows

    """
    n = places.size
    counts = np.zeros(2 * n_rows + 1, np.int32)
    total = int64(0)
    for i in range(uint64(n)):
        place = abs(places[i]) if folded else places[i]
        counts[uint64(place + n_rows)] += int32(1)
        total += int64(place)
    # Sums over all rows of distances times weights must not overflow.
    unit = int64(1)
    while 2 * n_rows * n_rows // unit > _LARGEST_SUM // (LARGEST_WEIGHT * n_rows):
        unit *= 2
    below = int64(0)
    sum_below = int64(0)
    square = sum_distance = sum_square = 0.0
    for at in range(uint64(n_rows if folded else 0), uint64(2 * n_rows + 1)):
        count = int64(counts[at])
        if count == 0:
            continue
        place = int64(at) - n_rows
        distance = (2 * below - n) * place - 2 * sum_below + total
        distances[at] = (distance + unit // 2) // unit if unit > 1 else distance
        below += count
        sum_below += count * place
        square += float64(count) * float64(place) ** 2
        sum_distance += float64(count) * float64(distance)
        sum_square += float64(count) * float64(distance) ** 2
    if n < 3:
        return 0.0, 0.0, 0.0
    others = n - 1.0
    mean = sum_distance / n / others
    of_one_row = sum_square / n / others**2 - mean**2
    of_two_rows = 2.0 * (square - float64(total) ** 2 / n) / others - mean**2
    return mean, of_two_rows - 2.0 * of_one_row * n / others, unit / others


# ---------------------------------------------------------------- correlations


@subkernel
def _sorted_places(values):
    """Return the places of a sorted column, and whether all values differ."""
    n = values.size
    places = np.empty(n, np.int32)
    untied = True
    start = 0
    while start < n:
        end = start + 1
        while end < n and values[end] == values[start]:
            end += 1
        untied = untied and end == start + 1
        for at in range(start, end):
            places[at] = int32(start + end - n)
        start = end
    return places, untied


@subkernel
def _moments(places):
    """Return the mean of the absolute places, the sum of squares, and the same of absolute places.

    The squares are those of the distances from the mean, which is 0 for the places themselves.
    """
    total = int64(0)
    square = 0.0
    for place in places:
        total += int64(abs(place))
        square += float64(place) ** 2
    mean = total / max(float64(places.size), 1.0)
    return mean, square, square - total * mean


@subkernel
def _correlations(own, sequence, of_own, of_target, n_rows):
    """Return four rank correlations times sqrt(rows - 1).

    Of the ranks, both folded, only the target folded, only the condition folded. A missing cell
    has the mean rank, so that the variance under independence is exactly 1.

    Parameters
    ----------
    own, sequence : the places of condition and target in the same rows
    of_own, of_target : the results of `_moments`

    """
    scale = int64(1)
    while (n_rows // scale) ** 2 > _LARGEST_SUM // n_rows:
        scale *= 2
    plain = folded = folded_target = folded_own = int64(0)
    sum_own = sum_target = size_own = size_target = int64(0)
    for place in range(uint64(own.size)):
        x = int64(own[place])
        y = int64(sequence[place])
        if scale > 1:
            x = int64(x / scale)
            y = int64(y / scale)
        plain += x * y
        folded += abs(x * y)
        folded_target += x * abs(y)
        folded_own += abs(x) * y
        sum_own += x
        sum_target += y
        size_own += abs(x)
        size_target += abs(y)
    mean_own = of_own[0] / scale
    mean_target = of_target[0] / scale
    # Rounding must not depend on which column is the target: a product and a sum may be rounded
    # once, the larger and the smaller of two products are rounded before they are added.
    one, other = mean_target * size_own, mean_own * size_target
    sums = (
        float64(plain),
        folded - (max(one, other) + min(one, other)) + (mean_target * mean_own) * own.size,
        folded_target - mean_target * sum_own,
        folded_own - mean_own * sum_target,
    )
    squares = (
        of_own[1] * of_target[1],
        of_own[2] * of_target[2],
        of_own[1] * of_target[2],
        of_own[2] * of_target[1],
    )
    unit = float64(scale) ** 2 * np.sqrt(n_rows - 1.0)
    result = np.zeros(4)
    for i in range(4):
        if squares[i] > 0.0:
            result[i] = sums[i] * unit / np.sqrt(squares[i])
    return result


# ---------------------------------------------------------------- views


@subkernel
def _longest(views, squares, fold):
    """Return the size of the largest windows of the views that are folded, or not."""
    longest = int64(1)
    for view in range(squares.size):
        if views[1][view] == fold and squares[view] > 0:
            longest = max(longest, views[0][view])
    return longest


@subkernel
def _gain(sequence, kept, windows, view, moments, distances, n_rows, differences):
    """Return the standardised gain of a view, see `neighbour_views`.

    Parameters
    ----------
    sequence, kept : the places of the target in the order of the condition, without missing ones,
        and their positions
    windows : the result of `windows_of_views`
    moments, distances : of the target, see `_describe`
    differences : the sum of the weighted differences, or -1 if it is not known

    """
    opened, closed, reached = windows[0][view], windows[1][view], windows[2][view]
    weights, square = windows[3][view], windows[4][view]
    mean, variance, unit = moments
    if square == 0 or not variance > 0.0:
        return -np.inf
    if kept.size < opened.size:
        opened, closed, reached = restrict(opened, closed, reached, kept)
        weights, square = weigh_rows(opened, closed, reached)
    if differences < 0:
        differences = weighted_differences(sequence, opened, closed, reached)
    single = int64(0)
    total = int64(0)
    for at in range(uint64(sequence.size)):
        single += weights[at] * distances[uint64(sequence[at] + n_rows)]
        total += weights[at]
    if square == 0:
        return -np.inf
    gain = single * unit - mean * (0.5 * total) - differences
    return gain / np.sqrt(variance * square)


@kernel(
    types.UniTuple(types.float64[:, ::1], 3)(
        ROWS_2D,
        INTEGERS,
        INTEGERS,
        types.int64,
        FLOATS_2D,
        INTEGERS,
        PLACES,
        types.UniTuple(INTEGERS, 2),
    )
)
def neighbour_views(orders, lines, targets, given, values, n_present, places, views):
    """Return how similar each target is in neighbouring rows, and its rank correlations.

    The gain of a view is the sum over all windows and pairs of rows in them of

        mean difference of either row from all rows - mean difference - difference,

    divided by its standard deviation under independence. The first two terms have the expectation
    of the third, and do not let a row count more because it has more windows. The gain is minus
    infinity if there are no windows.

    Parameters
    ----------
    orders : rows by ascending value of the condition, one line per permutation
    lines, targets : the line of ``orders`` and the target of each result
    given : the condition
    values, n_present, places : of all columns: sorted values, the number of those that are
        present, and the place of each row
    views : for each view, the least number of rows of a window, and whether the target is folded

    Returns
    -------
    gains : shape (targets, views)
    skewnesses : of the gains under independence, the same shape
    correlations : shape (targets, 4), see `_correlations`

    """
    sizes, folds = views
    n_rows = places.shape[1]
    n_given = n_present[given]
    own, untied = _sorted_places(values[given, :n_given])
    of_own = _moments(own)
    complete = True  # whether no target has missing cells
    for target in targets:
        complete = complete and n_present[target] == n_rows
    windows = windows_of_views(values[given, :n_given], sizes, untied, not complete)
    gains = np.empty((targets.size, sizes.size))
    skewnesses = np.empty((targets.size, sizes.size))
    skewnesses[:] = windows[5]
    correlations = np.empty((targets.size, 4))
    sequences = np.empty((2, n_given), np.int32)
    kept = np.empty(n_given, np.int64)
    sums = np.zeros((2, sizes.max()), np.int64)
    distances = np.zeros((2, 2 * n_rows + 1), np.int64)
    moments = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    of_target = of_own
    previous = int64(-1)
    for k in range(targets.size):
        target = targets[k]
        if target != previous:
            previous = target
            present, _ = _sorted_places(values[target, : n_present[target]])
            of_target = _moments(present)
            moments = (
                _describe(present, n_rows, False, distances[0]),
                _describe(present, n_rows, True, distances[1]),
            )
        order = orders[lines[k]]
        n = uint64(0)
        for at in range(uint64(n_given)):
            place = places[target, uint64(order[at])]
            sequences[0, n] = place
            sequences[1, n] = abs(place)
            kept[n] = at
            n += uint64(place != MISSING)
        all_kept = n == n_given
        here = own if all_kept else own[kept[:n]]
        correlations[k] = _correlations(here, sequences[0, :n], of_own, of_target, n_rows)
        if all_kept and untied:
            for fold in range(2):
                _differences(sequences[fold], sums[fold, : _longest(views, windows[4], fold)])
        for view in range(sizes.size):
            fold = folds[view]
            total = int64(-1)
            if all_kept and untied:
                total = int64(0)
                for lag in range(1, sizes[view]):
                    total += (sizes[view] - lag) * sums[fold, lag]
            gains[k, view] = _gain(
                sequences[fold, :n],
                kept[:n],
                windows,
                view,
                moments[fold],
                distances[fold],
                n_rows,
                total,
            )
    return gains, skewnesses, correlations
