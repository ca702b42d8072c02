"""The contributions of the columns of a set to its score, from stored and refined strengths."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import (
    COLUMN_SETS,
    FLOATS,
    FLOATS_2D,
    INTEGERS,
    kernel,
    read_only,
    subkernel,
)
from covary.kernels.uds_chance.column_order import (
    BOUND,
    CONTRIBUTIONS,
    ESTIMATE,
    as_whole,
    best_order,
)
from covary.kernels.uds_chance.explained import NULLS
from covary.kernels.uds_chance.strength_table import (
    STORED,
    best_stored,
    n_conditions,
    strength_of,
    worthwhile_strength,
)

_BOOLEANS = read_only(types.boolean)
# Conditions that are not in the table: targets, columns (-1 if there are fewer), explained
# fractions with degrees of freedom and null distributions, see `strength_of`.
_REFINED = types.Tuple((INTEGERS, read_only(types.int64, 2), FLOATS_2D))


@kernel(CONTRIBUTIONS(INTEGERS, int64, STORED, _REFINED, FLOATS, NULLS, float64))
def contributions_of(columns, most, stored, refined, weights, nulls, deviations):
    """Return the contributions of the columns of a set, see `best_of_all_orders`.

    Parameters
    ----------
    columns : the columns of the set
    most : the largest number of columns of a condition in the table
    stored : the table of explained fractions
    refined : more conditions: targets and columns by their positions in the set, ascending by
        target, and their explained fractions, see `strength_of`
    weights, nulls : weights and null distributions of all columns of the data
    deviations : the noise level, in standard deviations of a normal variable

    """
    d = columns.size
    n_paired = d if most > 1 else 0
    by_one = np.zeros((d, d, 2), np.int64)
    by_two = np.zeros((n_paired, n_paired, n_paired, 2), np.int64)
    targets, conditions, fractions = refined
    n_triples = n_conditions(d - 1, most) - n_conditions(d - 1, min(most, 2))
    starts = np.zeros(d + 1, np.int64)
    members = np.full((targets.size + d * n_triples, max(conditions.shape[1], 3)), -1)
    by_others = np.zeros((len(members), 2), np.int64)
    at = 0
    next_refined = 0
    for t in range(d):
        target = columns[t]
        weight = weights[target]
        for a in range(d):
            for b in range(a, max(n_paired, a + 1)):
                for c in range(b, d if most > 2 and b > a else b + 1):
                    if t in (a, b, c):
                        continue
                    bound, estimate = worthwhile_strength(
                        stored, target, columns[a], columns[b], columns[c], nulls, deviations
                    )
                    if a == b:
                        by_one[t, a, BOUND] = as_whole(weight * bound)
                        by_one[t, a, ESTIMATE] = as_whole(weight * estimate)
                    elif b == c:
                        by_two[t, a, b, BOUND] = as_whole(weight * bound)
                        by_two[t, a, b, ESTIMATE] = as_whole(weight * estimate)
                        by_two[t, b, a] = by_two[t, a, b]
                    elif bound > 0.0:
                        members[at, 0], members[at, 1], members[at, 2] = a, b, c
                        by_others[at, BOUND] = as_whole(weight * bound)
                        by_others[at, ESTIMATE] = as_whole(weight * estimate)
                        at += 1
        while next_refined < targets.size and targets[next_refined] == t:
            bound, estimate = strength_of(fractions[next_refined], deviations)
            for i in range(conditions.shape[1]):
                members[at, i] = conditions[next_refined, i]
            by_others[at, BOUND] = as_whole(weight * bound)
            by_others[at, ESTIMATE] = as_whole(weight * estimate)
            at += 1
            next_refined += 1
        starts[t + 1] = at
    return by_one, by_two, starts, members[:at].copy(), by_others[:at].copy()


@subkernel
def _varying(columns, varies, without):
    """Return those of the columns that vary, without one."""
    kept = np.empty(columns.size, np.int64)
    n_kept = 0
    for column in columns:
        if varies[column] and column != without:
            kept[n_kept] = column
            n_kept += 1
    return kept[:n_kept].copy()


_SETS = (COLUMN_SETS, int64, int64, _BOOLEANS, STORED, FLOATS, NULLS, FLOATS)


@kernel(types.boolean[::1](*_SETS))
def have_conditions(sets, target, most, varies, stored, weights, nulls, deviations):
    """Return whether each set has a target and at least two columns, one of which explains it.

    The parameters are those of `score_sets`.
    """
    found = np.zeros(len(sets), np.bool_)
    n_targets = sets.shape[1] if target < 0 else 1
    for k in range(len(sets)):
        size = _varying(sets[k], varies, -1).size
        for t in range(n_targets):
            explained = sets[k, t] if target < 0 else target
            others = _varying(sets[k], varies, explained)
            if others.size > 1:
                _, bound, _ = best_stored(stored, explained, others, most, nulls, deviations[size])
                found[k] = found[k] or bound > 0.0
    return found


@kernel(types.float64[::1](*_SETS))
def score_sets(sets, target, most, varies, stored, weights, nulls, deviations):
    """Return the score of each set from the table alone, without refined conditions.

    With a target, it is the explained fraction of the target.

    Parameters
    ----------
    sets : the columns of each set, without the target
    target : the target, or -1
    most, stored, weights, nulls : as for `contributions_of`
    varies : whether each column of the data has more than one value
    deviations : the noise level for each number of columns that vary, without the target

    """
    scores = np.zeros(len(sets))
    nothing = (np.empty(0, np.int64), np.empty((0, 1), np.int64), np.empty((0, 5)))
    for k in range(len(sets)):
        columns = _varying(sets[k], varies, -1)
        if target >= 0:
            weight = weights[target]
            if columns.size > 0 and weight > 0.0:
                _, _, estimate = best_stored(
                    stored, target, columns, most, nulls, deviations[columns.size]
                )
                scores[k] = float64(as_whole(weight * estimate)) / float64(as_whole(weight))
        elif columns.size > 1:
            contributions = contributions_of(
                columns, most, stored, nothing, weights, nulls, deviations[columns.size]
            )
            wholes = np.empty(columns.size, np.int64)
            for at in range(columns.size):
                wholes[at] = as_whole(weights[columns[at]])
            scores[k], _ = best_order(contributions, wholes)
    return scores
