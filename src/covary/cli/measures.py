"""`covary measures`: what there is to measure with."""

from __future__ import annotations

import math

import click

from covary.cli import options, output


@click.command("measures")
@options.as_json
def command(as_json: bool) -> None:
    """List the measures with their parameters."""
    from covary.measures import all_measures

    found = all_measures()
    if as_json:
        output.print_json(
            {
                name: {
                    "summary": entry.summary,
                    "parameters": entry.parameters,
                    "bounds": [b if math.isfinite(b) else None for b in entry.make({}).bounds],
                }
                for name, entry in found.items()
            }
        )
        return
    listing = output.table("measure", "what it is", "range", "parameters and defaults")
    for name, entry in found.items():
        parameters = ", ".join(f"{key}={value}" for key, value in entry.parameters.items())
        listing.add_row(name, output.cell(entry.summary), entry.range, output.cell(parameters))
    output.console().print(listing)
