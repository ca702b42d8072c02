"""The upper tail of a sample, continued by generalised Pareto distributions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from covary.array_types import Floats

# The tail is fitted to each of these shares of the values, if these are enough values.
TAILS = (0.05, 0.01)
LEAST_FITTED = 40
# If at least this many values are as large, their share is the probability.
ENOUGH = 10


class Excesses(NamedTuple):
    """A generalised Pareto distribution above a threshold, which a share of values exceeds."""

    start: float
    share: float
    shape: float
    scale: float

    @classmethod
    def of(cls, values: Floats, k: int) -> Excesses:
        """Return the distribution of the k largest of sorted values.

        The shape is estimated by probability-weighted moments (Hosking and Wallis 1987), and is
        at least 0, that of an exponential tail, and at most 1.
        """
        n = values.size
        start = float(values[n - k])
        excesses = values[n - k :] - start
        mean = float(excesses.mean())
        weights = (k - np.arange(1, k + 1) + 0.35) / k
        weighted = float(np.mean(weights * excesses))
        shape = 0.0
        if mean > 2.0 * weighted > 0.0:
            shape = max(2.0 - mean / (mean - 2.0 * weighted), 0.0)
        if shape >= 1.0:
            # There is no mean. The median of this distribution is its scale.
            return cls(start, k / n, 1.0, float(np.median(excesses)))
        return cls(start, k / n, shape, mean * (1.0 - shape))

    def probability(self, value: float) -> float:
        """Return the probability of a value at least this large, above the threshold."""
        excess = max((value - self.start) / self.scale, 0.0)
        if self.shape > 0.0:
            return self.share * math.exp(-math.log1p(self.shape * excess) / self.shape)
        return self.share * math.exp(-excess)


class Tail:
    """The upper tail of a sample: the share of larger values, as long as these are enough.

    Beyond, generalised Pareto distributions continue it, fitted above several quantiles. The
    largest of their probabilities counts: a mixture of light and heavy tails has no single shape.

    Parameters
    ----------
    values : the sample
    """

    def __init__(self, values: Floats) -> None:
        self.values = np.sort(values)
        n = self.values.size
        first, *others = (min(max(int(share * n), 1), n) for share in TAILS)
        counts = [first, *(k for k in others if k >= LEAST_FITTED)]
        fitted = [Excesses.of(self.values, k) for k in counts]
        self.fitted = [each for each in fitted if each.scale > 0.0]  # not all values are equal

    def probability(self, value: float) -> float:
        """Return the probability of a value at least this large."""
        n = self.values.size
        count = n - int(np.searchsorted(self.values, value - 1e-9 * abs(value)))
        empirical = (1 + count) / (1 + n)
        if count >= ENOUGH or not self.fitted:
            return empirical
        beyond = max(each.probability(value) for each in self.fitted)
        return min(max(beyond, count / (1 + n)), (1 + ENOUGH) / (1 + n))
