"""A search while it runs: scoring, sifting, testing, and what was found so far."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from covary import errors
from covary.array_types import Columns, OnStage
from covary.engines import Engine
from covary.results import Presenter, SearchResult, Subspace
from covary.runs import RunFile
from covary.searching.plan import SearchPlan
from covary.searching.progress import of_stage
from covary.searching.pvalues import SearchPvalues
from covary.searching.ranking import ScoredSet
from covary.searching.record import SearchRecord
from covary.searching.relations import MAX_COMPARED_SETS, Relations
from covary.searching.score_recorder import POOL, ScoreRecorder
from covary.searching.set_increments import SetIncrements
from covary.table import kind_of_frame, labels_of


class Search:
    """One search and its results so far."""

    def __init__(self, plan: SearchPlan) -> None:
        self.plan = plan
        self.engine: Engine | None = None
        self.started: datetime | None = None
        self.finished: datetime | None = None
        self.complete = False
        self.scores = ScoreRecorder(plan)
        self.increments = SetIncrements(plan)
        self.sifted: list[ScoredSet] | None = None
        self._relations: Relations | None = None
        self._tested: list[ScoredSet] | None = None  # the sets with p-values
        self.pvalues: SearchPvalues | None = None

    @property
    def scored(self) -> int:
        """The number of scored sets."""
        return self.scores.scored

    @contextmanager
    def stored_in(
        self, path: str | os.PathLike[str] | None, *, resume: bool = False
    ) -> Iterator[RunFile | None]:
        """Open the run file of this search, if it has one."""
        if path is None:
            yield None
            return
        if resume and RunFile.lacks(path, "missing"):
            self._use_former_options(path)
        run_file = RunFile.open(path, self.plan.description(), resume=resume)
        try:
            yield run_file
        finally:
            run_file.close()

    def _use_former_options(self, path: str | os.PathLike[str]) -> None:
        """Search as before the option ``missing`` existed, as the run file did."""
        prepared = self.plan.prepared
        if not prepared.missing_is_level:
            if prepared.absent(range(len(prepared.names))) is not None:
                errors.warn(errors.resumed_with_missing_level(path))
            self.__init__(replace(self.plan, prepared=prepared.with_missing("level")))  # type: ignore[misc]

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
        self.scores.run_file, self.scores.on_progress = run_file, on_progress
        if run_file is not None and (options.permutations > 0 or options.sift):
            run_file.begin_tests(options.test_facts())
            self.increments.uncorrected = run_file.stored_increments()
        scorer = plan.measure.scorer(plan.prepared, plan.target)
        with engine.session(scorer.shared) as session:
            plan.candidates.score(scorer, session.run, self.scores)
        if options.sift:
            self._sift(engine, run_file, on_progress)
        self.complete = True
        if run_file is not None:
            run_file.store_best_sets(self.reported())
        if options.permutations > 0 and self.found():
            self.pvalues = SearchPvalues(plan, self.reported(), self.increments)
            self.pvalues.run(engine, self._certain_first, run_file, on_progress)
        if run_file is not None:
            run_file.finish(self.pvalues.rows() if self.pvalues else ())

    def _sift(self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None) -> None:
        """Select the best sets that add something beyond their subsets; pairs always do."""
        top = self.plan.options.top
        report = of_stage("sets against their subsets", on_progress)
        selected: list[ScoredSet] = []
        ranked = self.scores.ranking.first(max(POOL, top))
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

    def found(self) -> list[ScoredSet]:
        """Return the best sets and their scores, best first."""
        if self.sifted is not None:
            return self.sifted
        return self.scores.ranking.first(self.plan.options.top)

    def relations(self) -> Relations:
        """Return the relations among the best sets, as far as these are known."""
        if self._relations is None or not self.complete:
            self._relations = self._relations_among(self._ranked())
        return self._relations

    def _ranked(self) -> list[ScoredSet]:
        """Return the sets that are compared with each other, best first."""
        if self.sifted is not None:
            return self.sifted
        return self.scores.ranking.first(max(MAX_COMPARED_SETS, self.plan.options.top))

    def _relations_among(
        self, ranked: Sequence[ScoredSet], listable: int | None = None
    ) -> Relations:
        """Return the relations of a ranking.

        Sets that passed sifting need all of their columns, so that none is a variant.
        """
        plan, folded = self.plan, self.sifted is None
        return Relations(
            ranked,
            plan.target,
            plan.options.top,
            listable=listable,
            folded=folded,
            undelayed=plan.undelayed,
        )

    def _certain_first(self, is_certain: Sequence[bool]) -> list[Columns]:
        """Rank certain sets before all others, and return the relations that remain.

        A weak but certain relation is then no variant of a set that scores more by chance. Only
        sets that were tested are listed.
        """
        self._tested = tested = self.reported()
        # Sorting keeps the order of equal keys.
        places = sorted(range(len(tested)), key=lambda at: not is_certain[at])
        first = [tested[at] for at in places]
        known = {columns for columns, _ in first}
        rest = [each for each in self._ranked() if each[0] not in known]
        self._relations = self._relations_among([*first, *rest], listable=len(first))
        return [columns for columns, _ in self._relations.listed]

    def reported(self) -> list[ScoredSet]:
        """Return the best sets, and after them the relations that are not among these."""
        if self._tested is not None:
            return self._tested
        found = self.found()
        known = {columns for columns, _ in found}
        return found + [each for each in self.relations().listed if each[0] not in known]

    def _examined(self) -> tuple[tuple[int, int, int], ...]:
        """Return, for each size of sets, the numbers of scored and of possible sets."""
        candidates, strategy = self.plan.candidates, self.plan.strategy
        fixed, n_columns = candidates.n_fixed, len(candidates.columns)
        largest = strategy.max_size or max(self.scores.by_size, default=0)
        sizes = range(2, min(largest, n_columns + fixed) + 1)
        return tuple(
            (size, self.scores.by_size[size], math.comb(n_columns, size - fixed)) for size in sizes
        )

    def record(self, data: Any = None) -> SearchRecord:
        """Return everything that the result, figures and reports need, in the user's terms."""
        assert self.engine is not None
        labels = labels_of(data)
        return SearchRecord(
            self.plan.prepared,
            self.plan.measure,
            self.engine,
            tuple(labels.get(name, name) for name in self.plan.prepared.names),
            sets=tuple(columns for columns, _ in self.found()),
            pairs=self.scores.pairs,
            tested={} if self.pvalues is None else self.pvalues.by_set(),
            target=self.plan.target,
            complete=self.complete,
            started=self.started,
            finished=self.finished,
            frame_library=kind_of_frame(data),
        )

    def result(self, record: SearchRecord, presenter: Presenter | None = None) -> SearchResult:
        """Return the result; ``presenter`` draws its figures and writes its report."""
        plan = self.plan
        subspaces = self._subspaces(record.labels, presenter)
        labels = record.labels
        by_name = dict(zip(plan.prepared.names, labels, strict=True))
        return SearchResult(
            tuple(subspaces[columns] for columns, _ in self.found()),
            relations=tuple(subspaces[columns] for columns, _ in self.relations().listed),
            measure=plan.measure.name,
            strategy=plan.strategy.name,
            parameters={**plan.parameters(), **plan.options.test_facts()},
            tests=None if self.pvalues is None else self.pvalues.summary().relabelled(by_name),
            target=None if plan.target is None else labels[plan.target],
            rows=plan.prepared.n_rows,
            scored=self.scored,
            examined=self._examined(),
            complete=self.complete,
            _frame_library=record.frame_library,
            _presenter=presenter,
        )

    def _subspaces(
        self, labels: Sequence[Any], presenter: Presenter | None
    ) -> dict[Columns, Subspace]:
        """Return every reported set in the user's terms."""
        reported, relations = self.reported(), self.relations()
        by_set = {relation.columns: relation for relation in relations.relations()}
        pvalues = [{}] * len(reported) if self.pvalues is None else self.pvalues.fields()
        subspaces = {}
        for (columns, score), fields in zip(reported, pvalues, strict=True):
            relation, listed = by_set.get(columns), relations.variant_of(columns)
            subspaces[columns] = Subspace(
                tuple(labels[column] for column in columns),
                score,
                **fields,
                variant_of=None if listed is None else tuple(labels[c] for c in listed),
                variants=0 if relation is None else relation.variants,
                variant_columns=()
                if relation is None
                else tuple(labels[c] for c in relation.columns_of_variants),
                _presenter=presenter,
            )
        return subspaces
