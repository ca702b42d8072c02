"""From a search to a file with its report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from covary import __version__
from covary.report.content import OnStage, gather
from covary.report.page import check_page, render, write
from covary.report.plots import known_table
from covary.report.searched import Searched

if TYPE_CHECKING:
    from covary.results import SearchResult


def write_report(
    result: SearchResult,
    searched: Searched | None,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    with_rows: bool = True,
    on_progress: OnStage | None = None,
) -> None:
    """Write the report on a search."""
    check_page(path)
    content = gather(
        result,
        known_table(searched),
        __version__,
        title or "What varies together",
        with_rows=with_rows,
        on_progress=on_progress,
    )
    write(render(content), path)
