"""Sums over all pairs of rows for the quadratic measure of dependency."""

from __future__ import annotations

import numpy as np
from numba import int64, types

from covary.kernels.shared.jit import FLOATS_2D, kernel


@kernel(types.float64(FLOATS_2D, int64, int64))
def sum_of_products(table, first, last):
    """Return sum_ij prod_k min(t_ik, t_jk) over all rows i in [first, last) and j < i.

    ``table`` has the shape (columns, rows).
    """
    products = np.empty(last)
    total = 0.0
    for i in range(first, last):
        products[:i] = 1.0
        for k in range(len(table)):
            t = table[k, i]
            column = table[k]
            for j in range(i):
                products[j] *= min(t, column[j])
        for j in range(i):
            total += products[j]
    return total
