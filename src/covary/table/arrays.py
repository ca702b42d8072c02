"""Convert NumPy arrays to columns."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from covary.array_types import AnyArray, Booleans, Floats
from covary.table.table import Column

_LARGEST_EXACT = 2**53


def array_column(
    values: AnyArray, name: str, kind: str = "", zone: str = "", as_levels: bool = False
) -> Column | str:
    """Return a one-dimensional array as a column, or the reason why it cannot be used.

    Arrays of doubles are not copied. With ``as_levels``, every text is a level.
    """
    if isinstance(values, np.ma.MaskedArray):
        kind = kind or ("boolean" if values.dtype.kind == "b" else "")
        values = _unmasked(values)
    if values.dtype == np.float64:
        return Column(name, values, kind or "number")
    code = values.dtype.kind
    if code in "mM":
        return _date_column(values, name, zone)
    if code == "O":
        return _object_column(values, name, as_levels)
    if code == "U":
        return _text_objects(values.tolist(), name, as_levels)
    if code not in "fiub":
        return {"c": "complex numbers", "S": "bytes"}.get(code, f"of {values.dtype}")
    if code in "iu" and values.dtype.itemsize == 8 and values.size:
        least, largest = int(values.min()), int(values.max())
        if max(-least, largest) > _LARGEST_EXACT:
            return Column(name, _count_from(values, least), origin=least)
    with np.errstate(over="ignore"):
        numbers = np.asarray(values, dtype=np.float64)
    return Column(name, numbers, kind or ("boolean" if code == "b" else "number"))


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> AnyArray:
    """Return a copy with the masked cells as missing."""
    code = values.dtype.kind
    missing: Any = {
        "O": None,
        "U": None,
        "M": np.datetime64("NaT"),
        "m": np.timedelta64("NaT"),
    }.get(code, np.nan)
    dtype = np.float64 if code in "fiub" else object if code == "U" else values.dtype
    filled = np.array(values.data, dtype=dtype)
    filled[np.ma.getmaskarray(values)] = missing
    return filled


def _count_from(counts: AnyArray, origin: int) -> Floats:
    """Return 64-bit integers minus an origin as floats, so that small differences are exact."""
    # A difference of signed integers may overflow. Unsigned arithmetic modulo 2**64 is correct.
    return (counts.astype(np.uint64) - np.uint64(origin % 2**64)).astype(np.float64)


def _date_column(values: AnyArray, name: str, zone: str = "") -> Column:
    """Return dates or durations as a column that counts from the earliest one."""
    missing = np.isnat(values)
    counts = values.astype(np.int64)
    present = counts[~missing] if missing.any() else counts
    origin = int(present.min()) if present.size else 0
    numbers = _count_from(counts, origin)
    numbers[missing] = np.nan
    return Column(name, numbers, "date", origin=origin, dtype=str(values.dtype), zone=zone)


# ---------------------------------------------------------------- Python objects


def _object_column(values: AnyArray, name: str, as_levels: bool) -> Column | str:
    """Return Python objects of one kind as a column, or the reason why they cannot be used."""
    present = np.array([not _is_missing(value) for value in values], dtype=bool)
    cells = values[present].tolist()
    types = {type(cell) for cell in cells}

    def all_are(*kinds: type) -> bool:
        return all(issubclass(each, kinds) for each in types)

    if not types:
        return "empty"
    if all_are(Real, Decimal, np.bool_):
        numbers = _with_missing([_float(cell) for cell in cells], present, np.nan)
        return Column(name, numbers, "boolean" if all_are(bool, np.bool_) else "number")
    if all_are(time):
        times = _with_missing([_nanoseconds(cell) for cell in cells], present, np.nan)
        return Column(name, times, "date", dtype="time")
    if all_are(timedelta):
        durations = _with_missing(np.array(cells, "m8[us]"), present, np.timedelta64("NaT"))
        return _date_column(durations, name)
    if all_are(date):
        return _date_objects(cells, present, name)
    if all_are(str, Real, Decimal, np.bool_):
        texts = np.full(values.size, None, dtype=object)
        texts[present] = [str(cell) for cell in cells]
        return _text_objects(texts.tolist(), name, as_levels)
    return f"of type {min(each.__name__ for each in types if not issubclass(each, str))}"


def _text_objects(texts: list[str | None], name: str, as_levels: bool) -> Column | str:
    import pyarrow as pa

    from covary.table.texts import text_column

    try:
        return text_column(pa.array(texts, pa.large_string()), name, as_levels)
    except UnicodeEncodeError:
        return "text that is not valid Unicode"


def _date_objects(cells: list[Any], present: Booleans, name: str) -> Column | str:
    unit = "us" if any(isinstance(cell, datetime) for cell in cells) else "D"
    has_zone = {getattr(cell, "tzinfo", None) is not None for cell in cells}
    if len(has_zone) > 1:
        return "a mix of dates with and without a time zone"
    if True in has_zone:
        cells = [cell.astimezone(UTC).replace(tzinfo=None) for cell in cells]
    dates = _with_missing(np.array(cells, f"M8[{unit}]"), present, np.datetime64("NaT"))
    return _date_column(dates, name, "UTC" if True in has_zone else "")


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")  # pandas, which is not imported here
    )


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf
    except ValueError:  # a signalling NaN
        return np.nan


def _nanoseconds(of_day: time) -> int:
    seconds = (of_day.hour * 60 + of_day.minute) * 60 + of_day.second
    return (seconds * 1_000_000 + of_day.microsecond) * 1000


def _with_missing(cells: Any, present: Booleans, missing: Any) -> AnyArray:
    """Return one cell per row: the given cells in the rows that are present, else missing."""
    cells = np.asarray(cells)
    dtype = cells.dtype if cells.dtype.kind in "mM" else float
    all_cells = np.full(present.shape, missing, dtype=dtype)
    all_cells[present] = cells
    return all_cells
