"""One set of columns, tested: could it be chance?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

from covary import errors
from covary.engines import Engine
from covary.measures import Measure
from covary.prepare import Prepared, prepare_toward
from covary.results import TestResult
from covary.significance.arrangements import Shuffles, list_ways
from covary.significance.permutation import Job, Null
from covary.significance.stopping import Stopping


class SetTest(NamedTuple):
    """A test that is ready to run.

    Parameters
    ----------
    target : the position of the column that is tested against the others, if any
    level : where to stop once it is clear on which side the p-value lies, if at all
    """

    prepared: Prepared
    measure: Measure
    target: int | None
    permutations: int
    level: float | None
    seed: int

    def run(
        self, engine: Engine, on_progress: Callable[[int, int], None] | None = None
    ) -> TestResult:
        """Permute and compare."""
        prepared, names = self.prepared, self.prepared.names
        columns = tuple(range(len(names)))
        listed = list_ways(prepared, columns, self.target, self.permutations)
        most = self.permutations if listed is None else listed.number
        moving = columns[1:] if self.target is None else (self.target,)
        ways = listed or Shuffles(prepared.n_rows, moving, self.seed)
        job = Job(self.measure, prepared, (columns,), self.target, ways)
        stop = None
        if self.level is not None and listed is None:
            stop = Stopping(most, self.level, go_on=False)
        null = Null(job.observed(), most, stop)
        with engine.session(job) as session:
            null.grow(session.run, tell=on_progress)
        tested = null.tested(0)
        assert tested is not None
        return TestResult(
            columns=tuple(names),
            target=None if self.target is None else names[self.target],
            score=float(self.measure.score_sets(prepared, [columns], self.target)[0]),
            statistic=float(null.observed[0]),
            pvalue=tested.pvalue,
            null=tested.null,
            permutations=tested.null.size,
            exact=listed is not None,
            measure=self.measure.name,
            rows=prepared.n_rows,
            seed=self.seed,
            level=self.level if most > tested.null.size else None,
        )


def plan_test(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: Measure,
    target: Any = None,
    permutations: int = 999,
    level: float | None = None,
    seed: int = 0,
) -> SetTest:
    """Return a test of anything that `read_table` takes."""
    if level is not None and not (isinstance(level, Real) and 0.0 < level < 1.0):
        raise errors.invalid_parameter("level", "a number between 0 and 1, or None", level)
    permutations = errors.whole_number("permutations", permutations, 1)
    seed = errors.whole_number("seed", seed, 0)
    if level is not None and (permutations + 1) * level < 1.0:
        raise errors.too_few_permutations(permutations, level)
    prepared, position = prepare_toward(data, columns, target)
    measure.check(prepared, len(prepared.names))
    if not prepared.varies.all():
        constant = [name for name, v in zip(prepared.names, prepared.varies, strict=True) if not v]
        errors.warn(errors.never_varies(constant))
    return SetTest(prepared, measure, position, permutations, level, seed)
