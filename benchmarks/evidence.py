"""Power of the evidence statistic of uds-chance, next to multiscale graph correlation (MGC) and
Chatterjee's xi, at the 5 % level, for hyppo's simulations and for further shapes. Power is the
fraction of tables with a statistic above the critical value of permuted tables. All methods get
the same tables. Also the power for a weak relation next to a strong one, and the fraction of
independent tables in which covary.test finds a dependence. One thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import covary
from benchmarks.evidence_shapes import FURTHER_SHAPES, Array, Random
from benchmarks.power_methods import Statistic, load_evidence, load_mgc, load_xi
from benchmarks.power_study import critical_value
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals
from benchmarks.timing import Progress
from covary.prepare import prepare

Draw = Callable[[Random, int], Array]

SEED = 20260501
METHODS = {"evidence": load_evidence, "MGC": load_mgc, "xi": load_xi}
# The numbers of dependent and of permuted tables. MGC gets the first of them, because it is slow.
TABLES, TABLES_OF_MGC, QUICK_TABLES = (200, 400), (100, 200), (20, 40)
SIMULATION_ROWS, FURTHER_ROWS = 100, 200
# The only simulation of hyppo with independent columns, and those without a level of noise.
INDEPENDENT = "multimodal_independence"
WITHOUT_NOISE = ("multiplicative_noise", INDEPENDENT)
LEVEL = 0.05
KINDS: dict[str, Callable[[Random, tuple[int, int]], Array]] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "one decimal": lambda random, shape: random.standard_normal(shape).round(1),
    "ten values": lambda random, shape: random.integers(10, size=shape).astype(float),
    "two values": lambda random, shape: random.integers(2, size=shape).astype(float),
    "mostly 0": lambda random, shape: np.where(
        random.random(shape) < 0.8, 0.0, random.standard_normal(shape)
    ),
    "20 % missing": lambda random, shape: np.where(
        random.random(shape) < 0.2, np.nan, random.standard_normal(shape)
    ),
}


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return power for simulations and further shapes, and the rate of false positives."""
    with threadpool_limits(1):
        return [
            _simulations(quick, progress),
            _further(quick, progress),
            _strong_and_weak(quick, progress),
            _false_positives(quick, progress),
        ]


# ---------------------------------------------------------------- power


def simulation(name: str, n_columns: int = 1) -> Draw:
    """Return a function that draws one of hyppo's simulations; y is the last column."""
    from hyppo.tools import indep_sim

    options = {} if name in WITHOUT_NOISE else {"noise": True}

    def draw(random: Random, n_rows: int) -> Array:
        np.random.seed(random.integers(2**32))  # noqa: NPY002 hyppo uses the global generator
        return np.hstack(indep_sim(name, n_rows, n_columns, **options))

    return draw


def powers(
    draw: Draw, n_rows: int, key: str, n_tables: dict[str, tuple[int, int]]
) -> dict[str, float]:
    """Return the power of each method on the same tables.

    Parameters
    ----------
    draw : returns a table of two columns
    n_rows : the number of rows
    key : the seed of these tables
    n_tables : by method, the numbers of dependent and of permuted tables
    """
    random = np.random.default_rng([SEED, *key.encode()])
    most_data, most_null = (max(each) for each in zip(*n_tables.values(), strict=True))
    data = [draw(random, n_rows) for _ in range(most_data)]
    null = [random.permuted(draw(random, n_rows), axis=0) for _ in range(most_null)]
    found = {}
    for method, (n_data, n_null) in n_tables.items():
        statistic = METHODS[method]()
        critical = critical_value([_value(statistic, table) for table in null[:n_null]])
        detected = [_value(statistic, table) > critical for table in data[:n_data]]
        found[method] = float(np.mean(detected))
    return found


def _value(statistic: Statistic, table: Array) -> float:
    return float(statistic(*np.split(table, 2, axis=1)))


def _simulations(quick: bool, progress: Progress) -> BenchmarkTable:
    from hyppo.tools import SIMULATIONS

    n_tables = dict.fromkeys(METHODS, QUICK_TABLES if quick else TABLES)
    rows = []
    for name in SIMULATIONS:
        progress(f"simulation {name}")
        label = name.replace("_", " ")
        draw = simulation(name)
        rows.append({"shape": label, **powers(draw, SIMULATION_ROWS, name, n_tables)})
    dependent = [row for row in rows if row["shape"] != INDEPENDENT.replace("_", " ")]
    rows.append({"shape": f"mean of {len(dependent)} dependent shapes", **_means(dependent)})
    title = f"Power for hyppo's simulations, {SIMULATION_ROWS} rows"
    note = "Tables and permuted tables: {} and {}.".format(*n_tables["evidence"])
    return BenchmarkTable(title, _columns(), rows, note)


