"""Sort order by whole numbers: a value as a fraction of the range, and its row, in 64 bits."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint32, uint64

from covary.kernels.jit import FLOATS, kernel

_KEYS = types.Array(types.uint64, 1, "C", readonly=True)


@kernel(types.uint64[::1](FLOATS, float64, float64, int64))
def sort_keys(values, low, scale, row_bits):
    """Return for every row its value, counted from ``low`` in 1 / ``scale``, then its number."""
    keys = np.empty(values.size, np.uint64)
    shift = uint64(row_bits)
    for row in range(uint64(values.size)):
        keys[row] = (uint64((values[row] - low) * scale) << shift) | row
    return keys


@kernel(types.boolean(_KEYS, FLOATS, FLOATS, int64, types.uint32[::1]))
def rows_of_keys(keys, values, ordered, row_bits, order):
    """Fill in the rows of the sorted keys; return whether that could be done.

    Where keys tell no difference but the sorted values do, their rows are sorted by insertion;
    it cannot be done where that takes too long.
    """
    one = uint64(1)
    shift = uint64(row_bits)
    mask = (one << shift) - one
    n = uint64(keys.size)
    moves = uint64(0)
    first = uint64(0)
    while first < n:
        stop = first
        while stop < n and keys[stop] >> shift == keys[first] >> shift:
            order[stop] = uint32(keys[stop] & mask)
            stop += one
        if ordered[first] != ordered[stop - one]:
            for at in range(first + one, stop):
                row = order[at]
                to = at
                while to > first and values[order[to - one]] > values[row]:
                    order[to] = order[to - one]
                    to -= one
                order[to] = row
                moves += at - to
                if moves > n:
                    return False
        first = stop
    return True
