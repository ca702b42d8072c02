"""Read any kind of data as a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import AnyArray
from covary.table.arrays import array_column
from covary.table.table import Column, Table

MIN_ROWS = 3

# pandas writes an unnamed index to files under this prefix. It contains row numbers, not data.
_PANDAS_INDEX = "__index_level_"


def read_table(data: Any, columns: Iterable[Any] | None = None) -> Table:
    """Return the usable columns of a file, frame or array.

    Parameters
    ----------
    data : a two-dimensional array, a pandas, polars or pyarrow table (or any other frame that
        narwhals reads), the path of a CSV, Parquet or Arrow file, or a `Table`
    columns : names, or positions in an array; None for every usable column

    Raises
    ------
    TableError, ColumnError : if the table or a named column cannot be used

    Warns
    -----
    CovaryWarning : if columns are left out (unless columns are named), or if there are few rows
    """
    wanted = None if columns is None else as_list(columns)
    if isinstance(data, Table):
        return data if wanted is None else _select(data, wanted)
    table = _load(data, wanted)
    if table.n_rows < MIN_ROWS:
        raise errors.too_few_rows(table.n_rows)
    if table.left_out and wanted is not None:
        raise errors.unusable_column(*table.left_out[0])
    if not table.columns:
        raise errors.no_usable_column(table.left_out)
    if wanted is not None or _may_have_infinite_cells(data):
        _check_finite(table)
    if table.left_out:
        errors.warn(errors.left_out(table.left_out))
    if table.n_rows < errors.FEW_ROWS:
        errors.warn(errors.few_rows(table.n_rows))
    return table


def _may_have_infinite_cells(data: Any) -> bool:
    """Return False for an array of finite numbers: one pass is faster than one per column."""
    if type(data) is np.ndarray and np.can_cast(data.dtype, np.float64):
        return bool(np.isinf(data).any())
    return True


def _check_finite(table: Table) -> None:
    for column in table.columns:
        infinite = np.isinf(column.values)
        if infinite.any():
            raise errors.infinite_values(column.name, int(infinite.sum()))


def as_list(columns: Iterable[Any]) -> list[Any]:
    """Return the names of columns as a list; raise an error if they are none."""
    if isinstance(columns, (str, bytes)):
        raise errors.columns_is_text(columns)
    try:
        wanted = list(columns)
    except TypeError:
        raise errors.columns_is_no_list(columns) from None
    if not wanted:
        raise errors.too_few_columns(())
    return wanted


def _select(table: Table, wanted: Sequence[Any]) -> Table:
    left_out = dict(table.left_out)
    for name in map(str, wanted):
        if name in left_out and name not in table.names:
            raise errors.unusable_column(name, left_out[name])
    return table.select(_positions(wanted, table.names))


def _load(data: Any, wanted: Sequence[Any] | None) -> Table:
    """Return the wanted columns, without any check of their values."""
    if isinstance(data, (list, tuple)):
        data = _to_array(data)
    if isinstance(data, np.ndarray):
        return _load_array(data, wanted)

    def choose(names: Sequence[str]) -> Sequence[int]:
        if len(set(names)) < len(names):
            raise errors.duplicate_name(names)
        if wanted is not None:
            return _positions(wanted, names)
        return [p for p, name in enumerate(names) if not name.startswith(_PANDAS_INDEX)]

    if isinstance(data, (str, os.PathLike)):
        from covary.table.files import read_file

        return _build_table(*read_file(os.fsdecode(data), choose))
    from covary.table.frames import frame_series, series_column

    n_rows, chosen = frame_series(data, choose)
    return _build_table(n_rows, ((name, series_column(each, name)) for name, each in chosen))


def _load_array(array: AnyArray, wanted: Sequence[Any] | None) -> Table:
    if array.ndim != 2:
        raise errors.wrong_dimensions(array.ndim)
    if array.dtype.kind not in "fiubOmM":
        raise errors.not_numeric(array.dtype)
    if not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(array)
    n_rows, n_columns = array.shape
    names = [f"x{position}" for position in range(n_columns)]
    chosen = range(n_columns) if wanted is None else _positions(wanted, names, by_number=True)
    return _build_table(n_rows, ((names[p], array_column(array[:, p], names[p])) for p in chosen))


def _to_array(rows: Sequence[Any]) -> AnyArray:
    try:
        array = np.asarray(rows)
        # A single text turns all numbers into text. An array of objects keeps the numbers.
        return array if array.dtype.kind not in "US" else np.asarray(rows, dtype=object)
    except (TypeError, ValueError):
        raise errors.not_a_table(rows) from None


def _build_table(n_rows: int, columns: Iterable[tuple[str, Column | str]]) -> Table:
    """Return a table; a column that is a text is left out, and the text is the reason."""
    usable: list[Column] = []
    left_out: list[tuple[str, str]] = []
    for name, column in columns:
        if isinstance(column, Column):
            usable.append(column)
        else:
            left_out.append((name, column))
    return Table(tuple(usable), n_rows, tuple(left_out))


def _positions(
    wanted: Sequence[Any], names: Sequence[str], by_number: bool = False
) -> Sequence[int]:
    """Return the positions of the wanted columns; ``by_number`` allows positions as names."""
    position_of = {name: position for position, name in enumerate(names)}
    positions: dict[int, None] = {}
    for each in wanted:
        if by_number and isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            if not 0 <= each < len(names):
                raise errors.position_out_of_range(int(each), len(names))
            position = int(each)
        elif str(each) in position_of:
            position = position_of[str(each)]
        else:
            raise errors.unknown_column(each, names)
        if position in positions:
            raise errors.repeated_column(names[position])
        positions[position] = None
    return list(positions)
