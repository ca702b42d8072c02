"""The order of the columns of a set that maximises its score.

The contribution of a column to the score is its weight times its explained fraction. Contributions
are integer multiples of 2^-44, so that sums and comparisons are exact and do not depend on the
order of the columns. Rounding errors in the explained fractions are too small to change them.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint64

from covary.kernels.shared.jit import INTEGERS, kernel, subkernel

# Contributions by one column, by two columns, and by other conditions: where those of each target
# start, their columns (-1 if there are fewer), and their contributions.
CONTRIBUTIONS = types.Tuple(
    (
        types.int64[:, :, ::1],
        types.int64[:, :, :, ::1],
        types.int64[::1],
        types.int64[:, ::1],
        types.int64[:, ::1],
    )
)
_SCORE_AND_ORDER = types.Tuple((float64, types.int64[::1]))

# Positions on the last axis of the contributions. Conditions are selected by the lower bound, and
# the score is the sum of the estimates.
BOUND = 0
ESTIMATE = 1

# Up to this number of columns, the order is optimal.
MAX_EXACT = 14
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
def _improve(best, column, bound, estimate):
    """Replace the best contribution of a column if another condition is better."""
    if _is_better(bound, estimate, best[column, BOUND], best[column, ESTIMATE]):
        best[column, BOUND] = bound
        best[column, ESTIMATE] = estimate


@kernel(_SCORE_AND_ORDER(CONTRIBUTIONS, INTEGERS))
def best_of_all_orders(contributions, weights):
    """Return the maximal score over all orders, and its order: a dynamic program over subsets.

    Parameters
    ----------
    contributions : the contribution of column t given column a, at [t, a], given the columns a and
        b, at [t, a, b], and given other conditions, each as lower bound and estimate; the second
        array is empty if pairs of columns are not examined
    weights : the contribution of each column if it is fully explained

    """
    by_one, by_two, starts, members, by_others = contributions
    d = weights.size
    n_subsets = 1 << d
    given = np.zeros((n_subsets, d, 2), np.int64)  # contribution of a column given a subset
    for t in range(d):
        for a in range(d):
            given[1 << a, t] = by_one[t, a]
            for b in range(a + 1, d if by_two.size > 0 else 0):
                given[(1 << a) | (1 << b), t] = by_two[t, a, b]
        for k in range(starts[t], starts[t + 1]):
            condition = 0
            for a in members[k]:
                condition |= 1 << a if a >= 0 else 0
            _improve(given[condition], t, by_others[k, BOUND], by_others[k, ESTIMATE])
    for subset in range(1, n_subsets):
        for a in range(d):
            if (subset >> a) & 1:
                smaller = given[subset ^ (1 << a)]
                for t in range(d):
                    _improve(given[subset], t, smaller[t, BOUND], smaller[t, ESTIMATE])
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
                if after != members and sums[members] + given[members, t, ESTIMATE] > sums[after]:
                    sums[after] = sums[members] + given[members, t, ESTIMATE]
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
def _latest_place(members, places):
    """Return the largest place of the columns of a condition."""
    latest = -1
    for a in members:
        if a >= 0:
            latest = max(latest, places[a])
    return latest


@subkernel
def order_of_least_regret(contributions, weights):
    """Return the score and the order of a greedy search by least regret.

    The regret of a column is its contribution given all columns minus its contribution given the
    columns before it. The search appends the column with the least regret, and is repeated with
    different first columns. The parameters are those of `best_of_all_orders`.
    """
    by_one, by_two, starts, members, by_others = contributions
    d = weights.size
    given_all = np.zeros((d, 2), np.int64)
    for t in range(d):
        for a in range(d):
            _improve(given_all, t, by_one[t, a, BOUND], by_one[t, a, ESTIMATE])
            for b in range(a + 1, d if by_two.size > 0 else 0):
                _improve(given_all, t, by_two[t, a, b, BOUND], by_two[t, a, b, ESTIMATE])
        for k in range(starts[t], starts[t + 1]):
            _improve(given_all, t, by_others[k, BOUND], by_others[k, ESTIMATE])
    total = weights.sum()
    score = -1.0
    best = np.arange(d)
    order = np.empty(d, np.int64)
    # The first column is not explained. Try the columns with the largest upper bound of the score.
    score_limit = np.empty(d)
    for t in range(d):
        whole = float64(total - weights[t])
        score_limit[t] = float64(given_all[:, ESTIMATE].sum() - given_all[t, ESTIMATE]) / max(
            whole, 1.0
        )
    firsts = np.argsort(-score_limit, kind="mergesort")[:MAX_FIRST]
    for first in firsts:
        order[0] = first
        places = np.full(d, d, np.int64)  # d for columns without a place
        places[first] = 0
        now = by_one[:, first].copy()
        for u in range(d):
            for k in range(starts[u], starts[u + 1]):
                if _latest_place(members[k], places) == 0:
                    _improve(now, u, by_others[k, BOUND], by_others[k, ESTIMATE])
        added = 0
        for number in range(1, d):
            t = -1
            least = 0
            for u in range(d):
                if places[u] == d:
                    regret = given_all[u, ESTIMATE] - now[u, ESTIMATE]
                    if t < 0 or regret < least:
                        t = u
                        least = regret
            added += now[t, ESTIMATE]
            places[t] = number
            order[number] = t
            for u in range(d):
                if places[u] == d and now[u, BOUND] < given_all[u, BOUND]:
                    _improve(now, u, by_one[u, t, BOUND], by_one[u, t, ESTIMATE])
                    for at in range(number if by_two.size > 0 else 0):
                        other = order[at]
                        _improve(now, u, by_two[u, t, other, BOUND], by_two[u, t, other, ESTIMATE])
                    for k in range(starts[u], starts[u + 1]):
                        if _latest_place(members[k], places) == number:
                            _improve(now, u, by_others[k, BOUND], by_others[k, ESTIMATE])
        whole = total - weights[first]
        new = float64(added) / float64(whole) if whole > 0 else 0.0
        if new > score:
            score = new
            best[:] = order
    return score, best


@subkernel
def _improve_by(best, at, t, others, n_others, contributions):
    """Improve the contribution of column t by the last of ``others``, alone or with another."""
    by_one, by_two, _, _, _ = contributions
    last = others[n_others - 1]
    _improve(best, at, by_one[t, last, BOUND], by_one[t, last, ESTIMATE])
    for k in range(n_others - 1 if by_two.size > 0 else 0):
        other = others[k]
        _improve(best, at, by_two[t, last, other, BOUND], by_two[t, last, other, ESTIMATE])


@subkernel
def _best_place(order, column, contributions, weights):
    """Return the maximal score over all places of one column, and the order."""
    by_one, by_two, starts, members, by_others = contributions
    d = order.size
    rest = order[order != column]
    places = np.empty(d, np.int64)
    places[rest] = np.arange(d - 1)
    places[column] = -1
    without = np.zeros((d, 2), np.int64)  # contributions of the rest, placed before the column
    own = np.zeros((d, 2), np.int64)  # contribution of the column at each place
    for at in range(d - 1):
        for n_before in range(1, at + 1):
            _improve_by(without, at, rest[at], rest, n_before, contributions)
        own[at + 1] = own[at]
        _improve_by(own, at + 1, column, rest, at + 1, contributions)
        for k in range(starts[column], starts[column + 1]):
            if _latest_place(members[k], places) == at:
                _improve(own, at + 1, by_others[k, BOUND], by_others[k, ESTIMATE])
        for k in range(starts[rest[at]], starts[rest[at] + 1]):
            if _latest_place(members[k], places) < at and column not in members[k]:
                _improve(without, at, by_others[k, BOUND], by_others[k, ESTIMATE])
    behind = without.copy()  # contributions of the rest, placed after the column
    for at in range(d - 1):
        t = rest[at]
        _improve(behind, at, by_one[t, column, BOUND], by_one[t, column, ESTIMATE])
        for k in range(at if by_two.size > 0 else 0):
            other = rest[k]
            _improve(
                behind, at, by_two[t, column, other, BOUND], by_two[t, column, other, ESTIMATE]
            )
        for k in range(starts[t], starts[t + 1]):
            if _latest_place(members[k], places) < at:
                _improve(behind, at, by_others[k, BOUND], by_others[k, ESTIMATE])
    total = weights.sum()
    added = behind[: d - 1, ESTIMATE].sum()
    score = -1.0
    best = 0
    for place in range(d):
        whole = total - weights[column if place == 0 else rest[0]]
        new = float64(added + own[place, ESTIMATE]) / float64(whole) if whole > 0 else 0.0
        if new > score:
            score = new
            best = place
        added += without[place, ESTIMATE] - behind[place, ESTIMATE]
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
def _mixed(number):
    """Return an integer whose bits depend on all bits of another one (splitmix64)."""
    number = uint64(number) * uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> uint64(27))) * uint64(0x94D049BB133111EB)
    return number ^ (number >> uint64(31))


@subkernel
def _by_contents(contributions, weights):
    """Return the columns in an order that does not depend on their numbers.

    Each column gets a hash of its weight and of all contributions, together with the hashes of the
    columns that take part in them. Columns with the same hash after three rounds are almost always
    interchangeable.
    """
    by_one, by_two, starts, members, by_others = contributions
    d = len(by_one)
    hashes = np.empty(d, np.uint64)
    for t in range(d):
        hashes[t] = _mixed(weights[t])
    for _ in range(3):
        new = hashes.copy()
        for t in range(d):
            for a in range(d):
                if a == t:
                    continue
                pair = _mixed(by_one[t, a, ESTIMATE]) + _mixed(by_one[t, a, BOUND] + 1)
                new[t] += _mixed(hashes[a] + pair)
                new[a] += _mixed(hashes[t] ^ pair)
                for b in range(a + 1, d if by_two.size > 0 else 0):
                    if b != t:
                        triple = _mixed(by_two[t, a, b, ESTIMATE])
                        triple += _mixed(by_two[t, a, b, BOUND] + 2)
                        new[t] += _mixed(hashes[a] + hashes[b] + triple)
                        new[a] += _mixed(_mixed(hashes[t]) + hashes[b] + triple)
                        new[b] += _mixed(_mixed(hashes[t]) + hashes[a] + triple)
            for k in range(starts[t], starts[t + 1]):
                value = _mixed(by_others[k, ESTIMATE]) + _mixed(by_others[k, BOUND] + 3)
                for a in members[k]:
                    if a >= 0:
                        value += _mixed(hashes[a])
                new[t] += _mixed(value)
                for a in members[k]:
                    if a >= 0:
                        new[a] += _mixed(value ^ _mixed(hashes[t]))
        hashes = new
    return np.argsort(hashes, kind="mergesort")


@kernel(_SCORE_AND_ORDER(CONTRIBUTIONS, INTEGERS))
def best_order(contributions, weights):
    """Return the score and the order of a set. The parameters are those of `best_of_all_orders`.

    The order is optimal for up to ``MAX_EXACT`` columns, and approximate for more.
    """
    if weights.size <= MAX_EXACT:
        return best_of_all_orders(contributions, weights)
    by_one, by_two, starts, members, by_others = contributions
    d = weights.size
    places = _by_contents(contributions, weights)
    by_one = np.ascontiguousarray(by_one[places][:, places])
    if by_two.size > 0:
        sorted_two = np.empty_like(by_two)
        for t in range(d):
            for a in range(d):
                for b in range(d):
                    sorted_two[t, a, b] = by_two[places[t], places[a], places[b]]
        by_two = sorted_two
    numbers = np.empty(d, np.int64)
    numbers[places] = np.arange(d)
    new_starts = np.zeros(d + 1, np.int64)
    new_members = np.full_like(members, -1)
    new_others = np.empty_like(by_others)
    for t in range(d):
        at = new_starts[t]
        for k in range(starts[places[t]], starts[places[t] + 1]):
            for i in range(members.shape[1]):
                if members[k, i] >= 0:
                    new_members[at, i] = numbers[members[k, i]]
            new_others[at] = by_others[k]
            at += 1
        new_starts[t + 1] = at
    contributions = (by_one, by_two, new_starts, new_members, new_others)
    score, order = order_of_least_regret(contributions, weights[places])
    if places.size <= MAX_MOVED:
        score, order = improved_order(contributions, weights[places], order, score)
    return score, places[order]
