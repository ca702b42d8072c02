"""What clustering and outlier detection share: tables with classes, and the sets found in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

import covary
from covary import errors
from covary.experiments.base import (
    METHODS,
    Experiment,
    Result,
    Results,
    Sheet,
    Spec,
    in_order,
    listed,
    measure_of,
)
from covary.experiments.pictures import tiles
from covary.experiments.tables import loaded
from covary.table import Column, Table

Floats = npt.NDArray[np.float64]

BEAM = 100
N_SETS = 20
# From the paper's figures.
FAR = 0.1
DRAWN_SIZES = (2, 5)
# What is compared with the methods: sets that are drawn, and one set of all columns.
RANDOM, ALL = "random sets", "all columns"
BASELINES = (RANDOM, ALL)
COMPARED = (*METHODS, *BASELINES)
SEARCH_NOTE = (
    f"Every method is plugged into the same beam search ({BEAM} sets kept of each size, of any "
    "size; a set is left out if a larger one that contains it scores as high, as in HiCS), and "
    f"its {N_SETS} best sets are used. For comparison: {N_SETS} sets of {DRAWN_SIZES[0]} to "
    f"{DRAWN_SIZES[1]} columns drawn at random, and one set of all columns. Constant columns are "
    "left out, and for distances columns are scaled to [0, 1]. The parameters of the search are "
    "ours, as the paper does not tell its own."
)


@dataclass(frozen=True)
class SubspaceExperiment(Experiment):
    """An experiment on tables with classes; a quick one on a table that scikit-learn has."""

    titles: ClassVar[Mapping[str, str]]
    least_rows: ClassVar[int]

    @property
    def tables(self) -> tuple[str, ...]:
        return ("wdbc",) if self.quick else tuple(self.titles)

    @property
    def most_rows(self) -> int | None:
        """The most rows that are taken of a table."""
        return None

    def table(self, name: str) -> Classed:
        """Return a table by its name."""
        return classed(name, self.data, self.least_rows, self.most_rows)

    def grouped(self, results: Results) -> dict[tuple[str, str], list[Result]]:
        """Return the results of all trials by method and table."""
        found: dict[tuple[str, str], list[Result]] = {}
        for trial in self.trials():
            _, name, method, *_ = trial
            found.setdefault((method, name), []).append(results[trial])
        return found

    def quality(
        self,
        what: str,
        found: Mapping[tuple[str, str], float],
        paper: Mapping[str, Sequence[float]],
    ) -> Quality:
        """Return what was found by method and table; ``paper`` is of all tables it has."""
        known = [list(self.titles).index(name) for name in self.tables if name in self.titles]
        return Quality(
            what,
            self._titles(),
            {method: [found[method, name] for name in self.tables] for method in COMPARED},
            {m: [figures[at] for at in known] for m, figures in paper.items() if known},
        )

    def differences(self, qualities: Sequence[Quality]) -> list[str]:
        """Return how sets that are drawn compare, and where none are near the paper's figures."""
        published = all(loaded(name, self.data).published for name in self.tables)
        far = [apart(quality) for quality in qualities if published]
        return [against_random(qualities), *filter(None, far)]

    def _titles(self) -> list[str]:
        return [self.titles.get(name, name) for name in self.tables]

    def classes(self) -> Sheet:
        """Return how large the tables are."""
        tables = [self.table(name) for name in self.tables]
        return Sheet(
            "The tables, without constant columns and rows that lack a cell",
            ["table", "rows", "columns", "classes", "smallest class"],
            [
                [
                    title,
                    *table.values.shape,
                    len(set(table.labels.tolist())),
                    int(np.unique(table.labels, return_counts=True)[1].min()),
                ]
                for title, table in zip(self._titles(), tables, strict=True)
            ],
        )

    def sizes(self, results: Results) -> list[Sheet]:
        """Return how many columns a set has, and how many there are in all sets of a trial."""
        found = {
            key: [result["sets"] for result in each] for key, each in self.grouped(results).items()
        }
        kinds: dict[str, Callable[[list[list[list[str]]]], Any]] = {
            "Columns of a set, on average": lambda trials: np.mean(
                [len(columns) for sets in trials for columns in sets]
            ),
            "Different columns in all sets together, on average": lambda trials: np.mean(
                [len({*chain(*sets)}) for sets in trials]
            ),
        }
        return [
            Sheet(
                title,
                ["method", *self._titles()],
                [
                    [method, *(float(mean(found[method, name])) for name in self.tables)]
                    for method in COMPARED
                ],
                digits=1,
            )
            for title, mean in kinds.items()
        ]


