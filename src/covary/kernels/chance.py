"""What chance does to the entropy of a few rows: the tables of the chance-corrected estimator.

Columns are taken by their mid-ranks, and h is the mean of cumulative entropy and cumulative
residual entropy: with H the entropy of a coin in nats, and the cumulative share u_g of the rows
after the g-th distinct value,

    h = 1/2 sum_g (y_(g+1) - y_(g)) H(u_g).

In a cell of n rows, k of them among the first R_g, H is estimated almost without bias by
[G(n) - G(k) - G(n - k)] / n, see `covary.kernels.tables.weighted_harmonics`. If the cell has
nothing to do with the column, k is hypergeometric, and what is left of the bias is known exactly.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.jit import FLOATS, WHOLES, kernel, part

# Terms of a distribution that are smaller than this beside its largest one are left out.
_NEGLIGIBLE = 1e-14


@part
def _expected_coin(m, first, n, harmonics):
    """Return the expected estimate of H from n drawn rows, with ``first`` of m rows being heads.

    ``harmonics`` is a table of G.
    """
    low = max(0, n - (m - first))
    high = min(n, first)
    mode = ((n + 1) * (first + 1)) // (m + 2)
    mode = min(max(mode, low), high)
    total = 1.0
    mean = harmonics[mode] + harmonics[n - mode]
    chance = 1.0
    for k in range(mode, high):
        chance *= float64(first - k) * float64(n - k)
        chance /= float64(k + 1) * float64(m - first - n + k + 1)
        if chance < _NEGLIGIBLE:
            break
        total += chance
        mean += chance * (harmonics[k + 1] + harmonics[n - k - 1])
    chance = 1.0
    for k in range(mode, low, -1):
        chance *= float64(k) * float64(m - first - n + k)
        chance /= float64(first - k + 1) * float64(n - k + 1)
        if chance < _NEGLIGIBLE:
            break
        total += chance
        mean += chance * (harmonics[k - 1] + harmonics[n - k + 1])
    return (harmonics[n] - mean / total) / n


@kernel(types.float64[::1](int64, WHOLES, FLOATS, WHOLES, FLOATS))
def expected_entropies(m, firsts, weights, sizes, harmonics):
    """Return sum_g w_g times the expected estimate of H(R_g / m), for each number of drawn rows.

    Parameters
    ----------
    m : rows
    firsts, weights : R_g and w_g of each threshold
    sizes : how many rows are drawn
    harmonics : table of G, up to m

    """
    expected = np.zeros(sizes.size)
    for g in range(firsts.size):
        for at in range(sizes.size):
            expected[at] += weights[g] * _expected_coin(m, firsts[g], sizes[at], harmonics)
    return expected


@part
def look_up(table, n):
    """Return what a table with one entry for each of `table_sizes` has for n.

    It is exact for n below 4096; above, straight lines join the entries.
    """
    shift = 0
    while (n >> shift) >= 4096:
        shift += 1
    at = (shift << 11) + (n >> shift)
    over = n - ((n >> shift) << shift)
    if over == 0:
        return table[at]
    return table[at] + float64(over) / float64(1 << shift) * (table[at + 1] - table[at])


@kernel(types.UniTuple(float64, 2)(FLOATS, FLOATS))
def null_shape(shares, weights):
    """Return variance and skewness of A = sum_g w_g Z_g^2, scaled to mean 1.

    Z_g is the standardised Brownian bridge at u_g: chance lowers the entropy of a column that is
    cut into cells of many rows by a sum of such A, one for every cell but one (without ties they
    are Anderson and Darling's statistic). Correlations of Z multiply along u, so that sums over
    pairs and triples of thresholds are sums over running sums.

    Parameters
    ----------
    shares, weights : u_g, ascending, and w_g

    """
    total = 0.0
    second = 0.0
    third = 0.0
    # Running sums over thresholds so far, relative to the odds of the last one.
    ones = 0.0  # sum_1 w1 r1,  r = odds of 1 over odds of the last
    pairs = 0.0  # sum_(1 <= 2) w1 w2 r1, ordered pairs with 1 = 2 counted as they come in triples
    odds_before = 1.0
    for g in range(shares.size):
        w = weights[g]
        odds = shares[g] / (1.0 - shares[g])
        decay = odds_before / odds
        odds_before = odds
        ones *= decay
        pairs *= decay
        # All three at g; two at g; one at g with the other two before (in any order).
        third += w * w * w + 3.0 * w * w * ones + 3.0 * w * pairs
        second += w * w + 2.0 * w * ones
        pairs += 2.0 * w * ones + w * w
        ones += w
        total += w
    variance = 2.0 * second / (total * total)
    skewness = 8.0 * third / total**3 / variance**1.5
    return variance, skewness
