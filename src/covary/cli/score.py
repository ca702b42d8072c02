"""`covary score`: the score of some columns."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from covary.cli import options, output
from covary.formatting import short_number


@click.command("score")
@options.file
@options.columns
@options.measure
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    as_json: bool,
) -> None:
    """Print how strongly columns depend on each other.

    Uses every usable column of FILE unless --columns names some. `covary explain` prints which
    column is explained by which.

    \b
    Examples:
      covary score wine.csv --columns density,alcohol,residual_sugar
      covary score wine.csv -c density,alcohol --measure uds --set beta=10
    """  # noqa: D301
    from covary.measures import find_measure

    found = find_measure(measure, **parameters)
    with output.notices():
        prepared = found.prepared(file, columns)
        every = range(len(prepared.names))
        score = found.score_set(prepared, every)
    # With an aggregate, each pair has its own complete rows.
    one_set_of_rows = found.drops_incomplete_rows and getattr(found, "aggregate", None) is None
    rows = prepared.n_complete(every) if one_set_of_rows else prepared.n_rows
    if as_json:
        output.print_json(
            {
                "measure": found.name,
                "parameters": dataclasses.asdict(found),  # type: ignore[call-overload]
                "score": score,
                "rows": rows,
                "columns": list(prepared.names),
            }
        )
        return
    output.console().print(
        f"[bold]{found.name} = {short_number(score)}[/bold]   "
        f"({len(prepared.names)} columns, {rows:,} rows; {found.reading})"
    )
