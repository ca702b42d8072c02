"""The p-values of the sets that a search found: p, q, family-wise and increment p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Columns, Floats, OnStage
from covary.engines import Engine, RunTasks
from covary.engines.base import Task
from covary.prepare import Prepared
from covary.results import TestSummary
from covary.results.significance import RowDependence
from covary.runs import Codec, RunFile, StoredTasks
from covary.searching.plan import SearchPlan
from covary.searching.progress import of_stage, reporting
from covary.searching.ranking import ScoredSet
from covary.searching.set_increments import SetIncrements
from covary.searching.strategies.base import stage_name
from covary.significance.null_evidence import (
    DRAWS_AS_NUMBERS,
    FamilyPvalues,
    NullEvidence,
    draw_evidence,
    false_discovery_rates,
    family_pvalues,
    far_evidence,
)
from covary.significance.nulls import (
    NullTables,
    RandomPermutations,
    present_rows,
)
from covary.significance.permutation import NullDistribution, PermutationResult, PermutationTest
from covary.significance.row_dependence import find_row_dependence
from covary.significance.stopping import LEVEL, Stopping
from covary.significance.time_shifts import TimeShifts
from covary.table.dependent_rows import BETWEEN

# Returns the relations among the sets, given which of these are certain.
ChooseRelations = Callable[[Sequence[bool]], Sequence[Columns]]


class SearchPvalues:
    """The tests of the sets that a search found, and their results so far.

    Parameters
    ----------
    plan : the plan of the search
    found : the sets and their scores, best first
    increments : increment tests that were done already
    """

    def __init__(
        self,
        plan: SearchPlan,
        found: Sequence[ScoredSet],
        increments: SetIncrements,
    ) -> None:
        self.plan = plan
        self.sets = tuple(columns for columns, _ in found)
        # Those of the sets that are no variant of another one.
        self.relations: frozenset[Columns] = frozenset()
        self.increments = increments
        self.null: NullDistribution | None = None
        self.family: FamilyPvalues | None = None
        # The evidence of each set, comparable between sets.
        self.evidence: dict[Columns, float] = {}
        # By set, the expected number of sets with such evidence, by chance.
        self.expected: dict[Columns, float] = {}
        # The q-value and the family-wise p-value of each set, if a run file has them.
        self.finished: list[tuple[float, float]] = []
        self.complete = False

    def run(
        self,
        engine: Engine,
        choose_relations: ChooseRelations,
        run_file: RunFile | None = None,
        on_progress: OnStage | None = None,
    ) -> None:
        """Run all tests; results in the run file are not computed again.

        Parameters
        ----------
        choose_relations : returns the relations among the sets
        """
        if self.row_dependence is not None:
            errors.warn(errors.dependent_rows(str(self.row_dependence)))
        try:
            self._test_sets(engine, run_file, on_progress)
            self._draw_null_evidence(engine, run_file, on_progress)
            self.relations = frozenset(choose_relations(self._are_certain()))
            self._test_increments(engine, run_file, on_progress)
        finally:
            if run_file is not None:
                run_file.flush()
        self.complete = True

    @cached_property
    def row_dependence(self) -> RowDependence | None:
        """Why p-values may be wrong: rows that depend on each other."""
        plan = self.plan
        columns = plan.candidates.columns.tolist()
        columns += [] if plan.target is None else [plan.target]
        return find_row_dependence(plan.prepared, columns)

    def _moving(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Return the columns to permute: these, or only the target."""
        return tuple(columns) if self.plan.target is None else (self.plan.target,)

    def _null_tables(self, prepared: Prepared) -> NullTables:
        """Return permutations or shifts of the columns, which all sets share."""
        plan, seed = self.plan, self.plan.options.seed
        used = tuple(sorted({column for columns in self.sets for column in columns}))
        dependent, series = prepared.dependent, prepared.series
        if series is not None:
            sides: tuple[Columns, Columns] = ((), ())
            if plan.target is not None:
                others = tuple(column for column in used if column != plan.target)
                sides = (() if plan.given else others, (plan.target,))
            return TimeShifts(series, used, seed, sides=sides)
        moving = self._moving(used[1:])
        keep_missing = plan.measure.keeps_missing(prepared)
        present = present_rows(prepared, moving) if keep_missing else {}
        return RandomPermutations(
            prepared.n_rows, moving, seed, present=present, dependent=dependent
        )

    def _permutation_test(self, prepared: Prepared) -> PermutationTest:
        """Return the test of all sets, in these prepared columns."""
        plan, null_tables = self.plan, self._null_tables(prepared)
        return PermutationTest(plan.measure, prepared, self.sets, plan.target, null_tables)

    def _test_sets(
        self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Compare each set with itself on permuted tables, which all sets share."""
        plan, options = self.plan, self.plan.options
        test = self._permutation_test(plan.prepared)
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
        """Test the increments of relations; those of variants would take most of the time.

        If whole groups are exchanged, there is no such test.
        """
        dependent = self.plan.prepared.dependent
        if dependent is not None and dependent.kind == BETWEEN:
            return
        relations = [columns for columns in self.sets if columns in self.relations]
        if self.increments.untested(relations):
            report = of_stage("sets against their subsets", on_progress)
            with engine.session(self.increments.tests()) as session:
                self.increments.test(relations, session.run, run_file, report)

    def _draw_null_evidence(
        self, engine: Engine, run_file: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Draw the evidence of random sets of shuffled columns, for each size that needs it."""
        plan = self.plan
        columns = plan.candidates.columns.tolist()
        null = NullEvidence.of(
            plan.measure, plan.prepared, columns, plan.target, plan.options.seed
        )
        largest = min(plan.strategy.max_size or plan.n_columns, plan.n_columns)
        self.family = FamilyPvalues(null, range(2, largest + 1))
        if run_file is not None:
            self.finished = run_file.finished_tests(len(self.sets))
        codecs: dict[Task, Codec] = dict.fromkeys((draw_evidence, far_evidence), DRAWS_AS_NUMBERS)
        stored = None if run_file is None else StoredTasks(run_file, codecs)

        def around(run: RunTasks) -> RunTasks:
            return run if stored is None else stored.around(run)

        if self.family.needs_scales:
            report = of_stage("scales of the evidence", on_progress)
            with engine.session(null) as session:
                self.family.compute_scales(reporting(around(session.run), report))
        self.evidence = self._comparable(engine)
        if self.finished:
            return
        with engine.session(self.family.null) as session:
            run = around(session.run)
            for size in sorted({len(columns) for columns in self.sets}):
                report = of_stage(f"null distribution, {stage_name(size, 0)}", on_progress)
                self._expect_sets_of(size, reporting(run, report))

    def _expect_sets_of(self, size: int, run: RunTasks) -> None:
        """Compute the expected number of sets with the evidence of each set of a size, by chance.

        If all columns of a set are independent, those of its subsets are. So the evidence of a
        subset counts for the set as well. If a subset is significant, the set needs no null
        distribution of its own.
        """
        assert self.family is not None
        assert self.null is not None
        evidence = self.evidence
        sets = [columns for columns in self.sets if len(columns) == size]
        for columns in sets:
            within = [self.expected[subset] for subset in _subsets(columns, self.expected)]
            self.expected[columns] = min(within, default=np.inf)
        own = [columns for columns in sets if self.expected[columns] > LEVEL]
        if own:
            self.family.compute([size], run)
        for columns in own:
            expected = self.family.expected(size, evidence[columns])
            self.expected[columns] = min(self.expected[columns], expected)

    def _comparable(self, engine: Engine) -> dict[Columns, float]:
        """Return the evidence of each set, comparable between sets and with the null evidence.

        The null evidence of very long series is that of a part of the rows.
        """
        assert self.family is not None
        assert self.null is not None
        null, plan = self.family.null, self.plan
        evidence = self.null.observed
        if plan.prepared.series and null.prepared.n_rows < plan.prepared.n_rows:
            null.prepared.precompute(plan.measure.evidence_needs())
            test = self._permutation_test(null.prepared)
            with engine.session(test) as session:
                evidence = test.observed(session.run)
        scaled = null.scaled(evidence, self.sets, plan.target)
        return dict(zip(self.sets, scaled.tolist(), strict=True))

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
        return [
            max(results[each].pvalue, self._smallest_pvalue(each)) if each in results else None
            for each in self.sets
        ]

    def _smallest_pvalue(self, columns: Columns) -> float:
        """Return the smallest possible p-value of a set: one series has few different shifts."""
        plan, series = self.plan, self.plan.prepared.series
        if series is None or series.sizes.size > 1 or (plan.target is None and len(columns) > 2):
            return 0.0
        return 1.0 / (1.0 + (2.0 if plan.given else 4.0) * float(series.reaches[0]))

    def _expected(self) -> Floats:
        return np.array([self.expected[columns] for columns in self.sets])

    def family_pvalues(self) -> list[float | None]:
        """Return the family-wise p-value of each set; never smaller than the set's own p-value."""
        return list(self._family()) if self.complete else [None] * len(self.sets)

    def _family(self) -> list[float]:
        if self.finished:
            return [family_pvalue for _, family_pvalue in self.finished]
        return [float(p) for p in np.maximum(family_pvalues(self._expected()), self._own())]

    def _are_certain(self) -> list[bool]:
        """Return which sets are significant, with more evidence than each of their subsets.

        A further column is chosen from all columns. So it must add the logarithm of their number.
        """
        assert self.null is not None
        added = math.log(self.plan.n_columns)
        evidence = self.evidence
        return [
            pvalue <= LEVEL
            and all(
                evidence[own] > evidence[part] + added * (len(own) - len(part))
                for part in _subsets(own, evidence)
            )
            for own, pvalue in zip(self.sets, self._family(), strict=True)
        ]

    def qvalues(self) -> list[float | None]:
        """Return the false discovery rate among all sets with at least the evidence of each set.

        Variants, and sets that add nothing beyond a subset, do not count as discoveries, because
        one strong pair with many additional columns would let many false sets pass. A q-value is
        never smaller than the p-value of the set alone.
        """
        if not self.complete:
            return [None] * len(self.sets)
        if self.finished:
            return [qvalue for qvalue, _ in self.finished]
        counted = [
            columns in self.relations and not self.increments.adds_nothing(columns)
            for columns in self.sets
        ]
        rates = false_discovery_rates(self._expected(), counted)
        return [float(q) for q in np.maximum(rates, self._own())]

    def _own(self) -> Floats:
        return np.array([1.0 if p is None else p for p in self.pvalues()])

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
            compared=self.family.n_compared if self.family is not None else 0,
            seed=self.plan.options.seed,
            level=LEVEL,
            complete=self.complete,
            null_of_rows=self.plan.prepared.table.about_rows(),
            row_dependence=self.row_dependence,
        )


def _subsets(columns: Columns, known: Collection[Columns]) -> list[Columns]:
    """Return the known sets within some columns, without the set of all of them."""
    if 2 ** len(columns) > len(known):
        every = set(columns)
        return [each for each in known if each != columns and every.issuperset(each)]
    sizes = range(2, len(columns))
    return [each for size in sizes for each in combinations(columns, size) if each in known]
