"""Base class of the experiments on tables with classes: clustering and outlier detection."""

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
from covary.array_types import Floats
from covary.reproduction.experiments.base import Experiment, Result, Results
from covary.reproduction.experiments.findings import ResultTable
from covary.reproduction.experiments.methods import METHODS, configured_measure
from covary.reproduction.experiments.quality import (
    ALL_COLUMNS,
    RANDOM_SETS,
    Quality,
    compare_with_random,
    tables_far_from_paper,
)
from covary.reproduction.experiments.real_tables import load_cached
from covary.table import Column, Table

BEAM = 100
N_SETS = 20
RANDOM_SIZES = (2, 5)
COMPARED = (*METHODS, RANDOM_SETS, ALL_COLUMNS)
SUBSPACE_NOTE = (
    f"Every method runs in the same beam search (it keeps {BEAM} sets of each size, and sizes are "
    "not limited; a set is omitted if a larger set that contains it scores at least as high, as "
    f"in HiCS). We use the {N_SETS} best sets of each method. For comparison, we use {N_SETS} "
    f"random sets of {RANDOM_SIZES[0]} to {RANDOM_SIZES[1]} columns, and one set of all columns. "
    "Constant columns are omitted. For distances, columns are scaled to [0, 1]. We chose the "
    "parameters of the search, because the paper does not state its own."
)


class LabelledTable(NamedTuple):
    """A numeric table without missing cells or constant columns, and the class of each row."""

    name: str
    columns: list[str]
    values: Floats
    labels: npt.NDArray[np.str_]

    def select_rows(self, rows: npt.NDArray[np.generic]) -> LabelledTable:
        """Return a table of some of the rows."""
        return without_constants(self.name, self.columns, self.values[rows], self.labels[rows])


@dataclass(frozen=True)
class SubspaceExperiment(Experiment):
    """An experiment on tables with classes. A quick run uses a table of scikit-learn."""

    titles: ClassVar[Mapping[str, str]]
    min_rows: ClassVar[int]

    @property
    def dataset_names(self) -> tuple[str, ...]:
        return ("wdbc",) if self.quick else tuple(self.titles)

    @property
    def max_rows(self) -> int | None:
        """The largest number of rows of a table; None is no limit."""
        return None

    def table(self, name: str) -> LabelledTable:
        """Return the table with this name."""
        return labelled_table(name, self.data, self.min_rows, self.max_rows)

    def group_results(self, results: Results) -> dict[tuple[str, str], list[Result]]:
        """Return the results of all trials by method and table."""
        grouped: dict[tuple[str, str], list[Result]] = {}
        for trial in self.trials():
            _, name, method, *_ = trial
            grouped.setdefault((method, name), []).append(results[trial])
        return grouped

    def quality(
        self,
        label: str,
        values: Mapping[tuple[str, str], float],
        paper: Mapping[str, Sequence[float]],
    ) -> Quality:
        """Return the quality of all methods.

        Parameters
        ----------
        label : name of the values
        values : by method and table
        paper : values of the paper, by method, for all tables of `titles`
        """
        names = [name for name in self.dataset_names if name in self.titles]
        positions = [list(self.titles).index(name) for name in names]
        return Quality(
            label,
            self._table_titles(),
            {method: [values[method, name] for name in self.dataset_names] for method in COMPARED},
            {m: [figures[at] for at in positions] for m, figures in paper.items() if positions},
        )

    def comparison_sentences(self, qualities: Sequence[Quality]) -> list[str]:
        """Return comparisons with random sets, and the tables far from the paper's results."""
        published = all(load_cached(name, self.data).published for name in self.dataset_names)
        far = [tables_far_from_paper(quality) for quality in qualities if published]
        return [compare_with_random(qualities), *filter(None, far)]

    def _table_titles(self) -> list[str]:
        return [self.titles.get(name, name) for name in self.dataset_names]

    def dataset_table(self) -> ResultTable:
        """Return the sizes of the tables and of their classes."""
        tables = [self.table(name) for name in self.dataset_names]
        return ResultTable(
            "The tables, without constant columns and rows with missing cells",
            ["table", "rows", "columns", "classes", "smallest class"],
            [
                [
                    title,
                    *table.values.shape,
                    len(set(table.labels.tolist())),
                    int(np.unique(table.labels, return_counts=True)[1].min()),
                ]
                for title, table in zip(self._table_titles(), tables, strict=True)
            ],
        )

    def set_size_tables(self, results: Results) -> list[ResultTable]:
        """Return the mean number of columns of a set, and of all sets of a trial together."""
        sets_by_trial = {
            key: [result["sets"] for result in each]
            for key, each in self.group_results(results).items()
        }
        averages: dict[str, Callable[[list[list[list[str]]]], Any]] = {
            "Mean number of columns per set": lambda trials: np.mean(
                [len(columns) for sets in trials for columns in sets]
            ),
            "Mean number of distinct columns in all sets": lambda trials: np.mean(
                [len({*chain(*sets)}) for sets in trials]
            ),
        }
        return [
            ResultTable(
                title,
                ["method", *self._table_titles()],
                [
                    [
                        method,
                        *(float(mean(sets_by_trial[method, name])) for name in self.dataset_names),
                    ]
                    for method in COMPARED
                ],
                digits=1,
            )
            for title, mean in averages.items()
        ]