class Classed(NamedTuple):
    """A table of numbers without gaps or constant columns, and the class of each row."""

    name: str
    columns: list[str]
    values: Floats
    labels: npt.NDArray[np.str_]

    def rows(self, chosen: npt.NDArray[np.generic]) -> Classed:
        """Return some of the rows."""
        return varying(self.name, self.columns, self.values[chosen], self.labels[chosen])


def classed(name: str, folder: Path | None, least: int, most: int | None = None) -> Classed:
    """Return a table by its name; rows with a missing cell are left out.

    Fewer than ``least`` rows are refused; ``most`` are drawn if there are more.
    """
    found = loaded(name, folder)
    if found.labels is None or len(set(found.labels)) < 2:
        raise errors.no_classes(name)
    columns = found.table.columns
    values = np.column_stack([np.asarray(column.values, np.float64) for column in columns])
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(rows) < least:
        raise errors.too_few_to_compare(name, len(rows), least)
    if most is not None and len(rows) > most:
        rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    names = [column.name for column in columns]
    return varying(name, names, values[rows], np.array(found.labels)[rows])


def varying(
    name: str, columns: Sequence[str], values: Floats, labels: npt.NDArray[np.str_]
) -> Classed:
    """Return a table without its constant columns."""
    vary = np.flatnonzero(values.min(axis=0) < values.max(axis=0)).tolist()
    return Classed(name, [columns[at] for at in vary], values[:, vary], labels)


def scaled(values: Floats) -> Floats:
    """Return columns that go from 0 to 1."""
    least, most = values.min(axis=0), values.max(axis=0)
    return np.asarray((values - least) / (most - least))


def found_sets(table: Classed, method: str, seed: int, draw: int = 0) -> list[list[int]]:
    """Return the best sets of columns by a method, or those of a baseline."""
    n_columns = len(table.columns)
    if method == ALL:
        return [list(range(n_columns))]
    if method == RANDOM:
        rng = np.random.default_rng((seed, draw, *table.name.encode()))
        sizes = rng.integers(*DRAWN_SIZES, size=N_SETS, endpoint=True)
        return [
            sorted(rng.choice(n_columns, min(size, n_columns), replace=False).tolist())
            for size in sizes
        ]
    columns = [Column(name, table.values[:, at]) for at, name in enumerate(table.columns)]
    found = covary.search(
        Table(tuple(columns), len(table.values)),
        measure=measure_of(method, seed),
        max_size=n_columns,
        beam=BEAM,
        top=N_SETS,
        prune=True,
        seed=seed,
        n_jobs=1,
    )
    return [[table.columns.index(name) for name in each.columns] for each in found]


