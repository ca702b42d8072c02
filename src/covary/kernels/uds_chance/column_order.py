"""The order of the columns of a set that maximises its score.

The contribution of a column to the score is its weight times its explained fraction. Contributions
are integer multiples of 2^-44, so that sums and comparisons are exact and do not depend on the
order of the columns. Rounding errors in the explained fractions are too small to change them.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import (
    COLUMN_SETS,
    FLOATS,
    INTEGERS,
    kernel,
    read_only,
    subkernel,
)
from covary.kernels.uds_chance.explained import NULLS
from covary.kernels.uds_chance.strength_table import STORED, stored_strength

_CONTRIBUTIONS = types.Tuple((types.int64[:, :, ::1], types.int64[:, :, :, ::1]))
_BOOLEANS = read_only(types.boolean)
_SCORE_AND_ORDER = types.Tuple((float64, types.int64[::1]))

# Positions on the last axis of the contributions. Conditions are selected by the lower bound, and
# the score is the sum of the estimates.
_BOUND = 0
_ESTIMATE = 1

# Up to this number of columns, the order is optimal.
MAX_EXACT = 12
# In larger sets, this number of columns is tried in the first place.
MAX_FIRST = 64
# Up to this number of columns, a greedy order is improved by moving columns.
MAX_MOVED = 64
ATTEMPTS = 8
UNIT = 2.0**-44


@subkernel
def as_whole(number):
    """Return a number as an integer multiple of the unit."""
    return int64(np.rint(number / UNIT))


@subkernel
def _is_better(bound, estimate, best_bound, best_estimate):
    """Return whether a condition has the larger lower bound, or with equal bounds the estimate."""
    return bound > best_bound or (bound == best_bound and estimate > best_estimate)


@subkernel
def best_of_all_orders(contributions, weights):
    """Return the maximal score over all orders, and its order: a dynamic program over subsets.

    Parameters
    ----------
    contributions : the contribution of column t given column a, at [t, a], and given the columns a
        and b, at [t, a, b], each as lower bound and estimate; the second array is empty if two
        columns must not explain a column together
    weights : the contribution of each column if it is fully explained

    """
    by_one, by_two = contributions
    d = weights.size
    n_subsets = 1 << d
    given = np.zeros((n_subsets, d, 2), np.int64)  # contribution of a column given a subset
    for members in range(1, n_subsets):
        low = 0
        while not (members >> low) & 1:
            low += 1
        rest = members & (members - 1)
        for t in range(d):
            if (members >> t) & 1:
                continue
            bound, estimate = given[rest, t, _BOUND], given[rest, t, _ESTIMATE]
            new, new_estimate = by_one[t, low, _BOUND], by_one[t, low, _ESTIMATE]
            if _is_better(new, new_estimate, bound, estimate):
                bound, estimate = new, new_estimate
            for other in range(low + 1, d if by_two.size > 0 else 0):
                if (rest >> other) & 1:
                    new = by_two[t, low, other, _BOUND]
                    new_estimate = by_two[t, low, other, _ESTIMATE]
                    if _is_better(new, new_estimate, bound, estimate):
                        bound, estimate = new, new_estimate
            given[members, t, _BOUND] = bound
            given[members, t, _ESTIMATE] = estimate
    total = weights.sum()
    score = -1.0
    order = np.arange(d)
    sums = np.empty(n_subsets, np.int64)  # best sum over the orders of a subset
    last = np.empty(n_subsets, np.int64)  # last column of the best order of a subset
    for first in range(d):
        sums[:] = -1
        sums[1 << first] = 0
        for members in range(1 << first, n_subsets):
            if sums[members] < 0:
                continue
            for t in range(d):
                after = members | (1 << t)
                if after != members and sums[members] + given[members, t, _ESTIMATE] > sums[after]:
                    sums[after] = sums[members] + given[members, t, _ESTIMATE]
                    last[after] = t
        whole = total - weights[first]
        new = float64(sums[n_subsets - 1]) / float64(whole) if whole > 0 else 0.0
        if new > score:
            score = new
            members = n_subsets - 1
            for at in range(d - 1, 0, -1):
                order[at] = last[members]
                members ^= 1 << last[members]
            order[0] = first
    return score, order


@subkernel
def _improve(best, column, bound, estimate):
    """Replace the best contribution of a column if another condition is better."""
    if _is_better(bound, estimate, best[column, _BOUND], best[column, _ESTIMATE]):
        best[column, _BOUND] = bound
        best[column, _ESTIMATE] = estimate


@subkernel
def order_of_least_regret(contributions, weights):
    """Return the score and the order of a greedy search by least regret.

    The regret of a column is its contribution given all columns minus its contribution given the
    columns before it. The search appends the column with the least regret, and is repeated with
    different first columns. The parameters are those of `best_of_all_orders`.
    """
    by_one, by_two = contributions
    d = weights.size
    given_all = np.zeros((d, 2), np.int64)
    for t in range(d):
        for a in range(d):
            _improve(given_all, t, by_one[t, a, _BOUND], by_one[t, a, _ESTIMATE])
            for b in range(a + 1, d if by_two.size > 0 else 0):
                _improve(given_all, t, by_two[t, a, b, _BOUND], by_two[t, a, b, _ESTIMATE])
    total = weights.sum()
    score = -1.0
    best = np.arange(d)
    order = np.empty(d, np.int64)
    # The first column is not explained. Try the columns with the largest upper bound of the score.
    score_limit = np.empty(d)
    for t in range(d):
        whole = float64(total - weights[t])
        score_limit[t] = float64(given_all[:, _ESTIMATE].sum() - given_all[t, _ESTIMATE]) / max(
            whole, 1.0
        )
    firsts = np.argsort(-score_limit, kind="mergesort")[:MAX_FIRST]
    for first in firsts:
        order[0] = first
        remaining = np.ones(d, np.bool_)
        remaining[first] = False
        now = by_one[:, first].copy()
        added = 0
        for number in range(1, d):
            t = -1
            least = 0
            for u in range(d):
                if remaining[u]:
                    regret = given_all[u, _ESTIMATE] - now[u, _ESTIMATE]
                    if t < 0 or regret < least:
                        t = u
                        least = regret
            added += now[t, _ESTIMATE]
            remaining[t] = False
            order[number] = t
            for u in range(d):
                if remaining[u] and now[u, _BOUND] < given_all[u, _BOUND]:
                    _improve(now, u, by_one[u, t, _BOUND], by_one[u, t, _ESTIMATE])
                    for at in range(number if by_two.size > 0 else 0):
                        other = order[at]
                        _improve(
                            now, u, by_two[u, t, other, _BOUND], by_two[u, t, other, _ESTIMATE]
                        )
        whole = total - weights[first]
        new = float64(added) / float64(whole) if whole > 0 else 0.0
        if new > score:
            score = new
            best[:] = order
    return score, best


@subkernel
def _improve_by(best, at, t, others, n_others, contributions):
    """Improve the contribution of column t by the last of ``others``, alone or with another."""
    by_one, by_two = contributions
    last = others[n_others - 1]
    _improve(best, at, by_one[t, last, _BOUND], by_one[t, last, _ESTIMATE])
    for k in range(n_others - 1 if by_two.size > 0 else 0):
        other = others[k]
        _improve(best, at, by_two[t, last, other, _BOUND], by_two[t, last, other, _ESTIMATE])


@subkernel
def _best_place(order, column, contributions, weights):
    """Return the maximal score over all places of one column, and the order."""
    by_one, by_two = contributions
    d = order.size
    rest = order[order != column]
    without = np.zeros((d, 2), np.int64)  # contributions of the rest, placed before the column
    own = np.zeros((d, 2), np.int64)  # contribution of the column at each place
    for at in range(d - 1):
        for n_before in range(1, at + 1):
            _improve_by(without, at, rest[at], rest, n_before, contributions)
        own[at + 1] = own[at]
        _improve_by(own, at + 1, column, rest, at + 1, contributions)
    behind = without.copy()  # contributions of the rest, placed after the column
    for at in range(d - 1):
        t = rest[at]
        _improve(behind, at, by_one[t, column, _BOUND], by_one[t, column, _ESTIMATE])
        for k in range(at if by_two.size > 0 else 0):
            other = rest[k]
            _improve(
                behind, at, by_two[t, column, other, _BOUND], by_two[t, column, other, _ESTIMATE]
            )
    total = weights.sum()
    added = behind[: d - 1, _ESTIMATE].sum()
    score = -1.0
    best = 0
    for place in range(d):
        whole = total - weights[column if place == 0 else rest[0]]
        new = float64(added + own[place, _ESTIMATE]) / float64(whole) if whole > 0 else 0.0
        if new > score:
            score = new
            best = place
        added += without[place, _ESTIMATE] - behind[place, _ESTIMATE]
    placed = np.empty(d, np.int64)
    placed[:best] = rest[:best]
    placed[best] = column
    placed[best + 1 :] = rest[best:]
    return score, placed


@subkernel
def improved_order(contributions, weights, order, score):
    """Return a score that is not lower, and its order: move single columns while this helps.

    The search restarts a few times from rotated and reversed versions of the best order, to escape
    local maxima.
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
        improved = True
        while improved:
            improved = False
            for column in now:
                new, placed = _best_place(now, column, contributions, weights)
                if new > reached:
                    now, reached = placed, new
                    improved = True
        if reached > score or attempt == 0:
            best, score = now, reached
    return score, best


