"""Time of covary.matrix, which scores all pairs of columns, with one and with two threads."""

from __future__ import annotations

from functools import partial

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.result_tables import (
    BenchmarkColumn,
    BenchmarkTable,
    decimals,
    format_ratio,
    format_seconds,
)
from benchmarks.timing import Progress, best_time

ROWS = 4000
COLUMNS = 200
QUICK_COLUMNS = 60
THREADS = (1, 2)


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return seconds and pairs per second."""
    n_columns = QUICK_COLUMNS if quick else COLUMNS
    n_pairs = n_columns * (n_columns - 1) // 2
    rows = []
    for kind in KINDS:
        table = make_table(kind, ROWS, n_columns)
        seconds = {}
        for threads in THREADS:
            progress(f"{kind}, threads: {threads}")
            call = partial(covary.matrix, table, n_jobs=threads)
            budget = 0.5 if quick else 3.0
            seconds[threads] = best_time(call, budget, min_repeats=1).seconds
            rows.append(
                {
                    "kind": kind,
                    "threads": threads,
                    "seconds": seconds[threads],
                    "pairs_per_second": n_pairs / seconds[threads],
                    "speedup": seconds[THREADS[0]] / seconds[threads],
                }
            )
    columns = [
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("threads", "threads"),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("pairs_per_second", "pairs per second", decimals(0)),
        BenchmarkColumn("speedup", "speedup over one thread", format_ratio),
    ]
    title = f"uds-chance, {n_columns} columns, {ROWS} rows, {n_pairs:,} pairs"
    return [BenchmarkTable(title, columns, rows)]
