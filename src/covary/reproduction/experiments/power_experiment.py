"""Base class of the power experiments: how often a method detects dependence."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import covary
from covary.reproduction.experiments.base import Experiment, Result, Results, Trial
from covary.reproduction.experiments.charts import Spec, heatmap
from covary.reproduction.experiments.findings import ResultTable
from covary.reproduction.experiments.methods import METHODS, configured_measure
from covary.reproduction.experiments.synthetic_tables import FUNCTIONS, Design, SyntheticTable

# One comparison: its labels, and the power of each method.
PowerRow = dict[str, Any]

ROWS = 4000
LEVEL = 0.05
# These scores depend on ranks only. Without ties, the scores of unrelated columns then have the
# same distribution for all designs of one size, so one set of unrelated tables is enough for all
# designs.
RANK_BASED = ("uds-chance",)
VALUE_BASED = tuple(method for method in METHODS if method not in RANK_BASED)

PAPER, INDEPENDENT_X = "the paper's setting", "independent X"
# Noise levels in the paper's setting.
NOISE = 0.5
NOISES = (0.5, 1.0, 2.0, 4.0)
HIGH_NOISE = 2.0
# Noise levels with independent X: from a level at which most methods have power, to a level at
# which few methods have power.
INDEPENDENT_X_NOISES = {
    "f1": (4.0, 8.0, 16.0, 32.0),
    "f2": (4.0, 8.0, 16.0, 32.0),
    "f3": (0.5, 1.0, 1.5, 2.0),
    "f4": (1.0, 2.0, 4.0, 8.0),
}
# Index of the noise level used by experiments that do not vary the noise.
DEFAULT_NOISE_INDEX = 1


class Comparison(NamedTuple):
    """Related tables, and the unrelated tables that determine the cutoff.

    Parameters
    ----------
    labels : setting, function, noise and the varied parameter, by heading
    related, unrelated : tables
    controls : unrelated tables with as many columns as the related ones, to estimate the fraction
        of false positives; empty if this is not estimated
    """

    labels: dict[str, Any]
    related: Sequence[SyntheticTable]
    unrelated: Sequence[SyntheticTable]
    controls: Sequence[SyntheticTable] = ()


def _rank_equivalent(table: SyntheticTable) -> SyntheticTable:
    """Return the unrelated table that rank-based methods use instead; a related table itself."""
    if table.related:
        return table
    design = table.design._replace(function="f1", noise=NOISE, independent=False)
    return table._replace(design=design)


def estimated_power(related: Iterable[float], unrelated: Iterable[float]) -> float:
    """Return the fraction of related scores above the cutoff of a test at level 0.05.

    The cutoff is the smallest of the unrelated scores such that a new unrelated score is above it
    with probability at most 0.05.

    Examples
    --------
    >>> estimated_power([1.0, 2.0, 3.0, 4.0], range(-93, 7))
    0.5

    """
    null = np.sort(np.fromiter(unrelated, float))
    cutoff = null[math.ceil((len(null) + 1) * (1 - LEVEL)) - 1]
    return float(np.mean(np.fromiter(related, float) > cutoff))


@dataclass(frozen=True)
class PowerExperiment(Experiment):
    """A set of comparisons; all power experiments share one trial file."""

    trial_group: ClassVar[str] = "power"

    @abstractmethod
    def comparisons(self) -> list[Comparison]:
        """Return all comparisons."""

    @property
    def rows(self) -> int:
        """The number of rows of a table."""
        return 400 if self.quick else ROWS

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The numbers of columns."""
        return (6, 10) if self.quick else (20, 40, 60, 80)

    @property
    def table_numbers(self) -> range:
        """The indices of the tables of one design."""
        return range(20 if self.quick else 100)

    def design(self, columns: int, function: str, noise: float, setting: str = PAPER) -> Design:
        """Return the design of a table."""
        return Design(self.rows, columns, function, noise, setting == INDEPENDENT_X)

    def tables(self, design: Design, *, related: bool) -> list[SyntheticTable]:
        """Return all tables of a design."""
        return [SyntheticTable(design, related, number) for number in self.table_numbers]

    def settings(self, function: str) -> list[tuple[str, float]]:
        """Return the settings and noise levels of experiments that vary neither."""
        noise = INDEPENDENT_X_NOISES[function][DEFAULT_NOISE_INDEX]
        return [(PAPER, NOISE), (PAPER, HIGH_NOISE), (INDEPENDENT_X, noise)]

    def trials(self) -> list[Trial]:
        tables = {
            table
            for each in self.comparisons()
            for table in (*each.related, *each.unrelated, *each.controls)
        }
        return sorted({table.trial() for table in tables | set(map(_rank_equivalent, tables))})

    def run(self, trial: Trial) -> Result:
        _, *design, is_related, number = trial
        table = SyntheticTable(Design(*design), is_related, number)
        methods = METHODS if table == _rank_equivalent(table) else VALUE_BASED
        values = table.values(self.seed)
        return {
            method: covary.score(values, measure=configured_measure(method)) for method in methods
        }

    def powers(self, results: Results) -> list[PowerRow]:
        """Return the power of all methods in each comparison."""
        return self.fractions_above_cutoff(results, lambda each: each.related)

    def false_positives(self, results: Results) -> list[PowerRow]:
        """Return the fraction of the control tables above the cutoff in each comparison."""
        return self.fractions_above_cutoff(results, lambda each: each.controls)

    def fractions_above_cutoff(
        self, results: Results, tables: Callable[[Comparison], Sequence[SyntheticTable]]
    ) -> list[PowerRow]:
        """Return the fraction of some tables above the cutoff in each comparison."""
        return [
            each.labels
            | {
                method: estimated_power(
                    table_scores(results, tables(each), method),
                    table_scores(results, each.unrelated, method),
                )
                for method in METHODS
            }
            for each in self.comparisons()
        ]

    def method_notes(self) -> list[str]:
        """Return the notes on the tables, the cutoff and the noise."""
        n = len(self.table_numbers)
        functions = ", ".join(f"{name}(x) = {formula}" for name, (formula, _) in FUNCTIONS.items())
        return [
            f"Tables have {self.rows:,} rows. Half of the columns are X = AZ, where Z is standard "
            "normal and A is a fixed matrix with entries drawn uniformly from [0, 1]. The other "
            "half is f(W) + e with W = BX, where B is a fixed matrix with entries drawn uniformly "
            "from [0, 0.5]; e is normal, and its standard deviation is the noise. The functions "
            f"are {functions}. A and B are drawn once for each number of columns, and are the "
            "same for all functions and noise levels. The variance of W grows with the number of "
            "columns. The same noise is then smaller relative to W, and sin(2W) contains almost "
            "no information about X: with many columns, the power on f4 mostly reflects the "
            "dependence among the columns X. With independent X, which is not in the paper, A is "
            "the identity matrix, and W varies less. Unrelated tables are drawn in the same way, "
            "then every column is shuffled independently.",
            f"The cutoff is that of a test at level 0.05 with {n} unrelated tables (the "
            f"{math.ceil((n + 1) * (1 - LEVEL))}th lowest of their scores). Power is the fraction "
            f"of {n} related tables that score above it. The standard error of the power is at "
            f"most {math.sqrt(0.25 / n):.2f}, and {math.sqrt(0.95 * 0.05 / n):.2f} at a power of "
            "0.95. It does not include the error of the cutoff. If all unrelated tables score "
            "exactly 0, as with `uds`, the cutoff is 0 and the level of the test is below 0.05.",
            "The text of the paper does not state the noise of its figures. We chose the noise "
            "after first runs: in the paper's setting so that the methods of the paper have "
            "power, with independent X so that the methods differ. With independent X we chose it "
            "twice. With the first choice (up to 16 for f1 and f2 and up to 4 for f4), "
            "`uds-chance` and `cmi` had a power of 1.00 in most comparisons (0.97 and 0.95 on "
            "average; `uds-chance` was best alone in 5 of 20 comparisons and tied for best in "
            "15).",
            "The scores of `uds-chance` depend on ranks only. The unrelated tables of one "
            "function are therefore used for all functions, and the error of their cutoff is "
            "common to all results of `uds-chance`.",
        ]


