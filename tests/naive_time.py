"""Slow, obvious versions of what dependent rows need, written from the definitions."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np


def reach(n):
    """The largest shift: a tenth of the rows, or 10 rows, but at most a quarter of the rows."""
    return max(n // 10, min(10, n // 4))


def window(values, shift):
    """The part of a series that is compared if it is shifted by some rows."""
    n, r = len(values), reach(len(values))
    return [values[t + shift] for t in range(r, n - r)]


def relative_shifts(n):
    """All shifts of a second series relative to a first one, except 0: by up to twice the reach.

    Each side moves by half of it; of an odd number, the second one by the larger part upwards.
    """
    r = reach(n)
    found = []
    for by in range(-2 * r, 2 * r + 1):
        if by != 0:
            first = -(by // 2)
            found.append((first, by + first))
    return found


# Of two columns, by `covary.evidence`.
MEAN_EVIDENCE_OF_INDEPENDENT_ROWS = 0.85


def far_shifts(n):
    """The shifts of one of two series that are far apart in time; the other one has the opposite.

    Together, they are apart by the reach, at least.
    """
    return [shift for shift in range(1, reach(n) + 1) if 2 * shift >= reach(n)]


def middle_ranks(values):
    return [
        sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2
        for value in values
    ]


def autocorrelation(values, lag):
    """The correlation of the ranks of a series with those some rows later, divided by n."""
    ranks = middle_ranks(values)
    mean = sum(ranks) / len(ranks)
    centred = [rank - mean for rank in ranks]
    variance = sum(each * each for each in centred)
    return sum(a * b for a, b in zip(centred, centred[lag:], strict=False)) / variance


def evidence_scale(one, other):
    """Bartlett's factor: by how much autocorrelation multiplies the variance of a correlation."""
    n = len(one)
    total = 1.0
    for lag in range(1, n // 2 + 1):
        products = autocorrelation(one, lag) * autocorrelation(other, lag)
        total += 2.0 * (1.0 - lag / n) * products
    return max(total, 1.0)


def moments_of_runs(levels):
    """The mean and the variance of the number of runs over all orders of some levels."""
    numbers = [1 + sum(a != b for a, b in pairwise(order)) for order in permutations(levels)]
    return np.mean(numbers), np.var(numbers)
