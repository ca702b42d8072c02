"""What clustering and outlier detection share: tables with classes, and the sets found in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import covary
from covary.datasets import load
from covary.experiments.base import METHODS, Spec, Table
from covary.experiments.pictures import tiles
from covary.table import Column
from covary.table import Table as Data

Floats = npt.NDArray[np.float64]

BEAM = 100
N_SETS = 20
DRAWN_SIZES = (2, 5)
# What is compared with the methods: sets that are drawn, and one set of all columns.
RANDOM, ALL = "random sets", "all columns"
BASELINES = (RANDOM, ALL)
COMPARED = (*METHODS, *BASELINES)
SEARCH_NOTE = (
    f"Every method is plugged into the same beam search ({BEAM} sets kept of each size, of any "
    "size, sets whose superset scores as high left out, as in HiCS), and its "
    f"{N_SETS} best sets are used. For comparison: {N_SETS} sets of {DRAWN_SIZES[0]} to "
    f"{DRAWN_SIZES[1]} columns drawn at random, and one set of all columns. Columns are scaled to "
    "[0, 1]; constant ones are left out."
)


class Classed(NamedTuple):
    """A table of numbers without gaps or constant columns, and the class of each row."""

    names: list[str]
    values: Floats
    labels: npt.NDArray[np.str_]

    def rows(self, chosen: npt.NDArray[np.generic]) -> Classed:
        """Return some of the rows."""
        return varying(self.names, self.values[chosen], self.labels[chosen])


def classed(name: str, folder: Path | None, most_rows: int | None = None) -> Classed:
    """Return a table by its name; rows with a missing cell are left out.

    ``most_rows`` are drawn if there are more.
    """
    loaded = load(name, folder)
    assert loaded.labels is not None, name
    columns = loaded.table.columns
    values = np.column_stack([np.asarray(column.values, np.float64) for column in columns])
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    if most_rows is not None and len(rows) > most_rows:
        rows = np.sort(np.random.default_rng(0).choice(rows, most_rows, replace=False))
    return varying(
        [column.name for column in columns], values[rows], np.array(loaded.labels)[rows]
    )


def varying(names: Sequence[str], values: Floats, labels: npt.NDArray[np.str_]) -> Classed:
    """Return a table without its constant columns."""
    vary = np.flatnonzero(values.min(axis=0) < values.max(axis=0)).tolist()
    return Classed([names[at] for at in vary], values[:, vary], labels)


def scaled(values: Floats) -> Floats:
    """Return columns that go from 0 to 1."""
    least, most = values.min(axis=0), values.max(axis=0)
    return np.asarray((values - least) / (most - least))


def found_sets(table: Classed, method: str, seed: int) -> list[list[int]]:
    """Return the best sets of columns by a method, or those of a baseline."""
    n_columns = len(table.names)
    if method == ALL:
        return [list(range(n_columns))]
    if method == RANDOM:
        draw = np.random.default_rng((seed, n_columns))
        sizes = draw.integers(*DRAWN_SIZES, size=N_SETS, endpoint=True)
        return [
            sorted(draw.choice(n_columns, min(size, n_columns), replace=False).tolist())
            for size in sizes
        ]
    columns = [Column(name, table.values[:, at]) for at, name in enumerate(table.names)]
    found = covary.search(
        Data(tuple(columns), len(table.values)),
        measure=method,
        max_size=n_columns,
        beam=BEAM,
        top=N_SETS,
        prune=True,
        n_jobs=1,
    )
    return [[table.names.index(name) for name in each.columns] for each in found]


def in_the_paper(method: str) -> str:
    """Return what the row of the paper's own figures is called."""
    return f"{method}, in the paper"


class Quality(NamedTuple):
    """How good the sets of each method are, for each table, beside what the paper says.

    Parameters
    ----------
    what : the figures are
    tables : how they are called
    ours : by method, and baseline, for each table
    paper : by method for each table
    """

    what: str
    tables: Sequence[str]
    ours: Mapping[str, Sequence[float]]
    paper: Mapping[str, Sequence[float]]

    @classmethod
    def of(
        cls,
        what: str,
        titles: Mapping[str, str],
        names: Sequence[str],
        found: Mapping[tuple[str, str], float],
        paper: Mapping[str, Sequence[float]],
    ) -> Quality:
        """Return what was found by method and table, for the tables of these names.

        ``titles`` and ``paper`` are of all tables, in the same order.
        """
        places = [list(titles).index(name) for name in names]
        return cls(
            what,
            [titles[name] for name in names],
            {method: [found[method, name] for name in names] for method in COMPARED},
            {method: [figures[at] for at in places] for method, figures in paper.items()},
        )

    def means(self) -> dict[str, float]:
        """Return the mean over all tables."""
        return {method: float(np.mean(found)) for method, found in self.ours.items()}

    def ranks(self) -> dict[str, float]:
        """Return the mean rank among the methods; the best of a table has rank 1."""
        from scipy.stats import rankdata

        scores = np.array([self.ours[method] for method in METHODS])
        ranks = rankdata(-scores, axis=0).mean(axis=1)
        return dict(zip(METHODS, ranks.tolist(), strict=True))

    def spread_of_methods(self) -> float:
        """Return the standard deviation between methods, its mean over tables."""
        scores = np.array([self.ours[method] for method in METHODS])
        return float(scores.std(axis=0, ddof=1).mean())

    def table(self) -> Table:
        """Return all figures."""
        means, ranks = self.means(), self.ranks()
        rows = [
            [method, *found, means[method], ranks.get(method)]
            for method, found in self.ours.items()
        ]
        rows += [
            [in_the_paper(method), *found, float(np.mean(found)), None]
            for method, found in self.paper.items()
        ]
        return Table(self.what, ["method", *self.tables, "mean", "mean rank"], rows)

    def ranking(self) -> str:
        """Return the means of all methods, the highest first, in words."""
        means = self.means()
        ordered = sorted(means, key=lambda method: -means[method])
        return ", ".join(f"`{method}` {means[method]:.2f}" for method in ordered)

    def ranks_in_words(self) -> str:
        """Return the mean ranks of all methods, the best first."""
        ranks = sorted(self.ranks().items(), key=lambda each: each[1])
        return ", ".join(f"`{method}` {rank:.1f}" for method, rank in ranks)

    def picture(self) -> Spec:
        """Return a map of all figures."""
        rows = {**self.ours, **{in_the_paper(method): f for method, f in self.paper.items()}}
        cells = [
            {"row": method, "data": name, "value": value}
            for method, found in rows.items()
            for name, value in zip(
                (*self.tables, "mean"), (*found, float(np.mean(found))), strict=True
            )
        ]
        return tiles(
            self.what, cells, across="data", rows=list(rows), columns=(*self.tables, "mean")
        )
