"""Increment tests of the sets of a search, each done once."""

from __future__ import annotations

from collections.abc import Sequence

from covary.array_types import Columns, OnProgress
from covary.engines import RunTasks
from covary.runs import RunFile
from covary.searching.plan import SearchPlan
from covary.significance.increments import IncrementTests, increment_pvalues
from covary.significance.stopping import LEVEL


class SetIncrements:
    """The increment p-values of sets with three or more columns, as far as they were tested."""

    def __init__(self, plan: SearchPlan) -> None:
        self.plan = plan
        self.uncorrected: dict[Columns, float] = {}

    def tests(self) -> IncrementTests:
        """Return what an engine's session needs to run the tests."""
        plan = self.plan
        tests = IncrementTests(
            plan.measure, plan.prepared, plan.target, plan.given, plan.options.seed
        )
        return tests.precomputed()

    def untested(self, sets: Sequence[Columns]) -> list[Columns]:
        """Return the sets that need a test; pairs need none."""
        return [each for each in sets if len(each) > 2 and each not in self.uncorrected]

    def test(
        self,
        sets: Sequence[Columns],
        run: RunTasks,
        run_file: RunFile | None,
        on_progress: OnProgress,
    ) -> None:
        """Test those of the sets that were not tested; ``run`` needs a session with `tests`."""
        todo = self.untested(sets)
        done = 0
        for first, pvalues in run(increment_pvalues, todo):
            new = dict(zip(todo[first:], pvalues.tolist(), strict=False))
            self.uncorrected.update(new)
            done += len(new)
            if run_file is not None:
                run_file.store_increments(new)
            on_progress(done, len(todo))

    def pvalue(self, columns: Columns) -> float | None:
        """Return the p-value of the hypothesis that the set does not need one of its columns.

        It is corrected for the number of columns that could have been added (Bonferroni). None
        for pairs, or if not tested.
        """
        if columns not in self.uncorrected:
            return None
        n_candidates = self.plan.n_columns - len(columns) + 1
        return min(1.0, self.uncorrected[columns] * n_candidates)

    def adds_nothing(self, columns: Columns) -> bool | None:
        """Return whether the hypothesis is not rejected; None if not tested."""
        pvalue = self.pvalue(columns)
        return None if pvalue is None else pvalue > LEVEL
