"""Nominal columns. Scores of independent columns, and the fraction of them in which covary.test
finds a dependence (level 5 %, 199 permutations). Power of the evidence statistic at the 5 % level
with 300 rows, next to the usual statistics: the fraction of tables with a statistic above the
critical value of permuted tables. All methods get the same tables. The views were designed while
looking at shapes like the first ones; the further shapes were not used. Time of all pairs of a
mixed table, next to phi_K.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import covary
from benchmarks.nominal_tables import (
    FURTHER_SHAPES,
    OTHERS,
    SHAPES,
    Pair,
    Random,
    independent_levels,
    mixed_table,
)
from benchmarks.power_study import critical_value
from benchmarks.result_tables import (
    BenchmarkColumn,
    BenchmarkTable,
    decimals,
    format_ratio,
    format_seconds,
)
from benchmarks.timing import Progress, best_time
from covary.table import Table

SEED = 20261118
ROWS = 300
# Tables for power (and permuted ones), for null scores, and for null rates.
TABLES, QUICK_TABLES = (200, 600), (20, 60)
NULL_TABLES, QUICK_NULL_TABLES = 200, 20
LEVELS = (2, 5, 20, 100)
PERMUTATIONS = 199
# Bins of a number for methods that need levels.
BINS = 5
# phi_K is too slow for all columns.
WIDE, PHIK_COLUMNS = (17_000, 394), 40
QUICK_WIDE, QUICK_PHIK_COLUMNS = (2_000, 40), 8

Statistic = Callable[[Pair], float]


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return null scores and rates, power, and times."""
    with threadpool_limits(1):
        tables = [
            _null(quick, progress),
            _power("Power, 300 rows", SHAPES, quick, progress),
            _power("Power for further shapes, 300 rows", FURTHER_SHAPES, quick, progress),
        ]
    return [*tables, _one_pair(progress), _all_pairs(quick, progress)]


# ---------------------------------------------------------------- independent columns


def _null(quick: bool, progress: Progress) -> BenchmarkTable:
    n_tables = QUICK_NULL_TABLES if quick else NULL_TABLES
    rows = []
    for n_rows in (100, 1000):
        for n_levels in LEVELS:
            for skewed in (False, True):
                progress(f"independent columns, {n_rows} rows, {n_levels} levels")
                random = np.random.default_rng([SEED, n_rows, n_levels, skewed])
                row: dict[str, Any] = {"rows": n_rows, "levels": n_levels}
                row["frequencies"] = "skewed" if skewed else "equal"
                scores, rates = [], []
                for draw in OTHERS.values():
                    pairs = [
                        Table(
                            (
                                independent_levels(random, n_rows, n_levels, skewed),
                                draw(random, n_rows),
                            ),
                            n_rows,
                        )
                        for _ in range(n_tables)
                    ]
                    scores.append(float(np.mean([covary.score(each) for each in pairs])))
                    rates.append(float(np.mean([_rejects(each) for each in pairs])))
                row |= {"score": max(scores), "least": min(rates), "most": max(rates)}
                row["rate"] = float(np.mean(rates))
                rows.append(row)
    columns = [
        BenchmarkColumn("rows", "rows"),
        BenchmarkColumn("levels", "levels"),
        BenchmarkColumn("frequencies", "frequencies"),
        BenchmarkColumn("score", "largest mean score", decimals(4)),
        BenchmarkColumn("rate", "mean rate", decimals(3)),
        BenchmarkColumn("least", "smallest rate", decimals(3)),
        BenchmarkColumn("most", "largest rate", decimals(3)),
    ]
    note = f"With {', '.join(OTHERS)}: {n_tables} tables each."
    return BenchmarkTable("Independent columns", columns, rows, note)


def _rejects(table: Table) -> bool:
    result = covary.test(table, permutations=PERMUTATIONS, n_jobs=1)
    return result.pvalue <= 0.05


# ---------------------------------------------------------------- power


def _power(
    title: str, shapes: Mapping[str, Callable[..., Pair]], quick: bool, progress: Progress
) -> BenchmarkTable:
    n_data, n_null = QUICK_TABLES if quick else TABLES
    methods = _methods()
    rows = []
    for name, draw in shapes.items():
        random = np.random.default_rng([SEED, *name.encode()])
        data = [draw(random, ROWS) for _ in range(n_data)]
        null = [data[at % n_data].permuted(random) for at in range(n_null)]
        row: dict[str, Any] = {"shape": name}
        for method, statistic in methods.items():
            progress(f"{name}, {method}")
            if not _applies(method, data[0]):
                continue
            critical = critical_value([statistic(pair) for pair in null])
            row[method] = float(np.mean([statistic(pair) > critical for pair in data]))
        rows.append(row)
    columns = [BenchmarkColumn("shape", "shape")]
    columns += [BenchmarkColumn(method, method, decimals(2)) for method in methods]
    note = (
        f"{n_data} tables, {n_null} permuted tables. Numbers are cut into {BINS} bins for counts."
    )
    return BenchmarkTable(title, columns, rows, note)


