"""The paper's appendix on power: every table has a number of columns of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.experiments.base import Findings, Results
from covary.experiments.generator import FUNCTIONS
from covary.experiments.pictures import page
from covary.experiments.power import (
    HARD_NOISES,
    HARDER,
    MUCH_NOISE,
    NOISE,
    PAPER,
    USUAL,
    Comparison,
    Drawn,
    PowerExperiment,
    power_strip,
    power_tables,
    ranking,
    where,
)

FEWEST, MOST = 2, 50


@dataclass(frozen=True)
class PowerMixed(PowerExperiment):
    """The number of columns is drawn, for related and for unrelated tables."""

    name: ClassVar[str] = "power-mixed"
    title: ClassVar[str] = "Power where every table has 2 to 50 columns (appendix)"

    def comparisons(self) -> list[Comparison]:
        return [
            self._compared(function, setting, noise)
            for function in FUNCTIONS
            for setting, noise in (
                (PAPER, NOISE),
                (PAPER, MUCH_NOISE),
                (HARDER, HARD_NOISES[function][USUAL]),
            )
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
        most = 12 if self.quick else MOST
        sizes = draw.integers(FEWEST, most, size=len(self.numbers), endpoint=True)
        return [
            Drawn(self.recipe(int(n), function, noise, setting), related, number)
            for n, number in zip(sizes, self.numbers, strict=True)
        ]

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        hard = where(powers, setting=HARDER)
        sentences = [
            f"{PAPER.capitalize()}, noise {NOISE}: "
            f"{ranking(where(powers, setting=PAPER, noise=NOISE))}. With noise {MUCH_NOISE}: "
            f"{ranking(where(powers, setting=PAPER, noise=MUCH_NOISE))}. The paper finds UDS "
            "ahead of all in this setting.",
            "One cutoff for tables of 2 to 50 columns asks a score to mean the same for all of "
            "them: methods whose scores rise with the number of columns lose here.",
            f"With independent X: {ranking(hard)}. Tables of few columns are mostly noise there: "
            "a function of few columns hardly varies.",
        ]
        strips = [
            power_strip(f"{PAPER.capitalize()}: noise", where(powers, setting=PAPER), "noise"),
            power_strip(f"{HARDER}: noise", hard, "noise"),
        ]
        return Findings(sentences, power_tables(powers), page(*strips), self.how())
