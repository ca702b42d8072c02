"""Growth of the time of covary.score with the number of rows and of columns. The exponent of the
growth is the slope of log time over log size, fitted by least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_seconds
from benchmarks.timing import Progress, best_time

ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
COLUMNS_FOR_ROWS = 4
COLUMNS = (2, 4, 8, 16, 32, 64)
ROWS_FOR_COLUMNS = 4000


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the times by size, and the exponents."""
    budget = 0.2 if quick else 1.0
    by_rows = times(
        "rows",
        ROWS[:3] if quick else ROWS,
        lambda kind, n_rows: make_table(kind, n_rows, COLUMNS_FOR_ROWS),
        budget,
        progress,
    )
    by_columns = times(
        "columns",
        COLUMNS,
        lambda kind, n_columns: make_table(kind, ROWS_FOR_COLUMNS, n_columns),
        budget,
        progress,
    )
    slopes = [
        {"growth": f"with {key}", **{kind: slope(rows, key, kind) for kind in KINDS}}
        for key, rows in (("rows", by_rows), ("columns", by_columns))
    ]
    title = "Slope of log time (1: linear growth)"
    return [
        BenchmarkTable(f"{COLUMNS_FOR_ROWS} columns", _columns("rows", format_seconds), by_rows),
        BenchmarkTable(
            f"{ROWS_FOR_COLUMNS} rows", _columns("columns", format_seconds), by_columns
        ),
        BenchmarkTable(title, _columns("growth", decimals(2)), slopes),
    ]


def _columns(key: str, format_value: Callable[[float], str]) -> list[BenchmarkColumn]:
    format_key = decimals(0) if key != "growth" else str
    values = [BenchmarkColumn(kind, kind, format_value) for kind in KINDS]
    return [BenchmarkColumn(key, key, format_key), *values]


def times(
    key: str,
    sizes: Sequence[int],
    make: Callable[[str, int], npt.NDArray[np.float64]],
    budget: float,
    progress: Progress,
) -> list[dict[str, float]]:
    """Return the time of a call for each size and each kind of table."""
    rows = []
    for size in sizes:
        row: dict[str, float] = {key: size}
        for kind in KINDS:
            progress(f"{size:,} {key}, {kind}")
            call = partial(covary.score, make(kind, size))
            row[kind] = best_time(call, budget).seconds
        rows.append(row)
    return rows


def slope(rows: list[dict[str, float]], key: str, kind: str) -> float:
    """Return the exponent of the growth of time with size, by least squares."""
    sizes = np.log([row[key] for row in rows])
    seconds = np.log([row[kind] for row in rows])
    return float(np.polyfit(sizes, seconds, 1)[0])
