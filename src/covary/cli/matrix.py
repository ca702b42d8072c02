"""`covary matrix`: the scores of all pairs of columns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from covary.cli import options, output
from covary.formatting import printable


def _writable(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Check the format before anything is computed."""
    if path is not None and Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise click.BadParameter(f"end the file in .csv or .parquet, not '{path}'")
    return path


@click.command("matrix", cls=options.GeneratedCommand, generated=options.table_options)
@options.file
@options.columns
@options.measure
@options.jobs
@click.option(
    "--top",
    "-t",
    default=10,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of best pairs to list.",
)
@click.option(
    "--output",
    "-o",
    "path",
    type=click.Path(),
    callback=_writable,
    help="Write all scores to a .csv or .parquet file.",
)
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    jobs: int | None,
    top: int,
    path: str | None,
    as_json: bool,
    **keywords: Any,
) -> None:
    """Score every pair of columns of FILE.

    \b
    Examples:
      covary matrix wine.csv
      covary matrix wine.csv --measure uds -o scores.csv
    """  # noqa: D301
    from covary.engines import find_engine
    from covary.measures import find_measure
    from covary.searching.pairs import pair_scores
    from covary.table import label_matrix, write_table

    if path is not None and os.path.realpath(path) == os.path.realpath(file):
        raise click.UsageError(f"'{path}' is the table itself: name another file")
    found = find_measure(measure, **parameters)
    with output.notices(), output.progress("scoring pairs") as on_progress:
        prepared = found.prepared(options.declared(file, keywords), columns, size=2)
        engine = find_engine("threads", jobs)
        scores = pair_scores(prepared, found, engine, on_progress=on_progress)
    if path is not None:
        write_table(label_matrix(scores, prepared.names, like=path), path)
    if as_json:
        output.print_json(
            {
                "measure": found.name,
                "rows": prepared.n_rows,
                "columns": list(prepared.names),
                "scores": [[None if s != s else s for s in line] for line in scores.tolist()],
            }
        )
        return
    out = output.console()
    out.print(
        f"[bold]{found.name}[/bold] of all pairs of {len(prepared.names)} columns, "
        f"{prepared.n_rows:,} rows\n"
    )
    output.print_matrix(out, scores, prepared.names, bounded=found.self_score == 1.0)
    if top:
        output.print_best_pairs(out, scores, prepared.names, top)
    if path is not None:
        out.print(f"written to {printable(path)}", markup=False)
