"""Time of permutation tests on one thread, from a raw array to the p-value, compared with other
libraries. Kernels are compiled. Minimum over repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

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

MEASURES = ("uds-chance", "uds", "uds-unregularized")
PERMUTATIONS = 999
QUICK_PERMUTATIONS = 199
# The comparison is small because other libraries compute distance matrices.
COMPARED_ROWS, COMPARED_PERMUTATIONS = 1000, 199


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the times of covary.test, of searches with tests, and of other libraries."""
    return [_tests(quick, progress), _searches(quick, progress), _comparison(quick, progress)]


def _tests(quick: bool, progress: Progress) -> BenchmarkTable:
    rows = []
    for measure in MEASURES:
        for n_columns in (2, 3) if quick else (2, 3, 5):
            for kind in KINDS:
                progress(f"{measure}, 4000 x {n_columns}, {kind}")
                call = partial(
                    covary.test,
                    make_table(kind, 4000, n_columns),
                    measure=measure,
                    permutations=PERMUTATIONS,
                    n_jobs=1,
                )
                min_repeats = 1 if n_columns > 3 else 3
                seconds = best_time(call, budget=1.0, min_repeats=min_repeats).seconds
                rows.append(
                    {
                        "measure": measure,
                        "shape": f"4000 x {n_columns}",
                        "kind": kind,
                        "seconds": seconds,
                        "each": seconds / PERMUTATIONS,
                    }
                )
    columns = [
        BenchmarkColumn("measure", "measure"),
        BenchmarkColumn("shape", "table"),
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("seconds", f"{PERMUTATIONS} permutations", format_seconds),
        BenchmarkColumn("each", "each", format_seconds),
    ]
    return BenchmarkTable("covary.test, one thread", columns, rows)


def _searches(quick: bool, progress: Progress) -> BenchmarkTable:
    permutations = QUICK_PERMUTATIONS if quick else PERMUTATIONS
    rows = []
    for shape in ((500, 20),) if quick else ((500, 20), (4000, 20)):
        for kind in KINDS:
            progress(f"search with tests, {shape[0]} x {shape[1]}, {kind}")
            table = make_table(kind, *shape)
            search = partial(covary.search, table, max_size=3, top=20)
            search_with_tests = partial(search, permutations=permutations)
            search_seconds = best_time(search, budget=0.3).seconds
            min_repeats = 0 if quick else 1
            seconds = best_time(search_with_tests, budget=0.0, min_repeats=min_repeats).seconds
            rows.append(
                {
                    "shape": f"{shape[0]} x {shape[1]}",
                    "kind": kind,
                    "scored": search().scored,
                    "alone": search_seconds,
                    "seconds": seconds,
                }
            )
    columns = [
        BenchmarkColumn("shape", "table"),
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("scored", "sets scored", decimals(0)),
        BenchmarkColumn("alone", "search", format_seconds),
        BenchmarkColumn("seconds", "with tests", format_seconds),
    ]
    title = f"covary.search, up to 3 columns, top 20, {permutations} permutations"
    return BenchmarkTable(title, columns, rows, "On all cores.")


Pair = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def _spearman(pair: Pair, n: int) -> Any:
    from scipy.stats import permutation_test, spearmanr

    return permutation_test(
        pair,
        lambda x, y: spearmanr(x, y).statistic,
        permutation_type="pairings",
        n_resamples=n,
        rng=0,
    )


def _distance_covariance(pair: Pair, n: int) -> Any:
    from dcor.independence import distance_covariance_test

    return distance_covariance_test(*pair, num_resamples=n, random_state=0)


def _hsic(pair: Pair, n: int) -> Any:
    from hyppo.independence import Hsic

    return Hsic().test(*pair, reps=n, workers=1, auto=False, random_state=0)


OTHER_TESTS: tuple[tuple[str, Callable[[Pair, int], Any]], ...] = (
    ("Spearman, scipy.stats.permutation_test", _spearman),
    ("distance covariance, dcor", _distance_covariance),
    ("HSIC, hyppo", _hsic),
)


def _comparison(quick: bool, progress: Progress) -> BenchmarkTable:
    table = make_table("dependent", COMPARED_ROWS, 2)
    pair = (table[:, 0].copy(), table[:, 1].copy())
    calls: list[tuple[str, Callable[[], Any]]] = [
        (f"covary.test, {measure}", partial(_covary, table, measure, COMPARED_PERMUTATIONS))
        for measure in MEASURES[:2]
    ]
    calls += [
        (name, partial(test, pair, COMPARED_PERMUTATIONS))
        for name, test in (OTHER_TESTS[:2] if quick else OTHER_TESTS)
    ]
    rows: list[dict[str, Any]] = []
    for name, call in calls:
        progress(name)
        try:
            seconds = best_time(call, budget=1.0, min_repeats=1, patience=10.0).seconds
        except ImportError as error:
            missing = f"not installed ({error.name})"
            rows.append({"name": name, "seconds": missing, "ratio": ""})
            continue
        covary_seconds = rows[0]["seconds"] if rows else seconds
        rows.append({"name": name, "seconds": seconds, "ratio": seconds / covary_seconds})
    columns = [
        BenchmarkColumn("name", "test"),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("ratio", "ratio to covary", format_ratio),
    ]
    title = f"{COMPARED_PERMUTATIONS} permutations of {COMPARED_ROWS} x 2, one thread"
    return BenchmarkTable(title, columns, rows)


def _covary(table: npt.NDArray[np.float64], measure: str, n: int) -> Any:
    return covary.test(table, measure=measure, permutations=n, n_jobs=1)
