"""Writes the findings of an experiment as Markdown, JSON, SVG and PNG."""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from covary import __version__, errors
from covary.reproduction.experiments.base import Experiment
from covary.reproduction.experiments.findings import Findings, ResultTable
from covary.reproduction.experiments.methods import METHODS_NOTE
from covary.reproduction.experiments.real_tables import fingerprint, load_cached
from covary.reproduction.experiments.running import ExperimentRun
from covary.table import atomic_file

PNG_SCALE = 1.5
QUICK_NOTE = (
    "Quick run with a few small trials, to check that the program works. Do not cite these "
    "results."
)
REQUIRED_PACKAGES = {"vl_convert": "vl-convert-python", "altair": "altair"}


def check_packages() -> None:
    """Raise an error if a package for figures is missing, before a run that may take hours."""
    for module, package in REQUIRED_PACKAGES.items():
        if importlib.util.find_spec(module) is None:
            raise errors.no_figure_package(package)


def write_findings(
    experiment: Experiment, findings: Findings, run: ExperimentRun, folder: Path
) -> list[Path]:
    """Write all files of an experiment and return their paths."""
    import vl_convert

    facts = run_facts(experiment, run)
    stem = f"{experiment.name}-quick" if experiment.quick else experiment.name
    document = {
        "experiment": experiment.name,
        "title": experiment.title,
        "seed": experiment.seed,
        "quick": experiment.quick,
        "sentences": list(findings.sentences),
        "notes": [*findings.notes, METHODS_NOTE],
        "tables": [
            {"title": table.title, "heads": list(table.headings), "rows": [*map(list, table.rows)]}
            for table in findings.tables
        ],
        "run": facts,
    }
    data = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    contents = {
        ".md": markdown(experiment, findings, facts, f"{stem}.svg").encode(),
        ".json": f"{data}\n".encode(),
        ".svg": f"{vl_convert.vegalite_to_svg(findings.figure)}\n".encode(),
        ".png": vl_convert.vegalite_to_png(findings.figure, scale=PNG_SCALE),
    }
    paths = []
    for suffix, content in contents.items():
        path = folder / f"{stem}{suffix}"
        with atomic_file(path) as file:
            file.write(content)
        paths.append(path)
    return paths


def run_facts(experiment: Experiment, run: ExperimentRun) -> dict[str, Any]:
    """Return the command, date, machine, version, processor time and tables of a run."""
    quick = " --quick" if experiment.quick else ""
    data = " --data DIR" if experiment.dataset_names and experiment.data is not None else ""
    return {
        "command": f"covary reproduce {experiment.name}{quick}{data} --seed {experiment.seed}",
        "date": run.dates[-1],
        "machine": " and ".join(run.machines),
        "covary": __version__,
        "processor_seconds": round(run.seconds),
        "tables": {
            name: {
                "fingerprint": fingerprint(name, experiment.data),
                "published": load_cached(name, experiment.data).published,
            }
            for name in experiment.dataset_names
        },
    }


def markdown(
    experiment: Experiment, findings: Findings, facts: dict[str, Any], figure_path: str
) -> str:
    """Return the Markdown page of an experiment."""
    parts = [f"# {experiment.title}"]
    if experiment.quick:
        parts.append(QUICK_NOTE)
    unpublished = [name for name, about in facts["tables"].items() if not about["published"]]
    if unpublished:
        parts.append(
            "**The following tables differ from those of the published results**: "
            f"{_plain(', '.join(unpublished))}."
        )
    parts += map(_plain, findings.sentences)
    parts.append(f"![{experiment.title}]({figure_path})")
    for table in findings.tables:
        parts += [f"## {_plain(table.title)}", markdown_table(table)]
    group = experiment.trial_group
    shared = f" (including trials shared with other {group} experiments)"
    parts += ["## Method", *map(_plain, (*findings.notes, METHODS_NOTE))]
    parts.append(
        f"`{facts['command']}`: {duration(facts['processor_seconds'])} of processor time"
        f"{shared if group != experiment.name else ''}, {facts['date']}, "
        f"covary {facts['covary']}; {facts['machine']}."
    )
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return text on one line with HTML characters escaped."""
    return html.escape(" ".join(text.split()), quote=False)


def markdown_table(table: ResultTable) -> str:
    """Return a table in Markdown; cells are padded and numbers right-aligned."""
    headings, *cells = (
        [re.sub(r"([\\`*|\[\]])", r"\\\1", _plain(cell)) for cell in row]
        for row in (table.headings, *table.formatted_rows())
    )
    widths = [max(3, *(len(row[at]) for row in [headings, *cells])) for at in range(len(headings))]
    numeric = table.numeric_columns()

    def line(row: Sequence[str]) -> str:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        return f"| {' | '.join(aligned)} |"

    rule = [
        "-" * (width - 1) + ":" if right else "-" * width
        for width, right in zip(widths, numeric, strict=True)
    ]
    return "\n".join([line(headings), line(rule), *map(line, cells)])


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours.

    Examples
    --------
    >>> duration(59), duration(240), duration(9000)
    ('59 s', '4 min', '2.5 h')

    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
