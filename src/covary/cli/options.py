"""Options that several commands share."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import click

from covary.names import DEFAULT_MEASURE


def _names(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> list[str] | None:
    """Return comma-separated names; quotes keep a comma inside a name."""
    try:
        rows = list(csv.reader(texts, skipinitialspace=True))
    except csv.Error:
        raise click.BadParameter("put a name with a line break in it in quotes") from None
    return [name for row in rows for name in row] if texts else None


def _parameters(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Return name=value pairs with numbers, truth values and none as such."""
    parameters: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"write name=value, as in beta=10, not '{text}'")
        parameters[name.strip()] = _value(value.strip())
    return parameters


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


file = click.argument("file", type=click.Path(readable=False))
columns = click.option(
    "--columns",
    "-c",
    multiple=True,
    callback=_names,
    metavar="A,B,...",
    help="Use these columns only; may be repeated.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
jobs = click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="How many workers (default: all cores)."
)

engine = click.option(
    "--engine",
    default="threads",
    show_default=True,
    metavar="threads|processes|dask|ADDRESS",
    help="Where to compute; ADDRESS is a Dask scheduler's.",
)
seed = click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Of all that is drawn: the same seed, the same result.",
)

no_rows = click.option(
    "--no-rows", is_flag=True, help="Leave the rows of the table out of the page: only counts."
)
open_page = click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")


def top(default: int, least: int, of: str) -> Callable[..., Any]:
    """Add --top, how many of something to list."""
    return click.option(
        "--top",
        "-t",
        default=default,
        show_default=True,
        type=click.IntRange(min=least),
        help=f"How many of the best {of} to list.",
    )


def measure(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --measure and its parameters."""
    with_name = click.option(
        "--measure",
        "-m",
        default=DEFAULT_MEASURE,
        show_default=True,
        help="See `covary measures`.",
    )
    with_parameters = click.option(
        "--set",
        "-s",
        "parameters",
        multiple=True,
        callback=_parameters,
        metavar="NAME=VALUE",
        help="Set a parameter of the measure, such as max_given=1; may be repeated.",
    )
    return with_name(with_parameters(function))
