"""`covary demo`: the first thing to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.cli.score import print_explanation
from covary.cli.search import print_result
from covary.errors import CovaryError
from covary.names import DEFAULT_MEASURE

if TYPE_CHECKING:
    from covary.results import SearchResult
    from covary.table import Table

# What scikit-learn's description of the table says that its columns are.
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
    help="Where to write the page; a picture goes beside it.",
)
@options.open_page
def command(page: str, open_page: bool) -> None:
    """Search, test and report a real table: what covary does, in a minute."""
    from covary.engines import Threads
    from covary.measures import find_measure
    from covary.pairs import pairwise
    from covary.prepare import Prepared
    from covary.searching import Search
    from covary.strategies import Beam

    prepared = Prepared(diabetes())
    measure = find_measure(DEFAULT_MEASURE)
    search = Search(
        prepared, measure, Beam(max_size=3), top=20, sift=True, permutations=PERMUTATIONS
    )
    with output.notices(), output.stages() as on_progress:
        scores = pairwise(prepared, measure)
        search.run(Threads(), on_progress=on_progress)
        found = search.result()
        written = write_page(found, page)

    out = output.console()
    names = list(prepared.names)
    out.print(
        f"[bold]Diabetes[/bold]: {prepared.n_rows} patients, {len(names)} measurements each "
        "(it comes with scikit-learn).\n\n"
        "How strongly does each pair of columns depend on each other? "
        f"{measure.name} of all {len(names) * (len(names) - 1) // 2} pairs:\n"
    )
    output.print_matrix(out, scores, names)
    out.print("\nWhich sets of up to three columns do, and could it be chance?\n")
    print_result(found)
    out.print(f"\nHow do {', '.join(EXPLAINED)} explain each other?\n")
    print_explanation(measure.explain_set(prepared, [names.index(name) for name in EXPLAINED]))
    out.print("The ratio is the one divided by the other: it takes three columns to see that.\n")
    if written:
        output.tell_page(page, open_page)
        click.echo(f"picture: {picture_beside(page)}")
    out.print(
        "\nNext: [bold]covary search FILE --report out.html[/bold] with a table of yours, or in "
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
    """Write the page and a picture beside it, if what that takes is installed."""
    try:
        found.report(page, "What varies together in the diabetes data")
        picture(found).save(picture_beside(page), scale_factor=2)
    except CovaryError as error:
        click.echo(f"covary: note: no page: {error}", err=True)
        return False
    return True


def picture(found: SearchResult) -> Any:
    """Return what explains what, and the three columns that show why pairs are not enough."""
    import altair as alt

    together = next(each for each in found if set(each.columns) == set(EXPLAINED))
    return alt.concat(found.plot.graph(), together.plot.projections(), columns=1)


def picture_beside(page: str) -> str:
    """Return where the picture goes: never where the page is."""
    beside = Path(page).with_suffix(".png")
    return f"{page}.png" if beside == Path(page) else str(beside)
