"""What every later stage sees of the user's data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

_LATEST = 2**63 - 1
_NANOSECONDS_PER_DAY = 86_400 * 10**9


@dataclass(frozen=True)
class Column:
    """One usable column: its values as floats, NaN where missing, and the way back.

    Parameters
    ----------
    name : what the user calls it
    values : one float per row; a view of the user's memory where that is possible
    kind : "number", "boolean", "date" or "category"
    categories : the labels in their order, for a category
    origin : what the values count from, for dates and for numbers too large for a float
    dtype : for a date, its NumPy dtype; "time" for times of day, in nanoseconds
    zone : for a date with a time zone, its name; the values count in UTC
    """

    name: str
    values: npt.NDArray[np.float64] = field(repr=False)
    kind: str = "number"
    categories: tuple[Any, ...] = ()
    origin: int = 0
    dtype: str = ""
    zone: str = ""

    def in_own_units(self, value: float) -> Any:
        """Return what a value stands for: a number, truth, date or label; None if missing."""
        if math.isnan(value):
            return None
        if self.kind == "boolean":
            return bool(value)
        if self.kind == "category":
            return self.categories[int(value)]
        if self.kind == "date":
            return _moment(self.origin + int(value), self.dtype, self.zone)
        whole = self.origin or (value.is_integer() and abs(value) < 2**53)
        return self.origin + int(value) if whole else float(value)


@dataclass(frozen=True)
class Table:
    """The columns of a table that can be used, and what was left out and why."""

    columns: tuple[Column, ...]
    n_rows: int
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the user calls the columns."""
        return tuple(column.name for column in self.columns)

    def kinds_left_out(self) -> list[tuple[str, str]]:
        """Return what was left out, and what it is; a reason may go on with a cell of it."""
        return [(name, why.partition(",")[0]) for name, why in self.left_out]

    def select(self, positions: Sequence[int]) -> Table:
        """Return the table with these columns only, in this order."""
        return Table(tuple(self.columns[p] for p in positions), self.n_rows, self.left_out)


def _moment(count: int, dtype: str, zone: str) -> Any:
    """Return a date, time or duration as Python has it, or as NumPy if Python has none such."""
    from datetime import UTC, datetime, timedelta

    if dtype == "time":
        microseconds = count % _NANOSECONDS_PER_DAY // 1000
        return (datetime.min + timedelta(microseconds=microseconds)).time()
    moment = np.int64(min(count, _LATEST)).view(dtype)
    if np.datetime_data(dtype)[0] in ("ns", "ps", "fs", "as"):
        moment = moment.astype(f"{np.dtype(dtype).kind}8[us]")
    known: Any = moment.item()
    if isinstance(known, int):
        return moment
    return _in_zone(known.replace(tzinfo=UTC), zone) if zone else known


def _in_zone(moment: Any, zone: str) -> Any:
    from zoneinfo import ZoneInfo

    try:
        return moment.astimezone(ZoneInfo(zone))
    except (LookupError, ValueError, OverflowError):
        return moment
