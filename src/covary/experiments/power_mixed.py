"""The paper's appendix on power: every table has a number of columns of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.experiments.base import Findings, Results, in_order
from covary.experiments.generator import FUNCTIONS
from covary.experiments.pictures import page
from covary.experiments.power import (
    HARDER,
    MUCH_NOISE,
    NOISE,
    PAPER,
    Comparison,
    Drawn,
    PowerExperiment,
    means,
    power_sheets,
    power_strip,
    where,
)

FEWEST, FEW, MOST = 2, 10, 50


@dataclass(frozen=True)
class PowerMixed(PowerExperiment):
    """The number of columns is drawn, for related and for unrelated tables."""

    name: ClassVar[str] = "power-mixed"
    title: ClassVar[str] = "Power where tables differ in size (appendix)"

    @property
    def most(self) -> int:
        """The most columns of a table."""
        return 12 if self.quick else MOST

    def comparisons(self) -> list[Comparison]:
        return [
            self._compared(function, setting, noise)
            for function in FUNCTIONS
            for setting, noise in self.settings(function)
        ]

    def _compared(self, function: str, setting: str, noise: float) -> Comparison:
        labels = {"setting": setting, "f": function, "noise": noise}
        return Comparison(
            labels,
            self._of_any_size(function, noise, setting, related=True),
            self._of_any_size(function, noise, setting, related=False),
        )

    def _of_any_size(
        self, function: str, noise: float, setting: str, *, related: bool
    ) -> list[Drawn]:
        draw = np.random.default_rng((self.seed, int(related)))
        sizes = draw.integers(FEWEST, self.most, size=len(self.numbers), endpoint=True)
        return [
            Drawn(self.recipe(int(n), function, noise, setting), related, number)
            for n, number in zip(sizes, self.numbers, strict=True)
        ]

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        paper, hard = (where(powers, setting=setting) for setting in (PAPER, HARDER))
        small = self.above(
            results, lambda each: [d for d in each.related if d.recipe.columns <= FEW]
        )
        n_small = sum(d.recipe.columns <= FEW for d in self.comparisons()[0].related)
        sentences = [
            f"Every table has {FEWEST} to {self.most} columns, and one cutoff is to serve for all "
            "of them, which asks a score to mean the same whatever the number of columns. "
            f"{PAPER.capitalize()}, noise {NOISE}: {in_order(means(where(paper, noise=NOISE)))}. "
            f"Noise {MUCH_NOISE}: {in_order(means(where(paper, noise=MUCH_NOISE)))}. The paper "
            "finds UDS ahead of all.",
            f"With independent X: {in_order(means(hard))}.",
            f"Of the related tables with {FEW} columns or fewer alone ({n_small} of "
            f"{len(self.numbers)}), so many are above that cutoff: {PAPER}, "
            f"{in_order(means(where(small, setting=PAPER)))}; {HARDER}, "
            f"{in_order(means(where(small, setting=HARDER)))}.",
        ]
        strips = [
            power_strip(f"Power, {PAPER}", paper, "noise"),
            power_strip(f"Power, {HARDER}", hard, "noise"),
        ]
        return Findings(sentences, power_sheets("Power", powers), page(*strips), self.how())
