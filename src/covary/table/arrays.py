"""Convert NumPy arrays to columns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import AnyArray, Booleans, Floats
from covary.table.table import Column

LARGEST_EXACT = 2**53
# More microseconds than 64 bits can count.
_LONG_DURATION = timedelta(days=2**63 // 86_400_000_000)
_DURATIONS = {"us": "microseconds", "s": "seconds"}


def array_column(
    values: AnyArray,
    name: str,
    kind: str = "",
    zone: str = "",
    as_levels: bool = False,
    decimal: str = "",
) -> Column | str:
    """Return a one-dimensional array as a column, or the reason why it cannot be used.

    Arrays of doubles are not copied. With ``as_levels``, every text is a level. ``decimal`` is
    the decimal sign in other columns of text.
    """
    if values.ndim != 1:
        return errors.other_type_reason(f"arrays of shape {values.shape[1:]}")
    missing = None
    if isinstance(values, np.ma.MaskedArray):
        kind = kind or ("boolean" if values.dtype.kind == "b" else "")
        missing = np.ma.getmaskarray(values)
        values = _unmasked(values)
    if values.dtype == np.float64:
        return Column(name, values, kind or "number")
    code = values.dtype.kind
    if code in "mM":
        return _date_column(values, name, zone)
    if code == "O":
        return _object_column(values, name, as_levels, decimal)
    if code == "U":
        return _text_objects(values.tolist(), name, as_levels, decimal)
    if code not in "fiub":
        return errors.other_type_reason(
            {"c": "complex numbers", "S": "bytes"}.get(code, f"of {values.dtype}")
        )
    if code in "iu" and values.dtype.itemsize == 8 and values.size:
        return _integer_column(values, name, missing, as_levels)
    with np.errstate(over="ignore"):
        numbers = np.asarray(values, dtype=np.float64)
    return Column(name, numbers, kind or ("boolean" if code == "b" else "number"))


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> AnyArray:
    """Return a copy with the masked cells as missing; 64-bit integers are not changed."""
    code = values.dtype.kind
    if code in "iu" and values.dtype.itemsize == 8:
        return np.asarray(values.data)
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


def _integer_column(
    values: AnyArray, name: str, missing: Booleans | None, as_levels: bool
) -> Column | str:
    """Return 64-bit integers as a column; large ones count from the least one."""
    present = values if missing is None else values[~missing]
    least, largest = (int(present.min()), int(present.max())) if present.size else (0, 0)
    origin = least if max(-least, largest) > LARGEST_EXACT else 0
    may_be_rounded = largest - origin > LARGEST_EXACT
    if may_be_rounded and (as_levels or _are_rounded(np.unique(present), origin)):
        is_present = np.full(values.size, True) if missing is None else ~missing
        return _large_numbers(present.tolist(), is_present, name, as_levels)
    numbers = _count_from(values, origin) if origin else values.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return Column(name, numbers, origin=origin)


def _are_rounded(distinct: AnyArray, origin: int) -> bool:
    """Return whether different integers are equal as floats."""
    return bool(np.unique(_count_from(distinct, origin)).size < distinct.size)


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
    if np.datetime_data(values.dtype) == ("ns", 1) and not (present % 1000).any():
        # A float counts more years exactly in microseconds.
        return _date_column(values.astype(f"{values.dtype.kind}8[us]"), name, zone)
    numbers = _count_from(counts, origin)
    numbers[missing] = np.nan
    return Column(name, numbers, "date", origin=origin, dtype=str(values.dtype), zone=zone)


# ---------------------------------------------------------------- Python objects


def _object_column(values: AnyArray, name: str, as_levels: bool, decimal: str) -> Column | str:
    """Return Python objects of one kind as a column, or the reason why they cannot be used."""
    present = np.array([not _is_missing(value) for value in values], dtype=bool)
    cells = values[present].tolist()
    types = {type(cell) for cell in cells}

    def all_are(*kinds: type) -> bool:
        return all(issubclass(each, kinds) for each in types)

    if not types:
        return "empty"
    if all_are(Real, Decimal, np.bool_):
        kind = "boolean" if all_are(bool, np.bool_) else "number"
        return _number_objects(cells, present, name, kind, as_levels)
    if all_are(time):
        if len({cell.utcoffset() for cell in cells}) > 1:
            return "times of day in different time zones; convert them to one zone"
        times = _with_missing([_nanoseconds(cell) for cell in cells], present, np.nan)
        return Column(name, times, "date", dtype="time")
    if all_are(timedelta):
        unit = "us" if max(map(abs, cells)) < _LONG_DURATION else "s"
        counts = [cell // timedelta(**{_DURATIONS[unit]: 1}) for cell in cells]
        durations = np.array(counts, np.int64).view(f"m8[{unit}]")
        return _date_column(_with_missing(durations, present, np.timedelta64("NaT")), name)
    if all_are(date):
        return _date_objects(cells, present, name)
    if all_are(str, Real, Decimal, np.bool_):
        return _mixed_objects(values, present, name, as_levels, decimal)
    others = " and ".join(sorted({each.__name__ for each in types if not issubclass(each, str)}))
    if any(issubclass(each, str) for each in types):
        return errors.other_type_reason(f"a mix of text and {others}")
    return errors.other_type_reason(f"of type {others}")


def _number_objects(
    cells: list[Any], present: Booleans, name: str, kind: str, as_levels: bool = False
) -> Column | str:
    """Return numbers as a column; large integers count from the least one."""
    numbers = [_float(cell) for cell in cells]
    origin = 0
    if any(abs(number) >= LARGEST_EXACT for number in numbers):
        if all(isinstance(cell, (Integral, Decimal)) and cell == cell // 1 for cell in cells):
            origin = int(min(cells))
            numbers = [_float(int(cell) - origin) for cell in cells]
        exact = {cell for cell in cells if not isinstance(cell, (float, np.floating))}
        if as_levels or len({_float(cell - origin) for cell in exact}) < len(exact):
            return _large_numbers(cells, present, name, as_levels)
    return Column(name, _with_missing(numbers, present, np.nan), kind, origin=origin)


def _large_numbers(
    cells: list[Any], present: Booleans, name: str, as_levels: bool
) -> Column | str:
    """Return numbers with too many digits for a float as levels, or why they cannot be used."""
    from covary.table.levels import nominal_column

    if not as_levels:
        return errors.lost_digits_reason()
    position: dict[Any, int] = {}
    codes = np.full(present.size, -1)
    codes[present] = [position.setdefault(cell, len(position)) for cell in cells]
    return nominal_column(name, codes, list(position), declared=True)


def _mixed_objects(
    values: AnyArray, present: Booleans, name: str, as_levels: bool, decimal: str
) -> Column | str:
    """Return numbers and texts as a column: numbers if all texts are, otherwise levels."""
    is_text = np.array([isinstance(value, str) for value in values], dtype=bool)
    column: Column | str = ""
    if not as_levels and not is_text.all():
        column = _text_objects(values[is_text].tolist(), name, as_levels, decimal)
    if isinstance(column, Column) and column.kind == "number":
        numbers = _number_objects(
            values[present & ~is_text].tolist(), present & ~is_text, name, ""
        )
        if isinstance(numbers, Column) and not numbers.origin:
            numbers.values[is_text] = column.values
            return replace(column, values=numbers.values)
    texts = np.full(values.size, None, dtype=object)
    texts[present] = [str(cell) for cell in values[present]]
    return _text_objects(texts.tolist(), name, as_levels, decimal)


def _text_objects(
    texts: list[str | None], name: str, as_levels: bool, decimal: str
) -> Column | str:
    import pyarrow as pa

    from covary.table.texts import text_column

    try:
        return text_column(pa.array(texts, pa.large_string()), name, as_levels, decimal)
    except UnicodeEncodeError:
        return "text that is not valid Unicode"


def _date_objects(cells: list[Any], present: Booleans, name: str) -> Column | str:
    unit = "us" if any(isinstance(cell, datetime) for cell in cells) else "D"
    zones = {getattr(cell, "tzinfo", None) for cell in cells}
    if None in zones and len(zones) > 1:
        return "a mix of dates with and without a time zone; convert them to one zone"
    zone = ""
    if None not in zones:
        zone = _zone_name(zones.pop(), cells) if len(zones) == 1 else "UTC"
        cells = [cell.astimezone(UTC).replace(tzinfo=None) for cell in cells]
    dates = _with_missing(np.array(cells, f"M8[{unit}]"), present, np.datetime64("NaT"))
    return _date_column(dates, name, zone)


def _zone_name(zone: Any, cells: list[Any]) -> str:
    """Return the name of a time zone, its offset if it has no name, or UTC."""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)  # zoneinfo, pytz
    offsets = {cell.strftime("%z") for cell in cells}
    if name or len(offsets) > 1:
        return str(name or "UTC")
    offset = offsets.pop()
    return "UTC" if offset in ("+0000", "-0000") else f"{offset[:3]}:{offset[3:]}"[:6]


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
