"""The profile of a target: how it differs between the parts of the columns that explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from covary.array_types import Floats, Integers
from covary.measures.uds_chance.cuts import Partitions
from covary.prepare import Prepared
from covary.results.explanation import Cell, Part

# The columns that are combined at most, and the number of parts of each if they are 1, 2 or 3.
MAX_PARTS = (12, 3, 2)


def profile(
    prepared: Prepared, target: int, partitions: Mapping[int, Partitions]
) -> tuple[Cell, ...]:
    """Return the cells of a target: combinations of the parts of columns, in their order.

    It is empty unless the target or a column has named values: for numbers, figures say more.

    Parameters
    ----------
    partitions : of the columns that explain the target, the most important first
    """
    table = prepared.table
    if all(table.columns[each].kind in ("number", "date") for each in (target, *partitions)):
        return ()
    columns = list(partitions)[: len(MAX_PARTS)]
    found = {column: partitions[column].best(MAX_PARTS[len(columns) - 1]) for column in columns}
    # A column of one part says nothing.
    cut = {c: parts for c, parts in found.items() if np.unique(parts.of_rows).size > 1}
    combined = np.zeros(prepared.n_rows, np.int64)
    for parts in cut.values():
        combined = combined * (len(parts.parts) + 1) + parts.of_rows
    present = prepared.orders[target, : prepared.n_present[target]]
    absent = prepared.absent(partitions)
    counted = np.arange(present.size) if absent is None else np.flatnonzero(~absent[present])
    numbers, cell_of = np.unique(combined[present[counted]], return_inverse=True)
    if numbers.size < 2:
        return ()
    cells = []
    for at, number in enumerate(numbers.tolist()):
        where = {}
        for column in reversed(cut):
            of_column = (*cut[column].parts, Part(missing=True))
            number, part = divmod(number, len(of_column))
            where[prepared.names[column]] = of_column[part]
        positions = counted[cell_of == at]  # in the order of the target
        target_there = _target_in_cell(prepared, target, positions, counted)
        cells.append(Cell(dict(reversed(where.items())), positions.size, **target_there))
    return tuple(cells)


def _target_in_cell(
    prepared: Prepared, target: int, positions: Integers, counted: Integers
) -> dict[str, Any]:
    """Return how the target differs in a cell from all rows that count: fields of `Cell`."""
    own = prepared.table.columns[target]
    if own.kind in ("nominal", "boolean") or _n_values(prepared, target) == 2:
        return _likely_level(prepared, target, positions, counted)
    middles = [each[(each.size - 1) // 2] for each in (positions, counted)]
    rows = prepared.orders[target, middles]
    median, overall = (own.in_own_units(float(value)) for value in own.values[rows])
    return {"median": median, "overall_median": overall}


def _likely_level(
    prepared: Prepared, target: int, positions: Integers, counted: Integers
) -> dict[str, Any]:
    """Return the level of the target that is most over-represented in a cell, and its shares.

    Of a boolean, and of a number with two values, it is always the larger one.
    """
    own = prepared.table.columns[target]
    n = int(prepared.n_present[target])
    values = prepared.values[target, :n]
    levels = np.append(0, np.cumsum(values[1:] != values[:-1]))
    labels = [
        own.in_own_units(each) for each in np.unique(own.values[prepared.orders[target, :n]])
    ]
    overall = np.bincount(levels[counted], minlength=levels[-1] + 1) / counted.size
    shares = np.bincount(levels[positions], minlength=overall.size) / positions.size

    def first(quantity: Floats) -> int:
        """Return the level with the largest quantity; ties must not depend on the rows."""
        largest = np.flatnonzero(quantity >= quantity.max() - 1e-12).tolist()
        return min(largest, key=lambda at: (-overall[at], str(labels[at])))

    # Rare levels need more rows to stand out.
    level = first((shares - overall) / np.sqrt(np.where(overall > 0.0, overall, 1.0)))
    if own.kind != "nominal":
        level = overall.size - 1
    fields = {
        "level": labels[level],
        "share": float(shares[level]),
        "overall_share": float(overall[level]),
    }
    if overall.size > 2:
        common = first(shares)
        fields |= {"most_common": labels[common], "most_common_share": float(shares[common])}
    return fields


def _n_values(prepared: Prepared, column: int) -> int:
    values = prepared.values[column, : prepared.n_present[column]]
    return int(np.count_nonzero(values[1:] != values[:-1])) + 1
