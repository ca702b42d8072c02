"""`covary score`: how strongly some columns depend on each other, and why."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.names import printable, shown

if TYPE_CHECKING:
    from covary.measures import Explanation, Measure


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
    """Score how strongly columns depend on each other.

    Uses every usable column of FILE unless --columns names some, and says which column is
    explained by which, if the measure knows.

    \b
    Examples:
      covary score wine.csv --columns density,alcohol,residual_sugar
      covary score wine.csv -c density,alcohol --measure uds --set beta=10
    """  # noqa: D301
    import covary
    from covary.measures import find_measure

    found = find_measure(measure, **parameters)
    if not found.explains:
        print_score(found, file, columns, as_json)
        return
    with output.notices(), output.progress("scoring") as on_progress:
        explanation = covary.explain(file, columns, measure=found, on_progress=on_progress)
    if as_json:
        output.print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def print_score(measure: Measure, file: str, columns: list[str] | None, as_json: bool) -> None:
    """Print the score by a measure that does not explain it."""
    with output.notices():
        prepared = measure.prepared(file, columns)
        every = range(len(prepared.names))
        score = measure.score_set(prepared, every)
    # With an aggregate, each pair has rows of its own.
    together = measure.leaves_out_rows and getattr(measure, "aggregate", None) is None
    rows = prepared.n_complete(every) if together else prepared.n_rows
    if as_json:
        told = {"measure": measure.name, "parameters": dataclasses.asdict(measure)}  # type: ignore[call-overload]
        output.print_json({**told, "score": score, "rows": rows, "columns": list(prepared.names)})
        return
    output.console().print(
        f"[bold]{measure.name} = {shown(score)}[/bold]   "
        f"({len(prepared.names)} columns, {rows:,} rows; {measure.reading})"
    )


def print_explanation(explanation: Explanation) -> None:
    """Print the score, and one line per column with what explains it."""
    from rich.markup import escape

    out = output.console()
    out.print(
        f"[bold]{explanation.measure} = {explanation.score:.4f}[/bold]   "
        f"({len(explanation.order)} columns, {explanation.rows:,} rows; "
        f"{escape(printable(explanation.order[0]))} is given, not explained)"
    )
    steps = output.table("column", "#explained", "#rows", "by", "how")
    for step in explanation.steps:
        by = ", ".join(step.by[-3:]) if step.by else "-"
        more = f"{len(step.by) - 3} more, " if len(step.by) > 3 else ""
        steps.add_row(
            output.cell(step.target),
            f"{step.explained:.4f}",
            str(step.rows),
            output.cell(more + by),
            output.cell(step.details()),
        )
    out.print(steps)
