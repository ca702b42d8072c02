"""Options that several commands share, and options made from option classes and registries."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from covary.registry import DEFAULT_MEASURE

if TYPE_CHECKING:
    from covary.options import Allowed, Options


class GeneratedCommand(click.Command):
    """A command with options that are generated when the command is used.

    They come from dataclasses and registries whose import takes time. ``covary --help`` does not
    need them.
    """

    def __init__(
        self, *args: Any, generated: Callable[[], list[click.Option]], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.generated: Callable[[], list[click.Option]] | None = generated

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if self.generated is not None:
            self.params += self.generated()
            self.generated = None
        return super().get_params(ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error about a name with a comma says that it needs quotes."""
        from covary.errors import ColumnError

        try:
            return super().invoke(ctx)
        except ColumnError as error:
            names = [*(ctx.params.get("columns") or ()), *(ctx.params.get("given") or ())]
            for name, after in pairwise(names):
                if f"{name},{after}" in str(error) or f"{name}, {after}" in str(error):
                    hint = f"A name that contains a comma needs quotes: '\"{name},{after}\"'."
                    raise ColumnError(f"{error} {hint}") from None
            raise


def options_of(cls: type[Options]) -> list[click.Option]:
    """Return one command line option for each option of a class."""
    allowed, defaults = cls.allowed(), cls.defaults()
    return [make_option(name, each, defaults[name]) for name, each in allowed.items()]


def make_option(name: str, allowed: Allowed, default: Any) -> click.Option:
    """Return a command line option."""
    flags = [f"--{name.replace('_', '-')}", *([allowed.flag] if allowed.flag else [])]
    settings: dict[str, Any] = {"default": default, "help": allowed.help}
    if allowed.kind == "flag":
        return click.Option(flags, is_flag=True, **settings)
    if allowed.kind == "column":
        return click.Option(flags, metavar="NAME", **settings)
    if allowed.kind == "columns":
        return click.Option(
            flags, multiple=True, callback=_split_names, metavar="A,B,...", **settings
        )
    if allowed.kind == "several choices":
        metavar = ",".join(allowed.choices)
        return click.Option(
            flags, multiple=True, callback=_split_names, metavar=metavar, **settings
        )
    if allowed.kind == "orders":
        return click.Option(
            flags, multiple=True, callback=_split_orders, metavar="NAME=A,B,...", **settings
        )
    types = {
        "whole number": click.IntRange(min=allowed.minimum),
        "fraction": click.FloatRange(0, 1, min_open=True, max_open=True),
        "choice": click.Choice(allowed.choices),
    }
    shown = default is not None
    return click.Option(flags, type=types[allowed.kind], show_default=shown, **settings)


def table_options() -> list[click.Option]:
    """Return the options that declare columns."""
    from covary.table import TableOptions

    return options_of(TableOptions)


def declared(file: str, keywords: dict[str, Any]) -> Any:
    """Return a file with the columns that command line options declare; remove these options."""
    from covary.table import TableOptions, declare

    options = TableOptions(**{name: keywords.pop(name) for name in TableOptions.defaults()})
    return declare(file, options)


def strategy_options() -> list[click.Option]:
    """Return --strategy and one option for each parameter of a strategy.

    Their default is None, which keeps the default of the strategy.
    """
    from covary.searching.strategies import all_strategies

    entries = all_strategies()
    summaries = "; ".join(f"{name}: {entry.summary}" for name, entry in entries.items())
    strategy = click.Option(
        ["--strategy"],
        type=click.Choice(list(entries)),
        default="beam",
        show_default=True,
        help=f"Which sets to score. {summaries}.",
    )
    by_parameter: dict[str, dict[str, Allowed]] = {}
    for name, entry in entries.items():
        for parameter, allowed in entry.cls.allowed().items():
            by_parameter.setdefault(parameter, {})[name] = allowed
    options = [strategy]
    for parameter, uses in by_parameter.items():
        allowed = next(iter(uses.values()))
        options.append(make_option(parameter, allowed._replace(help=_help(parameter, uses)), None))
    return options


