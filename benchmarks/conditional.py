"""Conditional independence tests: how often do they reject that y is independent of x, given z?
covary: covary.test(table, x, target="y", given=z). hyppo: ConditionalDcorr with default settings,
which is conditional distance covariance with a local bootstrap. Partial Spearman: the F test of
the ranks of x in a linear regression of the ranks of y on the ranks of z and x. With one column x
it is the t test of the partial correlation. 199 permutations or bootstrap samples, level 5 %. All
methods get the same tables, on one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from threadpoolctl import threadpool_limits

import covary
from benchmarks.conditional_shapes import Array, Sample, Shape, all_shapes
from benchmarks.result_tables import (
    BenchmarkColumn,
    BenchmarkTable,
    decimals,
    format_ratio,
    format_seconds,
)
from benchmarks.timing import Progress

Test = Callable[[Sample, int], float]

ROWS = 200
TABLES, QUICK_TABLES = 80, 5
# The number of tables of each method for the time of one test. hyppo's own program is slow.
TIMED, QUICK_TIMED = 5, 1
PERMUTATIONS = 199
LEVEL = 0.05
SEED = 20261101
GROUPS = {
    "design": "covary's test was designed on these shapes",
    "further": "further shapes",
    "hyppo": "hyppo's simulations",
}


# ---------------------------------------------------------------- methods


def covary_pvalue(sample: Sample, seed: int) -> float:
    """Return the p-value of covary.test."""
    x = [f"x{at}" for at in range(sample.x.shape[1])]
    z = [f"z{at}" for at in range(sample.z.shape[1])]
    table = pd.DataFrame(np.column_stack(sample), columns=[*x, "y", *z])
    result = covary.test(
        table, x, target="y", given=z, permutations=PERMUTATIONS, seed=seed, n_jobs=1
    )
    return result.pvalue


def hyppo_test(test: Any, sample: Sample, seed: int) -> float:
    """Return the p-value of one of hyppo's tests."""
    x, y, z = sample
    found = test.test(x, y[:, None], z, reps=PERMUTATIONS, workers=1, random_state=seed)
    return float(found.pvalue)


def hyppo_pvalue(sample: Sample, seed: int) -> float:
    """Return the p-value of hyppo's test, computed by hyppo."""
    from hyppo.conditional import ConditionalDcorr

    return hyppo_test(ConditionalDcorr(), sample, seed)


def rearranged_pvalue(sample: Sample, seed: int) -> float:
    """Return the p-value of hyppo's test, with a faster way to compute the same statistic."""
    return hyppo_test(rearranged_test(), sample, seed)


def rearranged_test() -> Any:
    """Return hyppo's test, in which the statistic of all bootstrap samples is fast.

    The statistic is linear in the distances of y. Its coefficients depend on x and z only, which
    the bootstrap does not change.
    """
    from hyppo.conditional import ConditionalDcorr

    class Rearranged(ConditionalDcorr):
        coefficients: Array | None = None
        cumulative: Array | None = None

        def statistic(self, x: Array, y: Array, z: Array) -> float:
            if self.coefficients is None:
                self.coefficients = distance_coefficients(x, z)
            return float(np.vdot(self.coefficients, y))

        def _permuter(self, probs: Array, rng: Any = None, axis: int = 1) -> Array:
            if self.cumulative is None:
                self.cumulative = np.cumsum(probs / probs.sum(axis=1, keepdims=True), axis=1)
            return (self.cumulative > rng.random(len(probs))[:, None]).argmax(axis=1)

    return Rearranged()


