"""Prepared columns: every column sorted once, with what all estimators need of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np

from covary import errors, kernels
from covary.array_types import Booleans, Columns, Floats, Integers
from covary.prepare.derived import Derived, Moves, Need, move_orders
from covary.prepare.sorting import sort_column
from covary.table import Table, as_list, read_table
from covary.table.dependent_rows import SERIES, DependentRows
from covary.validation import check_columns

D = TypeVar("D", bound=Derived)

# Columns are copied in blocks of this many rows, because they may be interleaved in memory.
BLOCK_ROWS = 8192
# Values with a larger binary exponent are scaled: sums of them could overflow or vanish.
EXTREME_EXPONENT = 400
_ARRAYS = (
    *("orders", "values", "n_present", "nominal", "sources"),
    *("entropies", "widths", "exponents"),
)
# What moving values between rows does not change.
_UNMOVED = ("names", "n_rows", "missing_is_level", "dependent", *_ARRAYS[1:])


class Prepared:
    """The columns of a table, each sorted once. All arrays are read-only, one line per column.

    Attributes
    ----------
    table : the table; it stays behind when the columns are sent to another process
    names, n_rows : the names of the columns and the number of rows
    orders : row numbers by ascending value; rows with a missing cell come last
    values : sorted values; only the first ``n_present`` of a line are defined
    n_present : number of cells that are not missing
    nominal : whether the values are the numbers of levels without an order. A column with two
        levels is not nominal here, because their order does not matter.
    sources : the number of the column itself; calendar columns of a date have the same number, so
        that it is known that they do not explain each other
    entropies : cumulative entropy of the values; 0 for a constant column
    widths : largest minus smallest value
    exponents : values are divided by two to this power; 0 unless they are extremely large or small
    missing_is_level : whether a missing cell of an explaining column is a value of its own, for
        measures that have this option
    dependent : the series or groups of the rows, if they are not independent
    """

    def __init__(self, table: Table) -> None:
        n_columns, n_rows = len(table.columns), table.n_rows
        self.table = table
        self.names = table.names
        self.n_rows = n_rows
        self.missing_is_level = table.options.missing == "level"
        self.dependent = table.dependent
        self.orders = np.empty((n_columns, n_rows), np.uint32)
        self.values = _copy_cells(table)
        self.n_present = np.empty(n_columns, np.int64)
        self.nominal = np.zeros(n_columns, np.bool_)
        self.sources = _number_sources(table)
        self.entropies = np.empty(n_columns)
        self.widths = np.empty(n_columns)
        self.exponents = np.empty(n_columns, np.int64)
        increments = kernels.shared.entropy_tables.increments(n_rows)
        for position in range(n_columns):
            order, values = sort_column(self.values[position])
            self.orders[position] = order
            self.n_present[position] = values.size
            self.nominal[position] = table.columns[position].kind == "nominal" and (
                np.count_nonzero(values[1:] != values[:-1]) > 1
            )
            self.exponents[position] = _scale_extreme(values)
            self.widths[position] = values[-1] - values[0] if values.size else 0.0
            self.values[position, : values.size] = values
            self.entropies[position] = kernels.shared.columns.cumulative_entropy(
                values, increments
            )
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False
        self._derived: dict[Need, Derived] = {}
        self._unmoved: Prepared | None = None
        self._moves: Moves = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: workers need only the arrays."""
        return {name: value for name, value in vars(self).items() if name != "table"}

    def unrelated(self, columns: Iterable[int], target: int) -> Columns:
        """Return those of the columns that are neither the target nor from the same date."""
        source = self.sources[target]
        return tuple(column for column in columns if self.sources[column] != source)

    @property
    def series(self) -> DependentRows | None:
        """The time series of the rows, if they are any."""
        return self.dependent if self.dependent and self.dependent.kind == SERIES else None

    def has_missing(self, position: int) -> bool:
        """Return whether a column has missing cells."""
        return bool(self.n_present[position] < self.n_rows)

    def absent(self, columns: Iterable[int]) -> Booleans | None:
        """Return the rows that do not count for these conditions; None if all rows count.

        A row does not count if a condition is missing, unless missing cells are values.
        """
        if self.missing_is_level:
            return None
        absent = None
        for column in columns:
            if self.n_present[column] < self.n_rows:
                absent = np.zeros(self.n_rows, np.bool_) if absent is None else absent
                absent[self.orders[column, self.n_present[column] :]] = True
        return absent

    def n_complete(self, columns: Sequence[int]) -> int:
        """Return the number of rows in which none of these columns is missing."""
        complete = np.ones(self.n_rows, np.bool_)
        for column in columns:
            complete[self.orders[column, self.n_present[column] :]] = False
        return int(np.count_nonzero(complete))

    def by_row(self, position: int) -> Floats:
        """Return the values of a column in row order, NaN where a cell is missing."""
        n_present = self.n_present[position]
        values = np.full(self.n_rows, np.nan)
        values[self.orders[position, :n_present]] = self.values[position, :n_present]
        return values

    @cached_property
    def varies(self) -> Booleans:
        """Which columns have two different values, or one value and missing cells."""
        some_missing = (self.n_present > 0) & (self.n_present < self.n_rows)
        return np.asarray((self.entropies > 0) | some_missing)

    def varying(self, columns: Iterable[int]) -> list[int]:
        """Return those of the columns that vary."""
        return [column for column in columns if self.varies[column]]

    def derived(self, kind: type[D], *parameters: Any) -> D:
        """Return derived data of the columns, computed when it is first asked for."""
        need = Need(kind, parameters)
        if need not in self._derived:
            if self._unmoved is None:
                self._derived[need] = kind.of(self, *parameters)
            else:
                source = self._unmoved.derived(kind, *parameters)
                self._derived[need] = source.moved(self._moves)
        found = self._derived[need]
        assert isinstance(found, kind)
        return found

    def provide(self, derived: Derived) -> None:
        """Use this derived data, instead of computing it."""
        self._derived[Need(type(derived))] = derived

    def precompute(self, needs: Iterable[Need]) -> None:
        """Compute derived data now, before the columns are sent to workers."""
        for need in needs:
            self.derived(need.kind, *need.parameters)

    def without(self, positions: Sequence[int], reason: str = "") -> Prepared:
        """Return the other columns, without derived data; the table names the reason, if any."""
        if not positions:
            return self
        kept = [c for c in range(len(self.names)) if c not in positions]
        left_out = tuple((self.names[position], reason) for position in positions if reason)
        rest = object.__new__(Prepared)
        rest.table = replace(self.table.select(kept), left_out=(*self.table.left_out, *left_out))
        rest.names = rest.table.names
        rest.n_rows = self.n_rows
        rest.missing_is_level = self.missing_is_level
        rest.dependent = self.dependent
        for name in _ARRAYS:
            lines = getattr(self, name)[kept]
            lines.flags.writeable = False
            setattr(rest, name, lines)
        rest._derived = {}
        rest._unmoved = None
        rest._moves = {}
        return rest

    def with_missing(self, missing: str) -> Prepared:
        """Return the same columns with another option ``missing``, without derived data."""
        same = object.__new__(Prepared)
        same.__dict__.update(vars(self))
        same.table = replace(self.table, options=replace(self.table.options, missing=missing))
        same.missing_is_level = missing == "level"
        same._derived = {}
        return same

    def moved(self, moves: Moves) -> Prepared:
        """Return the same columns with the values of some of them moved to other rows.

        Sorted values, ties and bins stay the same, so that nothing is sorted again. The columns
        have no ``table``.
        """
        moved = object.__new__(Prepared)
        for name in _UNMOVED:
            setattr(moved, name, getattr(self, name))
        moved.orders = move_orders(self.orders, moves)
        moved._derived = {}
        moved._unmoved = self
        moved._moves = moves
        return moved


