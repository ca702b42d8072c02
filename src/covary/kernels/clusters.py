"""Rows in ten clusters, and what the clusters tell about a column: what CMI is made of."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint64

from covary.kernels.intervals import log_count
from covary.kernels.jit import CODES, FLOATS, ROWS, kernel

N_CLUSTERS = 10
_PASSES = 3

_TABLE = types.Array(types.float64, 2, "C", readonly=True)


@kernel(types.uint8[::1](_TABLE))
def cluster(table):
    """Return the cluster of every row of a table.

    Centre i starts at mean + s i sd / (9 n_columns) in each column, with s = 1 and -1 in turns.
    Each pass takes the rows in their order to the nearest centre (the first of equals), and then
    the centres to the means of their rows; in the first pass every sqrt(n) rows, too.
    """
    n, n_columns = table.shape
    labels = np.zeros(n, np.uint8)
    # Centres lie side by side, one line per column: the distances to all are summed at once.
    centres = np.empty((n_columns, N_CLUSTERS))
    for c in range(n_columns):
        mean = 0.0
        for r in range(n):
            mean += table[r, c]
        mean /= n
        variance = 0.0
        for r in range(n):
            variance += (table[r, c] - mean) ** 2
        step = np.sqrt(variance / n) / ((N_CLUSTERS - 1) * n_columns)
        for i in range(N_CLUSTERS):
            centres[c, i] = mean + (step * i if c % 2 == 0 else -step * i)
    sums = np.empty((n_columns, N_CLUSTERS))
    counts = np.empty(N_CLUSTERS, np.int64)
    distances = np.empty(N_CLUSTERS)
    every = int64(np.sqrt(n))
    for number in range(_PASSES):
        sums[:] = 0.0
        counts[:] = 0
        for r in range(n):
            distances[:] = 0.0
            for c in range(n_columns):
                x = table[r, c]
                for i in range(N_CLUSTERS):
                    away = x - centres[c, i]
                    distances[i] += away * away
            nearest = 0
            for i in range(1, N_CLUSTERS):
                if distances[i] < distances[nearest]:
                    nearest = i
            labels[r] = uint8(nearest)
            counts[nearest] += 1
            for c in range(n_columns):
                sums[c, nearest] += table[r, c]
            if r == n - 1 or (number == 0 and r % every == 0):
                for c in range(n_columns):
                    for i in range(N_CLUSTERS):
                        if counts[i] > 0:
                            centres[c, i] = sums[c, i] / counts[i]
    return labels


@kernel(float64(ROWS, FLOATS, CODES, FLOATS))
def entropy_inside(order, values, labels, increments):
    """Return the cumulative entropy of a column given the cluster of every row, natural log.

    ``order`` has the rows by ascending value, ``values`` the sorted values.
    """
    n = uint64(values.size)
    counts = np.zeros(N_CLUSTERS, np.uint64)
    totals = np.zeros(N_CLUSTERS)
    weighted = np.zeros(N_CLUSTERS)
    # Any constant may be subtracted from the values; the median leaves little to cancel.
    median = values[n // uint64(2)]
    for r in range(n):
        k = labels[order[r]]
        x = values[r] - median
        counts[k] += uint64(1)
        totals[k] += x
        weighted[k] += x * increments[counts[k]]
    total = 0.0
    for k in range(N_CLUSTERS):
        total += weighted[k] - log_count(counts[k]) * totals[k]
    return max(total / float64(n), 0.0)
