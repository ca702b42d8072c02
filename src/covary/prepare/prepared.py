"""Prepared columns: sort order, scaled values, cumulative entropy and initial bins."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors, kernels
from covary.prepare.grids import FAMILIES, Grids, make_grids
from covary.prepare.ranked import Ranked
from covary.prepare.sorting import sort_column
from covary.table import Table, read_table

ROWS_AT_ONCE = 8192
EXTREME_EXPONENT = 400
# Codes of bins and one for missing cells fit a byte.
MOST_BINS = 254
_ARRAYS = ("orders", "values", "n_present", "entropies", "widths", "exponents")


@dataclass(frozen=True)
class Bins:
    """Equal-frequency initial bins of every column.

    Parameters
    ----------
    codes : for each column the bin of every row; ``counts`` of the column where it is missing
    counts : how many bins each column has, the missing cells not counted
    ends : for each column, where its bins end in the sorted values, exclusive

    """

    codes: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]
    ends: tuple[npt.NDArray[np.uint32], ...]


Rows = npt.NDArray[np.uint32]


class Prepared:
    """A table with every column sorted once; all arrays are read-only, one line per column.

    Attributes
    ----------
    table : the table itself; left behind when this goes to another process
    names, n_rows : of the table
    orders : rows by ascending value, rows with a missing cell last
    values : the sorted values; only the first ``n_present`` mean anything
    n_present : how many cells are not missing
    entropies : cumulative entropy of the values; 0 for a constant
    widths : range of the values
    exponents : 0, but for columns of extreme numbers, whose values are divided by 2 to this

    """

    def __init__(self, table: Table) -> None:
        n_columns, n_rows = len(table.columns), table.n_rows
        self.table = table
        self.names = table.names
        self.n_rows = n_rows
        self.orders = np.empty((n_columns, n_rows), np.uint32)
        self.values = _copied(table)
        self.n_present = np.empty(n_columns, np.int64)
        self.entropies = np.empty(n_columns)
        self.widths = np.empty(n_columns)
        self.exponents = np.empty(n_columns, np.int64)
        increments = kernels.tables.increments(n_rows)
        for position in range(n_columns):
            order, values = sort_column(self.values[position])
            self.orders[position] = order
            self.n_present[position] = values.size
            self.exponents[position] = _tame(values)
            self.widths[position] = values[-1] - values[0] if values.size else 0.0
            self.values[position, : values.size] = values
            self.entropies[position] = kernels.columns.cumulative_entropy(values, increments)
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False
        self._bins: dict[int, Bins] = {}
        self._shuffled_ties: dict[int, npt.NDArray[np.uint32]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: what another process computes needs only the arrays."""
        return {name: value for name, value in vars(self).items() if name != "table"}

    def has_missing(self, position: int) -> bool:
        """Return whether a column has missing cells."""
        return bool(self.n_present[position] < self.n_rows)

    def n_complete(self, columns: Sequence[int]) -> int:
        """Return how many rows lack none of these columns."""
        complete = np.ones(self.n_rows, np.bool_)
        for column in columns:
            complete[self.orders[column, self.n_present[column] :]] = False
        return int(np.count_nonzero(complete))

    def by_row(self, position: int) -> npt.NDArray[np.float64]:
        """Return the values of a column in the order of the rows; NaN where a cell is missing."""
        n_present = self.n_present[position]
        values = np.full(self.n_rows, np.nan)
        values[self.orders[position, :n_present]] = self.values[position, :n_present]
        return values

    @cached_property
    def varies(self) -> npt.NDArray[np.bool_]:
        """Which columns have more than one value, or some missing cells beside the one."""
        some_missing = (self.n_present > 0) & (self.n_present < self.n_rows)
        return np.asarray((self.entropies > 0) | some_missing)

    def bins(self, beta: int) -> Bins:
        """Return the at most ``beta`` initial bins of every column."""
        if beta not in self._bins:
            self._bins[beta] = self._initial_bins(beta)
        return self._bins[beta]

    def _initial_bins(self, beta: int) -> Bins:
        codes = np.empty(self.orders.shape, np.uint8)
        ends = []
        for position, n_present in enumerate(self.n_present):
            ends.append(
                kernels.columns.initial_bins(
                    self.orders[position], self.values[position, :n_present], beta, codes[position]
                )
            )
        counts = np.array([each.size for each in ends], np.int64)
        codes.flags.writeable = counts.flags.writeable = False
        return Bins(codes, counts, tuple(ends))

    def shuffled_ties(self, seed: int) -> npt.NDArray[np.uint32]:
        """Return ``orders`` with the rows of equal values in an order that is drawn."""
        if seed not in self._shuffled_ties:
            self._shuffled_ties[seed] = self._with_shuffled_ties(seed)
        return self._shuffled_ties[seed]

    def _with_shuffled_ties(self, seed: int) -> npt.NDArray[np.uint32]:
        orders = self.orders.copy()
        for column, n_present in enumerate(self.n_present):
            order, values = orders[column, :n_present], self.values[column, :n_present]
            runs = np.cumsum(values[1:] != values[:-1])
            if runs.size and runs[-1] < runs.size:
                # What the column holds decides: columns are drawn alike only if all their ranks
                # agree, and their places in the table do not matter.
                held = hashlib.blake2b(self.ranks[column].tobytes(), digest_size=8).digest()
                rng = np.random.default_rng([seed, int.from_bytes(held, "little")])
                places = np.lexsort((rng.permutation(n_present), np.append(0, runs)))
                order[:] = order[places]
        orders.flags.writeable = False
        return orders

    @cached_property
    def ranks(self) -> npt.NDArray[np.uint32]:
        """The rank of every row among the distinct values, by column; missing cells rank last."""
        ranks = np.empty(self.orders.shape, np.uint32)
        for position, n_present in enumerate(self.n_present):
            values = self.values[position, :n_present]
            steps = np.zeros(n_present, np.uint32)
            steps[1:] = values[1:] != values[:-1]
            ranks[position] = n_present
            ranks[position, self.orders[position, :n_present]] = np.cumsum(steps)
        return ranks

    @cached_property
    def ranked(self) -> Ranked:
        """The columns by their mid-ranks, and what chance does to their entropy."""
        present = zip(self.values, self.n_present, strict=True)
        return Ranked([values[:n] for values, n in present], self.n_rows)

    @cached_property
    def folded(self) -> tuple[npt.NDArray[np.uint32], Ranked]:
        """Orders and mid-ranks of what is left of the columns when they are folded in the middle.

        A row is then as far up as its rank was away from the middle, on whichever side.
        """
        orders = self.orders.copy()
        columns = []
        for order, values, n in zip(orders, self.values, self.n_present, strict=True):
            ordered = values[:n]
            # Whole numbers: twice the mid-rank, from twice the middle.
            ends = np.searchsorted(ordered, ordered) + np.searchsorted(ordered, ordered, "right")
            distance = np.abs(ends - n)
            outward = np.argsort(distance, kind="stable")
            order[:n] = order[:n][outward]
            columns.append(distance[outward].astype(np.float64))
        return orders, Ranked(columns, self.n_rows)

    @cached_property
    def grids(self) -> tuple[Grids, ...]:
        """Fixed grids of every column, by family."""
        return tuple(
            make_grids(family, self.orders, self.values, self.n_present) for family in FAMILIES
        )

    def moved(self, rows: Mapping[int, Rows]) -> Prepared:
        """Return the same columns, the values of some of them moved to other rows.

        Nothing is sorted or cut again: sorted values, ties and cuts stay what they are.

        Parameters
        ----------
        rows : by column, where the value of each row goes; each row once

        """
        return _Moved(self, rows)

    def upper_ends(self, position: int, bins: Bins, which: Sequence[int]) -> tuple[Any, ...]:
        """Return the largest values of these initial bins, in the column's own units."""
        column = self.table.columns[position]
        rows = self.orders[position, bins.ends[position][np.asarray(which, dtype=int)] - 1]
        return tuple(column.in_own_units(float(value)) for value in column.values[rows])


