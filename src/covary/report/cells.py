"""Columns in bins with round ends: what can be shown of them without showing a row."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary.names import printable
from covary.table import Column

Floats = npt.NDArray[np.float64]

MOST_BINS = 20
FEWER_BINS = 12
# Figures without rows tell numbers to this share of the column's range, less than a pixel.
PRECISION = 1 / 500
DAY = 86_400
YEAR = 365 * DAY
# Steps that people count time in, from a second to a year.
ROUND_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY]
ROUND_SECONDS += [14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, YEAR]


class Bins(NamedTuple):
    """The bin of each row, -1 where missing, and what each bin is: an interval or a word."""

    codes: npt.NDArray[np.int64]
    ends: list[tuple[Any, Any]]


def binned(column: Column, most: int = MOST_BINS) -> Bins:
    """Return a column in about so many bins at most; a category has a bin per word."""
    values = column.values
    there = ~np.isnan(values)
    codes = np.full(values.size, -1)
    if not there.any():
        return Bins(codes, [])
    if column.kind in ("category", "boolean"):
        kinds = np.unique(values[there])
        codes[there] = np.searchsorted(kinds, values[there])
        words = [in_words(column, kind) for kind in kinds.tolist()]
        return Bins(codes, [(word, word) for word in words])
    edges = _edges(column, values[there], most)
    codes[there] = np.clip(np.searchsorted(edges, values[there], "right") - 1, 0, edges.size - 2)
    ends = [in_words(column, edge) for edge in edges.tolist()]
    return Bins(codes, list(pairwise(ends)))


def _edges(column: Column, values: Floats, most: int) -> Floats:
    """Return round numbers, dates or times as the ends of bins that cover all values."""
    low, high = float(values.min()), float(values.max())
    step = round_step(high / most - low / most)
    if column.kind == "date":
        step = _round_time(column, high / most - low / most)
    elif not is_whole(column):
        first, last = math.floor(low / step), math.floor(high / step) + 1
        return np.asarray((float(first) + np.arange(last - first + 1)) * step, np.float64)
    # Round in what the column counts, not in what its values count from, and exactly so.
    whole = max(1, round(step))
    first, last = (column.origin + int(low)) // whole, (column.origin + int(high)) // whole + 1
    ends = [each * whole - column.origin for each in range(first, last + 1)]
    offset = 0.5 if column.kind == "number" else 0.0  # whole numbers lie between the ends
    return np.array([end - offset for end in ends], np.float64)


def _round_time(column: Column, least: float) -> float:
    """Return a step that people count time in, of at least so much, in units of the column."""
    seconds = seconds_of(column)
    least *= seconds
    if least < 1:
        step = round_step(least)
    else:
        step = next((s for s in ROUND_SECONDS if s >= least), YEAR * round_step(least / YEAR))
    return step / seconds


def round_step(least: float) -> float:
    """Return the next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that is at least this.

    Examples
    --------
    >>> round_step(0.3), round_step(12), round_step(1)
    (0.5, 20.0, 1.0)

    """
    if not 1e-300 < least < 1e300:
        return least or 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(float(f"{k * power:.3g}") for k in (1, 2, 5, 10) if k * power >= least * 0.999999)


def coarse(column: Column, value: float) -> float:
    """Return a number as exactly as a figure can show it, and no more.

    One of a column of whole numbers lies half-way to the next.
    """
    values = column.values[~np.isnan(column.values)]
    low, high = float(values.min()), float(values.max())
    step = round_step(high * PRECISION - low * PRECISION)
    if is_whole(column):
        step = max(1.0, float(round(step)))
        return math.floor(value / step) * step + step / 2
    return min(max(float(f"{round(value / step) * step:.12g}"), -1.7e308), 1.7e308)


def is_whole(column: Column) -> bool:
    """Return whether a column holds whole numbers only."""
    values = column.values[~np.isnan(column.values)]
    return bool(column.origin) or bool((values == np.round(values)).all())


def seconds_of(column: Column) -> float:
    """Return how many seconds one is, in a column of dates, times or durations."""
    unit = np.dtype("timedelta64[ns]" if column.dtype == "time" else column.dtype)
    one = np.ones(1, unit.str.replace("M8", "m8"))
    return float((one / np.timedelta64(1, "s"))[0])


def is_duration(column: Column) -> bool:
    """Return whether a column holds times of day or durations, which are shown in hours."""
    return column.kind == "date" and not column.dtype.startswith("datetime")


def in_words(column: Column, value: float) -> Any:
    """Return a value as Vega-Lite takes it: numbers as such, the rest as text."""
    if math.isnan(value):
        return None
    if column.kind == "number":
        return float(column.origin + value)
    if is_duration(column):
        return (column.origin + value) * seconds_of(column) / 3600
    return own_words(column.in_own_units(value))


def own_words(value: Any) -> str:
    """Return a date as JavaScript reads it, as its clock showed it, and other labels as text."""
    if not hasattr(value, "isoformat"):
        return printable(value)
    clock = value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
    # Without a time, JavaScript would take it for midnight in Greenwich.
    return clock.isoformat() if hasattr(value, "hour") else f"{clock.isoformat()}T00:00:00"
