"""What a report is about: a search, its table, and what is asked of them more than once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from covary.pairs import score_pairs
from covary.report.fits import Fit, best_fit

if TYPE_CHECKING:
    from covary.measures import Explanation, Measure
    from covary.prepare import Prepared
    from covary.significance.permutation import Tested

Floats = npt.NDArray[np.float64]
Columns = tuple[int, ...]

# More columns than these cannot be read in one figure: those of the best sets are shown.
MOST_COLUMNS = 60
ROWS_FITTED = 2_000


@dataclass(frozen=True, eq=False)
class Searched:
    """A search, as far as figures need it.

    Parameters
    ----------
    prepared, measure : what was searched, and with what
    labels : what the user calls the columns
    sets : the positions of the columns of the sets that were found, best first
    pairs : the scores of the pairs that were scored, NaN for others; None if none were
    tested : by set, its p-value and the permutations behind it
    target : the position of the column that was to be explained, if any
    complete : whether the search came to its end
    started, finished : when it was under way
    """

    prepared: Prepared
    measure: Measure
    labels: tuple[Any, ...]
    sets: tuple[Columns, ...] = ()
    pairs: Floats | None = None
    tested: Mapping[Columns, Tested] = field(default_factory=dict)
    target: int | None = None
    complete: bool = True
    started: datetime | None = None
    finished: datetime | None = None
    _explanations: dict[Columns, Explanation] = field(default_factory=dict)
    _fits: dict[Columns, Fit | None] = field(default_factory=dict)

    def explanation(self, columns: Sequence[int]) -> Explanation | None:
        """Return what explains what in a set, if the measure knows."""
        if not self.measure.explains:
            return None
        wanted = tuple(columns)
        if wanted not in self._explanations:
            self._explanations[wanted] = self.measure.explain_set(self.prepared, wanted)
        return self._explanations[wanted]

    def order(self, columns: Sequence[int]) -> list[int]:
        """Return the columns in the order in which they explain each other, or as they are."""
        explained = self.explanation(columns)
        if explained is not None:
            return [self.prepared.names.index(name) for name in explained.order]
        return self.measure.order_set(self.prepared, columns) or list(columns)

    def fit(self, one: int, other: int) -> Fit | None:
        """Return the curve through two columns that fits best, from at most 2,000 rows."""
        if (one, other) not in self._fits:
            across, up = (self.prepared.table.columns[column] for column in (one, other))
            there = ~(np.isnan(across.values) | np.isnan(up.values))
            rows = chosen_rows(there, ROWS_FITTED, 0)
            fit = best_fit(across.values[rows], up.values[rows])
            if fit is not None:  # values count from an origin
                fit = fit._replace(x=fit.x + across.origin, y=fit.y + up.origin)
            self._fits[one, other] = fit
        return self._fits[one, other]

    @cached_property
    def shown(self) -> list[int]:
        """The columns that figures of the whole table show: all, or those of the best sets."""
        n_columns = len(self.labels)
        if n_columns <= MOST_COLUMNS:
            return list(range(n_columns))
        ranked = [column for columns in self.sets for column in columns]
        if self.pairs is not None:
            known = np.nan_to_num(np.fmax(self.pairs, self.pairs.T), nan=-np.inf)
            ranked += np.argsort(-known.max(axis=1), kind="stable").tolist()
        return sorted(list(dict.fromkeys(ranked))[:MOST_COLUMNS])

    def pair_scores(self, on_progress: Callable[[int, int], None] | None = None) -> Floats:
        """Return the scores of all pairs of ``shown``; what a search left out is computed.

        After an interrupt nothing is computed: what is not known is NaN.
        """
        columns = np.array(self.shown, np.int32)
        scores = np.full((columns.size, columns.size), np.nan)
        if self.pairs is not None:
            scores = self.pairs[np.ix_(columns, columns)]
            scores = np.fmax(scores, scores.T)
        constant = ~self.prepared.varies[columns]
        scores[constant] = scores[:, constant] = 0.0
        todo = np.argwhere(np.triu(np.isnan(scores), 1))
        if len(todo) and self.complete:
            done = 0
            unknown = np.ascontiguousarray(columns[todo])
            for pairs, found in score_pairs(self.prepared, self.measure, [unknown]):
                ones, others = np.searchsorted(columns, pairs).T
                scores[ones, others] = scores[others, ones] = found
                done += len(found)
                if on_progress is not None:
                    on_progress(done, len(todo))
        np.fill_diagonal(scores, 0.0)
        return scores


def chosen_rows(wanted: npt.NDArray[np.bool_], most: int, seed: int) -> npt.NDArray[np.int64]:
    """Return so many of the rows that are wanted, chosen at random, in their order.

    Whatever is wanted, the same rows come first: figures of one table share most of their rows.
    """
    drawn = _drawn(wanted.size, seed)
    return np.sort(drawn[wanted[drawn]][:most])


@lru_cache(maxsize=1)
def _drawn(n_rows: int, seed: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).permutation(n_rows)
