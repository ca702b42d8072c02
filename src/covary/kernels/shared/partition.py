"""The optimal partition of the initial bins: Algorithm 1, lines 12-22, and Eq. 5."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import CODES, CODES_2D, kernel, read_only

# Relative differences below this count as ties, so that rounding does not decide. Among tied
# splits the leftmost wins, and among tied partitions the one with the fewest bins.
TOLERANCE = 1e-12

_INTERVALS = read_only(types.float64, 3)


@kernel(types.Tuple((types.float64[:, ::1], types.uint8[:, ::1]))(_INTERVALS, int64, float64))
def best_partitions(intervals, n_bins, whole):
    """Return the minimal costs of bins 0 .. i in l + 1 parts, and the start of the last part.

    The cost of a partition is the sum of the costs of its parts.

    Parameters
    ----------
    intervals : ``intervals[j, i, 0]`` is the cost of the interval of bins j .. i
    n_bins : the number of initial bins
    whole : the scale for the tolerance of ties

    """
    slack = TOLERANCE * whole
    least = np.zeros((n_bins, n_bins))
    start = np.zeros((n_bins, n_bins), np.uint8)
    for i in range(n_bins):
        least[0, i] = intervals[0, i, 0]
    for parts in range(1, n_bins):
        for i in range(parts, n_bins):
            best = np.inf
            at = parts
            for j in range(parts, i + 1):
                cost = least[parts - 1, j - 1] + intervals[j, i, 0]
                if cost < best - slack:
                    best = cost
                    at = j
            least[parts, i] = best
            start[parts, i] = at
    return least, start


@kernel(types.uint8[::1](CODES_2D, int64))
def part_ends(start, parts):
    """Return the last initial bin of each part of the optimal partition into ``parts`` parts.

    ``start`` is the second result of `best_partitions`.
    """
    ends = np.empty(parts, np.uint8)
    last = start.shape[0] - 1
    for part in range(parts - 1, -1, -1):
        ends[part] = last
        if part > 0:
            last = int64(start[part, last]) - 1
    return ends


@kernel(float64(CODES, _INTERVALS, int64))
def sum_over_parts(ends, intervals, quantity):
    """Return the sum of ``intervals[j, i, quantity]`` over the parts j .. i of a partition."""
    total = 0.0
    first = 0
    for end in ends:
        total += intervals[first, end, quantity]
        first = int64(end) + 1
    return total
