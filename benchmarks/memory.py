"""Growth of peak memory during covary.score, in a new process. Growth starts after all imports,
with compiled kernels and the table in memory.
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
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_megabytes
from benchmarks.timing import Progress

ROWS = 1_000_000
QUICK_ROWS = 200_000
COLUMNS = 10


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return peaks as multiples of the table's size, without and with the table itself."""
    n_rows = QUICK_ROWS if quick else ROWS
    rows = []
    for kind in KINDS:
        progress(kind)
        table_bytes, growth = in_new_process(kind, n_rows)
        rows.append(
            {
                "kind": kind,
                "table_bytes": table_bytes,
                "peak_growth_bytes": growth,
                "without_table": growth / table_bytes,
                "with_table": (growth + table_bytes) / table_bytes,
            }
        )
    columns = [
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("table_bytes", "size of the table", format_megabytes),
        BenchmarkColumn("peak_growth_bytes", "growth of the peak", format_megabytes),
        BenchmarkColumn("without_table", "growth / table", decimals(2)),
        BenchmarkColumn("with_table", "(growth + table) / table", decimals(2)),
    ]
    title = f"uds-chance, {n_rows:,} rows x {COLUMNS} columns of float64"
    return [BenchmarkTable(title, columns, rows)]


def in_new_process(kind: str, n_rows: int) -> tuple[int, int]:
    """Return the result of `peak_growth`, computed in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", kind, str(n_rows)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    table_bytes, growth = json.loads(done.stdout)
    return table_bytes, growth


def peak_growth(kind: str, n_rows: int) -> tuple[int, int]:
    """Return the bytes of a table, and the bytes by which scoring it raises the peak memory."""
    warnings.simplefilter("ignore")
    covary.score(make_table(kind, 100, 3))
    table = make_table(kind, n_rows, COLUMNS)
    before = reset_peak()
    covary.score(table)
    return table.nbytes, peak_bytes() - before


def reset_peak() -> int:
    """Reset the peak memory if the system supports it; return the peak after the reset."""
    # Without a reset the error is small: the table was created in place, without a higher peak.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """Return the peak resident memory of this process.

    On Linux, ``getrusage`` of a child process starts with the peak of its parent. /proc has the
    value of the child alone.
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
    print(json.dumps(peak_growth(sys.argv[1], int(sys.argv[2]))))
