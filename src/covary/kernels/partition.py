"""The best partition of the initial bins: Algorithm 1, lines 12-22, and Eq. 5."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.jit import CODES, kernel

# Costs that differ by less than this share of the whole are equal: the leftmost of equal splits
# and the fewest of equal numbers of bins win, whatever the rounding.
_TOLERANCE = 1e-12

INTERVALS = types.Array(types.float64, 3, "C", readonly=True)
SPLITS = types.Array(types.uint8, 2, "C", readonly=True)


@kernel(types.Tuple((types.float64[:, ::1], types.uint8[:, ::1]))(INTERVALS, int64, float64))
def best_partitions(intervals, n_bins, whole):
    """Return the least costs of bins 0 .. i in l + 1 parts, and where the last part starts.

    ``intervals[j, i, 0]`` is the cost of the interval j .. i, so a partition costs the plain sum
    of its parts; ``whole`` is the scale against which equal costs are told.
    """
    slack = _TOLERANCE * whole
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


@kernel(types.uint8[::1](SPLITS, int64))
def part_ends(start, parts):
    """Return the last initial bin of each part of the best partition into ``parts``."""
    ends = np.empty(parts, np.uint8)
    last = start.shape[0] - 1
    for part in range(parts - 1, -1, -1):
        ends[part] = last
        if part > 0:
            last = int64(start[part, last]) - 1
    return ends


@kernel(float64(CODES, INTERVALS, int64))
def sum_over_parts(ends, intervals, what):
    """Return the sum of ``intervals[j, i, what]`` over the parts j .. i of a partition."""
    total = 0.0
    first = 0
    for end in ends:
        total += intervals[first, end, what]
        first = int64(end) + 1
    return total
