"""Kernels of CMI: a clustering of the rows, and the entropy of a column given the clusters."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8, uint64

from covary.kernels.shared.intervals import log_count
from covary.kernels.shared.jit import CODES, FLOATS, FLOATS_2D, ROWS, kernel

N_CLUSTERS = 10
_PASSES = 3


@kernel(types.uint8[::1](FLOATS_2D))
def cluster(table):
    """Return the cluster of each row of a table of shape (rows, columns).

    Centre i starts at mean + s i sd / (9 n_columns) in each column, with s = 1 in even columns
    and s = -1 in odd columns. Each pass assigns the rows in order to the nearest centre (the first
    of equally near ones). At the end of a pass the centres move to the means of their rows. In the
    first pass they also move after every sqrt(n) rows.
    """
    n, n_columns = table.shape
    labels = np.zeros(n, np.uint8)
    # Transposed, so that the distances to all centres are computed in one vectorised loop.
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
    interval = int64(np.sqrt(n))
    for iteration in range(_PASSES):
        sums[:] = 0.0
        counts[:] = 0
        for r in range(n):
            distances[:] = 0.0
            for c in range(n_columns):
                x = table[r, c]
                for i in range(N_CLUSTERS):
                    difference = x - centres[c, i]
                    distances[i] += difference * difference
            nearest = 0
            for i in range(1, N_CLUSTERS):
                if distances[i] < distances[nearest]:
                    nearest = i
            labels[r] = uint8(nearest)
            counts[nearest] += 1
            for c in range(n_columns):
                sums[c, nearest] += table[r, c]
            if r == n - 1 or (iteration == 0 and r % interval == 0):
                for c in range(n_columns):
                    for i in range(N_CLUSTERS):
                        if counts[i] > 0:
                            centres[c, i] = sums[c, i] / counts[i]
    return labels


@kernel(float64(ROWS, FLOATS, CODES, FLOATS))
def entropy_inside(order, values, labels, increments):
    """Return the cumulative entropy of a column given the cluster of each row, in nats.

    Parameters
    ----------
    order, values : rows by ascending value, and the sorted values
    labels : the cluster of each row
    increments : table of g(t) - g(t - 1)

    """
    n = uint64(values.size)
    counts = np.zeros(N_CLUSTERS, np.uint64)
    totals = np.zeros(N_CLUSTERS)
    weighted = np.zeros(N_CLUSTERS)
    # The result does not change if a constant is subtracted. The median limits cancellation.
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
