"""Tables with dependent rows: ordered by time, divided into groups, with changes and delays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Floats, Integers
from covary.table.calendar import source_of
from covary.table.dependent_rows import SERIES, WITHIN, DependentRows
from covary.table.options import TableOptions
from covary.table.table import Column, Table

ROW = "row"
# Steps in time that differ from the usual one by more than this factor are irregular.
REGULAR = 2.0
MAX_IRREGULAR = 0.25
# Differences keep this many digits of the largest value.
DIGITS = 13
_LAGGED = re.compile(r"(?s)(.*) \((\d+) rows? before\)")


def extra_columns(
    options: TableOptions, names: Iterable[str], index: Sequence[str] = ()
) -> list[str]:
    """Return the columns that say which rows belong together; raise an error if one is missing.

    Parameters
    ----------
    index : the names of the index of a frame
    """
    names = list(names)
    found = []
    for option in ("time", "groups"):
        name = getattr(options, option)
        if name is None or (option == "time" and str(name) == ROW and ROW not in names):
            continue
        if str(name) not in names and str(name) in index:
            raise errors.name_of_index(option, str(name))
        if str(name) not in names:
            raise errors.declared_column_missing(option, name, names)
        found.append(str(name))
    if len(found) > len(set(found)):
        raise errors.two_roles(found[0], "time", "groups")
    return found


def chosen_names(wanted: Sequence[Any], names: Sequence[str]) -> set[str]:
    """Return the names of wanted columns; in an array, these may be positions."""
    is_position = [isinstance(each, Integral) and str(each) not in names for each in wanted]
    return {
        f"x{each}" if position else str(each)
        for each, position in zip(wanted, is_position, strict=True)
    }


def lag_source(name: str) -> str:
    """Return the column of which a name is an earlier value; other names stay."""
    match = _LAGGED.fullmatch(name)
    return match[1] if match else name


def with_dependent_rows(table: Table, wanted: Sequence[Any] | None) -> Table:
    """Return a table whose rows are ordered by series and time, as the options say.

    The columns of groups and of the time are removed, unless they are named. So are the hour and
    the weekday of the time, unless ``dates`` asks for them: at every shift by a day, they are the
    same, so that shifts cannot show that they matter.
    """
    options = table.options
    if options.time is None and options.groups is None:
        return table
    by_name = {column.name: column for column in table.columns}
    named = chosen_names(wanted or (), table.names)
    codes = np.zeros(table.n_rows, np.int64)
    if options.groups is not None:
        codes = _group_codes(_usable(table, by_name, "groups"))
    order = np.argsort(codes, kind="stable")
    if options.time is not None:
        time = None
        is_column = str(options.time) in (*by_name, *dict(table.left_out))
        if is_column or str(options.time) != ROW:
            time = _usable(table, by_name, "time")
        if is_column and str(options.time) == ROW:
            errors.warn(errors.row_is_a_column())
        order = _order_by_time(codes, time)
    sizes = np.bincount(codes)
    kind = SERIES if options.time is not None else options.permute
    dependent = DependentRows(kind, np.append(0, np.cumsum(sizes)))
    roles = {str(each) for each in (options.groups, options.time) if each is not None} - named
    kept = []
    for column in table.columns:
        is_time = column.name == str(options.time) and column.dtype.startswith("datetime")
        wants_part = any(source_of(name, {column.name}) == column.name for name in named)
        wants_part |= wanted is None and options.dates is not None
        if column.name not in roles or (is_time and wants_part):
            kept.append(replace(column, values=np.ascontiguousarray(column.values[order])))
    table = replace(table, columns=tuple(kept), dependent=dependent)
    table = _with_changes(table) if options.difference else table
    if options.groups is not None and options.permute == WITHIN:
        if constant := _constant_within_groups(table):
            errors.warn(errors.constant_within_groups(constant, str(options.groups), kind))
        table = _without_group_means(table)
    return table


def _constant_within_groups(table: Table) -> list[str]:
    """Return the columns that vary, but not within any group."""
    assert table.dependent is not None
    starts, of_row = table.dependent.starts[:-1], table.dependent.of_row
    found = []
    for column in table.columns:
        least = np.fmin.reduceat(column.values, starts)[of_row]
        present = ~np.isnan(column.values)
        varies = np.unique(column.values[present]).size > 1
        if varies and np.all(column.values[present] == least[present]):
            found.append(column.name)
    return found


def without_time(table: Table, wanted: Sequence[Any] | None) -> Table:
    """Return a table without the column by which the rows are ordered; its calendar stays."""
    time = table.options.time
    if table.dependent is None or wanted is not None or time is None:
        return table
    kept = [at for at, each in enumerate(table.columns) if each.name != str(time)]
    return table.select(kept)


def with_lags(table: Table, wanted: Sequence[Any] | None) -> Table:
    """Return a table with the earlier values of every column, up to the largest delay.

    The first rows of each series have no past and are left out.
    """
    lags, dependent = table.options.lags, table.dependent
    if dependent is None or lags == 0:
        return table
    rows = np.flatnonzero(~dependent.first_rows(lags))
    shifted = dependent.of_rows(rows)
    shortest = int(dependent.sizes.min())
    if shifted.sizes.size < dependent.sizes.size or shifted.reaches.min() < lags:
        raise errors.lags_too_long(lags, shortest, int(dependent.reaches.min()))
    columns: list[Column] = []
    for column in table.columns:
        for lag in range(1 if column.part_of else lags + 1):
            name = lagged_name(column.name, lag)
            if lag and name in table.names:
                continue  # a column of the table has this name
            values = np.ascontiguousarray(column.values[rows - lag])
            source = column.part_of or (column.name if lag else "")
            columns.append(replace(column, name=name, values=values, part_of=source, lag=lag))
    named = chosen_names(wanted or (), table.names)
    delayed = [name for name in named if name not in table.names and lag_source(name) != name]
    if delayed:
        names = [column.name for column in columns]
        for name in delayed:
            if name not in names:
                raise errors.unknown_column(name, names)
        columns = [column for column in columns if column.name in named]
    dependent = dependent.of_rows(rows)
    return replace(table, columns=tuple(columns), n_rows=rows.size, dependent=dependent)


def lagged_name(name: str, lag: int) -> str:
    """Return the name of a column some rows before."""
    if lag == 0:
        return name
    return f"{name} ({lag} {'row' if lag == 1 else 'rows'} before)"


def _usable(table: Table, by_name: dict[str, Column], option: str) -> Column:
    """Return the column that an option names, without missing cells."""
    name = str(getattr(table.options, option))
    if name not in by_name:
        raise errors.unusable_column(name, dict(table.left_out)[name])
    column = by_name[name]
    n_missing = int(np.isnan(column.values).sum())
    if n_missing:
        raise errors.missing_in_role(option, name, n_missing)
    return column


def _group_codes(column: Column) -> Integers:
    """Return the number of the group of each row, in the order of first rows."""
    _, first, codes = np.unique(column.values, return_index=True, return_inverse=True)
    if first.size < 2 or first.size == codes.size:
        raise errors.no_groups(column.name, first.size)
    ranks = np.empty(first.size, np.int64)
    ranks[np.argsort(first)] = np.arange(first.size)
    return np.asarray(ranks[codes])


def _order_by_time(codes: Integers, time: Column | None) -> Integers:
    """Return the rows by series, and by time within a series."""
    if time is None:
        return np.argsort(codes, kind="stable")
    if time.kind == "nominal":
        raise errors.time_without_order(time.name)
    order = np.lexsort((time.values, codes))
    steps = np.diff(time.values[order])[np.diff(codes[order]) == 0]
    if np.any(steps == 0.0):
        raise errors.equal_times(time.name, int(np.count_nonzero(steps == 0.0)), codes.max() > 0)
    if steps.size:
        usual = float(np.median(steps))
        irregular = (steps > REGULAR * usual) | (steps < usual / REGULAR)
        share = float(irregular.mean())
        if share > MAX_IRREGULAR:
            errors.warn(errors.irregular_steps(time.name, share))
        elif irregular.any():
            errors.warn(errors.gaps_in_time(time.name, int(np.count_nonzero(irregular))))
    return order


def _with_changes(table: Table) -> Table:
    """Return a table with the changes of numbers and dates from row to row within each series."""
    assert table.dependent is not None
    rows = np.flatnonzero(~table.dependent.first_rows(1))
    columns = []
    for column in table.columns:
        values = column.values[rows]
        if _is_measured(column) and column.name != str(table.options.time):
            column = _number(column, values - column.values[rows - 1])
        else:
            column = replace(column, values=values)
        columns.append(column)
    dependent = table.dependent.of_rows(rows)
    return replace(table, columns=tuple(columns), n_rows=rows.size, dependent=dependent)


def _without_group_means(table: Table) -> Table:
    """Return a table in which numbers and dates are differences from the mean of their group."""
    assert table.dependent is not None
    of_row, n = table.dependent.of_row, table.dependent.sizes.size
    columns = []
    for column in table.columns:
        if _is_measured(column) and column.name != str(table.options.time):
            present = ~np.isnan(column.values)
            numbers = np.bincount(of_row[present], minlength=n)
            sums = np.bincount(of_row[present], column.values[present], minlength=n)
            means = sums / np.maximum(numbers, 1)
            column = _number(column, column.values - means[of_row])
        columns.append(column)
    return replace(table, columns=tuple(columns))


def _is_measured(column: Column) -> bool:
    """Return whether differences of values make sense, and there are more than two values."""
    if column.kind not in ("number", "date") or column.part_of:
        return False
    values = column.values[~np.isnan(column.values)]
    return bool(values.size) and bool(np.any((values != values.min()) & (values != values.max())))


def _number(column: Column, values: Floats) -> Column:
    # Rounding errors of means must not order equal values.
    largest = float(np.nanmax(np.abs(column.values), initial=0.0))
    digits = values
    if 0.0 < largest < np.inf:
        decimals = DIGITS - math.ceil(math.log10(largest))
        digits = np.round(values, decimals) if abs(decimals) < 300 else values
    return replace(column, values=digits, kind="number", origin=0, dtype="", zone="")
