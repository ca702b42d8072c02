"""Writes what an experiment shows: as text with tables, as data, and as a picture."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from covary import __version__, errors
from covary.experiments.base import Experiment, Findings, Table
from covary.table import whole_file

PICTURE_SCALE = 2.0


def check_pictures() -> None:
    """Refuse if pictures cannot be drawn, before hours of work."""
    if importlib.util.find_spec("vl_convert") is None:
        raise errors.no_pictures()


def write_findings(
    experiment: Experiment, findings: Findings, seconds: float, folder: Path
) -> list[Path]:
    """Write all files of an experiment, and return where they are."""
    import vl_convert

    facts = facts_of(experiment, seconds)
    stem = f"{experiment.name}-quick" if experiment.quick else experiment.name
    svg = vl_convert.vegalite_to_svg(findings.picture)
    png = vl_convert.vegalite_to_png(findings.picture, scale=PICTURE_SCALE)
    document = {
        "experiment": experiment.name,
        "title": experiment.title,
        "seed": experiment.seed,
        "quick": experiment.quick,
        "sentences": list(findings.sentences),
        "notes": list(findings.notes),
        "tables": [
            {
                "title": table.title,
                "heads": list(table.heads),
                "rows": [list(row) for row in table.rows],
            }
            for table in findings.tables
        ],
        "run": facts,
    }
    text = markdown(experiment, findings, facts, f"{stem}.svg")
    contents = {
        ".md": text.encode(),
        ".json": (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode(),
        ".svg": (svg + "\n").encode(),
        ".png": png,
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"{stem}{ending}"
        with whole_file(path) as file:
            file.write(content)
        paths.append(path)
    return paths


def facts_of(experiment: Experiment, seconds: float) -> dict[str, Any]:
    """Return when and where it was run, and how long it took."""
    command = f"covary reproduce {experiment.name}"
    if experiment.quick:
        command += " --quick"
    if experiment.data is not None:
        command += " --data DIR"
    return {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "covary": __version__,
        "processor_seconds": round(seconds),
    }


def machine() -> str:
    """Return what kind of machine this is; nothing that tells whose."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1] for line in file if line.startswith("model name")]
        model = models[0].strip() if models else model
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(
        f"{package} {version(package)}" for package in ("numpy", "numba", "scikit-learn")
    )
    python = f"Python {platform.python_version()}"
    return f"{model}, {cores} cores, {platform.system()}; {python}, {versions}"


def markdown(
    experiment: Experiment, findings: Findings, facts: dict[str, Any], picture: str
) -> str:
    """Return the page of an experiment."""
    parts = [f"# {experiment.title}"]
    if experiment.quick:
        parts.append("A quick run: few and small trials, to see that it works. No figure to cite.")
    parts += findings.sentences
    parts.append(f"![{experiment.title}]({picture})")
    for table in findings.tables:
        parts += [f"## {table.title}", markdown_table(table)]
    if findings.notes:
        parts += ["## How it was done", *findings.notes]
    parts.append(
        f"`{facts['command']}`, seed {experiment.seed}: {duration(facts['processor_seconds'])} of "
        f"one core, {facts['date']}, covary {facts['covary']}; {facts['machine']}."
    )
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table with columns of equal width; numbers stand to the right."""
    heads, *cells = (
        [cell.replace("|", r"\|") for cell in row] for row in (table.heads, *table.shown())
    )
    widths = [max(3, *(len(row[at]) for row in [heads, *cells])) for at in range(len(heads))]
    numeric = table.numeric()

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
    return "\n".join([line(heads), line(rule), *map(line, cells)])


def duration(seconds: float) -> str:
    """Return a time in the largest unit that fits.

    Examples
    --------
    >>> duration(59), duration(240), duration(9000)
    ('59 s', '4 min', '2.5 h')

    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
