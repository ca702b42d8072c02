"""`covary test`: do columns depend on each other, or could it be chance?"""

from __future__ import annotations

from typing import Any

import click

from covary.cli import options, output


@click.command("test")
@options.file
@options.columns
@options.measure
@click.option("--target", metavar="NAME", help="Test this column against the others.")
@click.option(
    "--permutations",
    "-n",
    default=999,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many permutations.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Stop as soon as it is clear on which side of this level the p-value lies.",
)
@options.seed
@options.engine
@options.jobs
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    target: str | None,
    permutations: int,
    level: float | None,
    seed: int,
    engine: str,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Tell whether columns depend on each other at all.

    Every column of FILE, or each that --columns names, is permuted by itself; the p-value is how
    often that gives as much evidence of dependence as the table itself.

    \b
    Examples:
      covary test wine.csv --columns density,alcohol
      covary test wine.csv -c density,alcohol,sugar --target density
      covary test wine.csv -c density,alcohol --permutations 99999 --level 0.01
    """  # noqa: D301
    import covary
    from covary.measures import find_seeded

    found = find_seeded(measure, seed, **parameters)
    with output.notices(), output.progress("permutations") as on_progress:
        result = covary.test(
            file,
            columns,
            measure=found,
            target=target,
            permutations=permutations,
            level=level,
            seed=seed,
            engine=engine,
            n_jobs=jobs,
            on_progress=on_progress,
        )
    if as_json:
        output.print_json(result.to_dict())
        return
    out = output.console()
    out.print(output.cell(result.summary()), style="bold")
    for line in result.explained():
        out.print(output.cell(line))
