"""The printed tables of the power study."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import metadata
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.power_methods import METHODS, Method
from benchmarks.power_shapes import GROUPS, LEVELS, NORMAL_LEVELS, SHAPES
from benchmarks.power_study import (
    MEASURES,
    SHOWN_ROWS,
    PowerPlan,
    PowerStudy,
    Results,
    critical_rank,
    seed_sequence,
    shape_named,
)
from benchmarks.result_tables import (
    BenchmarkColumn,
    BenchmarkTable,
    decimals,
    format_ratio,
    format_seconds,
)

BOOTSTRAPS = 400
NO_MIC = {
    "method": "MIC",
    "about": "maximal information coefficient",
    "remark": "not included: minepy does not build on Python 3.11 or later, mictools needs it",
}


def study_tables(
    study: PowerStudy, requested: Sequence[Method], every_level: bool
) -> list[BenchmarkTable]:
    """Return the results of the study as tables.

    Parameters
    ----------
    study : a study that has run
    requested : the requested methods; the study has those that are available
    every_level : whether to show each level of noise by shape
    """
    results = study.results
    tables = []
    if "power" in results:
        tables.append(methods_table(study, requested))
        tables += power_tables(results["power"], study.methods, every_level)
    if "null" in results:
        tables.append(null_table(results["null"], study.plan))
    if "correlation" in results:
        tables.append(correlation_table(results["correlation"], study.plan))
    if "time" in results:
        tables.append(time_table(results["time"], study.plan))
    return tables


def power_tables(
    power: Results, methods: Sequence[Method], every_level: bool
) -> list[BenchmarkTable]:
    """Return power by shape, level of noise and number of rows, and the differences."""
    normal = [result for result in power if result["level"] in NORMAL_LEVELS]
    several_levels = len({result["level"] for result in power}) > 1
    tables = [shapes_table(power, methods)]
    if several_levels or every_level:
        tables.append(levels_table(power, methods, every_level))
    for selected in (normal, power) if several_levels else (power,):
        tables.append(rows_table(selected, methods))
        if len(methods) > 1:
            tables.append(differences_table(selected, methods))
    return tables


# ------------------------------------------------------------ power


def methods_table(study: PowerStudy, requested: Sequence[Method]) -> BenchmarkTable:
    """Return a description of each method."""
    rows: Results = []
    for method in requested:
        row = {"method": method.name, "about": method.about, **dict(method.inputs)}
        if method in study.methods:
            row["version"] = f"{method.package} {metadata.version(method.package)}"
            own = [result for result in study.results["power"] if result["method"] == method.name]
            counts = sorted({(result["data_sets"], result["null_sets"]) for result in own})
            row["repeats"] = ", ".join(f"{data} / {null}" for data, null in counts)
        else:
            row["remark"] = method.unavailable()
        rows.append(row)
    if len(requested) == len(METHODS):
        rows.append(NO_MIC)
    columns = [
        BenchmarkColumn("method", "method"),
        BenchmarkColumn("about", "statistic"),
        BenchmarkColumn("version", "version"),
        BenchmarkColumn("triples", "with three columns"),
        BenchmarkColumn("sets", "with five columns"),
        BenchmarkColumn("repeats", "tables / permuted tables"),
        BenchmarkColumn("remark", "remark"),
    ]
    note = (
        "'last column against the others': the method knows which column is computed from the "
        "others. 'all columns together': it does not know."
    )
    return BenchmarkTable("Methods", columns, rows, note)


def shapes_table(power: Results, methods: Sequence[Method]) -> BenchmarkTable:
    """Return power by shape, averaged over levels of noise."""
    n_rows = shown_rows(power)
    rows = []
    for name, filters in table_rows(power):
        means = {m.name: mean_power(power, m, rows=n_rows, **filters) for m in methods}
        rows.append({"shape": name, **means})
    columns = [BenchmarkColumn("shape", "shape"), *method_columns(methods)]
    title = f"Power at the 5 % level, {n_rows} rows, mean over {describe_levels(power)}"
    return BenchmarkTable(title, columns, rows)


def levels_table(power: Results, methods: Sequence[Method], every_shape: bool) -> BenchmarkTable:
    """Return power by level of noise, for each group of shapes or for every shape."""
    n_rows = shown_rows(power)
    rows = []
    for name, filters in table_rows(power):
        for level in LEVELS if every_shape or "shape" not in filters else ():
            row: dict[str, Any] = {"shape": name, "level": level}
            if "shape" in filters:
                row["noise"] = shape_named(name).noise(level).scale
            for method in methods:
                row[method.name] = mean_power(power, method, rows=n_rows, level=level, **filters)
            rows.append(row)
    columns = [
        BenchmarkColumn("shape", "shape"),
        BenchmarkColumn("level", "noise"),
        *method_columns(methods),
    ]
    if every_shape:
        columns.insert(2, BenchmarkColumn("noise", "scale", decimals(2)))
    title = f"Power at the 5 % level, {n_rows} rows, by level of noise"
    return BenchmarkTable(title, columns, rows)


def rows_table(power: Results, methods: Sequence[Method]) -> BenchmarkTable:
    """Return power by group of shapes and number of rows."""
    rows = []
    sizes = sorted({result["rows"] for result in power})
    for name, filters in table_rows(power):
        for n_rows in sizes if "shape" not in filters else ():
            row: dict[str, Any] = {"group": name, "rows": n_rows}
            for method in methods:
                row[method.name] = mean_power(power, method, rows=n_rows, **filters)
            rows.append(row)
    columns = [
        BenchmarkColumn("group", "shapes"),
        BenchmarkColumn("rows", "rows"),
        *method_columns(methods),
    ]
    title = f"Power at the 5 % level, mean over {describe_levels(power)}"
    return BenchmarkTable(title, columns, rows)


def differences_table(power: Results, methods: Sequence[Method]) -> BenchmarkTable:
    """Return the power of the first method minus that of each other, with standard errors."""
    n_rows = shown_rows(power)
    first, *others = methods
    rows = []
    for name, filters in table_rows(power):
        row: dict[str, Any] = {"shape": name}
        for method in others:
            row[method.name] = difference(power, first, method, rows=n_rows, **filters)
        rows.append(row)
    columns = [
        BenchmarkColumn("shape", f"{first.name} minus"),
        *method_columns(others, format_difference),
    ]
    title = f"Differences of power, {n_rows} rows, mean over {describe_levels(power)}"
    note = "± standard error, from a bootstrap of the dependent and the permuted tables."
    return BenchmarkTable(title, columns, rows, note)


def format_difference(value: tuple[float, float]) -> str:
    """Return a difference and its standard error as text.

    Examples
    --------
    >>> format_difference((0.123, 0.0456))
    '+.12 ±.05'
    """
    mean, error = value
    return f"{mean:+.2f} ±{error:.2f}".replace("0.", ".")


def table_rows(power: Results) -> list[tuple[str, dict[str, str]]]:
    """Return name and filter of each row of a table: shapes, groups of shapes, all shapes."""
    names = {result["shape"] for result in power}
    shapes = [shape for shape in SHAPES if shape.name in names]
    groups = [group for group in GROUPS if any(shape.group == group for shape in shapes)]
    return [
        *((shape.name, {"shape": shape.name}) for shape in shapes),
        *((f"all {group}", {"group": group}) for group in groups),
        *([("all shapes", {})] if len(groups) > 1 else []),
    ]


def describe_levels(power: Results) -> str:
    """Return the levels of noise in words."""
    levels = [level for level in LEVELS if any(result["level"] == level for result in power)]
    if len(levels) == 1:
        return f"one level of noise ({levels[0]})"
    return "two levels of normal noise" if levels == [*NORMAL_LEVELS] else "three levels of noise"


def method_columns(
    methods: Sequence[Method], format_value: Callable[[Any], str] | None = None
) -> list[BenchmarkColumn]:
    """Return one column for each method, with its name as heading."""
    format_value = format_value or decimals(2)
    return [
        BenchmarkColumn(method.name, method.name.replace("-", "- "), format_value)
        for method in methods
    ]


def shown_rows(power: Results) -> int:
    """Return the number of rows of the tables by shape."""
    sizes = {result["rows"] for result in power}
    return SHOWN_ROWS if SHOWN_ROWS in sizes else max(sizes)


def select(power: Results, method: Method, **filters: object) -> dict[tuple[str, str], Any]:
    """Return the results of a method by shape and level; empty if other methods have more."""
    selected = [
        result for result in power if all(result[key] == value for key, value in filters.items())
    ]
    own = {
        (result["shape"], result["level"]): result
        for result in selected
        if result["method"] == method.name
    }
    return own if own.keys() == {(each["shape"], each["level"]) for each in selected} else {}


def mean_power(power: Results, method: Method, **filters: object) -> float | None:
    """Return the mean power of a method; None if it has not all of the selected results."""
    selected = select(power, method, **filters)
    return float(np.mean([each["power"] for each in selected.values()])) if selected else None


def difference(
    power: Results, first: Method, second: Method, **filters: object
) -> tuple[float, float] | None:
    """Return the mean difference of the power of two methods, and its standard error."""
    ours, theirs = (select(power, method, **filters) for method in (first, second))
    if not ours or not theirs:
        return None
    differences = [ours[key]["power"] - theirs[key]["power"] for key in ours]
    variances = [variance_of_difference(ours[key], theirs[key]) for key in ours]
    return float(np.mean(differences)), math.sqrt(sum(variances)) / len(differences)


def variance_of_difference(first: dict[str, Any], second: dict[str, Any]) -> float:
    """Return the bootstrap variance of a difference of power.

    Both methods have the same tables. A slow method has only the first ones.
    """
    random = np.random.default_rng(seed_sequence(first["shape"], first["level"], "bootstrap"))
    picks = {}
    for kind in ("found", "null"):
        bounds = [0, *sorted({len(first[kind]), len(second[kind])})]
        parts = [
            random.integers(*ends, (BOOTSTRAPS, ends[1] - ends[0])) for ends in pairwise(bounds)
        ]
        picks[kind] = np.hstack(parts)
    powers = []
    for result in (first, second):
        observed, null = (
            np.array(result[kind])[chosen[:, : len(result[kind])]]
            for kind, chosen in picks.items()
        )
        critical = np.sort(null, axis=1)[:, -critical_rank(null.shape[1])]
        powers.append(np.mean(observed > critical[:, None], axis=1))
    return float(np.var(powers[0] - powers[1]))


# ------------------------------------------------------------ scores and times


def null_table(null: Results, plan: PowerPlan) -> BenchmarkTable:
    """Return mean scores of independent columns, by measure and size."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for result in null:
        key = result["measure"], result["n_columns"]
        row = rows.setdefault(key, {"measure": key[0], "columns": key[1]})
        row[f"rows_{result['n_rows']}"] = result["mean"]
    columns = [BenchmarkColumn("measure", "measure"), BenchmarkColumn("columns", "columns")]
    columns += [
        BenchmarkColumn(f"rows_{n_rows}", f"{n_rows} rows", decimals(4))
        for n_rows in plan.null_rows
    ]
    title = "Mean score of independent normal columns"
    note = f"Means of {plan.score_repeats} tables. The correct value is 0."
    return BenchmarkTable(title, columns, list(rows.values()), note)


