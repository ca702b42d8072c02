"""Time of covary.matrix, all pairs of the columns of an array, with one thread and with two."""

from __future__ import annotations

from functools import partial

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, as_ratio, in_seconds
from benchmarks.timing import Progress, best_time

ROWS = 4000
COLUMNS = 200
QUICK_COLUMNS = 60
THREADS = (1, 2)


def run(quick: bool, progress: Progress) -> list[Table]:
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
            seconds[threads] = best_time(call, budget=0.5 if quick else 3.0, least=1).seconds
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
        Column("kind", "columns are"),
        Column("threads", "threads"),
        Column("seconds", "time", in_seconds),
        Column("pairs_per_second", "pairs per second", as_number(0)),
        Column("speedup", "against one thread", as_ratio),
    ]
    return [
        Table(f"uds-chance, {n_columns} columns, {ROWS} rows, {n_pairs:,} pairs", columns, rows)
    ]
