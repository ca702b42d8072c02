"""How much of a column another one, or two, explain: the best of all grids, shrunk by chance."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, types

from covary.kernels.gains import COLUMNS, gains_along
from covary.kernels.grids import GRIDS
from covary.kernels.jit import FLOATS, SETS, WHOLES, kernel, part

NULLS = types.UniTuple(FLOATS, 3)

# Grids are chosen as if there was no other condition to choose: two standard deviations.
ALONE = 2.0
_NOTHING = 1e-9
# By what part of a cell's share of the rows the entropy of a normal column is estimated too low,
# beyond that of a uniform one.
LONG_TAIL = 0.2


@part
def noise_level(freedom, unit, variance, skewness, deviations):
    """Return what an explained share does not exceed by chance, so many deviations out.

    The sum of as many independent parts as there are degrees of freedom is taken for a Gamma
    variable of the same mean, variance and skewness (Pearson's type III), and its quantile from
    that of a normal variable as by Wilson and Hilferty.

    Parameters
    ----------
    freedom : degrees of freedom of the grid
    unit, variance, skewness : of the target (`covary.prepare.ranked.Ranked`)
    deviations : of a normal variable that is exceeded as rarely

    """
    skew = skewness / np.sqrt(freedom)
    bend = 1.0 + skew * deviations / 6.0 - skew * skew / 36.0
    quantile = 2.0 / skew * (bend * bend * bend - 1.0)
    return quantile * unit * np.sqrt(freedom * variance)


@part
def shrunk(explained, level):
    """Return an explained share, less the more it is like noise: 0 up to the level.

    It is Breiman's non-negative garrote: what is far above the level is hardly changed.
    """
    if explained <= level:
        return 0.0
    share = min(explained, 1.0)
    return max(share - level * level / share, 0.0)


@part
def sure(explained, level, thinness):
    """Return how much of a target is explained for sure; 1 stays 1.

    Conditions and grids are chosen by it. It takes off what noise may have added, and what a long
    tail may have: cells of few rows seldom see it, so that they understate what is not explained.

    Parameters
    ----------
    explained : share
    level : of noise
    thinness : about the number of cells per row

    """
    if level >= 1.0:
        return -np.inf
    return (explained - level) / (1.0 - level) - LONG_TAIL * thinness * (1.0 - explained)


@kernel(
    types.Tuple((types.float64[:, ::1], types.int64[::1]))(
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        int64,
        int64,
        WHOLES,
        COLUMNS,
        NULLS,
        WHOLES,
        float64,
    )
)
def explained_along(families, n_grids, one, other, targets, columns, nulls, increments, unit):
    """Return for each target the explained share and the freedom of its best grid, and the grid.

    What single rows take away from the range of the share is counted as more freedom.

    Parameters
    ----------
    families, n_grids : two families of grids, and how many grids of each to use
    one, other : the columns to cut along; the same twice for one column
    targets, columns, increments, unit : as for `gains`
    nulls : units, variances and skewnesses of all columns

    """
    units, variances, skewnesses = nulls
    best = np.zeros((targets.size, 2))
    which = np.zeros(targets.size, np.int64)
    highest = np.full(targets.size, -np.inf)
    base = 0
    for family in range(2):
        found, chances, freedoms = gains_along(
            families[family], one, other, n_grids[family], targets, columns, increments, unit
        )
        for k in range(targets.size):
            target = targets[k]
            for grid in range(n_grids[family]):
                left = 1.0 - chances[k, grid]
                if freedoms[k, grid] > 0.0 and left > _NOTHING:
                    explained = found[k, grid] / left
                    freedom = freedoms[k, grid] / (left * left)
                    level = noise_level(
                        freedom, units[target], variances[target], skewnesses[target], ALONE
                    )
                    here = sure(explained, level, units[target] * freedom)
                    if here > highest[k]:
                        highest[k] = here
                        best[k, 0] = explained
                        best[k, 1] = freedom
                        which[k] = base + grid
        base += n_grids[family]
    return best, which


# ------------------------------------------------------------ what is known, by key

# Keys are (target, one, other) in one number; slots of a table that hold none have this.
EMPTY = -1


@part
def key_of(target, one, other, n_columns):
    """Return the number that stands for a target and the columns that explain it."""
    low = min(one, other)
    return (target * n_columns + low) * n_columns + max(one, other)


@part
def slot_of(keys, key):
    """Return where in a hash table of a power of two of slots a key is, or would be."""
    mask = keys.size - 1
    scattered = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = int64(scattered >> np.uint64(32)) & mask
    while keys[at] != key and keys[at] != EMPTY:
        at = (at + 1) & mask
    return at


@kernel(
    types.void(
        types.int64[::1],
        types.float64[:, ::1],
        WHOLES,
        types.Array(types.float64, 2, "C", readonly=True),
    )
)
def remember(keys, values, new_keys, new_values):
    """Put values into a hash table that has room for them."""
    for k in range(new_keys.size):
        at = slot_of(keys, new_keys[k])
        keys[at] = new_keys[k]
        values[at, 0] = new_values[k, 0]
        values[at, 1] = new_values[k, 1]


@kernel(types.int64[::1](WHOLES, SETS, int64, boolean, int64))
def unknown(keys, sets, n_columns, with_pairs, target):
    """Return the keys that are needed to score these sets but not in the hash table.

    ``target`` is the only column to be explained, or -1 if every column of a set is.
    """
    size = sets.shape[1]
    per_set = size + (size * (size - 1) // 2 if with_pairs else 0)
    per_set *= size if target < 0 else 1
    wanted = np.empty(len(sets) * per_set, np.int64)
    number = 0
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
                        wanted[number] = key
                        number += 1
    return np.unique(wanted[:number])


KNOWN = types.Tuple((WHOLES, types.Array(types.float64, 2, "C", readonly=True)))


@kernel(types.UniTuple(float64, 2)(KNOWN, int64, int64, int64, NULLS, float64))
def known_strength(known, target, one, other, nulls, deviations):
    """Return how much of a target is explained for sure, and how much in all likelihood.

    The first is to choose by, the second to report. Both are 0 if nothing is known.

    Parameters
    ----------
    known : keys and values of the hash table
    target, one, other : the column, and the ones that explain it; one may be named twice
    nulls : units, variances and skewnesses of all columns
    deviations : how far out the noise level is

    """
    keys, values = known
    units, variances, skewnesses = nulls
    key = key_of(target, one, other, units.size)
    at = slot_of(keys, key)
    if keys[at] != key or values[at, 1] <= 0.0:
        return 0.0, 0.0
    level = noise_level(
        values[at, 1], units[target], variances[target], skewnesses[target], deviations
    )
    certain = sure(values[at, 0], level, units[target] * values[at, 1])
    return max(certain, 0.0), shrunk(values[at, 0], level)
