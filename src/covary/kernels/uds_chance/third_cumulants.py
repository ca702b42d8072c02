"""Third cumulants of the similarity of two rows of a target, from its distinct values.

The similarity g of two rows is the mean difference of either row from all rows, minus the mean
difference, minus their difference. For numbers it is an integral over all cuts,

    g(x, y) = 2 integral z_t(x) z_t(y) dt,    z_t(x) = [x <= t] - F(t),

and for levels the sum over levels of z_l(x) z_l(y), where z_l(x) = [x = l] - p_l. So moments of g
are sums of squared moments of z. Rows are drawn with replacement.

All functions return two numbers: E g(a,b) g(b,c) g(c,a) divided by (E g^2)^1.5, and E g^3 divided
by the first expectation. A rare value makes the second one large: two rows with this value are
much more similar than others.
"""

from __future__ import annotations

import numpy as np

from covary.kernels.shared.jit import subkernel

# The eigenvalues of g are 1 / (pi k)^2, k = 1, 2, .. for a uniform variable.
RATIO_OF_UNTIED = 0.5
OF_UNTIED = ((1 / 945) / (1 / 90) ** 1.5, RATIO_OF_UNTIED)


@subkernel
def _sums_over_cuts(gaps, below, above):
    """Return sums over pairs and over triples of cuts.

    For cuts s <= t <= u, the covariance of z_s and z_u is F_s (1 - F_u), and E z_s z_t z_u is
    F_s (1 - 2 F_t) (1 - F_u). The products are F_s^2 .. (1 - F_u)^2 with a factor of t between.

    Parameters
    ----------
    gaps : the distance between the values on both sides of each cut
    below, above : the shares of the rows on both sides

    Returns
    -------
    second : the sum of the squared covariances of z_s and z_t
    of_triples : the sum of the products of the covariances of z_s, z_t and z_u
    of_pairs : the sum of the squares of E z_s z_t z_u

    """
    second = of_triples = of_pairs = 0.0
    first = 0.0  # the sum over cuts s below
    triples = pairs = 0.0  # the sums over cuts s <= t below
    for at in range(gaps.size):
        low, high = below[at], above[at]
        one = gaps[at] * low**2
        last = gaps[at] * high**2
        of_triple = gaps[at] * (low * high)
        of_pair = gaps[at] * (low - high) ** 2
        second += last * (2.0 * first + one)
        of_triples += last * (triples + of_triple * (3.0 * first + one))
        of_pairs += last * (pairs + of_pair * (3.0 * first + one))
        triples += of_triple * (6.0 * first + 3.0 * one)
        pairs += of_pair * (6.0 * first + 3.0 * one)
        first += one
    return second, of_triples, of_pairs


@subkernel
def cumulants_of_values(values, ends):
    """Return the cumulants of numbers.

    Parameters
    ----------
    values : the distinct values, ascending
    ends : the number of rows up to each of them

    """
    n = float(ends[-1])
    gaps = np.diff(values).astype(np.float64)
    below = ends[:-1] / n
    above = (ends[-1] - ends[:-1]) / n
    # In both directions, so that reversing the column does not change the result.
    up = _sums_over_cuts(gaps, below, above)
    down = _sums_over_cuts(gaps[::-1].copy(), above[::-1].copy(), below[::-1].copy())
    second = 0.5 * (up[0] + down[0])
    of_triples = 0.5 * (up[1] + down[1])
    if not of_triples > 0.0:
        return OF_UNTIED
    return of_triples / second**1.5, 0.5 * (up[2] + down[2]) / of_triples


@subkernel
def cumulants_of_levels(counts):
    """Return the cumulants of levels, of which ``counts`` are the numbers of rows.

    The eigenvalues of g are those of the covariance matrix D - p p' of the indicators.
    """
    shares = np.sort(counts) / counts.sum()
    s2, s3, s4 = (shares**2).sum(), (shares**3).sum(), (shares**4).sum()
    second = s2 - 2.0 * s3 + s2**2
    of_triples = s3 - 3.0 * s4 + 3.0 * s2 * s3 - s2**3
    if not of_triples > 0.0:
        return OF_UNTIED
    # g = [x = y] - w, where w = p_x + p_y - s2.
    same = 2.0 * shares - s2
    of_same = (shares**2 * (1.0 - 3.0 * same + 3.0 * same**2)).sum()
    variance, third = s3 - s2**2, s4 - 3.0 * s2 * s3 + 2.0 * s2**3  # of p_x
    of_all = s2**3 + 6.0 * s2 * variance + 2.0 * third
    return of_triples / second**1.5, (of_same - of_all) / of_triples
