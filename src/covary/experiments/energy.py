"""Section 7.3 of the paper: buildings and their energy, with tables that are public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import METHODS, Experiment, Findings, Result, Results, Table, Trial
from covary.experiments.searches import (
    PERMUTATIONS,
    best_by_method,
    best_sets,
    fits_table,
    projections,
    real_table,
    sets_tables,
)

# What is searched, and what is left out of it: dates, and columns of random numbers.
TABLES = {"appliances_energy": ("date",), "energy_efficiency": ()}
TITLES = {"appliances_energy": "Appliances energy", "energy_efficiency": "Energy efficiency"}


@dataclass(frozen=True)
class Energy(Experiment):
    """What is found in two tables on the energy of buildings."""

    name: ClassVar[str] = "energy"
    title: ClassVar[str] = "Energy of buildings (section 7.3)"
    pool: ClassVar[str] = "energy"

    @property
    def size(self) -> tuple[int, int]:
        """The most rows, and the number of permutations."""
        return (200, 19) if self.quick else (20_000, PERMUTATIONS)

    def trials(self) -> list[Trial]:
        return [("search", name, method, *self.size) for name in TABLES for method in METHODS]

    def run(self, trial: Trial) -> Result:
        _, name, method, most_rows, permutations = trial
        table = real_table(name, self.data, TABLES[name], most_rows)
        return best_sets(table, method, permutations, self.seed)

    def findings(self, results: Results) -> Findings:
        sentences = [
            "The table of the paper, climate and consumption of a building, is not public. There "
            "outdoor temperature, indoor CO2, heating and drinking water depend on each other, "
            "partly in curves. We search two public tables on the energy of buildings instead, so "
            "that no figure is to be compared with one of the paper."
        ]
        tables, pictured = [], []
        for name, title in TITLES.items():
            table = real_table(name, self.data, TABLES[name], self.size[0])
            found = {m: results[("search", name, m, *self.size)] for m in METHODS}
            best = found["uds-chance"]
            shown = (best["larger"] or best["all"])[0]["columns"]
            pictured.append((table, shown))
            sentences.append(
                f"{title}, {table.n_rows:,} rows and {len(table.columns)} columns: "
                f"{', '.join(shown)} depend on each other."
            )
            tables += [
                _titled(title, each)
                for each in (
                    *sets_tables(found),
                    fits_table(table, shown),
                    best_by_method(found),
                )
            ]
        notes = [
            f"Up to {self.size[0]:,} rows are drawn of each table. p-values are of "
            f"{self.size[1]} permutations, which treat rows as independent; those of Appliances "
            "energy, one every ten minutes, are not.",
        ]
        return Findings(sentences, tables, projections(*pictured), notes)


def _titled(title: str, table: Table) -> Table:
    return table._replace(title=f"{title}: {table.title[:1].lower()}{table.title[1:]}")
