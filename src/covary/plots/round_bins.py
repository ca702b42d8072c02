"""Bins between round numbers: they show a column without a value of any row."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import Floats, Integers
from covary.plots.chart_values import chart_value, is_whole, seconds_per_unit
from covary.table import Column

MAX_ROUND_BINS = 20
# Without rows, figures round numbers to this fraction of the range: less than a pixel.
PRECISION = 1 / 500
# A column is skewed if its median is in this part of its range.
SKEWED = 0.1
GROWING = (1, 1.5, 2, 3, 5, 7)
DAY = 86_400
YEAR = 365 * DAY
# Usual units of time, in seconds, from a second to a year.
ROUND_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY]
ROUND_SECONDS += [14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, YEAR]


class RoundBins(NamedTuple):
    """The bins of a column.

    Parameters
    ----------
    codes : the bin of each row, -1 where the value is missing
    ends : for each bin its lower and upper end
    edges : the same ends as values of the column
    """

    codes: Integers
    ends: list[tuple[Any, Any]]
    edges: Floats = np.empty(0)

    def without_small(self, min_rows: int) -> RoundBins:
        """Return larger bins: neighbours are joined until each has this many rows."""
        if not self.ends:
            return self
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.ends))
        first, rows = [0], 0
        for at, count in enumerate(counts.tolist()):
            if rows >= min_rows and counts[at:].sum() >= min_rows:
                first.append(at)
                rows = 0
            rows += count
        last = [*(at - 1 for at in first[1:]), len(self.ends) - 1]
        bin_of = np.append(np.searchsorted(first, np.arange(len(self.ends)), "right") - 1, -1)
        ends = [(self.ends[a][0], self.ends[b][1]) for a, b in zip(first, last, strict=True)]
        return RoundBins(bin_of[self.codes], ends, self.edges[[*first, len(self.ends)]])


def round_bins(column: Column, max_bins: int = MAX_ROUND_BINS) -> RoundBins:
    """Return a column of numbers or dates in bins.

    Parameters
    ----------
    column : the column
    max_bins : the approximate maximum; rounding the ends can add a few bins
    """
    values = column.values
    present = ~np.isnan(values)
    codes = np.full(values.size, -1)
    if not present.any():
        return RoundBins(codes, [])
    edges = _edges(column, values[present], max_bins)
    codes[present] = np.clip(
        np.searchsorted(edges, values[present], "right") - 1, 0, edges.size - 2
    )
    ends = [chart_value(column, edge) for edge in edges.tolist()]
    return RoundBins(codes, list(pairwise(ends)), edges)


def skewed_bins(column: Column) -> RoundBins | None:
    """Return bins of a skewed column whose widths grow with its values; None if it is not skewed.

    Skewed means that no value is negative, and that most are in the lowest tenth of the range.
    """
    values = column.values
    present = ~np.isnan(values)
    if column.kind != "number" or column.origin or not present.any():
        return None
    low, median, high = np.quantile(values[present], [0.0, 0.5, 1.0]).tolist()
    if low < 0.0 or median - low >= SKEWED * (high - low):
        return None
    powers = range(
        math.floor(math.log10(np.quantile(values[values > 0.0], 0.05))),
        math.floor(math.log10(high)) + 2,
    )
    edges = np.array([0.0, *(float(f"{k}e{power}") for power in powers for k in GROWING)])
    if is_whole(column):
        edges = np.unique(np.ceil(edges)) - 0.5
    inside = (np.append(edges[1:], np.inf) > low) & (np.append(-np.inf, edges[:-1]) <= high)
    edges = edges[inside]
    codes = np.full(values.size, -1)
    codes[present] = np.clip(
        np.searchsorted(edges, values[present], "right") - 1, 0, edges.size - 2
    )
    return RoundBins(codes, list(pairwise(edges.tolist())), edges)


def _edges(column: Column, values: Floats, max_bins: int) -> Floats:
    """Return round numbers, dates or times as edges of bins that cover all values."""
    low, high = float(values.min()), float(values.max())
    step = round_step(high / max_bins - low / max_bins)
    if column.kind == "date":
        step = _round_time(column, high / max_bins - low / max_bins)
    elif not is_whole(column):
        first, last = math.floor(low / step), math.floor(high / step) + 1
        return np.asarray((float(first) + np.arange(last - first + 1)) * step, np.float64)
    # The values count from an origin. Edges must be round, and exact, including the origin.
    whole = max(1, round(step))
    first, last = (column.origin + int(low)) // whole, (column.origin + int(high)) // whole + 1
    ends = [each * whole - column.origin for each in range(first, last + 1)]
    offset = 0.5 if column.kind == "number" else 0.0  # no whole number lies on an edge
    return np.array([end - offset for end in ends], np.float64)


def _round_time(column: Column, minimum: float) -> float:
    """Return a usual unit of time that is at least ``minimum``, in units of the column."""
    seconds = seconds_per_unit(column)
    minimum *= seconds
    if minimum < 1:
        step = round_step(minimum)
    else:
        step = next((s for s in ROUND_SECONDS if s >= minimum), YEAR * round_step(minimum / YEAR))
    return step / seconds


def round_step(minimum: float) -> float:
    """Return the first of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that is at least ``minimum``.

    Examples
    --------
    >>> round_step(0.3), round_step(12), round_step(1)
    (0.5, 20.0, 1.0)

    """
    if not 1e-300 < minimum < 1e300:
        return minimum or 1.0
    power = 10.0 ** math.floor(math.log10(minimum))
    return next(
        float(f"{k * power:.3g}") for k in (1, 2, 5, 10) if k * power >= minimum * 0.999999
    )


def coarse_value(column: Column, value: float) -> float:
    """Return a number rounded to 1/500 of the range of its column.

    In a column of whole numbers the result lies halfway between two of them.
    """
    values = column.values[~np.isnan(column.values)]
    low, high = float(values.min()), float(values.max())
    step = round_step(high * PRECISION - low * PRECISION)
    if is_whole(column):
        step = max(1.0, float(round(step)))
        return math.floor(value / step) * step + step / 2
    return min(max(float(f"{round(value / step) * step:.12g}"), -1.7e308), 1.7e308)
