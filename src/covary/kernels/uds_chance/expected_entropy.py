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
