"""`covary reproduce`: repeats a table or figure of the paper."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from covary import errors
from covary.cli import options, output
from covary.formatting import printable
from covary.reproduction.experiments import NAMES, SEED, Experiment, Findings

if TYPE_CHECKING:
    from covary.array_types import OnProgress

ALL = "all"
SECONDS_BETWEEN_MESSAGES = 60


@click.command("reproduce")
@click.argument("name", type=click.Choice([*NAMES, ALL]), metavar="NAME")
@click.option("--quick", is_flag=True, help="Run a few small trials, in less than a minute.")
@click.option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder with the real tables, as NAME.csv.gz; OpenML does not have all of them.",
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
    help="Folder for the results and for finished trials.",
)
@click.option(
    "--seed",
    default=SEED,
    show_default=True,
    type=click.IntRange(0, 2**63 - 1),
    help="Random seed for tables, outliers and permutations; fixes all results.",
)
def command(
    name: str, quick: bool, data: str | None, jobs: int | None, folder: str, seed: int
) -> None:
    """Repeat an experiment of the paper, and compare the results with the paper.

    \b
    NAME is one of
      power-dimension  power by number of columns (Figure 1)
      power-extra      power with extra columns (Figure 2)
      power-mixed      power for tables of 2 to 50 columns (appendix)
      beta             power by number of initial bins (appendix)
      runtime          runtime by rows and columns (appendix)
      clustering       clusters in the best sets of columns (Table 1)
      outliers         outliers in the best sets of columns (Table 2)
      crime            education and employment in Communities & Crime (section 7.3)
      energy           energy of buildings (section 7.3)
      all              all experiments: 2.6 hours on two cores; the four power
                       experiments, which share tables, take 2.2 hours of these

    \b
    If interrupted, run the same command again to resume.
      covary reproduce power-dimension --quick
      covary reproduce outliers --data tables
    """  # noqa: D301
    from covary.reproduction.experiments import find_experiment
    from covary.reproduction.experiments.real_tables import check_tables
    from covary.reproduction.experiments.writing import check_packages

    tables = Path(data).expanduser() if data is not None else None
    experiments = [
        find_experiment(each)(quick, tables, seed) for each in (NAMES if name == ALL else (name,))
    ]
    check_packages()
    check_tables((table for each in experiments for table in each.dataset_names), tables)
    output_folder = Path(folder)
    try:
        output_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.unwritable(folder, error.strerror) from None
    try:
        for experiment in experiments:
            reproduce(experiment, output_folder, jobs)
    except KeyboardInterrupt:
        click.echo(
            "covary: finished trials are saved; run the same command again to resume", err=True
        )
        raise


def reproduce(experiment: Experiment, folder: Path, jobs: int | None) -> None:
    """Run an experiment, write its findings into a folder, and print them."""
    from covary.reproduction.experiments.running import run_trials
    from covary.reproduction.experiments.writing import QUICK_NOTE, write_findings

    trial_file = folder / f"{experiment.trial_group}.trials"
    with output.notices(), output.progress(experiment.name) as on_progress:
        run = run_trials(
            experiment, trial_file, jobs, on_progress or progress_messages(experiment.name)
        )
        findings = experiment.findings(run.results)
        paths = write_findings(experiment, findings, run, folder)
    if experiment.quick:
        click.echo(QUICK_NOTE)
    print_findings(experiment.title, findings)
    click.echo("files: " + ", ".join(map(str, paths)))


def progress_messages(name: str) -> OnProgress:
    """Return a callback that prints the number of finished trials, at most once a minute."""
    last_message = -math.inf

    def print_progress(done: int, total: int) -> None:
        nonlocal last_message
        if time.monotonic() - last_message > SECONDS_BETWEEN_MESSAGES:
            last_message = time.monotonic()
            click.echo(f"covary: {name}: {done:,} of {total:,} trials finished", err=True)

    return print_progress


def print_findings(title: str, findings: Findings) -> None:
    """Print the findings of an experiment."""
    out = output.console()
    out.print(f"[bold]{title}[/bold]")
    for sentence in findings.sentences:
        out.print()
        out.print(output.cell(sentence))
    for result in findings.tables:
        headings = [
            f"#{heading}" if numeric else heading
            for heading, numeric in zip(result.headings, result.numeric_columns(), strict=True)
        ]
        out.print()
        table = output.table(*headings, title=printable(result.title))
        for row in result.formatted_rows():
            table.add_row(*map(output.cell, row))
        out.print(table)
