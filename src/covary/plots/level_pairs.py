"""The data of panels with levels: shares in tiles, quantiles of boxes, stacked shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary.array_types import Floats, Integers
from covary.plots.chart_values import chart_scale, chart_value, has_two_values, is_whole
from covary.plots.figure_source import FigureSource
from covary.plots.figures.level_panels import (
    Boxes,
    LevelAxis,
    LevelColours,
    LevelPanel,
    Shares,
    Tiles,
)
from covary.plots.figures.style import Spec, rounded
from covary.plots.levels import MAX_COLOURS, MAX_LEVELS, Levels, has_levels
from covary.plots.round_bins import RoundBins, round_bins, skewed_bins
from covary.table import Column

QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}
# Fewer rows have no box, only a median.
MIN_ROWS_OF_BOX = 5
# Neighbouring bins form stacks of at least this many rows, and this part of all rows: narrow
# stacks where there are many rows.
INITIAL_BINS = 60
MIN_ROWS_OF_STACK = 10
MIN_PART_OF_STACK = 0.05
GOLDEN_RATIO = 0.6180339887


class LevelPairs:
    """Panels of pairs of columns of which at least one has levels.

    Parameters
    ----------
    source : the table, and results that figures share
    coarse : whether no value of a row, and no level of very few rows, may remain in the panels
    """

    def __init__(self, source: FigureSource, *, coarse: bool = False) -> None:
        self.source = source
        self.coarse = coarse
        self.columns = source.record.prepared.table.columns

    def panel(self, one: int, other: int) -> LevelPanel | None:
        """Return the panel of two columns, the first of which explains the second.

        It is None if neither of them has levels.

        Parameters
        ----------
        one, other : the positions of the columns
        """
        x_has_levels, y_has_levels = self._which_have_levels(one, other)
        if not (x_has_levels or y_has_levels):
            return None
        if not y_has_levels:
            return self._boxes(one, other)
        if not x_has_levels:
            return self._shares(one, other)
        return self._tiles(one, other)

    def _which_have_levels(self, one: int, other: int) -> tuple[bool, bool]:
        """Return which of two columns are shown as levels.

        Beside a column with named values, so is a number with two values, such as 0 and 1.
        """
        x, y = self.columns[one], self.columns[other]
        return (
            has_levels(x) or (has_levels(y) and has_two_values(x)),
            has_levels(y) or (has_levels(x) and has_two_values(y)),
        )

    def _levels(self, column: int, most: int = MAX_LEVELS) -> Levels:
        return self.source.levels(column, most, coarse=self.coarse)

    def _level_order(self, column: int, other: int, most: int = MAX_LEVELS) -> list[int]:
        return self.source.level_order(column, other, most, coarse=self.coarse)

    def axis(self, column: int, other: int) -> LevelAxis:
        """Return a column as an axis, in the order of its association with another one."""
        return self._axis(column, self._level_order(column, other))

    def colours(self, column: int) -> LevelColours:
        """Return a column as colours of points."""
        levels = self._levels(column, MAX_COLOURS)
        return self._colours(column, list(range(len(levels.texts))))

    def _axis(self, column: int, order: Sequence[int], most: int = MAX_LEVELS) -> LevelAxis:
        levels = self._levels(column, most)
        pooled = levels.texts[-1] if levels.n_pooled else ""
        name = self.source.record.labels[column]
        return LevelAxis(
            name, level_field(column, most), [levels.texts[at] for at in order], pooled
        )

    def _colours(self, column: int, order: Sequence[int]) -> LevelColours:
        has_order = self._levels(column, MAX_COLOURS).has_order
        return LevelColours(self._axis(column, order, MAX_COLOURS), order, has_order)

    # ------------------------------------------------------------ fields of rows

    def row_fields(self, one: int, other: int, rows: Integers) -> dict[str, list[Any]]:
        """Return what the panel of two columns needs of the drawn rows, besides their values."""
        x_has_levels, y_has_levels = self._which_have_levels(one, other)
        if not (x_has_levels or y_has_levels):
            return {}
        if not x_has_levels:
            return {_stack_name(one, other): self._places(one, other, rows)}
        fields = {level_field(one): self.levels_of(one, rows)}
        if y_has_levels:
            fields[level_field(other)] = self.levels_of(other, rows)
        return fields

    def levels_of(self, column: int, rows: Integers, most: int = MAX_LEVELS) -> list[Any]:
        """Return the shown levels of rows, on axes or, with ``MAX_COLOURS``, as colours."""
        levels = self._levels(column, most)
        texts = [*levels.texts, None]
        return [texts[code] for code in levels.codes[rows].tolist()]

    def _places(self, one: int, other: int, rows: Integers) -> list[Any]:
        """Return the places of rows in a panel of stacked shares."""
        levels, bins, order, counts = self._stacks(one, other)
        starts, heights = _stacked(counts, order)
        level, place = levels.codes[rows], bins.codes[rows]
        inside = 0.1 + 0.8 * ((rows + 1) * GOLDEN_RATIO % 1.0)
        y = starts[place, level] + heights[place, level] * inside
        return [None if k < 0 else round(v, 4) for k, v in zip(level, y.tolist(), strict=True)]

    # ------------------------------------------------------------ panels

    def _tiles(self, one: int, other: int) -> Tiles:
        of_x, of_y = self._levels(one), self._levels(other)
        counts = _joint_counts(of_x.codes, len(of_x.texts), of_y)[:-1]
        x_order = self._level_order(one, other)
        y_order = _order_by_mean(of_y, of_x, x_order, counts.T)
        # Equally associated levels become neighbours if they are so for the same level.
        x_order = _order_by_mean(of_x, of_y, y_order, counts)
        y_order = _order_by_mean(of_y, of_x, x_order, counts.T)
        if of_y.has_order:  # low values are at the bottom
            y_order = y_order[::-1]
        x, y = self._axis(one, x_order), self._axis(other, y_order)
        cells = []
        for i, j in zip(*(at.tolist() for at in np.nonzero(counts)), strict=True):
            cell = {x.field: of_x.texts[i], y.field: of_y.texts[j]}
            cells.append({**cell, **_share(counts[i, j], counts[i].sum())})
        return Tiles(x, y, cells)

    def _boxes(self, one: int, other: int) -> Boxes:
        axis, levels, column = self.axis(one, other), self._levels(one), self.columns[other]
        bins = round_bins(column) if self.coarse else None
        boxes = []
        for level, text in enumerate(levels.texts):
            rows = np.flatnonzero((levels.codes == level) & ~np.isnan(column.values))
            if rows.size:
                quantiles = _quantiles(column, rows, bins)
                boxes.append({axis.field: text, **quantiles, "rows": rows.size})
        return Boxes(axis, _with_few_digits(column, boxes))

    def _stacks(self, one: int, other: int) -> tuple[Levels, RoundBins, list[int], Integers]:
        """Return levels, bins, the order of the levels and the counts of rows.

        The last line of the counts is for rows without a value of the first column.
        """
        levels = self._levels(other, MAX_COLOURS)
        column = self.columns[one]
        bins = skewed_bins(column) or round_bins(column, INITIAL_BINS)
        n_present = int(np.count_nonzero(bins.codes >= 0))
        bins = bins.without_small(max(MIN_ROWS_OF_STACK, math.ceil(MIN_PART_OF_STACK * n_present)))
        order = self._level_order(other, one, MAX_COLOURS)
        if levels.has_order:  # low values are at the bottom
            order = order[::-1]
        return levels, bins, order, _joint_counts(bins.codes, len(bins.ends), levels)

    def _shares(self, one: int, other: int) -> Shares:
        levels, bins, order, counts = self._stacks(one, other)
        x_field, y_field = f"c{one}", _stack_name(one, other)
        from_share, heights = _stacked(counts, order)
        segments, missing = [], []
        for place, level in zip(*(at.tolist() for at in np.nonzero(counts)), strict=True):
            start, height = from_share[place, level], heights[place, level]
            segment = {
                "level": levels.texts[level],
                y_field: round(start, 4),
                "y2": round(start + height, 4),
                **_share(counts[place, level], counts[place].sum()),
            }
            if place == len(bins.ends):
                missing.append({**segment, "x": "missing"})
            else:
                low, high = bins.ends[place]
                segments.append({x_field: low, "x2": high, **segment})
        any_missing = bool(((levels.codes < 0) & (bins.codes >= 0)).any())
        colours = self._colours(other, order)
        edges: list[float] = []
        if skewed_bins(self.columns[one]) is not None:  # a bin of whole numbers starts 0.5 earlier
            starts = np.ceil(bins.edges) if is_whole(self.columns[one]) else bins.edges
            edges = starts.tolist()
        return Shares(colours, x_field, y_field, segments, missing, any_missing, edges)


def level_field(column: int, most: int = MAX_LEVELS) -> str:
    """Return the name of the shown levels of a column in the data of figures."""
    return f"{'g' if most == MAX_LEVELS else 'k'}{column}"


def _stack_name(one: int, other: int) -> str:
    return f"s{one}_{other}"


def _share(count: int, total: int) -> Spec:
    return {"share": round(float(count / total), 4), "rows": int(count), "of": int(total)}


def _joint_counts(codes: Integers, n_codes: int, levels: Levels) -> Integers:
    """Return the number of rows with each code (lines) and level; missing codes are the last."""
    n_levels = len(levels.texts)
    present = levels.codes >= 0
    lines = np.where(codes < 0, n_codes, codes)[present]
    counts = np.bincount(
        lines * n_levels + levels.codes[present], minlength=(n_codes + 1) * n_levels
    )
    return counts.reshape(n_codes + 1, n_levels)


def _order_by_mean(
    levels: Levels, others: Levels, order: Sequence[int], counts: Integers
) -> list[int]:
    """Return levels by the mean position of their rows among other levels; pooled ones are last.

    Parameters
    ----------
    levels : the levels; if they have an order of their own, they keep it
    others : the levels of another column
    order : the order of the others
    counts : the number of rows; lines are levels, columns are others
    """
    everything = list(range(len(levels.texts)))
    if levels.has_order:
        return everything
    named = counts[: levels.n_named][:, [level for level in order if level < others.n_named]]
    totals = named.sum(axis=1)
    means = named @ np.arange(named.shape[1]) / np.maximum(totals, 1)
    found = np.argsort(np.where(totals > 0, np.round(means, 9), np.inf), kind="stable")
    return [*found.tolist(), *everything[levels.n_named :]]


def _stacked(counts: Integers, order: Sequence[int]) -> tuple[Floats, Floats]:
    """Return start and height of each segment; the first level of the order is at the top."""
    heights = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    starts = np.empty(heights.shape)
    starts[:, order] = 1.0 - np.cumsum(heights[:, order], axis=1)
    return np.maximum(starts, 0.0), heights


def _quantiles(column: Column, rows: Integers, bins: RoundBins | None) -> Spec:
    """Return quantiles of the values of some rows; with bins, from counts alone."""
    wanted = QUANTILES
    if rows.size < MIN_ROWS_OF_BOX:
        wanted = {"median": 0.5}
    parts = np.array(list(wanted.values()))
    if bins is None:
        found = np.quantile(column.values[rows], parts, method="inverted_cdf")
    else:
        counts = np.bincount(bins.codes[rows], minlength=len(bins.ends))
        up_to = np.append(0, np.cumsum(counts)) / rows.size
        at = np.searchsorted(up_to, parts) - 1  # the bin of each quantile
        inside = (parts - up_to[at]) / (up_to[at + 1] - up_to[at])
        found = bins.edges[at] * (1.0 - inside) + bins.edges[at + 1] * inside
    return dict(zip(wanted, found.tolist(), strict=True))


def _with_few_digits(column: Column, boxes: list[Spec]) -> list[Spec]:
    """Return boxes with the values that a chart shows."""
    for name in QUANTILES:
        values = [chart_value(column, box[name]) if name in box else None for box in boxes]
        if chart_scale(column) == "quantitative":
            values = rounded(values)
        for box, value in zip(boxes, values, strict=True):
            box[name] = value
    return boxes