def prepare(data: Any, columns: Sequence[Any] | None = None) -> Prepared:
    """Return the prepared columns of any data that `read_table` accepts."""
    return Prepared(read_table(data, columns))


class Roles(NamedTuple):
    """What each column is for, by position.

    Parameters
    ----------
    target : the column to be explained, if there is one
    given : columns that are known already; what others explain beyond them counts
    others : all other columns
    """

    target: int | None
    given: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def tested(self) -> tuple[int, ...]:
        """All columns except those that are given."""
        return tuple(sorted((*self.others, *([] if self.target is None else [self.target]))))


def prepare_with_roles(
    data: Any,
    columns: Sequence[Any] | None,
    target: Any = None,
    given: Sequence[Any] | None = None,
    ordered_for: str | None = None,
    calendars: bool = True,
) -> tuple[Prepared, Roles]:
    """Return the prepared columns, including target and given columns, and their roles.

    Parameters
    ----------
    data, columns, target, given : as for `covary.score`
    ordered_for : the name of a measure that cannot use nominal columns. Those that the user names
        raise an error. Others are left out, with a warning.
    calendars : whether to keep calendar columns that the user does not ask for
    """
    named_given = () if given is None else check_columns("given", given)
    if target is None and named_given:
        raise errors.given_without_target()
    if columns is not None and (target is not None or named_given):
        columns = as_list(columns)
        for column in named_given:
            if _is_named(column, columns):
                raise errors.two_roles(str(column), "columns", "given")
        extra = [] if target is None else [target]
        columns += [each for each in (*extra, *named_given) if not _is_named(each, columns)]
    prepared = prepare(data, columns)
    if prepared.table.options.lags:
        if target is None:
            raise errors.lags_need_target()
        # Earlier values of the target explain it, of course.
        explained = _position(target, prepared.table)
        own = np.flatnonzero(prepared.sources == prepared.sources[explained])
        prepared = prepared.without([c for c in own.tolist() if c != explained])
    if not calendars and columns is None and prepared.table.options.dates is None:
        parts = [at for at, each in enumerate(prepared.table.columns) if each.part_of]
        wanted = {str(each) for each in (target, *named_given)}
        prepared = prepared.without([at for at in parts if prepared.names[at] not in wanted])
    if ordered_for is not None and prepared.nominal.any():
        named = [target, *named_given] if target is not None else []
        prepared = _without_nominal(prepared, ordered_for, columns is not None, named)
    names = prepared.names
    positions = tuple(_position(column, prepared.table) for column in named_given)
    for position in positions:
        if positions.count(position) > 1:
            raise errors.repeated_column(names[position])
    at = None if target is None else _position(target, prepared.table)
    if at in positions:
        raise errors.two_roles(names[at], "target", "given")
    others = tuple(c for c in range(len(names)) if c != at and c not in positions)
    if not others and at is not None and positions:
        raise errors.all_given(names[at])
    if not others:
        raise errors.too_few_columns(names)
    return prepared, Roles(at, positions, others)


