"""Appendix of the paper: runtime by the number of rows and of columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import covary
from covary.measures import Measure
from covary.measures.uds_chance.strengths import MAX_COLUMNS_WITH_PAIRS
from covary.reproduction.experiments.base import Experiment, Result, Results, Trial
from covary.reproduction.experiments.charts import Spec, line_chart, stacked
from covary.reproduction.experiments.findings import Findings, ResultTable, sorted_values
from covary.reproduction.experiments.methods import METHODS, configured_measure
from covary.reproduction.experiments.synthetic_tables import Design, related_table

ROWS, COLUMNS = 4000, 20
ROW_COUNTS = (1000, 2000, 4000, 8000, 16000, 32000)
COLUMN_COUNTS = (5, 10, 20, 40, 60, 80)
REPEATS = 3

# Numbers of rows and columns of a table.
Size = tuple[int, int]


@dataclass(frozen=True)
class Runtime(Experiment):
    """The shortest of several runtimes, for one table of each size and each method."""

    name: ClassVar[str] = "runtime"
    title: ClassVar[str] = "Runtime by rows and columns (appendix)"
    trial_group: ClassVar[str] = "runtime"
    sequential: ClassVar[bool] = True

    @property
    def sizes(self) -> tuple[list[Size], list[Size]]:
        """The sizes that vary the number of rows, and those that vary the number of columns."""
        if self.quick:
            return [(1000, 5), (2000, 5)], [(1000, 5), (1000, 10)]
        return (
            [(rows, COLUMNS) for rows in ROW_COUNTS],
            [(ROWS, columns) for columns in COLUMN_COUNTS],
        )

    def trials(self) -> list[Trial]:
        by_rows, by_columns = self.sizes
        sizes = sorted({*by_rows, *by_columns})
        return [("time", *size, method) for size in sizes for method in METHODS]

    def run(self, trial: Trial) -> Result:
        _, rows, columns, method = trial
        table = related_table(Design(rows, columns, "f2", 0.5, False), self.seed, 0)
        measure = configured_measure(method)
        covary.score(table[:100, :3], measure=measure)  # the first call compiles and imports
        return {"seconds": min(_seconds(table, measure) for _ in range(REPEATS))}

    def findings(self, results: Results) -> Findings:
        by_rows, by_columns = self.sizes
        # uds-chance ignores what pairs of columns explain in larger sets: another method.
        fitted = [size for size in by_columns if size[1] <= MAX_COLUMNS_WITH_PAIRS]
        row_exponents = {
            method: growth_exponent(
                [rows for rows, _ in by_rows], _times(results, by_rows, method)
            )
            for method in METHODS
        }
        column_exponents = {
            method: growth_exponent([n for _, n in fitted], _times(results, fitted, method))
            for method in METHODS
        }
        sentences = [
            "The paper reports that UDS is much faster than MAC, and about as fast as CMI and "
            f"HiCS. {_time_ratios(results, by_rows[-1])} {_time_ratios(results, fitted[-1])}",
            "The runtime grows with a power of the number of rows. The exponents are "
            f"{sorted_values(row_exponents, highest_first=False)}. It also grows with a power of "
            "the number of columns. The exponents are "
            f"{sorted_values(column_exponents, highest_first=False)}. In sets of at most "
            f"{MAX_COLUMNS_WITH_PAIRS} columns, `uds-chance` also computes what two columns "
            "explain together.",
        ]
        tables = [
            _time_table("Runtime in milliseconds by number of rows", results, by_rows, 0),
            _time_table("Runtime in milliseconds by number of columns", results, by_columns, 1),
            ResultTable(
                f"Fitted exponents of the runtime, up to {MAX_COLUMNS_WITH_PAIRS} columns",
                ["method", "rows", "columns"],
                [[method, row_exponents[method], column_exponents[method]] for method in METHODS],
            ),
        ]
        figure = stacked(
            _time_chart(f"{by_rows[0][1]} columns", results, by_rows, 0),
            _time_chart(f"{by_columns[0][0]:,} rows", results, by_columns, 1),
        )
        notes = [
            "The tables are drawn in the paper's setting, with f2 and noise 0.5. The runtime is "
            f"the shortest of {REPEATS} consecutive runs on one core. It includes reading and "
            "sorting the columns.",
        ]
        return Findings(sentences, tables, figure, notes)


def growth_exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent with which time grows with size, by least squares of the logarithms.

    Examples
    --------
    >>> round(growth_exponent([10, 20, 40], [1.0, 4.0, 16.0]), 3)
    2.0

    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _seconds(table: object, measure: Measure) -> float:
    begin = time.perf_counter()
    covary.score(table, measure=measure)
    return time.perf_counter() - begin


def _times(results: Results, sizes: Sequence[Size], method: str) -> list[float]:
    return [results[("time", *size, method)]["seconds"] for size in sizes]


def _time_table(title: str, results: Results, sizes: Sequence[Size], varied: int) -> ResultTable:
    rows = [
        [method, *(1000 * seconds for seconds in _times(results, sizes, method))]
        for method in METHODS
    ]
    headings = ["method", *(f"{size[varied]:,}" for size in sizes)]
    return ResultTable(title, headings, rows, digits=1)


def _time_chart(title: str, results: Results, sizes: Sequence[Size], varied: int) -> Spec:
    x_field = ("rows", "columns")[varied]
    points = [
        {"name": method, x_field: size[varied], "seconds": seconds}
        for method in METHODS
        for size, seconds in zip(sizes, _times(results, sizes, method), strict=True)
    ]
    return line_chart(title, points, x_field=x_field, y_field="seconds", names=METHODS)


def _time_ratios(results: Results, size: Size) -> str:
    """Return a sentence with the runtime of `uds`, and of the others relative to it."""
    times = {method: results[("time", *size, method)]["seconds"] for method in METHODS}
    ratios = ", ".join(
        f"`{method}` {ratio:.2g}" if ratio < 10 else f"`{method}` {ratio:.0f}"
        for method, ratio in ((m, seconds / times["uds"]) for m, seconds in times.items())
        if method != "uds"
    )
    return (
        f"With {size[0]:,} rows and {size[1]} columns, `uds` takes {1000 * times['uds']:.0f} ms. "
        f"The runtimes of the other methods, relative to `uds`, are {ratios}."
    )
