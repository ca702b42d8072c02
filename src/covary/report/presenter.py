"""`SearchPresenter` and `OverviewPresenter`: draw the figures of results and write reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from covary.array_types import OnStage
from covary.measures import find_measure
from covary.plots.accessors import OverviewPlots, SearchPlots, SetPlots
from covary.plots.figure_source import FigureSource
from covary.registry import DEFAULT_MEASURE
from covary.report.content import gather_content, gather_overview_content
from covary.report.page import check_page, render_page, write_page
from covary.results import Overview, SearchResult
from covary.searching.record import SearchRecord
from covary.searching.run import Search
from covary.structure.options import OverviewOptions
from covary.structure.plan import OverviewPlan
from covary.structure.run import OverviewRun

DEFAULT_TITLE = "Dependent columns"
OVERVIEW_TITLE = "Overview of the table"


class SearchPresenter:
    """Draws the figures of a search and writes its report; a `covary.results.Presenter`.

    Parameters
    ----------
    record : the search, with its table
    overview : computes the overview of the same table, for the beginning of the report; it gets
        the function that is called with the progress
    """

    def __init__(
        self,
        record: SearchRecord,
        overview: Callable[[OnStage | None], Overview] | None = None,
    ) -> None:
        self._source = FigureSource(record)
        self._overview = overview

    def plots(self) -> SearchPlots:
        """Return the figures of the whole search."""
        return SearchPlots(self._source)

    def set_plots(self, columns: Sequence[Any]) -> SetPlots:
        """Return the figures of one set, given by the labels of its columns."""
        return SetPlots(self._source, columns)

    def write_report(
        self,
        result: SearchResult,
        path: str | os.PathLike[str],
        title: str | None,
        rows: bool,
        on_progress: OnStage | None,
    ) -> None:
        """Write the report; the parameters are those of `SearchResult.report`."""
        check_page(path)
        content = gather_content(
            result,
            self._source,
            title or DEFAULT_TITLE,
            with_rows=rows,
            on_progress=on_progress,
            overview=None if self._overview is None else self._overview(on_progress),
        )
        write_page(render_page(content), path)


class OverviewPresenter:
    """Draws the map of an overview and writes its report; a `results.OverviewPresenter`.

    Parameters
    ----------
    record : the table; its sets are the columns of the links, in the order of ``overview.links``
    overview : the overview
    """

    def __init__(self, record: SearchRecord, overview: Overview) -> None:
        self._source = FigureSource(record)
        self._overview = overview

    def plots(self) -> OverviewPlots:
        """Return the figures of the overview."""
        return OverviewPlots(self._overview)

    def write_report(
        self,
        overview: Overview,
        path: str | os.PathLike[str],
        title: str | None,
        rows: bool,
        on_progress: OnStage | None,
    ) -> None:
        """Write the report; the parameters are those of `Overview.report`."""
        check_page(path)
        content = gather_overview_content(
            overview,
            self._source,
            title or OVERVIEW_TITLE,
            with_rows=rows,
            on_progress=on_progress,
        )
        write_page(render_page(content), path)


def search_result(searched: Search, data: Any = None) -> SearchResult:
    """Return the result of a search that ended or was interrupted, with figures and report."""
    record = searched.record(data)

    def overview_of(on_progress: OnStage | None) -> Overview:
        plan = OverviewPlan(record.prepared, searched.plan.measure.plain(), OverviewOptions())
        found = OverviewRun(plan)
        found.run(record.engine, on_progress=on_progress)
        return found.result(found.record(data))

    # The overview is that of the default measure.
    has_overview = searched.plan.measure.plain() == find_measure(DEFAULT_MEASURE)
    presenter = SearchPresenter(record, overview_of if has_overview else None)
    return searched.result(record, presenter)
