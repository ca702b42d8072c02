"""Tail probabilities: of a normal variable, and of a skewed gain."""

from __future__ import annotations

import math

import numpy as np

from covary.kernels.shared.jit import subkernel

# Above this many standard deviations, the tail is computed from its expansion.
_FAR = 25.0
_LEAST_SKEWNESS = 1e-3


@subkernel
def log_tail(x):
    """Return the log of the probability that a standard normal variable exceeds x."""
    if x < 0.0:
        return math.log1p(-0.5 * math.erfc(-x / math.sqrt(2.0)))
    if x < _FAR:
        return math.log(0.5 * math.erfc(x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(x * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (x * x))


@subkernel
def surprise_of_gain(gain, skewness):
    """Return minus the log of the probability of a gain at least this large.

    The gain has mean 0, variance 1 and this skewness under independence. It is approximated by a
    Gamma variable, and this by the cube of a normal variable (Wilson and Hilferty 1931). The
    result is 0 for the gain minus infinity, which is not available.
    """
    if not gain > -np.inf:
        return 0.0
    skewness = max(skewness, _LEAST_SKEWNESS)
    ratio = max(1.0 + 0.5 * skewness * gain, 0.0)
    return -log_tail(6.0 / skewness * (np.cbrt(ratio) - 1.0) + skewness / 6.0)
