"""Writes what an experiment shows: as text with tables, as data, and as a picture."""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from covary import __version__, errors
from covary.experiments.base import Experiment, Findings, Sheet
from covary.experiments.running import Ran
from covary.experiments.tables import fingerprint, loaded
from covary.table import whole_file

PICTURE_SCALE = 1.5
METHODS_NOTE = (
    "The methods: `uds-chance` is covary's own estimate of UDS, `uds` that of the paper (beta 20) "
    "and `uds-unregularized` the same without its choice of the number of bins; `cmi`, `mac` and "
    "`hics` are the rivals of the paper, `mcde` and `total-correlation` two more. Parameters are "
    "covary's defaults, the same for all tables, whereas the paper chose those of its rivals "
    "after their papers; but `cmi` gets columns that are scaled to [0, 1], as otherwise it "
    "depends on units. (Beta of `mac` is 20; `hics` and `mcde` draw 50 slices, of a tenth and of "
    "half of the rows; `total-correlation` is that of 5 bins.) `covary measures` tells about all "
    "of them."
)
QUICK = "A quick run: few and small trials, to see that it works. Nothing to cite."
NEEDED = {"vl_convert": "vl-convert-python", "altair": "altair"}


def check_pictures() -> None:
    """Refuse if pictures cannot be drawn, before hours of work."""
    for module, package in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise errors.no_pictures(package)


def write_findings(
    experiment: Experiment, findings: Findings, ran: Ran, folder: Path
) -> list[Path]:
    """Write all files of an experiment, and return where they are."""
    import vl_convert

    facts = facts_of(experiment, ran)
    stem = f"{experiment.name}-quick" if experiment.quick else experiment.name
    document = {
        "experiment": experiment.name,
        "title": experiment.title,
        "seed": experiment.seed,
        "quick": experiment.quick,
        "sentences": list(findings.sentences),
        "notes": [*findings.notes, METHODS_NOTE],
        "tables": [
            {"title": sheet.title, "heads": list(sheet.heads), "rows": list(map(list, sheet.rows))}
            for sheet in findings.sheets
        ],
        "run": facts,
    }
    data = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    contents = {
        ".md": markdown(experiment, findings, facts, f"{stem}.svg").encode(),
        ".json": f"{data}\n".encode(),
        ".svg": f"{vl_convert.vegalite_to_svg(findings.picture)}\n".encode(),
        ".png": vl_convert.vegalite_to_png(findings.picture, scale=PICTURE_SCALE),
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"{stem}{ending}"
        with whole_file(path) as file:
            file.write(content)
        paths.append(path)
    return paths


def facts_of(experiment: Experiment, ran: Ran) -> dict[str, Any]:
    """Return how, when and where it was run, and how long that took."""
    quick = " --quick" if experiment.quick else ""
    data = " --data DIR" if experiment.tables and experiment.data is not None else ""
    return {
        "command": f"covary reproduce {experiment.name}{quick}{data} --seed {experiment.seed}",
        "date": ran.dates[-1],
        "machine": " and ".join(ran.machines),
        "covary": __version__,
        "processor_seconds": round(ran.seconds),
        "tables": {
            name: {"fingerprint": fingerprint(name, experiment.data), "published": known.published}
            for name in experiment.tables
            for known in [loaded(name, experiment.data)]
        },
    }


def markdown(
    experiment: Experiment, findings: Findings, facts: dict[str, Any], picture: str
) -> str:
    """Return the page of an experiment."""
    parts = [f"# {experiment.title}"]
    if experiment.quick:
        parts.append(QUICK)
    other = [name for name, about in facts["tables"].items() if not about["published"]]
    if other:
        parts.append(
            f"**Not the published tables**: {_plain(', '.join(other))} differ from those that the "
            "published figures are of."
        )
    parts += map(_plain, findings.sentences)
    parts.append(f"![{experiment.title}]({picture})")
    for sheet in findings.sheets:
        parts += [f"## {_plain(sheet.title)}", markdown_table(sheet)]
    pool = experiment.pool
    shared = f", what experiments on {pool} share included" if pool != experiment.name else ""
    parts += ["## How it was done", *map(_plain, (*findings.notes, METHODS_NOTE))]
    parts.append(
        f"`{facts['command']}`: {duration(facts['processor_seconds'])} of one core{shared}, "
        f"{facts['date']}, covary {facts['covary']}; {facts['machine']}."
    )
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return text on one line in which no name can become a tag."""
    return html.escape(" ".join(text.split()), quote=False)


def markdown_table(sheet: Sheet) -> str:
    """Return a table with columns of equal width; numbers stand to the right."""
    heads, *cells = (
        [re.sub(r"([\\`*|\[\]])", r"\\\1", _plain(cell)) for cell in row]
        for row in (sheet.heads, *sheet.shown())
    )
    widths = [max(3, *(len(row[at]) for row in [heads, *cells])) for at in range(len(heads))]
    numeric = sheet.numeric()

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
