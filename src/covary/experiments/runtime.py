"""The paper's appendix on time: against the number of rows and of columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import covary
from covary.experiments.base import (
    METHODS,
    Experiment,
    Findings,
    Result,
    Results,
    Sheet,
    Spec,
    Trial,
    in_order,
    measure_of,
)
from covary.experiments.generator import Recipe, related
from covary.experiments.pictures import lines, page
from covary.measures import Measure
from covary.measures.strengths import MOST_WITH_PAIRS

ROWS, COLUMNS = 4000, 20
MORE_ROWS = (1000, 2000, 4000, 8000, 16000, 32000)
MORE_COLUMNS = (5, 10, 20, 40, 60, 80)
REPEATS = 3


@dataclass(frozen=True)
class Runtime(Experiment):
    """One table of each size is scored some times by each method; the shortest time counts."""

    name: ClassVar[str] = "runtime"
    title: ClassVar[str] = "Time against rows and columns (appendix)"
    pool: ClassVar[str] = "runtime"
    alone: ClassVar[bool] = True

    @property
    def sizes(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Rows and columns where rows are varied, and where columns are."""
        if self.quick:
            return [(1000, 5), (2000, 5)], [(1000, 5), (1000, 10)]
        return (
            [(rows, COLUMNS) for rows in MORE_ROWS],
            [(ROWS, columns) for columns in MORE_COLUMNS],
        )

    def trials(self) -> list[Trial]:
        by_rows, by_columns = self.sizes
        sizes = sorted({*by_rows, *by_columns})
        return [("time", *size, method) for size in sizes for method in METHODS]

    def run(self, trial: Trial) -> Result:
        _, rows, columns, method = trial
        table = related(Recipe(rows, columns, "f2", 0.5, False), self.seed, 0)
        measure = measure_of(method)
        covary.score(table[:100, :3], measure=measure)  # what is loaded once is no part of it
        return {"seconds": min(_seconds(table, measure) for _ in range(REPEATS))}

    def findings(self, results: Results) -> Findings:
        by_rows, by_columns = self.sizes
        # Beyond, uds-chance leaves out what two columns explain together: another method.
        fitted = [size for size in by_columns if size[1] <= MOST_WITH_PAIRS]
        slopes = {
            method: (
                slope([rows for rows, _ in by_rows], self._times(results, by_rows, method)),
                slope([n for _, n in fitted], self._times(results, fitted, method)),
            )
            for method in METHODS
        }
        sentences = [
            "The paper finds UDS much faster than MAC, and on par with CMI and HiCS. "
            f"Here, {_ratios(results, by_rows[-1])}; {_ratios(results, fitted[-1])}.",
            "Time grows with a power of the number of rows: "
            f"{in_order({m: s for m, (s, _) in slopes.items()}, highest_first=False)}; and of the "
            "number of columns: "
            f"{in_order({m: s for m, (_, s) in slopes.items()}, highest_first=False)}. "
            "`uds-chance` also looks at what two columns explain together, in sets of up to "
            f"{MOST_WITH_PAIRS} columns.",
        ]
        sheets = [
            self._sheet("Milliseconds by rows", results, by_rows, 0),
            self._sheet("Milliseconds by columns", results, by_columns, 1),
            Sheet(
                f"Fitted slopes, up to {MOST_WITH_PAIRS} columns: time grows with this power",
                ["method", "of rows", "of columns"],
                [[method, *slopes[method]] for method in METHODS],
            ),
        ]
        picture = page(
            self._lines(f"{by_rows[0][1]} columns", results, by_rows, 0),
            self._lines(f"{by_columns[0][0]:,} rows", results, by_columns, 1),
        )
        notes = [
            f"The paper's setting with f2 and noise 0.5; the shortest of {REPEATS} times, one "
            "after the other, on one core, reading and sorting of the columns included.",
        ]
        return Findings(sentences, sheets, picture, notes)

    def _times(
        self, results: Results, sizes: Sequence[tuple[int, int]], method: str
    ) -> list[float]:
        return [results[("time", *size, method)]["seconds"] for size in sizes]

    def _sheet(
        self, title: str, results: Results, sizes: Sequence[tuple[int, int]], which: int
    ) -> Sheet:
        rows = [
            [method, *(1000 * seconds for seconds in self._times(results, sizes, method))]
            for method in METHODS
        ]
        return Sheet(title, ["method", *(f"{size[which]:,}" for size in sizes)], rows, digits=1)

    def _lines(
        self, title: str, results: Results, sizes: Sequence[tuple[int, int]], which: int
    ) -> Spec:
        across = ("rows", "columns")[which]
        points = [
            {"name": method, across: size[which], "seconds": seconds}
            for method in METHODS
            for size, seconds in zip(sizes, self._times(results, sizes, method), strict=True)
        ]
        return lines(title, points, across=across, up="seconds", names=METHODS)


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the power of the size with which time grows, by least squares of the logarithms.

    Examples
    --------
    >>> round(slope([10, 20, 40], [1.0, 4.0, 16.0]), 3)
    2.0

    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _seconds(table: object, measure: Measure) -> float:
    begin = time.perf_counter()
    covary.score(table, measure=measure)
    return time.perf_counter() - begin


def _ratios(results: Results, size: tuple[int, int]) -> str:
    """Return how much longer than `uds` all others take."""
    times = {method: results[("time", *size, method)]["seconds"] for method in METHODS}
    ratios = ", ".join(
        f"`{method}` {ratio:.2g}" if ratio < 10 else f"`{method}` {ratio:.0f}"
        for method, ratio in ((m, seconds / times["uds"]) for m, seconds in times.items())
        if method != "uds"
    )
    return (
        f"with {size[0]:,} rows and {size[1]} columns, `uds` takes {1000 * times['uds']:.0f} ms "
        f"and others this many times as long: {ratios}"
    )
