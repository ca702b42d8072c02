"""`covary measures`: what there is to measure with."""

from __future__ import annotations

import inspect
import math
from typing import Any

import click

from covary.cli import options, output
from covary.names import DEFAULT_MEASURE


@click.command("measures")
@click.argument("name", required=False)
@options.as_json
def command(name: str | None, as_json: bool) -> None:
    """List the measures with their parameters, or describe the one with this NAME.

    \b
    Examples:
      covary measures
      covary measures mac
    """  # noqa: D301
    from covary.measures import all_measures, find_measure

    found = all_measures()
    if name is not None:
        name = find_measure(name).name
        found = {name: found[name]}
    if as_json:
        output.print_json({name: _in_json(entry) for name, entry in found.items()})
    elif name is not None:
        for entry in found.values():
            click.echo(f"{entry.name}: {entry.range} ({entry.make({}).reading})\n")
            click.echo(inspect.getdoc(entry.cls))
    else:
        listing = output.table("measure", "what it is", "range", "parameters and defaults")
        for entry in found.values():
            parameters = ", ".join(f"{key}={value}" for key, value in entry.parameters.items())
            summary = entry.summary + (" (the default)" if entry.name == DEFAULT_MEASURE else "")
            listing.add_row(entry.name, output.cell(summary), entry.range, output.cell(parameters))
        output.console().print(listing)
        click.echo("covary measures NAME tells what a measure sees, and what it is blind to.")


def _in_json(entry: Any) -> dict[str, Any]:
    measure = entry.make({})
    return {
        "summary": entry.summary,
        "parameters": entry.parameters,
        "bounds": [bound if math.isfinite(bound) else None for bound in measure.bounds],
        "reading": measure.reading,
        "pairs_only": measure.most_columns == 2,
        "takes_target": measure.takes_target,
    }
