"""Figure 2 of the paper: power where related and unrelated tables differ in size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import Findings, Results, in_order, listed
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
    means,
    power_sheets,
    power_strip,
    where,
)

UNRELATED, RELATED = "unrelated", "related"
EXTRA, SIDE = "extra", "extra in"
# If so many unrelated tables are above the cutoff on average, it is none.
MANY = 0.1


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

    def findings(self, results: Results) -> Findings:
        powers, alarms = self.powers(results), self.alarms(results)
        to_unrelated, to_related = ({SIDE: side} for side in (UNRELATED, RELATED))
        usual = where(powers, setting=PAPER, noise=NOISE, **to_unrelated)
        hard = where(powers, setting=HARDER)
        larger = where(alarms, **to_related)
        fair = [method for method, mean in means(larger).items() if mean <= MANY]
        fairly = in_order(means(where(hard, **to_related), fair)) or "nowhere"
        sentences = [
            f"Extra columns of the unrelated tables (Figure 2), {PAPER}, noise {NOISE}: `uds` is "
            f"nowhere below {min(row['uds'] for row in usual):.2f}, `uds-chance` nowhere below "
            f"{min(row['uds-chance'] for row in usual):.2f}; on average {in_order(means(usual))}. "
            "The paper finds almost perfect to perfect power for UDS, and UDS ahead of all.",
            "The paper says that extra columns of the related tables give very similar results. "
            "That can only hold for scores that mean the same whatever the number of columns. Of "
            "unrelated tables that have the extra columns, so many are above the cutoff, where "
            f"0.05 should be: {in_order(means(larger))}. Where that is more than {MANY}, a score "
            f"above the cutoff proves little; the comparison is fair for {listed(fair)}. The "
            "other way round, of unrelated tables without the extra columns: "
            f"{in_order(means(where(alarms, **to_unrelated)))}.",
            "With independent X, extra columns of the unrelated tables: "
            f"{in_order(means(where(hard, **to_unrelated)))}. Extra columns of the related ones, "
            f"where that is fair: {fairly}.",
        ]
        strips = [
            power_strip(
                f"Power, {PAPER}, noise {NOISE}: extra columns of {side} tables",
                where(powers, setting=PAPER, noise=NOISE, **{SIDE: side}),
                EXTRA,
            )
            for side in (UNRELATED, RELATED)
        ]
        strips.append(power_strip(f"Power, {HARDER}: extra columns in which tables", hard, SIDE))
        strips.append(
            power_strip(
                f"Unrelated tables with extra columns above the cutoff, {PAPER}, noise {NOISE}",
                where(larger, setting=PAPER, noise=NOISE),
                EXTRA,
            )
        )
        sheets = [
            *power_sheets("Power", powers),
            *power_sheets("Unrelated tables above the cutoff, which should be 0.05", alarms),
        ]
        base = (
            f"Tables have {self.dimensions[0]} columns, or those and the extra ones, which are "
            "drawn by the same recipe: extra columns of related tables are related as well."
        )
        return Findings(sentences, sheets, page(*strips), [base, *self.how()])
