"""`covary overview`: how a table is structured. `covary FILE` runs it, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.cli.output import INTERRUPTED
from covary.formatting import counted, fraction_text, listing, printable

if TYPE_CHECKING:
    from covary.results import Link, Overview

_ARROWS = {"explains": "←", "go together": "—"}


def _generated() -> list[click.Option]:
    from covary.structure.options import OverviewOptions

    return [
        *options.options_of(OverviewOptions),
        *options.table_options(),
        *options.engine_options(),
    ]


@click.command("overview", cls=options.GeneratedCommand, generated=_generated)
@options.file
@options.columns
@options.run_path
@options.resume
@options.report
@options.no_rows
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    run_path: str | None,
    resume: bool,
    report: str | None,
    no_rows: bool,
    as_json: bool,
    engine: str,
    jobs: int | None,
    **keywords: Any,
) -> int:
    """Show how FILE is structured: which columns are explained by which, and which stand alone.

    Each column has one line at most: the columns are put into one order, and each is explained by
    a few columns before it, so that nothing is said twice. Columns that are
    related only through others are not linked.

    \b
    Examples:
      covary overview wine.csv
      covary wine.csv                                    the same
      covary overview wine.csv --report wine.html        a map of the table as an HTML page
      covary overview genes.parquet --run genes.covary   if interrupted, add --resume
    """  # noqa: D301
    from covary.api import overview_result
    from covary.engines import find_engine
    from covary.structure.options import OverviewOptions
    from covary.structure.plan import plan_overview
    from covary.structure.run import OverviewRun

    options.check_files(file, run_path, resume, report, no_rows)
    found_engine = find_engine(engine, jobs)
    interrupted = False
    with output.stages() as on_progress:
        with output.notices():
            table = options.declared(file, keywords)
            found = OverviewRun(plan_overview(table, columns, OverviewOptions(**keywords)))
        with output.notices(), found.stored_in(run_path, resume=resume) as run_file:
            try:
                found.run(found_engine, run_file, on_progress)
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        kept = f"add --resume to continue {printable(run_path)}"
        how = kept if run_path else "nothing is kept without --run FILE.covary"
        click.echo(f"covary: interrupted before links were known; {how}", err=True)
        return INTERRUPTED
    result = overview_result(found)
    if as_json:
        output.print_json(result.to_dict())
    else:
        print_overview(result)
    if report is not None:
        title = f"How the columns of {Path(file).name} hang together"
        if not output.write_report(result, report, title, run_path, no_rows, as_json):
            return INTERRUPTED
    return 0


def print_overview(overview: Overview) -> None:
    """Print one block per group and one line per link; columns without links in one line."""
    out = output.console()
    out.print(output.cell(overview.summary()))
    if not overview.groups:
        out.print(output.cell(overview.nothing_linked()))
    for group in overview.groups:
        out.print()
        heading = f"{printable(group.name)} ({counted(len(group.columns), 'column')})"
        out.print(output.cell(heading), style="bold")
        lines = output.grid(("right", "left", "left"))
        for link in group.links:
            lines.add_row(*_cells(link))
        out.print(lines)
    out.print()
    for line in (*overview.closing_lines(), *_legend(overview)):
        out.print(output.cell(line), style="dim")


def _cells(link: Link) -> tuple[Any, ...]:
    """Return the explained fraction, a bar, and the link as text with a note."""
    from rich.text import Text

    text = Text(link.sentence())
    if link.kind in _ARROWS:
        text = Text(f"{printable(link.target)} {_ARROWS[link.kind]} {listing(link.by)}")
    if note := link.note():
        text.append(f"  {note}", style="dim")
    if link.kind not in _ARROWS:
        return "", Text("exact", style="dim"), text
    return fraction_text(link.explained), output.bar(link.explained), text


def _legend(overview: Overview) -> list[str]:
    """Return the meaning of the arrows that occur."""
    meanings = {"explains": "is explained by", "go together": "goes together with"}
    kinds = {link.kind for link in overview.links}
    shown = [f"{_ARROWS[kind]} {text}" for kind, text in meanings.items() if kind in kinds]
    if not shown:
        return []
    hint = "other columns may explain it as well or better: covary explain FILE --target COLUMN"
    return [f"{'; '.join(shown)}; {hint}"]
