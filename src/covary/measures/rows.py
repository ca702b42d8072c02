"""The rows of a table in which all columns of a set are present."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from covary.prepare import Prepared

Floats = npt.NDArray[np.float64]

# Powers of two from which on squares and their sums may be beyond the doubles.
EXTREME = 400
# Of fewer rows nothing can be told.
LEAST_ROWS = 3


def complete_rows(prepared: Prepared, columns: Sequence[int]) -> Floats:
    """Return the values of these columns, one line each, in the rows that lack none of them.

    Each is divided by a power of two that is near its range: squares stay within the doubles.
    """
    values = _complete(prepared, columns)
    return np.asarray(np.ldexp(values, -_exponents(values)[:, None]))


def rows_in_units(prepared: Prepared, columns: Sequence[int]) -> tuple[Floats, int]:
    """Return the same in their own units, or all divided by one power of two: its exponent.

    It is 0, unless squares would be beyond the doubles.
    """
    values = _complete(prepared, columns)
    own = prepared.exponents[list(columns)]
    common = int((_exponents(values) + own).max()) if len(values) else 0
    common = common if abs(common) >= EXTREME else 0
    return np.asarray(np.ldexp(values, (own - common)[:, None])), common


def _complete(prepared: Prepared, columns: Sequence[int]) -> Floats:
    values = np.array([prepared.by_row(column) for column in columns])
    if all(prepared.n_present[column] == prepared.n_rows for column in columns):
        return values
    return np.ascontiguousarray(values[:, ~np.isnan(values).any(axis=0)])


def _exponents(values: Floats) -> npt.NDArray[np.int64]:
    """Return for each line the power of two that its range is near to; 0 if it is constant."""
    if values.shape[1] == 0:
        return np.zeros(len(values), np.int64)
    widths = np.ptp(values, axis=1)
    return np.where(widths > 0, np.frexp(widths)[1], 0).astype(np.int64)


def varying(values: Floats) -> Floats:
    """Return the lines that are not constant."""
    if values.shape[1] == 0:
        return values[:0]
    return np.ascontiguousarray(values[values.min(axis=1) < values.max(axis=1)])


def centred(values: Floats) -> Floats:
    """Return values less their median: a large offset would cost the digits that matter."""
    return np.asarray(values - np.median(values))