def _methods() -> dict[str, Statistic]:
    methods = {
        "evidence": lambda pair: covary.evidence(pair.table()),
        "score": lambda pair: covary.score(pair.table()),
        "chi-square": _chi_square,
        "Kruskal-Wallis": _kruskal_wallis,
        "Cramer's V": lambda pair: covary.score(pair.table(), measure="cramers-v"),
        "mutual information": _mutual_information,
    }
    if importlib.util.find_spec("phik") is not None:
        methods["phi_K"] = lambda pair: covary.score(pair.table(), measure="phik")
    return methods


def _applies(method: str, pair: Pair) -> bool:
    return method != "Kruskal-Wallis" or not pair.other_is_nominal


def _counts(pair: Pair) -> np.ndarray[Any, Any]:
    other = pair.other
    if not pair.other_is_nominal:
        inner = np.arange(1, BINS) / BINS
        other = np.digitize(other, np.quantile(other, inner)).astype(float)
    _, rows = np.unique(pair.levels, return_inverse=True)
    _, columns = np.unique(other, return_inverse=True)
    counts = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(counts, (rows, columns), 1)
    return counts


def _chi_square(pair: Pair) -> float:
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(_counts(pair), correction=False)[0])


def _kruskal_wallis(pair: Pair) -> float:
    from scipy.stats import kruskal

    groups = [pair.other[pair.levels == level] for level in np.unique(pair.levels)]
    return float(kruskal(*groups).statistic)


def _mutual_information(pair: Pair) -> float:
    from sklearn.feature_selection import mutual_info_classif

    found = mutual_info_classif(
        pair.other[:, None],
        pair.levels.astype(int),
        discrete_features=pair.other_is_nominal,
        random_state=0,
    )
    return float(found[0])


# ---------------------------------------------------------------- time


def _one_pair(progress: Progress) -> BenchmarkTable:
    random: Random = np.random.default_rng(SEED)
    rows = []
    for n_levels in (3, 20, 100):
        for kind, draw in OTHERS.items():
            progress(f"{n_levels} levels, {kind}")
            table = Table(
                (independent_levels(random, 4000, n_levels, False), draw(random, 4000)), 4000
            )
            rows.append(
                {
                    "levels": n_levels,
                    "other": kind,
                    "score": best_time(lambda table=table: covary.score(table)).seconds,
                    "evidence": best_time(lambda table=table: covary.evidence(table)).seconds,
                }
            )
    columns = [
        BenchmarkColumn("levels", "levels"),
        BenchmarkColumn("other", "other column"),
        BenchmarkColumn("score", "score", format_seconds),
        BenchmarkColumn("evidence", "evidence", format_seconds),
    ]
    return BenchmarkTable("One pair, 4,000 rows, one thread", columns, rows)


def _all_pairs(quick: bool, progress: Progress) -> BenchmarkTable:
    shape, few = (QUICK_WIDE, QUICK_PHIK_COLUMNS) if quick else (WIDE, PHIK_COLUMNS)
    table = mixed_table(*shape)
    some = table.select(range(few))
    progress("all pairs")
    rows = []
    for name, data, measure, jobs in (
        ("covary", table, "uds-chance", 2),
        ("covary", some, "uds-chance", 1),
        ("phi_K", some, "phik", 1),
    ):
        if measure == "phik" and importlib.util.find_spec("phik") is None:
            continue
        time = best_time(
            lambda data=data, measure=measure, jobs=jobs: covary.matrix(
                data, measure=measure, n_jobs=jobs
            ),
            budget=0,
            min_repeats=1,
            patience=60,
        )
        rows.append({"what": name, "columns": len(data.columns), "jobs": jobs} | time._asdict())
    for row in rows:
        same = rows[0] if row["columns"] == rows[0]["columns"] else rows[1]
        row["ratio"] = row["seconds"] / same["seconds"]
    columns = [
        BenchmarkColumn("what", "method"),
        BenchmarkColumn("columns", "columns"),
        BenchmarkColumn("jobs", "threads"),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("ratio", "ratio to covary", format_ratio),
    ]
    title = f"All pairs of a mixed table, {shape[0]:,} rows"
    return BenchmarkTable(title, columns, rows)
