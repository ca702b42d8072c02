"""`covary measures`: list and describe the measures."""

from __future__ import annotations

import inspect
import math
from typing import Any

import click

from covary.cli import options, output
from covary.registry import DEFAULT_MEASURE


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
        output.print_json({name: _to_dict(entry) for name, entry in found.items()})
    elif name is not None:
        for entry in found.values():
            click.echo(f"{entry.name}: {_range(entry)} ({entry.make().reading})\n")
            click.echo(inspect.getdoc(entry.cls))
    else:
        listing = output.table("measure", "description", "range", "parameters and defaults")
        for entry in found.values():
            parameters = ", ".join(f"{key}={value}" for key, value in entry.parameters.items())
            summary = entry.summary + (" (the default)" if entry.name == DEFAULT_MEASURE else "")
            cells = output.cell(summary), _range(entry), output.cell(parameters)
            listing.add_row(entry.name, *cells)
        output.console().print(listing)
        click.echo("covary measures NAME describes a measure and what it cannot detect.")


def _range(entry: Any) -> str:
    """Return the smallest and the largest score as text."""
    low, high = (f"{bound:g}".replace("inf", "∞") for bound in entry.make().bounds)
    return f"{low} .. {high}"


def _to_dict(entry: Any) -> dict[str, Any]:
    measure = entry.make()
    return {
        "summary": entry.summary,
        "parameters": entry.parameters,
        "bounds": [bound if math.isfinite(bound) else None for bound in measure.bounds],
        "reading": measure.reading,
        "pairs_only": measure.max_columns == 2,
        "takes_target": measure.takes_target,
    }