@subkernel
def _by_contents(contributions, weights):
    """Return the columns in an order that does not depend on their numbers.

    They are sorted by their weights and by sums of contributions. Columns with the same values of
    all five keys are almost always interchangeable.
    """
    by_one, by_two = contributions
    d = len(by_one)
    sums = np.zeros((5, d), np.int64)
    sums[4] = weights
    for t in range(d):
        for a in range(d):
            sums[0, t] += by_one[t, a, _ESTIMATE]
            sums[1, a] += by_one[t, a, _ESTIMATE]
            for b in range(d if by_two.size > 0 else 0):
                sums[2, t] += by_two[t, a, b, _ESTIMATE] >> 8
                sums[3, a] += by_two[t, a, b, _ESTIMATE] >> 8
    order = np.arange(d)
    for key in sums:
        order = order[np.argsort(key[order], kind="mergesort")]
    return order


@kernel(_SCORE_AND_ORDER(_CONTRIBUTIONS, INTEGERS))
def best_order(contributions, weights):
    """Return the score and the order of a set. The parameters are those of `best_of_all_orders`.

    The order is optimal for up to ``MAX_EXACT`` columns, and approximate for more.
    """
    if weights.size <= MAX_EXACT:
        return best_of_all_orders(contributions, weights)
    by_one, by_two = contributions
    places = _by_contents(contributions, weights)
    by_one = np.ascontiguousarray(by_one[places][:, places])
    if by_two.size > 0:
        sorted_two = np.empty_like(by_two)
        for t in range(places.size):
            for a in range(places.size):
                for b in range(places.size):
                    sorted_two[t, a, b] = by_two[places[t], places[a], places[b]]
        by_two = sorted_two
    score, order = order_of_least_regret((by_one, by_two), weights[places])
    if places.size <= MAX_MOVED:
        score, order = improved_order((by_one, by_two), weights[places], order, score)
    return score, places[order]


