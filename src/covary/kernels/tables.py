"""Look-up tables of logarithms, shared by all kernels and computed once per process."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_increments = np.zeros(0)


def increments(n_rows: int) -> npt.NDArray[np.float64]:
    """Return a table of g(t) - g(t - 1) with g(t) = t log t, for t = 0 .. n_rows at least.

    The cumulative entropy of n sorted values x_(1..n) is, times n,

        n h = sum_t x_(t) (g(t) - g(t - 1) - log n),

    so that one look-up per value is all the arithmetic that an entropy needs.
    """
    global _increments
    table = _increments
    if table.size <= n_rows:
        t = np.arange(2, max(n_rows, 4096) + 1, dtype=np.float64)
        # log t + (t - 1) log(t / (t - 1)), which does not cancel as g(t) - g(t - 1) does.
        table = np.zeros(t.size + 2)
        np.multiply(np.log1p(1.0 / (t - 1.0)), t - 1.0, out=table[2:])
        table[2:] += np.log(t)
        table.flags.writeable = False
        _increments = table
    return table  # not the global, which another thread may have replaced by a smaller one
