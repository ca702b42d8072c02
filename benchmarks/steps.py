"""Time per row of one step of uds, kernels.uds.step.discretize: find the best bins of one column
for the next column, given the cubes of the columns before. Compiled; minimum over many repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.data import KINDS, make_table
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, decimals
from benchmarks.timing import Progress, best_time
from covary import kernels
from covary.prepare import Prepared, prepare

ROWS = 4000
BETA = 20
CUBES = (1, 2, 6, 20, 100, 400, 1500)
BETAS = (5, 10, 20, 40)
CONDITION, TARGET, CUBE_COLUMN = range(3)


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return times by number of cubes, and by beta."""
    prepared = {kind: prepare(make_table(kind, ROWS, 3)) for kind in KINDS}
    budget = 0.05 if quick else 0.2

    def measure(beta: int, n_cubes: int) -> dict[str, float]:
        progress(f"beta {beta}, cubes: {n_cubes}")
        return {
            f"{name} {kind}": nanoseconds(
                one_step(prepared[kind], beta, n_cubes, regularize), budget
            )
            for name, regularize in (("uds", True), ("unregularized", False))
            for kind in KINDS
        }

    return [
        BenchmarkTable(
            f"ns per row by number of cubes, beta = {BETA}, {ROWS} rows",
            [BenchmarkColumn("cubes", "cubes"), *_time_columns()],
            [{"cubes": cubes, **measure(BETA, cubes)} for cubes in CUBES],
            "Cubes are groups of neighbouring rows in a third column of the same kind.",
        ),
        BenchmarkTable(
            f"ns per row by beta, one cube, {ROWS} rows",
            [BenchmarkColumn("beta", "beta"), *_time_columns()],
            [{"beta": beta, **measure(beta, 1)} for beta in BETAS],
        ),
    ]


def _time_columns() -> list[BenchmarkColumn]:
    names = [f"{name} {kind}" for name in ("uds", "unregularized") for kind in KINDS]
    return [BenchmarkColumn(name, name.replace(" ", "\n"), decimals(1)) for name in names]


def nanoseconds(step: Callable[[], object], budget: float) -> float:
    """Return the shortest time of a step, in nanoseconds per row."""
    return best_time(step, budget, min_repeats=20).seconds / ROWS * 1e9


def one_step(
    prepared: Prepared, beta: int, n_cubes: int, regularize: bool
) -> Callable[[], object]:
    """Return a call of the kernel without arguments."""
    condition_order, condition_values = prepared.orders[CONDITION], prepared.values[CONDITION]
    codes = np.empty(ROWS, np.uint8)
    ends = kernels.shared.columns.initial_bins(condition_order, condition_values, beta, codes)
    cubes = np.empty(ROWS, np.uint32)
    cubes[prepared.orders[CUBE_COLUMN]] = np.arange(ROWS) * n_cubes // ROWS
    log_cells = math.log(ends.size) + math.log(n_cubes)
    arguments = (
        prepared.orders[TARGET],
        prepared.values[TARGET],
        prepared.entropies[TARGET],
        codes,
        ends.size,
        cubes if n_cubes > 1 else np.empty(0, np.uint32),  # one cube: the kernel needs no codes
        n_cubes,
        kernels.shared.entropy_tables.increments(ROWS),
        log_cells if regularize else kernels.uds.step.UNREGULARIZED,
    )
    return lambda: kernels.uds.step.discretize(*arguments)