def distance_coefficients(distances: Array, similarities: Array) -> Array:
    """Return the coefficients of the distances of y in the conditional distance covariance.

    Row i of the similarities has weights w, which are divided by their sum. The distance
    covariance at row i is the sum of w[k] w[l] A[k, l] B[k, l], where A and B are distances of x
    and y after weighted double centering. This is the sum of

        w[k] w[l] b[k, l] (a[k, l] - 2 a[k] + a)

    with weighted means a[k] and a of the distances a[k, l]. The statistic is a weighted mean over
    the rows i.
    """
    weights = similarities / similarities.sum(axis=1, keepdims=True)
    of_rows = 12 * similarities.mean(axis=0) ** 4 / len(similarities)
    means = weights @ distances
    totals = (weights * means).sum(axis=1)
    products = weights.T * of_rows
    return (
        (products @ weights) * distances
        - 2 * (products * means.T) @ weights
        + (products * totals) @ weights
    )


def spearman_pvalue(sample: Sample, _: int) -> float:
    """Return the p-value of the F test that the ranks of x have no effect beyond those of z."""
    from scipy.stats import f as f_distribution
    from scipy.stats import rankdata

    x, y, z = (rankdata(part, axis=0) for part in sample)
    given = np.column_stack([np.ones(len(y)), z])
    without, rank_without = squared_residuals(given, y)
    residual, rank = squared_residuals(np.column_stack([given, x]), y)
    freedom = rank - rank_without, len(y) - rank
    ratio = (without - residual) / freedom[0] / (residual / freedom[1])
    return float(f_distribution.sf(ratio, *freedom))


def squared_residuals(columns: Array, y: Array) -> tuple[float, int]:
    """Return the sum of the squared residuals of a linear regression, and its rank."""
    scaled = columns / np.abs(columns).max(axis=0)
    coefficients, _, rank, _ = np.linalg.lstsq(scaled, y, rcond=None)
    return float(((y - scaled @ coefficients) ** 2).sum()), int(rank)


METHODS: dict[str, Test] = {
    "covary": covary_pvalue,
    "hyppo": rearranged_pvalue,
    "partial Spearman": spearman_pvalue,
}
TIMED_METHODS: dict[str, Test] = {
    "covary.test with given": covary_pvalue,
    "hyppo ConditionalDcorr": hyppo_pvalue,
    "hyppo, computed as here": rearranged_pvalue,
    "partial Spearman": spearman_pvalue,
}


