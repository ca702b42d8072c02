"""What is computed once per column: cumulative entropy and the initial bins."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint32

from covary.kernels.jit import FLOATS, ROWS, kernel


@kernel(float64(FLOATS, FLOATS))
def cumulative_entropy(values, increments):
    """Return h = -sum_i (x_(i+1) - x_(i)) (i/n) log(i/n) of the sorted values, natural log."""
    n = values.size
    if n < 2:
        return 0.0
    log_n = np.log(n)
    # Any constant may be subtracted from the values; the median leaves little to cancel.
    median = values[n // 2]
    total = 0.0
    for i in range(n):
        total += (values[i] - median) * (increments[i + 1] - log_n)
    return max(total / n, 0.0)


@kernel(types.uint32[::1](ROWS, FLOATS, int64, types.uint8[::1]))
def initial_bins(order, values, beta, codes):
    """Return where each equal-frequency bin of the sorted values ends, and fill in the codes.

    ``codes`` gets the bin of every row, and the number of bins where the cell is missing.

    Cuts never separate equal values, so a column with few distinct values has fewer than
    ``beta`` bins. A bin is closed before a value when that leaves its size nearer to the target;
    the target is then set anew from the rows and bins that are left.
    """
    n = values.size
    ends = np.empty(beta, np.uint32)
    n_bins = 0
    target = n // beta
    start = 0  # where the open bin starts
    run = 0  # where the run of equal values starts
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
