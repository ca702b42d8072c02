"""Conditional evidence: that a target depends on columns, given others.

The target and the columns are replaced by their residuals given the others. The evidence is that
of the residuals, and of balanced cells over residuals and given columns. Under the null
hypothesis, rows that are similar in the given columns can exchange their residuals of the target.

A nominal column is replaced by indicators: which rows have each of its most frequent levels. Rows
with different levels of a nominal given column never exchange.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from covary.array_types import Floats, Integers, Rows
from covary.engines.base import stop_if_cancelled
from covary.measures.uds_chance.balanced_cells import Cells, balanced_cells
from covary.measures.uds_chance.complete_rows import CompleteRows, complete_rows
from covary.measures.uds_chance.evidence import CELLS_PER_BLOCK, gains_of_pairs
from covary.measures.uds_chance.evidence_views import (
    ViewGains,
    cell_gains,
    level_evidence,
    log_mean_exp,
    pair_evidence,
)
from covary.measures.uds_chance.midranks import FoldedColumns, MidRanks
from covary.measures.uds_chance.places import by_content
from covary.measures.uds_chance.residuals import Adjusted, Ranked, adjust
from covary.prepare import Derived, Moves, Prepared
from covary.seeds import Purpose, random_stream
from covary.table import Column, Table
from covary.table.dependent_rows import SERIES, DependentRows, all_shifts

# Cells of rows that exchange residuals have fewer rows than 4 times two to this power.
EXCHANGE_LEVEL = 2
# The number of copies that give the mean and the standard deviation of each view.
N_REFERENCE = 64
# A column is determined by the given columns if less than this fraction of its standard deviation
# remains.
DETERMINED = 0.01
# Fewer rows, or fewer rows per given column, are not tested: the regression is too uncertain.
MIN_ROWS = 8
MIN_ROWS_PER_GIVEN = 12
# A sample of this many complete rows is used of larger tables. With more rows, what the regression
# misses would be significant.
MAX_ROWS = 5_000
# A nominal column has at most this many indicators.
MAX_INDICATORS = 8
LOG_2 = math.log(2.0)


class _Views(NamedTuple):
    """All views of some copies of the residuals of the target.

    Parameters
    ----------
    there, back : what each column explains of the copies, and the copies of each column; shape
        (columns, copies, indicators of the target, views)
    correlations : of each column and the copies, the same shape
    levels : what balanced cells explain of the copies; shape (copies, indicators, levels)
    """

    there: ViewGains
    back: ViewGains
    correlations: ViewGains
    levels: ViewGains


class ConditionalEvidence(Derived):
    """The evidence that a target depends on columns, given others.

    Rows in which one of these columns is missing are left out. If a given column is missing, the
    target and the columns may depend on each other through it.

    Every view is standardised by its mean and its standard deviation over some copies of the
    table, in which the residuals of the target are exchanged. So a view that the given columns
    alone make large does not hide others.

    Attributes
    ----------
    rows : the rows that are tested
    observed : the evidence; 0 if there is nothing to test
    untestable : why there is nothing to test; empty if there is
    """

    def __init__(
        self, prepared: Prepared, target: int, columns: Sequence[int], given: Sequence[int]
    ) -> None:
        self.prepared = prepared
        self.roles = (target, tuple(columns), tuple(given))
        self.observed = 0.0
        # In this order, the result does not depend on the order of the columns in the table.
        ordered = by_content(prepared, prepared.varying([target, *columns, *given]))
        tested = [column for column in ordered if column in columns]
        known = [column for column in ordered if column in given]
        complete = complete_rows(prepared, (target, *tested, *known))
        if prepared.dependent is not None:
            complete = _in_order(complete, prepared.dependent)
        elif complete.rows.size > MAX_ROWS:
            rng = random_stream(0, Purpose.REFERENCE, 0)
            complete = complete.sample(rng.choice(complete.rows.size, MAX_ROWS, replace=False))
        self.rows = complete.rows
        self.dependent = prepared.dependent and prepared.dependent.of_rows(self.rows)
        series = self.series
        # The places of the rows that are compared: shifts need some rows at both ends.
        self.compared = slice(None) if series is None else series.centre
        of_rows = complete.columns
        first, last = 1, 1 + len(tested)
        self.untestable = self._adjust(of_rows[0], of_rows[first:last], of_rows[last:])
        if self.untestable:
            return
        rng = random_stream(0, Purpose.REFERENCE, 1)
        if series is not None:
            copies = self._shifted_copies(all_shifts(series, N_REFERENCE, rng))
        else:
            numbers = rng.permuted(np.tile(np.arange(self.rows.size), (N_REFERENCE, 1)), axis=1)
            copies = self._copies(numbers)
        views = self._views(copies)
        self.reference = [_moments(each) for each in views]
        observed = np.array([[each.residuals[self.compared] for each in self.targets]])
        self.observed = float(self._evidence(observed)[0])

    def _adjust(self, target: Ranked, columns: Sequence[Ranked], given: Sequence[Ranked]) -> str:
        """Compute the residuals of target and columns, and cells; return why it is impossible."""
        least = _least_rows(len(given))
        if self.rows.size < least:
            return f"fewer than {least} rows have no missing cell in these columns"
        if not target.varies:
            return "the target is constant in the rows without missing cells"
        columns = [each for each in columns if each.varies]
        if not columns:
            return "the tested columns are constant in the rows without missing cells"
        conditions = [each for each in given if each.varies]
        targets = target.indicators(MAX_INDICATORS)
        ordered = [each for each in columns if not each.nominal]
        nominal = [each for each in columns if each.nominal]
        indicators = [some for each in nominal for some in each.indicators(MAX_INDICATORS)]
        adjusted = adjust([*targets, *ordered, *indicators], conditions)
        first, last = len(targets), len(targets) + len(ordered)
        self.targets = _undetermined(adjusted[:first])
        if not self.targets:
            return "the given columns determine the target"
        # Only the residuals of columns are kept: regressions take much memory.
        compared = self.compared
        of_ordered = [each.residuals[compared] for each in _undetermined(adjusted[first:last])]
        of_levels = [each.residuals[compared] for each in _undetermined(adjusted[last:])]
        self.residuals = [*of_ordered, *of_levels]
        if not self.residuals:
            return "the given columns determine the tested columns"
        self.cells = _similar_rows(self.targets, conditions)
        if self.dependent is not None:
            self.cells = _divided(self.cells, self.dependent.of_row)
        levels = [each.of_rows(compared) for each in (*nominal, *conditions) if each.nominal]
        known = [each.values()[compared] for each in conditions if not each.nominal]
        self.joint = _cells_over([*of_ordered, *known], levels)
        return ""

    @classmethod
    def of(cls, prepared: Prepared, *parameters: Sequence[int] | int) -> Self:
        return cls(prepared, *parameters)  # type: ignore[arg-type]

    def moved(self, moves: Moves) -> Self:
        return type(self)(self.prepared.moved(moves), *self.roles)

    def of_permutations(self, rows: Rows) -> Floats:
        """Return the evidence after exchanges of residuals, one for each permutation of rows.

        Only the order matters in which a permutation puts the rows of a cell.
        """
        if self.untestable:
            return np.zeros(len(rows))
        block = max(1, CELLS_PER_BLOCK // self.rows.size)
        evidence = np.empty(len(rows))
        for first in range(0, len(rows), block):
            stop_if_cancelled()
            some = slice(first, first + block)
            evidence[some] = self._evidence(self._copies(rows[some, self.rows]))
        return evidence

    @property
    def series(self) -> DependentRows | None:
        """The series of the rows that are tested, if these are series."""
        is_series = self.dependent is not None and self.dependent.kind == SERIES
        return self.dependent if is_series else None

    def of_shifts(self, shifts: Sequence[Integers | None]) -> Floats:
        """Return the evidence after shifts of the residuals, one for each shift.

        A shift is the number of rows by which each series of the table moves; None for none. If
        rows with missing cells are left out, shifts are shorter in proportion.
        """
        whole, own = self.prepared.dependent, self.series
        if self.untestable or own is None:
            return np.zeros(len(shifts))
        assert whole is not None
        which = np.unique(whole.of_row[self.rows])
        shares = own.reaches / np.maximum(whole.reaches[which], 1)
        zero = np.zeros(which.size, np.int64)
        return self.of_own_shifts(
            [zero if s is None else np.rint(s[which] * shares).astype(np.int64) for s in shifts]
        )

    def of_own_shifts(self, moved: Sequence[Integers]) -> Floats:
        """Return the evidence after shifts of the series of the rows that are tested."""
        if self.untestable:
            return np.zeros(len(moved))
        block = max(1, CELLS_PER_BLOCK // self.rows.size)
        evidence = np.empty(len(moved))
        for first in range(0, len(moved), block):
            stop_if_cancelled()
            some = slice(first, first + block)
            evidence[some] = self._evidence(self._shifted_copies(moved[some]))
        is_zero = [not each.any() for each in moved]
        evidence[is_zero] = self.observed
        return evidence

    def _shifted_copies(self, shifts: Sequence[Integers]) -> Floats:
        """Return copies of the residuals with each series shifted, of the compared rows.

        The ends of a series are joined only where rows are not compared.
        """
        assert self.dependent is not None
        sources = np.array([self.dependent.rotated(each) for each in shifts])
        copies = [each.exchanged(sources)[:, self.compared] for each in self.targets]
        return np.stack(copies, axis=1)

    def _copies(self, numbers: Integers | Rows) -> Floats:
        """Return copies of the residuals: in each cell, sorted by these numbers.

        The shape is (copies, indicators of the target, rows).
        """
        keys = numbers + self.cells * np.int64(self.prepared.n_rows)
        sources = np.empty(keys.shape, np.int64)
        sources[:, np.argsort(self.cells, kind="stable")] = np.argsort(keys, axis=1)
        return np.stack([each.exchanged(sources) for each in self.targets], axis=1)

    def _evidence(self, copies: Floats) -> Floats:
        """Return the evidence of copies of the residuals of the target.

        It is the log mean exp over the columns, and the evidence of balanced cells, with equal
        weight; both over all indicators of a nominal target.
        """
        there, back, correlations, levels = (
            ViewGains(_standardised(each.gains, *moments), each.skewnesses)
            for each, moments in zip(self._views(copies), self.reference, strict=True)
        )
        of_pairs = pair_evidence(_lines(there), _lines(back), _lines(correlations))
        by_column = of_pairs.reshape(len(self.residuals), len(copies), -1)
        by_copy = np.moveaxis(by_column, 1, 0).reshape(len(copies), -1)
        of_cells = level_evidence(_lines(levels)).reshape(len(copies), -1)
        return np.logaddexp(log_mean_exp(by_copy), log_mean_exp(of_cells)) - LOG_2

    def _views(self, copies: Floats) -> _Views:
        """Return all views of copies of the residuals of the target."""
        n_columns, (n_copies, n_targets, n_rows) = len(self.residuals), copies.shape
        originals = [
            *self.residuals,
            *(each.residuals[self.compared] for each in self.targets),
        ]
        prepared = _prepared([*originals, *copies.reshape(-1, n_rows)])
        n = len(originals)
        targets = range(n, n + n_copies * n_targets)
        # Every copy has the null distribution of the residuals. Its own would take long, and
        # reference copies standardise all gains anyway.
        like = [*range(n), *(n_columns + at % n_targets for at in range(n_copies * n_targets))]
        prepared.provide(MidRanks.of(prepared, like))
        prepared.provide(FoldedColumns.of(prepared, like))
        pairs = list(product(range(n_columns), targets))
        there, back, correlations = gains_of_pairs(prepared, pairs)

        def by_column(gains: Floats, skewnesses: Floats) -> ViewGains:
            shape = (n_columns, n_copies, n_targets, -1)
            return ViewGains(gains.reshape(shape), skewnesses.reshape(shape))

        return _Views(
            by_column(*there),
            by_column(*back),
            by_column(*correlations),
            ViewGains(
                *(
                    each.reshape(n_copies, n_targets, -1)
                    for each in cell_gains(prepared, self.joint, targets)
                )
            ),
        )


def _undetermined(columns: Sequence[Adjusted]) -> list[Adjusted]:
    """Return the columns that the given columns do not determine."""
    return [each for each in columns if each.unexplained > DETERMINED]


def _in_order(complete: CompleteRows, dependent: DependentRows) -> CompleteRows:
    """Return complete rows in the order of the table, some of them if there are many.

    Of series, the rows in the middle.
    """
    n = complete.rows.size
    order = np.argsort(complete.rows)
    if n > MAX_ROWS and dependent.kind == SERIES:
        order = order[(n - MAX_ROWS) // 2 :][:MAX_ROWS]
    elif n > MAX_ROWS:
        rng = random_stream(0, Purpose.REFERENCE, 0)
        order = order[np.sort(rng.choice(n, MAX_ROWS, replace=False))]
    return complete.sample(order)


def _divided(cells: Rows, groups: Integers) -> Rows:
    """Return the cell of each row, with groups in cells of their own."""
    _, divided = np.unique([cells, groups], axis=1, return_inverse=True)
    return divided.reshape(cells.size).astype(np.uint32)


def _least_rows(n_given: int) -> int:
    """Return the least number of rows that are tested."""
    return max(MIN_ROWS, MIN_ROWS_PER_GIVEN * n_given)


def _similar_rows(targets: Sequence[Adjusted], conditions: Sequence[Ranked]) -> Rows:
    """Return the cell of each row: small balanced cells.

    They are cells of the only given column. With several, they are cells of the predictions of the
    target: rows with similar predictions are closer to each other than rows in cells of many
    columns. Rows of a cell always have the same levels of nominal given columns.
    """
    levels = [each for each in conditions if each.nominal]
    ordered = [each.values() for each in conditions if not each.nominal]
    if len(ordered) + len(levels) != 1:
        ordered = [each.fitted for each in targets]
    cells, maps, n_cells = _cells_over(ordered, levels)
    if n_cells.size <= EXCHANGE_LEVEL:
        # There are too few rows for several cells, but levels never mix.
        return _group(levels, cells.size)
    small: Rows = maps[-1 - EXCHANGE_LEVEL][cells]
    return small


def _group(levels: Sequence[Ranked], n_rows: int) -> Rows:
    """Return the number of the combination of levels of each row."""
    if not levels:
        return np.zeros(n_rows, np.uint32)
    _, cells = np.unique([each.codes for each in levels], axis=1, return_inverse=True)
    return cells.reshape(n_rows).astype(np.uint32)


def _cells_over(columns: Sequence[Floats], levels: Sequence[Ranked] = ()) -> Cells:
    """Return the balanced cells over ordered and nominal columns."""
    prepared = _prepared([*columns, *(each.values() for each in levels)], len(levels))
    return balanced_cells(prepared, range(len(prepared.names)))[0]


def _prepared(columns: Sequence[Floats], n_nominal: int = 0) -> Prepared:
    """Return prepared columns, the last of which are nominal."""
    first = len(columns) - n_nominal
    named = tuple(
        Column(str(at), column, "nominal" if at >= first else "number")
        for at, column in enumerate(columns)
    )
    return Prepared(Table(named, named[0].values.size))


def _lines(views: ViewGains) -> ViewGains:
    """Return views with one line for each column and copy."""
    gains, skewnesses = (each.reshape(-1, each.shape[-1]) for each in views)
    return ViewGains(gains, skewnesses)


def _moments(views: ViewGains) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of gains over the copies that have them.

    A gain that is never available, or always the same, has an infinite deviation.
    """
    available = np.isfinite(views.gains)
    number = np.maximum(available.sum(axis=-3, keepdims=True), 1)
    finite = np.where(available, views.gains, 0.0)
    means = finite.sum(axis=-3, keepdims=True) / number
    squares = np.where(available, (finite - means) ** 2, 0.0)
    deviations = np.sqrt(squares.sum(axis=-3, keepdims=True) / number)
    varies = deviations > 1e-9
    return np.where(varies, means, 0.0), np.where(varies, deviations, np.inf)


def _standardised(gains: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return standardised gains.

    They are 0 if the deviation is infinite. A gain that is not available stays so.
    """
    available = np.isfinite(gains)
    finite = np.where(available, gains, 0.0)
    return np.where(available, (finite - means) / deviations, -np.inf)
