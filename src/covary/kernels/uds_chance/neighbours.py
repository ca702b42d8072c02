"""Differences between neighbours, and rank correlations or associations.

Neighbours are rows that are close in one column, the condition. If the target depends on the
condition, it differs less between neighbours than between other rows.

Ranks are places: twice the mid-rank minus its mean. The absolute place is the folded rank. Sums
over rows are sums of integers, so that the order of rows with equal values does not matter.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, types, uint64

from covary.kernels.shared.jit import FLOATS_2D, INTEGERS, ROWS_2D, kernel, subkernel
from covary.kernels.uds_chance.associations import TWO_SIDED, TWO_SIDED_OF_TWO
from covary.kernels.uds_chance.cells import PLACES_AND_LEVELS
from covary.kernels.uds_chance.correlations import (
    LARGEST_SUM,
    associations_of,
    correlations_of,
    describe_column,
)
from covary.kernels.uds_chance.median_splits import MISSING
from covary.kernels.uds_chance.third_cumulants import (
    OF_UNTIED,
    cumulants_of_levels,
    cumulants_of_values,
)
from covary.kernels.uds_chance.windows import (
    LARGEST_WEIGHT,
    restrict,
    skewness_of_windows,
    weigh_rows,
    weighted_differences,
    windows_of_views,
)

# The cube of a smaller number of rows fits into 63 bits.
_MANY_ROWS = 2_000_000
# Folding a column without ties makes pairs of equal values.
_MOST_IN_UNTIED = 2
# What `_describe` returns of columns with fewer than three rows.
_NO_MOMENTS = (0.0, 0.0, 0.0, OF_UNTIED)


# ---------------------------------------------------------------- differences


@subkernel
def _differences(sequence, nominal, sums):
    """Fill in the sums of the differences between rows at distance 1, 2, .. in the order.

    Two levels of a nominal column differ by 1.
    """
    n = sequence.size
    for lag in range(1, min(sums.size, n)):
        total = int64(0)
        if nominal:
            for place in range(uint64(n - lag)):
                total += int64(sequence[place] != sequence[place + uint64(lag)])
        else:
            for place in range(uint64(n - lag)):
                total += int64(abs(sequence[place] - sequence[place + uint64(lag)]))
        sums[lag] = total


@subkernel
def _describe_levels(counts, n_rows, distances):
    """Do the same as `_describe` for the levels of a nominal column."""
    n = counts.sum()
    # Sums of integers do not depend on the order of the levels.
    unit = int64(1) if n < _MANY_ROWS else n
    sum_distance = sum_square = int64(0)
    for level in range(counts.size):
        distance = n - counts[level]
        distances[level + n_rows] = distance
        sum_distance += counts[level] * distance
        sum_square += counts[level] * (distance**2 // unit)
    if n < 3:
        return _NO_MOMENTS
    others = n - 1.0
    mean = sum_distance / n / others
    of_one_row = sum_square / n * unit / others**2 - mean**2
    of_two_rows = mean - mean**2
    variance = of_two_rows - 2.0 * of_one_row * n / others
    return mean, variance, 1.0 / others, cumulants_of_levels(counts)


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
    cumulants : see `covary.kernels.uds_chance.third_cumulants`

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
    while 2 * n_rows * n_rows // unit > LARGEST_SUM // (LARGEST_WEIGHT * n_rows):
        unit *= 2
    below = int64(0)
    sum_below = int64(0)
    square = sum_distance = sum_square = 0.0
    distinct = np.empty(n, np.int64)
    ends = np.empty(n, np.int64)
    n_distinct = 0
    most = int64(0)
    for at in range(uint64(n_rows if folded else 0), uint64(2 * n_rows + 1)):
        count = int64(counts[at])
        if count == 0:
            continue
        place = int64(at) - n_rows
        distance = (2 * below - n) * place - 2 * sum_below + total
        distances[at] = (distance + unit // 2) // unit if unit > 1 else distance
        below += count
        sum_below += count * place
        distinct[n_distinct], ends[n_distinct] = place, below
        n_distinct += 1
        most = max(most, count)
        square += float64(count) * float64(place) ** 2
        sum_distance += float64(count) * float64(distance)
        sum_square += float64(count) * float64(distance) ** 2
    if n < 3:
        return _NO_MOMENTS
    others = n - 1.0
    mean = sum_distance / n / others
    of_one_row = sum_square / n / others**2 - mean**2
    of_two_rows = 2.0 * (square - float64(total) ** 2 / n) / others - mean**2
    cumulants = OF_UNTIED
    if most > _MOST_IN_UNTIED:
        cumulants = cumulants_of_values(distinct[:n_distinct], ends[:n_distinct])
    return mean, of_two_rows - 2.0 * of_one_row * n / others, unit / others, cumulants


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
def _gain(sequence, nominal, kept, windows, view, moments, distances, n_rows, differences):
    """Return the standardised gain of a view, see `neighbour_views`.

    Parameters
    ----------
    sequence, kept : the places of the target in the order of the condition, without missing ones,
        and their positions
    nominal : whether the target is nominal
    windows : the result of `windows_of_views`
    moments, distances : of the target, see `_describe`
    differences : the sum of the weighted differences, or -1 if it is not known

    """
    opened, closed, reached = windows[0][view], windows[1][view], windows[2][view]
    weights, square = windows[3][view], windows[4][view]
    mean, variance, unit, _ = moments
    if square == 0 or not variance > 0.0:
        return -np.inf
    if kept.size < opened.size:
        opened, closed, reached = restrict(opened, closed, reached, kept)
        weights, square, _ = weigh_rows(opened, closed, reached)
    if differences < 0:
        differences = weighted_differences(sequence, nominal, opened, closed, reached)
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
    types.UniTuple(types.float64[:, ::1], 4)(
        ROWS_2D,
        INTEGERS,
        INTEGERS,
        types.int64,
        FLOATS_2D,
        INTEGERS,
        PLACES_AND_LEVELS,
        types.Tuple((INTEGERS, INTEGERS, types.int64)),
    )
)
def neighbour_views(orders, lines, targets, given, values, n_present, places_and_levels, views):
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
    values, n_present, places_and_levels : of all columns: sorted values, the number of those that
        are present, the place of each row, and the numbers of levels of nominal columns
    views : for each view, the least number of rows of a window, and whether the target is folded;
        the number of results, from the first on, that need correlations

    Returns
    -------
    gains : shape (targets, views)
    skewnesses : of the gains under independence, the same shape
    correlations : shape (targets, 4), see `covary.kernels.uds_chance.correlations`
    kinds : of the correlations, or their skewnesses, the same shape

    """
    sizes, folds, n_correlated = views
    places, n_levels = places_and_levels
    n_rows = places.shape[1]
    n_given = n_present[given]
    some_nominal = n_levels[given] > 0
    complete = True  # whether no target has missing cells
    for target in targets:
        complete = complete and n_present[target] == n_rows
        some_nominal = some_nominal or n_levels[target] > 0
    own, n_values, own_levels, of_own = describe_column(
        values[given, :n_given], n_levels[given] > 0, n_rows, some_nominal
    )
    untied = n_values == n_given
    # The levels of a nominal condition have no neighbours.
    longest_window = 0 if n_levels[given] > 0 else n_given
    windows = windows_of_views(values[given, :longest_window], sizes, untied, not complete)
    gains = np.empty((targets.size, sizes.size))
    skewnesses = np.empty((targets.size, sizes.size))
    correlations = np.zeros((targets.size, 4))
    kinds = np.full((targets.size, 4), TWO_SIDED)
    sequences = np.empty((2, n_given), np.int32)
    kept = np.empty(n_given, np.int64)
    sums = np.zeros((2, sizes.max()), np.int64)
    distances = np.zeros((2, 2 * n_rows + 1), np.int64)
    moments = (_NO_MOMENTS, _NO_MOMENTS)
    target_levels, of_target, n_target_values = own_levels, of_own, n_values
    previous = int64(-1)
    for k in range(targets.size):
        target = targets[k]
        nominal = n_levels[target] > 0
        if target != previous:
            previous = target
            present, n_target_values, target_levels, of_target = describe_column(
                values[target, : n_present[target]], nominal, n_rows, n_levels[given] > 0
            )
            if nominal:
                moments = (
                    _describe_levels(target_levels, n_rows, distances[0]),
                    _NO_MOMENTS,
                )
            else:
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
        if k >= n_correlated:
            pass  # the same as in the other direction
        elif nominal or n_levels[given] > 0:
            correlations[k] = associations_of(
                here,
                own_levels,
                sequences[0, :n],
                target_levels,
                of_own,
                of_target,
                n_rows,
                kinds[k],
            )
        else:
            correlations[k] = correlations_of(
                here, sequences[0, :n], of_own[0], of_target[0], n_rows
            )
            if n_values == 2 or n_target_values == 2:
                kinds[k] = TWO_SIDED_OF_TWO
        if all_kept and untied:
            for fold in range(1 if nominal else 2):
                longest = _longest(views, windows[4], fold)
                _differences(sequences[fold], nominal, sums[fold, :longest])
        for view in range(sizes.size):
            fold = folds[view]
            total = int64(-1)
            if all_kept and untied:
                total = int64(0)
                for lag in range(1, sizes[view]):
                    total += (sizes[view] - lag) * sums[fold, lag]
            skewnesses[k, view] = skewness_of_windows(windows[5][view], moments[fold][3])
            gains[k, view] = _gain(
                sequences[fold, :n],
                nominal,
                kept[:n],
                windows,
                view,
                moments[fold],
                distances[fold],
                n_rows,
                total,
            )
    return gains, skewnesses, correlations, kinds
