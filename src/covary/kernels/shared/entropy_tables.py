"""Tables of logarithms and harmonic numbers, computed once per process."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from covary.array_types import Floats, Integers

_increments = np.zeros(0)


def increments(n_rows: int) -> Floats:
    """Return a table of g(t) - g(t - 1) with g(t) = t log t, for at least t = 0 .. n_rows.

    The cumulative entropy h of n sorted values x_(1..n) needs one entry per value:

        n h = sum_t x_(t) (g(t) - g(t - 1) - log n)
    """
    global _increments
    table = _increments
    if table.size <= n_rows:
        t = np.arange(2, max(n_rows, 4096) + 1, dtype=np.float64)
        # log t + (t - 1) log(t / (t - 1)) avoids the cancellation of g(t) - g(t - 1).
        table = np.zeros(t.size + 2)
        np.multiply(np.log1p(1.0 / (t - 1.0)), t - 1.0, out=table[2:])
        table[2:] += np.log(t)
        table.flags.writeable = False
        _increments = table
    return table  # another thread may have replaced the global by a smaller table


@lru_cache(maxsize=4)
def weighted_harmonics(n_rows: int) -> Floats:
    """Return a table of G(t) = t (1 + 1/2 + .. + 1/(t - 1)) for t = 0 .. n_rows.

    With G in place of t log t, the estimate of the entropy of a coin from k heads in n throws is
    almost unbiased (Zhang 2012, Schürmann 2004):

        H = [G(n) - G(k) - G(n - k)] / n
    """
    t = np.arange(1, n_rows + 1, dtype=np.float64)
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1.0 / t[:-1])])
    table = np.arange(n_rows + 1) * harmonic[: n_rows + 1]
    table.flags.writeable = False
    return table


@lru_cache(maxsize=4)
def whole_increments(n_rows: int) -> tuple[Integers, float]:
    """Return a table of G(t) - G(t - 1) as integer multiples of a unit, and the unit.

    The unit is so large that the sum of G(t) - G(t - 1) over all rows fits into 63 bits. Sums of
    integers do not depend on the order of summation.
    """
    # G(n) is less than 32 n for all numbers of rows of up to 32 bits.
    unit = 2.0 ** (n_rows.bit_length() - 57)
    steps = np.diff(weighted_harmonics(n_rows), prepend=0.0)
    table = np.rint(steps / unit).astype(np.int64)
    table.flags.writeable = False
    return table, unit
