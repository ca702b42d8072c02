"""Quantities computed once per column: the cumulative entropy and the initial bins."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint32

from covary.kernels.shared.jit import FLOATS, ROWS, kernel


@kernel(float64(FLOATS, FLOATS))
def cumulative_entropy(values, increments):
    """Return the cumulative entropy of sorted values, in nats.

    h = -sum_i (x_(i+1) - x_(i)) (i/n) log(i/n)

    Parameters
    ----------
    values : the sorted values
    increments : table of g(t) - g(t - 1), see `entropy_tables.increments`

    """
    n = values.size
    if n < 2:
        return 0.0
    log_n = np.log(n)
    # The result does not change if a constant is subtracted. The median limits cancellation.
    median = values[n // 2]
    total = 0.0
    for i in range(n):
        total += (values[i] - median) * (increments[i + 1] - log_n)
    return max(total / n, 0.0)


@kernel(types.uint32[::1](ROWS, FLOATS, int64, types.uint8[::1]))
def initial_bins(order, values, beta, codes):
    """Return the end of each equal-frequency bin in the sorted values, and fill in the codes.

    Equal values stay in one bin, so a column with few distinct values has fewer than ``beta``
    bins. A bin is closed before a run of equal values if this brings its size closer to the
    target size. Then the target size is recomputed from the remaining rows and bins.

    Parameters
    ----------
    order : rows by ascending value, rows with a missing value last
    values : the sorted values that are present
    beta : the largest number of bins
    codes : output, the bin of each row; a missing value gets the number of bins

    """
    n = values.size
    ends = np.empty(beta, np.uint32)
    n_bins = 0
    target = n // beta
    start = 0  # start of the open bin
    run = 0  # start of the run of equal values
    while run < n:
        stop = run + 1
        while stop < n and values[stop] == values[run]:
            stop += 1
        size = run - start
        if size > 0 and abs(stop - start - target) >= abs(size - target):
            ends[n_bins] = uint32(run)
            n_bins += 1
            start = run
            target = (n - start) // (beta - n_bins)
        run = stop
    if n > 0:
        ends[n_bins] = uint32(n)
        n_bins += 1
    at = 0
    for k in range(n_bins):
        while at < ends[k]:
            codes[order[at]] = uint8(k)
            at += 1
    for row in order[n:]:
        codes[row] = uint8(n_bins)
    return ends[:n_bins].copy()
