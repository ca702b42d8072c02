"""What clustering and outlier detection share: tables with classes, and the sets found in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import covary
from covary.datasets import load
from covary.table import Column, Table

Floats = npt.NDArray[np.float64]

BEAM = 100
N_SETS = 20
DRAWN_SIZES = (2, 5)
# What is compared with the methods: sets that are drawn, and one set of all columns.
RANDOM, ALL = "random sets", "all columns"
BASELINES = (RANDOM, ALL)
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
        Table(tuple(columns), len(table.values)),
        measure=method,
        max_size=n_columns,
        beam=BEAM,
        top=N_SETS,
        prune=True,
        n_jobs=1,
    )
    return [[table.names.index(name) for name in each.columns] for each in found]
