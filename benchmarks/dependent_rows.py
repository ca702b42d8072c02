"""Dependent rows: how often are unrelated columns reported, and related ones found? Level 5 %.
The plain test permutes rows. `time="row"` shifts columns in time, `groups=` exchanges rows within
groups, and `difference=True` uses the changes of random walks. Two or three columns, 199
permutations or shifts, on one thread. DcorrX and MGCX are the tests of hyppo for series, with 99
and 39 permutations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

import covary
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_seconds
from benchmarks.timing import Progress

ROWS = (200, 1000)
TABLES, QUICK_TABLES = 300, 6
POWER_TABLES, SLOW_TABLES = 100, 20
RESAMPLES = 199
LEVEL = 0.05
SEED = 20261119

Array = npt.NDArray[np.float64]
Series = Callable[[np.random.Generator, int], Array]
START = 100


def autoregression(phi: float) -> Series:
    """Return a function that draws an autoregressive series."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        found = rng.normal(size=n + START)
        for t in range(1, found.size):
            found[t] += phi * found[t - 1]
        return found[START:]

    return draw


def season(rng: np.random.Generator, n: int) -> Array:
    """Return a sine with a period of 24 rows, a random phase, and noise."""
    return np.sin(2 * np.pi * (np.arange(n) / 24 + rng.random())) + 0.5 * rng.normal(size=n)


def arma(rng: np.random.Generator, n: int) -> Array:
    """Return an ARMA(2, 1) series."""
    noise = rng.normal(size=n + START)
    found = noise.copy()
    for t in range(2, found.size):
        found[t] = 0.8 * found[t - 1] - 0.1 * found[t - 2] + noise[t] + 0.5 * noise[t - 1]
    return found[START:]


def regimes(rng: np.random.Generator, n: int) -> Array:
    """Return noise whose mean switches between two values, after 33 rows on average."""
    return 2.0 * (np.cumsum(rng.random(n) < 0.03) % 2) + rng.normal(size=n)


def walk(rng: np.random.Generator, n: int) -> Array:
    """Return a random walk."""
    return np.cumsum(rng.normal(size=n))


UNRELATED: dict[str, tuple[Series, dict[str, Any]]] = {
    "independent rows": (lambda rng, n: rng.normal(size=n), {"time": "row"}),
    "AR(1), 0.5": (autoregression(0.5), {"time": "row"}),
    "AR(1), 0.9": (autoregression(0.9), {"time": "row"}),
    "season": (season, {"time": "row"}),
    "ARMA(2, 1)": (arma, {"time": "row"}),
    "two regimes": (regimes, {"time": "row"}),
    "random walks": (walk, {"time": "row"}),
    "random walks, changes": (walk, {"time": "row", "difference": True}),
}


def common(rng: np.random.Generator, n: int) -> Array:
    """Return two slow series with a common component."""
    draw = autoregression(0.9)
    shared = draw(rng, n)
    return np.column_stack([shared + draw(rng, n), shared + draw(rng, n)])


def delayed_square(rng: np.random.Generator, n: int) -> Array:
    """Return a series, and the square of what it was three rows before, with noise."""
    x = autoregression(0.5)(rng, n + 3)
    square = x[:n] ** 2
    return np.column_stack([x[3:], square + square.std() * rng.normal(size=n)])


def of_hyppo(name: str) -> Callable[[np.random.Generator, int], Array]:
    """Return a simulation of hyppo, which uses the global random state.

    In its nonlinear process, the second series comes first in time: it is the first column here.
    """

    def draw(rng: np.random.Generator, n: int) -> Array:
        from hyppo import tools

        np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002
        one, other = getattr(tools, name)(n)
        return np.column_stack([other, one])

    return draw


