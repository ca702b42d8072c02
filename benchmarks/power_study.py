"""The power study: which tables are drawn, and what is computed from them."""

from __future__ import annotations

import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_limits

import covary
from benchmarks.power_methods import ALL_COLUMNS, METHODS, Array, Method, Statistic, apply
from benchmarks.power_shapes import LEVELS, SHAPES, DependenceShape
from benchmarks.timing import Progress, best_time

Results = list[dict[str, Any]]

SEED = 20160505
SIGNIFICANCE_LEVEL = 0.05
# The number of rows of most printed tables and of the figure.
SHOWN_ROWS = 300
MEASURES = ("uds-chance", "uds", "uds-unregularized")
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
PARTS = {
    "power": "fraction of tables in which the dependence is found",
    "null": "mean score of independent columns",
    "correlation": "mean score of a normal pair, by its correlation",
    "time": "time of one call",
}
# If one score of independent columns takes longer than this, its mean is skipped.
PATIENCE_SECONDS = 2.0


@dataclass(frozen=True)
class PowerPlan:
    """The size of the study.

    Parameters
    ----------
    rows : numbers of rows for power
    shapes : names of the shapes for power
    levels : levels of noise
    repeats : numbers of dependent and of permuted tables
    slow_repeats, slow_rows : ``repeats`` and ``rows`` for slow methods
    score_repeats : number of tables for each mean score
    null_rows, null_columns : sizes of the tables with independent columns
    correlation_rows : number of rows of the normal pairs
    time_rows : numbers of rows of the pairs for timing
    """

    rows: tuple[int, ...] = (100, 300, 1000)
    shapes: tuple[str, ...] = tuple(shape.name for shape in SHAPES)
    levels: tuple[str, ...] = LEVELS
    repeats: tuple[int, int] = (100, 200)
    slow_repeats: tuple[int, int] = (50, 100)
    slow_rows: tuple[int, ...] = (SHOWN_ROWS,)
    score_repeats: int = 20
    null_rows: tuple[int, ...] = (100, 300, 1000, 4000)
    null_columns: tuple[int, ...] = (2, 3, 5, 10, 20, 50)
    correlation_rows: int = 4000
    time_rows: tuple[int, ...] = (300, 4000)


QUICK_PLAN = PowerPlan(
    rows=(100,),
    levels=("normal",),
    repeats=(20, 40),
    slow_repeats=(10, 20),
    slow_rows=(100,),
    score_repeats=3,
    null_rows=(100, 1000),
    null_columns=(2, 5, 10),
    correlation_rows=1000,
    time_rows=(300,),
)


# ------------------------------------------------------------ power


class PowerTask(NamedTuple):
    """One method on one shape, level of noise and number of rows."""

    method: str
    shape: str
    level: str
    n_rows: int
    n_data: int
    n_null: int


def seed_sequence(*key: str | int) -> np.random.SeedSequence:
    """Return the seeds of one part of the study, independent of all other parts."""
    numbers = [crc32(part.encode()) if isinstance(part, str) else part for part in key]
    return np.random.SeedSequence([SEED, *numbers])


def dependent_tables(
    shape: DependenceShape, level: str, n_rows: int, n_data: int
) -> Iterator[Array]:
    """Yield tables of a shape; the first ones do not depend on ``n_data``."""
    for seed in seed_sequence(shape.name, level, n_rows, "data").spawn(n_data):
        yield shape.draw(np.random.default_rng(seed), n_rows, shape.noise(level))


def permuted_tables(
    shape: DependenceShape, level: str, n_rows: int, n_null: int
) -> Iterator[Array]:
    """Yield other tables of a shape, with every column permuted independently."""
    for seed in seed_sequence(shape.name, level, n_rows, "null").spawn(n_null):
        random = np.random.default_rng(seed)
        yield random.permuted(shape.draw(random, n_rows, shape.noise(level)), axis=0)


def critical_value(null: Sequence[float]) -> float:
    """Return the value that a significant statistic must exceed.

    A statistic above it has a permutation p-value of at most SIGNIFICANCE_LEVEL.
    """
    return sorted(null)[-critical_rank(len(null))]


def critical_rank(n_null: int) -> int:
    """Return the rank of the critical value among ``n_null`` statistics, largest first."""
    return math.floor(SIGNIFICANCE_LEVEL * (n_null + 1))


