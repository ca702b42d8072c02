"""Colour refinement: distinguish columns of equal entropy by the ranks of their values."""

from __future__ import annotations

import numpy as np
from numba import types, uint64

from covary.kernels.shared.jit import COLUMN_SETS, ROWS_2D, kernel, read_only

_COLOURS = read_only(types.uint64, 2)


@kernel(uint64(uint64))
def _hash(number):
    """Return a hash of a number (SplitMix64)."""
    mixed = number + uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> uint64(31))


@kernel(types.uint64[:, ::1](ROWS_2D, COLUMN_SETS, _COLOURS))
def refine_colours(ranks, sets, colours):
    """Return new colours for the columns of each set: one round of colour refinement.

    The colour of a row is a hash of the ranks and colours of the columns in this row. The new
    colour of a column adds a hash of its ranks and the colours of all rows. So the colours depend
    neither on the order of the rows nor on the order of the columns.

    Parameters
    ----------
    ranks : the ranks of the rows in each column of the table, shape (columns, rows)
    sets : the columns of each set, shape (sets, columns of a set)
    colours : the present colour of each column of each set, same shape as ``sets``

    """
    refined = np.empty(colours.shape, np.uint64)
    row_colours = np.empty(ranks.shape[1], np.uint64)
    for k in range(len(sets)):
        row_colours[:] = uint64(0)
        for at in range(sets.shape[1]):
            column = ranks[sets[k, at]]
            key = _hash(colours[k, at])
            for r in range(row_colours.size):
                row_colours[r] += _hash(uint64(column[r]) ^ key)
        for at in range(sets.shape[1]):
            column = ranks[sets[k, at]]
            total = colours[k, at]
            for r in range(row_colours.size):
                total += _hash(uint64(column[r]) ^ row_colours[r])
            refined[k, at] = total
    return refined
