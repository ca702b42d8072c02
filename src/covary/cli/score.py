"""`covary score`: the score of some columns."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from covary.cli import options, output
from covary.formatting import counted, listing, printable, short_number


@click.command("score", cls=options.GeneratedCommand, generated=options.table_options)
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
    """Print how strongly columns depend on each other.

    Uses every usable column of FILE unless --columns names some. With --target, prints the
    fraction of the target that the others explain. `covary explain` prints which column is
    explained by which.

    \b
    Examples:
      covary score wine.csv --columns density,alcohol,residual_sugar
      covary score wine.csv -c density,alcohol --measure uds --set beta=10
      covary score wine.csv -c sulphates --target quality --given alcohol
      covary score shop.csv --nominal zip --ordered size=S,M,L
    """  # noqa: D301
    from rich.markup import escape

    from covary.correlation_scale import CORRELATION_SCALE_OF, reading
    from covary.measures import find_measure

    found = find_measure(measure, **parameters)
    found_parameters = dataclasses.asdict(found)  # type: ignore[call-overload]
    with output.notices():
        table = options.declared(file, keywords)
        found, prepared, roles = found.with_roles(table, columns, target, given)
        found.check(prepared, len(roles.tested))
        with_target = {} if roles.target is None else {"target": roles.target}
        score = found.score_set(prepared, roles.others, **with_target)
    # With an aggregate, each pair has its own complete rows.
    one_set_of_rows = found.drops_incomplete_rows and getattr(found, "aggregate", None) is None
    rows = prepared.n_complete(roles.tested) if one_set_of_rows else prepared.n_rows
    names = [prepared.names[column] for column in roles.others]
    given_names = [prepared.names[column] for column in roles.given]
    if as_json:
        output.print_json(
            {
                "measure": found.name,
                "parameters": found_parameters,
                "score": score,
                "rows": rows,
                "columns": names,
                "target": target,
                "given": given_names,
            }
        )
        return
    about = found.reading if found.name != CORRELATION_SCALE_OF else reading(score)
    of_target = f" for {printable(target)}" if target is not None else ""
    of_target += f" beyond {listing(given_names)}" if given_names else ""
    output.console().print(
        f"[bold]{found.name} = {short_number(score)}[/bold]   "
        f"({counted(len(names), 'column')}{escape(of_target)}, {rows:,} rows; {about})"
    )
