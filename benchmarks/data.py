"""The tables that are timed: columns that know nothing of each other, and columns that do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

KINDS = ("independent", "dependent")
NOISE = 0.2


def make_table(kind: str, n_rows: int, n_columns: int) -> npt.NDArray[np.float64]:
    """Return a table of normal columns, the same on every call.

    ``dependent`` columns are one hidden factor plus noise, strongly enough that UDS runs its
    whole dynamic program; on ``independent`` ones it can often stop early.
    """
    random = np.random.default_rng(20160505)
    table = np.empty((n_rows, n_columns))
    random.standard_normal(out=table)
    if kind == "dependent":
        table *= NOISE
        table += random.standard_normal((n_rows, 1))
    return table
