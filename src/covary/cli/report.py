"""`covary report`: a page from a run file."""

from __future__ import annotations

from pathlib import Path

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
    help="Where to write the page.  [default: the run file's name with .html]",
)
@click.option(
    "--table",
    type=click.Path(),
    metavar="FILE",
    help="The table that was searched, if it is not where it was then.",
)
@click.option("--title", help="What the page is called.")
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
    """Write a page with everything that a search has found, from its run file.

    The search may be finished, interrupted, or still running: nothing is scored, and the run file
    stays as it is. The table is read again, for the figures.

    \b
    Examples:
      covary search wine.csv --permutations 999 --run wine.covary
      covary report wine.covary -o wine.html --open
      covary report wine.covary -o wine.html --no-rows     to be sent to somebody
    """  # noqa: D301
    from covary.recalling import recall_search
    from covary.report.page import check_page

    page = page or str(Path(run_file).with_suffix(".html").name)
    check_page(page, run_file, table)
    with output.stages() as on_progress:
        with output.notices():
            search = recall_search(run_file, table)
        check_page(page, search.source)
        result = search.result()
        if title is None and search.source is not None:
            title = f"What varies together in {Path(search.source).name}"
        result.report(page, title, rows=not no_rows, on_progress=on_progress)
    click.echo(result.summary())
    if unfinished := result.unfinished():
        click.echo(f"covary: note: {unfinished}", err=True)
    output.tell_page(page, open_page)
