"""Figures of one set of columns as Vega-Lite data, and sentences about them."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import Booleans, Integers
from covary.plots.chart_values import (
    axis_title,
    chart_scale,
    chart_text,
    chart_value,
    chart_values,
    is_duration,
    is_whole,
)
from covary.plots.curves import Fit
from covary.plots.figure_source import FigureSource, random_rows
from covary.plots.figures.level_panels import LevelColours, Shares, Tiles
from covary.plots.figures.null_distribution import null_distribution
from covary.plots.figures.pair_panels import (
    Axis,
    Pair,
    Pairs,
    PointColour,
    count_panels,
    scatter_panels,
)
from covary.plots.figures.style import Spec, shown_label
from covary.plots.level_pairs import LevelPairs, level_field
from covary.plots.levels import MAX_COLOURS, MAX_LEVELS, frequent_levels, has_levels
from covary.plots.panel_notes import panel_notes
from covary.plots.round_bins import MAX_ROUND_BINS, RoundBins, coarse_value, round_bins
from covary.results import Step
from covary.table import Column

MAX_DRAWN_ROWS = 500
MAX_AXES = 6
# With at least this many columns there are many panels: they have fewer bins.
MANY_AXES = 4
MAX_BINS_OF_MANY_AXES = 12
# The colours of points cover the values between these quantiles.
COLOUR_QUANTILES = (0.05, 0.95)


class MarkableAxis(NamedTuple):
    """A column whose rows can be marked: by a level, or by a quarter of its numbers.

    Parameters
    ----------
    field : its name in the data of the figure
    label : the user's name of the column
    levels : its levels; empty if it is numeric
    """

    field: str
    label: str
    levels: tuple[str, ...] = ()


class SetFigures:
    """Figures of one set of columns as Vega-Lite data.

    Parameters
    ----------
    source : the data of the figures
    columns : the positions of the columns of the set
    target : the position of the explained column; without it, that of the search
    """

    def __init__(
        self, source: FigureSource, columns: Sequence[int], target: int | None = None
    ) -> None:
        self.source = source
        self.record = source.record
        self.columns = tuple(columns)
        self.target = self.record.target if target is None else target
        self._level_pairs = LevelPairs(source)
        self._known_pairs: dict[bool, dict[tuple[int, int], Pair]] = {}

    @cached_property
    def order(self) -> list[int]:
        """The columns that are drawn, in the order of the explanation; a target is the last."""
        order = self.source.order(self.columns, self.target)
        if self.target is not None:
            order.remove(self.target)
            return [*order[: MAX_AXES - 1], self.target]
        return order[:MAX_AXES]

    @property
    def drawn_columns(self) -> list[Column]:
        """The columns of ``order`` with their values."""
        return [self.record.prepared.table.columns[column] for column in self.order]

    # ------------------------------------------------------------ figures

    def projections(
        self, max_rows: int = MAX_DRAWN_ROWS, seed: int = 0, *, unique_names: bool = False
    ) -> Spec:
        """Return scatter plots of all pairs of columns.

        Parameters
        ----------
        max_rows : the maximum number of rows to draw
        seed : random seed for the choice of rows
        unique_names : whether the figure must be usable as a part of another chart
        """
        rows = self.drawn_rows(max_rows, seed)
        axes = [
            axis._replace(values=chart_values(column, rows))
            for axis, column in zip(self._axes, self.drawn_columns, strict=True)
        ]
        key = f"_{zlib.crc32(repr(axes).encode()):x}" if unique_names else ""
        pairs = self._pairs()
        fields = self._row_fields(rows, pairs)
        return scatter_panels(axes, (rows + 1).tolist(), pairs, key, fields)

    def _row_fields(self, rows: Integers, pairs: Pairs) -> dict[str, list[Any]]:
        """Return what panels and colours with levels need of the drawn rows."""
        fields: dict[str, list[Any]] = {}
        for one, other in pairs:
            fields |= self._level_pairs.row_fields(self.order[one], self.order[other], rows)
        coloured = [p.colour for p in pairs.values() if isinstance(p.colour, LevelColours)]
        names = {colour.axis.field for colour in coloured}
        for at, column in zip(self.order, self.drawn_columns, strict=True):
            for most in (MAX_LEVELS, MAX_COLOURS) if has_levels(column) else ():
                name = level_field(at, most)
                if most == MAX_LEVELS or name in names:
                    fields[name] = self._level_pairs.levels_of(at, rows, most)
        return fields

    def counts(self) -> Spec:
        """Return counts of rows for all pairs of columns; no value of a row is in the figure."""
        columns = self.drawn_columns
        max_bins = MAX_ROUND_BINS if len(columns) < MANY_AXES else MAX_BINS_OF_MANY_AXES
        pairs = self._pairs(coarse=True)
        counts = {
            (one, other): _cell_counts(
                round_bins(columns[one], max_bins), round_bins(columns[other], max_bins)
            )
            for (one, other), pair in pairs.items()
            if pair.panel is None
        }
        return count_panels(self._axes, counts, pairs)

    def null_distribution(self) -> Spec | None:
        """Return the null distribution of the evidence; None if the set was not tested."""
        tested = self.record.tested.get(self.columns)
        if tested is None or tested.null.size == 0:
            return None
        return null_distribution(tested.null, tested.observed, tested.pvalue)

    # ------------------------------------------------------------ rows

    def drawn_rows(self, max_rows: int, seed: int) -> Integers:
        """Return the rows to draw; at most half of them have a missing cell, if possible."""
        complete, partial = self._complete_and_partial
        n_complete, n_partial = int(complete.sum()), int(partial.sum())
        share = min(0.5, n_partial / max(n_complete + n_partial, 1))
        wanted = max(round(max_rows * (1 - share)), max_rows - n_partial)
        chosen = random_rows(complete, wanted, seed)
        others = random_rows(partial, max_rows - chosen.size, seed)
        return np.sort(np.concatenate([chosen, others]))

    @cached_property
    def _complete_and_partial(self) -> tuple[Booleans, Booleans]:
        """Which rows have a value in all drawn columns, and which only in some."""
        present = ~np.isnan(np.array([column.values for column in self.drawn_columns]))
        complete = present.all(axis=0)
        return complete, present.any(axis=0) & ~complete

    def rows_without_explanation(self, step: Step) -> int:
        """Return the number of rows with a value of the target but not of its conditions.

        It is 0 if these are at most half of the rows with a value of the target, or if they do not
        count.
        """
        if not step.missing_as_bin:
            return 0
        columns = self.record.prepared.table.columns
        values = {column.name: column.values for column in columns}
        present = ~np.isnan(values[step.target])
        missing = present & np.any([np.isnan(values[name]) for name in step.by], axis=0)
        return int(missing.sum()) if 2 * missing.sum() > present.sum() else 0

    # ------------------------------------------------------------ sentences

    def note_on_rows(self, max_rows: int = MAX_DRAWN_ROWS) -> str:
        """Return a note on the rows and columns that the scatter plots show."""
        if all(isinstance(pair.panel, Tiles | Shares) for pair in self._pairs().values()):
            return "; ".join(self._note_on_columns())  # rows are drawn only if they are marked
        complete, partial = self._complete_and_partial
        rows = self.drawn_rows(max_rows, 0)
        notes = [f"{int(complete[rows].sum()):,} of {int(complete.sum()):,} rows are drawn"]
        if partial[rows].any():
            drawn, total = int(partial[rows].sum()), int(partial.sum())
            notes[0] = notes[0].replace("rows are drawn", "complete rows are drawn as points")
            notes.append(
                f"{drawn:,} of {total:,} rows with a missing cell are drawn as ticks at the edge"
            )
        n_empty = complete.size - int(complete.sum()) - int(partial.sum())
        if n_empty:
            notes.append(f"{n_empty:,} rows have no value in these columns")
        return "; ".join([*notes, *self._note_on_columns()])

    def note_on_counts(self) -> str:
        """Return a note on the rows and columns that the counts cover."""
        notes = ["Counts of rows; this page does not show single rows"]
        n_partial = int(self._complete_and_partial[1].sum())
        if n_partial:
            notes.append(f"{n_partial:,} rows have a missing cell in these columns")
        return "; ".join([*notes, *self._note_on_columns()])

    def notes_on_panels(self, *, with_rows: bool) -> list[str]:
        """Return sentences that say how to read the panels."""
        return panel_notes(self._pairs(coarse=not with_rows), with_rows=with_rows)

    def _note_on_columns(self) -> list[str]:
        n_columns = len(self.source.order(self.columns, self.target))
        if n_columns <= len(self.order):
            return []
        return [f"{len(self.order)} of {n_columns} columns are drawn"]

    # ------------------------------------------------------------ parts of figures

    def steps(self, *, coarse: bool = False) -> list[Step]:
        """Return the steps of the explanation that have explaining columns.

        Parameters
        ----------
        coarse : whether to round cuts, so that no value of the table remains
        """
        explanation = self.source.explanation(self.columns, self.target)
        steps = [step for step in explanation.steps if step.by] if explanation else []
        return [self._coarse_step(step) for step in steps] if coarse else steps

    def _coarse_step(self, step: Step) -> Step:
        by_name = {column.name: column for column in self.record.prepared.table.columns}
        cuts = {name: _coarse_cuts(by_name[name], values) for name, values in step.cuts.items()}
        return dataclasses.replace(step, cuts=cuts)

    def markable_axes(self) -> list[MarkableAxis]:
        """Return the columns with a numeric axis or with levels."""
        axes = []
        for at, axis, column in zip(self.order, self._axes, self.drawn_columns, strict=True):
            if has_levels(column):
                levels = tuple(self.source.levels(at).texts)
                axes.append(MarkableAxis(level_field(at), shown_label(axis.name), levels))
            elif axis.scale == "quantitative":
                axes.append(MarkableAxis(axis.field, shown_label(axis.name)))
        return axes

    @cached_property
    def _axes(self) -> list[Axis]:
        """The drawn columns as axes, without their values."""
        return [
            Axis(
                axis_title(column, self.record.labels[at]),
                f"c{at}",
                chart_scale(column),
                whole=column.kind == "number" and is_whole(column),
            )
            for at, column in zip(self.order, self.drawn_columns, strict=True)
        ]

    def _pairs(self, *, coarse: bool = False) -> dict[tuple[int, int], Pair]:
        """Return the content of the panel of each pair of drawn columns."""
        if coarse not in self._known_pairs:
            self._known_pairs[coarse] = self._compute_pairs(coarse)
        return self._known_pairs[coarse]

    def _compute_pairs(self, coarse: bool) -> dict[tuple[int, int], Pair]:
        steps = self.steps(coarse=coarse)
        cuts = {(by, step.target): step.cuts.get(by, ()) for step in steps for by in step.by}
        columns = self.drawn_columns
        level_pairs = LevelPairs(self.source, coarse=True) if coarse else self._level_pairs
        pairs = {}
        for one, other in combinations(range(len(columns)), 2):
            x, y = columns[one], columns[other]
            fit = None
            if x.kind == y.kind == "number":
                fit = self.source.fit(self.order[one], self.order[other])
            if fit is not None and coarse:
                fit = _coarse_fit(fit, x, y)
            where: Sequence[Any] = cuts.get((x.name, y.name), ())
            if x.kind == "date" and not is_duration(x):
                where = [chart_text(cut) for cut in where if hasattr(cut, "isoformat")]
            elif x.kind != "number":
                where = ()
            panel = level_pairs.panel(self.order[one], self.order[other])
            if isinstance(panel, Tiles):  # the cuts of a number with two values are clear
                where = ()
            has_points = not coarse and not isinstance(panel, Tiles | Shares)
            colour = self._colour(one, other) if has_points else None
            pairs[one, other] = Pair(fit, where, colour, panel)
        return pairs

    def _colour(self, one: int, other: int) -> PointColour | LevelColours | None:
        """Return the column that explains the second column together with the first, if any."""
        columns = self.drawn_columns
        names = [column.name for column in columns]
        for step in self.steps():
            adds = dict(zip(step.by, step.adds, strict=False))
            partners = [name for name in step.by if name != names[one] and name in names]
            if step.target == names[other] and names[one] in step.by and partners:
                # Of several partners, the one that adds most.
                third = names.index(max(partners, key=lambda name: adds.get(name, 0.0)))
                if has_levels(columns[third]):
                    return self._level_pairs.colours(self.order[third])
                if chart_scale(columns[third]) == "quantitative":
                    ends = np.nanquantile(columns[third].values, COLOUR_QUANTILES).tolist()
                    low, high = (chart_value(columns[third], end) for end in ends)
                    return PointColour(third, low, high) if low < high else None
        return None


def _coarse_cuts(column: Column, cuts: Sequence[Any]) -> tuple[Any, ...]:
    """Return cuts that are no values of the table, or groups without the names of rare levels."""
    if column.kind == "number":
        return tuple(coarse_value(column, cut) for cut in cuts)
    if column.kind != "nominal":
        return ()
    frequent = frequent_levels(column)
    named = [tuple(label for label in group if label in frequent) for group in cuts]
    return tuple(
        few if len(few) == len(group) else (*few, "...")
        for few, group in zip(named, cuts, strict=True)
    )


def _cell_counts(one: RoundBins, other: RoundBins) -> list[Spec]:
    """Return the number of rows in each cell that is not empty."""
    both = (one.codes >= 0) & (other.codes >= 0)
    width = max(len(other.ends), 1)
    counts = np.bincount(one.codes[both] * width + other.codes[both])
    cells = []
    for cell in np.flatnonzero(counts).tolist():
        (x, x2), (y, y2) = one.ends[cell // width], other.ends[cell % width]
        cells.append({"x": x, "x2": x2, "y": y, "y2": y2, "rows": int(counts[cell])})
    return cells


def _coarse_fit(fit: Fit, one: Column, other: Column) -> Fit:
    """Return a curve whose points are rounded: neither its ends nor its corners are values."""
    ends = np.array([end for end, _ in round_bins(one).ends][1:])
    x = ends[(ends > fit.x[0]) & (ends < fit.x[-1])]
    y = np.array([coarse_value(other, value) for value in np.interp(x, fit.x, fit.y).tolist()])
    return fit._replace(x=x, y=y)
