"""The measure `uds-chance`: the universal dependency score, corrected for chance.

The score is defined by Nguyen, Mandros and Vreeken, Universal Dependency Analysis, SDM 2016. The
chance correction follows the ideas of Romano, Bailey, Nguyen and Verspoor (ICML 2014), Wang,
Romano et al., Unbiased Multivariate Correlation Analysis (AAAI 2017), and Mandros, Boley and
Vreeken, Discovering Reliable Approximate Functional Dependencies (KDD 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from covary.array_types import Columns, Floats, Integers, OnProgress
from covary.engines.base import RunTasks
from covary.engines.inline import run_here
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.scorer import Scorer
from covary.measures.uds_chance.conditional import ConditionalEvidence
from covary.measures.uds_chance.evidence import evidence_of, evidence_of_copies
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.increments import increment_pvalue
from covary.measures.uds_chance.midranks import FoldedColumns, MidRanks
from covary.measures.uds_chance.places import Places
from covary.measures.uds_chance.scored_set import ScoredSet
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.measures.uds_chance.strengths import Conditions
from covary.prepare import Moves, Need, Prepared
from covary.results import Explanation
from covary.validation import check_whole_number

# The time to score a set of three columns, for each column that is explained: measured with two
# threads on tables whose columns all depend on each other, which takes longest.
SECONDS_PER_TARGET = 80e-6
SECONDS_PER_TARGET_AND_ROW = 40e-9


@register("uds-chance", "UDS corrected for chance: 0 if independent, 1 if one determines all")
@dataclass(frozen=True)
class UDSChance(Measure):
    """Universal dependency score with a chance-corrected estimator, in [0, 1].

    For columns X_1 .. X_d in the order s that maximises it,

        UDS = sum_{i=2..d} h(X_s(i)) S(X_s(i) | X_s(1..i-1)) / sum_{i=2..d} h(X_s(i)),

    where S is the fraction of a column's entropy that the columns before it explain, and h is the
    mean of cumulative entropy and cumulative residual entropy of the ranks.

    S(Y | ..) is what the best condition explains: some of the given columns together. A condition
    divides the rows into cells: equal-frequency bins of one column, or balanced cells of several
    columns. Cells explain

        [h(Y) - h(Y | cells) - E] / [h(Y) - E]

    of Y, where E is the expected gain of these cells if they were independent of Y. Its
    expectation is 0 under independence (with ties or very large cells, up to interpolation). It is
    1 if Y is constant in every cell. The fraction is shrunk towards 0. Fractions near the noise
    level shrink most, and smaller ones become 0. The noise level is what the best condition
    explains by chance.

    Parameters
    ----------
    max_given : int, optional
        The maximum number of columns that explain one together; as many as help if None. With 1,
        the score misses relations that need several columns (an exclusive or, a sum), and large
        sets are scored much faster.

    Notes
    -----
    The score depends only on ranks. It is invariant to strictly monotone transformations of any
    column, increasing or decreasing, and to the order of columns and rows.

    The order of the columns is optimal for up to 14 columns that vary. For more, columns are added
    greedily by least regret, and then moved while this helps.

    In sets of up to 14 columns, all conditions of one, two and three columns are examined. In sets
    of up to 64 columns, all conditions of one and two. Others are found by adding columns to the
    best of these. So it cannot detect a relation of many columns if no few of them show it, nor
    differences that cancel in the cumulative distribution of a column.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(UDSChance().score(np.column_stack([x**2, x])), 2)
    0.96

    """

    takes_target: ClassVar[bool] = True
    explains_target: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    takes_calendars: ClassVar[bool] = True

    max_given: int | None = None

    def __post_init__(self) -> None:
        if self.max_given is not None:
            check_whole_number("max_given", self.max_given, 1)

    def needs(self) -> tuple[Need, ...]:
        needs = (Need(MidRanks), Need(Grids))
        return needs if self.max_given == 1 else (*needs, Need(Places))

    def evidence_needs(self) -> tuple[Need, ...]:
        return (Need(MidRanks), Need(Grids), Need(Places), Need(FoldedColumns))

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if target is not None:
            return float(self.score_sets(prepared, [[*columns, target]], target)[0])
        return self._scored_set(prepared, columns).score

    def make_scorer(self, prepared: Prepared, target: int | None) -> Scorer:
        return self._set_scorer(prepared, -1 if target is None else target)

    def _set_scorer(self, prepared: Prepared, target: int) -> SetScorer:
        return SetScorer(prepared, self.max_given, target)

    def seconds_per_triple(self, n_rows: int, *, with_target: bool) -> float | None:
        n_targets = 1 if with_target else 3
        return n_targets * (SECONDS_PER_TARGET + SECONDS_PER_TARGET_AND_ROW * n_rows)

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        return self._scored_set(prepared, columns).order

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
        target: int | None = None,
    ) -> Explanation:
        names = prepared.names
        if target is None:
            scored = self._scored_set(prepared, columns, on_progress)
            starts = range(1, len(scored.order))
        else:
            prepared.precompute(self.needs())
            run = _with_progress(run_here(prepared), on_progress)
            scored = ScoredSet.of_target(self._set_scorer(prepared, target), columns, run)
            starts = range(len(scored.order) - 1, len(scored.order))
        return Explanation(
            scored.score,
            tuple(names[column] for column in scored.order),
            tuple(scored.step(scored.order[:at], scored.order[at]) for at in starts),
            self.name,
            prepared.n_rows,
            None if target is None else names[target],
            tuple(names[column] for column in scored.scorer.given),
        )

    def keeps_missing(self, prepared: Prepared) -> bool:
        # The null hypothesis is about values: which cells are missing is given.
        return not prepared.missing_is_level

    def beyond(self, given: Columns) -> Measure:
        return _Beyond(self.max_given, given)

    def evidence_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Floats:
        return evidence_of(prepared, sets, self.max_given, target)

    def evidence_moved(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        moves: Sequence[Moves],
        target: int | None = None,
    ) -> Floats:
        only = _only_moved_column(moves)
        if (
            only is None
            or any(
                only not in columns or (len(columns) > 2 and target != only) for columns in sets
            )
            or (self.keeps_missing(prepared) and _moves_missing(prepared, only, moves))
        ):
            return super().evidence_moved(prepared, sets, moves, target)
        rows = np.array([each[only] for each in moves])
        return evidence_of_copies(prepared, sets, self.max_given, only, rows)

    def increment_pvalue(
        self,
        prepared: Prepared,
        columns: Columns,
        target: int | None,
        given: Columns,
        seed: int,
    ) -> float:
        measure = self.beyond(given) if given else self
        targets = columns if target is None else (target,)
        explained = {c: float(measure.score_sets(prepared, [columns], c)[0]) for c in targets}
        return increment_pvalue(prepared, columns, explained, given, seed)

    def _scored_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> ScoredSet:
        return ScoredSet.of(
            SetScorer(prepared, self.max_given),
            columns,
            _with_progress(run_here(prepared), on_progress),
        )


@dataclass(frozen=True)
class _Beyond(UDSChance):
    """What columns explain of a target beyond given columns, as a fraction of the rest.

    Parameters
    ----------
    given : the given columns, by position

    """

    given: Columns = ()

    @property
    def name(self) -> str:
        return self.plain().name

    def _set_scorer(self, prepared: Prepared, target: int) -> SetScorer:
        return SetScorer(prepared, self.max_given, target, self.given)

    def plain(self) -> UDSChance:
        return UDSChance(self.max_given)

    def evidence_needs(self) -> tuple[Need, ...]:
        return (Need(Places),)

    def keeps_missing(self, prepared: Prepared) -> bool:
        return False  # tests use complete rows

    def n_tested(self, prepared: Prepared, columns: Sequence[int], target: int | None) -> int:
        evidence = self._evidence(prepared, columns, target)
        return int(evidence.rows[evidence.compared].size)

    def untestable(self, prepared: Prepared, columns: Sequence[int], target: int | None) -> str:
        return self._evidence(prepared, columns, target).untestable

    def evidence_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Floats:
        return np.array([self._evidence(prepared, columns, target).observed for columns in sets])

    def evidence_moved(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        moves: Sequence[Moves],
        target: int | None = None,
    ) -> Floats:
        assert target is not None
        rows = np.array([each[target] for each in moves])
        found = [
            self._evidence(prepared, columns, target).of_permutations(rows) for columns in sets
        ]
        return np.stack(found, axis=1)

    def evidence_shifted(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        shifts: Sequence[Mapping[int, Integers]],
        target: int | None = None,
    ) -> Floats:
        assert target is not None
        of_target = [each.get(target) for each in shifts]
        found = [
            self._evidence(prepared, columns, target).of_shifts(of_target) for columns in sets
        ]
        return np.stack(found, axis=1)

    def _evidence(
        self, prepared: Prepared, columns: Sequence[int], target: int | None
    ) -> ConditionalEvidence:
        others = tuple(column for column in columns if column != target)
        return prepared.derived(ConditionalEvidence, target, others, self.given)


def _only_moved_column(moves: Sequence[Mapping[int, Any]]) -> int | None:
    """Return the column that every permutation moves, if it is the only one."""
    moved = {tuple(each) for each in moves}
    columns = moved.pop() if len(moved) == 1 else ()
    return columns[0] if len(columns) == 1 else None


def _moves_missing(prepared: Prepared, column: int, moves: Sequence[Moves]) -> bool:
    """Return whether a permutation moves the missing cells of a column to other rows."""
    missing = prepared.orders[column, prepared.n_present[column] :]
    return missing.size > 0 and any(
        not np.isin(each[column][missing], missing).all() for each in moves
    )


def _with_progress(run: RunTasks, on_progress: OnProgress | None) -> RunTasks:
    """Return a function that runs tasks in the same way and reports the number of targets done."""
    if on_progress is None:
        return run

    def run_and_report(task: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        if not items or not isinstance(items[0], Conditions):  # other tasks take little time
            yield from run(task, items)
            return
        n_targets = np.cumsum([len(item.targets) for item in items])
        for at, found in run(task, items):
            yield at, found
            on_progress(int(n_targets[at]), int(n_targets[-1]))

    return run_and_report
