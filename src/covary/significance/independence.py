"""The independence test of one set of columns: `covary.test`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from covary import errors
from covary.array_types import Columns, OnProgress
from covary.engines import Engine
from covary.measures import Measure
from covary.measures.uds_chance.uds_chance import UDSChance
from covary.options import Options, option
from covary.prepare import Prepared, Roles
from covary.results import TestResult
from covary.significance.lags import LagTest, best_lag
from covary.significance.nulls import (
    NullTables,
    RandomPermutations,
    all_arrangements,
    check_arrangements,
    check_groups,
    present_rows,
)
from covary.significance.permutation import NullDistribution, PermutationTest
from covary.significance.row_dependence import find_row_dependence
from covary.significance.stopping import Stopping
from covary.significance.time_shifts import TimeShifts, time_shifts


@dataclass(frozen=True)
class TestOptions(Options):
    """Options of `covary.test`."""

    __test__: ClassVar[bool] = False  # not a test class of pytest

    target: Any = option(
        None,
        "Test whether this column is independent of the others. Only the target is permuted, so "
        "that dependence among the others does not count.",
        kind="column",
    )
    given: Any = option(
        None,
        "Test whether the target is independent of the others, given these columns.",
        kind="columns",
    )
    permutations: int = option(999, "Number of permutations.", minimum=1, flag="-n")
    level: float | None = option(
        None,
        "Stop as soon as it is clear whether the p-value is above this level, often after 32 to "
        "200 permutations. The p-value takes early stopping into account.",
        kind="fraction",
    )
    seed: int = option(
        0, "Random seed for the permutations, and for a randomised measure given by name."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level is not None and (self.permutations + 1) * self.level < 1.0:
            raise errors.too_few_permutations(self.permutations, self.level)


class IndependenceTest(NamedTuple):
    """An independence test that is ready to run; columns are given by their positions."""

    prepared: Prepared
    measure: Measure
    roles: Roles
    options: TestOptions

    def run(self, engine: Engine, on_progress: OnProgress | None = None) -> TestResult:
        """Permute, compare and return the result."""
        prepared, names, options = self.prepared, self.prepared.names, self.options
        columns, target, given = self.roles.tested, self.roles.target, self.roles.given
        if prepared.table.options.lags:
            return self._run_lags(engine, on_progress)
        null_tables, maximum, is_exact = self._null_tables()
        test = PermutationTest(self.measure, prepared, (columns,), target, null_tables)
        stopping = None
        if options.level is not None and not is_exact:
            stopping = Stopping(maximum, options.level, continue_below=False)
        dependence = find_row_dependence(prepared, columns)
        if dependence is not None:
            errors.warn(errors.dependent_rows(str(dependence)))
        reason = self.measure.untestable(prepared, columns, target)
        if reason:
            errors.warn(errors.cannot_test(reason))
        prepared.precompute(self.measure.evidence_needs())
        with engine.session(test) as session:
            null = NullDistribution(test.observed(session.run), maximum, stopping)
            null.grow(session.run, on_progress=on_progress)
        result = null.result(0)
        assert result is not None
        return TestResult(
            columns=tuple(names[column] for column in columns),
            target=None if target is None else names[target],
            given=tuple(names[column] for column in given),
            score=float(self.measure.score_sets(prepared, [columns], target)[0]),
            statistic=result.observed,
            pvalue=result.pvalue,
            null=result.null,
            permutations=result.null.size,
            exact=is_exact,
            measure=self.measure.name,
            rows=prepared.n_rows,
            tested=self.measure.n_tested(prepared, columns, target),
            seed=options.seed,
            level=options.level if maximum > result.null.size else None,
            null_of_rows=prepared.table.about_rows(),
            row_dependence=dependence,
        )

    def _run_lags(self, engine: Engine, on_progress: OnProgress | None) -> TestResult:
        """Test the best of all delays of all columns."""
        prepared, roles, measure = self.prepared, self.roles, self.measure
        names = prepared.names
        if roles.given:
            raise errors.lags_with_given()
        if not isinstance(measure, UDSChance):
            raise errors.lags_of_measure(measure.name)
        assert roles.target is not None
        dependence = find_row_dependence(prepared, roles.tested)
        if dependence is not None:
            errors.warn(errors.dependent_rows(str(dependence)))
        prepared.precompute(measure.needs())
        test = LagTest(measure, prepared, roles.target)
        with engine.session(test) as session:
            lags, best, pvalue, null = best_lag(test, roles.others, session.run, on_progress)
        assert prepared.series is not None
        columns = tuple(dict.fromkeys(each.column for each in lags))
        return TestResult(
            columns=(*columns, names[roles.target]),
            target=names[roles.target],
            score=lags[best].explained,
            statistic=lags[best].statistic,
            pvalue=pvalue,
            null=null,
            permutations=null.size,
            exact=False,
            measure=measure.name,
            rows=prepared.n_rows,
            tested=int(prepared.series.centre.size),
            seed=self.options.seed,
            null_of_rows=prepared.table.about_rows(),
            row_dependence=dependence,
            lags=tuple(lags),
            best_lag=lags[best],
        )

    def _null_tables(self) -> tuple[NullTables, int, bool]:
        """Return the tables under the null hypothesis, their number, and whether these are all."""
        prepared, options, roles = self.prepared, self.options, self.roles
        columns, target = roles.tested, roles.target
        dependent, series = prepared.dependent, prepared.series
        if series is not None:
            sides: tuple[Columns, Columns] = ((), ())
            if target is not None:
                # Given columns stay where they are, and so do the columns next to them.
                sides = (() if roles.given else roles.others, (target,))
            elif len(columns) == 2:
                sides = (columns[:1], columns[1:])
            if roles.given and any(prepared.has_missing(c) for c in (*columns, *roles.given)):
                # Rows with missing cells are left out, so that several shifts become the same.
                shifts = TimeShifts(series, columns, options.seed, sides=sides)
                return shifts, options.permutations, False
            shifts, is_exact = time_shifts(
                series, columns, sides, options.seed, options.permutations
            )
            number = options.permutations if shifts.relative is None else shifts.relative.size
            return shifts, number, is_exact
        keep_missing = self.measure.keeps_missing(prepared)
        if not roles.given and dependent is None:
            every = all_arrangements(prepared, columns, target, options.permutations, keep_missing)
            if every is not None:
                return every, every.number, True
        moving = columns[1:] if target is None else (target,)
        present = present_rows(prepared, moving) if keep_missing else {}
        permutations = RandomPermutations(
            prepared.n_rows, moving, options.seed, present=present, dependent=dependent
        )
        return permutations, options.permutations, False


def plan_test(
    data: Any, columns: Sequence[Any] | None, measure: Measure, options: TestOptions
) -> IndependenceTest:
    """Return a test of any data that `read_table` accepts."""
    measure, prepared, roles = measure.with_roles(data, columns, options.target, options.given)
    measure.check(prepared, len(roles.tested))
    check_arrangements(prepared, given=roles.given)
    check_groups(prepared, given=roles.given)
    columns_of_table = prepared.table.columns
    constant = [
        prepared.names[c]
        for c in roles.tested
        if columns_of_table[c].lag == 0 and not prepared.varies[c]
    ]
    if constant:
        errors.warn(errors.never_varies(constant))
    return IndependenceTest(prepared, measure, roles, options)