PAIRS: dict[str, tuple[Callable[[np.random.Generator, int], Array], int]] = {
    "unrelated AR(1), 0.9": (
        lambda rng, n: np.column_stack([autoregression(0.9)(rng, n) for _ in range(2)]),
        0,
    ),
    "hyppo: independent AR": (of_hyppo("indep_ar"), 0),
    "common component": (common, 0),
    "square, 3 rows later": (delayed_square, 5),
    "hyppo: cross-correlated AR": (of_hyppo("cross_corr_ar"), 2),
    "hyppo: nonlinear process": (of_hyppo("nonlinear_process"), 2),
    "hyppo: extinct Gaussian": (of_hyppo("extinct_gaussian_process"), 0),
}


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return rejection rates of unrelated series and groups, and power next to hyppo."""
    with threadpool_limits(1):
        return [unrelated(quick, progress), grouped(quick, progress), compared(quick, progress)]


def rejects(values: Array, **options: Any) -> bool:
    """Return whether a test rejects the independence of all columns."""
    return covary.test(values, permutations=RESAMPLES, n_jobs=1, **options).pvalue <= LEVEL


def unrelated(quick: bool, progress: Progress) -> BenchmarkTable:
    """Return rejection rates of unrelated series."""
    n_tables = QUICK_TABLES if quick else TABLES
    rows = []
    for name, (draw, options) in UNRELATED.items():
        row: dict[str, Any] = {"series": name}
        for n_rows in ROWS:
            for n_columns in (2, 3):
                progress(f"{name}, {n_rows} rows, {n_columns} columns")
                counts = np.zeros(2)
                for table in range(n_tables):
                    rng = np.random.default_rng([SEED, table, n_rows, n_columns])
                    values = np.column_stack([draw(rng, n_rows) for _ in range(n_columns)])
                    counts += [rejects(values), rejects(values, **options)]
                plain, shifted = counts / n_tables
                row |= {f"plain{n_rows}{n_columns}": plain, f"time{n_rows}{n_columns}": shifted}
        rows.append(row)
    columns = [BenchmarkColumn("series", "series")]
    for n_rows in ROWS:
        for n_columns in (2, 3):
            size = f"{n_columns} columns, {n_rows:,} rows"
            for key, label in (("plain", "plain"), ("time", "shifts")):
                columns.append(
                    BenchmarkColumn(f"{key}{n_rows}{n_columns}", f"{label}: {size}", decimals(3))
                )
    error = np.sqrt(LEVEL * (1 - LEVEL) / n_tables)
    note = f"{n_tables} tables each. Standard error of a rate of {LEVEL}: {error:.3f}."
    return BenchmarkTable("unrelated series: rejected", columns, rows, note)


def grouped(quick: bool, progress: Progress) -> BenchmarkTable:
    """Return rejection rates of unrelated columns with effects of 20 groups of 25 rows."""
    n_tables = QUICK_TABLES if quick else TABLES
    who = np.repeat(np.arange(20.0), 25)
    rows = []
    for correlation in (0.1, 0.5, 0.9):
        progress(f"groups, {correlation}")
        counts = np.zeros(3)
        for table in range(n_tables):
            rng = np.random.default_rng([SEED, table, int(10 * correlation)])
            effects = rng.normal(size=(20, 2))[who.astype(int)]
            noise = rng.normal(size=(500, 2))
            values = np.sqrt(correlation) * effects + np.sqrt(1 - correlation) * noise
            both = np.column_stack([who, values])
            counts += [
                rejects(values),
                rejects(both, columns=[1, 2], groups=0),
                rejects(both, columns=[1, 2], groups=0, permute="between"),
            ]
        plain, within, between = counts / n_tables
        rows.append({"icc": correlation, "plain": plain, "within": within, "between": between})
    columns = [BenchmarkColumn("icc", "intraclass correlation", decimals(1))]
    columns += [BenchmarkColumn(key, key, decimals(3)) for key in ("plain", "within", "between")]
    note = f"{n_tables} tables each."
    return BenchmarkTable("unrelated columns in groups: rejected", columns, rows, note)


def compared(quick: bool, progress: Progress) -> BenchmarkTable:
    """Return power next to that of hyppo, and times of the same run."""
    from hyppo.time_series import MGCX, DcorrX

    n_tables, n_slow = (3, 1) if quick else (POWER_TABLES, SLOW_TABLES)
    rows = []
    for name, (draw, lags) in PAIRS.items():
        progress(name)
        row: dict[str, Any] = {"relation": name, "lags": lags}

        def with_lags(values: Array, lags: int = lags) -> float:
            if lags == 0:
                return covary.test(values, time="row", n_jobs=1).pvalue
            return covary.test(values, [0], target=1, time="row", lags=lags, n_jobs=1).pvalue

        def dcorrx(values: Array, lags: int = lags) -> float:
            x, y = values[:, 1], values[:, 0]
            return float(DcorrX(max_lag=lags).test(x, y, reps=99, workers=1)[1])

        def mgcx(values: Array, lags: int = lags) -> float:
            x, y = values[:, 1], values[:, 0]
            return float(MGCX(max_lag=lags).test(x, y, reps=39, workers=1)[1])

        for key, test, number in (
            ("covary", with_lags, n_tables),
            ("dcorrx", dcorrx, n_tables),
            ("mgcx", mgcx, n_slow),
        ):
            found, seconds = 0, np.inf
            for table in range(number):
                values = draw(np.random.default_rng([SEED, table]), ROWS[0])
                start = time.perf_counter()
                found += test(values) <= LEVEL
                seconds = min(seconds, time.perf_counter() - start)
            row |= {key: found / number, f"{key} time": seconds}
        rows.append(row)
    columns = [BenchmarkColumn("relation", "relation"), BenchmarkColumn("lags", "lags", str)]
    columns += [BenchmarkColumn(key, key, decimals(2)) for key in ("covary", "dcorrx", "mgcx")]
    columns += [
        BenchmarkColumn(f"{key} time", f"{key}, time", format_seconds)
        for key in ("covary", "dcorrx", "mgcx")
    ]
    note = (
        f"{ROWS[0]} rows. {n_tables} tables each, {n_slow} for MGCX. The first two lines are "
        "unrelated series: their rates are levels."
    )
    return BenchmarkTable("pairs of series: rejected", columns, rows, note)
