"""`SearchPresenter`: draws the figures of a search result and writes its report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from covary.array_types import OnStage
from covary.plots.accessors import SearchPlots, SetPlots
from covary.plots.figure_source import FigureSource
from covary.report.content import gather_content
from covary.report.page import check_page, render_page, write_page
from covary.results import SearchResult
from covary.searching.record import SearchRecord

DEFAULT_TITLE = "Dependent columns"


class SearchPresenter:
    """Draws the figures of a search and writes its report; a `covary.results.Presenter`.

    Parameters
    ----------
    record : the search, with its table
    """

    def __init__(self, record: SearchRecord) -> None:
        self._source = FigureSource(record)

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
        )
        write_page(render_page(content), path)
