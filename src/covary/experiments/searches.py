"""What the experiments on single tables share: what is found, and whether it could be chance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import covary
from covary.experiments.base import METHODS, Experiment, Sheet, Spec, Trial, measure_of
from covary.experiments.tables import fingerprint, loaded
from covary.report.fits import best_fit
from covary.table import Table

MAX_SIZE = 4
TOP = 10
# The sets that these find are tested.
TESTED = ("uds-chance", "uds")
PERMUTATIONS = 999
# So many sets of each size are kept to see where a set comes in.
WIDE = 1000
ROWS_DRAWN = 250
SEARCHED = (
    f"Searches are beam searches for up to {MAX_SIZE} columns. Of the sets of `uds-chance` and "
    "`uds`, those that add nothing to their parts are left out; of those of other methods, sets "
    "that score no higher than a larger one that contains them. `family p` (- where it was not "
    "computed) is how often the best set of a whole search in a shuffled table scores as high."
)


Sets = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class SearchExperiment(Experiment):
    """An experiment that searches real tables, and tests what it finds."""

    most_rows: ClassVar[int]

    @property
    def size(self) -> tuple[int, int]:
        """The most rows, and the number of permutations."""
        return (200, 19) if self.quick else (self.most_rows, PERMUTATIONS)

    def trial(self, kind: str, name: str, method: str) -> Trial:
        """Return the trial of a kind and method on the table of this name."""
        return (kind, name, method, *self.size, fingerprint(name, self.data))


def real_table(name: str, folder: Path | None, left_out: Sequence[str], most_rows: int) -> Table:
    """Return a table by its name, without some columns; of more rows than these, a sample."""
    table = loaded(name, folder).table
    columns = [column for column in table.columns if column.name not in left_out]
    if table.n_rows <= most_rows:
        return Table(tuple(columns), table.n_rows)
    rows = np.sort(np.random.default_rng(0).choice(table.n_rows, most_rows, replace=False))
    kept = [replace(column, values=column.values[rows]) for column in columns]
    return Table(tuple(kept), most_rows)


def best_sets(table: Table, method: str, permutations: int, seed: int) -> Sets:
    """Return the best sets that a method finds, and the best of three columns or more.

    What adds nothing to its parts is left out if the method is one whose sets are tested.
    """
    how: dict[str, Any] = {
        "measure": measure_of(method, seed),
        "max_size": MAX_SIZE,
        "seed": seed,
        "n_jobs": 1,
    }
    if method not in TESTED:
        return {"all": list(map(_told, covary.search(table, top=TOP, prune=True, **how)))}
    found = covary.search(table, top=TOP, sift=True, permutations=permutations, **how)
    larger = [each for each in covary.search(table, top=10**6, sift=True, **how) if _large(each)]
    return {
        "all": list(map(_told, found)),
        "larger": [
            _told(each)
            | {
                "pvalue": covary.test(
                    table,
                    each.columns,
                    measure=measure_of(method, seed),
                    permutations=permutations,
                    seed=seed,
                    n_jobs=1,
                ).pvalue
            }
            for each in larger[:TOP]
        ],
    }


def _large(found: covary.Subspace) -> bool:
    return len(found.columns) > 2 and found.score > 0


def _told(found: covary.Subspace) -> dict[str, Any]:
    return {
        "columns": list(found.columns),
        "score": found.score,
        "pvalue": found.pvalue,
        "family_pvalue": found.family_pvalue,
    }


def about_set(
    table: Table, columns: Sequence[str], method: str, permutations: int, seed: int
) -> dict[str, Any]:
    """Return how a set stands out: score, p-value, share of random sets, and place in a search."""
    measure = measure_of(method, seed)
    tested = covary.test(
        table, list(columns), measure=measure, permutations=permutations, seed=seed, n_jobs=1
    )
    draw = np.random.default_rng(seed)
    names = [column.name for column in table.columns]
    n_random = permutations + 1
    as_high = 0
    for _ in range(n_random):
        drawn = draw.choice(len(names), len(columns), replace=False)
        as_high += measure.score(table, [names[at] for at in drawn]) >= tested.score
    found = covary.search(
        table, measure=measure, max_size=len(columns), beam=WIDE, top=10**6, n_jobs=1
    )
    alike = [set(each.columns) for each in found if len(each.columns) == len(columns)]
    return {
        "score": tested.score,
        "pvalue": tested.pvalue,
        "as_high": as_high / n_random,
        "rank": alike.index(set(columns)) + 1 if set(columns) in alike else None,
        "of": len(alike),
    }


def sets_sheets(found: dict[str, Sets]) -> list[Sheet]:
    """Return tables of the sets that were tested."""
    return [
        Sheet(
            title.format(method),
            ["columns", "score", "p", "family p"],
            [
                [", ".join(each["columns"]), each["score"], each["pvalue"], each["family_pvalue"]]
                for each in found[method][kind]
            ],
            digits=3,
        )
        for method in TESTED
        for kind, title in (
            ("all", "The best sets of {}"),
            ("larger", "The best sets of {} with more than two columns that add something"),
        )
        if found[method][kind]
    ]


def best_by_method(found: dict[str, Sets]) -> Sheet:
    """Return the three best sets of every method."""
    rows = [
        [method, ", ".join(each["columns"]), each["score"]]
        for method in METHODS
        for each in found[method]["all"][:3]
    ]
    return Sheet("The best sets of every method", ["method", "columns", "score"], rows)


def fits_sheet(table: Table, columns: Sequence[str]) -> Sheet:
    """Return the curve that fits each two columns best, x and y as in the picture."""
    values = {column.name: column.values for column in table.columns}
    rows = []
    for one, other in combinations(covary.explain(table, list(columns)).order, 2):
        fit = best_fit(values[one], values[other])
        rows.append([one, other, fit and fit.kind, fit and fit.r2])
    return Sheet("What fits best", ["x", "y", "curve", "R²"], rows)


def projections(*sets: tuple[Table, Sequence[str]]) -> Spec:
    """Return a picture of every two columns of some sets, with the curves that fit best."""
    import altair as alt

    charts = [_whole(table, columns).plot.projections(ROWS_DRAWN) for table, columns in sets]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nobody brushes a picture
        picture: Spec = alt.concat(*charts, columns=1).properties(background="white").to_dict()
    # What is published is a picture of the rows, not the rows: no label tells their cells.
    picture["config"] = {**picture.get("config", {}), "aria": False}
    return picture


def _whole(table: Table, columns: Sequence[str]) -> covary.Subspace:
    """Return a set as if a search had found it."""
    size = len(columns)
    found = covary.search(
        table, list(columns), strategy="exhaustive", max_size=size, top=2**size, n_jobs=1
    )
    return next(each for each in found if len(each.columns) == size)
