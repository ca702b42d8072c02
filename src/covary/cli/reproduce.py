"""`covary reproduce`: a table or figure of the paper."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import click

from covary import errors
from covary.cli import options, output
from covary.experiments import NAMES, SEED, Experiment, Findings
from covary.names import printable

ALL = "all"
SECONDS_BETWEEN = 60


@click.command("reproduce")
@click.argument("name", type=click.Choice([*NAMES, ALL]), metavar="NAME")
@click.option("--quick", is_flag=True, help="A few small trials, in less than a minute.")
@click.option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="The folder with the real tables, as NAME.csv.gz; OpenML does not have all of them.",
)
@options.jobs
@click.option(
    "--output",
    "-o",
    "folder",
    type=click.Path(file_okay=False),
    default="covary-reproduction",
    show_default=True,
    metavar="DIR",
    help="Where to write; trials that are done are kept there.",
)
@click.option(
    "--seed",
    default=SEED,
    show_default=True,
    type=click.IntRange(0, 2**63 - 1),
    help="Of the tables, outliers and permutations: the same seed, the same figures.",
)
def command(
    name: str, quick: bool, data: str | None, jobs: int | None, folder: str, seed: int
) -> None:
    """Repeat an experiment of the paper: tables, a picture, and how it compares.

    \b
    NAME is one of
      power-dimension  power against the number of columns (Figure 1)
      power-extra      power with extra columns (Figure 2)
      power-mixed      power where every table has 2 to 50 columns (appendix)
      beta             power against the number of initial bins (appendix)
      runtime          time against rows and columns (appendix)
      clustering       clusters in the sets that are found (Table 1)
      outliers         outliers in the sets that are found (Table 2)
      crime            education and employment in Communities & Crime (section 7.3)
      energy           energy of buildings (section 7.3)
      all              one after the other: 2.6 hours on two cores, of which the four
                       on power, which share tables, 2.2

    \b
    Interrupted? The same command goes on where it was.
      covary reproduce power-dimension --quick
      covary reproduce outliers --data tables
    """  # noqa: D301
    from covary.experiments import find_experiment
    from covary.experiments.tables import check_tables
    from covary.experiments.writing import check_pictures

    tables = Path(data).expanduser() if data is not None else None
    experiments = [
        find_experiment(each)(quick, tables, seed) for each in (NAMES if name == ALL else (name,))
    ]
    check_pictures()
    check_tables((table for each in experiments for table in each.tables), tables)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.unwritable(folder, error.strerror) from None
    try:
        for experiment in experiments:
            reproduce(experiment, place, jobs)
    except KeyboardInterrupt:
        click.echo("covary: what is done is kept: the same command goes on", err=True)
        raise


def reproduce(experiment: Experiment, place: Path, jobs: int | None) -> None:
    """Run an experiment, write what it shows into a folder, and print it."""
    from covary.experiments.running import run_trials
    from covary.experiments.writing import QUICK, write_findings

    kept = place / f"{experiment.pool}.trials"
    with output.notices(), output.progress(experiment.name) as on_progress:
        ran = run_trials(experiment, kept, jobs, on_progress or now_and_then(experiment.name))
        findings = experiment.findings(ran.results)
        paths = write_findings(experiment, findings, ran, place)
    if experiment.quick:
        click.echo(QUICK)
    print_findings(experiment.title, findings)
    click.echo("written: " + ", ".join(map(str, paths)))


def now_and_then(name: str) -> Callable[[int, int], None]:
    """Return what tells how many trials are done, at first and once a minute, to a log."""
    told = -math.inf

    def tell(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > SECONDS_BETWEEN:
            told = time.monotonic()
            click.echo(f"covary: {name}: {done:,} of {total:,} trials are done", err=True)

    return tell


def print_findings(title: str, findings: Findings) -> None:
    """Print what an experiment shows."""
    out = output.console()
    out.print(f"[bold]{title}[/bold]")
    for sentence in findings.sentences:
        out.print()
        out.print(output.cell(sentence))
    for sheet in findings.sheets:
        heads = [
            f"#{head}" if numeric else head
            for head, numeric in zip(sheet.heads, sheet.numeric(), strict=True)
        ]
        out.print()
        drawn = output.table(*heads, title=printable(sheet.title))
        for row in sheet.shown():
            drawn.add_row(*map(output.cell, row))
        out.print(drawn)
