"""The rows of a conditional test, in an order that depends only on their contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary.array_types import Integers
from covary.measures.shared.content_order import mixed
from covary.measures.uds_chance.residuals import Ranked, ranked
from covary.prepare import Prepared

Hashes = npt.NDArray[np.uint64]

# In the first round, levels with the same number of rows are equal to hashes of other columns. In
# the second, they are equal only if the other columns do not tell them apart.
ROUNDS = 2


class CompleteRows(NamedTuple):
    """Rows without missing cells.

    Parameters
    ----------
    rows : their numbers in the table
    columns : the columns of these rows
    """

    rows: Integers
    columns: list[Ranked]

    def sample(self, places: Integers) -> CompleteRows:
        """Return some of the rows, in the order of ``places``."""
        columns = [ranked(each.codes[places], each.nominal) for each in self.columns]
        return CompleteRows(self.rows[places], columns)


def complete_rows(prepared: Prepared, columns: Sequence[int]) -> CompleteRows:
    """Return the rows in which no column is missing, sorted by all columns, the last one first.

    So nothing depends on the order of the rows in the table. Nominal levels and the values of a
    column with two values are numbered by descending frequency. Equally frequent ones are ordered
    by a hash of the other columns in their rows: neither names nor the order of rows matter, and
    the order has nothing to do with the relations between the columns.
    """
    values = [prepared.by_row(column) for column in columns]
    rows = np.flatnonzero(~np.isnan(values).any(axis=0))
    found = [
        ranked(each[rows], bool(prepared.nominal[column]))
        for column, each in zip(columns, values, strict=True)
    ]
    contents = [_contents(each) for each in found]
    for _ in range(ROUNDS):
        hashes = [_hashes(each.codes, contents, at) for at, each in enumerate(found)]
        for at, column in enumerate(found):
            if _has_no_order(column):
                contents[at] = hashes[at][column.codes]
    for at, column in enumerate(found):
        if _has_no_order(column):
            found[at] = ranked(_numbers(column.codes, hashes[at]), column.nominal)
    complete = CompleteRows(rows, found)
    return complete.sample(np.lexsort([each.codes for each in found]))


def _has_no_order(column: Ranked) -> bool:
    return column.nominal or bool(column.codes.size and column.codes.max() < 2)


def _contents(column: Ranked) -> Hashes:
    """Return the place of each row, or the number of rows with the same value if that is better.

    The place depends on the order of the values.
    """
    if _has_no_order(column):
        return np.bincount(column.codes)[column.codes].astype(np.uint64)
    return column.places.astype(np.uint64)


def _hashes(codes: Integers, contents: Sequence[Hashes], column: int) -> Hashes:
    """Return a hash of each value of a column: the sum over its rows of a hash of all others."""
    of_rows = np.zeros(codes.size, np.uint64)
    for at, content in enumerate(contents):
        if at != column:
            of_rows = mixed(of_rows ^ content)
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    by_value = np.argsort(codes, kind="stable")
    return np.add.reduceat(of_rows[by_value], starts) if codes.size else of_rows


def _numbers(codes: Integers, hashes: Hashes) -> Integers:
    """Return a column whose values are numbered by descending frequency, and by their hashes."""
    counts = np.bincount(codes)
    number = np.empty(counts.size, np.int64)
    number[np.lexsort((hashes, -counts))] = np.arange(counts.size)
    return number[codes]
