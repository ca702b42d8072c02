"""`found.plot` and `found[0].plot`: figures of what a search found, for a notebook or a paper."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.report import cells
from covary.report.figures.graph import Relation, graph
from covary.report.figures.heatmap import heatmap
from covary.report.figures.nulls import null_distribution
from covary.report.figures.projections import Axis, Pair, Scale, Tint, of_counts, of_rows
from covary.report.figures.style import Spec, label, rounded
from covary.report.fits import Fit
from covary.report.order import clustered
from covary.report.searched import Searched, chosen_rows

if TYPE_CHECKING:
    from covary.measures import Step
    from covary.table import Column

# What is weaker than this share of the strongest pair is not drawn.
WEAKEST = 0.1
# A column is shown as explained by several together if that is so much more than by one of them.
WORTH_TOGETHER = 0.1
MOST_TOGETHER = 6
SETS_EXPLAINED = 20
ROWS_DRAWN = 500
TINTED = (0.05, 0.95)
MOST_AXES = 6
MANY_AXES = 4


class SearchPlots:
    """Figures of a whole search; every method returns an Altair chart.

    ``chart.save("figure.svg")`` (or .png) needs no browser.
    """

    def __init__(self, searched: Searched | None) -> None:
        self._figures = SearchFigures(known_table(searched))

    def heatmap(self) -> Any:
        """Return the scores of all pairs, columns that depend on each other side by side."""
        return _chart(self._figures.heatmap())

    def graph(self) -> Any:
        """Return which columns explain which: the strongest pairs, and what takes three to see."""
        figure = self._figures.graph()
        if figure is None:
            raise errors.nothing_to_draw()
        return _chart(figure)


class SetPlots:
    """Figures of one set of columns; every method returns an Altair chart."""

    def __init__(self, searched: Searched | None, columns: Sequence[Any]) -> None:
        known = known_table(searched)
        self._figures = SetFigures(known, [known.labels.index(column) for column in columns])

    def projections(self, rows: int = ROWS_DRAWN, seed: int = 0) -> Any:
        """Return the points of every two columns; a brush in one marks the same rows in all.

        The curve is the simplest one that fits: a polynomial up to degree 5, or a monotone one;
        dashed lines are where the explaining column is cut best. Where it takes another column to
        explain the one that goes upwards, that one is the colour of the points. A tick at the
        edge is a row in which the other column is missing.

        Parameters
        ----------
        rows : int
            How many rows to draw at most, chosen at random.
        seed : int
            Of that choice.
        """
        errors.whole_number("rows", rows, 1)
        errors.whole_number("seed", seed, 0)
        return _chart(self._figures.projections(rows, seed, of_its_own=True))

    def counts(self) -> Any:
        """Return the same with numbers of rows instead of points, so that no row is shown."""
        return _chart(self._figures.counts())

    def null_distribution(self) -> Any:
        """Return what permuted tables have as evidence, and what this table has."""
        figure = self._figures.null_distribution()
        if figure is None:
            raise errors.not_tested()
        return _chart(figure)


class SearchFigures:
    """The same as Vega-Lite has them, for the page."""

    def __init__(
        self, searched: Searched, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.searched = searched
        self.names = [searched.labels[column] for column in searched.shown]
        self.on_progress = on_progress

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        return self.searched.pair_scores(self.on_progress)

    def heatmap(self) -> Spec:
        order = clustered(self.scores)
        names = [self.names[at] for at in order]
        n_columns = len(self.searched.labels)
        return heatmap(
            names, self.scores[np.ix_(order, order)], self.searched.measure.name, n_columns
        )

    def graph(self) -> Spec | None:
        """Return the graph; None if there is nothing to draw."""
        relations = [*self._pairs(), *self._together()]
        measure = self.searched.measure
        of = "" if measure.explains else measure.name
        return graph(self.names, relations, of) if relations else None

    def _pairs(self) -> list[Relation]:
        """Return the strongest pairs that connect columns, from what explains to the explained.

        Pairs of columns that stronger pairs connect already are left out: of a group of columns
        that all depend on each other one would see nothing.
        """
        import networkx as nx

        scores = np.nan_to_num(self.scores)
        ones, others = np.nonzero(np.triu(scores > scores.max(initial=0.0) * WEAKEST))
        network = nx.Graph()
        for one, other in zip(ones.tolist(), others.tolist(), strict=True):
            network.add_edge(one, other, weight=float(scores[one, other]))
        strongest = nx.maximum_spanning_edges(network)
        return [self._directed(one, other, more["weight"]) for one, other, more in strongest]

    def _directed(self, one: int, other: int, score: float) -> Relation:
        searched = self.searched
        pair = [searched.shown[one], searched.shown[other]]
        order = searched.measure.order_set(searched.prepared, pair)
        if order == pair[::-1]:
            one, other = other, one
        return Relation((one,), other, score, directed=bool(order))

    def _together(self) -> list[Relation]:
        """Return what several columns explain of another, much more than one of them alone."""
        at = {column: number for number, column in enumerate(self.searched.shown)}
        names = {name: number for number, name in enumerate(self.searched.prepared.names)}
        found: list[Relation] = []
        for columns in self.searched.sets[:SETS_EXPLAINED]:
            explained = self.searched.explanation(columns)
            for step in explained.steps if explained else ():
                positions = [names[name] for name in (*step.by, step.target)]
                more = step.explained - max(step.alone, default=step.explained)
                if more < WORTH_TOGETHER or not all(p in at for p in positions):
                    continue
                *by, target = (at[position] for position in positions)
                found.append(Relation(tuple(by), target, step.explained))
        return _different(sorted(found, key=lambda relation: -relation.explained))[:MOST_TOGETHER]


class SetFigures:
    """Figures of a set as Vega-Lite has them, for the page."""

    def __init__(self, searched: Searched, columns: Sequence[int]) -> None:
        self.searched = searched
        self.columns = tuple(columns)

    @cached_property
    def order(self) -> list[int]:
        """The columns that are drawn, in the order in which they explain each other."""
        searched = self.searched
        order = searched.order(self.columns)
        if searched.target is not None:
            order.remove(searched.target)
            return [*order[: MOST_AXES - 1], searched.target]
        return order[:MOST_AXES]

    @property
    def table(self) -> list[Column]:
        """The columns themselves, in that order."""
        return [self.searched.prepared.table.columns[column] for column in self.order]

    def steps(self, *, coarse: bool = False) -> list[Step]:
        """Return what is explained by what; ``coarse`` leaves no value of the table in it."""
        explained = self.searched.explanation(self.columns)
        steps = [step for step in explained.steps if step.by] if explained else []
        return [self._coarse(step) for step in steps] if coarse else steps

    def _coarse(self, step: Step) -> Step:
        by_name = {column.name: column for column in self.searched.prepared.table.columns}
        cuts = {
            name: tuple(cells.coarse(by_name[name], cut) for cut in where)
            if by_name[name].kind == "number"
            else ()
            for name, where in step.cuts.items()
        }
        return dataclasses.replace(step, cuts=cuts)

    def projections(
        self, most: int = ROWS_DRAWN, seed: int = 0, *, of_its_own: bool = False
    ) -> Spec:
        """Return the points; as a part of any chart, if what is named has names of its own."""
        rows = self.rows(most, seed)
        axes = [
            axis._replace(values=_values(column, rows))
            for axis, column in zip(self._axes, self.table, strict=True)
        ]
        key = f"_{zlib.crc32(repr(axes).encode()):x}" if of_its_own else ""
        return of_rows(axes, (rows + 1).tolist(), self._pairs(), key)

    def rows(self, most: int, seed: int) -> npt.NDArray[np.int64]:
        """Return which rows to draw: some that lack a cell, but no more than half of them."""
        complete, lacking = self._there
        n_complete, n_lacking = int(complete.sum()), int(lacking.sum())
        share = min(0.5, n_lacking / max(n_complete + n_lacking, 1))
        wanted = max(round(most * (1 - share)), most - n_lacking)
        chosen = chosen_rows(complete, wanted, seed)
        others = chosen_rows(lacking, most - chosen.size, seed)
        return np.sort(np.concatenate([chosen, others]))

    @cached_property
    def _there(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which rows have a value of every column, and which of some."""
        there = ~np.isnan(np.array([column.values for column in self.table]))
        complete = there.all(axis=0)
        return complete, there.any(axis=0) & ~complete

    def drawn(self, most: int = ROWS_DRAWN) -> str:
        """Return in words which rows are drawn."""
        complete, lacking = self._there
        rows = self.rows(most, 0)
        words = f"{int(complete[rows].sum()):,} of {int(complete.sum()):,} rows are drawn"
        if lacking[rows].any():
            some, those = int(lacking[rows].sum()), int(lacking.sum())
            words += f" as points, {some:,} of {those:,} that lack a cell as ticks at the edge"
        empty = complete.size - int(complete.sum()) - int(lacking.sum())
        return f"{words}; {empty:,} rows lack all of these cells" if empty else words

    def counted(self) -> str:
        """Return in words which rows are counted, where none is drawn."""
        lacking = int(self._there[1].sum())
        words = "Counts of rows; no row is on this page"
        return f"{words}; {lacking:,} rows lack a cell of these columns" if lacking else words

    def rows_from_missing(self, step: Step) -> int:
        """Return in how many rows a column is there but not what explains it; 0 if in few."""
        by_name = {column.name: column.values for column in self.searched.prepared.table.columns}
        there = ~np.isnan(by_name[step.target])
        lacking = there & np.any([np.isnan(by_name[name]) for name in step.by], axis=0)
        return int(lacking.sum()) if 2 * lacking.sum() > there.sum() else 0

    def undrawn(self) -> str:
        """Return in words how many columns are not drawn, if so."""
        n_columns = len(self.columns)
        if n_columns <= len(self.order):
            return ""
        return f"; {len(self.order)} of its {n_columns} columns are drawn"

    def numeric_axes(self) -> list[tuple[str, str]]:
        """Return field and name of the columns that are drawn as numbers."""
        return [
            (axis.field, label(axis.name)) for axis in self._axes if axis.scale == "quantitative"
        ]

    def counts(self) -> Spec:
        most = cells.MOST_BINS if len(self.table) < MANY_AXES else cells.FEWER_BINS
        bins = [cells.binned(column, most) for column in self.table]
        counts = {
            (one, other): _cells(bins[one], bins[other])
            for one, other in combinations(range(len(bins)), 2)
        }
        return of_counts(self._axes, counts, self._pairs(coarse=True))

    def null_distribution(self) -> Spec | None:
        """Return what permuted tables have as evidence; None if nothing was permuted."""
        tested = self.searched.tested.get(self.columns)
        if tested is None or tested.null.size == 0:
            return None
        return null_distribution(tested.null, tested.observed, tested.pvalue, "evidence")

    @cached_property
    def _axes(self) -> list[Axis]:
        """The columns as axes, without their values."""
        return [
            Axis(
                _title(column, self.searched.labels[at]),
                f"c{at}",
                _scale(column),
                words=_words(column),
                whole=column.kind == "number" and cells.is_whole(column),
            )
            for at, column in zip(self.order, self.table, strict=True)
        ]

    def _pairs(self, *, coarse: bool = False) -> dict[tuple[int, int], Pair]:
        """Return what is drawn with every two columns."""
        steps = self.steps(coarse=coarse)
        cuts = {(by, step.target): step.cuts.get(by, ()) for step in steps for by in step.by}
        pairs = {}
        table = self.table
        for one, other in combinations(range(len(table)), 2):
            fit = None
            if table[one].kind == table[other].kind == "number":
                fit = self.searched.fit(self.order[one], self.order[other])
            if fit is not None and coarse:
                fit = _coarse_fit(fit, table[one], table[other])
            where: Sequence[Any] = cuts.get((table[one].name, table[other].name), ())
            if table[one].kind == "date" and not cells.is_duration(table[one]):
                where = [cells.own_words(cut) for cut in where if hasattr(cut, "isoformat")]
            elif table[one].kind != "number":
                where = ()
            pairs[one, other] = Pair(fit, where, None if coarse else self._tint(one, other))
        return pairs

    def _tint(self, one: int, other: int) -> Tint | None:
        """Return the column that explains the second together with the first, if one does."""
        names = [column.name for column in self.table]
        for step in self.steps():
            by = [name for name in step.by if name != names[one]]
            if step.target == names[other] and len(by) == len(step.by) - 1 == 1:
                third = names.index(by[0]) if by[0] in names else None
                if third is not None and _scale(self.table[third]) == "quantitative":
                    ends = np.nanquantile(self.table[third].values, TINTED).tolist()
                    low, high = (cells.in_words(self.table[third], end) for end in ends)
                    return Tint(third, low, high) if low < high else None
        return None


