"""Sort rows by 64-bit integer keys: the scaled value in the high bits, the row in the low bits."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint32, uint64

from covary.kernels.shared.jit import FLOATS, UNSIGNED, kernel


@kernel(types.uint64[::1](FLOATS, float64, float64, int64))
def sort_keys(values, low, scale, row_bits):
    """Return the key of each row: (value - low) * scale in the high bits, the row in the low bits.

    Parameters
    ----------
    values : the values of a column
    low, scale : offset and factor that map the values to integers
    row_bits : the number of low bits

    """
    keys = np.empty(values.size, np.uint64)
    shift = uint64(row_bits)
    for row in range(uint64(values.size)):
        keys[row] = (uint64((values[row] - low) * scale) << shift) | row
    return keys


@kernel(types.boolean(UNSIGNED, FLOATS, FLOATS, int64, types.uint32[::1]))
def rows_of_keys(keys, values, ordered, row_bits, order):
    """Return whether the order of the rows could be filled in from the sorted keys.

    Different values can have equal high bits. Their rows are sorted by insertion. The kernel gives
    up and returns False if this takes more moves than there are rows.

    Parameters
    ----------
    keys : the sorted keys
    values, ordered : the values of the column, by row and sorted
    row_bits : the number of low bits of a key
    order : output, the rows by ascending value

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
