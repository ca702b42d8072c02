"""A hash table of explained fractions, by target and conditions.

The keys combine the numbers of the target and of its conditions, up to three columns. The values
are the explained fraction and the degrees of freedom of the best grid. If rows in which a
condition is missing do not count, they are followed by the null distribution of the target in the
other rows: unit, variance and skewness.
"""

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
from covary.kernels.uds_chance.explained import NULLS, lower_bound, noise_level, shrunken

# The keys and values of a table. The number of slots is a power of two.
STORED = types.Tuple((INTEGERS, FLOATS_2D))

# The key of an empty slot.
EMPTY = -1
# A column is worth adding if the explained fraction grows by this fraction of what is unexplained,
# or by this fraction of what is explained, if that is less.
LEAST_GROWTH = 0.02
LEAST_RELATIVE_GROWTH = 0.1
# Tables with more columns have no keys of three conditions: they would not fit into 63 bits.
MAX_COLUMNS_WITH_TRIPLES = 55_000


@subkernel
def key_of(target, a, b, c, n_columns):
    """Return the key of a target and its conditions, in any order; missing ones repeat another."""
    low = min(a, b, c)
    high = max(a, b, c)
    middle = max(min(a, b), min(max(a, b), c))
    if middle == low:
        middle = high
    key = (int64(target) * n_columns + low) * n_columns + middle
    return key * n_columns + high if n_columns <= MAX_COLUMNS_WITH_TRIPLES else key


@subkernel
def slot_of(keys, key):
    """Return the slot of a key, or the empty slot where it belongs (linear probing)."""
    mask = keys.size - 1
    hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = int64(hashed >> np.uint64(32)) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@kernel(
    types.void(
        types.int64[::1], types.float64[:, ::1], read_only(types.int64, 2), int64, FLOATS_2D
    )
)
def insert(keys, values, conditions, n_columns, new_values):
    """Insert conditions and their values. The table must have enough empty slots.

    Parameters
    ----------
    keys, values : the table
    conditions : one line for each: the three conditions, then the target
    n_columns : the number of columns of the data
    new_values : the values, one line for each

    """
    for k in range(len(conditions)):
        line = conditions[k]
        key = key_of(line[3], line[0], line[1], line[2], n_columns)
        slot = slot_of(keys, key)
        keys[slot] = key
        values[slot] = new_values[k]


@kernel(int64(types.int64[::1], types.float64[:, ::1], INTEGERS, FLOATS_2D))
def copy_entries(keys, values, old_keys, old_values):
    """Copy the entries of a table to a larger, empty one; return their number."""
    number = 0
    for k in range(old_keys.size):
        if old_keys[k] != EMPTY:
            slot = slot_of(keys, old_keys[k])
            keys[slot] = old_keys[k]
            values[slot] = old_values[k]
            number += 1
    return number


@subkernel
def n_conditions(n_columns, most):
    """Return the number of conditions of one up to ``most`` columns."""
    number = n_columns
    if most > 1:
        number += n_columns * (n_columns - 1) // 2
    if most > 2:
        number += n_columns * (n_columns - 1) * (n_columns - 2) // 6
    return number


@kernel(types.int64[:, ::1](INTEGERS, COLUMN_SETS, int64, int64, int64))
def missing_conditions(keys, sets, n_columns, most, target):
    """Return the conditions that the scores of some sets need and the table does not have.

    There is one line for each: the three conditions, then the target. Lines may repeat.

    Parameters
    ----------
    keys : the keys of the table
    sets : the columns of each set, shape (sets, columns of a set)
    n_columns : the number of columns of the data
    most : the largest number of conditions that explain a target together, up to three
    target : the only target, or -1 if each column of a set is a target

    """
    size = sets.shape[1]
    n_targets = size if target < 0 else 1
    per_set = n_conditions(size, most) * n_targets
    found = np.empty((len(sets) * per_set, 4), np.int64)
    n_found = 0
    for k in range(len(sets)):
        columns = sets[k]
        for t in range(n_targets):
            explained = columns[t] if target < 0 else target
            for i in range(size):
                for j in range(i, size if most > 1 else i + 1):
                    for m in range(j, size if most > 2 and j > i else j + 1):
                        a, b, c = columns[i], columns[j], columns[m]
                        if explained in (a, b, c):
                            continue
                        key = key_of(explained, a, b, c, n_columns)
                        if keys[slot_of(keys, key)] != key:
                            found[n_found, 0] = min(a, b, c)
                            found[n_found, 2] = max(a, b, c)
                            found[n_found, 1] = a + b + c - found[n_found, 0] - found[n_found, 2]
                            if found[n_found, 1] == found[n_found, 0]:
                                found[n_found, 1] = found[n_found, 2]
                            found[n_found, 3] = explained
                            n_found += 1
    return found[:n_found].copy()


