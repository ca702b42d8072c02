"""Time of one call of covary.score on a raw array. It includes sorting and binning, but not
compiling the kernels. Minimum over repeats.
"""

from __future__ import annotations

from functools import partial

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_seconds
from benchmarks.timing import Progress, best_time

ROWS = 4000
# Seconds by number of columns, for 4000 rows, as reported for the authors' Java program.
AUTHORS_UDS = {2: 0.2, 5: None, 20: 2.2}
AUTHORS_JAVA = {
    "uds-chance": AUTHORS_UDS,
    "uds": AUTHORS_UDS,
    "uds-unregularized": AUTHORS_UDS,
    "cmi": {20: 0.5},
    "mac": {20: 50.0},
    "hics": {20: 0.36},
}


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the times for 2, 5 and 20 columns."""
    columns = [
        BenchmarkColumn("measure", "measure"),
        BenchmarkColumn("shape", "table"),
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("score", "score", decimals(3)),
        BenchmarkColumn("seconds", "time per call", format_seconds),
        BenchmarkColumn("ns_per_row", "ns per row", decimals(0)),
        BenchmarkColumn("authors_java_seconds", "authors' Java program, reported", format_seconds),
    ]
    rows = []
    for measure, times in AUTHORS_JAVA.items():
        for n_columns, reported in times.items():
            for kind in KINDS:
                progress(f"{measure}, {ROWS} x {n_columns}, {kind}")
                table = make_table(kind, ROWS, n_columns)
                call = partial(covary.score, table, measure=measure)
                seconds = best_time(call, budget=0.3 if quick else 1.0).seconds
                rows.append(
                    {
                        "measure": measure,
                        "shape": f"{ROWS} x {n_columns}",
                        "kind": kind,
                        "score": call(),
                        "seconds": seconds,
                        "ns_per_row": seconds / ROWS * 1e9,
                        "authors_java_seconds": reported,
                    }
                )
    note = "The times of the authors' program are quoted. This run does not measure them."
    return [BenchmarkTable("covary.score", columns, rows, note)]
