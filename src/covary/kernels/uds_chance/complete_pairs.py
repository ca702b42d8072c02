"""Neighbours and rank correlations of two columns in the rows in which both are present."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types

from covary.kernels.shared.jit import FLOATS_2D, INTEGERS, ROWS_2D, kernel, subkernel
from covary.kernels.uds_chance.associations import TWO_SIDED
from covary.kernels.uds_chance.cells import PLACES_AND_LEVELS
from covary.kernels.uds_chance.median_splits import MISSING
from covary.kernels.uds_chance.neighbours import neighbour_views

# Fewer rows have neither neighbours nor correlations.
_MIN_ROWS = 3


@subkernel
def _rank_again(codes, nominal, values, places):
    """Fill in sorted values and the places of some rows; return the number of levels.

    Codes have the order of the values. A nominal column with two levels in these rows is treated
    as ordered, like any other column with two levels; it has 0 levels then.
    """
    n = codes.size
    order = np.argsort(codes, kind="mergesort")
    n_values = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and codes[order[end]] == codes[order[start]]:
            end += 1
        for at in range(start, end):
            values[at] = float(n_values)
            places[order[at]] = int32(start + end - n)
        n_values += 1
        start = end
    if not nominal or n_values <= 2:
        return 0
    for at in range(n):
        places[order[at]] = int32(values[at])
    return n_values


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
def complete_neighbour_views(
    orders, lines, targets, given, values, n_present, places_and_levels, views
):
    """Return the result of `neighbour_views`, each from the rows in which both are present.

    The parameters are those of `neighbour_views`.
    """
    sizes, folds, n_correlated = views
    places, n_levels = places_and_levels
    gains = np.full((targets.size, sizes.size), -np.inf)
    skewnesses = np.zeros((targets.size, sizes.size))
    correlations = np.zeros((targets.size, 4))
    kinds = np.full((targets.size, 4), TWO_SIDED)
    n_given = n_present[given]
    of_given = np.empty(n_given, np.int64)
    of_target = np.empty(n_given, np.int64)
    for k in range(targets.size):
        target = targets[k]
        order = orders[lines[k]]
        n = 0
        value = int64(0)  # the number of the value of the condition
        for at in range(n_given):
            if at > 0 and values[given, at] != values[given, at - 1]:
                value += 1
            place = places[target, order[at]]
            if place != MISSING:
                of_given[n], of_target[n] = value, int64(place)
                n += 1
        if n < _MIN_ROWS:
            continue
        own_values, own_places = np.empty((2, n)), np.empty((2, n), np.int32)
        own_levels = np.zeros(2, np.int64)
        own_levels[0] = _rank_again(
            of_given[:n], n_levels[given] > 0, own_values[0], own_places[0]
        )
        own_levels[1] = _rank_again(
            of_target[:n], n_levels[target] > 0, own_values[1], own_places[1]
        )
        near, skewness, correlated, kind = neighbour_views(
            np.arange(n).astype(np.uint32).reshape((1, n)),
            np.zeros(1, np.int64),
            np.ones(1, np.int64),
            0,
            own_values,
            np.full(2, n),
            (own_places, own_levels),
            (sizes, folds, int64(k < n_correlated)),
        )
        gains[k], skewnesses[k] = near[0], skewness[0]
        correlations[k], kinds[k] = correlated[0], kind[0]
    return gains, skewnesses, correlations, kinds
