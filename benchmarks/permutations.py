"""Permutation tests on one thread, from a raw array to the p-value, and what else one would use.
Kernels are warm; minimum over repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, as_ratio, in_seconds
from benchmarks.timing import Progress, best_time

MEASURES = ("uds-chance", "uds", "uds-unregularized")
PERMUTATIONS = 999
# Rows of the table that is compared on, and permutations: distance matrices take their time.
COMPARED = (1000, 199)


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the times of covary.test, of tested searches, and of other tests."""
    return [_tests(quick, progress), _searches(quick, progress), _others(quick, progress)]


def _tests(quick: bool, progress: Progress) -> Table:
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
                seconds = best_time(call, budget=1.0, least=1 if n_columns > 3 else 3).seconds
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
        Column("measure", "measure"),
        Column("shape", "table"),
        Column("kind", "columns are"),
        Column("seconds", f"{PERMUTATIONS} permutations", in_seconds),
        Column("each", "each", in_seconds),
    ]
    return Table("covary.test, one thread", columns, rows)


def _searches(quick: bool, progress: Progress) -> Table:
    rows = []
    for shape in ((500, 20),) if quick else ((500, 20), (4000, 20)):
        for kind in KINDS:
            progress(f"search with tests, {shape[0]} x {shape[1]}, {kind}")
            table = make_table(kind, *shape)
            call = partial(covary.search, table, max_size=3, top=20)
            tested = partial(call, permutations=199 if quick else PERMUTATIONS)
            alone = best_time(call, budget=0.3).seconds
            seconds = best_time(tested, budget=0.0, least=0 if quick else 1).seconds
            rows.append(
                {
                    "shape": f"{shape[0]} x {shape[1]}",
                    "kind": kind,
                    "scored": call().scored,
                    "alone": alone,
                    "seconds": seconds,
                }
            )
    columns = [
        Column("shape", "table"),
        Column("kind", "columns are"),
        Column("scored", "sets scored", as_number(0)),
        Column("alone", "search", in_seconds),
        Column("seconds", "with tests", in_seconds),
    ]
    title = (
        f"covary.search, up to 3 columns, top 20, {199 if quick else PERMUTATIONS} permutations"
    )
    return Table(title, columns, rows, "On all cores.")


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


OTHERS: tuple[tuple[str, Callable[[Pair, int], Any]], ...] = (
    ("Spearman, scipy.stats.permutation_test", _spearman),
    ("distance covariance, dcor", _distance_covariance),
    ("HSIC, hyppo", _hsic),
)


def _others(quick: bool, progress: Progress) -> Table:
    n_rows, permutations = COMPARED
    table = make_table("dependent", n_rows, 2)
    pair = (table[:, 0].copy(), table[:, 1].copy())
    calls: list[tuple[str, Callable[[], Any]]] = [
        (f"covary.test, {measure}", partial(_covary, table, measure, permutations))
        for measure in MEASURES[:2]
    ]
    calls += [
        (name, partial(test, pair, permutations))
        for name, test in (OTHERS[:2] if quick else OTHERS)
    ]
    rows: list[dict[str, Any]] = []
    for name, call in calls:
        progress(name)
        try:
            seconds = best_time(call, budget=1.0, least=1, patience=10.0).seconds
        except ImportError as error:
            missing = f"not installed ({error.name})"
            rows.append({"name": name, "seconds": missing, "ratio": ""})
            continue
        rows.append({"name": name, "seconds": seconds, "ratio": seconds})
    for row in reversed(rows):
        if isinstance(row["ratio"], float):
            row["ratio"] /= rows[0]["seconds"]
    columns = [
        Column("name", "test"),
        Column("seconds", "time", in_seconds),
        Column("ratio", "times covary's", as_ratio),
    ]
    return Table(f"{permutations} permutations of {n_rows} x 2, one thread", columns, rows)


def _covary(table: npt.NDArray[np.float64], measure: str, n: int) -> Any:
    return covary.test(table, measure=measure, permutations=n, n_jobs=1)
