"""Tail probabilities: of a normal variable, and of a skewed gain."""

from __future__ import annotations

import math

import numpy as np

from covary.kernels.shared.jit import subkernel

# Above this many standard deviations, the tail is computed from its expansion.
_FAR = 25.0
# Smaller skewnesses are those of a normal variable.
LEAST_SKEWNESS = 1e-3
# A gain that is more skewed than this is similar to a count of rare events. The square of a normal
# variable has the skewness 2.83.
_RARE_EVENTS = 3.0


@subkernel
def log_tail(x):
    """Return the log of the probability that a standard normal variable exceeds x."""
    if x < 0.0:
        return math.log1p(-0.5 * math.erfc(-x / math.sqrt(2.0)))
    if x < _FAR:
        return math.log(0.5 * math.erfc(x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(x * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (x * x))


@subkernel
def _deviation_of_count(count, expected):
    """Return the normal deviation that is as unlikely as at least this many events.

    The tail of a Poisson variable is that of a Gamma variable, of which the cube root is almost
    normal (Wilson and Hilferty 1931). The number of events may be a fraction.
    """
    if not count > 0.0:
        return -np.inf
    return (1.0 - 1.0 / (9.0 * count) - np.cbrt(expected / count)) * 3.0 * math.sqrt(count)


@subkernel
def deviation_of_gain(gain, skewness):
    """Return the normal deviation that is as unlikely as a gain at least this large.

    The gain has mean 0, variance 1 and this skewness under independence. It is approximated by a
    Gamma variable, and this by the cube of a normal variable (Wilson and Hilferty 1931). A gain
    that is more skewed depends on a few rare events. Then the probability is at least that of a
    Poisson variable with the same skewness.
    """
    skewness = max(skewness, LEAST_SKEWNESS)
    ratio = max(1.0 + 0.5 * skewness * gain, 0.0)
    deviation = 6.0 / skewness * (np.cbrt(ratio) - 1.0) + skewness / 6.0
    if skewness > _RARE_EVENTS:
        expected = 1.0 / skewness**2
        deviation = min(deviation, _deviation_of_count(expected + gain / skewness, expected))
    return deviation


@subkernel
def surprise_of_gain(gain, skewness):
    """Return minus the log of the probability of a gain at least this large.

    See `deviation_of_gain`. The result is 0 for the gain minus infinity, which is not available.
    """
    if not gain > -np.inf:
        return 0.0
    return -log_tail(deviation_of_gain(gain, skewness))
