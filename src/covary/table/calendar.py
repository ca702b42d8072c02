"""Calendar columns: hour of day, weekday and month of a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import AnyArray, Booleans, Integers
from covary.table.table import Column

TIME = "time"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class _Part(NamedTuple):
    """A part of the calendar.

    Parameters
    ----------
    labels : the names of its values; empty for numbers
    least_days : it is a candidate if the dates span more days. Otherwise it hardly repeats, and
        the point in time says the same.
    """

    labels: tuple[str, ...]
    least_days: int


PARTS = {"hour": _Part((), 1), "weekday": _Part(WEEKDAYS, 13), "month": _Part(MONTHS, 366)}
CHOICES = (TIME, *PARTS)
_LARGEST = np.nextafter(2.0**64, 0.0)
_NAME = re.compile(rf"(?s)(.*) \(({'|'.join(PARTS)})\)")


def source_of(name: str, names: Iterable[str]) -> str:
    """Return the date column that a calendar column belongs to; other names stay."""
    match = _NAME.fullmatch(name)
    return match[1] if match and name not in names and match[1] in names else name


def with_calendar(column: Column, chosen: Sequence[str] | None) -> list[Column]:
    """Return a column with its calendar columns; the column alone if it is not a date.

    Parameters
    ----------
    chosen : the parts, and "time" for the date itself; if None, the date and those parts on whose
        scale it varies
    """
    if column.kind != "date" or not column.dtype.startswith("datetime"):
        return [column]
    found = [column] if chosen is None or TIME in chosen else []
    present = ~np.isnan(column.values)
    moments = _local_moments(column, present)
    span = (moments.max() - moments.min()) / np.timedelta64(1, "D") if moments.size else 0.0
    for name, part in PARTS.items():
        if chosen is not None and name not in chosen:
            continue
        values = _values(name, moments)
        if chosen is None and (span < part.least_days or not _varies(name, values, moments)):
            continue
        cells = np.full(column.values.size, np.nan)
        cells[present] = values
        found.append(
            Column(
                f"{column.name} ({name})",
                cells,
                "category" if part.labels else "number",
                part.labels,
                part_of=column.name,
            )
        )
    return found


def _local_moments(column: Column, present: Booleans) -> AnyArray:
    """Return the present dates in their own time zone."""
    # The sum is below 2**63, but the difference to the origin may be larger.
    counts = np.minimum(column.values[present], _LARGEST).astype(np.uint64)
    moments = (counts + np.uint64(column.origin % 2**64)).view(column.dtype)
    if np.datetime_data(moments.dtype)[0] in ("Y", "M"):  # their length in days varies
        moments = moments.astype("M8[D]")
    if not column.zone:
        return moments
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        zoned = pa.array(moments.astype("M8[us]")).cast(pa.timestamp("us", column.zone))
        return np.asarray(pc.local_timestamp(zoned).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # an unknown time zone: the dates are in UTC
        return moments


def _varies(part: str, values: Integers, moments: AnyArray) -> bool:
    """Return whether dates vary on the scale of a part: weekdays of monthly dates do not count."""
    if part == "weekday":
        values = (moments.astype("M8[D]") - moments.astype("M8[M]").astype("M8[D]")).astype(
            np.int64
        )
    return np.unique(values).size > 1


def _values(part: str, moments: AnyArray) -> Integers:
    if part == "hour":
        hours = moments.astype("M8[h]") - moments.astype("M8[D]").astype("M8[h]")
        return np.asarray(hours.astype(np.int64))
    if part == "weekday":
        return (moments.astype("M8[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    return moments.astype("M8[M]").astype(np.int64) % 12
