"""Figure 1 of the paper: power by number of columns and by noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covary.reproduction.experiments.base import Results
from covary.reproduction.experiments.charts import stacked
from covary.reproduction.experiments.findings import Findings, joined, sorted_values
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.power_experiment import (
    DEFAULT_NOISE_INDEX,
    HIGH_NOISE,
    INDEPENDENT_X,
    INDEPENDENT_X_NOISES,
    LEVEL,
    NOISE,
    NOISES,
    PAPER,
    Comparison,
    PowerExperiment,
    PowerRow,
    mean_power,
    power_heatmap,
    power_tables,
    select_rows,
)
from covary.reproduction.experiments.synthetic_tables import FUNCTIONS

HIGH_POWER = 0.95
COLUMNS = "columns"
# Why a method can lack power with many columns.
REASONS = {
    "uds": "if no single column explains much of another one, `uds` selects a single bin and "
    "scores 0",
    "uds-unregularized": "`uds-unregularized` does not correct for chance: with more columns, the "
    "scores of related and of unrelated tables both approach 1",
    "mac": "with many columns, nearly every row has a cell of its own in related and in unrelated "
    "tables, so that `mac` mostly reflects how the columns were cut (the MAC paper does not "
    "specify how columns after the first two are cut; we did not compare our implementation with "
    "a program of its authors, which may differ)",
    "total-correlation": "if every row has a cell of its own, binned `total-correlation` gives "
    "exactly the same score to unrelated tables and to many related ones",
}


@dataclass(frozen=True)
class PowerDimension(PowerExperiment):
    """Power when related and unrelated tables have the same number of columns."""

    name: ClassVar[str] = "power-dimension"
    title: ClassVar[str] = "Power by number of columns (Figure 1)"

    def comparisons(self) -> list[Comparison]:
        fewest, *more = self.dimensions
        comparisons = []
        for function in FUNCTIONS:
            noises = INDEPENDENT_X_NOISES[function]
            cells = [(PAPER, NOISE, n) for n in self.dimensions]
            cells += [(PAPER, noise, fewest) for noise in NOISES if noise != NOISE]
            cells += [(PAPER, HIGH_NOISE, more[-1])]
            cells += [(INDEPENDENT_X, noise, fewest) for noise in noises]
            cells += [(INDEPENDENT_X, noises[DEFAULT_NOISE_INDEX], more[0])]
            comparisons += [self._comparison(function, *cell) for cell in sorted(cells)]
        return comparisons

    def _comparison(self, function: str, setting: str, noise: float, n: int) -> Comparison:
        design = self.design(n, function, noise, setting)
        labels = {"setting": setting, "f": function, "noise": noise, COLUMNS: n}
        return Comparison(
            labels, self.tables(design, related=True), self.tables(design, related=False)
        )

    def findings(self, results: Results) -> Findings:
        powers = self.powers(results)
        fewest = self.dimensions[0]
        paper = select_rows(powers, setting=PAPER)
        low_noise = select_rows(paper, noise=NOISE)
        few_columns = select_rows(paper, **{COLUMNS: fewest})
        independent = select_rows(powers, setting=INDEPENDENT_X)
        powerful = [method for method, mean in mean_power(low_noise).items() if mean >= HIGH_POWER]
        variants = ("uds", "uds-unregularized")
        by_function = "; ".join(
            f"{name}: {sorted_values(mean_power(select_rows(paper, f=name), variants))}"
            for name in FUNCTIONS
        )
        more, equal, less = count_wins(paper, "uds", ("uds-unregularized",))
        ahead, level, behind = count_wins(independent, METHODS[0], METHODS[1:])
        baselines = "; ".join(
            "`{}` {} / {} / {}".format(baseline, *count_wins(paper, "uds", (baseline,)))
            for baseline in ("cmi", "mac", "hics")
        )
        sentences = [
            f"In the paper's setting, with noise {NOISE} and {fewest} to {self.dimensions[-1]} "
            f"columns, {_lowest_power(low_noise)}. With noise up to {NOISES[-1]}, "
            f"{_lowest_power(paper)}. The paper reports almost perfect to perfect power for UDS.",
            "The paper reports more power for UDS than for its variant without regularization. "
            f"Here `uds` has more power in {more} of {len(paper)} comparisons, equal power in "
            f"{equal} and less in {less}. The means are {by_function}.",
            "The paper also reports more power for UDS than for CMI, MAC and HiCS. Here, "
            f"the numbers of comparisons (of {len(paper)}) in which `uds` has more / equal / less "
            f"power are: {baselines}. With noise {NOISE}, "
            f"{len(powerful)} of {len(METHODS)} methods have a mean power of at least "
            f"{HIGH_POWER} over functions and numbers of columns: "
            f"{sorted_values(mean_power(low_noise))}. With {fewest} columns and all noise levels: "
            f"{sorted_values(mean_power(few_columns))}.",
            "With independent X and high noise, the mean power over functions, noise levels and "
            f"numbers of columns is: {sorted_values(mean_power(independent))}. `uds-chance` has "
            f"more power than every other method in {ahead} of {len(independent)} comparisons, as "
            f"much as the best other method in {level}, and less in {behind}.",
        ]
        if (powerless := powerless_settings(paper + independent)) and not self.quick:
            sentences.append(
                f"In these cases, the power is at most {LEVEL} for all noise levels and numbers "
                "of columns: "
                + "; ".join(f"`{method}` on {joined(at)}" for method, at in powerless.items())
                + f". We think that {'; '.join(REASONS[method] for method in powerless)}."
            )
        few_independent = select_rows(independent, **{COLUMNS: fewest})
        figure = stacked(
            power_heatmap(f"Power, {PAPER}, noise {NOISE}", low_noise, COLUMNS),
            power_heatmap(f"Power, {PAPER}, {fewest} columns", few_columns, "noise"),
            power_heatmap(f"Power, {INDEPENDENT_X}, {fewest} columns", few_independent, "noise"),
        )
        return Findings(sentences, power_tables("Power", powers), figure, self.method_notes())


def _lowest_power(rows: Sequence[PowerRow]) -> str:
    uds_chance, uds = (min(row[method] for row in rows) for method in ("uds-chance", "uds"))
    return (
        f"the power of `uds` is at least {uds:.2f} and that of `uds-chance` at least "
        f"{uds_chance:.2f}"
    )


def count_wins(
    rows: Sequence[PowerRow], method: str, others: Sequence[str]
) -> tuple[int, int, int]:
    """Return in how many rows a method has more, equal and less power than the best of others."""
    signs = [np.sign(row[method] - max(row[other] for other in others)) for row in rows]
    return signs.count(1), signs.count(0), signs.count(-1)


def powerless_settings(rows: Sequence[PowerRow]) -> dict[str, list[str]]:
    """Return the functions and settings in which the methods of `REASONS` have no power."""
    found: dict[str, list[str]] = {}
    for method in REASONS:
        for setting in dict.fromkeys(row["setting"] for row in rows):
            selected = select_rows(rows, setting=setting)
            functions = [
                function
                for function in dict.fromkeys(row["f"] for row in selected)
                if max(row[method] for row in select_rows(selected, f=function)) <= LEVEL
            ]
            if functions:
                found.setdefault(method, []).append(f"{', '.join(functions)} ({setting})")
    return found
