"""Time of whole processes, from start to exit: importing covary, and its command line. Minimum
over repeats. The cold run starts with an empty kernel cache, like the first run after installing.
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
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, format_seconds
from benchmarks.timing import Progress, best_time

SCORE = "covary score, 500 x 3 CSV"
COLD = "covary score, cold kernels"


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the times of processes; ``quick`` skips the cold run."""
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
            rows.append({"process": COLD, "seconds": "not with --quick"})
        else:
            progress(COLD)
            call = partial(run_cold, commands(file)[SCORE])
            rows.append({"process": COLD, **timed(call, budget, patience=0.0)})
    columns = [
        BenchmarkColumn("process", "process"),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("repeats", "repeats"),
    ]
    return [BenchmarkTable("Processes", columns, rows)]


def timed(call: Callable[[], None], budget: float, **options: float) -> dict[str, Any]:
    """Return time and repeats of a process, or its error message if it failed."""
    try:
        return best_time(call, budget, min_repeats=2, **options)._asdict()
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").strip() or "no message"
        return {"seconds": f"fails: {message.splitlines()[-1][:60]}"}


def commands(file: Path) -> dict[str, list[str]]:
    """Return the commands to time, by name."""
    covary = [sys.executable, "-m", "covary"]
    return {
        "python, empty program": [sys.executable, "-c", "pass"],
        "python, import numpy": [sys.executable, "-c", "import numpy"],
        "import covary": [sys.executable, "-c", "import covary"],
        "covary --help": [*covary, "--help"],
        "covary measures": [*covary, "measures"],
        SCORE: [*covary, "score", str(file)],
    }


def run_process(command: list[str], **variables: str) -> None:
    """Run a process to its end and discard its output."""
    environment = {**os.environ, **variables}
    subprocess.run(command, env=environment, capture_output=True, check=True)


def run_cold(command: list[str]) -> None:
    """Run a process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as empty:
        run_process(command, NUMBA_CACHE_DIR=empty)
