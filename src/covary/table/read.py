"""Read any kind of data as a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import AnyArray
from covary.table.arrays import array_column
from covary.table.calendar import CHOICES, source_of, with_calendar
from covary.table.levels import as_nominal, as_ordered, is_identifier, is_row_number
from covary.table.options import NO_OPTIONS, Declared, TableOptions
from covary.table.row_order import (
    ROW,
    chosen_names,
    extra_columns,
    lag_source,
    with_dependent_rows,
    with_lags,
    without_time,
)
from covary.table.table import Ambiguous, Column, Table

MIN_ROWS = 3

# pandas writes an unnamed index to files under this prefix. It contains row numbers, not data.
_PANDAS_INDEX = "__index_level_"


def read_table(data: Any, columns: Iterable[Any] | None = None) -> Table:
    """Return the usable columns of a file, frame or array.

    Parameters
    ----------
    data : a two-dimensional array, a pandas, polars or pyarrow table (or any other frame that
        narwhals reads), the path of a CSV, Parquet or Arrow file, or a `Table`; or `Declared` data
    columns : names, or positions in an array; None for every usable column

    Raises
    ------
    TableError, ColumnError : if the table or a named column cannot be used

    Warns
    -----
    CovaryWarning : if columns are left out (unless columns are named), if text is converted, or if
        there are few rows
    """
    wanted = None if columns is None else as_list(columns)
    data, options = data if isinstance(data, Declared) else (data, NO_OPTIONS)
    if isinstance(data, Table):
        table = data if options == NO_OPTIONS else _redeclared(data, options)
        return table if wanted is None else _select(table, wanted)
    table = _load(data, wanted, options)
    if wanted is None:
        table = _without_unsearchable(table, data)
    else:
        _check_finite(table)
    table = with_dependent_rows(table, wanted)
    if table.n_rows < MIN_ROWS:
        raise errors.too_few_rows(table.n_rows)
    if table.left_out and wanted is not None:
        raise errors.unusable_column(*table.left_out[0])
    table = with_lags(without_time(_with_calendars(table, wanted), wanted), wanted)
    if not table.columns:
        raise errors.no_usable_column(table.left_out)
    converted = [(column.name, column.read_as) for column in table.columns if column.read_as]
    if converted:
        errors.warn(errors.read_as(converted))
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


def _without_unsearchable(table: Table, data: Any) -> Table:
    """Return a table without identifiers, and without columns that have infinite values."""
    may_be_infinite = _may_have_infinite_cells(data)
    has_names = not isinstance(data, (np.ndarray, list, tuple))
    nominal = {str(name) for name in table.options.nominal or ()}
    roles = {str(name) for name in (table.options.time, table.options.groups)}
    kept, left_out = [], list(table.left_out)
    for column in table.columns:
        if column.name in roles:
            kept.append(column)
            continue
        n_infinite = int(np.isinf(column.values).sum()) if may_be_infinite else 0
        if n_infinite:
            left_out.append((column.name, errors.infinite_reason(n_infinite)))
        elif has_names and _is_empty(column):
            left_out.append((column.name, "empty"))
        elif has_names and column.name not in nominal and is_identifier(column):
            left_out.append((column.name, errors.identifier_number_reason()))
        else:
            kept.append(column)
    if has_names:
        row_numbers = {
            c.name for c in kept if c.name not in (*nominal, *roles) and is_row_number(c)
        }
        if len(kept) - len(row_numbers) >= 2:  # a table of two columns has no column to spare
            left_out += [
                (c.name, errors.row_number_reason()) for c in kept if c.name in row_numbers
            ]
            kept = [column for column in kept if column.name not in row_numbers]
    return replace(table, columns=tuple(kept), left_out=tuple(left_out))


def _with_calendars(table: Table, wanted: Sequence[Any] | None) -> Table:
    """Return a table with the calendar columns that are wanted, declared, or vary."""
    dates = table.options.dates
    columns: list[Column] = []
    if wanted is None:
        for column in table.columns:
            columns += with_calendar(column, dates)
    else:
        named = {str(each) for each in wanted}
        for column in table.columns:
            every = with_calendar(column, CHOICES)
            found: list[Column] = []
            if dates is not None and column.name in named:
                found = with_calendar(column, dates)
            elif column.name in named or named.isdisjoint(each.name for each in every):
                found = [column]  # in an array, it may be named by its position
            have = {each.name for each in found}
            columns += found
            columns += [each for each in every if each.name in named and each.name not in have]
        names = [column.name for column in columns]
        sources = set(table.names)
        order = {str(each): at for at, each in enumerate(wanted)}
        for each in map(str, wanted):
            if source_of(each, sources) != each and each not in names:
                raise errors.unknown_column(each, names)
        if len(order) == len(wanted) and order.keys() >= set(names):
            columns.sort(key=lambda column: order[column.name])
        elif any(column.part_of for column in columns) and len(order) < len(wanted):
            raise errors.repeated_column(next(e for e in order if wanted.count(e) > 1))
    taken = set(table.names)
    kept = [each for each in columns if not each.part_of or each.name not in taken]
    return replace(table, columns=tuple(kept))


def _sources(wanted: Sequence[Any], names: Sequence[str], extra: Sequence[str] = ()) -> list[Any]:
    """Return the columns to read: for a calendar column, its date; extra ones once."""

    def source(name: str) -> str:
        return source_of(name if name in names else lag_source(name), names)

    sources = [each for each in wanted if source(str(each)) == str(each)]
    parts = {source(str(each)) for each in wanted}.union(extra)
    parts -= chosen_names(sources, names)
    return [*sources, *(name for name in names if name in parts)]


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


def _load(data: Any, wanted: Sequence[Any] | None, options: TableOptions) -> Table:
    """Return the wanted columns, without any check of their values."""
    if isinstance(data, (list, tuple)):
        data = _to_array(data)
    if isinstance(data, np.ndarray):
        return _load_array(data, wanted, options)
    n_rows, columns = _read(data, wanted, options)
    sign = _decimal_sign(columns)
    if sign:
        columns = _with_decimal_sign(data, columns, options, sign)
    return _build_table(n_rows, columns, options)


def _decimal_sign(columns: Iterable[tuple[str, Column | str]]) -> str:
    """Return the decimal sign that columns of text certainly have; empty if none or both."""
    signs = {each.decimal for _, each in columns if isinstance(each, Column)} & {",", "."}
    return signs.pop() if len(signs) == 1 else ""


def _with_decimal_sign(
    data: Any, columns: list[tuple[str, Column | str]], options: TableOptions, sign: str
) -> list[tuple[str, Column | str]]:
    """Return columns in which points and commas are read as in other columns."""
    is_file = isinstance(data, (str, os.PathLike))
    uncertain = [
        name
        for name, each in columns
        if isinstance(each, Ambiguous)
        or (isinstance(each, Column) and each.decimal == "?")
        or (sign == "," and isinstance(each, Column) and _may_have_thousands(each, is_file))
    ]
    if not uncertain:
        return columns
    again = dict(_read(data, uncertain, options, sign)[1])
    may_be_wrong = []
    for at, (name, before) in enumerate(columns):
        after = again.get(name, before)
        if isinstance(before, Column) and isinstance(after, Column) and not before.read_as:
            is_same = np.array_equal(after.values, before.values, equal_nan=True)
            may_be_wrong += [name] if is_same and name in again and not is_file else []
            after = before if is_same else after
        columns[at] = name, after
    if may_be_wrong:
        errors.warn(errors.may_have_thousands(may_be_wrong))
    return columns


def _may_have_thousands(column: Column, is_file: bool) -> bool:
    """Return whether numbers may have had points before thousands: 2.5 may have been 2.500.

    In a file, 2 may have been 2.000.
    """
    if column.kind != "number" or column.read_as or column.origin:
        return False
    present = column.values[~np.isnan(column.values)]
    if not present.size or np.abs(present).max() >= 1000.0:
        return False
    if not is_file and np.all(present == np.rint(present)):
        return False
    thousandths = present * 1000.0
    return bool(np.all(np.abs(thousandths - np.rint(thousandths)) < 1e-6))


def _read(
    data: Any, wanted: Sequence[Any] | None, options: TableOptions, decimal: str = ""
) -> tuple[int, list[tuple[str, Column | str]]]:
    """Return the number of rows and the wanted columns, or why each cannot be used.

    ``decimal`` is the decimal sign in other columns of text; empty if it is unknown.
    """
    levels = {str(name) for name in (*(options.nominal or ()), *(options.ordered or ()))}

    def choose(names: Sequence[str]) -> Sequence[int]:
        if len(set(names)) < len(names):
            raise errors.duplicate_name(names)
        _check_declared(options, names)
        index = [str(name) for name in getattr(getattr(data, "index", None), "names", ())]
        extra = extra_columns(options, names, index)
        if wanted is not None:
            return _positions(_sources(wanted, names, extra), names)
        return [p for p, name in enumerate(names) if not name.startswith(_PANDAS_INDEX)]

    if isinstance(data, (str, os.PathLike)):
        from covary.table.files import read_file

        return read_file(os.fsdecode(data), choose, levels, decimal)
    from covary.table.frames import frame_series, series_column

    n_rows, chosen = frame_series(data, choose)
    columns = [(name, series_column(each, name, name in levels, decimal)) for name, each in chosen]
    return n_rows, columns


def _load_array(array: AnyArray, wanted: Sequence[Any] | None, options: TableOptions) -> Table:
    if array.ndim != 2:
        raise errors.wrong_dimensions(array.ndim)
    if array.dtype.kind not in "fiubOmMU":
        raise errors.not_numeric(array.dtype)
    if not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(array)
    n_rows, n_columns = array.shape
    names = [f"x{position}" for position in range(n_columns)]
    chosen: Sequence[int] = range(n_columns)
    if wanted is not None:
        chosen = _positions(_sources(wanted, names), names, by_number=True)
    options = _by_name(options, names)
    extra = extra_columns(options, names)
    if wanted is not None and extra:
        chosen = _positions(_sources(wanted, names, extra), names, by_number=True)
    levels = {*(options.nominal or ()), *(options.ordered or ())}

    def columns(decimal: str = "") -> list[tuple[str, Column | str]]:
        return [
            (
                names[p],
                array_column(array[:, p], names[p], as_levels=names[p] in levels, decimal=decimal),
            )
            for p in chosen
        ]

    found = columns()
    sign = _decimal_sign(found) if array.dtype.kind in "OU" else ""
    return _build_table(n_rows, columns(sign) if sign else found, options)


def _by_name(options: TableOptions, names: Sequence[str]) -> TableOptions:
    """Return options that name the columns of an array, which may be declared by position."""

    def name(column: Any) -> str:
        return names[_positions([column], names, by_number=True)[0]]

    orders = {name(column): labels for column, labels in (options.ordered or {}).items()}
    nominal = [name(column) for column in options.nominal or ()]
    time, groups = (
        each if each is None or each == ROW else name(each)
        for each in (options.time, options.groups)
    )
    options = replace(options, nominal=nominal, ordered=orders, time=time, groups=groups)
    _check_declared(options, names)
    return options


def _check_declared(options: TableOptions, names: Sequence[str]) -> None:
    """Raise an error if a declared column does not exist, or is declared in two ways."""
    for option, declared in (("nominal", options.nominal), ("ordered", options.ordered)):
        for name in declared or ():
            if str(name) not in names:
                raise errors.declared_column_missing(option, name, names)
    for name in options.nominal or ():
        if str(name) in set(map(str, options.ordered or ())):
            raise errors.declared_twice(name)


def _to_array(rows: Sequence[Any]) -> AnyArray:
    try:
        array = np.asarray(rows)
        # A single text turns all numbers into text. An array of objects keeps the numbers.
        return array if array.dtype.kind not in "US" else np.asarray(rows, dtype=object)
    except (TypeError, ValueError):
        raise errors.not_a_table(rows) from None


def _redeclared(table: Table, options: TableOptions) -> Table:
    """Return a table whose columns are declared in another way."""
    _check_declared(options, table.names)
    columns = ((column.name, column) for column in table.columns)
    declared = _build_table(table.n_rows, columns, options)
    declared = replace(declared, left_out=(*table.left_out, *declared.left_out))
    extra_columns(options, table.names)
    declared = with_dependent_rows(declared, None)
    declared = declared if options.dates is None else _with_calendars(declared, None)
    return with_lags(without_time(declared, None), None)


def _build_table(
    n_rows: int, columns: Iterable[tuple[str, Column | str]], options: TableOptions
) -> Table:
    """Return a table; a column that is a text is left out, and the text is the reason."""
    usable: list[Column] = []
    left_out: list[tuple[str, str]] = []
    nominal = {str(name) for name in options.nominal or ()}
    orders = {str(name): labels for name, labels in (options.ordered or {}).items()}
    for name, column in columns:
        if isinstance(column, Column) and (name in nominal or name in orders):
            column = as_nominal(column)
        if isinstance(column, Column) and name in orders:
            column = as_ordered(column, orders[name])
        if isinstance(column, Column):
            usable.append(column)
        else:
            left_out.append((name, column))
    return Table(tuple(usable), n_rows, tuple(left_out), options)


def _is_empty(column: Column) -> bool:
    values = column.values
    return values.size > 0 and bool(np.isnan(values[0])) and bool(np.isnan(values).all())


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
