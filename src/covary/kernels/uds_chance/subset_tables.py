"""The chance correction of some rows of a column: tables by cell size.

They are computed for every condition with missing cells, so that they must take little time. The
tables of whole columns (`covary.measures.uds_chance.tie_patterns`) have the same entries.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64

from covary.kernels.shared.jit import subkernel
from covary.kernels.uds_chance.expected_entropy import level_freedoms

# Expectations are computed for at most this many thresholds or counts, and this many sizes per
# doubling.
_MAX_THRESHOLDS = 48
_SIZES_PER_DOUBLING = 4
# Probabilities below this are neglected.
_NEGLIGIBLE = 1e-28


@subkernel
def _add_level(terms, n, count, weight):
    """Add the terms Z_v / v of a level with ``count`` of n rows, at v + 1 (Zhang 2012)."""
    others = n - count
    share = weight * float64(count) / float64(n)
    least = _NEGLIGIBLE * weight
    for v in range(1, others + 1):
        share *= float64(others - v + 1) / float64(n - v)
        if share < least:
            break
        terms[v + 1] += share / float64(v)


@subkernel
def _fill_biases(terms, n, sizes, biases):
    """Fill in the biases of all sizes; ``terms`` add up to the expected entropy of v rows.

    Returns the entropy of all n rows.
    """
    whole = terms.sum()
    total = 0.0
    v = 0
    for at in range(sizes.size):
        size = min(max(sizes[at], 1), n)
        while v < size:
            v += 1
            total += terms[v]
        biases[at] = sizes[at] * (1.0 - total / whole) / n if size < n else 0.0
    return whole


@subkernel
def untied_biases(n, sizes, biases):
    """Fill in the biases of a column of n rows without ties."""
    of_all = (n / (n - 1.0)) * ((n + 1.0) / (n + 2.0))
    for at in range(sizes.size):
        k = float64(min(max(sizes[at], 1), n))
        relative = 1.0 - (k - 1.0) * (k + 2.0) / (k * (k + 1.0)) * of_all
        biases[at] = sizes[at] * relative / n


@subkernel
def _few_thresholds(n, ends, gaps):
    """Return a few thresholds and weights that represent all; H is symmetric in them."""
    weights = np.zeros(n // 2 + 1)
    for g in range(ends.size):
        weights[min(ends[g], n - ends[g])] += gaps[g]
    firsts = np.flatnonzero(weights)
    if firsts.size <= _MAX_THRESHOLDS:
        return firsts, weights[firsts]
    angles = np.arcsin(np.sqrt(firsts / float64(n)))
    spread = np.linspace(angles[0], angles[-1], _MAX_THRESHOLDS)
    few = np.unique(np.rint(n * np.sin(spread) ** 2).astype(np.int64))
    few_angles = np.arcsin(np.sqrt(few / float64(n)))
    shared = np.zeros(few.size)
    at = 0
    for g in range(firsts.size):
        while at < few.size - 2 and few[at + 1] <= firsts[g]:
            at += 1
        part = (angles[g] - few_angles[at]) / (few_angles[at + 1] - few_angles[at])
        shared[at] += weights[firsts[g]] * (1.0 - part)
        shared[at + 1] += weights[firsts[g]] * part
    return few, shared


@subkernel
def tied_biases(n, ends, gaps, sizes, biases):
    """Fill in the biases of a column of n rows with ties.

    ``ends`` are the numbers of rows up to each value but the last, and ``gaps`` the differences of
    successive mid-ranks.
    """
    firsts, weights = _few_thresholds(n, ends, gaps)
    terms = np.zeros(n + 2)
    for g in range(firsts.size):
        _add_level(terms, n, firsts[g], weights[g])
        _add_level(terms, n, n - firsts[g], weights[g])
    _fill_biases(terms, n, sizes, biases)


@subkernel
def level_biases(n, counts, sizes, biases):
    """Fill in the biases of levels with these numbers of rows; return their entropy in nats."""
    numbers = np.zeros(n + 1, np.int64)
    for count in counts:
        numbers[count] += 1
    terms = np.zeros(n + 2)
    for count in np.flatnonzero(numbers):
        _add_level(terms, n, count, float64(numbers[count]))
    return _fill_biases(terms, n, sizes, biases)


# ---------------------------------------------------------------- degrees of freedom


@subkernel
def _few_counts(counts):
    """Return a few of many different counts, and how many levels each of them represents."""
    distinct = np.unique(counts)
    numbers = np.zeros(distinct.size)
    for count in counts:
        numbers[np.searchsorted(distinct, count)] += 1.0
    if distinct.size <= _MAX_THRESHOLDS:
        return distinct, numbers
    logs = np.log(distinct.astype(np.float64))
    spread = np.exp(np.linspace(logs[0], logs[-1], _MAX_THRESHOLDS))
    few = np.unique(np.rint(spread).astype(np.int64))
    few_logs = np.log(few.astype(np.float64))
    shared = np.zeros(few.size)
    at = 0
    for g in range(distinct.size):
        while at < few.size - 2 and few[at + 1] <= distinct[g]:
            at += 1
        part = (logs[g] - few_logs[at]) / (few_logs[at + 1] - few_logs[at])
        shared[at] += numbers[g] * (1.0 - part)
        shared[at + 1] += numbers[g] * part
    return few, shared


@subkernel
def _some_sizes(n):
    """Return the cell sizes for which degrees of freedom are computed.

    A cell of almost all rows varies as little as the few others.
    """
    chosen = np.zeros(n + 1, np.bool_)
    for size in range(1, min(n, 17)):
        chosen[size] = True
        chosen[n - size] = True
    step = 1
    size = 16
    while size < n:
        chosen[size] = True
        chosen[n - size] = True
        size = int64(np.rint(16.0 * 2.0 ** (step / _SIZES_PER_DOUBLING)))
        step += 1
    chosen[0] = False
    chosen[n] = True
    return np.flatnonzero(chosen)


@subkernel
def _interpolated(wanted, first, places, values):
    """Return a value interpolated by Lagrange's polynomial through the next four places."""
    result = 0.0
    last = min(first + 4, places.size)
    for j in range(first, last):
        term = values[j]
        for k in range(first, last):
            if k != j:
                term *= (wanted - places[k]) / (places[j] - places[k])
        result += term
    return result


@subkernel
def fill_freedoms(n, counts, sizes, harmonics, freedoms):
    """Fill in the degrees of freedom of a cell of a target with levels, by cell size."""
    some = _some_sizes(n)
    few, numbers = _few_counts(counts)
    found = level_freedoms(n, few, numbers, some, harmonics)
    places = np.log(some.astype(np.float64))
    at = 0
    for entry in range(sizes.size):
        size = min(max(sizes[entry], 1), n)
        while at < some.size and some[at] < size:
            at += 1
        first = min(max(at - 2, 0), max(some.size - 4, 0))
        value = _interpolated(math.log(float64(size)), first, places, found)
        freedoms[entry] = max(value, 0.0)
