"""How often covary and its peers find a dependence that is there, at the 5 % level: power by
shape, noise and number of rows. And what the scores themselves say: of columns that know nothing
of each other, and of normal pairs by their correlation. One thread.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.markup import escape
from threadpoolctl import threadpool_limits

import covary
from benchmarks.machine import describe_machine, one_line
from benchmarks.power_peers import ALL_COLUMNS, METHODS, Array, Method, Statistic, apply
from benchmarks.report import Column, Table, as_number, as_ratio, in_seconds
from benchmarks.shapes import GROUPS, LEVELS, NORMAL_LEVELS, SHAPES, Shape
from benchmarks.timing import Progress, best_time

Results = list[dict[str, Any]]
Task = Callable[[Any], dict[str, Any]]

SEED = 20160505
LEVEL = 0.05
SHOWN_ROWS = 300
BOOTSTRAPS = 400
MEASURES = ("uds-chance", "uds", "uds-unregularized")
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
PARTS = {
    "power": "share of data sets in which a dependence is found",
    "null": "mean score of independent columns",
    "correlation": "mean score of a normal pair, by its correlation",
    "time": "time of one call",
}
# A score of independent columns that takes longer is left out.
PATIENCE_SECONDS = 2.0
NO_MIC = {
    "method": "MIC",
    "about": "maximal information coefficient",
    "remark": "left out: minepy does not build on Python 3.11 or later, mictools needs it",
}


@dataclass(frozen=True)
class Plan:
    """How much is computed.

    Parameters
    ----------
    rows : numbers of rows for power
    shapes : names of the shapes for power
    levels : levels of noise
    repeats : numbers of dependent and of permuted data sets
    slow_repeats, slow_rows : the same, and numbers of rows, for methods that take long
    score_repeats : data sets for each mean score
    null_rows, null_columns : sizes of the tables with independent columns
    correlation_rows : rows of the normal pairs
    time_rows : rows of the pairs whose time is taken
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


