"""Section 7.3 of the paper: education and employment in Communities & Crime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from covary.experiments.base import (
    METHODS,
    Findings,
    Result,
    Results,
    Sheet,
    Trial,
    listed,
)
from covary.experiments.searches import (
    SEARCHED,
    WIDE,
    SearchExperiment,
    about_set,
    best_by_method,
    best_sets,
    fits_sheet,
    projections,
    real_table,
    sets_sheets,
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


# What a quick run looks at.
FEW = ("PctBS", "PctNotHS", "PctLess", "PctOccup", "PctEmpl", "PctUnemp", "PctWork")
KEYS = ("score", "pvalue", "as_high", "rank", "of")


@dataclass(frozen=True)
class Crime(SearchExperiment):
    """What is found in the table, and what each method says of the set that the paper shows."""

    name: ClassVar[str] = "crime"
    title: ClassVar[str] = "Education and employment in Communities & Crime (section 7.3)"
    pool: ClassVar[str] = "crime"
    most_rows: ClassVar[int] = 10_000

    @property
    def tables(self) -> tuple[str, ...]:
        return (TABLE,)

    def trials(self) -> list[Trial]:
        return [
            self.trial(kind, TABLE, method) for kind in ("search", "set") for method in METHODS
        ]

    def run(self, trial: Trial) -> Result:
        kind, _, method, most_rows, permutations, _ = trial
        table = self._table(most_rows)
        if kind == "search":
            return best_sets(table, method, permutations, self.seed)
        return about_set(table, EDUCATION, method, permutations, self.seed)

    def _table(self, most_rows: int) -> Table:
        table = real_table(TABLE, self.data, (*CODES, *POLICE), most_rows)
        few = [column for column in table.columns if column.name.startswith(FEW)]
        return Table(tuple(few), table.n_rows) if self.quick else table

    def findings(self, results: Results) -> Findings:
        most_rows, permutations = self.size
        table = self._table(most_rows)
        found = {m: results[self.trial("search", TABLE, m)] for m in METHODS}
        told = {m: results[self.trial("set", TABLE, m)] for m in METHODS}
        significant = [m for m in METHODS if told[m]["pvalue"] <= 0.05]
        high = [m for m in METHODS if told[m]["as_high"] <= 0.05]
        places = ", ".join(
            f"number {told[m]['rank']} of {told[m]['of']} by `{m}`"
            for m in METHODS
            if told[m]["rank"] is not None
        )
        missed = [m for m in METHODS if told[m]["rank"] is None]
        by_both = {"uds", "mac"} <= set(significant) <= {"uds-chance", "uds", "mac"}
        alone = "what we see" if by_both else "not what we see"
        fits = fits_sheet(table, EDUCATION)
        curves = ", ".join(dict.fromkeys(row[2] for row in fits.rows if row[2])) or "none"
        sentences = [
            "The paper reports a dependence among high education, low education, employed as "
            "worker and employed as manager, found by UDS and MAC only, significant at 0.05. Here "
            f"{', '.join(EDUCATION)} score {told['uds-chance']['score']:.2f} by `uds-chance` "
            f"(p = {told['uds-chance']['pvalue']:.3f}) and {told['uds']['score']:.2f} by `uds` "
            f"(p = {told['uds']['pvalue']:.3f}).",
            f"It is significant at 0.05 by {listed(significant)}, and scores higher than 95 % of "
            f"sets of {len(EDUCATION)} columns drawn at random by {listed(high)}.",
            f"Of {math.comb(len(table.columns), len(EDUCATION)):,} sets of {len(EDUCATION)} "
            f"columns, a beam search that keeps {WIDE:,} sets of each size scores those all of "
            "whose triples it kept. Among those that come out of it, the set is "
            f"{places or 'nowhere'}" + (f"; not there by {listed(missed)}." if missed else "."),
            "The paper does not tell what it means by a set that is not detected; that UDS and "
            f"MAC alone detect it is {alone}.",
            "The paper draws polynomials of degree 5 through two of its three projections, chosen "
            "by R², which no higher degree makes worse. Here the simplest curves that predict "
            "rows they were not fitted to about as well as the best are of these kinds: "
            f"{curves}.",
        ]
        sheets = [
            Sheet(
                f"The set of the paper: {', '.join(EDUCATION)}",
                ["method", "score", "p", "as high", "rank", "of"],
                [[m, *(told[m][k] for k in KEYS)] for m in METHODS],
                digits=3,
            ),
            fits,
            *sets_sheets(found),
            best_by_method(found),
        ]
        notes = [
            f"{table.n_rows:,} communities, {len(table.columns)} columns. Left out are those that "
            "are not meant to predict, and those on police, which most communities lack"
            + ("; and most others, in a quick run." if self.quick else "."),
            "PctBSorMore is high education, PctNotHSGrad low education, PctOccupManu employed as "
            "worker (in manufacturing), PctOccupMgmtProf employed as manager. In the picture, "
            "dashed lines are where the explaining column is cut best; if two columns together "
            "explain a third, points have the colour of the second.",
            f"`as high` is the share of {permutations + 1:,} random sets of as many columns that "
            "score as high. `rank` is the place of the set in the search, - if it is not there.",
            f"p is of {permutations} permutations of the columns, for a set by itself, and not "
            f"below {1 / (permutations + 1):.3f}. {SEARCHED} Curves are polynomials up to degree "
            "5 or monotone.",
        ]
        return Findings(sentences, sheets, projections((table, EDUCATION)), notes)
