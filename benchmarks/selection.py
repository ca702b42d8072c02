"""Feature selection: does the selection contain exactly the columns of which y is made?
covary: the columns of the best set of covary.search(table, target="y") with default settings, and
none if its score is 0. FOCI: forward selection by the measure codec. Both decide how many columns
they select. The other two methods are given the true number of columns, which is an advantage: the
columns with the largest mutual information, and with the largest permutation importance of a
random forest. All methods get the same tables of 2000 rows, on one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

import covary
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_seconds
from benchmarks.timing import Progress
from covary.measures import find_measure
from covary.prepare import prepare

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]
Selection = Callable[[pd.DataFrame, int], set[str]]

ROWS = 2000
TABLES, QUICK_TABLES = 20, 2
SEED = 20210401
TARGET = "y"
QUALITIES = ("exact", "missed", "wrong")


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class Problem:
    """A kind of table. The target depends on the first columns that are drawn.

    Parameters
    ----------
    name : printed in the results
    n_true : the number of columns of which the target is made
    n_columns : the number of columns without the target
    draw : returns the columns, by a random generator and the number of columns, and the target
    """

    name: str
    n_true: int
    n_columns: int
    draw: Draw

    def tables(self, number: int) -> Iterator[tuple[pd.DataFrame, set[str]]]:
        """Yield this number of tables with the names of the true columns, in random places."""
        for seed in range(number):
            key = [SEED, *self.name.encode(), self.n_columns, seed]
            random = np.random.default_rng(key)
            columns, target = self.draw(random, self.n_columns)
            order = random.permutation(self.n_columns)
            names = [f"x{at}" for at in range(self.n_columns)]
            table = pd.DataFrame(columns[:, order], columns=names)
            true = {names[at] for at in np.flatnonzero(order < self.n_true)}
            yield table.assign(**{TARGET: target}), true


def foci_example(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return the example of the paper on FOCI."""
    x = random.standard_normal((ROWS, n_columns))
    return x, x[:, 0] * x[:, 1] + np.sin(x[:, 0] * x[:, 2]) + x[:, 3] ** 2


