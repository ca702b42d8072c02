"""Figure 2 of the paper: power where related and unrelated tables differ in size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import METHODS, Findings, Results
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
    PowerExperiment,
    Row,
    power_of,
    power_strip,
    power_table,
    power_tables,
    ranking,
    scores_of,
    where,
)

UNRELATED, RELATED = "unrelated", "related"
EXTRA, SIDE = "extra", "of"
# If so many unrelated tables are above the cutoff, it is none.
MANY = 0.15


@dataclass(frozen=True)
class PowerExtra(PowerExperiment):
    """Either the unrelated tables have extra columns, or the related ones."""

    name: ClassVar[str] = "power-extra"
    title: ClassVar[str] = "Power with extra columns (Figure 2)"

    def comparisons(self) -> list[Comparison]:
        first, *larger = self.dimensions
        extras = [n - first for n in larger]
        found = []
        for function in FUNCTIONS:
            cells = [(PAPER, NOISE, extra) for extra in extras]
            cells += [(PAPER, MUCH_NOISE, extras[-1])]
            cells += [(HARDER, HARD_NOISES[function][USUAL], extras[0])]
            found += [
                self._compared(side, function, *cell)
                for cell in cells
                for side in (UNRELATED, RELATED)
            ]
        return found

    def _compared(
        self, side: str, function: str, setting: str, noise: float, extra: int
    ) -> Comparison:
        n = self.dimensions[0]
        small = self.recipe(n, function, noise, setting)
        large = self.recipe(n + extra, function, noise, setting)
        one, other = (small, large) if side == UNRELATED else (large, small)
        labels = {
            "setting": setting,
            "f": function,
            "noise": noise,
            EXTRA: extra,
            SIDE: side,
        }
        return Comparison(
            labels,
            related=self.drawn(one, related=True),
            unrelated=self.drawn(other, related=False),
            controls=self.drawn(one, related=False),
        )

    def alarms(self, results: Results) -> list[Row]:
        """Return how often unrelated tables of the related ones' size are above the cutoff."""
        return [
            each.labels
            | {
                method: power_of(
                    scores_of(results, each.controls, method),
                    scores_of(results, each.unrelated, method),
                )
                for method in METHODS
            }
            for each in self.comparisons()
        ]

    def findings(self, results: Results) -> Findings:
        powers, alarms = self.powers(results), self.alarms(results)
        same = {SIDE: UNRELATED, "setting": PAPER, "noise": NOISE}
        usual = where(powers, **same)
        hard = where(powers, setting=HARDER)
        fooled = [
            method
            for method in METHODS
            if max(row[method] for row in where(alarms, **{SIDE: RELATED})) > MANY
        ]
        honest = [method for method in METHODS if method not in fooled]
        sentences = [
            f"The unrelated tables have extra columns (Figure 2), {PAPER}, noise {NOISE}: "
            f"`uds` is nowhere below {min(row['uds'] for row in usual):.2f}, `uds-chance` nowhere "
            f"below {min(row['uds-chance'] for row in usual):.2f}; on average {ranking(usual)}. "
            "The paper finds almost perfect to perfect power for UDS, and UDS ahead of all.",
            "The paper says that extra columns of the related tables instead give very similar "
            "results. That holds only for scores that mean the same whatever the number of "
            "columns. Others rise with it, related or not: of unrelated tables with the extra "
            f"columns, more than {MANY:.0%} are above the cutoff somewhere for "
            f"{_listed(fooled)}. Their power in that direction is none. It is one for "
            f"{_listed(honest)}.",
            f"With independent X, extra columns of the unrelated tables: "
            f"{ranking(where(hard, **{SIDE: UNRELATED}))}. Extra columns of the related ones: "
            f"{ranking(where(hard, **{SIDE: RELATED}), honest)}, of those whose cutoff holds.",
        ]
        titles = {
            f"{PAPER.capitalize()}, noise {NOISE}: extra columns of {side} tables": side
            for side in (UNRELATED, RELATED)
        }
        strips = [
            power_strip(title, where(powers, setting=PAPER, noise=NOISE, **{SIDE: side}), EXTRA)
            for title, side in titles.items()
        ]
        hard_title = f"{HARDER}, extra columns of which tables"
        strips.append(power_strip(hard_title, hard, SIDE))
        tables = [
            *power_tables(powers),
            power_table(
                f"Unrelated tables above the cutoff, which should be 0.05: {PAPER}",
                where(alarms, setting=PAPER),
            ),
            power_table(
                f"Unrelated tables above the cutoff, which should be 0.05: {HARDER}",
                where(alarms, setting=HARDER),
            ),
        ]
        return Findings(sentences, tables, page(*strips), self.how())


def _listed(methods: Sequence[str]) -> str:
    return ", ".join(f"`{method}`" for method in methods) or "none"
