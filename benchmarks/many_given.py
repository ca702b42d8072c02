"""Several given columns: what remains if x and y depend on each other only through them?
x and y are the same function of k given columns, each plus its own noise of standard deviation
0.5. Given these columns they are independent. The test should reject in 5 % of the tables, and x
should explain nothing of y beyond the given columns. The regression is harder if more columns act
in a curved way. 99 permutations, level 5 %, on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import covary
from benchmarks.conditional_shapes import Array, common_cause
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals
from benchmarks.timing import Progress

ROWS = (300, 1000)
NUMBERS = (1, 2, 3, 5)
TABLES, QUICK_TABLES = 100, 4
PERMUTATIONS = 99
LEVEL = 0.05
SEED = 20261117
# Functions of k columns with standard normal distributions.
FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sum / root of k": lambda *z: np.sum(z, axis=0) / np.sqrt(len(z)),
    "sum of sin(2z)": lambda *z: np.sin(2 * np.array(z)).sum(axis=0),
    "sum of squares": lambda *z: np.square(z).sum(axis=0),
    "|sum|": lambda *z: np.abs(np.sum(z, axis=0)),
}


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return rejection rates and mean scores by function, number of given columns and rows."""
    n_tables = QUICK_TABLES if quick else TABLES
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name, function in FUNCTIONS.items():
            for number in NUMBERS:
                progress(f"{name}, {number} given")
                rows.append({"function": name, "given": number})
                for n_rows in ROWS:
                    rate, score = rate_and_score(function, number, n_rows, n_tables)
                    rows[-1] |= {f"rate{n_rows}": rate, f"score{n_rows}": score}
    columns = [BenchmarkColumn("function", "function"), BenchmarkColumn("given", "k", str)]
    columns += [BenchmarkColumn(f"rate{n}", f"rejected, {n:,} rows", decimals(2)) for n in ROWS]
    columns += [BenchmarkColumn(f"score{n}", f"score, {n:,} rows", decimals(3)) for n in ROWS]
    error = np.sqrt(LEVEL * (1 - LEVEL) / n_tables)
    note = f"{n_tables} tables each. Standard error of a rate of {LEVEL}: {error:.3f}."
    return [BenchmarkTable("x given k common causes", columns, rows, note)]


def rate_and_score(
    function: Callable[..., Array], n_given: int, n_rows: int, n_tables: int
) -> tuple[float, float]:
    """Return the rejection rate of the test, and the mean score of x beyond the given columns."""
    given = [f"z{at}" for at in range(n_given)]
    rejected, scores = [], []
    for at in range(n_tables):
        rng = np.random.default_rng([SEED, n_given, n_rows, at])
        drawn = common_cause(function, n_given)(rng, n_rows)
        table = pd.DataFrame(np.column_stack(drawn), columns=["x", "y", *given])
        result = covary.test(
            table, ["x"], target="y", given=given, permutations=PERMUTATIONS, seed=at, n_jobs=1
        )
        rejected.append(result.pvalue <= LEVEL)
        scores.append(result.score)
    return float(np.mean(rejected)), float(np.mean(scores))