# ---------------------------------------------------------------- rejections


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return rejection rates of null and of dependent shapes, and the time of one test."""
    n_tables, n_timed = (QUICK_TABLES, QUICK_TIMED) if quick else (TABLES, TIMED)
    return compare(ROWS, n_tables, n_timed, progress)


def compare(n_rows: int, n_tables: int, n_timed: int, progress: Progress) -> list[BenchmarkTable]:
    """Return the results of these numbers of rows, tables per shape, and timed tables."""
    shapes = all_shapes()
    with threadpool_limits(1):
        times = _times(draw_tables(shapes[0], n_rows, n_timed), shapes[0].name, progress)
        rates: dict[Shape, dict[str, float]] = {}
        for shape in shapes:
            progress(shape.name)
            rates[shape] = rejection_rates(draw_tables(shape, n_rows, n_tables))
    errors = f"{n_tables} tables per shape and method. Standard error of one rate: at most"
    error = np.sqrt(0.25 / n_tables), np.sqrt(LEVEL * (1 - LEVEL) / n_tables)
    null = (
        f"Rates near {LEVEL} are correct; larger ones are false positives. "
        f"{errors} {error[0]:.3f}; {error[1]:.3f} if the true rate is {LEVEL}."
    )
    dependent = (
        "Larger is better, but a rate means little if the method also rejects similar null "
        f"shapes. If y has two columns, the first is the target. {errors} {error[0]:.3f}."
    )
    return [
        _rate_table(f"Null shapes, {n_rows} rows: rejected at {LEVEL}", rates, False, null),
        _rate_table(
            f"Dependent shapes, {n_rows} rows: rejected at {LEVEL}", rates, True, dependent
        ),
        times,
    ]


def draw_tables(shape: Shape, n_rows: int, number: int) -> list[Sample]:
    """Return this number of tables."""
    return [
        shape.draw(np.random.default_rng([SEED, *shape.name.encode(), at]), n_rows)
        for at in range(number)
    ]


def rejection_rates(samples: list[Sample]) -> dict[str, float]:
    """Return, by method, the fraction of tables with a p-value of at most 0.05."""
    return {
        name: float(np.mean([test(each, at) <= LEVEL for at, each in enumerate(samples)]))
        for name, test in METHODS.items()
    }


def _rate_table(
    title: str, rates: dict[Shape, dict[str, float]], dependent: bool, note: str
) -> BenchmarkTable:
    chosen = {shape: each for shape, each in rates.items() if shape.dependent == dependent}
    rows: list[dict[str, Any]] = []
    for group, about in GROUPS.items():
        members = {shape: each for shape, each in chosen.items() if shape.group == group}
        rows.append({"shape": f"-- {about} --"})
        rows += [{"shape": shape.name, **each} for shape, each in members.items()]
        rows.append({"shape": f"mean of {len(members)}", **_over(members, np.mean)})
    rows.append({"shape": f"-- all {len(chosen)} shapes --"})
    rows.append({"shape": "mean", **_over(chosen, np.mean)})
    if not dependent:
        rows.append({"shape": "largest", **_over(chosen, np.max)})
    columns = [
        BenchmarkColumn("shape", "shape"),
        *(BenchmarkColumn(method, method, decimals(2)) for method in METHODS),
    ]
    return BenchmarkTable(title, columns, rows, note)


def _over(
    rates: dict[Shape, dict[str, float]], function: Callable[[list[float]], Any]
) -> dict[str, float]:
    return {
        method: float(function([each[method] for each in rates.values()])) for method in METHODS
    }


# ---------------------------------------------------------------- time


def _times(samples: list[Sample], name: str, progress: Progress) -> BenchmarkTable:
    """Return the median time of one test; all methods get the same tables."""
    seconds: dict[str, list[float]] = {method: [] for method in TIMED_METHODS}
    covary_pvalue(samples[0], 0)
    for at, sample in enumerate(samples):
        progress(f"time of one test, table {at + 1} of {len(samples)}")
        pvalues = {}
        for method, test in TIMED_METHODS.items():
            start = time.perf_counter()
            pvalues[method] = test(sample, at)
            seconds[method].append(time.perf_counter() - start)
        _check_equal(pvalues)
    medians = {method: median(each) for method, each in seconds.items()}
    base = next(iter(medians.values()))
    rows = [
        {"test": method, "seconds": each, "ratio": each / base} for method, each in medians.items()
    ]
    columns = [
        BenchmarkColumn("test", "test"),
        BenchmarkColumn("seconds", "median time", format_seconds),
        BenchmarkColumn("ratio", "ratio to covary", format_ratio),
    ]
    note = (
        f"Number of tables: {len(samples)} ({name}). The rates of hyppo in the tables above are "
        "computed with a faster formula for the same statistic and the same bootstrap samples, so "
        "that hyppo gets as many tables as the others. Its p-values of the timed tables are equal "
        "to those of hyppo's own program."
    )
    return BenchmarkTable(f"Time of one test, {len(samples[0].y)} rows", columns, rows, note)


def _check_equal(pvalues: dict[str, float]) -> None:
    _, own, rearranged, _ = pvalues.values()
    if abs(own - rearranged) > 1e-9:
        raise RuntimeError(f"hyppo's p-value is {own}, but computed as here it is {rearranged}.")


# ---------------------------------------------------------------- command line


def main() -> None:
    """Run the comparison with other numbers of rows and tables, and print the results."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.conditional",
        description="Compare conditional independence tests. Takes about ten minutes.",
    )
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help="rows of each table")
    parser.add_argument("--tables", type=int, default=TABLES, metavar="N", help="tables per shape")
    parser.add_argument("--timed", type=int, default=TIMED, metavar="N", help="timed tables")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    with Progress("conditional") as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = compare(arguments.rows, arguments.tables, arguments.timed, progress)
    for table in tables:
        console.print(table.as_text(), highlight=False)


if __name__ == "__main__":
    main()
