"""The rows of a conditional test, in an order that depends only on their contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary.array_types import Integers
from covary.measures.uds_chance.residuals import Ranked, ranked
from covary.prepare import Prepared

Hashes = npt.NDArray[np.uint64]


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
    for at, column in enumerate(found):
        if _has_no_order(column):
            others = contents[:at] + contents[at + 1 :]
            found[at] = ranked(_numbers(column.codes, others), column.nominal)
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


def _numbers(codes: Integers, others: Sequence[Hashes]) -> Integers:
    """Return a column whose values are numbered by frequency, and by hashes of other columns."""
    counts = np.bincount(codes)
    by_value = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    hashes = np.zeros(counts.size, np.uint64)
    for other in others:
        for power in (other, other * other):
            hashes = _mixed(hashes ^ np.add.reduceat(power[by_value], starts))
    number = np.empty(counts.size, np.int64)
    number[np.lexsort((hashes, -counts))] = np.arange(counts.size)
    return number[codes]


def _mixed(numbers: Hashes) -> Hashes:
    """Return integers whose bits depend on all bits of others (splitmix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
