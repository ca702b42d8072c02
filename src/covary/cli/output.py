"""Prints the output of commands: text, tables and progress. Notices go to standard error."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from covary.errors import CovaryWarning
from covary.formatting import printable, short_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console
    from rich.table import Table

# The exit code after Ctrl-C.
INTERRUPTED = 130


def cell(text: str) -> Any:
    """Return text for a rich table, without interpreting markup or control characters."""
    from rich.text import Text

    return Text(printable(text))


def console() -> Console:
    """Return the console for results.

    Output to a pipe is 120 characters wide, unless COLUMNS is set.
    """
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else 120, highlight=False)


def table(*headings: str, title: str | None = None) -> Table:
    """Return an empty table; a heading that starts with '#' makes the column right-aligned."""
    from rich import box
    from rich.table import Table

    empty = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for heading in headings:
        numeric = heading.startswith("#")
        empty.add_column(
            heading.lstrip("#"), justify="right" if numeric else "left", no_wrap=numeric
        )
    return empty


def grid(justify: Sequence[Any]) -> Table:
    """Return an empty table without headings and lines; one entry per column."""
    from rich.table import Table

    empty = Table.grid(padding=(0, 2, 0, 0))
    for each in justify:
        empty.add_column(justify=each)
    return empty


def print_json(document: Any) -> None:
    """Print a document as JSON.

    Objects that JSON does not support become strings; NaN and infinity raise an error.
    """
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, default=str, allow_nan=False))


@contextmanager
def notices() -> Iterator[None]:
    """Print each warning on one line of standard error, at the end of the context."""
    shown: list[str] = []

    def show(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
        prefix = "" if issubclass(category, CovaryWarning) else f"{category.__name__}: "
        shown.append(prefix + printable(" ".join(str(message).split())))

    with warnings.catch_warnings():
        warnings.simplefilter("always", CovaryWarning)
        warnings.showwarning = show
        try:
            yield
        finally:
            for line in shown:
                click.echo(f"covary: note: {line}", err=True)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar with rate and remaining time on standard error, if it is a terminal."""
    with stages() as show:
        yield None if show is None else (lambda done, total: show(doing, done, total))


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a progress bar for several stages, each with its name."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    columns = (
        "{task.description}",
        BarColumn(),
        "{task.fields[counted]}",
        "{task.fields[rate]}",
        TimeRemainingColumn(),
        "left in this stage",
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=None, counted="", rate="")
        current = bars.tasks[0]

        def show(stage: str, done: int, total: int) -> None:
            if current.total != total:  # another stage: its speed is unknown
                bars.reset(task, total=total, completed=done)
            bars.update(
                task,
                description=stage,
                completed=done,
                counted=f"{done:,}/{total:,}",
                rate=f"{current.speed:,.0f}/s" if current.speed else "",
            )

        yield show


def bar(score: float, width: int = 10) -> Any:
    """Return a score from 0 to 1 as a bar, in eighths of a character."""
    from rich.text import Text

    eighths = round(min(max(score, 0.0), 1.0) * width * 8)
    drawn = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]
    return Text(f"{drawn:<{width}}"[:width], style="cyan")


def pvalue(p: float | None) -> str:
    """Return a p-value as text; a dash if there is none."""
    return "-" if p is None else short_number(p)


def best_pairs(
    scores: npt.NDArray[np.float64], names: Sequence[str], most: int
) -> list[tuple[str, str, float]]:
    """Return the pairs with the highest scores above 0, best first."""
    import numpy as np

    firsts, seconds = np.triu_indices(len(names), k=1)
    found = scores[firsts, seconds]
    best = [k for k in np.argsort(-found, kind="stable")[:most] if found[k] > 0]
    return [(names[firsts[k]], names[seconds[k]], float(found[k])) for k in best]


def print_best_pairs(
    out: Console, scores: npt.NDArray[np.float64], names: Sequence[str], most: int
) -> None:
    """Print the pairs with the highest scores."""
    pairs = best_pairs(scores, names, most)
    if not pairs:
        out.print("\nNo pair scores above 0.")
        return
    title = f"The best {len(pairs)} pairs" if len(pairs) > 1 else "The best pair"
    listing = table("#score", "column", "column", title=title)
    for first, second, score in pairs:
        listing.add_row(short_number(score), cell(first), cell(second))
    out.print()
    out.print(listing)


# Shades: lowest score, character, colour.
_SHADES = (
    (0.0, " ", "bright_black"),
    (0.05, "·", "cyan"),
    (0.2, "░", "cyan"),
    (0.4, "▒", "yellow"),
    (0.6, "▓", "red"),
    (0.8, "█", "bright_red"),
)
_LEAST = _SHADES[0]


def print_matrix(
    out: Console, scores: npt.NDArray[np.float64], names: Sequence[str], bounded: bool = True
) -> None:
    """Print a matrix of scores as numbers if they fit, else as shades, else not at all.

    Shades cover scores from 0 to 1, or to the highest score if scores are not ``bounded``.
    """
    import numpy as np
    from rich.text import Text

    most = 1.0 if bounded else max(float(np.nanmax(np.triu(scores, k=1))), 1e-300)

    longest = min(max(len(printable(name)) for name in names), 28)
    digits = len(str(len(names)))
    room = out.width - longest - digits - 2
    numbers = [[f"{round(score, 2) + 0.0:.2f}" for score in row] for row in scores.tolist()]
    widest = max(len(number) for row in numbers for number in row) + 1
    width = next((width for width in (widest, 2) if len(names) * width <= room), 0)
    if not width:
        out.print(f"{len(names)} columns do not fit on the screen; -o FILE.csv writes all scores")
        return
    every = 1 if width > 2 else 5
    shown = [k if k % every == 0 or k == 1 else "" for k in range(1, len(names) + 1)]
    header = "".join(f"{number:>{width}}" for number in shown)
    out.print(Text(" " * (longest + digits + 2) + header, style="dim"), no_wrap=True)
    for row, name in enumerate(names):
        line = Text()
        line.append(f"{row + 1:>{digits}} ", style="dim")
        line.append(f"{printable(name)[:longest]:<{longest}} ")
        for column, score in enumerate(scores[row]):
            if row == column:
                line.append("╲".rjust(width), style="dim")
                continue
            _, shade, style = next((s for s in reversed(_SHADES) if score >= s[0] * most), _LEAST)
            number = numbers[row][column].rjust(width)
            line.append(number if width > 2 else shade * 2, style=style)
        out.print(line, no_wrap=True)
    if width == 2:
        legend = "   ".join(f"{shade} {least * most:.3g}" for least, shade, _ in _SHADES[1:])
        out.print(Text(f"\nlowest score of each shade: {legend}", style="dim"))


def write_report(
    result: Any, path: str, title: str, run_path: str | None, no_rows: bool, as_json: bool
) -> bool:
    """Write the report of a result; return False if interrupted."""
    try:
        with notices(), stages() as on_progress:
            result.report(path, title, rows=not no_rows, on_progress=on_progress)
    except KeyboardInterrupt:
        how = f"; `covary report {printable(run_path)}` writes it" if run_path else ""
        click.echo(f"covary: interrupted before the page was written{how}", err=True)
        return False
    if not as_json:
        print_and_open_page(path, open_it=False)
    return True


def print_and_open_page(path: str, open_it: bool) -> None:
    """Print the path of a page, and open it in a browser if requested."""
    import webbrowser
    from pathlib import Path

    click.echo(f"report: {printable(path)}")
    if open_it and not webbrowser.open(Path(path).absolute().as_uri()):
        click.echo("covary: note: no browser found to open the page", err=True)
