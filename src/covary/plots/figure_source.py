"""The record of a search, and computations that several of its figures share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from covary.array_types import Booleans, Columns, Floats, Integers, OnProgress
from covary.engines import find_engine
from covary.errors import EngineError
from covary.plots.curves import Fit, best_fit
from covary.plots.levels import (
    MAX_LEVELS,
    MIN_ROWS_WITHOUT_ROWS,
    Levels,
    association_order,
    level_strengths,
    shown_levels,
)
from covary.results import Explanation
from covary.searching.pairs import pair_scores
from covary.searching.record import SearchRecord

# A figure with more columns is hard to read: it shows those of the best sets.
MAX_SHOWN_COLUMNS = 60
MAX_FITTED_ROWS = 2_000


class FigureSource:
    """The data for all figures of a search; each result is computed once.

    Parameters
    ----------
    record : the search, with its table
    """

    def __init__(self, record: SearchRecord) -> None:
        self.record = record
        self._explanations: dict[tuple[Columns, int | None], Explanation] = {}
        self._fits: dict[Columns, Fit | None] = {}
        self._levels: dict[tuple[int, int, bool], Levels] = {}
        self._level_orders: dict[tuple[int, int, int, bool], list[int]] = {}

    def explanation(self, columns: Sequence[int], target: int | None = None) -> Explanation | None:
        """Return the explanation of a set; None if the measure does not explain.

        Without a target, that of the search.
        """
        record = self.record
        if not record.measure.explains:
            return None
        target = record.target if target is None else target
        key = (tuple(columns), target)
        if key not in self._explanations:
            measure, prepared = record.measure, record.prepared
            if target in columns and measure.explains_target:
                others = tuple(column for column in columns if column != target)
                explanation = measure.explain_set(prepared, others, target=target)
            else:
                explanation = measure.explain_set(prepared, tuple(columns))
            self._explanations[key] = explanation
        return self._explanations[key]

    def order(self, columns: Sequence[int], target: int | None = None) -> list[int]:
        """Return the columns of a set in the order of its explanation, if the measure has one.

        Given columns are included.
        """
        record = self.record
        explanation = self.explanation(columns, target)
        if explanation is not None:
            return [record.prepared.names.index(name) for name in explanation.order]
        return record.measure.order_set(record.prepared, columns) or list(columns)

    def fit(self, one: int, other: int) -> Fit | None:
        """Return the best-fitting curve of two columns, from at most 2,000 rows."""
        if (one, other) not in self._fits:
            x, y = (self.record.prepared.table.columns[column] for column in (one, other))
            present = ~(np.isnan(x.values) | np.isnan(y.values))
            rows = random_rows(present, MAX_FITTED_ROWS, 0)
            fit = best_fit(x.values[rows], y.values[rows])
            if fit is not None:  # column values are differences from its origin
                fit = fit._replace(x=fit.x + x.origin, y=fit.y + y.origin)
            self._fits[one, other] = fit
        return self._fits[one, other]

    def levels(self, column: int, most: int = MAX_LEVELS, *, coarse: bool = False) -> Levels:
        """Return the levels of a column; at most this many, and all others as one.

        With ``coarse``, levels of very few rows have no name.
        """
        key = (column, most, coarse)
        if key not in self._levels:
            own = self.record.prepared.table.columns[column]
            min_rows = MIN_ROWS_WITHOUT_ROWS if coarse else 1
            strengths = self._level_strengths(column) if own.kind == "nominal" else None
            self._levels[key] = shown_levels(own, most, min_rows, strengths)
        return self._levels[key]

    def _level_strengths(self, column: int) -> Floats | None:
        """Return the association of levels with the target, or else with the best partner."""
        record = self.record
        partners = [
            record.target,
            *(other for each in record.sets if column in each for other in each),
        ]
        other = next((each for each in partners if each not in (None, column)), None)
        return None if other is None else level_strengths(record.prepared, column, other)

    def level_order(
        self, column: int, other: int, most: int = MAX_LEVELS, *, coarse: bool = False
    ) -> list[int]:
        """Return the order of the levels of a column by their association with another one."""
        key = (column, other, most, coarse)
        if key not in self._level_orders:
            prepared = self.record.prepared
            of_other = self.levels(other, coarse=coarse) if prepared.nominal[other] else None
            levels = self.levels(column, most, coarse=coarse)
            self._level_orders[key] = association_order(prepared, other, levels, of_other)
        return self._level_orders[key]

    @cached_property
    def shown_columns(self) -> list[int]:
        """The columns in figures of the whole table: all, or the 60 with the best scores.

        Earlier values of a column are shown if they are in one of the best sets.
        """
        ranked = [column for columns in self.record.sets for column in columns]
        every = self.record.prepared.table.columns
        columns = [at for at, each in enumerate(every) if each.lag == 0 or at in ranked]
        if len(columns) <= MAX_SHOWN_COLUMNS:
            return columns
        pairs = self.record.pairs
        if pairs is not None:
            scores = np.nan_to_num(np.fmax(pairs, pairs.T), nan=-np.inf)
            ranked += np.argsort(-scores.max(axis=1), kind="stable").tolist()
        return sorted(list(dict.fromkeys(ranked))[:MAX_SHOWN_COLUMNS])

    def pair_scores(self, on_progress: OnProgress | None = None) -> Floats:
        """Return the scores of all pairs of ``shown_columns`` as a square array.

        Pairs without a score are computed on the engine of the search. If the search was
        interrupted, they are not computed: their scores are NaN. Given columns are ignored.
        """
        record = self.record
        columns = np.array(self.shown_columns, np.int64)
        scores = np.full((columns.size, columns.size), np.nan)
        if record.pairs is not None and record.measure.plain() == record.measure:
            scores = record.pairs[np.ix_(columns, columns)]
            scores = np.fmax(scores, scores.T)
        constant = ~record.prepared.varies[columns]
        scores[constant] = scores[:, constant] = 0.0
        if np.isnan(np.triu(scores, 1)).any() and record.complete:
            scores = self._complete(columns, scores, on_progress)
        np.fill_diagonal(scores, 0.0)
        return scores

    def _complete(
        self, columns: Integers, scores: Floats, on_progress: OnProgress | None
    ) -> Floats:
        """Return the scores of all pairs; those that are NaN are computed."""
        prepared, engine = self.record.prepared, self.record.engine
        measure = self.record.measure.plain()
        try:
            return pair_scores(prepared, measure, engine, columns, scores, on_progress)
        except EngineError:  # the cluster of the search does not exist any more
            return pair_scores(prepared, measure, find_engine(), columns, scores, on_progress)


def random_rows(allowed: Booleans, max_rows: int, seed: int) -> Integers:
    """Return at most ``max_rows`` of the allowed rows, drawn at random, in ascending order.

    All figures with one seed use the same permutation of the rows, so they share most rows.
    """
    permutation = _row_permutation(allowed.size, seed)
    return np.sort(permutation[allowed[permutation]][:max_rows])


@lru_cache(maxsize=1)
def _row_permutation(n_rows: int, seed: int) -> Integers:
    return np.random.default_rng(seed).permutation(n_rows)
