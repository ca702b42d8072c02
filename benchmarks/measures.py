"""Every registered measure: what it sees of the shapes of the power study with half their noise
(share of 100 tables of 300 rows found at the 5 % level, against 200 tables with permuted columns),
what it says of independent columns, whether units matter, and the time for a table of 4000 x 20.
One thread. Measures of pairs take the largest over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import covary
from benchmarks.data import make_table
from benchmarks.power import critical_value, seeds, shape_named
from benchmarks.report import Column, Table, as_number, in_seconds
from benchmarks.shapes import Array, Noise, Shape
from benchmarks.timing import Progress, best_time
from covary.measures import Measure, all_measures, find_measure

ROWS = 300
# What the columns of the table stand for: shapes of the power study.
SEEN = {
    "monotone": ("linear", "step"),
    "curves": ("quadratic", "W", "sine, 4 periods"),
    "no function": ("circle", "checkerboard"),
    "interplay": ("product of two", "XOR"),
}
NULLS = {"null_pair": (300, 2), "null_five": (1000, 5)}
TIMED = (4000, 20)
# Longer calls are timed for one pair of columns only.
PATIENCE_SECONDS = 20.0


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return what there is to know before choosing a measure."""
    repeats = (20, 40) if quick else (100, 200)
    timed = (1000, 5) if quick else TIMED
    rows = []
    with threadpool_limits(1):
        for name, entry in all_measures().items():
            measure = of_any_number(name)
            row: dict[str, Any] = {"measure": name, "range": entry.range}
            row["units"] = "free" if is_unit_free(measure) else "matter"
            row["columns"] = "any" if find_measure(name).most_columns is None else "pairs"
            for seen, shapes in SEEN.items():
                progress(f"{name}, {seen}")
                powers = [power(measure, shape_named(shape), *repeats) for shape in shapes]
                row[seen] = float(np.mean(powers))
            for key, size in NULLS.items():
                progress(f"{name}, independent columns")
                row[key] = mean_if_independent(measure, *size, 3 if quick else 20)
            progress(f"{name}, time")
            row["seconds"] = time_of(measure, *timed)
            rows.append(row)
    name_column = Column("measure", "measure")
    seen_columns = [Column(seen, seen, as_number(2)) for seen in SEEN]
    told_columns = [
        Column("range", "range"),
        Column("units", "units"),
        Column("columns", "columns"),
        *(Column(key, f"null, {n} x {d}", as_number(3)) for key, (n, d) in NULLS.items()),
        Column("seconds", "time", in_seconds),
    ]
    note = (
        "Null: mean score of independent normal columns. Time: of {} x {}, the least of a few "
        "calls; 'about' is the time of one pair, times all pairs.".format(*timed)
    )
    return [
        Table("What measures see", [name_column, *seen_columns], rows),
        Table("What to know of them", [name_column, *told_columns], rows, note),
    ]


def of_any_number(name: str) -> Measure:
    """Return a measure that takes any number of columns."""
    measure = find_measure(name)
    return measure if measure.most_columns is None else find_measure(name, aggregate="max")


def is_unit_free(measure: Measure) -> bool:
    """Return whether the score of dependent columns stays the same in other units."""
    table = make_table("dependent", 200, 3)
    found = measure.score(table * [1.0, 1e3, 1e-3] + [0.0, 5.0, 1.0])
    return math.isclose(measure.score(table), found, rel_tol=1e-6, abs_tol=1e-9)


def power(measure: Measure, shape: Shape, n_data: int, n_null: int) -> float:
    """Return the share of tables in which a dependence is found."""
    noise = Noise(shape.noise("normal").scale / 2)
    statistic: Callable[[Array], float] = partial(covary.evidence, measure=measure)
    null = [statistic(t) for t in islice(tables(shape, noise, permuted=True), n_null)]
    found = [statistic(t) for t in islice(tables(shape, noise, permuted=False), n_data)]
    return float(np.mean(np.array(found) > critical_value(null)))


def tables(shape: Shape, noise: Noise, permuted: bool) -> Any:
    """Yield tables of a shape, their columns permuted or not."""
    for number in range(10**6):
        random = np.random.default_rng(seeds(shape.name, "half", int(permuted), number))
        table = shape.draw(random, ROWS, noise)
        yield random.permuted(table, axis=0) if permuted else table


def mean_if_independent(measure: Measure, n_rows: int, n_columns: int, n_data: int) -> float:
    """Return the mean score of independent normal columns."""
    generators = map(np.random.default_rng, seeds("independent", n_rows, n_columns).spawn(n_data))
    draws: Sequence[Array] = [g.standard_normal((n_rows, n_columns)) for g in generators]
    return float(np.mean([measure.score(table) for table in draws]))


def time_of(measure: Measure, n_rows: int, n_columns: int) -> float | str:
    """Return the seconds of one call, in words if it would take too long to find out."""
    table = make_table("dependent", n_rows, n_columns)
    pair = best_time(partial(measure.score, table[:, :2]), budget=0.2, patience=1.0).seconds
    n_pairs = math.comb(n_columns, 2) if hasattr(measure, "aggregate") else 1
    if pair * n_pairs > PATIENCE_SECONDS:
        return f"about {in_seconds(pair * n_pairs)}"
    return best_time(partial(measure.score, table), budget=0.5, patience=2.0).seconds
