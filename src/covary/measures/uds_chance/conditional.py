"""Conditional evidence: that a target depends on columns, given others.

The target and the columns are replaced by their residuals given the others. The evidence is that
of the residuals, and of balanced cells over residuals and given columns. Under the null
hypothesis, rows that are similar in the given columns can exchange their residuals of the target.
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
from covary.measures.uds_chance.residuals import Adjusted, Ranked, adjust, ranked
from covary.prepare import Derived, Moves, Prepared
from covary.seeds import Purpose, random_stream
from covary.table import Column, Table

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
LOG_2 = math.log(2.0)


class _Views(NamedTuple):
    """All views of some copies of the residuals of the target.

    Parameters
    ----------
    there, back : what each column explains of the copies, and the copies of each column; shape
        (columns, copies, views)
    correlations : of each column and the copies, the same shape
    levels : what balanced cells explain of the copies; shape (copies, levels)
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
        values = [prepared.by_row(column) for column in (target, *tested, *known)]
        self.rows = _complete_rows(values)
        if self.rows.size > MAX_ROWS:
            rng = random_stream(0, Purpose.REFERENCE, 0)
            self.rows = self.rows[rng.choice(self.rows.size, MAX_ROWS, replace=False)]
        of_rows = [ranked(each[self.rows]) for each in values]
        first, last = 1, 1 + len(tested)
        self.untestable = self._adjust(of_rows[0], of_rows[first:last], of_rows[last:])
        if self.untestable:
            return
        rng = random_stream(0, Purpose.REFERENCE, 1)
        numbers = rng.permuted(np.tile(np.arange(self.rows.size), (N_REFERENCE, 1)), axis=1)
        views = self._views(self._copies(numbers))
        self.reference = [_moments(each) for each in views]
        self.observed = float(self._evidence(self.target.residuals[None])[0])

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
        self.target, *adjusted = adjust([target, *columns], conditions)
        if self.target.unexplained <= DETERMINED:
            return "the given columns determine the target"
        # Only the residuals of columns are kept: regressions take much memory.
        self.residuals = [each.residuals for each in adjusted if each.unexplained > DETERMINED]
        if not self.residuals:
            return "the given columns determine the tested columns"
        self.cells = _similar_rows(self.target, conditions)
        self.joint = _cells_over([*self.residuals, *(each.values() for each in conditions)])
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

    def _copies(self, numbers: Integers | Rows) -> Floats:
        """Return copies of the residuals: in each cell, sorted by these numbers."""
        keys = numbers + self.cells * np.int64(self.prepared.n_rows)
        sources = np.empty(keys.shape, np.int64)
        sources[:, np.argsort(self.cells, kind="stable")] = np.argsort(keys, axis=1)
        return self.target.exchanged(sources)

    def _evidence(self, copies: Floats) -> Floats:
        """Return the evidence of copies of the residuals of the target, one per line.

        It is the log mean exp over the columns, and the evidence of balanced cells, with equal
        weight.
        """
        there, back, correlations, levels = (
            ViewGains(_standardised(each.gains, *moments), each.skewnesses)
            for each, moments in zip(self._views(copies), self.reference, strict=True)
        )
        of_pairs = pair_evidence(_lines(there), _lines(back), _lines(correlations).gains)
        by_column = of_pairs.reshape(len(self.residuals), len(copies))
        return np.logaddexp(log_mean_exp(by_column.T), level_evidence(levels)) - LOG_2

    def _views(self, copies: Floats) -> _Views:
        """Return all views of copies of the residuals of the target."""
        n, n_copies = len(self.residuals), len(copies)
        prepared = _prepared([*self.residuals, self.target.residuals, *copies])
        targets = range(n + 1, n + 1 + n_copies)
        # Every copy has the null distribution of the residuals. Its own would take long, and
        # reference copies standardise all gains anyway.
        like = [*range(n), *(n for _ in range(n_copies + 1))]
        prepared.provide(MidRanks.of(prepared, like))
        prepared.provide(FoldedColumns.of(prepared, like))
        there, back, correlations = gains_of_pairs(prepared, list(product(range(n), targets)))

        def by_column(gains: Floats, skewnesses: Floats) -> ViewGains:
            shape = (n, n_copies, -1)
            return ViewGains(gains.reshape(shape), skewnesses.reshape(shape))

        return _Views(
            by_column(*there),
            by_column(*back),
            by_column(correlations, correlations),
            cell_gains(prepared, self.joint, targets),
        )