@kernel(_CONTRIBUTIONS(INTEGERS, types.boolean, STORED, FLOATS, NULLS, float64))
def contributions_of(columns, with_pairs, stored, weights, nulls, deviations):
    """Return the contributions of the columns of a set, see `best_of_all_orders`.

    Parameters
    ----------
    columns : the columns of the set
    with_pairs : whether two columns may explain a column together
    stored : the table of explained fractions
    weights, nulls : weights and null distributions of all columns of the data
    deviations : the noise level, in standard deviations of a normal variable

    """
    d = columns.size
    n_paired = d if with_pairs else 0
    by_one = np.zeros((d, d, 2), np.int64)
    by_two = np.zeros((n_paired, n_paired, n_paired, 2), np.int64)
    for t in range(d):
        target = columns[t]
        weight = weights[target]
        for a in range(d):
            for b in range(a, max(n_paired, a + 1)):
                if a == t or b == t:
                    continue
                bound, estimate = stored_strength(
                    stored, target, columns[a], columns[b], nulls, deviations
                )
                if a == b:
                    by_one[t, a, _BOUND] = as_whole(weight * bound)
                    by_one[t, a, _ESTIMATE] = as_whole(weight * estimate)
                else:
                    by_two[t, a, b, _BOUND] = as_whole(weight * bound)
                    by_two[t, a, b, _ESTIMATE] = as_whole(weight * estimate)
                    by_two[t, b, a] = by_two[t, a, b]
    return by_one, by_two


@kernel(types.float64[::1](COLUMN_SETS, types.boolean, _BOOLEANS, STORED, FLOATS, NULLS, FLOATS))
def score_sets(sets, with_pairs, varies, stored, weights, nulls, deviations):
    """Return the score of each set. The table must have all explained fractions of the sets.

    Parameters
    ----------
    sets : the columns of each set, shape (sets, columns of a set)
    with_pairs, stored, weights, nulls : as for `contributions_of`
    varies : whether each column of the data has more than one value
    deviations : the noise level for each number of columns that vary

    """
    scores = np.zeros(len(sets))
    whole_weights = np.empty(weights.size, np.int64)
    for column in range(weights.size):
        whole_weights[column] = as_whole(weights[column])
    for k in range(len(sets)):
        columns = np.empty(sets.shape[1], np.int64)
        d = 0
        for column in sets[k]:
            if varies[column]:
                columns[d] = column
                d += 1
        if d >= 2:
            columns = columns[:d].copy()
            contributions = contributions_of(
                columns, with_pairs, stored, weights, nulls, deviations[d]
            )
            scores[k], _ = best_order(contributions, whole_weights[columns])
    return scores


@kernel(
    types.float64[::1](int64, COLUMN_SETS, types.boolean, _BOOLEANS, STORED, FLOATS, NULLS, FLOATS)
)
def score_sets_with_target(target, sets, with_pairs, varies, stored, weights, nulls, deviations):
    """Return the explained fraction of the target given each set.

    The other parameters are those of `score_sets`.
    """
    scores = np.zeros(len(sets))
    size = sets.shape[1]
    weight = weights[target]
    for k in range(len(sets)):
        d = 1
        for column in sets[k]:
            d += varies[column]
        best_bound = 0.0
        for a in range(size):
            for b in range(a, size if with_pairs else a + 1):
                bound, estimate = stored_strength(
                    stored, target, sets[k, a], sets[k, b], nulls, deviations[d]
                )
                if bound > best_bound or (bound == best_bound and estimate > scores[k]):
                    best_bound = bound
                    scores[k] = estimate
        # Round as in the score of a set.
        if weight > 0.0:
            scores[k] = float64(as_whole(weight * scores[k])) / float64(as_whole(weight))
    return scores
