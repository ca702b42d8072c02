"""Values of columns as charts show them: numbers, hours, dates and labels."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from covary.array_types import Integers
from covary.formatting import printable
from covary.plots.figures.style import rounded
from covary.plots.levels import MAX_CHARACTERS_OF_TOOLTIP, shortened, visible_text
from covary.table import Column

# The types of axes of Vega-Lite.
Scale = Literal["quantitative", "temporal", "ordinal"]


def chart_scale(column: Column) -> Scale:
    """Return the type of axis that shows a column."""
    if column.kind == "number" or is_duration(column):
        return "quantitative"
    return "temporal" if column.kind == "date" else "ordinal"


def axis_title(column: Column, label: Any) -> Any:
    """Return the label of a column, with its unit if the chart shows another unit."""
    return f"{label} (hours)" if is_duration(column) else label


def chart_values(column: Column, rows: Integers) -> list[Any]:
    """Return the values of some rows; numbers have only the digits that a chart can show."""
    values = [chart_value(column, value) for value in column.values[rows].tolist()]
    return rounded(values) if chart_scale(column) == "quantitative" else values


def chart_value(column: Column, value: float) -> Any:
    """Return a value for Vega-Lite: a number, text, or None if it is missing."""
    if math.isnan(value):
        return None
    if column.kind == "number":
        return float(column.origin + value)
    if is_duration(column):
        return (column.origin + value) * seconds_per_unit(column) / 3600
    own = column.in_own_units(value)
    if column.kind == "date":
        return chart_text(own)
    return shortened(visible_text(own), MAX_CHARACTERS_OF_TOOLTIP)


def chart_text(value: Any) -> str:
    """Return a date in local time as JavaScript reads it, or as text if it is not a date."""
    if not hasattr(value, "isoformat"):
        return printable(value)
    local = value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
    # JavaScript reads a date without a time as midnight in UTC.
    return local.isoformat() if hasattr(value, "hour") else f"{local.isoformat()}T00:00:00"


def is_duration(column: Column) -> bool:
    """Return whether a column holds durations or times of day; charts show them in hours."""
    return column.kind == "date" and not column.dtype.startswith("datetime")


def is_whole(column: Column) -> bool:
    """Return whether all values of a column are whole numbers."""
    values = column.values[~np.isnan(column.values)]
    return bool(column.origin) or bool((values == np.round(values)).all())


def has_two_values(column: Column) -> bool:
    """Return whether a column of numbers has two values, which are whole: such as 0 and 1."""
    if column.kind != "number" or not is_whole(column):
        return False
    values = column.values[~np.isnan(column.values)]
    ends = (values.min(initial=np.inf), values.max(initial=-np.inf))
    return bool(ends[0] < ends[1] and np.isin(values, ends).all())


def seconds_per_unit(column: Column) -> float:
    """Return the length in seconds of one unit of a column of dates, times or durations."""
    unit = np.dtype("timedelta64[ns]" if column.dtype == "time" else column.dtype)
    one = np.ones(1, unit.str.replace("M8", "m8"))
    return float((one / np.timedelta64(1, "s"))[0])
