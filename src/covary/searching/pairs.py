"""Scores of all pairs of columns."""

from __future__ import annotations

import numpy as np

from covary.array_types import ColumnSets, Floats, Integers, OnProgress
from covary.engines import Engine
from covary.measures import Measure
from covary.prepare import Prepared
from covary.searching.candidates import Candidates, Observer
from covary.searching.strategies import Batch
from covary.searching.strategies.exhaustive import Exhaustive


class _PairMatrix(Observer):
    """Fills a square array with the scores of pairs; NaN marks pairs that are not scored."""

    def __init__(self, scores: Floats, on_progress: OnProgress | None) -> None:
        self.scores = scores
        self.on_progress = on_progress
        self.places = np.empty((0, 2), np.int32)  # of the pairs of the batch, in the array
        self.done = 0
        # The array is symmetric. Indices of all pairs would take more memory than the scores.
        missing = np.isnan(scores)
        self.total = int(np.count_nonzero(missing) - np.count_nonzero(missing.diagonal())) // 2

    def begin(self, batch: Batch, sets: ColumnSets) -> Floats:
        scores: Floats = self.scores[batch.sets[:, 0], batch.sets[:, 1]]
        self.places = batch.sets
        return scores

    def scored_some(self, sets: ColumnSets, indices: Integers, scores: Floats) -> None:
        ones, others = self.places[indices].T
        self.scores[ones, others] = self.scores[others, ones] = scores
        self.done += len(scores)
        if self.on_progress is not None:
            self.on_progress(self.done, self.total)


def pair_scores(
    prepared: Prepared,
    measure: Measure,
    engine: Engine,
    columns: Integers | None = None,
    stored: Floats | None = None,
    on_progress: OnProgress | None = None,
) -> Floats:
    """Return the scores of all pairs of columns as a square array.

    Parameters
    ----------
    columns : positions of columns; all if None
    stored : a square array of the scores that are known already, NaN for all others
    on_progress : called with the number of pairs done and to do
    """
    if columns is None:
        columns = np.arange(len(prepared.names))
    scores = np.full((len(columns), len(columns)), np.nan) if stored is None else stored.copy()
    scorer = measure.scorer(prepared)
    candidates = Candidates(Exhaustive(max_size=2), columns.astype(np.int32))
    with engine.session(scorer.shared) as session:
        candidates.score(scorer, session.run, _PairMatrix(scores, on_progress))
    np.fill_diagonal(scores, np.where(prepared.entropies[columns] > 0, measure.self_score, 0.0))
    return scores
