"""`found.plot` and `found[0].plot`: figures of what a search found, for a notebook or a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.report import figures
from covary.report.fits import best_fit
from covary.report.order import clustered

if TYPE_CHECKING:
    from covary.measures import Measure
    from covary.prepare import Prepared
    from covary.table import Column

# More columns than these cannot be read in one figure: those with the strongest pairs are shown.
MOST_COLUMNS = 60
EDGES_PER_COLUMN = 2
ROWS_DRAWN = 500
ROWS_FITTED = 5_000
MOST_AXES = 6


class Searched(NamedTuple):
    """What was searched: the table, the measure, and what the user calls the columns."""

    prepared: Prepared
    measure: Measure
    labels: tuple[Any, ...]


class SearchPlots:
    """Figures of a whole search; every method returns an Altair chart.

    ``chart.save("figure.svg")`` (or .png) needs no browser.
    """

    def __init__(self, searched: Searched | None) -> None:
        self._searched = known_table(searched)

    def heatmap(self) -> Any:
        """Return the scores of all pairs, columns that depend on each other side by side."""
        columns, scores = self._pairs
        order = clustered(scores)
        names = [str(self._searched.labels[columns[at]]) for at in order]
        return figures.heatmap(names, scores[np.ix_(order, order)], self._searched.measure.name)

    def graph(self) -> Any:
        """Return the strongest pairs as a graph of columns."""
        columns, scores = self._pairs
        every = [
            figures.Edge(one, other, float(scores[one, other]))
            for one, other in combinations(range(len(columns)), 2)
            if scores[one, other] > 0
        ]
        every.sort(key=lambda edge: -edge.strength)
        names = [str(self._searched.labels[column]) for column in columns]
        most = EDGES_PER_COLUMN * len(columns)
        return figures.graph(names, every[:most], self._searched.measure.name)

    @cached_property
    def _pairs(self) -> tuple[list[int], npt.NDArray[np.float64]]:
        """Return the columns that are shown, and the scores of their pairs."""
        from covary.api import pairwise

        scores = pairwise(self._searched.prepared, self._searched.measure)
        np.fill_diagonal(scores, 0.0)
        strongest = np.argsort(-scores.max(axis=1), kind="stable")[:MOST_COLUMNS]
        columns = np.sort(strongest)
        return columns.tolist(), scores[np.ix_(columns, columns)]


class SetPlots:
    """Figures of one set of columns; every method returns an Altair chart."""

    def __init__(self, searched: Searched | None, columns: Sequence[Any]) -> None:
        self._searched = known_table(searched)
        self._columns = [self._searched.labels.index(column) for column in columns]

    def projections(self, rows: int = ROWS_DRAWN, seed: int = 0) -> Any:
        """Return the points of every two columns; a brush in one marks the same rows in all.

        The curve is the simplest one that fits: a polynomial up to degree 5, or a monotone one;
        dashed lines are where the explaining column is cut best.

        Parameters
        ----------
        rows : int
            How many rows to draw at most, chosen at random.
        seed : int
            Of that choice.
        """
        errors.whole_number("rows", rows, 1)
        errors.whole_number("seed", seed, 0)
        searched = self._searched
        order = self._order()[:MOST_AXES]
        table = [searched.prepared.table.columns[column] for column in order]
        drawn = _draw(table, rows, seed)
        axes = [
            _axis(column, searched.labels[at], drawn)
            for at, column in zip(order, table, strict=True)
        ]
        fitted = _draw(table, ROWS_FITTED, seed)
        cuts = self._cuts()
        pairs = {}
        for one, other in combinations(range(len(order)), 2):
            fit = None
            if axes[one].type == axes[other].type == "quantitative":
                fit = best_fit(table[one].values[fitted], table[other].values[fitted])
            where = cuts.get((table[one].name, table[other].name), ())
            where = where if axes[one].type == "quantitative" else ()
            pairs[one, other] = figures.Pair(fit, where)
        return figures.projections(axes, pairs)

    def _order(self) -> list[int]:
        """Return the columns in the order in which they explain each other."""
        searched = self._searched
        return searched.measure.order_set(searched.prepared, self._columns) or self._columns

    def _cuts(self) -> Mapping[tuple[str, str], Sequence[Any]]:
        """Return where one column is cut to explain another, by their names."""
        searched = self._searched
        if not searched.measure.explains:
            return {}
        steps = searched.measure.explain_set(searched.prepared, self._columns).steps
        return {(by, step.target): step.cuts.get(by, ()) for step in steps for by in step.by}


def known_table(searched: Searched | None) -> Searched:
    """Return what was searched, if it can be drawn."""
    try:
        import altair  # noqa: F401
    except ImportError:
        raise errors.no_figures() from None
    if searched is None:
        raise errors.no_table_to_draw()
    return searched


def _draw(table: Sequence[Column], rows: int, seed: int) -> npt.NDArray[np.int64]:
    """Return so many rows at most, in their order; rows that lack a column only if need be."""
    complete = ~np.isnan(np.array([column.values for column in table])).any(axis=0)
    there = np.flatnonzero(complete)
    if there.size == 0:
        there = np.arange(complete.size)
    if there.size <= rows:
        return there
    return np.sort(np.random.default_rng(seed).choice(there, rows, replace=False))


def _axis(column: Column, label: Any, rows: npt.NDArray[np.int64]) -> figures.Axis:
    """Return a column as Vega-Lite takes it: numbers, moments, or words in their order."""
    values = [column.in_own_units(value) for value in column.values[rows].tolist()]
    if column.kind == "number":
        return figures.Axis(str(label), [None if v is None else float(v) for v in values])
    words = [None if value is None else _in_words(value) for value in values]
    moments = column.kind == "date" and column.dtype.startswith("datetime")
    return figures.Axis(str(label), words, "temporal" if moments else "ordinal")


def _in_words(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
