"""The p-values of the sets that a search found: p, q, family-wise and increment p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Columns, Floats, OnStage
from covary.engines import Engine
from covary.results import TestSummary
from covary.runs import RunFile
from covary.searching.null_searches import NullSearch, NullSearchTask, search_shuffled
from covary.searching.plan import SearchPlan
from covary.searching.progress import of_stage
from covary.searching.ranking import ScoredSet
from covary.searching.set_increments import SetIncrements
from covary.seeds import Purpose
from covary.significance.corrections import (
    benjamini_hochberg,
    besag_clifford,
    insignificant_count,
)
from covary.significance.nulls import RandomPermutations
from covary.significance.permutation import NullDistribution, PermutationResult, PermutationTest
from covary.significance.stopping import LEVEL, Stopping
from covary.tolerance import at_least

# The search is repeated on at most this many shuffled tables: enough for p = 0.005.
MAX_NULL_SEARCHES = 199
FIRST_NULL_SEARCHES = 16


class SearchPvalues:
    """The tests of the sets that a search found, and their results so far.

    Parameters
    ----------
    plan : the plan of the search
    found : the sets and their scores, best first
    scored : the number of sets that the search scored
    increments : increment tests that were done already
    """

    def __init__(
        self,
        plan: SearchPlan,
        found: Sequence[ScoredSet],
        scored: int,
        increments: SetIncrements,
    ) -> None:
        self.plan = plan
        self.sets = tuple(columns for columns, _ in found)
        self.scores = np.array([score for _, score in found])
        self.scored = scored
        self.increments = increments
        self.null: NullDistribution | None = None
        self.null_searches: list[NullSearch] = []
        self.complete = False

    def run(
        self,
        engine: Engine,
        run_file: RunFile | None = None,
        on_progress: OnStage | None = None,
    ) -> None:
        """Run all tests; results in the run file are not computed again."""
        try:
            self._test_sets(engine, run_file, on_progress)
            self._test_increments(engine, run_file, on_progress)
            self._search_shuffled_tables(engine, run_file, on_progress)
        finally:
            if run_file is not None:
                run_file.flush()
        self.complete = True

    def _moving(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Return the columns to permute: these, or only the target."""
        return tuple(columns) if self.plan.target is None else (self.plan.target,)

    def _test_sets(
        self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Compare each set with itself on permuted tables, which all sets share."""
        plan, options = self.plan, self.plan.options
        moving = sorted({column for columns in self.sets for column in columns})[1:]
        permutations = RandomPermutations(plan.prepared.n_rows, self._moving(moving), options.seed)
        test = PermutationTest(plan.measure, plan.prepared, self.sets, plan.target, permutations)
        maximum, stored, store = options.permutations, None, None
        if run_file is not None:
            stored = run_file.stored_permutations(maximum, len(self.sets))
            store = run_file.store_permutations
        stopping = Stopping(maximum, LEVEL, continue_below=True)
        plan.prepared.precompute(plan.measure.evidence_needs())
        with engine.session(test) as session:
            observed = test.observed(session.run, of_stage("evidence of sets", on_progress))
            if not observed.any():
                self._warn_if_untestable()
            self.null = NullDistribution(observed, maximum, stopping, stored, skips_far=True)
            self.null.grow(session.run, store, of_stage("permutations", on_progress))

    def _warn_if_untestable(self) -> None:
        """Warn if no set can be tested; all have no evidence."""
        plan = self.plan
        reasons = [plan.measure.untestable(plan.prepared, each, plan.target) for each in self.sets]
        if reasons and all(reasons):
            errors.warn(errors.cannot_test(reasons[0]))

    def _test_increments(
        self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None
    ) -> None:
        if self.increments.untested(self.sets):
            report = of_stage("sets against their subsets", on_progress)
            with engine.session(self.increments.tests()) as session:
                self.increments.test(self.sets, session.run, run_file, report)

    def _search_shuffled_tables(
        self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Repeat the search on shuffled tables, until the best set is clearly insignificant."""
        plan = self.plan
        moving = self._moving(plan.candidates.columns[1:].tolist())
        cells = (
            None if plan.target is None else plan.measure.null_cells(plan.prepared, plan.target)
        )
        permutations = RandomPermutations(
            plan.prepared.n_rows, moving, plan.options.seed, Purpose.NULL_SEARCHES, cells
        )
        task = NullSearchTask(
            plan.prepared, plan.measure, plan.candidates, self._thresholds, permutations
        )
        results: dict[int, NullSearch] = {}
        if run_file is not None:
            stored = run_file.stored_null_searches(self._thresholds.size)
            results = {number: NullSearch(*each) for number, each in stored.items()}
        report = of_stage("shuffled tables", on_progress)
        with engine.session(task) as session:
            last = 0
            while not self._is_insignificant() and last < self.max_searches:
                first, last = last, min(max(2 * last, FIRST_NULL_SEARCHES), self.max_searches)
                todo = [number for number in range(first, last) if number not in results]
                done = last - len(todo)
                for start, found in session.run(search_shuffled, todo):
                    for number, each in zip(todo[start:], found, strict=False):
                        results[number] = each
                        if run_file is not None:
                            run_file.store_null_search(number, *each)
                    done += len(found)
                    report(done, self.max_searches)
                self.null_searches += [results[number] for number in range(first, last)]
        if self._is_insignificant():
            n_exceeding = np.cumsum(at_least(self._highest, float(self.scores[0])))
            del self.null_searches[int(np.searchsorted(n_exceeding, self._enough)) + 1 :]

    @property
    def max_searches(self) -> int:
        """The maximum number of shuffled tables to search."""
        return min(self.plan.options.permutations, MAX_NULL_SEARCHES)

    @property
    def _thresholds(self) -> Floats:
        return np.unique(self.scores)

    @property
    def _highest(self) -> Floats:
        return np.array([each.highest for each in self.null_searches])

    @property
    def _enough(self) -> int:
        """The number of shuffled tables with a higher best score that ends the test."""
        return insignificant_count(self.max_searches, LEVEL)

    def _is_insignificant(self) -> bool:
        n_exceeding = int(at_least(self._highest, float(self.scores[0])).sum())
        return n_exceeding >= self._enough

    # ------------------------------------------------------------ results

    def by_set(self) -> dict[Columns, PermutationResult]:
        """Return p-value and null distribution of each set, as far as computed."""
        if self.null is None:
            return {}
        results = {columns: self.null.result(at) for at, columns in enumerate(self.sets)}
        return {columns: each for columns, each in results.items() if each is not None}

    def pvalues(self) -> list[float | None]:
        """Return the p-value of each set alone."""
        results = self.by_set()
        return [results[each].pvalue if each in results else None for each in self.sets]

    def family_pvalues(self) -> list[float | None]:
        """Return the family-wise p-value of each set (Westfall and Young)."""
        if not self.complete:
            return [None] * len(self.sets)
        return [
            besag_clifford(at_least(self._highest, score), self._enough, self.max_searches)
            for score in self.scores
        ]

    def qvalues(self) -> list[float | None]:
        """Return the false discovery rate among all sets that score at least as high.

        Every scored set has a p-value: the share of all sets, over all shuffled tables, that score
        at least as high. Benjamini and Hochberg's procedure is applied to all of them. Sets that
        add nothing beyond a subset do not count as discoveries, because one strong pair with many
        additional columns would let many false sets pass. A q-value is never smaller than the
        p-value of the set alone.
        """
        if not self.complete:
            return [None] * len(self.sets)
        total = 1 + sum(each.scored for each in self.null_searches)
        counts = 1 + np.sum([each.counts for each in self.null_searches], axis=0)
        at = np.searchsorted(self._thresholds, self.scores)
        adds = np.array([not self.increments.adds_nothing(columns) for columns in self.sets])
        ranks = np.array([np.count_nonzero(adds & at_least(self.scores, t)) for t in self.scores])
        qvalues = benjamini_hochberg(counts[at] / total, ranks, self.scored)
        own = np.array([1.0 if p is None else p for p in self.pvalues()])
        return [float(q) for q in np.maximum(qvalues, own)]

    def fields(self) -> list[dict[str, Any]]:
        """Return the results of each set, by the names of the fields of `Subspace`."""
        by_name = {
            "pvalue": self.pvalues(),
            "qvalue": self.qvalues(),
            "family_pvalue": self.family_pvalues(),
            "increment_pvalue": [self.increments.pvalue(columns) for columns in self.sets],
            "adds_nothing": [self.increments.adds_nothing(columns) for columns in self.sets],
        }
        return [
            dict(zip(by_name, values, strict=True))
            for values in zip(*by_name.values(), strict=True)
        ]

    def rows(self) -> list[tuple[float | None, ...]]:
        """Return evidence and p-values of each set, as a run file stores them."""
        evidence = [None] * len(self.sets) if self.null is None else self.null.observed.tolist()
        names = ("pvalue", "qvalue", "family_pvalue", "increment_pvalue")
        return [
            (observed, *(fields[name] for name in names))
            for observed, fields in zip(evidence, self.fields(), strict=True)
        ]

    def summary(self) -> TestSummary:
        """Return what the p-values are corrected for."""
        return TestSummary(
            permutations=self.plan.options.permutations,
            searches=len(self.null_searches),
            seed=self.plan.options.seed,
            level=LEVEL,
            complete=self.complete,
        )