def _different(relations: Sequence[Relation]) -> list[Relation]:
    """Return the first relation of each target and of each set of columns."""
    first: list[Relation] = []
    for relation in relations:
        of = {relation.target, *relation.by}
        if not any(r.target == relation.target or {r.target, *r.by} == of for r in first):
            first.append(relation)
    return first


def known_table(searched: Searched | None) -> Searched:
    """Return what was searched, if it is still there."""
    if searched is None:
        raise errors.no_table_to_draw()
    return searched


def _chart(figure: Spec) -> Any:
    try:
        import altair as alt
    except ImportError:
        raise errors.no_figures() from None
    return alt.Chart.from_dict(figure)


def _scale(column: Column) -> Scale:
    if column.kind == "number" or cells.is_duration(column):
        return "quantitative"
    return "temporal" if column.kind == "date" else "ordinal"


def _words(column: Column) -> list[str]:
    """Return the words of a column in their order, those that occur."""
    if _scale(column) != "ordinal":
        return []
    kinds = np.unique(column.values[~np.isnan(column.values)])
    return [cells.in_words(column, kind) for kind in kinds.tolist()]


def _title(column: Column, name: Any) -> Any:
    return f"{name} (hours)" if cells.is_duration(column) else name


def _values(column: Column, rows: npt.NDArray[np.int64]) -> list[Any]:
    """Return cells as Vega-Lite takes them, numbers to as many digits as can be seen."""
    values = [cells.in_words(column, value) for value in column.values[rows].tolist()]
    return rounded(values) if _scale(column) == "quantitative" else values


def _cells(one: cells.Bins, other: cells.Bins) -> list[Spec]:
    """Return how many rows are in each cell that has any."""
    both = (one.codes >= 0) & (other.codes >= 0)
    width = max(len(other.ends), 1)
    counts = np.bincount(one.codes[both] * width + other.codes[both])
    listed = []
    for cell in np.flatnonzero(counts).tolist():
        (x, x2), (y, y2) = one.ends[cell // width], other.ends[cell % width]
        listed.append({"x": x, "x2": x2, "y": y, "y2": y2, "rows": int(counts[cell])})
    return listed


def _coarse_fit(fit: Fit, one: Column, other: Column) -> Fit:
    """Return a curve that tells no value of the table: neither its ends nor its corners."""
    ends = np.array([end for end, _ in cells.binned(one).ends][1:])
    x = ends[(ends > fit.x[0]) & (ends < fit.x[-1])]
    y = np.array([cells.coarse(other, value) for value in np.interp(x, fit.x, fit.y).tolist()])
    return fit._replace(x=x, y=y)