def correlation_table(scores: Results, plan: PowerPlan) -> BenchmarkTable:
    """Return mean scores of normal pairs, by correlation and measure."""
    rows: dict[float, dict[str, Any]] = {}
    for result in scores:
        row = {
            "correlation": result["correlation"],
            "r": result["mean_size_of_r"],
            "r_squared": result["mean_r_squared"],
        }
        rows.setdefault(result["correlation"], row)[result["measure"]] = result["mean"]
    columns = [BenchmarkColumn("correlation", "correlation", decimals(2))]
    columns += [
        BenchmarkColumn(measure, measure, decimals(4))
        for measure in MEASURES
        if any(measure in row for row in rows.values())
    ]
    columns += [
        BenchmarkColumn("r", "|r|", decimals(4)),
        BenchmarkColumn("r_squared", "r^2", decimals(4)),
    ]
    title = f"Mean score of a normal pair, {plan.correlation_rows} rows"
    note = f"Means of {plan.score_repeats} tables."
    return BenchmarkTable(title, columns, list(rows.values()), note)


def time_table(times: Results, plan: PowerPlan) -> BenchmarkTable:
    """Return times, and ratios to the time of uds-chance."""
    columns = [BenchmarkColumn("method", "method")]
    for n_rows in plan.time_rows:
        columns.append(BenchmarkColumn(f"seconds_{n_rows}", f"{n_rows} x 2", format_seconds))
        columns.append(BenchmarkColumn(f"ratio_{n_rows}", "ratio to uds-chance", format_ratio))
    note = "Minimum over a few calls, one thread."
    return BenchmarkTable("Time of one call", columns, times, note)
