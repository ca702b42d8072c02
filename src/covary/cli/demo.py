"""`covary demo`: the first thing to run."""

from __future__ import annotations

import click

from covary.cli import output
from covary.cli.score import print_explanation


@click.command("demo")
def command() -> None:
    """Show what covary does, on a real table."""
    from sklearn.datasets import load_breast_cancer

    from covary.api import pairwise
    from covary.measures import find_measure
    from covary.prepare import Prepared
    from covary.table import Column, Table

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    columns = tuple(Column(name, data.data[:, at]) for at, name in enumerate(names))
    prepared = Prepared(Table(columns, len(data.data)))
    measure = find_measure("uds")
    with output.notices(), output.progress("scoring pairs") as on_progress:
        scores = pairwise(prepared, measure, on_progress=on_progress)

    out = output.console()
    out.print(
        f"[bold]Breast cancer, Wisconsin[/bold]: {prepared.n_rows} tumours, {len(names)} "
        f"measurements each (it comes with scikit-learn).\n\n"
        f"How strongly does each pair of columns depend on each other? "
        f"{measure.name} of all {len(names) * (len(names) - 1) // 2} pairs:\n"
    )
    output.print_matrix(out, scores, names)
    output.print_best_pairs(out, scores, names, 8)
    best = sorted({name for pair in output.best_pairs(scores, names, 2) for name in pair[:2]})
    out.print(f"What the columns of the best pairs have to do with each other, all {len(best)}:\n")
    print_explanation(measure.explain_set(prepared, [names.index(name) for name in best]))
    out.print(
        "Next: [bold]covary matrix FILE[/bold] with a table of yours, or in Python\n"
        "  import covary; covary.score(df, ['a', 'b', 'c'])"
    )
