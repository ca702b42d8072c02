"""`covary explain`: which column is explained by which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.formatting import printable

if TYPE_CHECKING:
    from covary.results import Explanation

# A line names at most this many explaining columns.
MAX_NAMES = 3


@click.command("explain")
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
    """Print which column is explained by which, and how much of it.

    Uses every usable column of FILE unless --columns names some.

    \b
    Examples:
      covary explain wine.csv
      covary explain wine.csv --columns density,alcohol,residual_sugar
    """  # noqa: D301
    from covary.measures import find_measure

    found = find_measure(measure, **parameters)
    with output.notices(), output.progress("scoring") as on_progress:
        explanation = found.explain(file, columns, on_progress)
    if as_json:
        output.print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def print_explanation(explanation: Explanation) -> None:
    """Print the score, and one line per column with what explains it."""
    from rich.markup import escape

    out = output.console()
    out.print(
        f"[bold]{explanation.measure} = {explanation.score:.4f}[/bold]   "
        f"({len(explanation.order)} columns, {explanation.rows:,} rows; "
        f"{escape(printable(explanation.order[0]))} comes first and is not explained)"
    )
    steps = output.table("column", "#explained", "#rows", "by", "how")
    for step in explanation.steps:
        by = ", ".join(step.by[-MAX_NAMES:]) if step.by else "-"
        more = f"{len(step.by) - MAX_NAMES} more, " if len(step.by) > MAX_NAMES else ""
        steps.add_row(
            output.cell(step.target),
            f"{step.explained:.4f}",
            str(step.rows),
            output.cell(more + by),
            output.cell(step.details()),
        )
    out.print(steps)
