"""Associations of a nominal column: with the ranks of a column, and with other levels.

They take the place of rank correlations. Sums over levels are sorted first, so that the order of
the levels does not matter.

The statistic of Kruskal and Wallis and Pearson's chi-square are sums over all pairs of rows of
A_ab B_ab. For levels with c_i of the n rows, A is the sum over levels of v v' / c_i, where v is
the indicator of the level minus its mean. For ranks, it is x x' (n - 1) / sum x^2, where x is the
rank minus the mean. Row sums are 0. So mean and variance over all permutations of one column
follow from three numbers of each matrix (Kazi-Aoual, Hitier, Sabatier and Lebreton 1995): the
trace of A, the trace of A^2, and the sum of the squares of its diagonal.
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

# The cube of a smaller number of rows fits into 63 bits.
_MANY_ROWS = 2_000_000
_NEARLY_ZERO = 1e-9
# Larger ones have a probability that may be too small for a number.
_LARGE_DEVIATION = 25.0


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


# ---------------------------------------------------------------- mean and variance


@subkernel
def _traces_of_levels(counts, n_rows):
    """Return the traces of A and A^2 and the sum of squares of its diagonal, for levels.

    A row without a level has the indicators 0.
    """
    k = float64(counts.size)
    share = counts.sum() / n_rows
    inverse = np.sort(1.0 / counts).sum()
    below = (share - 2.0) / n_rows  # the diagonal is 1 / c_i + below, or share / n_rows
    squares = inverse + 2.0 * below * k + below * below * (share * n_rows)
    squares += (1.0 - share) * (share * share) / n_rows
    return k - share, k - 2.0 * share + share * share, squares


@subkernel
def _traces_of_ranks(kurtosis, n_rows):
    """Return the same for ranks; ``kurtosis`` is not the excess."""
    others = n_rows - 1.0
    return others, others * others, others * others * kurtosis / n_rows


@subkernel
def _moments_of_product(one, other, n_rows):
    """Return mean and variance of the sum of A_ab B_ab over all permutations of the rows of B.

    ``one`` and ``other`` are traces of A and of B. There are at least four rows.
    """
    n = float64(n_rows)
    (t, t2, s2), (u, u2, v2) = one, other
    first = ((n - 1.0) * t2 - t * t) * ((n - 1.0) * u2 - u * u)
    first *= 2.0 / ((n - 1.0) * (n - 1.0) * (n + 1.0) * (n - 2.0))
    second = n * (n + 1.0) * s2 - (n - 1.0) * (t * t + 2.0 * t2)
    second *= n * (n + 1.0) * v2 - (n - 1.0) * (u * u + 2.0 * u2)
    second /= (n + 1.0) * n * (n - 1.0) * (n - 2.0) * (n - 3.0)
    return (t * u) / (n - 1.0), first + second


@subkernel
def _standardised(statistic, mean, variance):
    """Return a statistic with mean 0 and variance 1, and the skewness of a Gamma variable."""
    if not variance > _NEARLY_ZERO * mean:
        return -np.inf, 0.0
    deviation = math.sqrt(variance)
    return (statistic - mean) / deviation, 2.0 * deviation / mean


@subkernel
def _skewness_of_counts(counts, other_counts, n_rows, mean, variance):
    """Return the skewness of Pearson's chi-square if counts were Poisson variables.

    For a count with the expectation e, (count - e)^2 / e has the variance 2 + 1 / e and the third
    cumulant 8 + 22 / e + 1 / e^2. The sum of 1 / e follows from the variance of the statistic.
    """
    one, other = np.sort(1.0 / counts), np.sort(1.0 / other_counts)
    squares = (one**2).sum() * (other**2).sum() * float64(n_rows) ** 2
    third = 8.0 * mean + 22.0 * (variance - 2.0 * mean) + squares
    return third / variance**1.5


# ---------------------------------------------------------------- levels and ranks


@subkernel
def kurtosis(places, mean, folded, n_rows):
    """Return the kurtosis of places, or of absolute places minus their mean.

    A missing cell has the distance 0 from the mean. Places are added from both ends, so that
    reversing the column does not change the result.
    """
    second = fourth = 0.0
    last = places.size - 1
    for at in range((places.size + 1) // 2):
        low, high = float64(places[at]), float64(places[last - at])
        if folded:
            low, high = abs(low) - mean, abs(high) - mean
        if at == last - at:
            high = 0.0
        second += low**2 + high**2
        fourth += low**4 + high**4
    return n_rows * fourth / second**2 if second > 0.0 else 0.0


@subkernel
def skewness(places, mean, folded):
    """Return the sum of the cubes of places over the sum of squares to the power 1.5.

    ``mean`` is subtracted from absolute places. Places are added from both ends, so that reversing
    the column changes at most the sign.
    """
    second = third = 0.0
    last = places.size - 1
    for at in range((places.size + 1) // 2):
        low, high = float64(places[at]), float64(places[last - at])
        if folded:
            low, high = abs(low) - mean, abs(high) - mean
        if at == last - at:
            high = 0.0
        second += low**2 + high**2
        third += low**3 + high**3
    return third / second**1.5 if second > 0.0 else 0.0


@subkernel
def kruskal_wallis(levels, counts, places, moments, kurtosis, n_rows, folded):
    """Return the statistic of Kruskal and Wallis, standardised, and its skewness.

    A missing cell of the column has the mean rank; a missing level is not a level.

    Parameters
    ----------
    levels, places : of the rows in which both columns are present
    counts : the number of rows of each level
    moments : mean of the absolute places, sum of squares, the same of absolute places, the number
        of places, and their skewnesses
    kurtosis : the result of `kurtosis`
    n_rows : the number of all rows
    folded : whether absolute places are compared

    """
    n_levels = counts.size
    square = moments[2] if folded else moments[1]
    if not square > 0.0 or n_levels < 2 or n_rows < 4:
        return -np.inf, 0.0
    sums = np.zeros(n_levels, np.int64)
    seen = np.zeros(n_levels, np.int64)
    for at in range(levels.size):
        sums[levels[at]] += int64(abs(places[at])) if folded else int64(places[at])
        seen[levels[at]] += 1
    terms = np.empty(n_levels)
    n_places = int64(moments[3])
    total_size = int64(np.rint(moments[0] * n_places))
    for level in range(n_levels):
        difference = float64(sums[level])
        if folded and n_rows < _MANY_ROWS:
            # In integers: a product and a difference of floats may be rounded once or twice.
            difference = float64(sums[level] * n_places - total_size * seen[level]) / n_places
        elif folded:
            difference -= moments[0] * seen[level]
        terms[level] = difference**2 / counts[level]
    terms.sort()
    statistic = terms.sum() * (n_rows - 1.0) / square
    mean, variance = _moments_of_product(
        _traces_of_levels(counts, n_rows), _traces_of_ranks(kurtosis, n_rows), n_rows
    )
    return _standardised(statistic, mean, variance)


# ---------------------------------------------------------------- levels and levels


@subkernel
def _occupied_cells(levels, others, n_others):
    """Return level, other level and number of rows of each cell with rows; levels ascend."""
    cells = np.empty((levels.size, 3), np.int64)
    cell_of = np.full(n_others, -1, np.int64)
    n_cells = 0
    start = 0
    for at in range(levels.size):
        if at > 0 and levels[at] != levels[at - 1]:
            start = n_cells
        other = others[at]
        if cell_of[other] < start:
            cell_of[other] = n_cells
            cells[n_cells, 0], cells[n_cells, 1], cells[n_cells, 2] = levels[at], other, 0
            n_cells += 1
        cells[cell_of[other], 2] += 1
    return cells[:n_cells]


@subkernel
def _pearson(cells, counts, other_counts, n_rows):
    """Return Pearson's chi-square of the cells, standardised, and its skewness.

    Rows without a level are in no cell, but count for what is expected.
    """
    if n_rows < 4:
        return -np.inf, 0.0
    terms = np.empty(len(cells))
    n_both = int64(0)
    for at in range(len(cells)):
        margins = float64(counts[cells[at, 0]]) * float64(other_counts[cells[at, 1]])
        terms[at] = float64(cells[at, 2]) ** 2 / margins
        n_both += cells[at, 2]
    terms.sort()
    expected = float64(counts.sum()) * float64(other_counts.sum()) / n_rows
    statistic = n_rows * terms.sum() - 2.0 * n_both + expected
    mean, variance = _moments_of_product(
        _traces_of_levels(counts, n_rows), _traces_of_levels(other_counts, n_rows), n_rows
    )
    mean, variance = n_rows * mean, float64(n_rows) ** 2 * variance
    gain, skewness = _standardised(statistic, mean, variance)
    if gain > -np.inf:
        of_counts = _skewness_of_counts(counts, other_counts, n_rows, mean, variance)
        skewness = max(skewness, of_counts)
    return gain, skewness


@subkernel
def _deviation_of_cell(count, rows, other_rows, n_rows):
    """Return how far a count is from its expectation, in deviations of a normal variable.

    The cell belongs to two levels with ``rows`` and ``other_rows`` rows. The count has the tails
    of a Poisson variable (by the approximation of Wilson and Hilferty), but a smaller variance.
    """
    expected = rows * other_rows / n_rows
    if count > expected:
        root = math.sqrt(count)
        deviation = (1.0 - 1.0 / (9.0 * count) - np.cbrt(expected / count)) * 3.0 * root
    else:
        more = count + 1.0
        deviation = (np.cbrt(expected / more) - 1.0 + 1.0 / (9.0 * more)) * 3.0 * math.sqrt(more)
    # The product is rounded once in either order of the columns.
    narrowing = math.sqrt((1.0 - rows / n_rows) * (1.0 - other_rows / n_rows))
    return max(deviation, 0.0) / narrowing


@subkernel
def _log_mean_of_inverse_tails(deviations, weights, total):
    """Return the log of the weighted mean of 1 / probability of deviations of either sign."""
    largest = deviations.max()
    values = np.empty(deviations.size)
    if largest < _LARGE_DEVIATION:
        for at in range(values.size):
            values[at] = weights[at] / math.erfc(deviations[at] / math.sqrt(2.0))
        values.sort()
        return math.log(values.sum() / total)
    least = log_tail(largest)
    for at in range(values.size):
        values[at] = weights[at] * math.exp(least - log_tail(deviations[at]))
    values.sort()
    return math.log(values.sum() / total) - math.log(2.0) - least


@subkernel
def _frequencies(counts):
    """Return the distinct counts, how many levels have each, and which of them each level has."""
    distinct = np.unique(counts)
    which = np.searchsorted(distinct, counts)
    return distinct, np.bincount(which, minlength=distinct.size), which


@subkernel
def _single_cells(cells, counts, other_counts, n_rows):
    """Return the log of the mean over all cells of 1 / probability of their number of rows.

    Cells without rows are not visited one by one: all with the same margins are equal.
    """
    distinct, numbers, which = _frequencies(counts)
    other_distinct, other_numbers, other_which = _frequencies(other_counts)
    n_empty = np.outer(numbers, other_numbers)
    deviations = np.zeros(len(cells) + n_empty.size)
    weights = np.ones(deviations.size)
    for at in range(len(cells)):
        level, other, count = cells[at]
        deviations[at] = _deviation_of_cell(
            float64(count), counts[level], other_counts[other], n_rows
        )
        n_empty[which[level], other_which[other]] -= 1
    at = len(cells)
    for one in range(distinct.size):
        for other in range(other_distinct.size):
            weights[at] = n_empty[one, other]
            if weights[at] > 0.0:
                rows, other_rows = distinct[one], other_distinct[other]
                deviations[at] = _deviation_of_cell(0.0, rows, other_rows, n_rows)
            at += 1
    n_cells = float64(counts.size) * float64(other_counts.size)
    return _log_mean_of_inverse_tails(deviations, weights, n_cells)


@subkernel
def unusual_cells(levels, counts, others, other_counts, n_rows):
    """Return how unusual the numbers of rows in the cells of two nominal columns are.

    It is the log of the mean of 1 / probability of two views, Pearson's chi-square and single
    cells. The second one is large if one cell has many more, or fewer, rows than expected.

    Parameters
    ----------
    levels, others : of the rows in which both columns are present; the first in ascending order
    counts, other_counts : the numbers of rows of the levels
    n_rows : the number of all rows

    """
    cells = _occupied_cells(levels, others, other_counts.size)
    one_by_one = _single_cells(cells, counts, other_counts, n_rows)
    together = surprise_of_gain(*_pearson(cells, counts, other_counts, n_rows))
    larger, smaller = max(one_by_one, together), min(one_by_one, together)
    return larger + math.log(0.5 + 0.5 * math.exp(smaller - larger))
