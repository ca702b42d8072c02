"""`covary score`: how strongly some columns depend on each other, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output

if TYPE_CHECKING:
    from covary.measures import Explanation


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
    r"""Score how strongly columns depend on each other, from 0 to 1.

    Uses every usable column of FILE unless --columns names some, and says which column is
    explained by which.

    \b
    Examples:
      covary score wine.csv --columns density,alcohol,residual_sugar
      covary score wine.csv -c density,alcohol --measure uds-unregularized --set beta=10
    """
    import covary

    with output.notices(), output.progress("scoring") as on_progress:
        explanation = covary.explain(
            file, columns, measure=measure, on_progress=on_progress, **parameters
        )
    if as_json:
        output.print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def print_explanation(explanation: Explanation) -> None:
    """Print the score, and one line per column with what explains it."""
    out = output.console()
    out.print(
        f"[bold]{explanation.measure} = {explanation.score:.4f}[/bold]   "
        f"({len(explanation.order)} columns, {explanation.rows} rows)"
    )
    steps = output.table("column", "#explained", "by", "#rows", "last cut into", "at")
    for step in explanation.steps:
        cuts = ", ".join(short(cut) for cut in step.cuts[:5])
        steps.add_row(
            output.cell(step.target),
            f"{step.explained:.4f}",
            output.cell(given(step.given)),
            str(step.rows),
            f"{step.bins} bin{'s' if step.bins != 1 else ''}",
            output.cell(cuts + (", ..." if len(step.cuts) > 5 else "")),
        )
    out.print(steps)


def given(names: tuple[str, ...], most: int = 3) -> str:
    """Return the columns before a target, the last ones by name."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{len(names) - most} more, " + ", ".join(names[-most:])


def short(value: Any) -> str:
    """Return a cut point with as many digits as a person reads."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
