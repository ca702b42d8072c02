"""The paper's appendix on beta: power against the number of initial bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import covary
from covary.experiments.base import METHODS, Findings, Result, Results, Trial, listed
from covary.experiments.generator import FUNCTIONS, Recipe
from covary.experiments.pictures import page
from covary.experiments.power import (
    HARDER,
    MUCH_NOISE,
    NOISE,
    PAPER,
    Comparison,
    Drawn,
    PowerExperiment,
    Row,
    power_of,
    power_sheets,
    power_strip,
    table_of,
    where,
)

# The others have no such parameter, or, as `mac`, one that the paper does not vary.
VARIED = ("uds", "uds-unregularized")
DEFAULT = 20
BETAS = (5, 10, 15, 20, 25, 30, 35, 40)


@dataclass(frozen=True)
class Beta(PowerExperiment):
    """Tables of the smallest size are scored once more with every beta."""

    name: ClassVar[str] = "beta"
    title: ClassVar[str] = "Power against the number of initial bins, beta (appendix)"

    @property
    def betas(self) -> tuple[int, ...]:
        """How many initial bins there are at most."""
        return (5, 20) if self.quick else BETAS

    def comparisons(self) -> list[Comparison]:
        found = []
        for function in FUNCTIONS:
            for setting, noise in self.settings(function):
                recipe = self.recipe(self.dimensions[0], function, noise, setting)
                labels = {"setting": setting, "f": function, "noise": noise}
                found.append(
                    Comparison(
                        labels,
                        self.drawn(recipe, related=True),
                        self.drawn(recipe, related=False),
                    )
                )
        return found

    def trials(self) -> list[Trial]:
        again = {
            self._again(drawn)
            for each in self.comparisons()
            for drawn in (*each.related, *each.unrelated)
        }
        return [*super().trials(), *sorted(again)]

    def _again(self, drawn: Drawn) -> Trial:
        return ("betas", self.betas, *drawn.trial())

    def run(self, trial: Trial) -> Result:
        if trial[0] != "betas":
            return super().run(trial)
        _, betas, _, *recipe, is_related, number = trial
        table = table_of(Drawn(Recipe(*recipe), is_related, number), self.seed)
        return {
            method: {
                str(beta): covary.score(table, measure=method, beta=beta)
                for beta in betas
                if beta != DEFAULT
            }
            for method in VARIED
        }

    def powers(self, results: Results) -> list[Row]:
        usual = super().powers(results)
        return [
            each.labels
            | {"beta": beta}
            | {method: self._power(results, each, beta, method, row) for method in METHODS}
            for each, row in zip(self.comparisons(), usual, strict=True)
            for beta in self.betas
        ]

    def _power(
        self, results: Results, each: Comparison, beta: int, method: str, usual: Row
    ) -> float:
        if beta == DEFAULT or method not in VARIED:
            return float(usual[method])
        return power_of(
            (results[self._again(drawn)][method][str(beta)] for drawn in each.related),
            (results[self._again(drawn)][method][str(beta)] for drawn in each.unrelated),
        )

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        usual, loud = (where(powers, setting=PAPER, noise=noise) for noise in (NOISE, MUCH_NOISE))
        hard = where(powers, setting=HARDER)
        by_noise = "; ".join(
            f"noise {noise}: "
            + ", ".join(
                f"{min(row['uds'] for row in where(rows, beta=beta)):.2f} with {beta}"
                for beta in self.betas
            )
            for noise, rows in ((NOISE, usual), (MUCH_NOISE, loud))
        )
        sentences = [
            f"{PAPER.capitalize()}, {self.dimensions[0]} columns, the lowest power of `uds` over "
            f"f1 to f4 by beta: {by_noise}. The paper finds UDS very stable for beta above 10. "
            "With independent X and much noise, its highest power with any beta is "
            f"{max(row['uds'] for row in hard):.2f}.",
            f"Beta is that of {listed(VARIED)}. The power of the other methods is given for "
            "comparison; it does not change. (`mac` has such a parameter as well, and is taken "
            f"with its default, {DEFAULT}.)",
        ]
        strips = [
            power_strip(f"Power, {PAPER}, noise {NOISE}", usual, "beta"),
            power_strip(f"Power, {PAPER}, noise {MUCH_NOISE}", loud, "beta"),
            power_strip(f"Power, {HARDER}", hard, "beta"),
        ]
        return Findings(sentences, power_sheets("Power", powers), page(*strips), self.how())
