"""`covary demo`: search, test and report a real table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.cli.explain import print_explanation
from covary.cli.search import print_result
from covary.errors import CovaryError
from covary.registry import DEFAULT_MEASURE

if TYPE_CHECKING:
    from covary.results.search import SearchResult
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
    """Run covary on an example table: search, test and report."""
    import covary
    from covary.engines import find_engine
    from covary.measures import find_measure
    from covary.prepare import Prepared
    from covary.searching.pairs import pair_scores

    table = diabetes()
    measure = find_measure(DEFAULT_MEASURE)
    with output.notices(), output.stages() as on_progress:
        scores = pair_scores(Prepared(table), measure, find_engine())
        found = covary.search(
            table,
            max_size=3,
            top=20,
            sift=True,
            permutations=PERMUTATIONS,
            on_progress=on_progress,
        )
        written = write_page(found, page)

    out = output.console()
    names = list(table.names)
    out.print(
        f"[bold]Diabetes[/bold]: {table.n_rows} patients, {len(names)} measurements each "
        "(from scikit-learn).\n\n"
        "How strongly do two columns depend on each other? "
        f"{measure.name} of all {len(names) * (len(names) - 1) // 2} pairs:\n"
    )
    output.print_matrix(out, scores, names)
    out.print("\nWhich sets of up to three columns depend on each other, and how surely?\n")
    print_result(found, every_set=True)
    out.print(f"\nHow do {', '.join(EXPLAINED)} explain each other?\n")
    print_explanation(measure.explain(table, EXPLAINED))
    out.print("The ratio is total cholesterol divided by HDL: only three columns show it.\n")
    if written:
        output.print_and_open_page(page, open_page)
        click.echo(f"picture: {picture_beside(page)}")
    out.print(
        "\nNext: [bold]covary search FILE --report out.html[/bold] with your own table, or in "
        "Python\n  import covary; covary.search(df)"
    )


def diabetes() -> Table:
    """Return the table of the demo."""
    from sklearn.datasets import load_diabetes

    from covary.table import Column, Table

    data = load_diabetes(scaled=False)
    columns = [Column(NAMES[name], data.data[:, at]) for at, name in enumerate(data.feature_names)]
    return Table((*columns, Column("progression", data.target)), len(data.target))


def write_page(found: SearchResult, page: str) -> bool:
    """Write the page and a picture beside it; return False if packages are missing."""
    try:
        found.report(page, "Dependent columns in the diabetes data")
        picture(found).save(picture_beside(page), scale_factor=2)
    except CovaryError as error:
        click.echo(f"covary: note: no page: {error}", err=True)
        return False
    return True


def picture(found: SearchResult) -> Any:
    """Return the graph of the search, and three columns that pairs cannot explain."""
    import altair as alt

    together = next(each for each in found if set(each.columns) == set(EXPLAINED))
    return alt.concat(found.plot.graph(), together.plot.projections(), columns=1)


def picture_beside(page: str) -> str:
    """Return the path of the picture, which differs from that of the page."""
    beside = Path(page).with_suffix(".png")
    return f"{page}.png" if beside == Path(page) else str(beside)
