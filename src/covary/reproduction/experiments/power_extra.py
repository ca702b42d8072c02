"""Figure 2 of the paper: power when related and unrelated tables differ in size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.reproduction.experiments.base import Results
from covary.reproduction.experiments.charts import stacked
from covary.reproduction.experiments.findings import Findings, method_list, sorted_values
from covary.reproduction.experiments.power_experiment import (
    DEFAULT_NOISE_INDEX,
    HIGH_NOISE,
    INDEPENDENT_X,
    INDEPENDENT_X_NOISES,
    NOISE,
    PAPER,
    Comparison,
    PowerExperiment,
    mean_power,
    power_heatmap,
    power_tables,
    select_rows,
)
from covary.reproduction.experiments.synthetic_tables import FUNCTIONS

UNRELATED, RELATED = "unrelated", "related"
# Headings: the number of extra columns, and which tables have them.
EXTRA, SIDE = "extra", "extra in"
# If more unrelated tables than this are above the cutoff on average, the cutoff is not valid.
HIGHEST_FALSE_POSITIVES = 0.1


@dataclass(frozen=True)
class PowerExtra(PowerExperiment):
    """Power when either the unrelated or the related tables have extra columns."""

    name: ClassVar[str] = "power-extra"
    title: ClassVar[str] = "Power with extra columns (Figure 2)"

    def comparisons(self) -> list[Comparison]:
        first, *larger = self.dimensions
        extras = [n - first for n in larger]
        comparisons = []
        for function in FUNCTIONS:
            cells = [(PAPER, NOISE, extra) for extra in extras]
            cells += [(PAPER, HIGH_NOISE, extras[-1])]
            cells += [
                (INDEPENDENT_X, INDEPENDENT_X_NOISES[function][DEFAULT_NOISE_INDEX], extras[0])
            ]
            comparisons += [
                self._comparison(side, function, *cell)
                for cell in cells
                for side in (UNRELATED, RELATED)
            ]
        return comparisons

    def _comparison(
        self, side: str, function: str, setting: str, noise: float, extra: int
    ) -> Comparison:
        n = self.dimensions[0]
        small = self.design(n, function, noise, setting)
        large = self.design(n + extra, function, noise, setting)
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
            related=self.tables(one, related=True),
            unrelated=self.tables(other, related=False),
            controls=self.tables(one, related=False),
        )

    def findings(self, results: Results) -> Findings:
        powers, false_positives = self.powers(results), self.false_positives(results)
        in_unrelated, in_related = ({SIDE: side} for side in (UNRELATED, RELATED))
        low_noise = select_rows(powers, setting=PAPER, noise=NOISE, **in_unrelated)
        independent = select_rows(powers, setting=INDEPENDENT_X)
        with_extra = select_rows(false_positives, **in_related)
        fair = [
            method
            for method, mean in mean_power(with_extra).items()
            if mean <= HIGHEST_FALSE_POSITIVES
        ]
        fair_powers = mean_power(select_rows(independent, **in_related), fair)
        sentences = [
            f"Extra columns in the unrelated tables (Figure 2), {PAPER}, noise {NOISE}: the power "
            f"of `uds` is at least {min(row['uds'] for row in low_noise):.2f}, and that of "
            f"`uds-chance` at least {min(row['uds-chance'] for row in low_noise):.2f}. The means "
            f"are {sorted_values(mean_power(low_noise))}. The paper reports almost perfect to "
            "perfect power for UDS, and more than for all other methods.",
            "The paper states that extra columns in the related tables give very similar results. "
            "This can hold only if a score has the same meaning for any number of columns. Of the "
            "unrelated tables with extra columns, a fraction of 0.05 should be above the cutoff. "
            f"The fractions are {sorted_values(mean_power(with_extra))}. If the fraction is more "
            f"than {HIGHEST_FALSE_POSITIVES}, a score above the cutoff is weak evidence; the "
            f"comparison is fair for {method_list(fair)}. Conversely, the fractions of the "
            "unrelated tables without extra columns are "
            f"{sorted_values(mean_power(select_rows(false_positives, **in_unrelated)))}.",
            "With independent X and extra columns in the unrelated tables, the mean power is "
            f"{sorted_values(mean_power(select_rows(independent, **in_unrelated)))}. With extra "
            "columns in the related tables, for the methods with a fair comparison, it is "
            f"{sorted_values(fair_powers) or 'not defined'}.",
        ]
        heatmaps = [
            power_heatmap(
                f"Power, {PAPER}, noise {NOISE}: extra columns of {side} tables",
                select_rows(powers, setting=PAPER, noise=NOISE, **{SIDE: side}),
                EXTRA,
            )
            for side in (UNRELATED, RELATED)
        ]
        heatmaps.append(
            power_heatmap(
                f"Power, {INDEPENDENT_X}: extra columns in which tables", independent, SIDE
            )
        )
        heatmaps.append(
            power_heatmap(
                f"Unrelated tables with extra columns above the cutoff, {PAPER}, noise {NOISE}",
                select_rows(with_extra, setting=PAPER, noise=NOISE),
                EXTRA,
            )
        )
        tables = [
            *power_tables("Power", powers),
            *power_tables(
                "Fraction of unrelated tables above the cutoff (should be 0.05)", false_positives
            ),
        ]
        size_note = (
            f"Tables have {self.dimensions[0]} columns, with or without extra columns. Extra "
            "columns are drawn in the same way as the others: in related tables they are related "
            "as well."
        )
        return Findings(sentences, tables, stacked(*heatmaps), [size_note, *self.method_notes()])
