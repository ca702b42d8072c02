"""Nanoseconds per row for one step, kernels.step.discretize: the best bins of one column for the
next, given the cubes that the columns before them cut. Warm, minimum over many repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number
from benchmarks.timing import Progress, best_time
from covary import kernels
from covary.prepare import Prepared, prepare

ROWS = 4000
BETA = 20
CUBES = (1, 2, 6, 20, 100, 400, 1500)
BETAS = (5, 10, 20, 40)
CONDITION, TARGET, BEFORE = range(3)


def run(quick: bool, progress: Progress) -> list[Table]:
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
        Table(
            f"ns per row by number of cubes, beta = {BETA}, {ROWS} rows",
            [Column("cubes", "cubes"), *_times()],
            [{"cubes": cubes, **measure(BETA, cubes)} for cubes in CUBES],
            "Cubes are groups of neighbours in a third column of the same kind.",
        ),
        Table(
            f"ns per row by beta, one cube, {ROWS} rows",
            [Column("beta", "beta"), *_times()],
            [{"beta": beta, **measure(beta, 1)} for beta in BETAS],
        ),
    ]


def _times() -> list[Column]:
    names = [f"{name} {kind}" for name in ("uds", "unregularized") for kind in KINDS]
    return [Column(name, name.replace(" ", "\n"), as_number(1)) for name in names]


def nanoseconds(step: Callable[[], object], budget: float) -> float:
    """Return the least time of a step, in nanoseconds per row."""
    return best_time(step, budget, least=20).seconds / ROWS * 1e9


def one_step(
    prepared: Prepared, beta: int, n_cubes: int, regularize: bool
) -> Callable[[], object]:
    """Return the call of the kernel, its arguments ready."""
    bins = prepared.bins(beta)
    cubes = np.empty(ROWS, np.uint32)
    cubes[prepared.orders[BEFORE]] = np.arange(ROWS) * n_cubes // ROWS
    formed = math.log(bins.counts[CONDITION]) + math.log(n_cubes)
    arguments = (
        prepared.orders[TARGET],
        prepared.values[TARGET],
        prepared.entropies[TARGET],
        bins.codes[CONDITION],
        bins.counts[CONDITION],
        cubes if n_cubes > 1 else np.empty(0, np.uint32),  # nothing is cut yet
        n_cubes,
        kernels.tables.increments(ROWS),
        formed if regularize else kernels.step.UNREGULARIZED,
    )
    return lambda: kernels.step.discretize(*arguments)
