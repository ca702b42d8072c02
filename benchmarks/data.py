"""The tables for timing: independent and dependent normal columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

KINDS = ("independent", "dependent")
NOISE = 0.2


def make_table(kind: str, n_rows: int, n_columns: int) -> npt.NDArray[np.float64]:
    """Return a table of normal columns, identical in every call.

    ``dependent`` columns are the sum of one hidden factor and noise. The dependence is strong, so
    UDS must run its full dynamic program. For ``independent`` columns it can often stop early.
    """
    random = np.random.default_rng(20160505)
    table = np.empty((n_rows, n_columns))
    random.standard_normal(out=table)
    if kind == "dependent":
        table *= NOISE
        table += random.standard_normal((n_rows, 1))
    return table
