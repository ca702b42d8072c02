"""The order of columns in which they explain most of each other.

What a column adds to the score of a set, its weight times how much of it is explained, is a whole
multiple of 2^-44 here: sums and comparisons are then exact, do not depend on the order in which
the columns come, and rounding elsewhere does not change them.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.jit import FLOATS, SETS, WHOLES, kernel, part
from covary.kernels.strengths import KNOWN, NULLS, known_strength

_PARTS = types.Tuple((types.int64[:, :, ::1], types.int64[:, :, :, ::1]))
# Of what a column adds to a score, the first is compared and the second is added.
_SURE = 0
_LIKELY = 1
_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
_ORDERED = types.Tuple((float64, types.int64[::1]))

# All orders are tried, in effect, up to this many columns.
MOST_EXACT = 12
# Beyond that, as many columns as this are tried as the first.
MOST_FIRST = 64
# And columns are moved to better places up to this many.
MOST_MOVED = 64
ATTEMPTS = 8
UNIT = 2.0**-44


@part
def as_whole(number):
    """Return a number in multiples of the unit."""
    return int64(np.rint(number / UNIT))


@part
def _is_better(certain, likely, than_certain, than_likely):
    """Return whether one condition is to be preferred to another: by what it adds for sure."""
    return certain > than_certain or (certain == than_certain and likely > than_likely)


@part
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


@part
def _improve(best, column, certain, likely):
    """Take over what another condition adds to a column, if it is to be preferred."""
    if _is_better(certain, likely, best[column, _SURE], best[column, _LIKELY]):
        best[column, _SURE] = certain
        best[column, _LIKELY] = likely


@part
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
    # Those first that cost least by not being explained: at best, this score is left.
    left_over = np.empty(d)
    for t in range(d):
        whole = float64(total - weights[t])
        left_over[t] = float64(full[:, _LIKELY].sum() - full[t, _LIKELY]) / max(whole, 1.0)
    firsts = np.argsort(-left_over, kind="mergesort")[:MOST_FIRST]
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


@part
def _improve_by(best, at, t, others, n_others, parts):
    """Take over what column t adds if the last of some others explains it, alone or with one."""
    by_one, by_two = parts
    last = others[n_others - 1]
    _improve(best, at, by_one[t, last, _SURE], by_one[t, last, _LIKELY])
    for k in range(n_others - 1 if by_two.size > 0 else 0):
        other = others[k]
        _improve(best, at, by_two[t, last, other, _SURE], by_two[t, last, other, _LIKELY])


@part
def _best_place(order, column, parts, weights):
    """Return the highest score with this column at any place, and the order."""
    by_one, by_two = parts
    d = order.size
    rest = order[order != column]
    without = np.zeros((d, 2), np.int64)  # what the others add if the column comes after them
    own = np.zeros((d, 2), np.int64)  # what the column adds, by place
    for at in range(d - 1):
        for n_before in range(1, at + 1):
            _improve_by(without, at, rest[at], rest, n_before, parts)
        own[at + 1] = own[at]
        _improve_by(own, at + 1, column, rest, at + 1, parts)
    behind = without.copy()  # what they add if it comes before them
    for at in range(d - 1):
        t = rest[at]
        _improve(behind, at, by_one[t, column, _SURE], by_one[t, column, _LIKELY])
        for k in range(at if by_two.size > 0 else 0):
            other = rest[k]
            _improve(
                behind, at, by_two[t, column, other, _SURE], by_two[t, column, other, _LIKELY]
            )
    total = weights.sum()
    added = behind[: d - 1, _LIKELY].sum()
    score = -1.0
    best = 0
    for place in range(d):
        whole = total - weights[column if place == 0 else rest[0]]
        here = float64(added + own[place, _LIKELY]) / float64(whole) if whole > 0 else 0.0
        if here > score:
            score = here
            best = place
        added += without[place, _LIKELY] - behind[place, _LIKELY]
    placed = np.empty(d, np.int64)
    placed[:best] = rest[:best]
    placed[best] = column
    placed[best + 1 :] = rest[best:]
    return score, placed


@part
def improved_order(parts, weights, order, score):
    """Return a score that is no lower, and its order: columns are moved while that helps.

    From the best order so far, turned and read backwards, it is tried again a few times, which
    leads out of many a dead end.
    """
    d = order.size
    best = order.copy()
    for attempt in range(ATTEMPTS):
        now = best.copy()
        reached = score
        if attempt > 0:
            turn = attempt // 2 * d // (ATTEMPTS // 2)
            now = np.concatenate((best[turn:], best[:turn]))
            now = now[::-1].copy() if attempt % 2 == 1 else now
            reached = -1.0
        helped = True
        while helped:
            helped = False
            for column in now:
                here, placed = _best_place(now, column, parts, weights)
                if here > reached:
                    now, reached = placed, here
                    helped = True
        if reached > score or attempt == 0:
            best, score = now, reached
    return score, best


@part
def _by_contents(parts, weights):
    """Return the columns in an order that does not depend on how they are numbered.

    They are sorted by weight and by sums of what they add and make others add; columns that are
    alike in all of those will seldom differ in any other way.
    """
    by_one, by_two = parts
    d = len(by_one)
    sums = np.zeros((5, d), np.int64)
    sums[4] = weights
    for t in range(d):
        for a in range(d):
            sums[0, t] += by_one[t, a, _LIKELY]
            sums[1, a] += by_one[t, a, _LIKELY]
            for b in range(d if by_two.size > 0 else 0):
                sums[2, t] += by_two[t, a, b, _LIKELY] >> 8
                sums[3, a] += by_two[t, a, b, _LIKELY] >> 8
    order = np.arange(d)
    for key in sums:
        order = order[np.argsort(key[order], kind="mergesort")]
    return order


@kernel(_ORDERED(_PARTS, WHOLES))
def best_order(parts, weights):
    """Return the score and the order of a set, from the parts that its columns may add."""
    if weights.size <= MOST_EXACT:
        return best_of_all_orders(parts, weights)
    by_one, by_two = parts
    places = _by_contents(parts, weights)
    by_one = np.ascontiguousarray(by_one[places][:, places])
    if by_two.size > 0:
        sorted_two = np.empty_like(by_two)
        for t in range(places.size):
            for a in range(places.size):
                for b in range(places.size):
                    sorted_two[t, a, b] = by_two[places[t], places[a], places[b]]
        by_two = sorted_two
    score, order = order_of_least_regret((by_one, by_two), weights[places])
    if places.size <= MOST_MOVED:
        score, order = improved_order((by_one, by_two), weights[places], order, score)
    return score, places[order]


@kernel(_PARTS(WHOLES, types.boolean, KNOWN, FLOATS, NULLS, float64))
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


@kernel(types.float64[::1](SETS, types.boolean, _FLAGS, KNOWN, FLOATS, NULLS, FLOATS))
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


@kernel(types.float64[::1](int64, SETS, types.boolean, _FLAGS, KNOWN, FLOATS, NULLS, FLOATS))
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