@cache
def loaded(name: str) -> Statistic:
    """Return the statistic of a method."""
    return method_named(name).load()


def method_named(name: str) -> Method:
    """Return the method with this name."""
    return next(method for method in METHODS if method.name == name)


def shape_named(name: str) -> DependenceShape:
    """Return the shape with this name."""
    return next(shape for shape in SHAPES if shape.name == name)


def statistic_of(method: str, group: str) -> Callable[[Array], float]:
    """Return the function that computes the statistic of a method for a group of shapes."""
    inputs = method_named(method).inputs.get(group, ALL_COLUMNS)
    return partial(apply, loaded(method), inputs=inputs)


def power_of(task: PowerTask) -> dict[str, Any]:
    """Return the fraction of tables whose statistic is above the critical value."""
    shape = shape_named(task.shape)
    statistic = statistic_of(task.method, shape.group)
    key = shape, task.level, task.n_rows
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        null = [statistic(table) for table in permuted_tables(*key, task.n_null)]
        observed = [statistic(table) for table in dependent_tables(*key, task.n_data)]
    return {
        "method": task.method,
        "shape": shape.name,
        "group": shape.group,
        "rows": task.n_rows,
        "level": task.level,
        "noise": shape.noise(task.level).scale,
        "data_sets": task.n_data,
        "null_sets": task.n_null,
        "power": float(np.mean(np.array(observed) > critical_value(null))),
        "found": observed,
        "null": null,
    }


def power_tasks(plan: PowerPlan, methods: Sequence[Method]) -> list[PowerTask]:
    """Return the tasks of the power part."""
    tasks = []
    for n_rows in plan.rows:
        for shape in map(shape_named, plan.shapes):
            for level in plan.levels:
                for method in methods:
                    if n_rows > method.max_rows or shape.group not in method.inputs:
                        continue
                    if method.slow and n_rows not in plan.slow_rows:
                        continue
                    slow = method.slow or n_rows >= method.slow_from.get(shape.group, math.inf)
                    repeats = plan.slow_repeats if slow else plan.repeats
                    tasks.append(PowerTask(method.name, shape.name, level, n_rows, *repeats))
    return tasks


def estimated_seconds(task: PowerTask, call_seconds: dict[tuple[str, str, int], float]) -> float:
    """Return the approximate time of a task.

    ``call_seconds`` keeps the time of one call by method, group of shapes and number of rows.
    """
    shape = shape_named(task.shape)
    key = task.method, shape.group, task.n_rows
    if key not in call_seconds:
        statistic = statistic_of(task.method, shape.group)
        sizes = 100, task.n_rows
        small, table = (next(dependent_tables(shape, task.level, n_rows, 1)) for n_rows in sizes)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statistic(small)
            start = time.perf_counter()
            statistic(table)
        call_seconds[key] = time.perf_counter() - start
    return call_seconds[key] * (task.n_data + task.n_null)


# ------------------------------------------------------------ scores


class ScoreTask(NamedTuple):
    """Tables of one kind, scored by one measure."""

    measure: str
    n_rows: int
    n_columns: int
    correlation: float
    repeats: int


def mean_score(task: ScoreTask) -> dict[str, Any]:
    """Return the mean score of normal columns: independent, or a pair with a correlation."""
    key = task.n_rows, task.n_columns, repr(task.correlation), "score"
    scores, correlations = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seed_sequence(*key).spawn(task.repeats):
            table = np.random.default_rng(seed).standard_normal((task.n_rows, task.n_columns))
            residual = math.sqrt(1 - task.correlation**2)
            table[:, 1] = task.correlation * table[:, 0] + residual * table[:, 1]
            if not scores:  # The first call may compile kernels. It is not timed.
                covary.score(table, measure=task.measure)
            start = time.perf_counter()
            scores.append(covary.score(table, measure=task.measure))
            seconds = time.perf_counter() - start
            if seconds > PATIENCE_SECONDS:
                return {**task._asdict(), "mean": f"skipped: {seconds:.0f} s per call"}
            correlations.append(np.corrcoef(table[:, 0], table[:, 1])[0, 1])
    return {
        **task._asdict(),
        "mean": float(np.mean(scores)),
        "largest": max(scores),
        "mean_size_of_r": float(np.mean(np.abs(correlations))),
        "mean_r_squared": float(np.mean(np.square(correlations))),
    }


