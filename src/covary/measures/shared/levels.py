"""Columns as levels, their counts, and the base class of pairwise measures of levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from covary.array_types import AnyArray, Floats, Integers
from covary.measures.shared.bins import MAX_BINS, EqualFrequencyBins
from covary.measures.shared.pairwise import Pairwise
from covary.prepare import Need, Prepared, Ranks
from covary.validation import check_whole_number

# A column with an order is cut into bins if it has more distinct values.
MAX_VALUES = 20


class Counts(NamedTuple):
    """The numbers of rows in the contingency table of two columns.

    Attributes
    ----------
    x, y : by level of each column
    cells : by cell that is not empty
    x_of_cell, y_of_cell : for these cells, the number of rows of their two levels
    """

    x: Integers
    y: Integers
    cells: Integers
    x_of_cell: Integers
    y_of_cell: Integers


def count_levels(x: Floats, y: Floats) -> Counts:
    """Return the counts of two columns without missing cells.

    Examples
    --------
    >>> counts = count_levels(np.array([1.0, 1.0, 2.0]), np.array([5.0, 5.0, 5.0]))
    >>> counts.x.tolist(), counts.y.tolist(), counts.cells.tolist()
    ([2, 1], [3], [2, 1])

    """
    _, x_levels, of_x = np.unique(x, return_inverse=True, return_counts=True)
    _, y_levels, of_y = np.unique(y, return_inverse=True, return_counts=True)
    cells, of_cells = np.unique(x_levels * of_y.size + y_levels, return_counts=True)
    return Counts(of_x, of_y, of_cells, of_x[cells // of_y.size], of_y[cells % of_y.size])


def entropy_of_counts(counts: Integers) -> float:
    """Return the entropy of levels with these numbers of rows, in nats.

    Examples
    --------
    >>> round(entropy_of_counts(np.array([3, 3])) / math.log(2), 6)
    1.0

    """
    # Sorted, so that the numbering of the levels does not change the last digits.
    counts = np.sort(counts)
    n = int(counts.sum())
    return math.log(n) - float(np.sum(counts * np.log(counts))) / n


def information_of_counts(counts: Counts) -> float:
    """Return the mutual information of two columns of levels, in nats."""
    separate = entropy_of_counts(counts.x) + entropy_of_counts(counts.y)
    return max(separate - entropy_of_counts(counts.cells), 0.0)


def pool_rare_levels(levels: AnyArray, min_rows: float, max_levels: int | None = None) -> Integers:
    """Return new level numbers of all rows; the last level pools all rare ones.

    Levels are numbered by descending frequency, and equally frequent ones in the order of the
    rows. So the result does not depend on their previous numbering.

    Parameters
    ----------
    levels : the level of each row
    min_rows : levels with fewer rows are rare
    max_levels : the largest number of levels of the result; the most frequent ones are kept

    Examples
    --------
    >>> pool_rare_levels(np.array([3, 3, 0, 5, 5, 5]), min_rows=2).tolist()
    [1, 1, 2, 0, 0, 0]

    """
    _, first, codes, counts = np.unique(
        levels, return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(counts.size, np.int64)
    number[np.lexsort((first, -counts))] = np.arange(counts.size)
    n_kept = int(np.count_nonzero(counts >= min_rows))
    if max_levels is not None and counts.size > max_levels:
        n_kept = min(n_kept, max_levels - 1)
    return np.minimum(number, n_kept)[codes]


class LevelPairwise(Pairwise):
    """A measure of two columns of levels. A subclass implements `score_pair`.

    A column with an order is used as levels as well: each value is a level if there are at most 20
    different ones. Otherwise the column is cut into equal-frequency bins.
    """

    takes_nominal: ClassVar[bool] = True
    bins: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole_number("bins", self.bins, 2, MAX_BINS)

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks), Need(EqualFrequencyBins, (self.bins,)))

    def rows(self, prepared: Prepared, pair: Sequence[int]) -> Floats:
        complete = np.ones(prepared.n_rows, np.bool_)
        for column in pair:
            complete[prepared.orders[column, prepared.n_present[column] :]] = False
        ranks = prepared.derived(Ranks).by_row
        bins = prepared.derived(EqualFrequencyBins, self.bins).codes
        lines = [
            (ranks if prepared.nominal[c] or _n_values(prepared, c) <= MAX_VALUES else bins)[c]
            for c in pair
        ]
        return np.array([line[complete] for line in lines], np.float64)


def _n_values(prepared: Prepared, column: int) -> int:
    """Return the number of different values of a column."""
    values = prepared.values[column, : prepared.n_present[column]]
    return int(np.count_nonzero(values[1:] != values[:-1])) + 1
