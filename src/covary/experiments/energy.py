"""Section 7.3 of the paper: buildings and their energy, with tables that are public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import METHODS, Findings, Result, Results, Sheet, Trial
from covary.experiments.searches import (
    SEARCHED,
    SearchExperiment,
    best_by_method,
    best_sets,
    fits_sheet,
    projections,
    real_table,
    sets_sheets,
)

# What is searched, and what is left out of it: dates, and columns of random numbers.
TABLES = {"appliances_energy": ("date", "rv1", "rv2"), "energy_efficiency": ()}
TITLES = {"appliances_energy": "Appliances energy", "energy_efficiency": "Energy efficiency"}


@dataclass(frozen=True)
class Energy(SearchExperiment):
    """What is found in two tables on the energy of buildings."""

    name: ClassVar[str] = "energy"
    title: ClassVar[str] = "Energy of buildings (section 7.3)"
    pool: ClassVar[str] = "energy"
    most_rows: ClassVar[int] = 5_000

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(TABLES)

    def trials(self) -> list[Trial]:
        return [self.trial("search", name, method) for name in TABLES for method in METHODS]

    def run(self, trial: Trial) -> Result:
        _, name, method, most_rows, permutations, _ = trial
        table = real_table(name, self.data, TABLES[name], most_rows)
        return best_sets(table, method, permutations, self.seed)

    def findings(self, results: Results) -> Findings:
        sentences = [
            "The table of the paper, climate and consumption of a building, is not public as far "
            "as we know. There outdoor temperature, indoor CO2, heating and drinking water depend "
            "on each other, partly in curves. We search two public tables on the energy "
            "of buildings instead, so that no figure is to be compared with one of the paper."
        ]
        sheets, pictured = [], []
        for name, title in TITLES.items():
            table = real_table(name, self.data, TABLES[name], self.size[0])
            found = {m: results[self.trial("search", name, m)] for m in METHODS}
            best = found["uds-chance"]
            first = (best["larger"] or best["all"])[0]
            shown = first["columns"]
            what = (
                "The best set of more than two columns that adds something by `uds-chance`"
                if best["larger"]
                else "No set of more than two columns adds anything by `uds-chance`; the best pair"
            )
            pictured.append((table, shown))
            sentences.append(
                f"{title}, {table.n_rows:,} rows and {len(table.columns)} columns. {what}, "
                f"in the picture: {', '.join(shown)}, {first['score']:.2f} "
                f"(p = {first['pvalue']:.3f})."
            )
            sheets += [
                _titled(title, each)
                for each in (
                    *sets_sheets(found),
                    fits_sheet(table, shown),
                    best_by_method(found),
                )
            ]
        notes = [
            f"Up to {self.size[0]:,} rows of each table, drawn at random. p is of {self.size[1]} "
            f"permutations, for a set by itself. {SEARCHED} All p treat rows as independent; "
            "those of Appliances energy, one every ten minutes, are not. Its date and "
            "two columns of random numbers are left out.",
        ]
        return Findings(sentences, sheets, projections(*pictured), notes)


def _titled(title: str, sheet: Sheet) -> Sheet:
    return sheet._replace(title=f"{title}: {sheet.title[:1].lower()}{sheet.title[1:]}")