def sum_of_three(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a sum of three columns, with noise of half their standard deviation."""
    x = random.standard_normal((ROWS, n_columns))
    return x, x[:, :3].sum(axis=1) + 0.5 * random.standard_normal(ROWS)


def product_of_three(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a product of three columns."""
    x = random.standard_normal((ROWS, n_columns))
    return x, x[:, :3].prod(axis=1)


def fraction_of_sum(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a sum modulo 1, which is independent of any two of its three columns."""
    x = random.random((ROWS, n_columns))
    return x, x[:, :3].sum(axis=1) % 1.0


def category(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a target that a category makes equal to one of two columns, or to its negative.

    Every third of the other columns is a category too.
    """
    x = random.standard_normal((ROWS, n_columns))
    x[:, ::3] = random.integers(0, 4, (ROWS, len(range(0, n_columns, 3))))
    choices = np.column_stack([x[:, 1], -x[:, 1], x[:, 2], -x[:, 2]])
    chosen = choices[np.arange(ROWS), x[:, 0].astype(int)]
    return x, chosen + 0.1 * random.standard_normal(ROWS)


def linear_in_five(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a sum of five columns, with noise of the same standard deviation as each."""
    x = random.standard_normal((ROWS, n_columns))
    return x, x[:, :5].sum(axis=1) + random.standard_normal(ROWS)


def correlated(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a sine of one column; five other columns are noisy copies of this column."""
    x = random.standard_normal((ROWS, n_columns))
    x[:, 1:6] = x[:, :1] + 0.5 * x[:, 1:6]
    return x, np.sin(3 * x[:, 0]) + 0.2 * random.standard_normal(ROWS)


def independent(random: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    """Return a target that depends on no column."""
    return random.standard_normal((ROWS, n_columns)), random.standard_normal(ROWS)


PROBLEMS = (
    Problem("ab + sin(ac) + d²", 4, 10, foci_example),
    Problem("ab + sin(ac) + d²", 4, 30, foci_example),
    Problem("ab + sin(ac) + d²", 4, 100, foci_example),
    Problem("a + b + c + noise", 3, 20, sum_of_three),
    Problem("abc", 3, 20, product_of_three),
    Problem("(a + b + c) mod 1", 3, 20, fraction_of_sum),
    Problem("category: ±a or ±b", 3, 20, category),
    Problem("a + b + c + d + e + noise", 5, 20, linear_in_five),
    Problem("sin(3a) + noise, copies of a", 1, 20, correlated),
    Problem("independent", 0, 20, independent),
)


# ---------------------------------------------------------------- methods


def select_by_search(table: pd.DataFrame, _: int) -> set[str]:
    """Return the columns of the best set that covary finds."""
    found = covary.search(table, target=TARGET, n_jobs=1).subspaces
    if not found or found[0].score <= 0.0:
        return set()
    return set(found[0].columns) - {TARGET}


def select_by_foci(table: pd.DataFrame, _: int) -> set[str]:
    """Return the columns that FOCI selects.

    The column that increases T(y | X) most is added to X, until none increases it. This is the
    rule of the paper: T(y, z | X) is not positive if T(y | X, z) is not larger than T(y | X).
    """
    codec, prepared = find_measure("codec"), prepare(table)
    target = prepared.names.index(TARGET)
    selected: list[int] = []
    left = [at for at in range(len(prepared.names)) if at != target]
    reached = 0.0
    while left:
        scores = [codec.score_set(prepared, [*selected, at], target) for at in left]
        best = int(np.argmax(scores))
        if scores[best] <= reached:
            break
        reached = scores[best]
        selected.append(left.pop(best))
    return {prepared.names[at] for at in selected}


def select_by_mutual_information(table: pd.DataFrame, n_true: int) -> set[str]:
    """Return the columns with the largest mutual information; integers are categories."""
    from sklearn.feature_selection import mutual_info_regression

    names, x, y = parts(table)
    discrete = (x % 1.0 == 0.0).all(axis=0)
    information = mutual_info_regression(x, y, discrete_features=discrete, random_state=0)
    return largest(names, information, n_true)


def select_by_forest(table: pd.DataFrame, n_true: int) -> set[str]:
    """Return the columns with the largest permutation importance in the second half of rows."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance

    names, x, y = parts(table)
    half = len(table) // 2
    forest = RandomForestRegressor(random_state=0, n_jobs=1).fit(x[:half], y[:half])
    importance = permutation_importance(
        forest, x[half:], y[half:], n_repeats=5, random_state=0, n_jobs=1
    )
    return largest(names, importance.importances_mean, n_true)


def parts(table: pd.DataFrame) -> tuple[list[str], Array, Array]:
    """Return the names of the columns without the target, their values, and the target."""
    others = table.drop(columns=TARGET)
    return list(others.columns), others.to_numpy(), table[TARGET].to_numpy()


def largest(names: list[str], values: Array, number: int) -> set[str]:
    """Return the names of the largest values."""
    return {names[at] for at in np.argsort(-values, kind="stable")[:number]}


METHODS: dict[str, Selection] = {
    "covary": select_by_search,
    "FOCI": select_by_foci,
    "mutual information": select_by_mutual_information,
    "random forest": select_by_forest,
}
USE_TRUE_NUMBER = ("mutual information", "random forest")
# Permutation importance of 100 columns takes half a minute per table.
MAX_TABLES = {"random forest": 5}


# ---------------------------------------------------------------- results


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the quality of every method for every kind of table, and the means."""
    number = QUICK_TABLES if quick else TABLES
    rows = []
    with threadpool_limits(1):
        for problem in PROBLEMS:
            if quick and problem.n_columns > 30:
                continue
            for method in METHODS:
                progress(f"{problem.name}, {problem.n_columns} columns, {method}")
                n_tables = min(number, MAX_TABLES.get(method, number))
                rows.append(measure_quality(problem, method, n_tables))
    name_column = BenchmarkColumn("method", "method")
    quality_columns = [
        BenchmarkColumn("exact", "exact", decimals(2)),
        BenchmarkColumn("missed", "missed", decimals(1)),
        BenchmarkColumn("wrong", "wrong", decimals(1)),
        BenchmarkColumn("seconds", "time", format_seconds),
    ]
    columns = [
        BenchmarkColumn("table", "y is"),
        BenchmarkColumn("columns", "columns", decimals(0)),
        name_column,
        BenchmarkColumn("tables", "tables", decimals(0)),
        *quality_columns,
    ]
    note = (
        "Exact: fraction of the tables in which exactly the true columns are selected. "
        "Missed and wrong: mean number of columns. Time: minimum over the tables. Mutual "
        "information and random forest are given the true number of columns."
    )
    means = [mean_quality(method, rows) for method in METHODS]
    about = "Mean over the lines above, without 'independent'."
    return [
        BenchmarkTable("Selected columns", columns, rows, note),
        BenchmarkTable("Mean quality", [name_column, *quality_columns[:-1]], means, about),
    ]


def measure_quality(problem: Problem, method: str, number: int) -> dict[str, Any]:
    """Return the quality of a method for one kind of table."""
    row: dict[str, Any] = {
        "table": problem.name,
        "columns": problem.n_columns,
        "method": method,
        "tables": number,
    }
    if problem.n_true == 0 and method in USE_TRUE_NUMBER:
        return row | {"exact": "given"}
    missed, wrong, seconds = [], [], []
    for table, true in problem.tables(number):
        start = time.perf_counter()
        try:
            selected = METHODS[method](table, len(true))
        except Exception as error:
            return row | {"exact": f"failed: {type(error).__name__}: {error}"}
        seconds.append(time.perf_counter() - start)
        missed.append(len(true - selected))
        wrong.append(len(selected - true))
    exact = [a + b == 0 for a, b in zip(missed, wrong, strict=True)]
    return row | {
        "exact": float(np.mean(exact)),
        "missed": float(np.mean(missed)),
        "wrong": float(np.mean(wrong)),
        "seconds": min(seconds),
    }


def mean_quality(method: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean quality of a method over the kinds of tables."""
    own = [row for row in rows if row["method"] == method and row["table"] != "independent"]
    if any("missed" not in row for row in own):
        return {"method": method, "exact": "failed"}
    means = {key: math.fsum(row[key] for row in own) / len(own) for key in QUALITIES}
    return {"method": method, **means}
