"""`covary test`: test whether columns are independent."""

from __future__ import annotations

from typing import Any

import click

from covary.cli import options, output


def _generated() -> list[click.Option]:
    from covary.significance.independence import TestOptions

    return [
        *options.options_of(TestOptions),
        *options.table_options(),
        *options.engine_options(),
    ]


@click.command("test", cls=options.GeneratedCommand, generated=_generated)
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
    engine: str,
    jobs: int | None,
    **keywords: Any,
) -> None:
    """Test whether columns are independent.

    The p-value is the probability, under independence, of an evidence statistic at least as large
    as that of FILE. All columns, or those that --columns names, are permuted independently. With
    --target, only the target is permuted. With --given, it is permuted among rows that are similar
    in the given columns.

    \b
    Examples:
      covary test wine.csv --columns density,alcohol
      covary test wine.csv -c density,alcohol,sugar --target density
      covary test wine.csv -c density --target quality --given alcohol
      covary test wine.csv -c density,alcohol --permutations 99999 --level 0.01
    """  # noqa: D301
    import covary
    from covary.correlation_scale import CORRELATION_SCALE_OF, reading
    from covary.measures import find_seeded

    found = find_seeded(measure, keywords["seed"], **parameters)
    with output.notices(), output.progress("permutations") as on_progress:
        result = covary.test(
            file,
            columns,
            measure=found,
            engine=engine,
            n_jobs=jobs,
            on_progress=on_progress,
            **keywords,
        )
    if as_json:
        output.print_json(result.to_dict())
        return
    out = output.console()
    out.print(output.cell(result.summary()), style="bold")
    if result.measure == CORRELATION_SCALE_OF:
        out.print(output.cell(f"score: {reading(result.score)}"))
    for line in result.explained():
        out.print(output.cell(line))
