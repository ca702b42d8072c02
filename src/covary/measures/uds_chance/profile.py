"""The profile of a target: how it differs between the parts of the columns that explain it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from covary.array_types import Integers
from covary.formatting import distinct_texts, shown_value
from covary.measures.uds_chance.cuts import best_parts
from covary.prepare import Prepared
from covary.results.explanation import Cell

# The columns that are combined at most, and the number of parts of each if they are 1, 2 or 3.
MAX_PARTS = (12, 3, 2)
MISSING = "missing"


def profile(prepared: Prepared, target: int, columns: Sequence[int]) -> tuple[Cell, ...]:
    """Return the cells of a target: combinations of the parts of columns, in their order.

    It is empty unless the target or a column has named values: for numbers, figures say more.

    Parameters
    ----------
    columns : the columns that explain the target, the most important first
    """
    table = prepared.table
    if all(table.columns[each].kind in ("number", "date") for each in (target, *columns)):
        return ()
    columns = columns[: len(MAX_PARTS)]
    parts = []
    for column in columns:
        others = [other for other in columns if other != column]
        parts.append(best_parts(prepared, target, column, others, MAX_PARTS[len(others)]))
    sizes = [len(each.names) + 1 for each in parts]
    combined = np.zeros(prepared.n_rows, np.int64)
    for each, size in zip(parts, sizes, strict=True):
        combined = combined * size + each.of_rows
    n_present = prepared.n_present[target]
    present = prepared.orders[target, :n_present]
    found, cell_of = np.unique(combined[present], return_inverse=True)
    if found.size < 2:
        return ()
    cells = []
    for at, number in enumerate(found.tolist()):
        where = {}
        for column, each, size in list(zip(columns, parts, sizes, strict=True))[::-1]:
            number, part = divmod(number, size)
            name = each.names[part] if part < len(each.names) else MISSING
            where[prepared.names[column]] = name
        positions = np.flatnonzero(cell_of == at)  # in the order of the target
        tendency = _tendency(prepared, target, positions)
        cells.append(Cell(dict(reversed(where.items())), positions.size, tendency))
    return tuple(cells)


def _tendency(prepared: Prepared, target: int, positions: Integers) -> str:
    """Return in words how the target differs in a cell from all rows."""
    own = prepared.table.columns[target]
    n = int(prepared.n_present[target])
    if own.kind in ("nominal", "boolean") or _n_values(prepared, target) == 2:
        level, share, overall = _likely_level(prepared, target, positions)
        label = own.in_own_units(np.unique(prepared.values[target, :n])[level])
        return f"{_quoted(label)} {100 * share:.0f} % (all rows: {100 * overall:.0f} %)"
    middles = [positions[(positions.size - 1) // 2], (n - 1) // 2]
    rows = prepared.orders[target, middles]
    median, overall_median = distinct_texts(
        [own.in_own_units(float(value)) for value in own.values[rows]]
    )
    return f"median {median} (all rows: {overall_median})"


def _likely_level(
    prepared: Prepared, target: int, positions: Integers
) -> tuple[int, float, float]:
    """Return the level of the target that is most over-represented in a cell, and its shares.

    The shares are those of the cell and of all rows. Of a target with two values it is always the
    second one, so that cells can be compared.
    """
    n = int(prepared.n_present[target])
    values = prepared.values[target, :n]
    levels = np.append(0, np.cumsum(values[1:] != values[:-1]))
    overall = np.bincount(levels) / n
    shares = np.bincount(levels[positions], minlength=overall.size) / positions.size
    # Rare levels need more rows to stand out.
    excess = (shares - overall) / np.sqrt(overall)
    level = 1 if overall.size == 2 else int(np.argmax(excess))
    return level, float(shares[level]), float(overall[level])


def _n_values(prepared: Prepared, column: int) -> int:
    values = prepared.values[column, : prepared.n_present[column]]
    return int(np.count_nonzero(values[1:] != values[:-1])) + 1


def _quoted(label: Any) -> str:
    if not isinstance(label, str):
        return shown_value(label)
    return '"' + shown_value(label).strip('"') + '"'