def _help(parameter: str, uses: dict[str, Allowed]) -> str:
    """Return the help text of a strategy parameter, with the strategies that have it."""
    from covary.searching.strategies import all_strategies

    entries = all_strategies()
    text = next(iter(uses.values())).help
    if len(uses) < len(entries):
        text += f" Only for strategy {', '.join(uses)}."
    defaults = {entries[name].parameters[parameter] for name in uses}
    default = defaults.pop() if len(defaults) == 1 else None
    return text if default is None else f"{text}  [default: {default}]"


def engine_options() -> list[click.Option]:
    """Return --engine and --jobs."""
    from covary.engines import ENGINES

    entries = ENGINES.entries()
    names = ", ".join(f"{name} ({entry.summary})" for name, entry in entries.items())
    return [
        click.Option(
            ["--engine"],
            default="threads",
            show_default=True,
            metavar="NAME|ADDRESS",
            help=f"Where to compute: {names}, or the address of a Dask scheduler.",
        ),
        click.Option(
            ["--jobs", "-j"],
            type=click.IntRange(min=1),
            help="Number of workers.  [default: all cores]",
        ),
    ]


def check_files(
    file: str, run_path: str | None, resume: bool, report: str | None, no_rows: bool
) -> None:
    """Raise an error if options about the run file and the page do not fit together."""
    from covary.report.page import check_page

    if no_rows and report is None:
        raise click.UsageError("--no-rows applies to the page: add --report FILE.html")
    if report is not None:
        check_page(report, file, run_path)
    if resume and run_path is None:
        raise click.UsageError("--resume needs --run FILE.covary")


def _split_names(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> list[str] | None:
    """Return comma-separated names; a name with a comma must be quoted."""
    try:
        rows = list(csv.reader(texts or (), skipinitialspace=True))
    except csv.Error:
        raise click.BadParameter("quote a name that contains a line break") from None
    return [name for row in rows for name in row] if texts else None


def _split_orders(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, list[str]] | None:
    """Return the ordered values of columns; a value with a comma must be quoted."""
    orders: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, values = text.partition("=")
        if not equals:
            raise click.BadParameter(f"write name=values, as in size=S,M,L, not '{text}'")
        orders[name.strip()] = _split_names(context, option, (values,)) or []
    return orders or None


def _parse_parameters(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Return name=value pairs as a dictionary; values become numbers, booleans or None."""
    parameters: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"write name=value, as in beta=10, not '{text}'")
        parameters[name.strip()] = _parse_value(value.strip())
    return parameters


def _parse_value(text: str) -> Any:
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
    callback=_split_names,
    metavar="A,B,...",
    help="Use only these columns; may be repeated.",
)
target = click.option("--target", metavar="NAME", help="The column to be explained.")
given = click.option(
    "--given",
    multiple=True,
    callback=_split_names,
    metavar="A,B,...",
    help="Columns that are known already: count only what others explain beyond them. Needs "
    "--target.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
jobs = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    help="Number of threads.  [default: all cores]",
)
run_path = click.option(
    "--run",
    "run_path",
    type=click.Path(),
    metavar="FILE.covary",
    help="Keep every result in this run file.",
)
resume = click.option("--resume", is_flag=True, help="Continue the run file if it exists.")
report = click.option(
    "--report", type=click.Path(), metavar="FILE.html", help="Write an HTML page with all results."
)
no_rows = click.option(
    "--no-rows", is_flag=True, help="Write no rows of the table into the page, only counts."
)
open_page = click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")


def measure(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --measure and --set."""
    with_name = click.option(
        "--measure",
        "-m",
        default=DEFAULT_MEASURE,
        show_default=True,
        help="Measure; `covary measures` lists them.",
    )
    with_parameters = click.option(
        "--set",
        "-s",
        "parameters",
        multiple=True,
        callback=_parse_parameters,
        metavar="NAME=VALUE",
        help="Set a parameter of the measure, such as max_given=1; may be repeated.",
    )
    return with_name(with_parameters(function))
