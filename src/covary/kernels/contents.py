"""What tells columns apart when their entropies do not: how their ranks meet."""

from __future__ import annotations

import numpy as np
from numba import types, uint64

from covary.kernels.jit import kernel

_RANKS = types.Array(types.uint32, 2, "C", readonly=True)
_SETS = types.Array(types.int32, 2, "C", readonly=True)
_NAMES = types.Array(types.uint64, 2, "C", readonly=True)


@kernel(uint64(uint64))
def _mixed(number):
    """Return a well-scattered number (after Vigna's SplitMix64)."""
    mixed = number + uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> uint64(31))


@kernel(types.uint64[:, ::1](_RANKS, _SETS, _NAMES))
def rename(ranks, sets, names):
    """Return new names for the columns of each set: the old ones and how their ranks meet.

    Rows are named by the columns, then columns by the rows, so that neither the order of rows nor
    that of columns matters (one round of colour refinement, as it is done for graphs).

    Parameters
    ----------
    ranks : of every row, one line per column of the table
    sets, names : the columns of each set, one line per set, and a name for each

    """
    renamed = np.empty(names.shape, np.uint64)
    rows = np.empty(ranks.shape[1], np.uint64)
    for k in range(len(sets)):
        rows[:] = uint64(0)
        for at in range(sets.shape[1]):
            column = ranks[sets[k, at]]
            key = _mixed(names[k, at])
            for r in range(rows.size):
                rows[r] += _mixed(uint64(column[r]) ^ key)
        for at in range(sets.shape[1]):
            column = ranks[sets[k, at]]
            total = names[k, at]
            for r in range(rows.size):
                total += _mixed(uint64(column[r]) ^ rows[r])
            renamed[k, at] = total
    return renamed
