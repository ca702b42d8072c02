"""Figure 1 of the paper: power against the number of columns, and against noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.experiments.base import METHODS, Findings, Results, in_order
from covary.experiments.generator import FUNCTIONS
from covary.experiments.pictures import page
from covary.experiments.power import (
    HARD_NOISES,
    HARDER,
    MUCH_NOISE,
    NOISE,
    NOISES,
    PAPER,
    USUAL,
    Comparison,
    PowerExperiment,
    means,
    power_sheets,
    power_strip,
    where,
)

ALMOST = 0.95
COLUMNS = "columns"


@dataclass(frozen=True)
class PowerDimension(PowerExperiment):
    """Related and unrelated tables have the same number of columns."""

    name: ClassVar[str] = "power-dimension"
    title: ClassVar[str] = "Power against the number of columns (Figure 1)"

    def comparisons(self) -> list[Comparison]:
        fewest, *more = self.dimensions
        found = []
        for function in FUNCTIONS:
            hard = HARD_NOISES[function]
            cells = [(PAPER, NOISE, n) for n in self.dimensions]
            cells += [(PAPER, noise, fewest) for noise in NOISES if noise != NOISE]
            cells += [(PAPER, MUCH_NOISE, more[-1])]
            cells += [(HARDER, noise, fewest) for noise in hard]
            cells += [(HARDER, hard[USUAL], more[0])]
            found += [self._compared(function, *cell) for cell in sorted(cells)]
        return found

    def _compared(self, function: str, setting: str, noise: float, n: int) -> Comparison:
        recipe = self.recipe(n, function, noise, setting)
        labels = {"setting": setting, "f": function, "noise": noise, COLUMNS: n}
        return Comparison(
            labels, self.drawn(recipe, related=True), self.drawn(recipe, related=False)
        )

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        fewest = self.dimensions[0]
        paper = where(powers, setting=PAPER)
        usual = where(paper, noise=NOISE)
        noisy = where(paper, **{COLUMNS: fewest})
        hard = where(powers, setting=HARDER)
        able = [method for method, mean in means(usual).items() if mean >= ALMOST]
        by_function = "; ".join(
            f"{name}: {in_order(means(where(paper, f=name), ('uds', 'uds-unregularized')))}"
            for name in FUNCTIONS
        )
        more, equal, less = (
            sum(np.sign(row["uds"] - row["uds-unregularized"]) == sign for row in paper)
            for sign in (1, 0, -1)
        )
        beaten = any(
            means(usual)[method] >= means(usual)["uds"] for method in ("cmi", "mac", "hics")
        )
        sentences = [
            f"In the paper's setting, with noise {NOISE} and {fewest} to {self.dimensions[-1]} "
            "columns, the power of `uds` is nowhere below "
            f"{min(row['uds'] for row in usual):.2f}, that of `uds-chance` nowhere below "
            f"{min(row['uds-chance'] for row in usual):.2f}, and with more noise nowhere below "
            f"{min(row['uds-chance'] for row in paper):.2f}. The paper finds almost perfect to "
            "perfect power for UDS.",
            "The paper finds UDS ahead of its variant without regularization. Here `uds` has more "
            f"power in {more} of {len(paper)} comparisons, the same in {equal}, less in {less}; "
            f"on average, {by_function}.",
            "The paper also finds UDS ahead of CMI, MAC and HiCS. Here, the columns X depend on "
            f"each other so that {len(able)} of {len(METHODS)} methods have a power of {ALMOST} "
            f"or more on average over functions and sizes, with noise {NOISE}: "
            f"{in_order(means(usual))}. With {fewest} columns and all noises: "
            f"{in_order(means(noisy))}. "
            + ("That UDS is ahead of them is not confirmed." if beaten else ""),
            "With independent X, on average over functions, noises and sizes: "
            f"{in_order(means(hard))}.",
        ]
        few = where(hard, **{COLUMNS: fewest})
        strips = [
            power_strip(f"Power, {PAPER}, noise {NOISE}", usual, COLUMNS),
            power_strip(f"Power, {PAPER}, {fewest} columns", noisy, "noise"),
            power_strip(f"Power, {HARDER}, {fewest} columns", few, "noise"),
        ]
        return Findings(sentences, power_sheets("Power", powers), page(*strips), self.how())