QUICK = Plan(
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


class Cell(NamedTuple):
    """One method on one shape with so much noise and so many rows."""

    method: str
    shape: str
    level: str
    n_rows: int
    n_data: int
    n_null: int


def seeds(*key: str | int) -> np.random.SeedSequence:
    """Return the seeds of one part of the study, whatever else is run and in which order."""
    numbers = [crc32(part.encode()) if isinstance(part, str) else part for part in key]
    return np.random.SeedSequence([SEED, *numbers])


def data_sets(shape: Shape, level: str, n_rows: int, n_data: int) -> Iterator[Array]:
    """Yield tables; the first ones are the same however many are asked for."""
    for seed in seeds(shape.name, level, n_rows, "data").spawn(n_data):
        yield shape.draw(np.random.default_rng(seed), n_rows, shape.noise(level))


def null_sets(shape: Shape, level: str, n_rows: int, n_null: int) -> Iterator[Array]:
    """Yield tables from the same generator with every column permuted on its own."""
    for seed in seeds(shape.name, level, n_rows, "null").spawn(n_null):
        random = np.random.default_rng(seed)
        yield random.permuted(shape.draw(random, n_rows, shape.noise(level)), axis=0)


def critical_value(null: Sequence[float]) -> float:
    """Return what a statistic must exceed for its permutation p-value to be at most the level."""
    return sorted(null)[-rank_of_critical(len(null))]


def rank_of_critical(n_null: int) -> int:
    """Return at which place, from the top, the critical value is among the permuted data sets."""
    return math.floor(LEVEL * (n_null + 1))


@cache
def loaded(name: str) -> Statistic:
    """Return the statistic of a method."""
    return method_named(name).load()


def method_named(name: str) -> Method:
    """Return a method."""
    return next(method for method in METHODS if method.name == name)


def shape_named(name: str) -> Shape:
    """Return a shape."""
    return next(shape for shape in SHAPES if shape.name == name)


def statistic_of(method: str, group: str) -> Callable[[Array], float]:
    """Return the function from tables of a group of shapes to the statistic of a method."""
    given = method_named(method).given.get(group, ALL_COLUMNS)
    return partial(apply, loaded(method), given=given)


def power_of(cell: Cell) -> dict[str, Any]:
    """Return the share of data sets whose statistic is above the critical value."""
    shape = shape_named(cell.shape)
    statistic = statistic_of(cell.method, shape.group)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        null = [statistic(t) for t in null_sets(shape, cell.level, cell.n_rows, cell.n_null)]
        found = [statistic(t) for t in data_sets(shape, cell.level, cell.n_rows, cell.n_data)]
    return {
        "method": cell.method,
        "shape": shape.name,
        "group": shape.group,
        "rows": cell.n_rows,
        "level": cell.level,
        "noise": shape.noise(cell.level).scale,
        "data_sets": cell.n_data,
        "null_sets": cell.n_null,
        "power": float(np.mean(np.array(found) > critical_value(null))),
        "found": found,
        "null": null,
    }


def power_cells(plan: Plan, methods: Sequence[Method]) -> list[Cell]:
    """Return what is to be computed, methods side by side on the same data."""
    cells = []
    for n_rows in plan.rows:
        for shape in map(shape_named, plan.shapes):
            for level in plan.levels:
                for method in methods:
                    if n_rows > method.most_rows or shape.group not in method.given:
                        continue
                    if method.slow and n_rows not in plan.slow_rows:
                        continue
                    slow = method.slow or n_rows >= method.slow_from.get(shape.group, math.inf)
                    repeats = plan.slow_repeats if slow else plan.repeats
                    cells.append(Cell(method.name, shape.name, level, n_rows, *repeats))
    return cells


def seconds_of(cell: Cell, known: dict[tuple[str, str, int], float]) -> float:
    """Return about how long a cell takes, from one call for each method, group and size."""
    shape = shape_named(cell.shape)
    key = cell.method, shape.group, cell.n_rows
    if key not in known:
        statistic = statistic_of(cell.method, shape.group)
        sizes = 100, cell.n_rows
        small, table = (next(data_sets(shape, cell.level, n_rows, 1)) for n_rows in sizes)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statistic(small)
            begun = time.perf_counter()
            statistic(table)
        known[key] = time.perf_counter() - begun
    return known[key] * (cell.n_data + cell.n_null)


# ------------------------------------------------------------ scores


class Score(NamedTuple):
    """Data sets of one kind, to be scored by one measure."""

    measure: str
    n_rows: int
    n_columns: int
    correlation: float
    repeats: int


def mean_score(task: Score) -> dict[str, Any]:
    """Return the mean score of normal columns: independent, or a pair with a correlation."""
    key = task.n_rows, task.n_columns, repr(task.correlation), "score"
    scores, correlations = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds(*key).spawn(task.repeats):
            table = np.random.default_rng(seed).standard_normal((task.n_rows, task.n_columns))
            own = math.sqrt(1 - task.correlation**2)
            table[:, 1] = task.correlation * table[:, 0] + own * table[:, 1]
            if not scores:  # The first call may compile, which does not count.
                covary.score(table, measure=task.measure)
            begun = time.perf_counter()
            scores.append(covary.score(table, measure=task.measure))
            seconds = time.perf_counter() - begun
            if seconds > PATIENCE_SECONDS:
                return {**task._asdict(), "mean": f"left out: {seconds:.0f} s a call"}
            correlations.append(np.corrcoef(table[:, 0], table[:, 1])[0, 1])
    return {
        **task._asdict(),
        "mean": float(np.mean(scores)),
        "largest": max(scores),
        "mean_size_of_r": float(np.mean(np.abs(correlations))),
        "mean_r_squared": float(np.mean(np.square(correlations))),
    }


def null_tasks(plan: Plan, measures: Sequence[str]) -> list[Score]:
    """Return tables of independent columns, by size and measure."""
    return [
        Score(measure, n_rows, n_columns, 0.0, plan.score_repeats)
        for measure in measures
        for n_columns in plan.null_columns
        for n_rows in plan.null_rows
    ]


def correlation_tasks(plan: Plan, measures: Sequence[str]) -> list[Score]:
    """Return normal pairs, by correlation and measure."""
    return [
        Score(measure, plan.correlation_rows, 2, correlation, plan.score_repeats)
        for measure in measures
        for correlation in CORRELATIONS
    ]


# ------------------------------------------------------------ the study


@dataclass
class Study:
    """Everything that is computed, and how far it is.

    Parameters
    ----------
    plan : how much is computed
    methods : those that take part
    jobs : number of processes
    progress : told what is done and how long it will take
    """

    plan: Plan
    methods: list[Method]
    jobs: int
    progress: Progress
    found: dict[str, Results] = field(default_factory=dict)

    def run(self, parts: Sequence[str]) -> None:
        """Compute the parts that were asked for."""
        names = [method.name for method in self.methods]
        measures = [name for name in MEASURES if name in names]
        if "power" in parts:
            cells = power_cells(self.plan, self.methods)
            self.progress("power: one call each")
            known: dict[tuple[str, str, int], float] = {}
            costs = [seconds_of(cell, known) for cell in cells]
            self.found["power"] = self.work("power", power_of, cells, costs)
        if "null" in parts:
            tasks = null_tasks(self.plan, measures)
            costs = [float(task.n_rows * task.n_columns**2) for task in tasks]
            self.found["null"] = self.work("null", mean_score, tasks, costs)
        if "correlation" in parts:
            tasks = correlation_tasks(self.plan, measures)
            costs = [1.0] * len(tasks)
            self.found["correlation"] = self.work("correlation", mean_score, tasks, costs)
        if "time" in parts:
            self.found["time"] = self.times()

    def work(
        self,
        part: str,
        task: Callable[[Any], dict[str, Any]],
        items: list[Any],
        costs: list[float],
    ) -> Results:
        """Return the result of each item, in their order; tell how much time is left."""
        results: Results = [{}] * len(items)
        begun = time.perf_counter()
        done = 0.0
        for position, result in self.as_they_come(task, items):
            results[position] = result
            done += costs[position]
            left = (time.perf_counter() - begun) * (sum(costs) - done) / done
            at = " ".join(str(each) for each in items[position][:4])
            self.progress(f"{part}: {at}; {as_minutes(left)} left")
        return results

    def as_they_come(self, task: Task, items: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield position and result of the items, in one process or in several."""
        if self.jobs == 1:
            for position, item in enumerate(items):
                yield position, task(item)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=context) as pool:
            positions = {pool.submit(task, item): at for at, item in enumerate(items)}
            for future in as_completed(positions):
                yield positions[future], future.result()

    def times(self) -> Results:
        """Return the time of one call of each method, on a noisy circle."""
        rows: Results = []
        for method in self.methods:
            row: dict[str, Any] = {"method": method.name}
            for n_rows in self.plan.time_rows:
                self.progress(f"time: {method.name}, {n_rows} rows")
                table = next(data_sets(shape_named("circle"), "normal", n_rows, 1))
                call = partial(statistic_of(method.name, "pairs"), table)
                with threadpool_limits(1):
                    row[f"seconds_{n_rows}"] = best_time(call, 0.3, 2, patience=1.0).seconds
            rows.append(row)
        for row in rows:
            for n_rows in self.plan.time_rows if rows[0]["method"] == "uds-chance" else ():
                row[f"ratio_{n_rows}"] = row[f"seconds_{n_rows}"] / rows[0][f"seconds_{n_rows}"]
        return rows


def as_minutes(seconds: float) -> str:
    """Return how long that is, for people.

    Examples
    --------
    >>> as_minutes(90)
    '2 min'
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


# ------------------------------------------------------------ tables


def tables_of(study: Study, asked: Sequence[Method], levels: bool) -> list[Table]:
    """Return what was found as tables."""
    found = study.found
    tables = []
    if "power" in found:
        tables.append(methods_table(study, asked))
        tables += power_tables(found["power"], study.methods, levels)
    if "null" in found:
        tables.append(null_table(found["null"], study.plan))
    if "correlation" in found:
        tables.append(correlation_table(found["correlation"], study.plan))
    if "time" in found:
        tables.append(time_table(found["time"], study.plan))
    return tables


def power_tables(power: Results, methods: Sequence[Method], every_level: bool) -> list[Table]:
    """Return power by shape, level of noise and number of rows, and the differences."""
    normal = [cell for cell in power if cell["level"] in NORMAL_LEVELS]
    several = len({cell["level"] for cell in power}) > 1
    tables = [shapes_table(power, methods)]
    if several or every_level:
        tables.append(levels_table(power, methods, every_level))
    for chosen in (normal, power) if several else (power,):
        tables.append(means_table(chosen, methods))
        if len(methods) > 1:
            tables.append(differences_table(chosen, methods))
    return tables


def methods_table(study: Study, asked: Sequence[Method]) -> Table:
    """Return what each method is, and what it is given."""
    rows: Results = []
    for method in asked:
        row = {"method": method.name, "about": method.about, **dict(method.given)}
        if method in study.methods:
            row["version"] = f"{method.package} {metadata.version(method.package)}"
            cells = [cell for cell in study.found["power"] if cell["method"] == method.name]
            counts = sorted({(cell["data_sets"], cell["null_sets"]) for cell in cells})
            row["repeats"] = ", ".join(f"{data} / {null}" for data, null in counts)
        else:
            row["remark"] = method.unavailable()
        rows.append(row)
    if len(asked) == len(METHODS):
        rows.append(NO_MIC)
    columns = [
        Column("method", "method"),
        Column("about", "statistic"),
        Column("version", "version"),
        Column("triples", "given three columns"),
        Column("sets", "given five columns"),
        Column("repeats", "data sets / permuted"),
        Column("remark", "remark"),
    ]
    note = "Told which column is the last one, a method knows more than those that are not."
    return Table("Methods", columns, rows, note)


def shapes_table(power: Results, methods: Sequence[Method]) -> Table:
    """Return power by shape, the mean over levels of noise."""
    n_rows = shown_rows(power)
    rows = []
    for name, where in lines(power):
        each = {m.name: mean_power(power, m, rows=n_rows, **where) for m in methods}
        rows.append({"shape": name, **each})
    columns = [Column("shape", "shape"), *method_columns(methods)]
    title = f"Power at the 5 % level, {n_rows} rows, mean over {levels_of(power)}"
    return Table(title, columns, rows)


def levels_table(power: Results, methods: Sequence[Method], every: bool) -> Table:
    """Return power by level of noise, and by shape if every one is asked for."""
    n_rows = shown_rows(power)
    rows = []
    for name, where in lines(power):
        for level in LEVELS if every or "shape" not in where else ():
            row: dict[str, Any] = {"shape": name, "level": level}
            if "shape" in where:
                row["noise"] = shape_named(name).noise(level).scale
            for method in methods:
                row[method.name] = mean_power(power, method, rows=n_rows, level=level, **where)
            rows.append(row)
    columns = [Column("shape", "shape"), Column("level", "noise"), *method_columns(methods)]
    if every:
        columns.insert(2, Column("noise", "scale", as_number(2)))
    return Table(f"Power at the 5 % level, {n_rows} rows, by level of noise", columns, rows)


def means_table(power: Results, methods: Sequence[Method]) -> Table:
    """Return power by group of shapes and number of rows."""
    rows = []
    for name, where in lines(power):
        for n_rows in sorted({cell["rows"] for cell in power}) if "shape" not in where else ():
            row: dict[str, Any] = {"group": name, "rows": n_rows}
            for method in methods:
                row[method.name] = mean_power(power, method, rows=n_rows, **where)
            rows.append(row)
    columns = [Column("group", "shapes"), Column("rows", "rows"), *method_columns(methods)]
    return Table(f"Power at the 5 % level, mean over {levels_of(power)}", columns, rows)


def differences_table(power: Results, methods: Sequence[Method]) -> Table:
    """Return the power of the first method less that of each other, with standard errors."""
    n_rows = shown_rows(power)
    first, *others = methods
    rows = []
    for name, where in lines(power):
        row: dict[str, Any] = {"shape": name}
        for method in others:
            row[method.name] = difference(power, first, method, rows=n_rows, **where)
        rows.append(row)
    columns = [Column("shape", f"{first.name} less"), *method_columns(others, as_difference)]
    title = f"Differences of power, {n_rows} rows, mean over {levels_of(power)}"
    note = "± standard error, from drawing data sets again, dependent and permuted."
    return Table(title, columns, rows, note)


def as_difference(value: tuple[float, float]) -> str:
    """Return a difference and its standard error.

    Examples
    --------
    >>> as_difference((0.123, 0.0456))
    '+.12 ±.05'
    """
    mean, error = value
    return f"{mean:+.2f} ±{error:.2f}".replace("0.", ".")


def lines(power: Results) -> list[tuple[str, dict[str, str]]]:
    """Return names of lines of a table, and which cells go into each: shapes, groups, all."""
    shapes = [shape for shape in SHAPES if any(cell["shape"] == shape.name for cell in power)]
    groups = [group for group in GROUPS if any(shape.group == group for shape in shapes)]
    return [
        *((shape.name, {"shape": shape.name}) for shape in shapes),
        *((f"all {group}", {"group": group}) for group in groups),
        *([("all shapes", {})] if len(groups) > 1 else []),
    ]


def levels_of(power: Results) -> str:
    """Return which levels of noise there are, in words."""
    levels = [level for level in LEVELS if any(cell["level"] == level for cell in power)]
    if len(levels) == 1:
        return f"one level of noise ({levels[0]})"
    return "two levels of normal noise" if levels == [*NORMAL_LEVELS] else "three levels of noise"


def method_columns(
    methods: Sequence[Method], written: Callable[[Any], str] | None = None
) -> list[Column]:
    """Return one column for each method, headed by its name."""
    written = written or as_number(2)
    return [Column(method.name, method.name.replace("-", "- "), written) for method in methods]


def shown_rows(power: Results) -> int:
    """Return the number of rows that is told by shape."""
    sizes = {cell["rows"] for cell in power}
    return SHOWN_ROWS if SHOWN_ROWS in sizes else max(sizes)


def cells_of(power: Results, method: Method, **where: object) -> dict[tuple[str, str], Any]:
    """Return the cells of a method that are asked for, by shape and noise; none if one lacks."""
    asked = [cell for cell in power if all(cell[key] == value for key, value in where.items())]
    own = {(cell["shape"], cell["level"]): cell for cell in asked if cell["method"] == method.name}
    return own if own.keys() == {(cell["shape"], cell["level"]) for cell in asked} else {}


def mean_power(power: Results, method: Method, **where: object) -> float | None:
    """Return the mean power of a method over what is asked for; None if it lacks any of it."""
    cells = cells_of(power, method, **where)
    return float(np.mean([cell["power"] for cell in cells.values()])) if cells else None


def difference(
    power: Results, one: Method, other: Method, **where: object
) -> tuple[float, float] | None:
    """Return how much more power a method has, in the mean, and the standard error of that."""
    cells, peers = (cells_of(power, method, **where) for method in (one, other))
    if not cells or not peers:
        return None
    each = [cells[place]["power"] - peers[place]["power"] for place in cells]
    variances = [variance_of_difference(cells[place], peers[place]) for place in cells]
    return float(np.mean(each)), math.sqrt(sum(variances)) / len(each)


def variance_of_difference(cell: dict[str, Any], peer: dict[str, Any]) -> float:
    """Return the variance of a difference of power, by the bootstrap.

    Both methods saw the same data sets, of which the slower one may have seen only the first.
    """
    random = np.random.default_rng(seeds(cell["shape"], cell["level"], "bootstrap"))
    picks = {}
    for kind in ("found", "null"):
        bounds = [0, *sorted({len(cell[kind]), len(peer[kind])})]
        parts = [
            random.integers(*ends, (BOOTSTRAPS, ends[1] - ends[0])) for ends in pairwise(bounds)
        ]
        picks[kind] = np.hstack(parts)
    powers = []
    for one in (cell, peer):
        found, null = (
            np.array(one[kind])[chosen[:, : len(one[kind])]] for kind, chosen in picks.items()
        )
        critical = np.sort(null, axis=1)[:, -rank_of_critical(null.shape[1])]
        powers.append(np.mean(found > critical[:, None], axis=1))
    return float(np.var(powers[0] - powers[1]))


def null_table(null: Results, plan: Plan) -> Table:
    """Return mean scores of independent columns, by measure and size."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for result in null:
        key = result["measure"], result["n_columns"]
        row = rows.setdefault(key, {"measure": key[0], "columns": key[1]})
        row[f"rows_{result['n_rows']}"] = result["mean"]
    columns = [Column("measure", "measure"), Column("columns", "columns")]
    columns += [
        Column(f"rows_{n_rows}", f"{n_rows} rows", as_number(4)) for n_rows in plan.null_rows
    ]
    title = "Mean score of independent normal columns"
    note = f"Means of {plan.score_repeats} data sets; 0 is right."
    return Table(title, columns, list(rows.values()), note)


def correlation_table(scores: Results, plan: Plan) -> Table:
    """Return mean scores of normal pairs, by correlation and measure."""
    rows: dict[float, dict[str, Any]] = {}
    for result in scores:
        first = {
            "correlation": result["correlation"],
            "r": result["mean_size_of_r"],
            "r_squared": result["mean_r_squared"],
        }
        rows.setdefault(result["correlation"], first)[result["measure"]] = result["mean"]
    columns = [Column("correlation", "correlation", as_number(2))]
    columns += [
        Column(measure, measure, as_number(4))
        for measure in MEASURES
        if any(measure in row for row in rows.values())
    ]
    columns += [Column("r", "|r|", as_number(4)), Column("r_squared", "r^2", as_number(4))]
    title = f"Mean score of a normal pair, {plan.correlation_rows} rows"
    note = f"Means of {plan.score_repeats} data sets."
    return Table(title, columns, list(rows.values()), note)


def time_table(times: Results, plan: Plan) -> Table:
    """Return times and ratios to uds-chance."""
    columns = [Column("method", "method")]
    for n_rows in plan.time_rows:
        columns.append(Column(f"seconds_{n_rows}", f"{n_rows} x 2", in_seconds))
        columns.append(Column(f"ratio_{n_rows}", "to uds-chance", as_ratio))
    return Table("Time of one call", columns, times, "Minimum over a few calls, one thread.")


# ------------------------------------------------------------ command line


def main() -> int:
    """Run the study and print it; return the exit code."""
    arguments = parse()
    console = Console(width=None if sys.stdout.isatty() else 150)
    machine = describe_machine()
    plan = QUICK if arguments.quick else Plan()
    if arguments.rows:
        plan = replace(plan, rows=tuple(arguments.rows), slow_rows=tuple(arguments.rows))
    if arguments.shape:
        plan = replace(plan, shapes=tuple(arguments.shape))
    asked = [m for m in METHODS if not arguments.only or m.name in arguments.only]
    console.print(escape(inspect.cleandoc(__doc__ or "")), highlight=False)
    console.print(escape(one_line(machine)), style="dim", highlight=False)
    console.print()
    with Progress("power study") as progress:
        progress("loading")
        available = [method for method in asked if not method.unavailable()]
        study = Study(plan, available, arguments.jobs, progress)
        study.run(arguments.part or list(PARTS))
    tables = tables_of(study, asked, arguments.levels)
    for table in tables:
        console.print(table.as_text(), highlight=False)
    console.print(f"{as_minutes(progress.seconds)} in all", style="dim", highlight=False)
    if arguments.json:
        written = {
            "machine": machine,
            "seed": SEED,
            "quick": arguments.quick,
            "seconds": progress.seconds,
            **study.found,
            "tables": [table.as_json() for table in tables],
        }
        text = json.dumps(written, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    if arguments.figure:
        from benchmarks.power_figure import draw

        draw(study.found, arguments.figure)
    return 0


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    listed = "\n".join(f"  {name:13}{about}" for name, about in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.power",
        description="Compare how often covary and others find what is there. About 25 minutes.",
        epilog=f"parts:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [method.name for method in METHODS]
    parser.add_argument("--quick", action="store_true", help="fewer data sets, under a minute")
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="METHOD",
        help=f"run this method alone; may be given again. One of {', '.join(names)}",
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        metavar="PART",
        help="run this part alone; may be given again",
    )
    parser.add_argument(
        "--rows",
        action="append",
        type=int,
        metavar="N",
        help="number of rows for power; may be given again",
    )
    parser.add_argument(
        "--shape",
        action="append",
        choices=[shape.name for shape in SHAPES],
        metavar="SHAPE",
        help="this shape alone for power; may be given again",
    )
    parser.add_argument(
        "--levels", action="store_true", help="tell levels of noise apart by shape"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers as JSON too")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the figure")
    arguments = parser.parse_args()
    for path in (arguments.json, arguments.figure):
        if path and not path.absolute().parent.is_dir():
            parser.error(f"there is no folder to write {path} to")
    return arguments


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
