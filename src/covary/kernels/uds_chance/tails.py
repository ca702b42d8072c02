"""Evidence from tail probabilities: the log of a weighted mean of 1 / probability.

The harmonic mean of probabilities is close to the smallest one if that stands out, and needs no
correction for the number of views, which may depend on each other (Wilson, PNAS 2019).
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from covary.kernels.shared.jit import FLOATS, FLOATS_2D, kernel, subkernel

# Above this many standard deviations, the tail is computed from its expansion.
_FAR = 25.0
_LEAST_SKEWNESS = 1e-3
_GAINS = types.UniTuple(FLOATS_2D, 2)


@subkernel
def _log_tail(x):
    """Return the log of the probability that a standard normal variable exceeds x."""
    if x < 0.0:
        return math.log1p(-0.5 * math.erfc(-x / math.sqrt(2.0)))
    if x < _FAR:
        return math.log(0.5 * math.erfc(x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(x * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (x * x))


@subkernel
def _surprise(gain, skewness):
    """Return minus the log of the probability of a gain at least this large.

    The gain has mean 0, variance 1 and this skewness under independence. It is approximated by a
    Gamma variable, and this by the cube of a normal variable (Wilson and Hilferty 1931). The
    result is 0 for the gain minus infinity, which is not available.
    """
    if not gain > -np.inf:
        return 0.0
    skewness = max(skewness, _LEAST_SKEWNESS)
    ratio = max(1.0 + 0.5 * skewness * gain, 0.0)
    return -_log_tail(6.0 / skewness * (np.cbrt(ratio) - 1.0) + skewness / 6.0)


@subkernel
def _log_sum_exp(terms):
    """Return the log of the sum of exp. Sorting makes it independent of the order."""
    terms.sort()
    total = 0.0
    for term in terms:
        total += math.exp(term - terms[-1])
    return terms[-1] + math.log(total)


@kernel(types.float64[::1](_GAINS, _GAINS, FLOATS_2D, types.UniTuple(FLOATS, 4)))
def evidence_of_pairs(gains, reverse_gains, correlations, weights):
    """Return the evidence of pairs. Exchanging the columns does not change it.

    Parameters
    ----------
    gains, reverse_gains : gains and skewnesses of both directions, shape (pairs, views)
    correlations : standardised rank correlations, shape (pairs, correlations)
    weights : of each direction of the views, and of their sum; the standard deviation of the sum;
        of the correlations

    """
    one_way, both_ways, spreads, of_correlations = weights
    evidence = np.empty(correlations.shape[0])
    terms = np.empty(3 * one_way.size + of_correlations.size)
    for k in range(evidence.size):
        n = 0
        for view in range(one_way.size):
            gain, reverse = gains[0][k, view], reverse_gains[0][k, view]
            skewness, other = gains[1][k, view], reverse_gains[1][k, view]
            if one_way[view] > 0.0:
                terms[n] = math.log(one_way[view]) + _surprise(gain, skewness)
                terms[n + 1] = math.log(one_way[view]) + _surprise(reverse, other)
                n += 2
            if both_ways[view] > 0.0:
                # A sum of equal gains is as skewed as one of them, and a sum of independent gains
                # less by the root of 2.
                spread = spreads[view]
                both = _surprise((gain + reverse) / spread, (skewness + other) * (spread / 4.0))
                terms[n] = math.log(both_ways[view]) + both
                n += 1
        for i in range(of_correlations.size):
            two_sided = math.log(2.0) + _log_tail(abs(correlations[k, i]))
            terms[n] = math.log(of_correlations[i]) - two_sided
            n += 1
        evidence[k] = _log_sum_exp(terms[:n])
    return evidence


@kernel(types.float64[::1](_GAINS, FLOATS))
def evidence_of_views(gains, weights):
    """Return the evidence of some views of the same kind, one per line.

    Parameters
    ----------
    gains : gains and skewnesses, shape (relations, views)
    weights : of the views

    """
    evidence = np.empty(gains[0].shape[0])
    terms = np.empty(weights.size)
    for k in range(evidence.size):
        for view in range(weights.size):
            terms[view] = math.log(weights[view]) + _surprise(gains[0][k, view], gains[1][k, view])
        evidence[k] = _log_sum_exp(terms)
    return evidence
