"""`covary explain`: which column is explained by which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.formatting import listing, printable

if TYPE_CHECKING:
    from rich.console import Console

    from covary.results import Explanation
    from covary.results.explanation import Step

# A line names at most this many explaining columns.
MAX_NAMES = 3


@click.command("explain", cls=options.GeneratedCommand, generated=options.table_options)
@options.file
@options.columns
@options.target
@options.given
@options.measure
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    target: str | None,
    given: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    as_json: bool,
    **keywords: Any,
) -> None:
    """Print which column is explained by which, and how much of it.

    Uses every usable column of FILE unless --columns names some. With --target, prints which
    columns explain the target, and what each of them adds to the others.

    \b
    Examples:
      covary explain wine.csv
      covary explain wine.csv --target quality --given alcohol
      covary explain wine.csv --columns density,alcohol,residual_sugar
    """  # noqa: D301
    from covary.measures import find_measure

    found = find_measure(measure, **parameters)
    with output.notices(), output.progress("scoring") as on_progress:
        table = options.declared(file, keywords)
        explanation = found.explain(table, columns, on_progress, target, given)
    if as_json:
        output.print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def print_explanation(explanation: Explanation) -> None:
    """Print the score, and what explains each column, or the target."""
    from rich.markup import escape

    from covary.correlation_scale import CORRELATION_SCALE_OF, reading

    out = output.console()
    about = f"{printable(explanation.order[0])} comes first and is not explained"
    if explanation.target is not None:
        about = explanation.summary()[1:-1]
    elif explanation.score == 0.0:
        about = "no dependence found"
    if explanation.measure == CORRELATION_SCALE_OF and explanation.score > 0.0:
        about = f"{reading(explanation.score)}; {about}"
    out.print(
        f"[bold]{explanation.measure} = {explanation.score:.4f}[/bold]   "
        f"({len(explanation.order)} columns, {explanation.rows:,} rows; {escape(about)})"
    )
    if not any(step.by for step in explanation.steps):
        return
    if explanation.target is not None and explanation.steps[0].contributions():
        _print_target(out, explanation)
    else:
        _print_steps(out, explanation)
    if explanation.target is not None:
        _print_profile(out, explanation.marked_steps()[0])


def _print_target(out: Console, explanation: Explanation) -> None:
    """Print one line for each of several columns that explain the target."""
    (step,) = explanation.marked_steps()
    columns = output.table("column", "#alone", "", "#adds", "")
    for name, alone, adds in step.contributions():
        fractions = (f"{alone:.4f}", output.bar(alone), f"{adds:.4f}", output.bar(adds))
        columns.add_row(output.cell(name), *fractions)
    out.print(columns)
    together = "together" + (", given columns included" if explanation.given else "")
    explained = f"{step.explained:.4f} of {printable(step.target)} in {step.rows:,} rows"
    for line in (
        f"{together}: {'; '.join([explained, *step.note_on_missing()])}",
        "alone: what the column explains if nothing else is known",
        "adds: what it explains beyond all others, as a fraction of what these leave unexplained",
    ):
        out.print(output.cell(line), style="dim")


def _print_profile(out: Console, step: Step) -> None:
    """Print how the target differs between groups of rows."""
    if not step.profile:
        return
    cells = output.table("where", "target", "#rows")
    for cell in step.profile:
        cells.add_row(
            output.cell(cell.place()), output.cell(step.describe(cell)), f"{cell.rows:,}"
        )
    out.print(cells)
    for note in step.note_on_profile():
        out.print(output.cell(note), style="dim")


def _print_steps(out: Console, explanation: Explanation) -> None:
    """Print one line per column with what explains it."""
    steps = output.table("column", "#explained", "#rows", "by", "how")
    for step in explanation.marked_steps():
        by = listing(step.by) if step.by else "-"
        if len(step.by) > MAX_NAMES and not step.alone:  # a chain of all columns before it
            by = f"{len(step.by) - MAX_NAMES} more, {', '.join(step.by[-MAX_NAMES:])}"
        steps.add_row(
            output.cell(step.target),
            f"{step.explained:.4f}",
            str(step.rows),
            output.cell(by),
            output.cell(step.details()),
        )
    out.print(steps)