def labelled_table(
    name: str, folder: Path | None, min_rows: int, max_rows: int | None = None
) -> LabelledTable:
    """Return the table with this name, without rows that have missing cells.

    Parameters
    ----------
    name, folder : as for `covary.reproduction.datasets.load`
    min_rows : fewer rows are an error
    max_rows : of more rows, a random sample of this size is used
    """
    loaded = load_cached(name, folder)
    if loaded.labels is None or len(set(loaded.labels)) < 2:
        raise errors.no_classes(name)
    columns = loaded.table.columns
    values = np.column_stack([np.asarray(column.values, np.float64) for column in columns])
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(rows) < min_rows:
        raise errors.too_few_to_compare(name, len(rows), min_rows)
    if max_rows is not None and len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_rows, replace=False))
    names = [column.name for column in columns]
    return without_constants(name, names, values[rows], np.array(loaded.labels)[rows])


def without_constants(
    name: str, columns: Sequence[str], values: Floats, labels: npt.NDArray[np.str_]
) -> LabelledTable:
    """Return a table without constant columns."""
    varying = np.flatnonzero(values.min(axis=0) < values.max(axis=0)).tolist()
    return LabelledTable(name, [columns[at] for at in varying], values[:, varying], labels)


def scaled_to_unit(values: Floats) -> Floats:
    """Return the columns scaled to [0, 1]."""
    least, most = values.min(axis=0), values.max(axis=0)
    return np.asarray((values - least) / (most - least))


def select_sets(table: LabelledTable, method: str, seed: int, draw: int = 0) -> list[list[int]]:
    """Return the best sets of columns by a method, random sets, or the set of all columns."""
    n_columns = len(table.columns)
    if method == ALL_COLUMNS:
        return [list(range(n_columns))]
    if method == RANDOM_SETS:
        rng = np.random.default_rng((seed, draw, *table.name.encode()))
        sizes = rng.integers(*RANDOM_SIZES, size=N_SETS, endpoint=True)
        return [
            sorted(rng.choice(n_columns, min(size, n_columns), replace=False).tolist())
            for size in sizes
        ]
    columns = [Column(name, table.values[:, at]) for at, name in enumerate(table.columns)]
    found = covary.search(
        Table(tuple(columns), len(table.values)),
        measure=configured_measure(method, seed),
        max_size=n_columns,
        beam=BEAM,
        every=0,  # as in the paper
        top=N_SETS,
        prune=True,
        seed=seed,
        n_jobs=1,
    )
    return [[table.columns.index(name) for name in each.columns] for each in found]


def column_names(table: LabelledTable, sets: Sequence[Sequence[int]]) -> list[list[str]]:
    """Return the names of the columns of each set."""
    return [[table.columns[column] for column in columns] for columns in sets]
