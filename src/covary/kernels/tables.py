"""Look-up tables of logarithms, shared by all kernels and computed once per process."""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=4)
def weighted_harmonics(n_rows: int) -> npt.NDArray[np.float64]:
    """Return a table of G(t) = t (1 + 1/2 + .. + 1/(t - 1)) for t = 0 .. n_rows.

    In place of t log t it gives an estimate of the entropy of a coin, from k heads in n throws,

        H = [G(n) - G(k) - G(n - k)] / n,

    that is almost free of bias, as k log k is not (Zhang 2012, Schürmann 2004).
    """
    t = np.arange(1, n_rows + 1, dtype=np.float64)
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1.0 / t[:-1])])
    table = np.arange(n_rows + 1) * harmonic[: n_rows + 1]
    table.flags.writeable = False
    return table


@lru_cache(maxsize=4)
def whole_increments(n_rows: int) -> tuple[npt.NDArray[np.int64], float]:
    """Return a table of G(t) - G(t - 1) in whole multiples of a unit, and the unit.

    The unit is as small as sums over all rows in 63 bits allow. Sums of whole numbers come out the
    same in whatever order they are taken.
    """
    unit = 2.0 ** (n_rows.bit_length() - 61)
    steps = np.diff(weighted_harmonics(n_rows), prepend=0.0)
    table = np.rint(steps / unit).astype(np.int64)
    table.flags.writeable = False
    return table, unit