def exchange_cells(prepared: Prepared, target: int, given: Sequence[int]) -> Rows:
    """Return the cell of each row: rows of a cell are similar in the given columns.

    Rows in which the target or a given column is missing have a cell each. More than `MAX_ROWS`
    rows are divided into random parts, each with its own regression and its own cells.
    """
    known = by_content(prepared, prepared.varying(given))
    values = [prepared.by_row(column) for column in (target, *known)]
    rows = _complete_rows(values)
    cells = np.arange(prepared.n_rows, dtype=np.uint32)
    n_parts = max(1, math.ceil(rows.size / MAX_ROWS))
    if n_parts > 1:
        random_stream(0, Purpose.REFERENCE, 0).shuffle(rows)
    for part in np.array_split(rows, n_parts):
        column, *conditions = (ranked(each[part]) for each in values)
        if column.varies and part.size >= _least_rows(len(known)):
            conditions = [each for each in conditions if each.varies]
            similar = _similar_rows(adjust([column], conditions)[0], conditions)
            cells[part] = part[np.unique(similar, return_index=True)[1]][similar]
    return cells


def _complete_rows(values: Sequence[Floats]) -> Integers:
    """Return the rows without missing cells, sorted by all values, those of the last first.

    So nothing depends on the order of the rows in the table.
    """
    complete = np.flatnonzero(~np.isnan(values).any(axis=0))
    return complete[np.lexsort([each[complete] for each in values])]


def _least_rows(n_given: int) -> int:
    """Return the least number of rows that are tested."""
    return max(MIN_ROWS, MIN_ROWS_PER_GIVEN * n_given)


def _similar_rows(target: Adjusted, conditions: Sequence[Ranked]) -> Rows:
    """Return the cell of each row: small balanced cells.

    They are cells of the only given column. With several, they are cells of the predictions of the
    target: rows with similar predictions are closer to each other than rows in cells of many
    columns.
    """
    if len(conditions) == 1:
        return _small_cells([conditions[0].values()])
    return _small_cells([target.fitted])


def _small_cells(columns: Sequence[Floats]) -> Rows:
    """Return the cell of each row in a fine level of balanced cells."""
    cells, maps, n_cells = _cells_over(columns)
    if n_cells.size <= EXCHANGE_LEVEL:
        return np.zeros_like(cells)
    small: Rows = maps[-1 - EXCHANGE_LEVEL][cells]
    return small


def _cells_over(columns: Sequence[Floats]) -> Cells:
    return balanced_cells(_prepared(columns), range(len(columns)))[0]


def _prepared(columns: Sequence[Floats]) -> Prepared:
    named = tuple(Column(str(at), column) for at, column in enumerate(columns))
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
    number = np.maximum(available.sum(axis=-2, keepdims=True), 1)
    finite = np.where(available, views.gains, 0.0)
    means = finite.sum(axis=-2, keepdims=True) / number
    squares = np.where(available, (finite - means) ** 2, 0.0)
    deviations = np.sqrt(squares.sum(axis=-2, keepdims=True) / number)
    varies = deviations > 1e-9
    return np.where(varies, means, 0.0), np.where(varies, deviations, np.inf)


def _standardised(gains: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return standardised gains.

    They are 0 if the deviation is infinite. A gain that is not available stays so.
    """
    available = np.isfinite(gains)
    finite = np.where(available, gains, 0.0)
    return np.where(available, (finite - means) / deviations, -np.inf)
