"""The table that all later stages use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from covary.array_types import Floats
from covary.table.dependent_rows import DependentRows
from covary.table.options import NO_OPTIONS, TableOptions

_LATEST = 2**63 - 1
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_NANOSECONDS_PER_DAY = 86_400 * 10**9


class Ambiguous(str):
    """Why a column cannot be used, if the decimal sign of other columns may decide what it is."""


@dataclass(frozen=True)
class Column:
    """One usable column: its values as floats, and how to convert them back.

    Parameters
    ----------
    name : the name of the column as text
    values : one float per row, NaN if missing; a view of the user's memory if possible
    kind : "number", "boolean", "date", "category" (ordered) or "nominal"
    categories : the labels of an ordered category, in their order, or of a nominal column, the
        most frequent one first; the values are their positions
    origin : the value that 0 stands for, for dates and for integers too large for a float
    dtype : the NumPy dtype of a date; "time" for times of day, in nanoseconds
    zone : the time zone of a date, if it has one; the values are in UTC
    read_as : how text was converted, in words; empty if it was not
    part_of : the date column of which this is the hour, weekday or month, or the column of which
        these are earlier values; empty for other columns
    decimal : the decimal sign of numbers that were text, "," or "."; "?" if it is uncertain, and
        empty if there is none
    lag : how many rows before the values are from
    """

    name: str
    values: Floats = field(repr=False)
    kind: str = "number"
    categories: tuple[Any, ...] = ()
    origin: int = 0
    dtype: str = ""
    zone: str = ""
    read_as: str = ""
    part_of: str = ""
    decimal: str = ""
    lag: int = 0

    @property
    def undelayed(self) -> str:
        """The name of this column, or of that of which these are earlier values."""
        return self.part_of if self.lag else self.name

    def in_own_units(self, value: float) -> Any:
        """Return a value as the user knows it: number, boolean, date or label; None if missing."""
        if math.isnan(value):
            return None
        if self.kind == "boolean":
            return bool(value)
        if self.kind in ("category", "nominal"):
            return self.categories[int(value)]
        if self.kind == "date":
            return _to_date(self.origin + int(value), self.dtype, self.zone)
        whole = self.origin or (value.is_integer() and abs(value) < 2**53)
        return self.origin + int(value) if whole else float(value)


@dataclass(frozen=True)
class Table:
    """The usable columns of a table.

    Parameters
    ----------
    columns : the usable columns
    n_rows : the number of rows
    left_out : name of each column that cannot be used, and the reason
    options : how the user declared columns
    dependent : the series or groups of the rows, if they are not independent
    """

    columns: tuple[Column, ...]
    n_rows: int
    left_out: tuple[tuple[str, str], ...] = ()
    options: TableOptions = NO_OPTIONS
    dependent: DependentRows | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def about_rows(self) -> str:
        """Return what was done because rows depend on each other; empty if they do not."""
        if self.dependent is None:
            return ""
        changes = "numbers are changes from row to row; " if self.options.difference else ""
        return f"{changes}{self.dependent.sentence()}"

    def kinds_left_out(self) -> list[tuple[str, str]]:
        """Return the columns that are left out and their kinds, without any cell of theirs."""
        # A reason may continue with a cell after a comma.
        return [(name, reason.partition(",")[0]) for name, reason in self.left_out]

    def select(self, positions: Sequence[int]) -> Table:
        """Return a table with only these columns, in this order."""
        return replace(self, columns=tuple(self.columns[p] for p in positions))


def _to_date(count: int, dtype: str, zone: str) -> Any:
    """Return a date, time or duration as a Python object, or as NumPy if Python cannot hold it."""
    from datetime import UTC, datetime, timedelta

    if dtype == "time":
        microseconds = count % _NANOSECONDS_PER_DAY // 1000
        return (datetime.min + timedelta(microseconds=microseconds)).time()
    unit = np.datetime_data(dtype)[0]
    if unit in _PER_MICROSECOND:  # rounded, because a float has fewer digits than an integer
        per = _PER_MICROSECOND[unit]
        count, dtype = (count + per // 2) // per, dtype.replace(unit, "us")
    date = np.int64(min(count, _LATEST)).view(dtype)
    python_date: Any = date.item()
    if isinstance(python_date, int):
        return date
    return _in_zone(python_date.replace(tzinfo=UTC), zone) if zone else python_date


def _in_zone(date: Any, zone: str) -> Any:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    try:
        if zone[0] in "+-":  # an offset, such as "+02:00"
            return date.astimezone(datetime.strptime(zone, "%z").tzinfo)
        return date.astimezone(ZoneInfo(zone))
    except (LookupError, ValueError, OverflowError):
        return date