@subkernel
def bound_and_estimate(explained, freedom, unit, variance, skewness, deviations):
    """Return the lower bound and the shrunken estimate of an explained fraction.

    Conditions are selected by the lower bound. The estimate is reported. The parameters are those
    of `covary.kernels.uds_chance.explained.noise_level`.
    """
    if freedom <= 0.0:
        return 0.0, 0.0
    level = noise_level(freedom, unit, variance, skewness, deviations)
    return max(lower_bound(explained, level, unit * freedom), 0.0), shrunken(explained, level)


@kernel(types.UniTuple(float64, 2)(FLOATS, float64))
def strength_of(found, deviations):
    """Return the lower bound and the estimate of an explained fraction.

    ``found`` has the fraction, its degrees of freedom, and unit, variance and skewness of the null
    distribution of the target.
    """
    return bound_and_estimate(found[0], found[1], found[2], found[3], found[4], deviations)


@kernel(types.UniTuple(float64, 2)(STORED, int64, int64, int64, int64, NULLS, float64))
def stored_strength(stored, target, a, b, c, nulls, deviations):
    """Return the lower bound and the estimate of a stored fraction; 0 if there is no entry.

    Parameters
    ----------
    stored : the keys and values of the table
    target, a, b, c : the target and its conditions; fewer than three are repeated
    nulls : scales, variances and skewnesses of the null distributions of all columns
    deviations : the noise level, in standard deviations of a normal variable

    """
    keys, values = stored
    units, variances, skewnesses = nulls
    key = key_of(target, a, b, c, units.size)
    slot = slot_of(keys, key)
    if keys[slot] != key:
        return 0.0, 0.0
    if values.shape[1] > 2:
        return strength_of(values[slot], deviations)
    return bound_and_estimate(
        values[slot, 0],
        values[slot, 1],
        units[target],
        variances[target],
        skewnesses[target],
        deviations,
    )


@subkernel
def is_worth_more(bound, other):
    """Return whether a condition explains enough more than another to be worth another column."""
    growth = min(LEAST_GROWTH * (1.0 - other), LEAST_RELATIVE_GROWTH * other)
    return bound > other + growth


@subkernel
def worthwhile_strength(stored, target, a, b, c, nulls, deviations):
    """Return the same as `stored_strength`; 0 if some of the columns explain almost as much.

    The third column repeats the second one if there are two, and all are the same if there is one.
    """
    bound, estimate = stored_strength(stored, target, a, b, c, nulls, deviations)
    if a == b:
        return bound, estimate
    most = 0.0
    for one in (a, b, c):
        smaller, _ = stored_strength(stored, target, one, one, one, nulls, deviations)
        most = max(most, smaller)
    if b != c:
        for one, other in ((a, b), (a, c), (b, c)):
            smaller, _ = stored_strength(stored, target, one, other, other, nulls, deviations)
            most = max(most, smaller)
    return (bound, estimate) if is_worth_more(bound, most) else (0.0, 0.0)


_FOUND = types.Tuple((types.int64[::1], types.float64, types.float64))


@kernel(_FOUND(STORED, int64, INTEGERS, int64, NULLS, float64))
def best_stored(stored, target, columns, most, nulls, deviations):
    """Return the best stored condition of a target among some columns, its bound and estimate.

    The condition is empty if no bound is positive. Conditions of which some columns explain almost
    as much do not count.
    """
    best = np.empty(0, np.int64)
    best_bound = best_estimate = 0.0
    size = columns.size
    for i in range(size):
        for j in range(i, size if most > 1 else i + 1):
            for m in range(j, size if most > 2 and j > i else j + 1):
                a, b, c = columns[i], columns[j], columns[m]
                bound, estimate = worthwhile_strength(stored, target, a, b, c, nulls, deviations)
                if bound > best_bound or (bound == best_bound and estimate > best_estimate):
                    best_bound, best_estimate = bound, estimate
                    best = np.unique(np.array([a, b, c]))
    return best, best_bound, best_estimate


@kernel(types.float64[::1](STORED, int64, INTEGERS, INTEGERS, int64, NULLS, float64))
def promises(stored, target, condition, others, most, nulls, deviations):
    """Return how much each other column may add to a condition, judged by stored conditions.

    It is the largest difference of the lower bounds with and without the column, over subsets of
    the condition. It is -inf if no bound with the column is positive.

    Parameters
    ----------
    target, condition, others : the target, its condition, and other columns
    stored, most, nulls, deviations : as for `best_stored`

    """
    promised = np.full(others.size, -np.inf)
    size = condition.size
    for k in range(others.size):
        c = others[k]
        bound, _ = stored_strength(stored, target, c, c, c, nulls, deviations)
        if bound > 0.0:
            promised[k] = bound
        for i in range(size if most > 1 else 0):
            for j in range(i, size if most > 2 else i + 1):
                a, b = condition[i], condition[j]
                larger, _ = stored_strength(stored, target, c, a, b, nulls, deviations)
                smaller, _ = stored_strength(stored, target, a, a, b, nulls, deviations)
                if larger > 0.0:
                    promised[k] = max(promised[k], larger - smaller)
    return promised
