"""Figure 1 of the paper: power against the number of columns, and against noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.experiments.base import METHODS, Findings, Results, in_order
from covary.experiments.generator import FUNCTIONS
from covary.experiments.pictures import page
from covary.experiments.power import (
    HARD_NOISES,
    HARDER,
    LEVEL,
    MUCH_NOISE,
    NOISE,
    NOISES,
    PAPER,
    USUAL,
    Comparison,
    PowerExperiment,
    Row,
    means,
    power_sheets,
    power_strip,
    where,
)

ALMOST = 0.95
COLUMNS = "columns"
# Why a method may have no power with columns as many as these.
WHY = {
    "uds": "where no column tells much of another by itself, `uds` chooses a single bin, and 0",
    "uds-unregularized": "`uds-unregularized` takes chance for dependence: the more columns, the "
    "nearer to 1 it scores related and unrelated tables alike",
    "mac": "of so many columns, nearly every row has a cell of its own, whether they are related "
    "or not, so that `mac` tells little but how columns happened to be cut (its paper leaves open "
    "how columns after the first two are cut, and ours was not compared with a program of its "
    "authors, which may differ)",
    "total-correlation": "with all rows in cells of their own, `total-correlation` by bins scores "
    "unrelated tables and many related ones exactly alike",
}


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
        more, equal, less = against(paper, "uds", ("uds-unregularized",))
        ahead, level, behind = against(hard, METHODS[0], METHODS[1:])
        rivals = "; ".join(
            "`{}`: {} more, {} the same, {} less".format(rival, *against(paper, "uds", (rival,)))
            for rival in ("cmi", "mac", "hics")
        )
        sentences = [
            f"In the paper's setting, with noise {NOISE} and {fewest} to {self.dimensions[-1]} "
            f"columns, {_lowest(usual)}; with noise up to {NOISES[-1]}, {_lowest(paper)}. The "
            "paper finds almost perfect to perfect power for UDS.",
            "The paper finds UDS ahead of its variant without regularization. Here `uds` has more "
            f"power in {more} of {len(paper)} comparisons, the same in {equal}, less in {less}; "
            f"on average, {by_function}.",
            "The paper also finds UDS ahead of CMI, MAC and HiCS. Here the power of `uds` in the "
            f"{len(paper)} comparisons is, against {rivals}. With noise {NOISE}, {len(able)} of "
            f"{len(METHODS)} methods have a power of {ALMOST} or more on average over functions "
            f"and sizes: {in_order(means(usual))}. "
            f"With {fewest} columns and all noises: {in_order(means(noisy))}.",
            "With independent X and much noise, on average over functions, noises and sizes: "
            f"{in_order(means(hard))}. `uds-chance` has more power than all others in {ahead} of "
            f"{len(hard)} comparisons, as much as the best of them in {level}, less in {behind}.",
        ]
        if (told := without_power(paper + hard)) and not self.quick:
            sentences.append(
                f"Power does not exceed {LEVEL}, whatever the noise and the number of columns, of "
                + "; ".join(f"`{m}` on {' and '.join(cells)}" for m, cells in told.items())
                + f". We think that {'; '.join(WHY[m] for m in told)}."
            )
        few = where(hard, **{COLUMNS: fewest})
        strips = [
            power_strip(f"Power, {PAPER}, noise {NOISE}", usual, COLUMNS),
            power_strip(f"Power, {PAPER}, {fewest} columns", noisy, "noise"),
            power_strip(f"Power, {HARDER}, {fewest} columns", few, "noise"),
        ]
        return Findings(sentences, power_sheets("Power", powers), page(*strips), self.how())


def _lowest(rows: Sequence[Row]) -> str:
    ours, paper = (min(row[method] for row in rows) for method in ("uds-chance", "uds"))
    return f"`uds` is nowhere below {paper:.2f} and `uds-chance` nowhere below {ours:.2f}"


def against(rows: Sequence[Row], method: str, others: Sequence[str]) -> tuple[int, int, int]:
    """Return how often a method has more power than the best of others, as much, and less."""
    signs = [np.sign(row[method] - max(row[other] for other in others)) for row in rows]
    return signs.count(1), signs.count(0), signs.count(-1)


def without_power(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return for which functions and settings methods have no power, of those we can say why."""
    found: dict[str, list[str]] = {}
    for method in WHY:
        for setting in dict.fromkeys(row["setting"] for row in rows):
            here = where(rows, setting=setting)
            functions = [
                function
                for function in dict.fromkeys(row["f"] for row in here)
                if max(row[method] for row in where(here, f=function)) <= LEVEL
            ]
            if functions:
                found.setdefault(method, []).append(f"{', '.join(functions)} ({setting})")
    return found
