"""A search while it runs: scoring, sifting, testing, and what was found so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np

from covary.array_types import ColumnSets, Floats, Integers, OnStage
from covary.engines import Engine
from covary.results import Presenter, SearchResult, Subspace
from covary.runs import RunFile
from covary.searching.candidates import Observer
from covary.searching.plan import SearchPlan
from covary.searching.progress import of_stage
from covary.searching.pvalues import SearchPvalues
from covary.searching.ranking import MaximalTopSets, MinimalTopSets, ScoredSet, TopSets
from covary.searching.record import SearchRecord
from covary.searching.set_increments import SetIncrements
from covary.searching.strategies import Batch
from covary.table import kind_of_frame, labels_of

# The number of best sets that are kept if some of them will be left out later.
POOL = 100_000
# The scores of all pairs are kept for figures up to this many columns: 32 MB.
MAX_COLUMNS_OF_PAIRS = 2_000


class Search(Observer):
    """One search and its results so far."""

    def __init__(self, plan: SearchPlan) -> None:
        self.plan = plan
        self.engine: Engine | None = None
        self.started: datetime | None = None
        self.finished: datetime | None = None
        self.scored = 0
        self.complete = False
        self.ranking = self._make_ranking()
        self.increments = SetIncrements(plan)
        self.sifted: list[ScoredSet] | None = None
        self.pvalues: SearchPvalues | None = None
        n_columns = len(plan.prepared.names)
        self.pairs: Floats | None = None
        if plan.target is None and n_columns <= MAX_COLUMNS_OF_PAIRS:
            self.pairs = np.full((n_columns, n_columns), np.nan)
        self._run_file: RunFile | None = None
        self._on_progress: OnStage | None = None
        self._stage = ("", 0)  # its name, and the number of sets scored before it
        self._batch = Batch(np.empty((0, 0), np.int32), "", 0)
        self._stored = np.empty(0, np.bool_)  # which scores of the batch are in the run file
        self._done = 0  # scores of the batch

    def _make_ranking(self) -> TopSets:
        options = self.plan.options
        pool = max(POOL, options.top)
        if self.plan.target is not None:
            return MinimalTopSets(pool, self.plan.target)
        if options.prune:
            return MaximalTopSets(pool)
        return TopSets(pool if options.sift else options.top)

    @contextmanager
    def stored_in(
        self, path: str | os.PathLike[str] | None, *, resume: bool = False
    ) -> Iterator[RunFile | None]:
        """Open the run file of this search, if it has one."""
        if path is None:
            yield None
            return
        run_file = RunFile.open(path, self.plan.description(), resume=resume)
        try:
            yield run_file
        finally:
            run_file.close()

    def run(
        self,
        engine: Engine,
        run_file: RunFile | None = None,
        on_progress: OnStage | None = None,
    ) -> None:
        """Search to the end, or until interrupted; scores in the run file are not computed again.

        ``on_progress`` is called with the stage, the number of sets scored and their total.
        """
        self.engine = engine
        self.started = datetime.now(UTC)
        try:
            self._run(engine, run_file, on_progress)
        finally:
            self.finished = datetime.now(UTC)

    def _run(self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None) -> None:
        plan, options = self.plan, self.plan.options
        self._run_file, self._on_progress = run_file, on_progress
        if run_file is not None and (options.permutations > 0 or options.sift):
            run_file.begin_tests(options.test_facts())
            self.increments.uncorrected = run_file.stored_increments()
        scorer = plan.measure.scorer(plan.prepared, plan.target)
        with engine.session(scorer.shared) as session:
            plan.candidates.score(scorer, session.run, self)
        if options.sift:
            self._sift(engine, run_file, on_progress)
        self.complete = True
        if run_file is not None:
            run_file.store_best_sets(self.found())
        if options.permutations > 0 and self.found():
            self.pvalues = SearchPvalues(plan, self.found(), self.scored, self.increments)
            self.pvalues.run(engine, run_file, on_progress)
        if run_file is not None:
            run_file.finish(self.pvalues.rows() if self.pvalues else ())

    def _sift(self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None) -> None:
        """Select the best sets that add something beyond their subsets; pairs always do."""
        top = self.plan.options.top
        report = of_stage("sets against their subsets", on_progress)
        selected: list[ScoredSet] = []
        ranked = self.ranking.first(max(POOL, top))
        examined = 0
        try:
            with engine.session(self.increments.tests()) as session:
                while examined < len(ranked) and len(selected) < top:
                    block = ranked[examined : 2 * max(examined, top)]
                    examined += len(block)
                    sets = [columns for columns, _ in block]
                    self.increments.test(sets, session.run, run_file, report)
                    selected += [each for each in block if not self._adds_nothing(each)]
        finally:
            if run_file is not None:
                run_file.flush()
        self.sifted = selected[:top]

    def _adds_nothing(self, found: ScoredSet) -> bool | None:
        return self.increments.adds_nothing(found[0])

    # ------------------------------------------------------------ observer of the scoring loop

    def begin(self, batch: Batch, sets: ColumnSets) -> Floats:
        if batch.stage != self._stage[0]:
            self._stage = (batch.stage, self.scored)
        self._batch = batch
        if self._run_file is None:
            scores = np.full(len(sets), np.nan)
        else:
            scores = self._run_file.stored_scores(self.scored, sets)
        self._stored = ~np.isnan(scores)
        self._done = int(self._stored.sum())
        self._report()
        return scores

    def scored_some(self, sets: ColumnSets, indices: Integers, scores: Floats) -> None:
        if self._run_file is not None:
            self._run_file.store_scores(self.scored + indices, sets[indices], scores)
            self._stored[indices] = True
        self._done += len(scores)
        self._report()

    def end(self, sets: ColumnSets, scores: Floats) -> None:
        known = ~np.isnan(scores)
        first = self.scored
        self.ranking.add(sets[known], scores[known])
        if self.pairs is not None and sets.shape[1] == 2:
            self.pairs[sets[known, 0], sets[known, 1]] = scores[known]
        self.scored += int(known.sum())
        if self._run_file is not None:
            # An interrupt may come between a score and its storage.
            late = np.flatnonzero(known & ~self._stored)
            self._run_file.store_scores(first + late, sets[late], scores[late])
            self._run_file.flush()

    def _report(self) -> None:
        """Report the progress of the whole search if its size is known, else of the stage."""
        if self._on_progress is None:
            return
        stage, scored_before = self._stage
        total, done = self._batch.total, self.scored - scored_before
        if self.plan.candidates.number is not None:
            total, done = self.plan.candidates.number, self.scored
        self._on_progress(stage, done + self._done, total)

    # ------------------------------------------------------------ results

    def found(self) -> list[ScoredSet]:
        """Return the best sets and their scores, best first."""
        return self.ranking.first(self.plan.options.top) if self.sifted is None else self.sifted

    def record(self, data: Any = None) -> SearchRecord:
        """Return everything that figures and reports need."""
        assert self.engine is not None
        labels = labels_of(data)
        return SearchRecord(
            self.plan.prepared,
            self.plan.measure,
            self.engine,
            tuple(labels.get(name, name) for name in self.plan.prepared.names),
            sets=tuple(columns for columns, _ in self.found()),
            pairs=self.pairs,
            tested={} if self.pvalues is None else self.pvalues.by_set(),
            target=self.plan.target,
            complete=self.complete,
            started=self.started,
            finished=self.finished,
        )

    def result(
        self, record: SearchRecord, data: Any = None, presenter: Presenter | None = None
    ) -> SearchResult:
        """Return the result in the user's terms; ``presenter`` draws figures and reports."""
        plan, labels = self.plan, record.labels
        found = self.found()
        pvalues = [{}] * len(found) if self.pvalues is None else self.pvalues.fields()
        return SearchResult(
            tuple(
                Subspace(
                    tuple(labels[column] for column in columns),
                    score,
                    **fields,
                    _presenter=presenter,
                )
                for (columns, score), fields in zip(found, pvalues, strict=True)
            ),
            measure=plan.measure.name,
            strategy=plan.strategy.name,
            parameters={**plan.parameters(), **plan.options.test_facts()},
            tests=None if self.pvalues is None else self.pvalues.summary(),
            target=None if plan.target is None else labels[plan.target],
            rows=plan.prepared.n_rows,
            scored=self.scored,
            complete=self.complete,
            _frame_library=kind_of_frame(data),
            _presenter=presenter,
        )
