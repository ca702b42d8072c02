"""Peak memory while covary.score runs, in a fresh process: growth of the resident size over what
it was with everything imported, kernels warm and the table in memory.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import warnings
from pathlib import Path

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, in_megabytes
from benchmarks.timing import Progress

ROWS = 1_000_000
QUICK_ROWS = 200_000
COLUMNS = 10


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return peaks as multiples of the table, without it and with it."""
    n_rows = QUICK_ROWS if quick else ROWS
    rows = []
    for kind in KINDS:
        progress(kind)
        table_bytes, peak = in_fresh_process(kind, n_rows)
        rows.append(
            {
                "kind": kind,
                "table_bytes": table_bytes,
                "peak_growth_bytes": peak,
                "without_table": peak / table_bytes,
                "with_table": (peak + table_bytes) / table_bytes,
            }
        )
    columns = [
        Column("kind", "columns are"),
        Column("table_bytes", "the table", in_megabytes),
        Column("peak_growth_bytes", "growth to the peak", in_megabytes),
        Column("without_table", "times the table, itself not counted", as_number(2)),
        Column("with_table", "itself counted", as_number(2)),
    ]
    return [Table(f"uds-chance, {n_rows:,} rows x {COLUMNS} columns of doubles", columns, rows)]


def in_fresh_process(kind: str, n_rows: int) -> tuple[int, int]:
    """Return bytes of the table and bytes of growth, from a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", kind, str(n_rows)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    table_bytes, growth = json.loads(done.stdout)
    return table_bytes, growth


def growth_of_peak(kind: str, n_rows: int) -> tuple[int, int]:
    """Return bytes of a table and by how much scoring it raises the peak of this process."""
    warnings.simplefilter("ignore")
    covary.score(make_table(kind, 100, 3))
    table = make_table(kind, n_rows, COLUMNS)
    before = reset_peak()
    covary.score(table)
    return table.nbytes, peak_bytes() - before


def reset_peak() -> int:
    """Forget the peak, where the system can, and return the peak from which growth counts."""
    # Elsewhere little is lost: the table was made in place, which left no higher peak behind.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """Return the largest resident size of this process.

    Linux keeps what ``getrusage`` says across a change of program, so that a child starts with
    its parent's peak; /proc has the child's own.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    print(json.dumps(growth_of_peak(sys.argv[1], int(sys.argv[2]))))