class _Moved(Prepared):
    """Columns with values moved; what depends on the rows is made when it is first needed."""

    def __init__(self, source: Prepared, rows: Mapping[int, Rows]) -> None:
        alike = ("names", "n_rows", "values", "n_present", "entropies", "widths", "exponents")
        for name in alike:
            setattr(self, name, getattr(source, name))
        self._source = source
        self._rows = rows
        self.orders = self._orders(source.orders)
        self._bins = {}
        self._shuffled_ties = {}

    def _orders(self, orders: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        moved = orders.copy()
        for column, rows in self._rows.items():
            np.take(rows, orders[column], out=moved[column])
        return moved

    def _by_row(self, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        moved = entries.copy()
        for column, rows in self._rows.items():
            moved[column, rows] = entries[column]
        return moved

    def _initial_bins(self, beta: int) -> Bins:
        bins = self._source.bins(beta)
        return replace(bins, codes=self._by_row(bins.codes))

    def _with_shuffled_ties(self, seed: int) -> npt.NDArray[np.uint32]:
        return self._orders(self._source.shuffled_ties(seed))

    @cached_property
    def varies(self) -> npt.NDArray[np.bool_]:
        return self._source.varies

    @cached_property
    def ranks(self) -> npt.NDArray[np.uint32]:
        return self._by_row(self._source.ranks)

    @cached_property
    def ranked(self) -> Ranked:
        return self._source.ranked

    @cached_property
    def folded(self) -> tuple[npt.NDArray[np.uint32], Ranked]:
        orders, ranked = self._source.folded
        return self._orders(orders), ranked

    @cached_property
    def grids(self) -> tuple[Grids, ...]:
        return tuple(
            grids._replace(codes=self._by_row(grids.codes)) for grids in self._source.grids
        )


def prepare(data: Any, columns: Sequence[Any] | None = None) -> Prepared:
    """Return the prepared columns of anything that `read_table` takes."""
    return Prepared(read_table(data, columns))


def prepare_toward(
    data: Any, columns: Sequence[Any] | None, target: Any
) -> tuple[Prepared, int | None]:
    """Return the prepared columns, the target among them, and the target's position, if any."""
    if target is not None and columns is not None:
        there = {name for column in columns for name in _possible_names(column)}
        columns = [*columns, *([] if there.intersection(_possible_names(target)) else [target])]
    prepared = prepare(data, columns)
    return prepared, None if target is None else _position(target, prepared.table)


def _position(target: Any, table: Table) -> int:
    names = table.names
    for name in _possible_names(target):
        if name in names:
            return names.index(name)
    if str(target) in dict(table.left_out):
        raise errors.unusable_column(str(target), dict(table.left_out)[str(target)])
    raise errors.unknown_column(target, names)


def _possible_names(column: Any) -> list[str]:
    """Return what a column may be called: by its name, or by its position in an array."""
    return [str(column), *([f"x{column}"] if isinstance(column, Integral) else [])]


def _copied(table: Table) -> npt.NDArray[np.float64]:
    """Return the cells of a table, one line per column.

    A few rows at a time: the columns may lie side by side in memory.
    """
    cells = np.empty((len(table.columns), table.n_rows))
    for first in range(0, table.n_rows, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        for line, column in zip(cells, table.columns, strict=True):
            line[rows] = column.values[rows]
    return cells


def _tame(values: npt.NDArray[np.float64]) -> int:
    """Divide sorted values in place by a power of two if their sums could leave the doubles.

    Nothing is rounded, so that different values stay different.
    """
    if values.size == 0:
        return 0
    exponent = int(np.frexp(max(abs(values[0]), abs(values[-1])))[1])
    if abs(exponent) < EXTREME_EXPONENT:
        return 0
    # In two steps: the power itself may be beyond the doubles.
    np.ldexp(values, -(exponent // 2), out=values)
    np.ldexp(values, -(exponent - exponent // 2), out=values)
    return exponent