def _further(quick: bool, progress: Progress) -> BenchmarkTable:
    n_tables = dict.fromkeys(METHODS, QUICK_TABLES if quick else TABLES)
    if not quick:
        n_tables["MGC"] = TABLES_OF_MGC
    rows = []
    for name, shape in FURTHER_SHAPES.items():
        progress(f"shape {name}")
        levels = [
            powers(
                lambda random, n_rows, shape=shape, noise=noise: shape.draw(random, n_rows, noise),
                FURTHER_ROWS,
                f"{name} {noise}",
                n_tables,
            )
            for noise in shape.levels
        ]
        rows.append({"shape": name, **_means(levels)})
    rows.append({"shape": f"mean of {len(rows)} shapes", **_means(rows)})
    title = f"Power for further shapes, {FURTHER_ROWS} rows, mean over three levels of noise"
    counts = ", ".join("{}: {} and {}".format(name, *each) for name, each in n_tables.items())
    note = f"Tables and permuted tables per level of noise: {counts}."
    return BenchmarkTable(title, _columns(), rows, note)


def _means(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {method: float(np.mean([row[method] for row in rows])) for method in METHODS}


def _columns() -> list[BenchmarkColumn]:
    return [
        BenchmarkColumn("shape", "shape"),
        *(BenchmarkColumn(method, method, decimals(2)) for method in METHODS),
    ]


# ---------------------------------------------------------------- several columns


def copy_and_line(random: Random, n_rows: int) -> Array:
    """Return x, a copy of x with little noise, and x with much noise."""
    x = random.uniform(-1, 1, n_rows)
    noise = random.standard_normal((2, n_rows))
    return np.column_stack([x, x + 0.05 * noise[0], x + 2 * noise[1]])


def copy_and_product(random: Random, n_rows: int) -> Array:
    """Return a, b, noisy copies of both, and their product with much noise."""
    a, b = random.uniform(-1, 1, (2, n_rows))
    noise = random.standard_normal((3, n_rows))
    return np.column_stack([a, a + 0.1 * noise[0], b, b + 0.1 * noise[1], a * b + noise[2]])


def _strong_and_weak(quick: bool, progress: Progress) -> BenchmarkTable:
    n_tables, n_permutations = (20, 39) if quick else (100, 59)
    shapes: dict[str, Draw] = {
        "spiral in three columns": simulation("spiral", 2),
        "x, a copy of x, and a noisy line": copy_and_line,
        "two pairs of copies, and a noisy product": copy_and_product,
    }
    measure = covary.UDSChance()
    rows = []
    for name, draw in shapes.items():
        progress(name)
        random = np.random.default_rng([SEED, *name.encode()])
        found: dict[str, list[bool]] = {"all": [], "target": []}
        for _ in range(n_tables):
            table = draw(random, SIMULATION_ROWS)
            permuted = [table.copy() for _ in range(n_permutations)]
            for each in permuted:
                random.shuffle(each[:, -1])
            prepared = [prepare(each) for each in (table, *permuted)]
            last = table.shape[1] - 1
            for key, target in (("all", None), ("target", last)):
                observed, *null = (
                    measure.evidence_sets(each, [range(last + 1)], target)[0] for each in prepared
                )
                rank = math.floor(LEVEL * (n_permutations + 1))
                found[key].append(observed > sorted(null)[-rank])
        rows.append({"shape": name, **{key: float(np.mean(each)) for key, each in found.items()}})
    columns = [
        BenchmarkColumn("shape", "shape"),
        BenchmarkColumn("all", "evidence of all columns", decimals(2)),
        BenchmarkColumn("target", "evidence with the last as target", decimals(2)),
    ]
    title = f"Power for a weak relation next to strong ones, {SIMULATION_ROWS} rows"
    note = (
        f"Only the last column is permuted, {n_permutations} times, so that the strong relations "
        f"of the others remain. {n_tables} tables."
    )
    return BenchmarkTable(title, columns, rows, note)


# ---------------------------------------------------------------- false positives


def _false_positives(quick: bool, progress: Progress) -> BenchmarkTable:
    sizes = ((8, 2), (20, 2), (100, 2), (100, 3))
    n_tables = 40 if quick else 400
    rows = []
    for kind, draw in KINDS.items():
        row: dict[str, Any] = {"kind": kind}
        for size in sizes:
            progress(f"independent columns, {kind}, {size[0]} x {size[1]}")
            random = np.random.default_rng([SEED, *kind.encode(), *size])
            pvalues = [
                covary.test(draw(random, size), permutations=99, seed=seed, n_jobs=1).pvalue
                for seed in range(n_tables)
            ]
            row[f"{size}"] = float(np.mean(np.array(pvalues) <= LEVEL))
        rows.append(row)
    columns = [BenchmarkColumn("kind", "values")]
    columns += [BenchmarkColumn(f"{(n, d)}", f"{n} x {d}", decimals(3)) for n, d in sizes]
    title = "Fraction of independent tables with p of at most 0.05"
    note = f"covary.test with 99 permutations; {n_tables} tables each."
    return BenchmarkTable(title, columns, rows, note)