def _without_nominal(
    prepared: Prepared, measure: str, all_named: bool, named: Sequence[Any]
) -> Prepared:
    """Return the columns with an order; raise an error if the user names one without."""
    nominal = np.flatnonzero(prepared.nominal).tolist()
    refused = nominal
    if not all_named:
        refused = sorted({_position(each, prepared.table) for each in named}.intersection(nominal))
    if refused or len(prepared.names) - len(nominal) < 2:
        names = [prepared.names[column] for column in refused or nominal]
        raise errors.nominal_columns(measure, names)
    errors.warn(errors.without_nominal(measure, [prepared.names[column] for column in nominal]))
    return prepared.without(nominal, "nominal")


def _is_named(column: Any, columns: Sequence[Any]) -> bool:
    names = {name for each in columns for name in _possible_names(each)}
    return bool(names.intersection(_possible_names(column)))


def _position(target: Any, table: Table) -> int:
    names = table.names
    for name in _possible_names(target):
        if name in names:
            return names.index(name)
    if str(target) in dict(table.left_out):
        raise errors.unusable_column(str(target), dict(table.left_out)[str(target)])
    raise errors.unknown_column(target, names)


def _possible_names(column: Any) -> list[str]:
    """Return the names that a column may have: its own, or one by its position in an array."""
    return [str(column), *([f"x{column}"] if isinstance(column, Integral) else [])]


def _number_sources(table: Table) -> Integers:
    """Return a number for each column, the same for the calendar columns of one date."""
    first: dict[str, int] = {}
    names = (column.part_of or column.name for column in table.columns)
    return np.array([first.setdefault(name, at) for at, name in enumerate(names)], np.int64)


def _copy_cells(table: Table) -> Floats:
    """Return the cells of a table, one line per column."""
    cells = np.empty((len(table.columns), table.n_rows))
    for first in range(0, table.n_rows, BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        for line, column in zip(cells, table.columns, strict=True):
            line[rows] = column.values[rows]
    return cells


def _scale_extreme(values: Floats) -> int:
    """Divide sorted values in place by a power of two if their sums could overflow or vanish.

    Returns the exponent. Division by a power of two does not round, so that different values stay
    different.
    """
    if values.size == 0:
        return 0
    exponent = int(np.frexp(max(abs(values[0]), abs(values[-1])))[1])
    if abs(exponent) < EXTREME_EXPONENT:
        return 0
    # In two steps, because the power itself may overflow.
    np.ldexp(values, -(exponent // 2), out=values)
    np.ldexp(values, -(exponent - exponent // 2), out=values)
    return exponent
