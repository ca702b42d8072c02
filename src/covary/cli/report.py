"""`covary report`: an HTML page from a run file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from covary.cli import options, output


@click.command("report")
@click.argument("run_file", metavar="FILE.covary", type=click.Path(readable=False))
@click.option(
    "--output",
    "-o",
    "page",
    type=click.Path(),
    metavar="FILE.html",
    help="The page to write.  [default: the name of the run file with .html]",
)
@click.option(
    "--table",
    type=click.Path(),
    metavar="FILE",
    help="The table that was searched, if it has moved.",
)
@click.option("--title", help="Title of the page.")
@options.no_rows
@options.open_page
def command(
    run_file: str,
    page: str | None,
    table: str | None,
    title: str | None,
    no_rows: bool,
    open_page: bool,
) -> None:
    """Write an HTML page with the results of a search or an overview, from its run file.

    It may be finished, interrupted, or still running. Nothing is scored, and the run file is not
    changed. The figures need the table, which is read again.

    \b
    Examples:
      covary search wine.csv --permutations 999 --run wine.covary
      covary report wine.covary -o wine.html --open
      covary report wine.covary -o wine.html --no-rows     without rows of the table
    """  # noqa: D301
    from covary.report.page import check_page

    page = page or str(Path(run_file).with_suffix(".html").name)
    check_page(page, run_file, table)
    with output.stages() as on_progress:
        with output.notices():
            result, source, about = _restore(run_file, table)
        check_page(page, source)
        if title is None and source is not None:
            title = f"{about} {Path(source).name}"
        result.report(page, title, rows=not no_rows, on_progress=on_progress)
    click.echo(result.summary())
    if unfinished := result.unfinished():
        click.echo(f"covary: note: {unfinished}", err=True)
    output.print_and_open_page(page, open_page)


def _restore(run_file: str, table: str | None) -> tuple[Any, str | None, str]:
    """Return the result of a run file, the path of its table, and the beginning of a title."""
    from covary.api import overview_result
    from covary.report.presenter import search_result
    from covary.runs import OVERVIEW, RunFile
    from covary.searching.resume import restore_search
    from covary.structure.resume import restore_overview

    with RunFile.read(run_file) as opened:
        kind = opened.facts().get("kind")
    if kind == OVERVIEW:
        found = restore_overview(run_file, table)
        return overview_result(found), found.plan.source, "The columns of"
    search = restore_search(run_file, table)
    return search_result(search), search.plan.source, "Dependent columns in"