def table_scores(results: Results, tables: Iterable[SyntheticTable], method: str) -> list[float]:
    """Return the scores of some tables by a method."""
    rank_based = method in RANK_BASED
    return [
        results[(_rank_equivalent(table) if rank_based else table).trial()][method]
        for table in tables
    ]


def power_table(title: str, powers: Sequence[PowerRow]) -> ResultTable:
    """Return a table of the power in each comparison, with the mean in the last row."""
    headings = [heading for heading in powers[0] if heading != "setting"]
    labels = ["mean", *[None] * (len(headings) - len(METHODS) - 1)]
    rows = [[row[heading] for heading in headings] for row in powers]
    return ResultTable(title, headings, [*rows, [*labels, *mean_power(powers).values()]])


def power_tables(title: str, powers: Sequence[PowerRow]) -> list[ResultTable]:
    """Return one table for each setting."""
    return [
        power_table(f"{title}: {setting}", select_rows(powers, setting=setting))
        for setting in dict.fromkeys(row["setting"] for row in powers)
    ]


def select_rows(rows: Sequence[PowerRow], **labels: Any) -> list[PowerRow]:
    """Return the rows with these labels."""
    return [row for row in rows if all(row[name] == value for name, value in labels.items())]


def mean_power(rows: Sequence[PowerRow], methods: Sequence[str] = METHODS) -> dict[str, float]:
    """Return the mean power of each method over some comparisons."""
    return {method: float(np.mean([row[method] for row in rows])) for method in methods}


def power_heatmap(title: str, rows: Sequence[PowerRow], x_field: str) -> Spec:
    """Return a heatmap of the power of all methods, with one panel for each function."""
    cells = [
        {
            "row": method,
            "value": row[method],
            x_field: row[x_field],
            "function": f"{row['f']}: {FUNCTIONS[row['f']][0]}",
        }
        for row in rows
        for method in METHODS
    ]
    return heatmap(title, cells, x_field=x_field, rows=METHODS, panel_field="function")
