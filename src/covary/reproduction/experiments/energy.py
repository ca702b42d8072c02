"""Section 7.3 of the paper: energy of buildings, with public tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.reproduction.experiments.base import Result, Results, Trial
from covary.reproduction.experiments.findings import Findings, ResultTable, joined
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.search_experiment import (
    SEARCH_NOTE,
    SearchExperiment,
    best_sets,
    best_sets_table,
    curve_table,
    projections,
    real_table,
    tested_set_tables,
)

# The tables, and their omitted columns: dates, and columns of random numbers.
TABLES = {"appliances_energy": ("date", "rv1", "rv2"), "energy_efficiency": ()}
TITLES = {"appliances_energy": "Appliances energy", "energy_efficiency": "Energy efficiency"}


@dataclass(frozen=True)
class Energy(SearchExperiment):
    """A search of two tables about the energy of buildings."""

    name: ClassVar[str] = "energy"
    title: ClassVar[str] = "Energy of buildings (section 7.3)"
    trial_group: ClassVar[str] = "energy"
    max_rows: ClassVar[int] = 5_000

    @property
    def dataset_names(self) -> tuple[str, ...]:
        return tuple(TABLES)

    def trials(self) -> list[Trial]:
        return [self.trial("search", name, method) for name in TABLES for method in METHODS]

    def run(self, trial: Trial) -> Result:
        _, name, method, max_rows, permutations, _ = trial
        table = real_table(name, self.data, TABLES[name], max_rows)
        return best_sets(table, method, permutations, self.seed)

    def findings(self, results: Results) -> Findings:
        sentences = [
            "The paper uses a table about the climate and the consumption of a building. As far "
            "as we know, it is not public. In it, outdoor temperature, indoor CO2, heating and "
            "drinking water depend on each other, partly nonlinearly. We search two public tables "
            "about the energy of buildings instead. Our results cannot be compared with those of "
            "the paper."
        ]
        tables, plotted = [], []
        for name, title in TITLES.items():
            table = real_table(name, self.data, TABLES[name], self.size[0])
            sets = {m: results[self.trial("search", name, m)] for m in METHODS}
            best = sets["uds-chance"]
            first = (best["larger"] or best["all"])[0]
            columns = first["columns"]
            description = (
                "The best set of at least three columns by `uds-chance`"
                if best["larger"]
                else "By `uds-chance`, no set of at least three columns adds anything beyond its "
                "subsets. The best pair"
            )
            plotted.append((table, columns))
            sentences.append(
                f"{title} has {table.n_rows:,} rows and {len(table.columns)} columns. "
                f"{description} is {joined(columns)}, with a score of {first['score']:.2f} "
                f"(p = {first['pvalue']:.3f}). The figure shows it."
            )
            tables += [
                _with_prefix(title, each)
                for each in (
                    *tested_set_tables(sets),
                    curve_table(table, columns),
                    best_sets_table(sets),
                )
            ]
        notes = [
            f"We use a random sample of at most {self.size[0]:,} rows of each table. p is based "
            f"on {self.size[1]} permutations, for a single set. {SEARCH_NOTE} All p-values assume "
            "independent rows. The rows of Appliances energy, one every ten minutes, are not "
            "independent. We omit its date and two columns of random numbers.",
        ]
        return Findings(sentences, tables, projections(*plotted), notes)


def _with_prefix(prefix: str, table: ResultTable) -> ResultTable:
    return table._replace(title=f"{prefix}: {table.title[:1].lower()}{table.title[1:]}")
