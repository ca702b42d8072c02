"""`covary demo`: overview, search and report of a real table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from covary.cli import options, output
from covary.cli.explain import print_explanation
from covary.cli.overview import print_overview
from covary.cli.search import print_result
from covary.errors import CovaryError

if TYPE_CHECKING:
    from covary.results import Overview, SearchResult
    from covary.table import Table

# From the description of the table in scikit-learn.
NAMES = {
    "age": "age",
    "sex": "sex",
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "glucose",
}
EXPLAINED = ("total cholesterol", "HDL", "cholesterol ratio")
PERMUTATIONS = 999


@click.command("demo")
@click.option(
    "--output",
    "-o",
    "page",
    type=click.Path(),
    default="covary-demo.html",
    show_default=True,
    metavar="FILE.html",
    help="The page to write; a picture is written beside it.",
)
@options.open_page
def command(page: str, open_page: bool) -> None:
    """Run covary on an example table: overview, search, tests and report."""
    import covary

    table = diabetes()
    with output.notices(), output.stages() as on_progress:
        overview = covary.overview(table, on_progress=on_progress)
        found = covary.search(
            table, max_size=3, permutations=PERMUTATIONS, on_progress=on_progress
        )
        written = write_page(overview, found, page)

    out = output.console()
    out.print(
        f"[bold]Diabetes[/bold]: {table.n_rows} patients, {len(table.names)} measurements each "
        "(from scikit-learn).\n\n[bold]How is the table structured?[/bold]\n"
    )
    print_overview(overview)
    out.print("\n[bold]Which sets of columns depend on each other most?[/bold]\n")
    print_result(found)
    out.print(f"\n[bold]How do {', '.join(EXPLAINED)} explain each other?[/bold]\n")
    print_explanation(covary.explain(table, EXPLAINED))
    out.print("The ratio is total cholesterol divided by HDL: only three columns show it.\n")
    if written:
        output.print_and_open_page(page, open_page)
        click.echo(f"picture: {picture_beside(page)}")
    out.print(
        "\nNext: [bold]covary FILE --report out.html[/bold] with your own table, or in Python\n"
        "  import covary; covary.overview(df)"
    )


def diabetes() -> Table:
    """Return the table of the demo."""
    from sklearn.datasets import load_diabetes

    from covary.table import Column, Table

    data = load_diabetes(scaled=False)
    columns = [Column(NAMES[name], data.data[:, at]) for at, name in enumerate(data.feature_names)]
    return Table((*columns, Column("progression", data.target)), len(data.target))


def write_page(overview: Overview, found: SearchResult, page: str) -> bool:
    """Write the page and a picture beside it; return False if packages are missing."""
    try:
        found.report(page, "The diabetes data")
        overview.plot.graph().save(picture_beside(page), scale_factor=2)
    except CovaryError as error:
        click.echo(f"covary: note: no page: {error}", err=True)
        return False
    return True


def picture_beside(page: str) -> str:
    """Return the path of the picture, which differs from that of the page."""
    beside = Path(page).with_suffix(".png")
    return f"{page}.png" if beside == Path(page) else str(beside)
