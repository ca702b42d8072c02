"""The order of columns in which they explain most of each other.

What a column adds to the score of a set, its weight times how much of it is explained, is a whole
multiple of 2^-52 here: sums and comparisons are then exact, and do not depend on the order in
which the columns come.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.jit import FLOATS, kernel
from covary.kernels.strengths import KNOWN, NULLS, known_strength

_NUMBERS = types.Array(types.int64, 1, "C", readonly=True)
_PARTS = types.Tuple((types.int64[:, :, ::1], types.int64[:, :, :, ::1]))
# Of what a column adds to a score, the first is compared and the second is added.
_SURE = 0
_LIKELY = 1
_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
_SETS = types.Array(types.int32, 2, "C", readonly=True)
_ORDERED = types.Tuple((float64, types.int64[::1]))

# All orders are tried, in effect, up to this many columns.
MOST_EXACT = 12
# Beyond that, as many columns as this are tried as the first.
MOST_FIRST = 64
_ONE = 2.0**52


@kernel(int64(float64))
def as_whole(number):
    """Return a number in multiples of 2^-52."""
    return int64(np.rint(number * _ONE))


@kernel(types.boolean(int64, int64, int64, int64))
def _is_better(certain, likely, than_certain, than_likely):
    """Return whether one condition is to be preferred to another: by what it adds for sure."""
    return certain > than_certain or (certain == than_certain and likely > than_likely)


@kernel(_ORDERED(_PARTS, _NUMBERS))
def best_of_all_orders(parts, weights):
    """Return the highest score over all orders, and the order: a dynamic program over subsets.

    Parameters
    ----------
    parts : what column t adds if a explains it, at [t, a], and if a and b do, at [t, a, b], each
        for sure and in all likelihood; the second is empty if two are not to explain together
    weights : what column t adds if it is fully explained

    """
    by_one, by_two = parts
    d = weights.size
    n_sets = 1 << d
    given = np.zeros((n_sets, d, 2), np.int64)  # what a column adds, given a subset
    for members in range(1, n_sets):
        low = 0
        while not (members >> low) & 1:
            low += 1
        rest = members & (members - 1)
        for t in range(d):
            if (members >> t) & 1:
                continue
            certain, likely = given[rest, t, _SURE], given[rest, t, _LIKELY]
            here, value = by_one[t, low, _SURE], by_one[t, low, _LIKELY]
            if _is_better(here, value, certain, likely):
                certain, likely = here, value
            for other in range(low + 1, d if by_two.size > 0 else 0):
                if (rest >> other) & 1:
                    here = by_two[t, low, other, _SURE]
                    value = by_two[t, low, other, _LIKELY]
                    if _is_better(here, value, certain, likely):
                        certain, likely = here, value
            given[members, t, _SURE] = certain
            given[members, t, _LIKELY] = likely
    total = weights.sum()
    score = -1.0
    order = np.arange(d)
    sums = np.empty(n_sets, np.int64)
    last = np.empty(n_sets, np.int64)
    for first in range(d):
        sums[:] = -1
        sums[1 << first] = 0
        for members in range(1 << first, n_sets):
            if sums[members] < 0:
                continue
            for t in range(d):
                after = members | (1 << t)
                if after != members and sums[members] + given[members, t, _LIKELY] > sums[after]:
                    sums[after] = sums[members] + given[members, t, _LIKELY]
                    last[after] = t
        whole = total - weights[first]
        here = float64(sums[n_sets - 1]) / float64(whole) if whole > 0 else 0.0
        if here > score:
            score = here
            members = n_sets - 1
            for at in range(d - 1, 0, -1):
                order[at] = last[members]
                members ^= 1 << last[members]
            order[0] = first
    return score, order


@kernel(types.void(types.int64[:, ::1], int64, int64, int64))
def _improve(best, column, certain, likely):
    """Take over what another condition adds to a column, if it is to be preferred."""
    if _is_better(certain, likely, best[column, _SURE], best[column, _LIKELY]):
        best[column, _SURE] = certain
        best[column, _LIKELY] = likely


@kernel(_ORDERED(_PARTS, _NUMBERS))
def order_of_least_regret(parts, weights):
    """Return a high score, and its order: next comes the column that loses least by not waiting.

    Parameters are those of `best_of_all_orders`.
    """
    by_one, by_two = parts
    d = weights.size
    full = np.zeros((d, 2), np.int64)
    for t in range(d):
        for a in range(d):
            _improve(full, t, by_one[t, a, _SURE], by_one[t, a, _LIKELY])
            for b in range(a + 1, d if by_two.size > 0 else 0):
                _improve(full, t, by_two[t, a, b, _SURE], by_two[t, a, b, _LIKELY])
    total = weights.sum()
    score = -1.0
    best = np.arange(d)
    order = np.empty(d, np.int64)
    firsts = np.argsort(full[:, _LIKELY], kind="mergesort")[:MOST_FIRST]
    for first in firsts:
        order[0] = first
        left = np.ones(d, np.bool_)
        left[first] = False
        now = by_one[:, first].copy()
        added = 0
        for number in range(1, d):
            t = -1
            least = 0
            for u in range(d):
                if left[u]:
                    regret = full[u, _LIKELY] - now[u, _LIKELY]
                    if t < 0 or regret < least:
                        t = u
                        least = regret
            added += now[t, _LIKELY]
            left[t] = False
            order[number] = t
            for u in range(d):
                if left[u] and now[u, _SURE] < full[u, _SURE]:
                    _improve(now, u, by_one[u, t, _SURE], by_one[u, t, _LIKELY])
                    for at in range(number if by_two.size > 0 else 0):
                        other = order[at]
                        _improve(now, u, by_two[u, t, other, _SURE], by_two[u, t, other, _LIKELY])
        whole = total - weights[first]
        here = float64(added) / float64(whole) if whole > 0 else 0.0
        if here > score:
            score = here
            best[:] = order
    return score, best


@kernel(_ORDERED(_PARTS, _NUMBERS))
def best_order(parts, weights):
    """Return the score and the order of a set, from the parts that its columns may add."""
    if weights.size <= MOST_EXACT:
        return best_of_all_orders(parts, weights)
    return order_of_least_regret(parts, weights)


@kernel(_PARTS(_NUMBERS, types.boolean, KNOWN, FLOATS, NULLS, float64))
def parts_of(columns, with_pairs, known, weights, nulls, deviations):
    """Return what each column of a set adds, by the one or two that explain it.

    Parameters
    ----------
    columns : of the set
    with_pairs : whether two may explain together
    known : the hash table of all that is known
    weights, nulls : of all columns of the table
    deviations : how far out the noise level is

    """
    d = columns.size
    wide = d if with_pairs else 0
    by_one = np.zeros((d, d, 2), np.int64)
    by_two = np.zeros((wide, wide, wide, 2), np.int64)
    for t in range(d):
        target = columns[t]
        weight = weights[target]
        for a in range(d):
            for b in range(a, max(wide, a + 1)):
                if a == t or b == t:
                    continue
                certain, likely = known_strength(
                    known, target, columns[a], columns[b], nulls, deviations
                )
                if a == b:
                    by_one[t, a, _SURE] = as_whole(weight * certain)
                    by_one[t, a, _LIKELY] = as_whole(weight * likely)
                else:
                    by_two[t, a, b, _SURE] = as_whole(weight * certain)
                    by_two[t, a, b, _LIKELY] = as_whole(weight * likely)
                    by_two[t, b, a] = by_two[t, a, b]
    return by_one, by_two


@kernel(types.float64[::1](_SETS, types.boolean, _FLAGS, KNOWN, FLOATS, NULLS, FLOATS))
def score_sets(sets, with_pairs, varies, known, weights, nulls, deviations):
    """Return the score of each set from what is known of its columns.

    ``deviations`` is how far out the noise level is, by number of columns that vary.
    """
    scores = np.zeros(len(sets))
    wholes = np.empty(weights.size, np.int64)
    for column in range(weights.size):
        wholes[column] = as_whole(weights[column])
    for k in range(len(sets)):
        columns = np.empty(sets.shape[1], np.int64)
        d = 0
        for column in sets[k]:
            if varies[column]:
                columns[d] = column
                d += 1
        if d >= 2:
            columns = columns[:d].copy()
            parts = parts_of(columns, with_pairs, known, weights, nulls, deviations[d])
            scores[k], _ = best_order(parts, wholes[columns])
    return scores


@kernel(types.float64[::1](int64, _SETS, types.boolean, _FLAGS, KNOWN, FLOATS, NULLS, FLOATS))
def score_sets_toward(target, sets, with_pairs, varies, known, weights, nulls, deviations):
    """Return how much of the target each set explains, from what is known of its columns."""
    scores = np.zeros(len(sets))
    size = sets.shape[1]
    weight = weights[target]
    for k in range(len(sets)):
        d = 1
        for column in sets[k]:
            d += varies[column]
        most = 0.0
        for a in range(size):
            for b in range(a, size if with_pairs else a + 1):
                certain, likely = known_strength(
                    known, target, sets[k, a], sets[k, b], nulls, deviations[d]
                )
                if certain > most or (certain == most and likely > scores[k]):
                    most = certain
                    scores[k] = likely
        # Rounded as in the score of a set.
        if weight > 0.0:
            scores[k] = float64(as_whole(weight * scores[k])) / float64(as_whole(weight))
    return scores
