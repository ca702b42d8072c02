"""The expected entropy of randomly drawn rows: the basis of the chance correction.

Values are replaced by their mid-ranks y. The entropy h is the mean of cumulative entropy and
cumulative residual entropy. With the entropy H(u) of a coin in nats, and the fraction u_g of the
rows up to the g-th distinct value,

    h = 1/2 sum_g (y_(g+1) - y_(g)) H(u_g).

Consider a cell of n rows, k of them among the first R_g rows of the column. H is estimated almost
without bias by [G(n) - G(k) - G(n - k)] / n, see `entropy_tables.weighted_harmonics`. If the cell
is independent of the column, k is hypergeometric, so the remaining bias can be computed exactly.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import FLOATS, INTEGERS, kernel, subkernel

# Probabilities below this, relative to the largest one, are neglected.
_NEGLIGIBLE = 1e-14


@subkernel
def _expected_coin(m, first, n, harmonics):
    """Return the expected estimate of H from n rows drawn from m rows, ``first`` of them heads.

    The number of heads is hypergeometric. Its probabilities are computed by recursion from the
    mode, relative to the probability of the mode. ``harmonics`` is a table of G.
    """
    low = max(0, n - (m - first))
    high = min(n, first)
    mode = ((n + 1) * (first + 1)) // (m + 2)
    mode = min(max(mode, low), high)
    total = 1.0
    mean = harmonics[mode] + harmonics[n - mode]
    probability = 1.0
    for k in range(mode, high):
        probability *= float64(first - k) * float64(n - k)
        probability /= float64(k + 1) * float64(m - first - n + k + 1)
        if probability < _NEGLIGIBLE:
            break
        total += probability
        mean += probability * (harmonics[k + 1] + harmonics[n - k - 1])
    probability = 1.0
    for k in range(mode, low, -1):
        probability *= float64(k) * float64(m - first - n + k)
        probability /= float64(first - k + 1) * float64(n - k + 1)
        if probability < _NEGLIGIBLE:
            break
        total += probability
        mean += probability * (harmonics[k - 1] + harmonics[n - k + 1])
    return (harmonics[n] - mean / total) / n


@kernel(types.float64[::1](int64, INTEGERS, FLOATS, INTEGERS, FLOATS))
def expected_entropies(m, firsts, weights, sizes, harmonics):
    """Return sum_g w_g E[estimate of H(R_g / m)] for each number of drawn rows.

    Parameters
    ----------
    m : the number of rows of the column
    firsts, weights : R_g and w_g of each threshold g
    sizes : the numbers of drawn rows
    harmonics : table of G for 0 .. m

    """
    expected = np.zeros(sizes.size)
    for g in range(firsts.size):
        for at in range(sizes.size):
            expected[at] += weights[g] * _expected_coin(m, firsts[g], sizes[at], harmonics)
    return expected


@kernel(types.float64[::1](int64, INTEGERS, INTEGERS, INTEGERS))
def expected_level_entropies(m, counts, numbers, sizes):
    """Return the expected estimate of the entropy of levels from n of m rows, for each n.

    The estimate is a sum over v = 1 .. n - 1 of unbiased estimates of Z_v / v, where Z_v is the
    probability that v further rows, drawn from the others, do not have the level of a row (Zhang
    2012). So its expectation is the same sum over all m rows.

    Parameters
    ----------
    m : the number of rows
    counts, numbers : the distinct numbers of rows of the levels, and how many levels have each
    sizes : the numbers of drawn rows, ascending

    """
    terms = np.zeros(m + 1)  # Z_v / v at v + 1
    for at in range(counts.size):
        others = m - counts[at]
        share = float64(numbers[at]) * float64(counts[at]) / float64(m)
        for v in range(1, others + 1):
            share *= float64(others - v + 1) / float64(m - v)
            if share < _NEGLIGIBLE * _NEGLIGIBLE:
                break
            terms[v + 1] += share / float64(v)
    expected = np.zeros(sizes.size)
    total = 0.0
    v = 0
    for at in range(sizes.size):
        while v < sizes[at]:
            v += 1
            total += terms[v]
        expected[at] = total
    return expected


@subkernel
def _variance_beyond_line(m, count, n, harmonics):
    """Return the variance of G(K) that remains after a linear regression on K.

    K of n rows drawn from m rows have a level that ``count`` of the m rows have.
    """
    low = max(0, n - (m - count))
    high = min(n, count)
    mode = ((n + 1) * (count + 1)) // (m + 2)
    mode = min(max(mode, low), high)
    slope = harmonics[mode + 1] - harmonics[mode] if mode + 1 <= m else 0.0
    at_mode = harmonics[mode]
    # Moments of the distances from the mode, and of G minus a line through the mode.
    total, first, second, mean, square, product = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for direction in (1, -1):
        probability = 1.0
        k = mode
        while (direction > 0 and k < high) or (direction < 0 and k > low):
            if direction > 0:
                probability *= float64(count - k) * float64(n - k)
                probability /= float64(k + 1) * float64(m - count - n + k + 1)
            else:
                probability *= float64(k) * float64(m - count - n + k)
                probability /= float64(count - k + 1) * float64(n - k + 1)
            k += direction
            if probability < _NEGLIGIBLE:
                break
            distance = float64(k - mode)
            beyond = harmonics[k] - at_mode - slope * distance
            total += probability
            first += probability * distance
            second += probability * distance * distance
            mean += probability * beyond
            square += probability * beyond * beyond
            product += probability * beyond * distance
    first, second, mean = first / total, second / total, mean / total
    square, product = square / total, product / total
    of_distance = second - first * first
    covariance = product - mean * first
    variance = square - mean * mean
    if of_distance > 0.0:
        variance -= covariance * covariance / of_distance
    return max(variance, 0.0)


@kernel(types.float64[::1](int64, INTEGERS, FLOATS, INTEGERS, FLOATS))
def level_freedoms(m, counts, numbers, sizes, harmonics):
    """Return the degrees of freedom of a cell of a nominal target, for each number of rows.

    They are proportional to the variance of the entropy of the cell under independence, beyond
    what its number of rows determines. A large cell of n rows has (1 - n / m) degrees of freedom.

    Parameters
    ----------
    m : the number of rows
    counts, numbers : the numbers of rows of levels, and how many levels have each
    sizes : the numbers of rows of cells
    harmonics : table of G for 0 .. m

    """
    freedoms = np.zeros(sizes.size)
    n_levels = numbers.sum()
    for at in range(sizes.size):
        n = sizes[at]
        if n >= m:
            continue
        for which in range(counts.size):
            share = float64(counts[which]) / float64(m)
            variance = _variance_beyond_line(m, counts[which], n, harmonics)
            freedoms[at] += numbers[which] * variance / (1.0 - share)
        freedoms[at] *= 2.0 / ((n_levels - 1.0) * (1.0 - float64(n) / float64(m)))
    return freedoms


@subkernel
def look_up(table, n):
    """Return the entry for n rows in a table of selected sizes.

    The table has all sizes below 4096. Larger sizes are interpolated linearly.
    """
    shift = 0
    while (n >> shift) >= 4096:
        shift += 1
    at = (shift << 11) + (n >> shift)
    remainder = n - ((n >> shift) << shift)
    if remainder == 0:
        return table[at]
    return table[at] + float64(remainder) / float64(1 << shift) * (table[at + 1] - table[at])


@kernel(types.UniTuple(float64, 2)(FLOATS, FLOATS))
def null_shape(shares, weights):
    """Return the variance and the skewness of A = sum_g w_g Z_g^2, scaled to mean 1.

    Z_g is the standardised Brownian bridge at u_g. Under independence, the entropy that c large
    cells explain is proportional to a sum of c - 1 independent copies of A. Without ties, A is the
    Anderson-Darling statistic. Z is a Markov process: its correlations multiply along u. So
    running sums replace the sums over pairs and triples of thresholds.

    Parameters
    ----------
    shares, weights : u_g, ascending, and w_g

    """
    total = 0.0
    second = 0.0
    third = 0.0
    # Running sums over the previous thresholds. r_i is the odds u / (1 - u) of threshold i,
    # divided by the odds of the latest threshold.
    singles = 0.0  # sum of w_i r_i
    pairs = 0.0  # sum of w_i w_j r_i over i <= j, counted as often as they occur in triples
    previous_odds = 1.0
    for g in range(shares.size):
        w = weights[g]
        odds = shares[g] / (1.0 - shares[g])
        decay = previous_odds / odds
        previous_odds = odds
        singles *= decay
        pairs *= decay
        # Triples with three, two and one members at threshold g.
        third += w * w * w + 3.0 * w * w * singles + 3.0 * w * pairs
        second += w * w + 2.0 * w * singles
        pairs += 2.0 * w * singles + w * w
        singles += w
        total += w
    variance = 2.0 * second / (total * total)
    skewness = 8.0 * third / total**3 / variance**1.5
    return variance, skewness
