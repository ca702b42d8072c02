"""NumPy arrays as columns."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.table.table import Column

_LARGEST_EXACT = 2**53
_WORDS_LOOKED_AT = 1000


def array_column(
    values: npt.NDArray[Any], name: str, kind: str = "", zone: str = ""
) -> Column | str:
    """Return one-dimensional values as a column, or in words what it is that cannot be used.

    Doubles are not copied.
    """
    if isinstance(values, np.ma.MaskedArray):
        kind = kind or ("boolean" if values.dtype.kind == "b" else "")
        values = _unmasked(values)
    if values.dtype == np.float64:
        return Column(name, values, kind or "number")
    code = values.dtype.kind
    if code in "mM":
        return _instants(values, name, zone)
    if code == "O":
        return _object_column(values, name)
    if code not in "fiub":
        return {"c": "complex numbers", "U": "text", "S": "text"}.get(code, f"of {values.dtype}")
    if code in "iu" and values.dtype.itemsize == 8 and values.size:
        least, largest = int(values.min()), int(values.max())
        if max(-least, largest) > _LARGEST_EXACT:
            return Column(name, _counted_from(values, least), origin=least)
    with np.errstate(over="ignore"):
        numbers = np.asarray(values, dtype=np.float64)
    return Column(name, numbers, kind or ("boolean" if code == "b" else "number"))


def text_reason(cells: Iterable[object]) -> str:
    """Return "text", or the cell that makes text of what is a column of numbers otherwise."""
    cells = iter(cells)
    first = list(islice(cells, _WORDS_LOOKED_AT))
    words = [cell for cell in first if not _is_number(cell)]
    if 2 * len(words) >= len(first):
        return "text"
    word = next((cell for cell in [*words[:1], *cells] if not _is_number(cell)), None)
    return errors.reason_word_among_numbers(word)


def _is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return isinstance(cell, int)
    return True


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """Return a copy in which masked cells are missing."""
    code = values.dtype.kind
    missing: Any = {"O": None, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}.get(
        code, np.nan
    )
    filled = np.array(values.data, dtype=np.float64 if code in "fiub" else values.dtype)
    filled[np.ma.getmaskarray(values)] = missing
    return filled


def _counted_from(counts: npt.NDArray[Any], origin: int) -> npt.NDArray[np.float64]:
    """Return 64-bit integers as floats from an origin: small differences keep every digit."""
    # Unsigned, since the range of signed integers is beyond them; it wraps around to the truth.
    return (counts.astype(np.uint64) - np.uint64(origin % 2**64)).astype(np.float64)


def _instants(values: npt.NDArray[Any], name: str, zone: str = "") -> Column:
    """Return dates or durations as a count from the earliest."""
    missing = np.isnat(values)
    counts = values.astype(np.int64)
    present = counts[~missing] if missing.any() else counts
    origin = int(present.min()) if present.size else 0
    numbers = _counted_from(counts, origin)
    numbers[missing] = np.nan
    return Column(name, numbers, "date", origin=origin, dtype=str(values.dtype), zone=zone)


# ---------------------------------------------------------------- Python objects


def _object_column(values: npt.NDArray[Any], name: str) -> Column | str:
    """Return Python objects as a column if they are all numbers, dates and so on, or missing."""
    present = np.array([not _is_missing(value) for value in values], dtype=bool)
    cells = values[present].tolist()
    types = {type(cell) for cell in cells}

    def are(*kinds: type) -> bool:
        return all(issubclass(each, kinds) for each in types)

    if not types:
        return "empty"
    if are(Real, Decimal, np.bool_):
        numbers = _spread([_float(cell) for cell in cells], present, np.nan)
        return Column(name, numbers, "boolean" if are(bool, np.bool_) else "number")
    if are(time):
        clock = _spread([_nanoseconds(cell) for cell in cells], present, np.nan)
        return Column(name, clock, "date", dtype="time")
    if are(timedelta):
        return _instants(_spread(np.array(cells, "m8[us]"), present, np.timedelta64("NaT")), name)
    if are(date):
        return _date_objects(cells, present, name)
    return (
        text_reason(cells) if str in types else f"of type {min(each.__name__ for each in types)}"
    )


def _date_objects(cells: list[Any], present: npt.NDArray[np.bool_], name: str) -> Column | str:
    unit = "us" if any(isinstance(cell, datetime) for cell in cells) else "D"
    zones = {getattr(cell, "tzinfo", None) is not None for cell in cells}
    if len(zones) > 1:
        return "a mix of dates with and without a time zone"
    if True in zones:
        cells = [cell.astimezone(UTC).replace(tzinfo=None) for cell in cells]
    instants = _spread(np.array(cells, f"M8[{unit}]"), present, np.datetime64("NaT"))
    return _instants(instants, name, "UTC" if True in zones else "")


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")  # pandas, without importing it
    )


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf
    except ValueError:  # a signalling NaN
        return np.nan


def _nanoseconds(clock: time) -> int:
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    return (seconds * 1_000_000 + clock.microsecond) * 1000


def _spread(cells: Any, present: npt.NDArray[np.bool_], missing: Any) -> npt.NDArray[Any]:
    """Return one cell per row: those that are present in their places, the others missing."""
    cells = np.asarray(cells)
    spread = np.full(
        present.shape, missing, dtype=cells.dtype if cells.dtype.kind in "mM" else float
    )
    spread[present] = cells
    return spread