def null_tasks(plan: PowerPlan, measures: Sequence[str]) -> list[ScoreTask]:
    """Return the tasks for independent columns, by measure and size."""
    return [
        ScoreTask(measure, n_rows, n_columns, 0.0, plan.score_repeats)
        for measure in measures
        for n_columns in plan.null_columns
        for n_rows in plan.null_rows
    ]


def correlation_tasks(plan: PowerPlan, measures: Sequence[str]) -> list[ScoreTask]:
    """Return the tasks for normal pairs, by measure and correlation."""
    return [
        ScoreTask(measure, plan.correlation_rows, 2, correlation, plan.score_repeats)
        for measure in measures
        for correlation in CORRELATIONS
    ]


# ------------------------------------------------------------ the study


@dataclass
class PowerStudy:
    """Runs the parts of the study and keeps their results.

    Parameters
    ----------
    plan : the size of the study
    methods : the methods to compare
    jobs : number of processes
    progress : receives the description of the current task and the remaining time
    results : the results by part
    """

    plan: PowerPlan
    methods: list[Method]
    jobs: int
    progress: Progress
    results: dict[str, Results] = field(default_factory=dict)

    def run(self, parts: Sequence[str]) -> None:
        """Compute these parts."""
        names = [method.name for method in self.methods]
        measures = [name for name in MEASURES if name in names]
        if "power" in parts:
            tasks = power_tasks(self.plan, self.methods)
            self.progress("power: timing one call of each method")
            call_seconds: dict[tuple[str, str, int], float] = {}
            costs = [estimated_seconds(task, call_seconds) for task in tasks]
            self.results["power"] = self.run_tasks("power", power_of, tasks, costs)
        if "null" in parts:
            score_tasks = null_tasks(self.plan, measures)
            costs = [float(task.n_rows * task.n_columns**2) for task in score_tasks]
            self.results["null"] = self.run_tasks("null", mean_score, score_tasks, costs)
        if "correlation" in parts:
            score_tasks = correlation_tasks(self.plan, measures)
            costs = [1.0] * len(score_tasks)
            part = "correlation"
            self.results[part] = self.run_tasks(part, mean_score, score_tasks, costs)
        if "time" in parts:
            self.results["time"] = self.times()

    def run_tasks(
        self,
        part: str,
        function: Callable[[Any], dict[str, Any]],
        tasks: Sequence[Any],
        costs: list[float],
    ) -> Results:
        """Return the results in the order of the tasks; report the remaining time."""
        results: Results = [{}] * len(tasks)
        start = time.perf_counter()
        done = 0.0
        for position, result in self.completed(function, tasks):
            results[position] = result
            done += costs[position]
            remaining = (time.perf_counter() - start) * (sum(costs) - done) / done
            label = " ".join(str(each) for each in tasks[position][:4])
            self.progress(f"{part}: {label}; {format_minutes(remaining)} remaining")
        return results

    def completed(
        self, function: Callable[[Any], dict[str, Any]], tasks: Sequence[Any]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield position and result of each completed task."""
        if self.jobs == 1:
            for position, task in enumerate(tasks):
                yield position, function(task)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=context) as pool:
            positions = {pool.submit(function, task): at for at, task in enumerate(tasks)}
            for future in as_completed(positions):
                yield positions[future], future.result()

    def times(self) -> Results:
        """Return the time of one call of each method, on a noisy circle."""
        rows: Results = []
        for method in self.methods:
            row: dict[str, Any] = {"method": method.name}
            for n_rows in self.plan.time_rows:
                self.progress(f"time: {method.name}, {n_rows} rows")
                table = next(dependent_tables(shape_named("circle"), "normal", n_rows, 1))
                call = partial(statistic_of(method.name, "pairs"), table)
                with threadpool_limits(1):
                    row[f"seconds_{n_rows}"] = best_time(call, 0.3, 2, patience=1.0).seconds
            rows.append(row)
        for row in rows:
            for n_rows in self.plan.time_rows if rows[0]["method"] == "uds-chance" else ():
                row[f"ratio_{n_rows}"] = row[f"seconds_{n_rows}"] / rows[0][f"seconds_{n_rows}"]
        return rows


def format_minutes(seconds: float) -> str:
    """Return a duration in seconds or minutes.

    Examples
    --------
    >>> format_minutes(90)
    '2 min'
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
