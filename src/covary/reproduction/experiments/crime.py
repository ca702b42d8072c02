"""Section 7.3 of the paper: education and employment in Communities & Crime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from covary.reproduction.experiments.base import Result, Results, Trial
from covary.reproduction.experiments.findings import Findings, ResultTable, joined, method_list
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.search_experiment import (
    SEARCH_NOTE,
    WIDE_BEAM,
    SearchExperiment,
    assess_set,
    best_sets,
    best_sets_table,
    curve_table,
    projections,
    real_table,
    tested_set_tables,
)
from covary.table import Table

TABLE = "communities"
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
# Prefixes of the columns of a quick run.
QUICK_PREFIXES = ("PctBS", "PctNotHS", "PctLess", "PctOccup", "PctEmpl", "PctUnemp", "PctWork")
KEYS = ("score", "pvalue", "as_high", "rank", "of")


@dataclass(frozen=True)
class Crime(SearchExperiment):
    """A search of the table, and an assessment of the set of the paper by each method."""

    name: ClassVar[str] = "crime"
    title: ClassVar[str] = "Education and employment in Communities & Crime (section 7.3)"
    trial_group: ClassVar[str] = "crime"
    max_rows: ClassVar[int] = 10_000

    @property
    def dataset_names(self) -> tuple[str, ...]:
        return (TABLE,)

    def trials(self) -> list[Trial]:
        return [
            self.trial(kind, TABLE, method) for kind in ("search", "set") for method in METHODS
        ]

    def run(self, trial: Trial) -> Result:
        kind, _, method, max_rows, permutations, _ = trial
        table = self._table(max_rows)
        if kind == "search":
            return best_sets(table, method, permutations, self.seed)
        return assess_set(table, EDUCATION, method, permutations, self.seed)

    def _table(self, max_rows: int) -> Table:
        table = real_table(TABLE, self.data, (*CODES, *POLICE), max_rows)
        few = [column for column in table.columns if column.name.startswith(QUICK_PREFIXES)]
        return Table(tuple(few), table.n_rows) if self.quick else table

    def findings(self, results: Results) -> Findings:
        max_rows, permutations = self.size
        table = self._table(max_rows)
        sets = {m: results[self.trial("search", TABLE, m)] for m in METHODS}
        paper_set = {m: results[self.trial("set", TABLE, m)] for m in METHODS}
        significant = [m for m in METHODS if paper_set[m]["pvalue"] <= 0.05]
        beats_random = [m for m in METHODS if paper_set[m]["as_high"] <= 0.05]
        ranks = ", ".join(
            f"{paper_set[m]['rank']} of {paper_set[m]['of']} by `{m}`"
            for m in METHODS
            if paper_set[m]["rank"] is not None
        )
        unranked = [m for m in METHODS if paper_set[m]["rank"] is None]
        confirmed = {"uds", "mac"} <= set(significant) <= {"uds-chance", "uds", "mac"}
        curves = curve_table(table, EDUCATION)
        kinds = dict.fromkeys(row[2] for row in curves.rows if row[2])
        sentences = [
            "The paper reports a dependence among high education, low education, employed as "
            "worker and employed as manager. It is significant at level 0.05, and only UDS and "
            f"MAC find it. Here {joined(EDUCATION)} have a score of "
            f"{paper_set['uds-chance']['score']:.2f} by `uds-chance` "
            f"(p = {paper_set['uds-chance']['pvalue']:.3f}) and of "
            f"{paper_set['uds']['score']:.2f} by `uds` (p = {paper_set['uds']['pvalue']:.3f}).",
            "Methods by which the set is significant at level 0.05: "
            f"{method_list(significant)}. Methods by which it scores higher than 95% of random "
            f"sets of {len(EDUCATION)} columns: {method_list(beats_random)}.",
            f"There are {math.comb(len(table.columns), len(EDUCATION)):,} sets of "
            f"{len(EDUCATION)} columns. A beam search that keeps {WIDE_BEAM:,} sets of each size "
            "scores a set only if it kept all its triples. Rank of the set among the sets that "
            f"the search returns: {ranks or 'none'}."
            + f" The search does not return it by {method_list(unranked)}."
            * bool(unranked),
            "The paper does not define when a set counts as detected. Our results "
            f"{'confirm' if confirmed else 'do not confirm'} that only UDS and MAC detect it.",
            "The paper draws polynomials of degree 5 through two of its three projections. It "
            "chooses them by R², which never decreases with the degree. We choose the simplest "
            "curve that predicts new rows about as well as the best curve. The kinds of these "
            f"curves are: {joined(kinds)}.",
        ]
        tables = [
            ResultTable(
                f"The set of the paper: {', '.join(EDUCATION)}",
                ["method", "score", "p", "random sets", "rank", "ranked sets"],
                [[m, *(paper_set[m][key] for key in KEYS)] for m in METHODS],
                digits=3,
            ),
            curves,
            *tested_set_tables(sets),
            best_sets_table(sets),
        ]
        notes = [
            f"The table has {table.n_rows:,} communities and {len(table.columns)} columns. We "
            "omit the columns that are not meant for prediction, and the columns about police, "
            "which are missing for most communities"
            + ("; a quick run omits most other columns as well." if self.quick else "."),
            "PctBSorMore is high education, PctNotHSGrad low education, PctOccupManu employed as "
            "worker (in manufacturing), PctOccupMgmtProf employed as manager. In the figure, "
            "dashed lines are the best cuts of the explaining column. If two columns together "
            "explain a third, the colour of the points shows the second.",
            f"`random sets` is the fraction of {permutations + 1:,} random sets of the same size "
            "that score at least as high. `rank` is the rank of the set in the search (- if the "
            "search does not return it), and `ranked sets` the number of sets of the same size.",
            f"p is based on {permutations} permutations of the columns, for a single set; its "
            f"smallest possible value is {1 / (permutations + 1):.3f}. {SEARCH_NOTE} Curves are "
            "polynomials of degree at most 5, or monotone.",
        ]
        return Findings(sentences, tables, projections((table, EDUCATION)), notes)
