"""Rows in random order, from random numbers that are handed in."""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint32, uint64

from covary.kernels.jit import FLOATS, ROWS, WHOLES, kernel

_LINES = types.Array(types.uint32, 2, "C", readonly=True)


@kernel(types.uint32[::1](FLOATS))
def shuffle(uniforms):
    """Return 0 .. n - 1 in random order (Fisher and Yates), from n numbers in [0, 1)."""
    n = uniforms.size
    order = np.empty(n, np.uint32)
    for i in range(n):
        at = min(int64(uniforms[i] * (i + 1)), i)
        order[i] = order[at]
        order[at] = uint32(i)
    return order


@kernel(types.uint32[::1](ROWS, WHOLES, FLOATS))
def shuffle_inside(rows, starts, uniforms):
    """Return where to move the value of each row, so that it stays in its group of rows.

    Parameters
    ----------
    rows, starts : all rows, group by group, and where each group starts, the end included
    uniforms : as many numbers in [0, 1) as there are rows

    """
    moved = np.empty(rows.size, np.uint32)
    order = np.empty(rows.size, np.uint32)
    for group in range(starts.size - 1):
        first = starts[group]
        for i in range(starts[group + 1] - first):
            at = first + min(int64(uniforms[first + i] * (i + 1)), i)
            order[first + i] = order[at]
            order[at] = rows[first + i]
    for i in range(rows.size):
        moved[rows[i]] = order[i]
    return moved


@kernel(types.uint32[:, ::1](_LINES))
def invert(lines):
    """Return where in its line each of 0 .. n - 1 is."""
    places = np.empty_like(lines)
    for k in range(uint64(lines.shape[0])):
        for i in range(uint64(lines.shape[1])):
            places[k, uint64(lines[k, i])] = uint32(i)
    return places
