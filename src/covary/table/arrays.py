"""NumPy arrays as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.table.table import Column


def array_columns(
    array: npt.NDArray[Any], names: Sequence[str], wanted: Sequence[int]
) -> tuple[Column, ...]:
    """Return the wanted columns of a two-dimensional array, as views if it holds doubles."""
    if array.dtype.kind not in "fiubOmM":
        raise errors.not_numeric(array.dtype)
    return tuple(_array_column(array[:, p], names[p]) for p in wanted)


def _array_column(values: npt.NDArray[Any], name: str) -> Column:
    if values.dtype.kind in "mM":
        return instants(values, np.isnat(values), name)
    if values.dtype.kind == "O":
        numbers = numbers_of_objects(values)
        if numbers is None:
            raise errors.not_numeric(values.dtype)
        return Column(name, numbers)
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(np.float64).filled(np.nan)
    kind = "boolean" if values.dtype.kind == "b" else "number"
    return Column(name, np.asarray(values, dtype=np.float64), kind)


def instants(
    values: npt.NDArray[Any], missing: npt.NDArray[np.bool_], name: str
) -> Column:
    """Return dates or durations as a count from the earliest, which keeps every digit."""
    counts = values.astype(np.int64)
    present = counts[~missing]
    origin = int(present.min()) if present.size else 0
    numbers = (counts - origin).astype(np.float64)
    numbers[missing] = np.nan
    return Column(name, numbers, "date", origin=origin, dtype=str(values.dtype))


def numbers_of_objects(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return Python objects as floats if all are numbers or missing, else None."""
    from decimal import Decimal
    from numbers import Real

    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, (Real, Decimal)):
            numbers[row] = float(value)
        elif value is not None and str(value) not in ("<NA>", "NaT", "nan"):
            return None
    return numbers
