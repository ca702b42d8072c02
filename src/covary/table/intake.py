"""The one way in: whatever the user passes becomes a `Table`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import errors
from covary.table.arrays import array_columns
from covary.table.table import Column, Table

FEWEST_ROWS = 3
FEW_ROWS = 100


def read_table(data: Any, columns: Sequence[Any] | None = None) -> Table:
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
    CovaryWarning : when text columns were left out (unless columns were named), or rows are few
    """
    if isinstance(columns, str):
        raise errors.columns_is_text(columns)
    if isinstance(data, Table):
        return data if columns is None else data.select(_positions(columns, data.names, False))
    table = _load(data, columns)
    if table.n_rows < FEWEST_ROWS:
        raise errors.too_few_rows(table.n_rows)
    for column in table.columns:
        infinite = np.isinf(column.values)
        if infinite.any():
            raise errors.infinite_values(column.name, int(infinite.sum()))
    if not table.columns:
        raise errors.no_usable_column(table.left_out)
    if table.left_out:
        if columns is not None:
            raise errors.unusable_column(*table.left_out[0])
        warnings.warn(errors.left_out(table.left_out), stacklevel=_stack_level())
    if table.n_rows < FEW_ROWS:
        warnings.warn(errors.few_rows(table.n_rows), stacklevel=_stack_level())
    return table


def _load(data: Any, columns: Sequence[Any] | None) -> Table:
    """Return the asked-for columns, unchecked; those that cannot be used are listed."""
    if isinstance(data, (list, tuple)):
        try:
            data = np.asarray(data)
        except ValueError:
            raise errors.not_a_table(data) from None
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise errors.wrong_dimensions(data.ndim)
        names = tuple(f"x{position}" for position in range(data.shape[1]))
        wanted = _positions(columns, names, by_number=True)
        return Table(array_columns(data, names, wanted), data.shape[0])
    if isinstance(data, (str, os.PathLike)):
        from covary.table.files import read_file

        data = read_file(os.fspath(data))
    from covary.table.frames import as_frame, frame_column

    frame = as_frame(data)
    names = tuple(str(label) for label in frame.columns)
    _refuse_duplicates(names)
    used: list[Column] = []
    left_out: list[tuple[str, str]] = []
    for position in _positions(columns, names, by_number=False):
        column = frame_column(frame[:, position], names[position])
        if isinstance(column, Column):
            used.append(column)
        else:
            left_out.append((names[position], column))
    return Table(tuple(used), len(frame), tuple(left_out))


def _refuse_duplicates(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise errors.duplicate_name(twice, [p for p, name in enumerate(names) if name == twice])


def _positions(
    columns: Sequence[Any] | None, names: Sequence[str], by_number: bool
) -> Sequence[int]:
    """Return where the asked-for columns are; numbers are positions only without real names."""
    if columns is None:
        return range(len(names))
    positions: list[int] = []
    for asked in columns:
        if by_number and isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
            if not 0 <= asked < len(names):
                raise errors.position_out_of_range(int(asked), len(names))
            position = int(asked)
        elif str(asked) in names:
            position = names.index(str(asked))
        else:
            raise errors.unknown_column(asked, names)
        if position in positions:
            raise errors.repeated_column(names[position])
        positions.append(position)
    return positions


def _stack_level() -> int:
    """Return the stack level of the first caller outside covary, for warnings."""
    import sys

    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("covary"):
        frame = frame.f_back
        level += 1
    return level
