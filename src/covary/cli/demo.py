"""`covary demo`: the first thing to run."""

from __future__ import annotations

import click

from covary.cli import output
from covary.cli.score import print_explanation
from covary.cli.search import print_result
from covary.names import DEFAULT_MEASURE


@click.command("demo")
def command() -> None:
    """Show what covary does, on a real table."""
    from sklearn.datasets import load_breast_cancer

    from covary.api import pairwise
    from covary.engines import Threads
    from covary.measures import find_measure
    from covary.prepare import Prepared
    from covary.searching import Search
    from covary.strategies import Beam
    from covary.table import Column, Table

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    columns = tuple(Column(name, data.data[:, at]) for at, name in enumerate(names))
    prepared = Prepared(Table(columns, len(data.data)))
    measure = find_measure(DEFAULT_MEASURE)
    search = Search(prepared, measure, Beam(max_size=4), top=8, prune=True)
    with output.notices(), output.stages() as on_progress:
        scores = pairwise(prepared, measure)
        search.run(Threads(), on_progress=on_progress)
    found = search.result()

    out = output.console()
    out.print(
        f"[bold]Breast cancer, Wisconsin[/bold]: {prepared.n_rows} tumours, {len(names)} "
        f"measurements each (it comes with scikit-learn).\n\n"
        f"How strongly does each pair of columns depend on each other? "
        f"{measure.name} of all {len(names) * (len(names) - 1) // 2} pairs:\n"
    )
    output.print_matrix(out, scores, names)
    out.print("\nWhich sets of up to four columns do? ", end="")
    print_result(found)
    rank = next((at for at, each in enumerate(found) if len(each.columns) > 2), 0)
    out.print(f"How do the columns of set {rank + 1} explain each other?\n")
    print_explanation(measure.explain_set(prepared, [names.index(n) for n in found[rank].columns]))
    out.print(
        "Next: [bold]covary search FILE[/bold] with a table of yours, or in Python\n"
        "  import covary; covary.search(df)"
    )
