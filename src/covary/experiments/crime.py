"""Section 7.3 of the paper: education and employment in Communities & Crime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import METHODS, Experiment, Findings, Result, Results, Table, Trial
from covary.experiments.searches import (
    PERMUTATIONS,
    WIDE,
    about_set,
    best_by_method,
    best_sets,
    fits_table,
    projections,
    real_table,
    sets_tables,
)
from covary.table import Table as Data

# High education, low education, employed as worker, employed as manager.
EDUCATION = ("PctBSorMore", "PctNotHSGrad", "PctOccupManu", "PctOccupMgmtProf")
CODES = ("state", "county", "community", "communityname", "fold")
POLICE = (
    "LemasSwornFT", "LemasSwFTPerPop", "LemasSwFTFieldOps", "LemasSwFTFieldPerPop",
    "LemasTotalReq", "LemasTotReqPerPop", "PolicReqPerOffic", "PolicPerPop",
    "RacialMatchCommPol", "PctPolicWhite", "PctPolicBlack", "PctPolicHisp", "PctPolicAsian",
    "PctPolicMinor", "OfficAssgnDrugUnits", "NumKindsDrugsSeiz", "PolicAveOTWorked",
    "PolicCars", "PolicOperBudg", "LemasPctPolicOnPatr", "LemasGangUnitDeploy",
    "PolicBudgPerPop",
)  # fmt: skip


# What a quick run looks at.
FEW = ("PctBS", "PctNotHS", "PctLess", "PctOccup", "PctEmpl", "PctUnemp", "PctWork")
KEYS = ("score", "pvalue", "as_high", "rank", "of")


@dataclass(frozen=True)
class Crime(Experiment):
    """What is found in the table, and what each method says of the set that the paper shows."""

    name: ClassVar[str] = "crime"
    title: ClassVar[str] = "Education and employment in Communities & Crime (section 7.3)"
    pool: ClassVar[str] = "crime"

    @property
    def size(self) -> tuple[int, int]:
        """The most rows, and the number of permutations."""
        return (200, 19) if self.quick else (10_000, PERMUTATIONS)

    def trials(self) -> list[Trial]:
        return [(kind, method, *self.size) for kind in ("search", "set") for method in METHODS]

    def run(self, trial: Trial) -> Result:
        kind, method, most_rows, permutations = trial
        table = self._table(most_rows)
        if kind == "search":
            return best_sets(table, method, permutations, self.seed)
        return about_set(table, EDUCATION, method, permutations, self.seed)

    def _table(self, most_rows: int) -> Data:
        table = real_table("communities", self.data, (*CODES, *POLICE), most_rows)
        few = [column for column in table.columns if column.name.startswith(FEW)]
        return Data(tuple(few), table.n_rows) if self.quick else table

    def findings(self, results: Results) -> Findings:
        most_rows, permutations = self.size
        table = self._table(most_rows)
        found = {m: results[("search", m, *self.size)] for m in METHODS}
        told = {m: results[("set", m, *self.size)] for m in METHODS}
        significant = [m for m in METHODS if told[m]["pvalue"] <= 0.05]
        high = [m for m in METHODS if told[m]["as_high"] <= 0.05]
        reached = [m for m in METHODS if told[m]["rank"] is not None]
        sentences = [
            "The paper reports a dependence among high education, low education, employed as "
            "worker and employed as manager, found by UDS and MAC only, significant at 0.05. Here "
            f"{', '.join(EDUCATION)} score {told['uds-chance']['score']:.2f} by `uds-chance` "
            f"(p = {told['uds-chance']['pvalue']:.3f}) and {told['uds']['score']:.2f} by `uds` "
            f"(p = {told['uds']['pvalue']:.3f}).",
            f"It is significant at 0.05 by {_listed(significant)}, and scores higher than 95 % of "
            f"sets of four columns drawn at random by {_listed(high)}. A beam search finds it "
            f"with {_listed(reached)}.",
        ]
        tables = [
            Table(
                f"The set of the paper: {', '.join(EDUCATION)}",
                ["method", "score", "p", "random sets as high", "rank", "of"],
                [[m, *(told[m][k] for k in KEYS)] for m in METHODS],
                digits=3,
            ),
            fits_table(table, EDUCATION),
            *sets_tables(found),
            best_by_method(found),
        ]
        notes = [
            f"{table.n_rows:,} communities, {len(table.columns)} columns: the five that are not "
            "meant to predict and the 22 on police, missing in 84 % of the rows, are left out.",
            f"`rank` is the place of the set among those of four columns that a beam search with "
            f"{WIDE:,} sets of each size comes to, - if it does not come to it. p-values are of "
            f"{permutations} permutations of the columns. `family p` takes into "
            "account that the best of all sets was looked for. Curves are polynomials up to "
            "degree 5 or monotone, the simplest that predicts rows it was not fitted to about as "
            "well as the best.",
        ]
        return Findings(sentences, tables, projections((table, EDUCATION)), notes)


def _listed(methods: list[str]) -> str:
    return ", ".join(f"`{method}`" for method in methods) or "no method"
