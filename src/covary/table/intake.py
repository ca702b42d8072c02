"""The one way in: whatever the user passes becomes a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from covary import errors
from covary.table.arrays import array_column
from covary.table.table import Column, Table

FEWEST_ROWS = 3

# What an index without a name becomes when pandas writes a file: row numbers, not data.
_PANDAS_INDEX = "__index_level_"


def read_table(data: Any, columns: Iterable[Any] | None = None) -> Table:
    """Return the columns of a file, frame or array that can be used.

    Parameters
    ----------
    data : a two-dimensional array, a pandas, polars or pyarrow table (or anything else that
        narwhals reads), the path of a CSV, Parquet or Arrow file, or a `Table`
    columns : names, or positions in an array without names; None for every usable column

    Raises
    ------
    TableError, ColumnError : one line that says what to do

    Warns
    -----
    CovaryWarning : when columns were left out (unless columns were named), or rows are few
    """
    asked = None if columns is None else _listed(columns)
    if isinstance(data, Table):
        return data if asked is None else _select(data, asked)
    table = _load(data, asked)
    if table.n_rows < FEWEST_ROWS:
        raise errors.too_few_rows(table.n_rows)
    if table.left_out and asked is not None:
        raise errors.unusable_column(*table.left_out[0])
    if not table.columns:
        raise errors.no_usable_column(table.left_out)
    if asked is not None or _has_infinite_cells(data):
        _refuse_infinite_columns(table)
    if table.left_out:
        errors.warn(errors.left_out(table.left_out))
    if table.n_rows < errors.FEW_ROWS:
        errors.warn(errors.few_rows(table.n_rows))
    return table


def _has_infinite_cells(data: Any) -> bool:
    """Return whether a column may be infinite: one pass over an array is faster than many."""
    if type(data) is np.ndarray and np.can_cast(data.dtype, np.float64):
        return bool(np.isinf(data).any())
    return True


def _refuse_infinite_columns(table: Table) -> None:
    for column in table.columns:
        infinite = np.isinf(column.values)
        if infinite.any():
            raise errors.infinite_values(column.name, int(infinite.sum()))


def _listed(columns: Iterable[Any]) -> list[Any]:
    if isinstance(columns, (str, bytes)):
        raise errors.columns_is_text(columns)
    try:
        asked = list(columns)
    except TypeError:
        raise errors.columns_is_no_list(columns) from None
    if not asked:
        raise errors.too_few_columns(())
    return asked


def _select(table: Table, asked: Sequence[Any]) -> Table:
    left_out = dict(table.left_out)
    for name in map(str, asked):
        if name in left_out and name not in table.names:
            raise errors.unusable_column(name, left_out[name])
    return table.select(_positions(asked, table.names))


def _load(data: Any, asked: Sequence[Any] | None) -> Table:
    """Return the asked-for columns, unchecked; those that cannot be used are listed."""
    if isinstance(data, (list, tuple)):
        data = _as_array(data)
    if isinstance(data, np.ndarray):
        return _load_array(data, asked)

    def choose(names: Sequence[str]) -> Sequence[int]:
        if len(set(names)) < len(names):
            raise errors.duplicate_name(names)
        if asked is not None:
            return _positions(asked, names)
        return [p for p, name in enumerate(names) if not name.startswith(_PANDAS_INDEX)]

    if isinstance(data, (str, os.PathLike)):
        from covary.table.files import read_file

        return _sorted_out(*read_file(os.fsdecode(data), choose))
    from covary.table.frames import frame_series, series_column

    n_rows, chosen = frame_series(data, choose)
    return _sorted_out(n_rows, ((name, series_column(each, name)) for name, each in chosen))


def _load_array(array: np.ndarray[Any, Any], asked: Sequence[Any] | None) -> Table:
    if array.ndim != 2:
        raise errors.wrong_dimensions(array.ndim)
    if array.dtype.kind not in "fiubOmM":
        raise errors.not_numeric(array.dtype)
    if not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(array)
    n_rows, n_columns = array.shape
    names = [f"x{position}" for position in range(n_columns)]
    wanted = range(n_columns) if asked is None else _positions(asked, names, by_number=True)
    return _sorted_out(n_rows, ((names[p], array_column(array[:, p], names[p])) for p in wanted))


def _as_array(rows: Sequence[Any]) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(rows)
        # One word makes words of all numbers: keep each cell as it came.
        return array if array.dtype.kind not in "US" else np.asarray(rows, dtype=object)
    except (TypeError, ValueError):
        raise errors.not_a_table(rows) from None


def _sorted_out(n_rows: int, found: Iterable[tuple[str, Column | str]]) -> Table:
    used: list[Column] = []
    left_out: list[tuple[str, str]] = []
    for name, column in found:
        if isinstance(column, Column):
            used.append(column)
        else:
            left_out.append((name, column))
    return Table(tuple(used), n_rows, tuple(left_out))


def _positions(
    asked: Sequence[Any], names: Sequence[str], by_number: bool = False
) -> Sequence[int]:
    """Return where the asked-for columns are; numbers are positions only without real names."""
    where = {name: position for position, name in enumerate(names)}
    positions: dict[int, None] = {}
    for each in asked:
        if by_number and isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            if not 0 <= each < len(names):
                raise errors.position_out_of_range(int(each), len(names))
            position = int(each)
        elif str(each) in where:
            position = where[str(each)]
        else:
            raise errors.unknown_column(each, names)
        if position in positions:
            raise errors.repeated_column(names[position])
        positions[position] = None
    return list(positions)
