"""Random slices of a table, and statistics that compare a column inside and outside a slice.

A slice selects a block of consecutive sorted values in each column of a set except the reference
column. The caller draws the random numbers: the reference column of each slice, and one uniform
number per column that determines the start of its block.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, types, uint16

from covary.kernels.shared.jit import FLOATS_2D, INTEGERS, ROWS_2D, kernel, subkernel

_COLUMNS = types.Tuple((ROWS_2D, FLOATS_2D, INTEGERS))


@subkernel
def _count_hits(columns, members, reference, sizes, uniforms, hits):
    """Fill in, for each row, in how many of the other columns it lies in the block."""
    orders, _, n_present = columns
    hits[:] = uint16(0)
    for at in range(members.size):
        column = members[at]
        n = n_present[column]
        if at != reference and n > 0:
            order = orders[column]
            first = int64(uniforms[at] * (n - sizes[at] + 1))
            for place in range(first, first + sizes[at]):
                hits[order[place]] += uint16(1)


@kernel(types.float64[::1](_COLUMNS, INTEGERS, INTEGERS, INTEGERS, FLOATS_2D))
def ks_distances(columns, members, sizes, references, uniforms):
    """Return the Kolmogorov-Smirnov statistic of each slice; NaN if the slice has no rows.

    It is the largest difference between the empirical distribution functions of the reference
    column inside the slice and in the whole table.

    Parameters
    ----------
    columns : orders, sorted values and numbers of present values of all columns
    members, sizes : the columns of the set, and the number of values in a block of each
    references : the position of the reference among the members, for each slice
    uniforms : numbers in [0, 1), shape (slices, members)

    """
    orders, values, n_present = columns
    hits = np.empty(orders.shape[1], np.uint16)
    inside = uint16(members.size - 1)
    distances = np.full(references.size, np.nan)
    for k in range(references.size):
        _count_hits(columns, members, references[k], sizes, uniforms[k], hits)
        column = members[references[k]]
        n = n_present[column]
        order = orders[column]
        n_inside = 0
        for place in range(n):
            n_inside += int64(hits[order[place]] == inside)
        if n_inside == 0:
            continue
        largest = int64(0)
        seen = 0
        for place in range(n):
            seen += int64(hits[order[place]] == inside)
            if place + 1 == n or values[column, place + 1] != values[column, place]:
                largest = max(largest, abs(seen * n - (place + 1) * n_inside))
        distances[k] = largest / (float64(n) * float64(n_inside))
    return distances


@kernel(types.float64[:, ::1](_COLUMNS, INTEGERS, INTEGERS, INTEGERS, FLOATS_2D))
def moments(columns, members, sizes, references, uniforms):
    """Return count, mean and sum of squared deviations of the reference, for each slice.

    The result has the shape (slices, 6): first the whole table, then the slice. The parameters are
    those of ``ks_distances``.
    """
    orders, values, n_present = columns
    hits = np.empty(orders.shape[1], np.uint16)
    inside = uint16(members.size - 1)
    result = np.zeros((references.size, 6))
    for k in range(references.size):
        _count_hits(columns, members, references[k], sizes, uniforms[k], hits)
        column = members[references[k]]
        n = n_present[column]
        for part in range(2):
            count = 0
            mean = 0.0
            squares = 0.0
            for place in range(n):
                if part == 0 or hits[orders[column, place]] == inside:
                    count += 1
                    deviation = values[column, place] - mean
                    mean += deviation / count
                    squares += deviation * (values[column, place] - mean)
            result[k, 3 * part] = count
            result[k, 3 * part + 1] = mean
            result[k, 3 * part + 2] = squares
    return result


@subkernel
def _mann_whitney_confidence(order, x, first, last, hits, inside):
    """Return 1 - p of the Mann-Whitney test for the sorted values in [first, last)."""
    n = float64(last - first)
    n_inside = 0
    ranks = 0.0  # twice the sum of the mid-ranks inside the slice
    ties = 0.0
    place = first
    while place < last:
        stop = place
        tied_inside = 0
        while stop < last and x[stop] == x[place]:
            tied_inside += int64(hits[order[stop]] == inside)
            stop += 1
        n_inside += tied_inside
        ranks += tied_inside * float64(place + stop + 1 - 2 * first)
        t = float64(stop - place)
        ties += t * t * t - t
        place = stop
    n1 = float64(n_inside)
    n2 = n - n1
    if n1 == 0.0 or n2 == 0.0:
        return 1.0
    variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)))
    if variance <= 1e-12 * n1 * n2:
        return 0.0
    deviation = abs(0.5 * ranks - 0.5 * n1 * (n1 + 1.0) - 0.5 * n1 * n2)
    return math.erf(deviation / math.sqrt(2.0 * variance))


@kernel(types.float64[::1](_COLUMNS, INTEGERS, INTEGERS, INTEGERS, INTEGERS, FLOATS_2D))
def mann_whitney(columns, members, sizes, reference_sizes, references, uniforms):
    """Return 1 - p of a two-sided Mann-Whitney test for each slice.

    The test compares the reference column inside and outside the slice. It uses only the rows of a
    block of the reference column.

    Parameters
    ----------
    columns, members, sizes, references, uniforms : as for ``ks_distances``
    reference_sizes : the number of values in the block of each reference; a block is extended to
        keep equal values together

    """
    orders, values, n_present = columns
    hits = np.empty(orders.shape[1], np.uint16)
    inside = uint16(members.size - 1)
    confidences = np.zeros(references.size)
    for k in range(references.size):
        reference = references[k]
        column = members[reference]
        n = n_present[column]
        order = orders[column]
        x = values[column]
        _count_hits(columns, members, reference, sizes, uniforms[k], hits)
        n_inside = 0
        for place in range(n):
            n_inside += int64(hits[order[place]] == inside)
        if n_inside == n:
            continue
        first = int64(uniforms[k, reference] * (n - reference_sizes[reference] + 1))
        last = first + reference_sizes[reference]
        while first > 0 and x[first - 1] == x[first]:
            first -= 1
        while last < n and x[last] == x[last - 1]:
            last += 1
        confidences[k] = _mann_whitney_confidence(order, x, first, last, hits, inside)
    return confidences
