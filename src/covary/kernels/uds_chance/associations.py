"""Associations of a nominal column: with the ranks of a column, and with other levels.

They take the place of rank correlations. Sums over levels are sorted first, so that the order of
the levels does not matter.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64

from covary.kernels.shared.jit import subkernel
from covary.kernels.uds_chance.tail_probability import log_tail, surprise_of_gain

# Kinds of a statistic, in the place of its skewness: a normal variable of which both tails count,
# minus the log of a probability, and the first again, of a column with two values.
TWO_SIDED = -1.0
SURPRISE = -2.0
TWO_SIDED_OF_TWO = -3.0

# Cells of two nominal columns are examined one by one if they are at most this many.
MAX_CELLS = 1 << 16
_ROUNDING = 2.0**20


@subkernel
def level_counts(values):
    """Return the number of rows of each level of a sorted column."""
    counts = np.zeros(values.size, np.int64)
    n_levels = 0
    for at in range(values.size):
        if at > 0 and values[at] != values[at - 1]:
            n_levels += 1
        counts[n_levels] += 1
    return counts[: n_levels + 1].copy()


@subkernel
def kurtosis(places, mean, folded, n_rows):
    """Return the excess kurtosis of places, or of absolute places minus their mean.

    Missing cells have the mean. It is rounded, because reversing the column must not change it.
    """
    second = fourth = 0.0
    for place in places:
        distance = abs(float64(place)) - mean if folded else float64(place)
        second += distance**2
        fourth += distance**4
    if not second > 0.0:
        return 0.0
    return np.rint((n_rows * fourth / second**2 - 3.0) * _ROUNDING) / _ROUNDING


@subkernel
def kruskal_wallis(levels, counts, places, moments, excess, n_rows, folded):
    """Return the statistic of Kruskal and Wallis, standardised, and its skewness.

    Under independence, it is distributed approximately like a chi-square variable. Its variance
    also depends on the kurtosis of the ranks (Box and Andersen 1955). A missing cell of the column
    has the mean rank; a missing level is not a level.

    Parameters
    ----------
    levels, places : of the rows in which both columns are present
    counts : the number of rows of each level
    moments : mean of the absolute places, sum of squares, the same of absolute places, and the
        number of places
    excess : the result of `kurtosis`
    n_rows : the number of all rows
    folded : whether absolute places are compared

    """
    n_levels = counts.size
    square = moments[2] if folded else moments[1]
    if not square > 0.0 or n_levels < 2:
        return -np.inf, 0.0
    sums = np.zeros(n_levels, np.int64)
    seen = np.zeros(n_levels, np.int64)
    for at in range(levels.size):
        sums[levels[at]] += int64(abs(places[at])) if folded else int64(places[at])
        seen[levels[at]] += 1
    terms = np.empty(n_levels)
    total = 0.0
    n_present = int64(0)
    n_places = int64(moments[3])
    total_size = int64(np.rint(moments[0] * n_places))
    for level in range(n_levels):
        difference = float64(sums[level])
        if folded:
            # In integers: a product and a difference of floats may be rounded once or twice.
            difference = float64(sums[level] * n_places - total_size * seen[level]) / n_places
        terms[level] = difference**2 / counts[level]
        n_present += counts[level]
    terms.sort()
    for term in terms:
        total += term
    inverse = np.sort(1.0 / counts).sum()
    freedom = n_levels - n_present / n_rows
    variance = 2.0 * freedom
    variance += excess * (inverse - (n_levels * (n_levels + 2.0) - 2.0) / n_rows)
    variance = max(variance, 0.1 * freedom)
    statistic = total * (n_rows - 1.0) / square
    return (statistic - freedom) / np.sqrt(variance), np.sqrt(8.0 / freedom)


@subkernel
def _tail_of_count(count, expected, narrowing):
    """Return the log of the probability of a Poisson count at least as far from its expectation.

    It is the smaller tail, by the approximation of Wilson and Hilferty. ``narrowing`` is the
    standard deviation of the count relative to a Poisson variable.
    """
    if count > expected:
        root = math.sqrt(count)
        deviation = (1.0 - 1.0 / (9.0 * count) - np.cbrt(expected / count)) * 3.0 * root
    else:
        more = count + 1.0
        deviation = (np.cbrt(expected / more) - 1.0 + 1.0 / (9.0 * more)) * 3.0 * math.sqrt(more)
    return log_tail(max(deviation, 0.0) / narrowing)


@subkernel
def _spread_of_levels(counts, n):
    """Return two terms of the variance of Pearson's chi-square, see `_pearson`."""
    k = float64(counts.size)
    width = (n - k) * (k - 1.0) / (n - 1.0)
    return width, (n * np.sort(1.0 / counts).sum() - k * k) / (n - 2.0)


@subkernel
def _pearson(joint, counts, other_counts, n):
    """Return Pearson's chi-square, standardised, and its skewness.

    Mean and variance under random assignment are exact without missing cells (Haldane 1940,
    Mielke and Berry 1985).
    """
    if n < 4:
        return -np.inf, 0.0
    terms = np.empty(joint.size)
    at = 0
    for level in range(counts.size):
        for other in range(other_counts.size):
            expected = counts[level] * other_counts[other] / n
            terms[at] = (joint[at] - expected) ** 2 / expected
            at += 1
    terms.sort()
    width, sparse = _spread_of_levels(counts, float64(n))
    other_width, other_sparse = _spread_of_levels(other_counts, float64(n))
    freedom = (counts.size - 1.0) * (other_counts.size - 1.0)
    variance = 2.0 * n / (n - 3.0) * ((width - sparse) * (other_width - other_sparse))
    variance += float64(n) ** 2 / (n - 1.0) * (sparse * other_sparse)
    if not variance > 0.0:
        return -np.inf, 0.0
    deviation = terms.sum() - freedom * n / (n - 1.0)
    return deviation / math.sqrt(variance), math.sqrt(8.0 / freedom)


@subkernel
def unusual_cells(levels, counts, others, other_counts, n_rows):
    """Return minus the log of a probability: of the numbers of rows in cells of nominal columns.

    It is the log of the mean of 1 / probability of two views, Pearson's chi-square and single
    cells. The second one is large if one cell has many more, or fewer, rows than expected.

    Parameters
    ----------
    levels, others : of the rows in which both columns are present
    counts, other_counts : the numbers of rows of the levels
    n_rows : the number of all rows

    """
    n_cells = counts.size * other_counts.size
    if n_cells > MAX_CELLS:
        return 0.0
    joint = np.zeros(n_cells, np.int64)
    for at in range(levels.size):
        joint[levels[at] * other_counts.size + others[at]] += 1
    terms = np.empty(n_cells)
    at = 0
    for level in range(counts.size):
        for other in range(other_counts.size):
            expected = counts[level] * other_counts[other] / n_rows
            share, other_share = counts[level] / n_rows, other_counts[other] / n_rows
            # The product is rounded once in either order of the columns.
            narrowing = math.sqrt((1.0 - share) * (1.0 - other_share))
            two_sided = math.log(2.0) + _tail_of_count(float64(joint[at]), expected, narrowing)
            terms[at] = max(-two_sided, 0.0)
            at += 1
    terms.sort()
    total = 0.0
    for term in terms:
        total += math.exp(term - terms[-1])
    one_by_one = terms[-1] + math.log(total / n_cells)
    together = surprise_of_gain(*_pearson(joint, counts, other_counts, n_rows))
    larger, smaller = max(one_by_one, together), min(one_by_one, together)
    return larger + math.log(0.5 + 0.5 * math.exp(smaller - larger))
