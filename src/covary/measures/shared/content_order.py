"""An order of columns that depends only on their contents.

It breaks ties between columns, such as equal entropies, independently of the order of columns and
rows in the table, and of units.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.array_types import Booleans, ColumnSets, Integers, Rows
from covary.prepare import Prepared, Ranks

Hashes = npt.NDArray[np.uint64]


def order_by_content(
    prepared: Prepared, sets: ColumnSets, levels: Hashes, context: tuple[int, ...] = ()
) -> ColumnSets:
    """Return each set ordered by level, and within a level by content.

    The content of a column is a hash of its ranks together with those of the other columns.

    Parameters
    ----------
    sets : one line per set
    levels : for each column of each set its level, numbered from 0 without gaps
    context : columns outside the sets that take part in the hashes
    """
    n_columns = sets.shape[1]
    for column in context:
        sets = np.insert(sets, sets.shape[1], column, axis=1)
        levels = np.insert(levels, levels.shape[1], levels.shape[1], axis=1)
    hashes = _refined(prepared, sets, levels)
    order = np.lexsort((hashes, levels), axis=1)
    ordered = np.take_along_axis(sets, order, axis=1)
    for line in np.flatnonzero(_equal_neighbours(levels, hashes, order).any(axis=1)).tolist():
        ordered[line] = _order_equal_hashes(prepared, sets[line], levels[line])
    return ordered[:, :n_columns]


def order_one_by_content(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    """Return the columns of one set ordered by content."""
    sets = np.array([columns], np.int32)
    # A missing cell has the same rank as a highest value. The number of cells differs.
    levels = np.unique(prepared.n_present[sets], return_inverse=True)[1].reshape(sets.shape)
    ordered = order_by_content(prepared, sets, levels.astype(np.uint64))
    return list(ordered[0].tolist())


def content_hashes(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    """Return a hash of each column that depends on its ranks and on those of the other columns.

    It depends neither on the order of the columns nor on that of the rows. Of nominal columns and
    of those with two values, neither names nor the order of the values matter.
    """
    hashes = _numbers_of_cells(prepared, columns)
    contents = _contents(prepared, columns, hashes)
    return _refined_twice(contents, hashes).tolist()  # type: ignore[no-any-return]


def table_order_by_content(prepared: Prepared) -> Integers:
    """Return all columns of the table, ordered by content; equal columns by position.

    The order of two values only matters if nothing else tells columns apart. Columns that have
    equal ranks in all rows, such as a length in two units, are ordered by range and smallest
    value.
    """
    columns = range(len(prepared.names))
    hashes = np.array(content_hashes(prepared, columns), np.uint64)
    ranks = prepared.derived(Ranks).by_row
    hashes_of_ranks = _refined_twice(ranks, _numbers_of_cells(prepared, columns))
    order: Integers = np.lexsort((prepared.values[:, 0], prepared.widths, hashes_of_ranks, hashes))
    return order


def table_ranks_by_content(prepared: Prepared) -> Integers:
    """Return the place of each column in `table_order_by_content`."""
    return np.argsort(table_order_by_content(prepared))


def rows_by_content(prepared: Prepared, columns: Sequence[int]) -> Integers:
    """Return all rows in an order that depends only on the contents of columns.

    Rows that are equal in all of these columns are neighbours, in any order.
    """
    hashes = _numbers_of_cells(prepared, columns)
    contents = _contents(prepared, columns, hashes)
    keys = mixed(_refined_twice(contents, hashes))
    order: Integers = np.argsort(_hashes_of_rows(contents, keys), kind="stable")
    return order


def mixed(numbers: Hashes) -> Hashes:
    """Return integers whose bits depend on all bits of others (splitmix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _numbers_of_cells(prepared: Prepared, columns: Sequence[int]) -> Hashes:
    """Return the number of cells of each column that are not missing."""
    numbers: Hashes = prepared.n_present[list(columns)].astype(np.uint64)
    return numbers


def _contents(prepared: Prepared, columns: Sequence[int], hashes: Hashes) -> Rows:
    """Return the ranks of columns; instead of values without an order, hashes of these values.

    The hash of a value depends on the number of its rows and on the other columns in them.
    """
    contents = prepared.derived(Ranks).by_row[list(columns)]
    groups = {at: _unordered_values(prepared, column) for at, column in enumerate(columns)}
    unordered = {at: found for at, found in groups.items() if found is not None}
    if not unordered:
        return contents
    for at, (rows, starts) in unordered.items():
        counts = np.diff(starts, append=rows.size)
        contents[at, rows] = np.repeat(counts, counts)
    of_rows = _hashes_of_rows(contents, mixed(hashes))
    for at, (rows, starts) in unordered.items():
        of_values = mixed(np.add.reduceat(of_rows[rows], starts)).astype(np.uint32)
        contents[at, rows] = np.repeat(of_values, np.diff(starts, append=rows.size))
    return contents


def _hashes_of_rows(contents: Rows, keys: Hashes) -> Hashes:
    """Return a hash of each row from what its cells contain and a key of each column."""
    of_rows = np.zeros(contents.shape[1], np.uint64)
    for content, key in zip(contents, keys, strict=True):
        of_rows += mixed(content ^ key)
    return mixed(of_rows)


def _unordered_values(prepared: Prepared, column: int) -> tuple[Rows, Integers] | None:
    """Return the rows of a column by value, and where each value starts; None if it has an order.

    Two values have no order, because reversing them changes no result.
    """
    n_present = prepared.n_present[column]
    values = prepared.values[column, :n_present]
    starts: Integers = np.append(0, 1 + np.flatnonzero(values[1:] != values[:-1]))
    if prepared.nominal[column] or starts.size == 2:
        return prepared.orders[column, :n_present], starts
    return None


def _refined_twice(contents: Rows, hashes: Hashes) -> Hashes:
    """Return new hashes of all columns, after two refinements."""
    every = np.arange(len(contents), dtype=np.int32)[None]
    for _ in range(2):
        hashes = kernels.shared.refinement.refine_colours(contents, every, hashes[None])[0]
    return hashes


def _refined(prepared: Prepared, sets: ColumnSets, hashes: Hashes) -> Hashes:
    """Return new hashes of the columns, from the old ones and the ranks of all columns."""
    ranks = prepared.derived(Ranks).by_row
    refined: Hashes = kernels.shared.refinement.refine_colours(ranks, sets, hashes)
    return refined


def _equal_neighbours(levels: Hashes, hashes: Hashes, order: Integers) -> Booleans:
    """Return which columns, in this order, have level and hash of the column before."""
    levels = np.take_along_axis(levels, order, axis=-1)
    hashes = np.take_along_axis(hashes, order, axis=-1)
    equal: Booleans = (levels[..., 1:] == levels[..., :-1]) & (hashes[..., 1:] == hashes[..., :-1])
    return equal


def _order_equal_hashes(
    prepared: Prepared, columns: npt.NDArray[np.int32], levels: Hashes
) -> npt.NDArray[np.int32]:
    """Return one set ordered by content after one refinement left equal hashes."""
    # Range and smallest value only decide between columns that are equivalent in all else.
    rank = np.lexsort((prepared.values[columns, 0], prepared.widths[columns], levels))
    columns, levels = columns[rank], levels[rank]
    start = levels.copy()
    while True:
        hashes = start
        for _ in range(3):
            hashes = _refined(prepared, columns[None], hashes[None])[0]
        order = np.lexsort((hashes, levels))
        equal = order[1:][_equal_neighbours(levels, hashes, order)]
        if equal.size == 0:
            return columns[order]
        # Equivalent columns: the choice of the first may still matter to the next one. Give one
        # of them a hash of its own and refine again.
        start[equal[-1]] = len(columns) + len(set(start.tolist()))
