"""Random slices of a table, and how a column inside a slice differs from the column outside it.

The draws are handed in: which column of a set is the reference, and a uniform number for every
column that says where its block of sorted values starts.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, types, uint16

from covary.kernels.jit import WHOLES, kernel, part

_COLUMNS = types.Tuple(
    (
        types.Array(types.uint32, 2, "C", readonly=True),
        types.Array(types.float64, 2, "C", readonly=True),
        WHOLES,
    )
)
_UNIFORMS = types.Array(types.float64, 2, "C", readonly=True)


@part
def _count_hits(columns, members, reference, sizes, uniforms, hits):
    """Count for every row in how many of the other columns it lies in the block."""
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


@kernel(types.float64[::1](_COLUMNS, WHOLES, WHOLES, WHOLES, _UNIFORMS))
def ks_distances(columns, members, sizes, references, uniforms):
    """Return for every slice how far the reference in it is from the reference as a whole.

    It is the largest difference of the two empirical distribution functions (Kolmogorov and
    Smirnov); NaN if no row is in the slice.

    Parameters
    ----------
    columns : orders, sorted values and numbers of present values of all columns
    members, sizes : the columns of the set, and how many cells a block of each has
    references : which member is the reference, for every slice
    uniforms : from 0 to 1, one line per slice with a number for every member

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


@kernel(types.float64[:, ::1](_COLUMNS, WHOLES, WHOLES, WHOLES, _UNIFORMS))
def moments(columns, members, sizes, references, uniforms):
    """Return number, mean and sum of squared deviations of the reference: whole and in the slice.

    One line per slice; parameters as for ``ks_distances``.
    """
    orders, values, n_present = columns
    hits = np.empty(orders.shape[1], np.uint16)
    inside = uint16(members.size - 1)
    found = np.zeros((references.size, 6))
    for k in range(references.size):
        _count_hits(columns, members, references[k], sizes, uniforms[k], hits)
        column = members[references[k]]
        n = n_present[column]
        for whole in range(2):
            count = 0
            mean = 0.0
            squares = 0.0
            for place in range(n):
                if whole == 0 or hits[orders[column, place]] == inside:
                    count += 1
                    away = values[column, place] - mean
                    mean += away / count
                    squares += away * (values[column, place] - mean)
            found[k, 3 * whole] = count
            found[k, 3 * whole + 1] = mean
            found[k, 3 * whole + 2] = squares
    return found


@part
def _sureness(order, x, first, last, hits, inside):
    """Return 1 - p of the Mann-Whitney test among the places ``first`` to ``last``."""
    n = float64(last - first)
    n_inside = 0
    ranks = 0.0  # twice the sum of ranks inside
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
    away = abs(0.5 * ranks - 0.5 * n1 * (n1 + 1.0) - 0.5 * n1 * n2)
    return math.erf(away / math.sqrt(2.0 * variance))


@kernel(types.float64[::1](_COLUMNS, WHOLES, WHOLES, WHOLES, WHOLES, _UNIFORMS))
def mann_whitney(columns, members, sizes, reference_sizes, references, uniforms):
    """Return for every slice how sure it is that the reference differs inside and outside it.

    It is 1 - p of a two-sided Mann-Whitney test, among the rows of a block of the reference, whose
    size is that of ``reference_sizes``, or more: equal values stay together. Other parameters as
    for ``ks_distances``.
    """
    orders, values, n_present = columns
    hits = np.empty(orders.shape[1], np.uint16)
    inside = uint16(members.size - 1)
    found = np.zeros(references.size)
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
        found[k] = _sureness(order, x, first, last, hits, inside)
    return found
