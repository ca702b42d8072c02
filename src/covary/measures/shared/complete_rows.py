"""The rows of a table in which no column of a set is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from covary.array_types import Floats, Integers
from covary.prepare import Prepared
from covary.prepare.prepared import EXTREME_EXPONENT

# With fewer rows, every score is 0.
MIN_COMPLETE_ROWS = 3


def complete_rows(prepared: Prepared, columns: Sequence[int]) -> Floats:
    """Return the values of these columns, one line each, in complete rows only.

    Each line is divided by a power of two near its range, so that squares do not overflow.
    """
    values = _complete(prepared, columns)
    return np.asarray(np.ldexp(values, -_exponents(values)[:, None]))


def complete_rows_in_units(prepared: Prepared, columns: Sequence[int]) -> tuple[Floats, int]:
    """Return the same values in their own units, and the exponent of a common scale.

    The exponent is 0 unless squares would overflow. Otherwise all lines are divided by two to the
    power of the exponent.
    """
    values = _complete(prepared, columns)
    own = prepared.exponents[list(columns)]
    common = int((_exponents(values) + own).max()) if len(values) else 0
    common = common if abs(common) >= EXTREME_EXPONENT else 0
    return np.asarray(np.ldexp(values, (own - common)[:, None])), common


def _complete(prepared: Prepared, columns: Sequence[int]) -> Floats:
    values = np.array([prepared.by_row(column) for column in columns])
    if all(prepared.n_present[column] == prepared.n_rows for column in columns):
        return values
    return np.ascontiguousarray(values[:, ~np.isnan(values).any(axis=0)])


def _exponents(values: Floats) -> Integers:
    """Return the binary exponent of the range of each line; 0 for a constant."""
    if values.shape[1] == 0:
        return np.zeros(len(values), np.int64)
    widths = np.ptp(values, axis=1)
    return np.where(widths > 0, np.frexp(widths)[1], 0).astype(np.int64)


def varying_lines(values: Floats) -> Floats:
    """Return the lines that are not constant."""
    if values.shape[1] == 0:
        return values[:0]
    return np.ascontiguousarray(values[values.min(axis=1) < values.max(axis=1)])


def centred(values: Floats) -> Floats:
    """Return values minus their median, because a large offset costs precision."""
    return np.asarray(values - np.median(values))
