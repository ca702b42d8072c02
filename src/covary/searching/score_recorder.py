"""Records the scores of a search: best sets, scores of pairs, run file and progress."""

from __future__ import annotations

from collections import Counter

import numpy as np

from covary.array_types import ColumnSets, Floats, Integers, OnStage
from covary.runs import RunFile
from covary.searching.candidates import Observer
from covary.searching.plan import SearchPlan
from covary.searching.ranking import MaximalTopSets, MinimalTopSets, TopSets
from covary.searching.strategies import Batch

# The number of best sets that are kept if some of them will be left out later.
POOL = 100_000
# The scores of all pairs are kept for figures up to this many columns: 32 MB.
MAX_COLUMNS_OF_PAIRS = 2_000


class ScoreRecorder(Observer):
    """Receives the scores of the scoring loop.

    Attributes
    ----------
    ranking : the best sets
    pairs : the scores of all pairs, NaN where not scored; None with a target or many columns
    scored : the number of scored sets
    by_size : the number of scored sets by size
    run_file : stores every score, if there is one; stored scores are not computed again
    on_progress : called with the stage, the number of sets scored and their total
    """

    def __init__(self, plan: SearchPlan) -> None:
        self.plan = plan
        self.ranking = _make_ranking(plan)
        self.pairs: Floats | None = None
        n_columns = len(plan.prepared.names)
        if plan.target is None and n_columns <= MAX_COLUMNS_OF_PAIRS:
            self.pairs = np.full((n_columns, n_columns), np.nan)
        self.scored = 0
        self.by_size: Counter[int] = Counter()
        self.run_file: RunFile | None = None
        self.on_progress: OnStage | None = None
        # Of the current batch: the batch, the number of scores, which of them are stored.
        self._batch = Batch(np.empty((0, 0), np.int32), "", 0)
        self._n_scores = 0
        self._is_stored = np.empty(0, np.bool_)
        # Of the current stage: the number of sets scored before it.
        self._scored_before = 0

    def begin(self, batch: Batch, sets: ColumnSets) -> Floats:
        if batch.stage != self._batch.stage:
            self._scored_before = self.scored
        self._batch = batch
        if self.run_file is None:
            scores = np.full(len(sets), np.nan)
        else:
            scores = self.run_file.stored_scores(self.scored, sets)
        self._is_stored = ~np.isnan(scores)
        self._n_scores = int(self._is_stored.sum())
        self._report()
        return scores

    def scored_some(self, sets: ColumnSets, indices: Integers, scores: Floats) -> None:
        if self.run_file is not None:
            self.run_file.store_scores(self.scored + indices, sets[indices], scores)
            self._is_stored[indices] = True
        self._n_scores += len(scores)
        self._report()

    def end(self, sets: ColumnSets, scores: Floats) -> None:
        known = ~np.isnan(scores)
        first = self.scored
        self.ranking.add(sets[known], scores[known])
        if self.pairs is not None and sets.shape[1] == 2:
            self.pairs[sets[known, 0], sets[known, 1]] = scores[known]
        self.scored += int(known.sum())
        self.by_size[sets.shape[1]] += int(known.sum())
        if self.run_file is not None:
            # An interrupt may come between a score and its storage.
            late = np.flatnonzero(known & ~self._is_stored)
            self.run_file.store_scores(first + late, sets[late], scores[late])
            self.run_file.flush()

    def _report(self) -> None:
        """Report the progress of the whole search if its size is known, else of the stage."""
        if self.on_progress is None:
            return
        total, done = self._batch.total, self.scored - self._scored_before
        if self.plan.candidates.number is not None:
            total, done = self.plan.candidates.number, self.scored
        self.on_progress(self._batch.stage, done + self._n_scores, total)


def _make_ranking(plan: SearchPlan) -> TopSets:
    """Return the ranking that the options ask for."""
    options = plan.options
    pool = max(POOL, options.top)
    places = plan.places.tolist()
    if plan.target is not None:
        return MinimalTopSets(pool, places, plan.target)
    if options.prune:
        return MaximalTopSets(pool, places)
    return TopSets(pool, places)
