"""Base class of the experiments that search single real tables and test the sets they find."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import covary
from covary.plots.curves import best_fit
from covary.reproduction.experiments.base import Experiment, Trial
from covary.reproduction.experiments.charts import Spec
from covary.reproduction.experiments.findings import ResultTable
from covary.reproduction.experiments.methods import METHODS, configured_measure
from covary.reproduction.experiments.real_tables import fingerprint, load_cached
from covary.table import Table

MAX_SIZE = 4
TOP = 10
# The methods with p-values for their sets.
TESTED = ("uds-chance", "uds")
PERMUTATIONS = 999
# Width of the beam search that determines the rank of a set.
WIDE_BEAM = 1000
PLOTTED_ROWS = 250
SEARCH_NOTE = (
    f"Searches are beam searches for sets of at most {MAX_SIZE} columns. For `uds-chance` and "
    "`uds`, sets that add nothing beyond a subset are omitted. For the other methods, a set is "
    "omitted if a larger set that contains it scores at least as high. `family-wise p` (- if not "
    "computed) is the probability that the best set of a search in a shuffled table scores at "
    "least as high."
)

Sets = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class SearchExperiment(Experiment):
    """An experiment that searches real tables and tests the sets it finds."""

    max_rows: ClassVar[int]

    @property
    def size(self) -> tuple[int, int]:
        """The largest number of rows, and the number of permutations."""
        return (200, 19) if self.quick else (self.max_rows, PERMUTATIONS)

    def trial(self, kind: str, name: str, method: str) -> Trial:
        """Return the trial of this kind for a table and a method."""
        return (kind, name, method, *self.size, fingerprint(name, self.data))


def real_table(name: str, folder: Path | None, omitted: Sequence[str], max_rows: int) -> Table:
    """Return a real table without some columns, and with a random sample of at most these rows."""
    table = load_cached(name, folder).table
    columns = [column for column in table.columns if column.name not in omitted]
    if table.n_rows <= max_rows:
        return Table(tuple(columns), table.n_rows)
    rows = np.sort(np.random.default_rng(0).choice(table.n_rows, max_rows, replace=False))
    sampled = [replace(column, values=column.values[rows]) for column in columns]
    return Table(tuple(sampled), max_rows)


def best_sets(table: Table, method: str, permutations: int, seed: int) -> Sets:
    """Return the best sets of a method and, if it is tested, the best of at least three columns.

    For a tested method, sets that add nothing beyond a subset are omitted.
    """
    options: dict[str, Any] = {
        "measure": configured_measure(method, seed),
        "max_size": MAX_SIZE,
        "every": 0,  # as in the paper
        "seed": seed,
        "n_jobs": 1,
    }
    if method not in TESTED:
        return {"all": list(map(_as_dict, covary.search(table, top=TOP, prune=True, **options)))}
    best = covary.search(table, top=TOP, sift=True, permutations=permutations, **options)
    larger = [
        subspace
        for subspace in covary.search(table, top=10**6, sift=True, **options)
        if len(subspace.columns) > 2 and subspace.score > 0
    ]
    return {
        "all": list(map(_as_dict, best)),
        "larger": [
            _as_dict(subspace)
            | {
                "pvalue": covary.test(
                    table,
                    subspace.columns,
                    measure=configured_measure(method, seed),
                    permutations=permutations,
                    seed=seed,
                    n_jobs=1,
                ).pvalue
            }
            for subspace in larger[:TOP]
        ],
    }


def _as_dict(subspace: covary.Subspace) -> dict[str, Any]:
    return {
        "columns": list(subspace.columns),
        "score": subspace.score,
        "pvalue": subspace.pvalue,
        "family_pvalue": subspace.family_pvalue,
    }


def assess_set(
    table: Table, columns: Sequence[str], method: str, permutations: int, seed: int
) -> dict[str, Any]:
    """Return the score of a set, its p-value, a comparison with random sets, and its rank.

    ``as_high`` is the fraction of random sets of the same size that score at least as high.
    ``rank`` is the position among the ``of`` sets of the same size that a search finds.
    """
    measure = configured_measure(method, seed)
    tested = covary.test(
        table, list(columns), measure=measure, permutations=permutations, seed=seed, n_jobs=1
    )
    rng = np.random.default_rng(seed)
    names = [column.name for column in table.columns]
    n_random = permutations + 1
    n_as_high = 0
    for _ in range(n_random):
        positions = rng.choice(len(names), len(columns), replace=False)
        n_as_high += measure.score(table, [names[at] for at in positions]) >= tested.score
    found = covary.search(
        table,
        measure=measure,
        max_size=len(columns),
        beam=WIDE_BEAM,
        every=0,
        top=10**6,
        n_jobs=1,
    )
    same_size = [set(each.columns) for each in found if len(each.columns) == len(columns)]
    return {
        "score": tested.score,
        "pvalue": tested.pvalue,
        "as_high": n_as_high / n_random,
        "rank": same_size.index(set(columns)) + 1 if set(columns) in same_size else None,
        "of": len(same_size),
    }


def tested_set_tables(sets: dict[str, Sets]) -> list[ResultTable]:
    """Return tables of the best sets of the tested methods."""
    return [
        ResultTable(
            title.format(method),
            ["columns", "score", "p", "family-wise p"],
            [
                [", ".join(each["columns"]), each["score"], each["pvalue"], each["family_pvalue"]]
                for each in sets[method][kind]
            ],
            digits=3,
        )
        for method in TESTED
        for kind, title in (
            ("all", "Best sets by {}"),
            ("larger", "Best sets by {} with at least three columns"),
        )
        if sets[method][kind]
    ]


def best_sets_table(sets: dict[str, Sets]) -> ResultTable:
    """Return a table of the three best sets of every method."""
    rows = [
        [method, ", ".join(each["columns"]), each["score"]]
        for method in METHODS
        for each in sets[method]["all"][:3]
    ]
    return ResultTable("Best sets by method", ["method", "columns", "score"], rows)


def curve_table(table: Table, columns: Sequence[str]) -> ResultTable:
    """Return a table of the best-fitting curve of each two columns, with x and y as plotted."""
    values = {column.name: column.values for column in table.columns}
    rows = []
    for x, y in combinations(covary.explain(table, list(columns)).order, 2):
        fit = best_fit(values[x], values[y])
        rows.append([x, y, fit and fit.kind, fit and fit.r2])
    return ResultTable("Best-fitting curves", ["x", "y", "curve", "R²"], rows)


def projections(*sets: tuple[Table, Sequence[str]]) -> Spec:
    """Return scatter plots of each two columns of some sets, with the best-fitting curves."""
    import altair as alt

    charts = [_subspace(table, columns).plot.projections(PLOTTED_ROWS) for table, columns in sets]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about selections, which an image lacks
        figure: Spec = alt.concat(*charts, columns=1).properties(background="white").to_dict()
    # Without labels of the points, the file does not publish the cells of the table.
    figure["config"] = {**figure.get("config", {}), "aria": False}
    return figure


def _subspace(table: Table, columns: Sequence[str]) -> covary.Subspace:
    """Return a set of columns as the result of a search."""
    size = len(columns)
    found = covary.search(
        table, list(columns), strategy="exhaustive", max_size=size, top=2**size, n_jobs=1
    )
    return next(each for each in found if len(each.columns) == size)
