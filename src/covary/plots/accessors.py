"""`found.plot`, `found[0].plot` and `overview.plot`: figures as Altair charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covary import errors
from covary.plots.figure_source import FigureSource
from covary.plots.figures.map_chart import map_chart
from covary.plots.figures.style import Spec
from covary.plots.search_figures import SearchFigures
from covary.plots.set_figures import MAX_DRAWN_ROWS, SetFigures
from covary.plots.table_map import table_map
from covary.results import Overview
from covary.validation import check_whole_number


class SearchPlots:
    """Figures of a whole search; each method returns an Altair chart.

    ``chart.save("figure.svg")`` (or .png) needs no browser.
    """

    def __init__(self, source: FigureSource) -> None:
        self._figures = SearchFigures(source)

    def heatmap(self) -> Any:
        """Return a heat map of the scores of all pairs; dependent columns are neighbours."""
        return _chart(self._figures.heatmap())

    def graph(self) -> Any:
        """Return a graph with arrows from explaining columns to explained columns.

        It shows the strongest pairs, and targets that several columns explain only together.
        """
        figure = self._figures.graph()
        if figure is None:
            raise errors.nothing_to_draw()
        return _chart(figure)

    def delays(self) -> Any:
        """Return a line for each column: what it explains of the target at each delay.

        It needs a search with ``target`` and ``lags``, and shows up to six columns, those of the
        best sets. The best delay of each is marked.
        """
        figure = self._figures.delays()
        if figure is None:
            raise errors.no_delays()
        return _chart(figure)


class SetPlots:
    """Figures of one set of columns; each method returns an Altair chart."""

    def __init__(self, source: FigureSource, columns: Sequence[Any]) -> None:
        positions = [source.record.labels.index(column) for column in columns]
        self._figures = SetFigures(source, positions)

    def projections(self, rows: int = MAX_DRAWN_ROWS, seed: int = 0) -> Any:
        """Return a panel for each pair of columns; a brush in one marks its rows in all.

        Two columns of numbers or dates are a scatter plot. The curve is the simplest one that
        fits: a polynomial up to degree 5, or a monotone curve. Dashed lines are the cuts of the x
        column that explain the y column best. If a third column is needed to explain the y
        column, the colour of the points shows it. A tick at the edge is a row with a missing
        value in the other column.

        Columns with named values are shown as levels. If the x column has levels, the y column is
        a box and points for each of them. If the y column has levels, stacked bars show their
        shares in bins of the x column. If both have levels, tiles show the shares of the y levels
        within each x level. Levels are in the order of their association with the other column,
        or in their own order. Only the 12 most frequent ones (7 in stacked bars) have a name, all
        others are pooled as "other". Boxes, bars and tiles count all rows of the table.

        Parameters
        ----------
        rows : int
            The maximum number of rows to draw, chosen at random.
        seed : int
            Random seed for the choice of rows.
        """
        check_whole_number("rows", rows, 1)
        check_whole_number("seed", seed, 0)
        return _chart(self._figures.projections(rows, seed, unique_names=True))

    def counts(self) -> Any:
        """Return counts of rows for all pairs of columns; the chart contains no single row.

        Columns with named values are shown as in `projections`, but without points. The quantiles
        of boxes are computed from counts.
        """
        return _chart(self._figures.counts())

    def null_distribution(self) -> Any:
        """Return the evidence of permuted tables as bars, and of this table as a line."""
        figure = self._figures.null_distribution()
        if figure is None:
            raise errors.not_tested()
        return _chart(figure)


class OverviewPlots:
    """Figures of an overview; each method returns an Altair chart."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview

    def graph(self) -> Any:
        """Return the map of the table: columns as boxes, links as lines.

        A column is to the right of the columns that explain it; the number in its box is the
        explained fraction. An arrow points to the explained column; columns that go together have
        a line without an arrow. Several columns that explain another one together meet in an
        orange point. Copies, functions and identities are dashed. If more than 150 columns have
        links, those of the strongest links are drawn.
        """
        if not self._overview.links:
            raise errors.no_links()
        return _chart(map_chart(table_map(self._overview)))


def _chart(figure: Spec) -> Any:
    try:
        import altair as alt
    except ImportError:
        raise errors.no_figures() from None
    return alt.Chart.from_dict(figure)
