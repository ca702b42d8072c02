"""Every registered measure: power for the shapes of the power study with half their noise, mean
score of independent columns, dependence on units, and time for a table of 4000 x 20. Power is the
fraction of 100 tables of 300 rows with evidence above the 5 % critical value of 200 permuted
tables. One thread. A measure for pairs takes the maximum over all pairs.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import covary
from benchmarks.data import make_table
from benchmarks.power_shapes import Array, DependenceShape, Noise
from benchmarks.power_study import critical_value, seed_sequence, shape_named
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals, format_seconds
from benchmarks.timing import Progress, best_time

Statistic = Callable[[Array], float]

ROWS = 300
# Shapes of the power study by kind of dependence.
SHAPES_BY_KIND = {
    "monotone": ("linear", "step"),
    "curves": ("quadratic", "W", "sine, 4 periods"),
    "no function": ("circle", "checkerboard"),
    "interaction": ("product of two", "XOR"),
}
INDEPENDENT_SIZES = {"null_pair": (300, 2), "null_five": (1000, 5)}
TIMED_SIZE = (4000, 20)
# For measures that take longer than this, only one pair of columns is timed.
PATIENCE_SECONDS = 20.0


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the power of every measure, and its other properties."""
    repeats = (20, 40) if quick else (100, 200)
    timed_size = (1000, 5) if quick else TIMED_SIZE
    rows = []
    with threadpool_limits(1):
        for name, entry in registered_measures().items():
            # A measure for pairs needs an aggregate to score more than two columns.
            options = {"measure": name, **({"aggregate": "max"} if entry["pairs_only"] else {})}
            score: Statistic = partial(covary.score, **options)
            evidence: Statistic = partial(covary.evidence, **options)
            row: dict[str, Any] = {"measure": name, "range": format_range(*entry["bounds"])}
            row["units"] = "free" if is_unit_free(score) else "matter"
            row["columns"] = "pairs" if entry["pairs_only"] else "any"
            for kind, shapes in SHAPES_BY_KIND.items():
                progress(f"{name}, {kind}")
                powers = [power(evidence, shape_named(shape), *repeats) for shape in shapes]
                row[kind] = float(np.mean(powers))
            for key, size in INDEPENDENT_SIZES.items():
                progress(f"{name}, independent columns")
                row[key] = mean_if_independent(score, *size, 3 if quick else 20)
            progress(f"{name}, time")
            row["seconds"] = time_of(score, *timed_size, "aggregate" in entry["parameters"])
            rows.append(row)
    name_column = BenchmarkColumn("measure", "measure")
    power_columns = [BenchmarkColumn(kind, kind, decimals(2)) for kind in SHAPES_BY_KIND]
    property_columns = [
        BenchmarkColumn("range", "range"),
        BenchmarkColumn("units", "units"),
        BenchmarkColumn("columns", "columns"),
        *(
            BenchmarkColumn(key, f"null, {n} x {d}", decimals(3))
            for key, (n, d) in INDEPENDENT_SIZES.items()
        ),
        BenchmarkColumn("seconds", "time", format_seconds),
    ]
    note = (
        "Null: mean score of independent normal columns. Time: minimum of a few calls on {} x {}; "
        "'about': the time of one pair, multiplied by the number of pairs.".format(*timed_size)
    )
    return [
        BenchmarkTable("Power of measures", [name_column, *power_columns], rows),
        BenchmarkTable("Properties of measures", [name_column, *property_columns], rows, note),
    ]


def registered_measures() -> dict[str, dict[str, Any]]:
    """Return the description of every measure by name, from ``covary measures --json``."""
    command = [sys.executable, "-m", "covary", "measures", "--json"]
    listed = subprocess.run(command, capture_output=True, check=True)
    return json.loads(listed.stdout)


def format_range(least: float | None, greatest: float | None) -> str:
    """Return the bounds of a score as text; None is infinity.

    Examples
    --------
    >>> format_range(0.0, None)
    '0 .. ∞'
    """
    lower = "-∞" if least is None else f"{least:g}"
    upper = "∞" if greatest is None else f"{greatest:g}"
    return f"{lower} .. {upper}"


def is_unit_free(score: Statistic) -> bool:
    """Return whether the score of dependent columns is the same in other units."""
    table = make_table("dependent", 200, 3)
    rescaled = score(table * [1.0, 1e3, 1e-3] + [0.0, 5.0, 1.0])
    return math.isclose(score(table), rescaled, rel_tol=1e-6, abs_tol=1e-9)


def power(evidence: Statistic, shape: DependenceShape, n_data: int, n_null: int) -> float:
    """Return the fraction of tables with evidence above the critical value."""
    noise = Noise(shape.noise("normal").scale / 2)
    null = [evidence(t) for t in islice(tables(shape, noise, permuted=True), n_null)]
    observed = [evidence(t) for t in islice(tables(shape, noise, permuted=False), n_data)]
    return float(np.mean(np.array(observed) > critical_value(null)))


def tables(shape: DependenceShape, noise: Noise, permuted: bool) -> Iterator[Array]:
    """Yield tables of a shape; each column is permuted independently if asked for."""
    for number in range(10**6):
        random = np.random.default_rng(seed_sequence(shape.name, "half", int(permuted), number))
        table = shape.draw(random, ROWS, noise)
        yield random.permuted(table, axis=0) if permuted else table


def mean_if_independent(score: Statistic, n_rows: int, n_columns: int, n_data: int) -> float:
    """Return the mean score of independent normal columns."""
    seeds = seed_sequence("independent", n_rows, n_columns).spawn(n_data)
    generators = map(np.random.default_rng, seeds)
    draws: Sequence[Array] = [g.standard_normal((n_rows, n_columns)) for g in generators]
    return float(np.mean([score(table) for table in draws]))


def time_of(score: Statistic, n_rows: int, n_columns: int, pairwise: bool) -> float | str:
    """Return the seconds of one call, or an estimate as text if a call takes too long."""
    table = make_table("dependent", n_rows, n_columns)
    pair = best_time(partial(score, table[:, :2]), budget=0.2, patience=1.0).seconds
    n_pairs = math.comb(n_columns, 2) if pairwise else 1
    if pair * n_pairs > PATIENCE_SECONDS:
        return f"about {format_seconds(pair * n_pairs)}"
    return best_time(partial(score, table), budget=0.5, patience=2.0).seconds
