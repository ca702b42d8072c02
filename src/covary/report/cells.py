"""Columns in bins with round ends: what can be shown of them without showing a row."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary.table import Column

Floats = npt.NDArray[np.float64]

MOST_BINS = 20
# Figures without rows tell numbers to this share of the column's range, less than a pixel.
PRECISION = 1 / 500
DAY = 86_400
YEAR = 365 * DAY
# Steps that people count time in; below a second there is nothing round to them.
ROUND_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY]
ROUND_SECONDS += [14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, YEAR]


class Bins(NamedTuple):
    """The bin of each row, -1 where missing, and what each bin is: an interval or a word."""

    codes: npt.NDArray[np.int64]
    ends: list[tuple[Any, Any]]


def binned(column: Column) -> Bins:
    """Return a column in at most about 20 bins; a category has a bin per word."""
    values = column.values
    there = ~np.isnan(values)
    codes = np.full(values.size, -1)
    if not there.any():
        return Bins(codes, [])
    if column.kind in ("category", "boolean"):
        kinds = np.unique(values[there])
        codes[there] = np.searchsorted(kinds, values[there])
        words = [str(column.in_own_units(kind)) for kind in kinds.tolist()]
        return Bins(codes, [(word, word) for word in words])
    edges = _edges(values[there]) if column.kind == "number" else _moments(column)
    codes[there] = np.clip(np.searchsorted(edges, values[there], "right") - 1, 0, edges.size - 2)
    ends = [in_words(column, edge) for edge in edges.tolist()]
    return Bins(codes, list(pairwise(ends)))


def _edges(values: Floats) -> Floats:
    """Return round numbers as the ends of bins that cover all values."""
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.round(values)).all())
    step = round_step(high / MOST_BINS - low / MOST_BINS)
    if whole:
        step = max(1.0, float(round(step)))
    offset = 0.5 if whole else 0.0  # whole numbers lie in the middle of their bins
    first = math.floor((low + offset) / step)
    last = math.floor((high + offset) / step) + 1
    return np.asarray((float(first) + np.arange(last - first + 1)) * step - offset, np.float64)


def _moments(column: Column) -> Floats:
    """Return round dates or times as the ends of bins that cover all of a column."""
    per_second = 1.0 / seconds_of(column)
    low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
    least = (high - low) / MOST_BINS / per_second
    step = next((each for each in ROUND_SECONDS if each >= least), YEAR * round_step(least / YEAR))
    step = max(1, round(step * per_second))
    first = (column.origin + int(low)) // step  # of what the values count from, exactly
    last = (column.origin + int(high)) // step + 1
    return np.array([each * step - column.origin for each in range(first, last + 1)], np.float64)


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
    """Return a number as exactly as a figure can show it, and no more."""
    low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
    step = round_step(high * PRECISION - low * PRECISION)
    return float(f"{round(value / step) * step:.12g}")


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
    own = column.in_own_units(value)
    return own.isoformat() if hasattr(own, "isoformat") else str(own)
