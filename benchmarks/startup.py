"""Time of whole processes, from start to exit: importing covary and its command line. Minimum
over repeats; the cold run finds an empty kernel cache, as the first run ever does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import make_table
from benchmarks.report import Column, Table, in_seconds
from benchmarks.timing import Progress, best_time

RUN_COMMAND = "from covary.cli.main import main; main()"
SCORE = "covary score, 500 x 3 CSV"
COLD = "covary score, cold kernels"


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the times of processes; without the cold run if it must be quick."""
    budget = 0.8 if quick else 2.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        values = make_table("dependent", 500, 3)
        np.savetxt(file, values, delimiter=",", header="a,b,c", comments="", fmt="%.6f")
        rows = []
        for name, command in commands(file).items():
            progress(name)
            rows.append({"process": name, **timed(partial(run_process, command), budget)})
        if quick:
            rows.append({"process": COLD, "seconds": "left out by --quick"})
        else:
            progress(COLD)
            call = partial(run_cold, commands(file)[SCORE])
            rows.append({"process": COLD, **timed(call, budget, patience=0.0)})
    columns = [
        Column("process", "process"),
        Column("seconds", "time", in_seconds),
        Column("repeats", "repeats"),
    ]
    return [Table("Processes", columns, rows)]


def timed(call: Callable[[], None], budget: float, **options: float) -> dict[str, Any]:
    """Return time and repeats of a process, or what it said when it failed."""
    try:
        return best_time(call, budget, least=2, **options)._asdict()
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip() or "no message"
        return {"seconds": f"fails: {said.splitlines()[-1][:60]}"}


def commands(file: Path) -> dict[str, list[str]]:
    """Return what is timed, by name."""
    covary = [sys.executable, "-c", RUN_COMMAND]
    return {
        "python, doing nothing": [sys.executable, "-c", "pass"],
        "python, import numpy": [sys.executable, "-c", "import numpy"],
        "import covary": [sys.executable, "-c", "import covary"],
        "covary --help": [*covary, "--help"],
        "covary measures": [*covary, "measures"],
        SCORE: [*covary, "score", str(file)],
    }


def run_process(command: list[str], **variables: str) -> None:
    """Run a process to its end; its output goes nowhere."""
    environment = {**os.environ, **variables}
    subprocess.run(command, env=environment, capture_output=True, check=True)


def run_cold(command: list[str]) -> None:
    """Run a process that finds no compiled kernel."""
    with tempfile.TemporaryDirectory() as empty:
        run_process(command, NUMBA_CACHE_DIR=empty)
