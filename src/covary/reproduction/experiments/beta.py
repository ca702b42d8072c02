"""Appendix of the paper: power by the number of initial bins, beta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import covary
from covary.reproduction.experiments.base import Result, Results, Trial
from covary.reproduction.experiments.charts import stacked
from covary.reproduction.experiments.findings import Findings, method_list
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.power_experiment import (
    HIGH_NOISE,
    INDEPENDENT_X,
    NOISE,
    PAPER,
    Comparison,
    PowerExperiment,
    PowerRow,
    estimated_power,
    power_heatmap,
    power_tables,
    select_rows,
)
from covary.reproduction.experiments.synthetic_tables import FUNCTIONS, Design, SyntheticTable

# The other methods have no such parameter, or the paper does not vary it (`mac`).
VARIED = ("uds", "uds-unregularized")
DEFAULT_BETA = 20
BETAS = (5, 10, 15, 20, 25, 30, 35, 40)


@dataclass(frozen=True)
class Beta(PowerExperiment):
    """Power by beta, with tables of the smallest size."""

    name: ClassVar[str] = "beta"
    title: ClassVar[str] = "Power by number of initial bins, beta (appendix)"

    @property
    def betas(self) -> tuple[int, ...]:
        """The largest numbers of initial bins."""
        return (5, 20) if self.quick else BETAS

    def comparisons(self) -> list[Comparison]:
        comparisons = []
        for function in FUNCTIONS:
            for setting, noise in self.settings(function):
                design = self.design(self.dimensions[0], function, noise, setting)
                labels = {"setting": setting, "f": function, "noise": noise}
                comparisons.append(
                    Comparison(
                        labels,
                        self.tables(design, related=True),
                        self.tables(design, related=False),
                    )
                )
        return comparisons

    def trials(self) -> list[Trial]:
        beta_trials = {
            self._beta_trial(table)
            for each in self.comparisons()
            for table in (*each.related, *each.unrelated)
        }
        return [*super().trials(), *sorted(beta_trials)]

    def _beta_trial(self, table: SyntheticTable) -> Trial:
        return ("betas", self.betas, *table.trial())

    def run(self, trial: Trial) -> Result:
        if trial[0] != "betas":
            return super().run(trial)
        _, betas, _, *design, is_related, number = trial
        values = SyntheticTable(Design(*design), is_related, number).values(self.seed)
        return {
            method: {
                str(beta): covary.score(values, measure=method, beta=beta)
                for beta in betas
                if beta != DEFAULT_BETA
            }
            for method in VARIED
        }

    def powers(self, results: Results) -> list[PowerRow]:
        default_powers = super().powers(results)
        return [
            each.labels
            | {"beta": beta}
            | {method: self._power(results, each, beta, method, row) for method in METHODS}
            for each, row in zip(self.comparisons(), default_powers, strict=True)
            for beta in self.betas
        ]

    def _power(
        self, results: Results, each: Comparison, beta: int, method: str, default: PowerRow
    ) -> float:
        if beta == DEFAULT_BETA or method not in VARIED:
            return float(default[method])
        return estimated_power(
            (results[self._beta_trial(table)][method][str(beta)] for table in each.related),
            (results[self._beta_trial(table)][method][str(beta)] for table in each.unrelated),
        )

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        low_noise, high_noise = (
            select_rows(powers, setting=PAPER, noise=noise) for noise in (NOISE, HIGH_NOISE)
        )
        independent = select_rows(powers, setting=INDEPENDENT_X)
        by_noise = "; ".join(
            f"noise {noise}: "
            + ", ".join(
                f"{min(row['uds'] for row in select_rows(rows, beta=beta)):.2f} with {beta}"
                for beta in self.betas
            )
            for noise, rows in ((NOISE, low_noise), (HIGH_NOISE, high_noise))
        )
        sentences = [
            f"Lowest power of `uds` over f1 to f4 by beta, in {PAPER} with {self.dimensions[0]} "
            f"columns: {by_noise}. The paper finds UDS very stable for beta above 10. With "
            "independent X and high noise, the highest power of `uds` with any beta is "
            f"{max(row['uds'] for row in independent):.2f}.",
            f"Beta is a parameter of {method_list(VARIED)}. The power of the other methods is "
            "shown for comparison; it does not depend on beta. (`mac` has such a parameter as "
            f"well; it keeps its default, {DEFAULT_BETA}.)",
        ]
        figure = stacked(
            power_heatmap(f"Power, {PAPER}, noise {NOISE}", low_noise, "beta"),
            power_heatmap(f"Power, {PAPER}, noise {HIGH_NOISE}", high_noise, "beta"),
            power_heatmap(f"Power, {INDEPENDENT_X}", independent, "beta"),
        )
        return Findings(sentences, power_tables("Power", powers), figure, self.method_notes())
