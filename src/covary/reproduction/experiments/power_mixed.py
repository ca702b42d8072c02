"""Appendix of the paper: power when every table has a random number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.reproduction.experiments.base import Results
from covary.reproduction.experiments.charts import stacked
from covary.reproduction.experiments.findings import Findings, sorted_values
from covary.reproduction.experiments.power_experiment import (
    HIGH_NOISE,
    INDEPENDENT_X,
    NOISE,
    PAPER,
    Comparison,
    PowerExperiment,
    mean_power,
    power_heatmap,
    power_tables,
    select_rows,
)
from covary.reproduction.experiments.synthetic_tables import FUNCTIONS, SyntheticTable

FEWEST, FEW, MOST = 2, 10, 50


@dataclass(frozen=True)
class PowerMixed(PowerExperiment):
    """Power when the number of columns is random, for related and for unrelated tables."""

    name: ClassVar[str] = "power-mixed"
    title: ClassVar[str] = "Power for tables of different sizes (appendix)"

    @property
    def most(self) -> int:
        """The largest number of columns."""
        return 12 if self.quick else MOST

    def comparisons(self) -> list[Comparison]:
        return [
            self._comparison(function, setting, noise)
            for function in FUNCTIONS
            for setting, noise in self.settings(function)
        ]

    def _comparison(self, function: str, setting: str, noise: float) -> Comparison:
        labels = {"setting": setting, "f": function, "noise": noise}
        return Comparison(
            labels,
            self._tables_of_random_size(function, noise, setting, related=True),
            self._tables_of_random_size(function, noise, setting, related=False),
        )

    def _tables_of_random_size(
        self, function: str, noise: float, setting: str, *, related: bool
    ) -> list[SyntheticTable]:
        rng = np.random.default_rng((self.seed, int(related)))
        sizes = rng.integers(FEWEST, self.most, size=len(self.table_numbers), endpoint=True)
        return [
            SyntheticTable(self.design(int(n), function, noise, setting), related, number)
            for n, number in zip(sizes, self.table_numbers, strict=True)
        ]

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        paper, independent = (
            select_rows(powers, setting=setting) for setting in (PAPER, INDEPENDENT_X)
        )
        small = self.fractions_above_cutoff(results, lambda each: _small(each.related))
        n_small = len(_small(self.comparisons()[0].related))
        low_noise, high_noise = (select_rows(paper, noise=n) for n in (NOISE, HIGH_NOISE))
        sentences = [
            f"Every table has {FEWEST} to {self.most} columns, and all tables share one cutoff. "
            "This requires a score that has the same meaning for any number of columns. "
            f"{PAPER.capitalize()}, noise {NOISE}: {sorted_values(mean_power(low_noise))}. "
            f"Noise {HIGH_NOISE}: {sorted_values(mean_power(high_noise))}. The paper reports more "
            "power for UDS than for all other methods.",
            f"With independent X: {sorted_values(mean_power(independent))}.",
            f"Of the related tables with at most {FEW} columns ({n_small} of "
            f"{len(self.table_numbers)}), these fractions are above the cutoff. "
            f"{PAPER.capitalize()}: "
            f"{sorted_values(mean_power(select_rows(small, setting=PAPER)))}. "
            f"With {INDEPENDENT_X}: "
            f"{sorted_values(mean_power(select_rows(small, setting=INDEPENDENT_X)))}.",
        ]
        figure = stacked(
            power_heatmap(f"Power, {PAPER}", paper, "noise"),
            power_heatmap(f"Power, {INDEPENDENT_X}", independent, "noise"),
        )
        return Findings(sentences, power_tables("Power", powers), figure, self.method_notes())


def _small(tables: Sequence[SyntheticTable]) -> list[SyntheticTable]:
    return [table for table in tables if table.design.columns <= FEW]
