"""Columns by their mid-ranks, as targets of the chance-corrected estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

import numpy as np

from covary import kernels
from covary.array_types import AnyArray, Booleans, Floats, Integers, Rows
from covary.measures.uds_chance.level_patterns import level_pattern
from covary.measures.uds_chance.tie_patterns import table_sizes, tie_entropy, tie_pattern
from covary.prepare import Derived, Moves, Prepared, move_orders

# What `covary.kernels.uds_chance.gains.TARGETS` lists, of all columns.
TargetArrays = tuple[AnyArray, ...]


class MidRanks(Derived):
    """Entropies of the mid-ranks of every column, and their null distribution.

    h is the mean of cumulative and cumulative residual entropy of the mid-ranks, estimated as in
    `covary.kernels.uds_chance.expected_entropy`. For a nominal column it is the Shannon entropy of
    the levels. All attributes have one entry per column.

    Attributes
    ----------
    entropies : h divided by the number of present cells: 1/4 without ties, 0 for a constant. For a
        nominal column a quarter of its entropy in nats, at most 1/4.
    units : the expected relative decrease of the entropy per additional cell, for large cells that
        are independent of the column; 1 / rows without ties
    variances, skewnesses : moments of this decrease, scaled to mean 1
    gap_lines, gap_of : differences of successive mid-ranks along the sorted column, and the line
        of each column
    bias_lines, bias_of : by cell size (`table_sizes`), the expected bias of the estimate of the
        cell's entropy as a fraction of the entropy of all rows, and the line of each column
    shannon : of a nominal column, its entropy in nats times the number of present cells; else 0
    freedom_of : of a nominal column, and of one with two values, the line of ``bias_lines`` that
        contains the degrees of freedom by cell size; else 0

    Parameters
    ----------
    sorted_columns, n_rows : the present values of each column, sorted; the number of all rows
    like : for each column, the one whose null distribution it has as well; itself by default
    nominal : which columns are nominal; none by default
    """

    def __init__(
        self,
        sorted_columns: list[Floats],
        n_rows: int,
        like: Sequence[int] | None = None,
        nominal: Booleans | None = None,
    ) -> None:
        n_columns = len(sorted_columns)
        like = range(n_columns) if like is None else like
        nominal = np.zeros(n_columns, np.bool_) if nominal is None else nominal
        self.entropies = np.zeros(n_columns)
        self.units = np.zeros(n_columns)
        self.variances = np.zeros(n_columns)
        self.skewnesses = np.zeros(n_columns)
        self.gap_of = np.zeros(n_columns, np.int64)
        self.bias_of = np.zeros(n_columns, np.int64)
        self.shannon = np.zeros(n_columns)
        self.freedom_of = np.zeros(n_columns, np.int64)
        gap_lines = [np.ones(n_rows)]  # columns without ties
        bias_lines = [np.zeros(table_sizes(n_rows).size)]
        # The first column with these ties, and whether it is nominal.
        first_with: dict[tuple[int, bytes, bool], int] = {}

        def add_table(by_size: Floats) -> int:
            bias_lines.append(np.zeros(bias_lines[0].size))
            bias_lines[-1][: by_size.size] = by_size
            return len(bias_lines) - 1

        for at, values in enumerate(sorted_columns):
            n = values.size
            ends = np.flatnonzero(values[1:] != values[:-1]) + 1
            if ends.size == 0:
                continue
            untied = ends.size == n - 1
            if like[at] != at:
                entropy, gaps = tie_entropy(n, ends)
                self.entropies[at] = entropy / n
                if not untied:
                    self.gap_of[at] = len(gap_lines)
                    gap_lines.append(_gap_line(n_rows, ends, gaps))
                continue
            digest = b"" if untied else blake2b(ends.tobytes()).digest()
            first = first_with.setdefault((n, digest, bool(nominal[at])), at)
            if first < at:
                for entries in self._by_column:
                    entries[at] = entries[first]
                continue
            if nominal[at]:
                levels = level_pattern(n, np.diff(ends, prepend=0, append=n))
                self.entropies[at] = min(levels.entropy, 1.0) / 4.0
                self.shannon[at] = levels.entropy * n
                self.units[at] = levels.unit
                self.variances[at] = levels.variance
                self.skewnesses[at] = levels.skewness
                self.bias_of[at] = add_table(levels.biases)
                self.freedom_of[at] = add_table(levels.freedoms)
                self.gap_of[at] = len(gap_lines)
                gap_lines.append(_gap_line(n_rows, ends, np.ones(ends.size)))
                continue
            pattern = tie_pattern(n, ends)
            self.entropies[at] = pattern.entropy / n
            self.units[at] = pattern.unit
            self.variances[at] = pattern.variance
            self.skewnesses[at] = pattern.skewness
            self.bias_of[at] = add_table(pattern.biases)
            if ends.size == 1:
                levels = level_pattern(n, np.array([ends[0], n - ends[0]]))
                self.freedom_of[at] = add_table(levels.freedoms)
            if not untied:
                self.gap_of[at] = len(gap_lines)
                gap_lines.append(_gap_line(n_rows, ends, pattern.gaps))
        for entries in (*self.null_moments, self.bias_of, self.shannon, self.freedom_of):
            entries[:] = entries[like]
        self.gap_lines = np.array(gap_lines)
        self.bias_lines = np.array(bias_lines)

    @classmethod
    def of(cls, prepared: Prepared, like: Sequence[int] | None = None) -> Self:
        columns = zip(prepared.values, prepared.n_present, strict=True)
        ordered = [values[:n] for values, n in columns]
        return cls(ordered, prepared.n_rows, like, prepared.nominal)

    def moved(self, moves: Moves) -> Self:
        return self  # nothing depends on the rows

    @property
    def _by_column(self) -> tuple[AnyArray, ...]:
        """All arrays with one entry per column."""
        lines = (self.gap_of, self.bias_of, self.freedom_of)
        return (*self.null_moments, self.entropies, self.shannon, *lines)

    @property
    def null_moments(self) -> tuple[Floats, Floats, Floats]:
        """Units, variances and skewnesses, as the kernels expect them."""
        return self.units, self.variances, self.skewnesses


def _gap_line(n_rows: int, ends: Integers, gaps: Floats) -> Floats:
    """Return the gap after each position in a sorted column."""
    line = np.zeros(n_rows)
    line[ends - 1] = gaps
    return line


class FoldedColumns(Derived):
    """The columns folded at their median: by the distance of the mid-rank from the middle.

    A nominal column has no middle. It becomes constant.

    Attributes
    ----------
    orders : rows by ascending distance, one line per column
    midranks : of the distances
    """

    def __init__(self, orders: Rows, midranks: MidRanks) -> None:
        self.orders = orders
        self.midranks = midranks

    @classmethod
    def of(cls, prepared: Prepared, like: Sequence[int] | None = None) -> Self:
        orders = prepared.orders.copy()
        columns = []
        for column, n in enumerate(prepared.n_present):
            if prepared.nominal[column]:
                columns.append(np.zeros(n))
                continue
            order, ordered = orders[column], prepared.values[column, :n]
            # Integers: twice the mid-rank minus twice the middle.
            ends = np.searchsorted(ordered, ordered) + np.searchsorted(ordered, ordered, "right")
            distance = np.abs(ends - n)
            outward = np.argsort(distance, kind="stable")
            order[:n] = order[:n][outward]
            columns.append(distance[outward].astype(np.float64))
        return cls(orders, MidRanks(columns, prepared.n_rows, like))

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_orders(self.orders, moves), self.midranks)


def target_arrays(prepared: Prepared, folded: bool = False) -> TargetArrays:
    """Return the columns as the kernels expect targets, folded or not."""
    if folded:
        columns = prepared.derived(FoldedColumns)
        orders, midranks = columns.orders, columns.midranks
    else:
        orders, midranks = prepared.orders, prepared.derived(MidRanks)
    return (
        orders,
        prepared.n_present,
        midranks.entropies,
        midranks.gap_lines,
        midranks.gap_of,
        midranks.bias_lines,
        midranks.bias_of,
        midranks.shannon,
        midranks.freedom_of,
    )


class Targets(NamedTuple):
    """Targets as the kernels expect them.

    Parameters
    ----------
    which : the numbers of the targets in ``columns``
    columns : what `covary.kernels.uds_chance.gains.TARGETS` lists
    moments : units, variances and skewnesses of the null distributions of ``columns``
    """

    which: Integers
    columns: TargetArrays
    moments: tuple[Floats, ...]

    def without(self, absent: Booleans | None, folded: bool = False) -> Targets:
        """Return the targets without the rows that do not count; themselves if all rows count.

        Targets that are not folded yet are folded afterwards, if ``folded``.
        """
        if absent is None:
            return self
        *columns, units, variances, skewnesses = (
            kernels.uds_chance.complete_targets.complete_targets(
                self.columns,
                self.which,
                absent,
                folded,
                table_sizes(absent.size),
                kernels.shared.entropy_tables.weighted_harmonics(absent.size),
            )
        )
        return Targets(np.arange(self.which.size), tuple(columns), (units, variances, skewnesses))

    def copies(self, rows: Rows) -> Targets:
        """Return copies of the only target, each with its values moved to other rows.

        ``rows`` has a line for each copy: the row that the value of each row moves to.
        """
        (target,) = self.which.tolist()
        return Targets(
            np.arange(len(rows)),
            moved_copies(self.columns, target, rows),
            tuple(np.full(len(rows), each[target]) for each in self.moments),
        )


def targets_of(prepared: Prepared, targets: Iterable[int], folded: bool = False) -> Targets:
    """Return targets with all their rows, folded or not."""
    midranks = prepared.derived(FoldedColumns).midranks if folded else prepared.derived(MidRanks)
    which = np.array(list(targets), np.int64)
    return Targets(which, target_arrays(prepared, folded), midranks.null_moments)


def moved_copies(targets: TargetArrays, column: int, rows: Rows) -> TargetArrays:
    """Return copies of one target, each with its values moved to other rows.

    Parameters
    ----------
    targets : from `target_arrays`
    rows : for each copy, the row that the value of each row moves to
    """
    orders, n_present, entropies, gap_lines, gap_of, bias_lines, bias_of, *of_levels = targets

    def repeated(entries: AnyArray) -> AnyArray:
        return np.full(len(rows), entries[column])

    return (
        np.take(rows, orders[column], axis=1),
        repeated(n_present),
        repeated(entropies),
        gap_lines,
        repeated(gap_of),
        bias_lines,
        repeated(bias_of),
        *map(repeated, of_levels),
    )
