"""Random permutations of rows. The caller draws the random numbers."""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint32, uint64

from covary.kernels.shared.jit import FLOATS, ROWS_2D, kernel


@kernel(types.uint32[::1](FLOATS))
def shuffle(uniforms):
    """Return a random permutation of 0 .. n - 1 (inside-out Fisher-Yates shuffle).

    Parameters
    ----------
    uniforms : n numbers in [0, 1)

    """
    n = uniforms.size
    order = np.empty(n, np.uint32)
    for i in range(n):
        at = min(int64(uniforms[i] * (i + 1)), i)
        order[i] = order[at]
        order[at] = uint32(i)
    return order


@kernel(types.uint32[:, ::1](ROWS_2D))
def invert(permutations):
    """Return the inverse of each permutation of 0 .. n - 1."""
    inverse = np.empty_like(permutations)
    for k in range(uint64(permutations.shape[0])):
        for i in range(uint64(permutations.shape[1])):
            inverse[k, uint64(permutations[k, i])] = uint32(i)
    return inverse
