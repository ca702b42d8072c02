"""The rows of a table in which all columns of a set are present."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from covary.prepare import Prepared

Floats = npt.NDArray[np.float64]


def complete_rows(prepared: Prepared, columns: Sequence[int]) -> Floats:
    """Return the values of these columns, one line each, in the rows that lack none of them."""
    values = np.array([prepared.by_row(column) for column in columns])
    if all(prepared.n_present[column] == prepared.n_rows for column in columns):
        return values
    return np.ascontiguousarray(values[:, ~np.isnan(values).any(axis=0)])


def varying(values: Floats) -> Floats:
    """Return the lines that are not constant."""
    if values.shape[1] == 0:
        return values[:0]
    return np.ascontiguousarray(values[values.min(axis=1) < values.max(axis=1)])


def centred(values: Floats) -> Floats:
    """Return values less their mean: a large offset would cost the digits that matter."""
    return np.asarray(values - values.mean())