def named(table: Classed, sets: Sequence[Sequence[int]]) -> list[list[str]]:
    """Return sets by the names of their columns."""
    return [[table.columns[column] for column in columns] for columns in sets]


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
    paper : by method for each table; empty if the tables are not those of the paper
    """

    what: str
    tables: Sequence[str]
    ours: Mapping[str, Sequence[float]]
    paper: Mapping[str, Sequence[float]]

    def means(self) -> dict[str, float]:
        """Return the mean over all tables."""
        return _means(self.ours)

    def means_of_paper(self) -> dict[str, float]:
        """Return the paper's means over these tables."""
        return _means(self.paper)

    def places(self) -> dict[str, float]:
        """Return the mean place among the methods; the best of a table has place 1.

        Figures that agree to two digits are equal.
        """
        from scipy.stats import rankdata

        scores = np.array([self.ours[method] for method in METHODS]).round(2)
        places = rankdata(-scores, axis=0).mean(axis=1)
        return dict(zip(METHODS, places.tolist(), strict=True))

    def sheet(self) -> Sheet:
        """Return all figures."""
        means, places = self.means(), self.places()
        rows = [
            [method, *found, means[method], places.get(method)]
            for method, found in self.ours.items()
        ]
        rows += [
            [in_the_paper(method), *found, self.means_of_paper()[method], None]
            for method, found in self.paper.items()
        ]
        return Sheet(self.what, ["method", *self.tables, "mean", "mean place"], rows)

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

    def in_words(self) -> str:
        """Return the means here and in the paper."""
        told = in_order(self.means_of_paper())
        return (
            f"{self.what}, mean over {len(self.tables)} table{'s' * (len(self.tables) > 1)}: "
            f"{in_order(self.means())}." + (f" In the paper: {told}." if told else "")
        )


def verdict(quality: Quality) -> str:
    """Return on how many tables UDS is best among the paper's methods, and what else is.

    Figures that agree to two digits are equal.
    """
    scores = {m: np.round(quality.ours[m], 2) for m in (*METHODS, RANDOM)}
    among = np.max([scores[m] for m in ("uds", "cmi", "mac", "hics")], axis=0)
    best = np.max([scores[m] for m in METHODS], axis=0)
    firsts = {m: int(np.sum(scores[m] == best)) for m in METHODS}
    most = max(firsts.values())
    often = listed([m for m in METHODS if firsts[m] == most])
    drawn = int(np.sum(scores[RANDOM] >= best))
    paper = int(np.sum(scores["uds"] == among))
    are = "is" if list(firsts.values()).count(most) == 1 else "are"
    return (
        f"`uds` is best among the paper's methods on {paper} of {len(best)}; of all methods, "
        f"{often} {are} best most often, on {most}; sets drawn at random are at least as good as "
        f"all on {drawn}."
    )


def against_random(qualities: Sequence[Quality]) -> str:
    """Return how many methods sets that are drawn are as good as, on average.

    Figures that agree to two digits are equal.
    """
    counts = []
    for quality in qualities:
        means = {m: round(mean, 2) for m, mean in quality.means().items()}
        counts.append(sum(means[RANDOM] >= means[m] for m in METHODS))
    told = "; ".join(
        f"{count} of {len(METHODS)} methods ({quality.what})"
        for count, quality in zip(counts, qualities, strict=True)
    )
    why = (
        " Where that is most of them, we think that columns which depend on each other most need "
        "not be those that tell classes apart, and that putting many sets together evens out much "
        "of what they differ in."
    )
    return (
        f"On average over tables, sets drawn at random are at least as good as {told}."
        + why * (max(counts) > len(METHODS) / 2)
    )


def apart(quality: Quality) -> str:
    """Return the tables on which all figures are far from the paper's, whatever the method."""
    if not quality.paper:
        return ""
    ours = np.array(list(quality.ours.values()))
    paper = np.array(list(quality.paper.values()))
    below = ours.max(axis=0) < np.array(quality.paper["uds"]) - FAR
    above = ours.min(axis=0) > paper.max(axis=0) + FAR
    found = [
        f"{words} on {', '.join(np.array(quality.tables)[which])}"
        for words, which in (
            (f"more than {FAR} below the paper's UDS", below),
            (f"more than {FAR} above the paper's best", above),
        )
        if which.any()
    ]
    if not found:
        return ""
    return (
        f"{quality.what}: whatever the sets, those drawn at random and all columns included, "
        f"figures are {' and '.join(found)}: there, we think, the setup differs in "
        "something that the paper does not tell."
    )


def _means(figures: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {method: float(np.mean(found)) for method, found in figures.items()}
