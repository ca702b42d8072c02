"""How the time of covary.score grows with the number of rows and of columns, and the exponent
of that growth: the slope of log time over log size, fitted by least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, in_seconds
from benchmarks.timing import Progress, best_time

ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
COLUMNS_FOR_ROWS = 4
COLUMNS = (2, 4, 8, 16, 32, 64)
ROWS_FOR_COLUMNS = 4000


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the times, and the slopes."""
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
        {"growth": f"with {key}", **{kind: slope(found, key, kind) for kind in KINDS}}
        for key, found in (("rows", by_rows), ("columns", by_columns))
    ]
    return [
        Table(f"{COLUMNS_FOR_ROWS} columns", _columns("rows", in_seconds), by_rows),
        Table(f"{ROWS_FOR_COLUMNS} rows", _columns("columns", in_seconds), by_columns),
        Table("Slope of log time: 1 is in proportion", _columns("growth", as_number(2)), slopes),
    ]


def _columns(key: str, written: Callable[[float], str]) -> list[Column]:
    sizes = as_number(0) if key != "growth" else str
    return [Column(key, key, sizes), *(Column(kind, kind, written) for kind in KINDS)]


def times(
    key: str,
    sizes: Sequence[int],
    make: Callable[[str, int], npt.NDArray[np.float64]],
    budget: float,
    progress: Progress,
) -> list[dict[str, float]]:
    """Return for each size the time of a call on every kind of data."""
    found = []
    for size in sizes:
        row: dict[str, float] = {key: size}
        for kind in KINDS:
            progress(f"{size:,} {key}, {kind}")
            call = partial(covary.score, make(kind, size))
            row[kind] = best_time(call, budget).seconds
        found.append(row)
    return found


def slope(found: list[dict[str, float]], key: str, kind: str) -> float:
    """Return the exponent of the growth of time with size, by least squares."""
    sizes = np.log([row[key] for row in found])
    seconds = np.log([row[kind] for row in found])
    return float(np.polyfit(sizes, seconds, 1)[0])
