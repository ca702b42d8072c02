"""A hash table of explained fractions, by target and conditions.

The keys combine the numbers of the target and of its one or two conditions. The values are the
explained fraction and the degrees of freedom of the best grid.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, types

from covary.kernels.shared.jit import COLUMN_SETS, FLOATS_2D, INTEGERS, kernel, subkernel
from covary.kernels.uds_chance.explained import NULLS, lower_bound, noise_level, shrunken

# The keys and values of a table. The number of slots is a power of two.
STORED = types.Tuple((INTEGERS, FLOATS_2D))

# The key of an empty slot.
EMPTY = -1


@subkernel
def key_of(target, one, other, n_columns):
    """Return the key of a target and its conditions, in either order."""
    low = min(one, other)
    return (target * n_columns + low) * n_columns + max(one, other)


@subkernel
def slot_of(keys, key):
    """Return the slot of a key, or the empty slot where it belongs (linear probing)."""
    mask = keys.size - 1
    hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = int64(hashed >> np.uint64(32)) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@kernel(types.void(types.int64[::1], types.float64[:, ::1], INTEGERS, FLOATS_2D))
def insert(keys, values, new_keys, new_values):
    """Insert new keys and values. The table must have enough empty slots."""
    for k in range(new_keys.size):
        slot = slot_of(keys, new_keys[k])
        keys[slot] = new_keys[k]
        values[slot, 0] = new_values[k, 0]
        values[slot, 1] = new_values[k, 1]


@kernel(types.int64[::1](INTEGERS, COLUMN_SETS, int64, boolean, int64))
def missing_keys(keys, sets, n_columns, with_pairs, target):
    """Return the sorted keys that the scores of some sets need and the table does not have.

    Parameters
    ----------
    keys : the keys of the table
    sets : the columns of each set, shape (sets, columns of a set)
    n_columns : the number of columns of the data
    with_pairs : whether two conditions may explain a target together
    target : the only target, or -1 if each column of a set is a target

    """
    size = sets.shape[1]
    per_set = size + (size * (size - 1) // 2 if with_pairs else 0)
    per_set *= size if target < 0 else 1
    missing = np.empty(len(sets) * per_set, np.int64)
    n_missing = 0
    for k in range(len(sets)):
        columns = sets[k]
        for t in range(size if target < 0 else 1):
            explained = columns[t] if target < 0 else target
            for a in range(size):
                if columns[a] == explained:
                    continue
                for b in range(a, size if with_pairs else a + 1):
                    if columns[b] == explained:
                        continue
                    key = key_of(explained, columns[a], columns[b], n_columns)
                    if keys[slot_of(keys, key)] != key:
                        missing[n_missing] = key
                        n_missing += 1
    return np.unique(missing[:n_missing])


@kernel(types.UniTuple(float64, 2)(STORED, int64, int64, int64, NULLS, float64))
def stored_strength(stored, target, one, other, nulls, deviations):
    """Return the lower bound and the shrunken estimate of an explained fraction.

    Conditions are selected by the lower bound. The estimate is reported. Both are 0 if the table
    has no entry.

    Parameters
    ----------
    stored : the keys and values of the table
    target, one, other : the target and its conditions; one condition is given twice
    nulls : scales, variances and skewnesses of the null distributions of all columns
    deviations : the noise level, in standard deviations of a normal variable

    """
    keys, values = stored
    units, variances, skewnesses = nulls
    key = key_of(target, one, other, units.size)
    slot = slot_of(keys, key)
    if keys[slot] != key or values[slot, 1] <= 0.0:
        return 0.0, 0.0
    level = noise_level(
        values[slot, 1], units[target], variances[target], skewnesses[target], deviations
    )
    bound = lower_bound(values[slot, 0], level, units[target] * values[slot, 1])
    return max(bound, 0.0), shrunken(values[slot, 0], level)
