"""Time of one call of covary.score on a raw array, from the array to the score: sorting and
binning included, kernels compiled. Minimum over repeats.
"""

from __future__ import annotations

from functools import partial

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, in_seconds
from benchmarks.timing import Progress, best_time

ROWS = 4000
# Seconds for a table of 4000 rows with so many columns, as the authors' program reported them.
UDS_BY_AUTHORS = {2: 0.2, 5: None, 20: 2.2}
AUTHORS_JAVA = {
    "uds-chance": UDS_BY_AUTHORS,
    "uds": UDS_BY_AUTHORS,
    "uds-unregularized": UDS_BY_AUTHORS,
    "cmi": {20: 0.5},
    "mac": {20: 50.0},
    "hics": {20: 0.36},
}


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the times for 2, 5 and 20 columns."""
    columns = [
        Column("measure", "measure"),
        Column("shape", "table"),
        Column("kind", "columns are"),
        Column("score", "score", as_number(3)),
        Column("seconds", "time per call", in_seconds),
        Column("ns_per_row", "ns per row", as_number(0)),
        Column("authors_java_seconds", "authors' Java program, reported", in_seconds),
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
    note = "The authors' figures are quoted, not measured in this run."
    return [Table("covary.score", columns, rows, note)]
