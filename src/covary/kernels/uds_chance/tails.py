"""Evidence from tail probabilities: the log of a weighted mean of 1 / probability.

The harmonic mean of probabilities is close to the smallest one if that stands out, and needs no
correction for the number of views, which may depend on each other (Wilson, PNAS 2019).
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from covary.kernels.shared.jit import FLOATS, FLOATS_2D, kernel, subkernel
from covary.kernels.uds_chance.associations import SURPRISE, TWO_SIDED, TWO_SIDED_OF_TWO
from covary.kernels.uds_chance.tail_probability import log_tail, surprise_of_gain

_GAINS = types.UniTuple(FLOATS_2D, 2)

# If a column is nominal or has two values, fewer shapes are possible: then the first correlations,
# or the associations, count this many times as much.
EMPHASIS = 5.0
N_EMPHASISED = 2


@subkernel
def _log_sum_exp(terms):
    """Return the log of the sum of exp. Sorting makes it independent of the order."""
    terms.sort()
    total = 0.0
    for term in terms:
        total += math.exp(term - terms[-1])
    return terms[-1] + math.log(total)


@kernel(types.float64[::1](_GAINS, _GAINS, _GAINS, types.UniTuple(FLOATS, 4)))
def evidence_of_pairs(gains, reverse_gains, correlations, weights):
    """Return the evidence of pairs. Exchanging the columns does not change it.

    Parameters
    ----------
    gains, reverse_gains : gains and skewnesses of both directions, shape (pairs, views)
    correlations : standardised rank correlations, or associations of nominal columns, and their
        kinds or skewnesses, shape (pairs, correlations)
    weights : of each direction of the views, and of their sum; the standard deviation of the sum;
        of the correlations

    """
    one_way, both_ways, spreads, of_correlations = weights
    evidence = np.empty(correlations[0].shape[0])
    terms = np.empty(3 * one_way.size + of_correlations.size)
    for k in range(evidence.size):
        n = 0
        for view in range(one_way.size):
            gain, reverse = gains[0][k, view], reverse_gains[0][k, view]
            skewness, other = gains[1][k, view], reverse_gains[1][k, view]
            if one_way[view] > 0.0:
                terms[n] = math.log(one_way[view]) + surprise_of_gain(gain, skewness)
                terms[n + 1] = math.log(one_way[view]) + surprise_of_gain(reverse, other)
                n += 2
            if both_ways[view] > 0.0:
                # A sum of equal gains is as skewed as one of them, and a sum of independent gains
                # less by the root of 2. If only one gain is available, it counts alone.
                spread = spreads[view]
                if gain > -np.inf and reverse > -np.inf:
                    skew = (skewness + other) * (spread / 4.0)
                    both = surprise_of_gain((gain + reverse) / spread, skew)
                else:
                    both = max(surprise_of_gain(gain, skewness), surprise_of_gain(reverse, other))
                terms[n] = math.log(both_ways[view]) + both
                n += 1
        total = 1.0
        for i in range(of_correlations.size):
            value, kind = correlations[0][k, i], correlations[1][k, i]
            if kind in (TWO_SIDED, TWO_SIDED_OF_TWO):
                surprise = -(math.log(2.0) + log_tail(abs(value)))
            elif kind == SURPRISE:
                surprise = value
            else:
                surprise = surprise_of_gain(value, kind)
            weight = of_correlations[i]
            if i < N_EMPHASISED and kind != TWO_SIDED:
                total += (EMPHASIS - 1.0) * weight
                weight *= EMPHASIS
            terms[n] = math.log(weight) + surprise
            n += 1
        evidence[k] = _log_sum_exp(terms[:n]) - math.log(total)
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
            terms[view] = math.log(weights[view]) + surprise_of_gain(
                gains[0][k, view], gains[1][k, view]
            )
        evidence[k] = _log_sum_exp(terms)
    return evidence
