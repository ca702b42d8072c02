"""Rank correlations of two columns, or associations if one of them is nominal."""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint64

from covary.kernels.shared.jit import subkernel
from covary.kernels.uds_chance.associations import (
    SURPRISE,
    kruskal_wallis,
    kurtosis,
    level_counts,
    skewness,
    unusual_cells,
)
from covary.kernels.uds_chance.tail_probability import LEAST_SKEWNESS, deviation_of_gain

# Sums of integers must be smaller than this.
LARGEST_SUM = 2**62


@subkernel
def _sorted_places(values):
    """Return the places of a sorted column, and the number of different values."""
    n = values.size
    places = np.empty(n, np.int32)
    n_values = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and values[end] == values[start]:
            end += 1
        n_values += 1
        for at in range(start, end):
            places[at] = int32(start + end - n)
        start = end
    return places, n_values


@subkernel
def _moments(places, untied):
    """Return the mean of the absolute places, sums of squares, number of places, and skewnesses.

    The squares are those of the distances from the mean, which is 0 for the places themselves.
    Places and absolute places without ties are symmetric.
    """
    total = int64(0)
    square = 0.0
    for place in places:
        total += int64(abs(place))
        square += float64(place) ** 2
    mean = total / max(float64(places.size), 1.0)
    plain = folded = 0.0
    if not untied:
        plain, folded = skewness(places, mean, False), skewness(places, mean, True)
    return mean, square, square - total * mean, float64(places.size), plain, folded


@subkernel
def _corrected(correlation, skewness):
    """Return the normal deviation that is as unlikely as a standardised correlation.

    A correlation of two skewed columns is skewed. Its longer tail is that of a Gamma variable.
    """
    if not abs(skewness) > LEAST_SKEWNESS or not skewness * correlation > 0.0:
        return correlation
    size = abs(correlation)
    size = max(min(size, deviation_of_gain(size, abs(skewness))), 0.0)
    return size if correlation > 0.0 else -size


@subkernel
def correlations_of(own, sequence, of_own, of_target, n_rows):
    """Return four rank correlations times sqrt(rows - 1).

    Of the ranks, both folded, only the target folded, only the condition folded. A missing cell
    has the mean rank, so that the variance under independence is exactly 1. So is the third
    moment, which `_corrected` uses.

    Parameters
    ----------
    own, sequence : the places of condition and target in the same rows
    of_own, of_target : the results of `_moments`

    """
    scale = int64(1)
    while (n_rows // scale) ** 2 > LARGEST_SUM // n_rows:
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
    skewnesses = (
        of_own[4] * of_target[4],
        of_own[5] * of_target[5],
        of_own[4] * of_target[5],
        of_own[5] * of_target[4],
    )
    root = np.sqrt(n_rows - 1.0)
    unit = float64(scale) ** 2 * root
    of_all = n_rows * root / max(n_rows - 2.0, 1.0)
    result = np.zeros(4)
    for i in range(4):
        if squares[i] > 0.0:
            correlation = sums[i] * unit / np.sqrt(squares[i])
            result[i] = _corrected(correlation, of_all * skewnesses[i])
    return result


@subkernel
def associations_of(own, own_levels, sequence, target_levels, of_own, of_target, n_rows, kinds):
    """Return the associations of two columns of which one or both are nominal.

    The first is the statistic of Kruskal and Wallis, or how unusual single cells of two nominal
    columns are. The second is the statistic of Kruskal and Wallis with the other column folded.
    There are no others.

    Parameters
    ----------
    own, sequence : the places of condition and target in the same rows
    own_levels, target_levels : the numbers of rows of the levels; empty unless nominal
    of_own, of_target : moments and kurtosis of the places, and kurtosis of absolute places
    kinds : output, the kind or skewness of each association

    """
    found = np.zeros(4)
    kinds[:] = SURPRISE
    if own_levels.size > 0 and target_levels.size > 0:
        found[0] = unusual_cells(own, own_levels, sequence, target_levels, n_rows)
        return found
    for fold in range(2):
        if own_levels.size > 0:
            moments, tails = of_target[0], of_target[1][fold]
            found[fold], kinds[fold] = kruskal_wallis(
                own, own_levels, sequence, moments, tails, n_rows, fold == 1
            )
        else:
            moments, tails = of_own[0], of_own[1][fold]
            found[fold], kinds[fold] = kruskal_wallis(
                sequence, target_levels, own, moments, tails, n_rows, fold == 1
            )
    return found


@subkernel
def describe_column(values, nominal, n_rows, with_nominal):
    """Return the places of a sorted column, the number of values, level counts, and moments.

    The moments are those of `_moments`, and the kurtosis of places and of absolute places, if they
    are compared with a nominal column.
    """
    counts = np.empty(0, np.int64)
    places, n_values = _sorted_places(values)
    if nominal:
        counts = level_counts(values)
        at = 0
        for level in range(counts.size):
            for _ in range(counts[level]):
                places[at] = int32(level)
                at += 1
    moments = _moments(places, nominal or n_values == places.size)
    plain = folded = 0.0
    if with_nominal and not nominal:
        plain = kurtosis(places, 0.0, False, n_rows)
        folded = kurtosis(places, moments[0], True, n_rows)
    return places, n_values, counts, (moments, (plain, folded))
