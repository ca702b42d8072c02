"""The measure `uds-chance`: the universal dependency score, corrected for chance.

The score is defined by Nguyen, Mandros and Vreeken, Universal Dependency Analysis, SDM 2016. The
chance correction follows the ideas of Romano, Bailey, Nguyen and Verspoor (ICML 2014), Wang,
Romano et al., Unbiased Multivariate Correlation Analysis (AAAI 2017), and Mandros, Boley and
Vreeken, Discovering Reliable Approximate Functional Dependencies (KDD 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from covary import errors
from covary.array_types import Columns, Floats, OnProgress
from covary.engines.base import RunTasks
from covary.engines.inline import run_here
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.scorer import Scorer
from covary.measures.uds_chance.cuts import best_cuts
from covary.measures.uds_chance.evidence import evidence_of, evidence_of_copies
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.increments import increment_pvalue
from covary.measures.uds_chance.midranks import MidRanks
from covary.measures.uds_chance.strengths import Conditions, StrengthScorer, explain_targets
from covary.prepare import Moves, Need, Prepared
from covary.results import Explanation, Step


@register("uds-chance", "UDS corrected for chance: 0 if independent, 1 if one determines all")
@dataclass(frozen=True)
class UDSChance(Measure):
    """Universal dependency score with a chance-corrected estimator, in [0, 1].

    For columns X_1 .. X_d in the order s that maximises it,

        UDS = sum_{i=2..d} h(X_s(i)) S(X_s(i) | X_s(1..i-1)) / sum_{i=2..d} h(X_s(i)),

    where S is the fraction of a column's entropy that the columns before it explain, and h is the
    mean of cumulative entropy and cumulative residual entropy of the ranks.

    S(Y | ..) is the maximum over the given columns, one or two at a time, and over
    equal-frequency grids on them. A grid explains

        [h(Y) - h(Y | cells) - E] / [h(Y) - E]

    of Y, where E is the expected gain of this grid if it were independent of Y. Its expectation is
    0 under independence (with ties or very large cells, up to interpolation). It is 1 if Y is
    constant in every cell. The fraction is shrunk towards 0. Fractions near the noise level shrink
    most, and smaller ones become 0. The noise level is what the best condition explains by chance.

    Parameters
    ----------
    max_given : 1 or 2
        The maximum number of columns that explain one together. With 1, the score misses
        relations that need two columns (an exclusive or, a sum), and large sets are scored much
        faster.

    Notes
    -----
    The score depends only on ranks. It is invariant to strictly monotone transformations of any
    column, increasing or decreasing, and to the order of columns and rows.

    The order of the columns is optimal for up to 12 columns that vary. For more, columns are added
    greedily by least regret, and then moved while this helps. In sets of more than 64 columns, one
    column at a time explains another.

    It cannot detect that three or more columns explain a fourth one if no two of them do, nor
    differences that cancel in the cumulative distribution of a column.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(UDSChance().score(np.column_stack([x**2, x])), 2)
    0.96

    """

    takes_target: ClassVar[bool] = True

    max_given: int = 2

    def __post_init__(self) -> None:
        whole = isinstance(self.max_given, Integral) and not isinstance(self.max_given, bool)
        if not whole or self.max_given not in (1, 2):
            raise errors.invalid_parameter("max_given", "1 or 2", self.max_given)

    def needs(self) -> tuple[Need, ...]:
        return (Need(MidRanks), Need(Grids))

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if target is not None:
            return float(self.score_sets(prepared, [[*columns, target]], target)[0])
        scorer = self._scorer_of_set(prepared, columns)
        return scorer.best_order(prepared.varying(columns))[0]

    def make_scorer(self, prepared: Prepared, target: int | None) -> Scorer:
        return StrengthScorer(prepared, self.max_given, -1 if target is None else target)

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        scorer = self._scorer_of_set(prepared, columns)
        return self._best_order(scorer, columns)[1]

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> Explanation:
        scorer = self._scorer_of_set(prepared, columns, on_progress)
        score, order = self._best_order(scorer, columns)
        n_varying = len(prepared.varying(columns))
        steps = [_step(scorer, order[:at], order[at], n_varying) for at in range(1, len(order))]
        names = tuple(prepared.names[column] for column in order)
        return Explanation(score, names, tuple(steps), self.name, prepared.n_rows)

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
        if only is None or any(
            only not in columns or (len(columns) > 2 and target != only) for columns in sets
        ):
            return super().evidence_moved(prepared, sets, moves, target)
        rows = np.array([each[only] for each in moves])
        return evidence_of_copies(prepared, sets, self.max_given, only, rows)

    def increment_pvalue(self, prepared: Prepared, order: Columns, seed: int) -> float:
        return increment_pvalue(prepared, order, seed)

    def _scorer_of_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> StrengthScorer:
        """Return a scorer that has computed all strengths of a set."""
        scorer = StrengthScorer(prepared, self.max_given)
        sets = np.array([prepared.varying(columns)], np.int32)
        run = _with_progress(run_here(prepared), on_progress)
        scorer.table.compute(sets, scorer.with_pairs(sets.size), run)
        return scorer

    @staticmethod
    def _best_order(scorer: StrengthScorer, columns: Sequence[int]) -> tuple[float, list[int]]:
        """Return score and order; columns that never vary come last and explain nothing."""
        score, order = scorer.best_order(scorer.prepared.varying(columns))
        return score, order + [c for c in columns if not scorer.prepared.varies[c]]


def _only_moved_column(moves: Sequence[Mapping[int, Any]]) -> int | None:
    """Return the column that every permutation moves, if it is the only one."""
    moved = {tuple(each) for each in moves}
    columns = moved.pop() if len(moved) == 1 else ()
    return columns[0] if len(columns) == 1 else None


def _with_progress(run: RunTasks, on_progress: OnProgress | None) -> RunTasks:
    """Return a function that runs tasks in the same way and reports the number of targets done."""
    if on_progress is None:
        return run

    def run_and_report(task: Any, items: Sequence[Conditions]) -> Iterator[tuple[int, Any]]:
        n_targets = np.cumsum([len(item.targets) for item in items])
        for at, found in run(task, items):
            yield at, found
            on_progress(int(n_targets[at]), int(n_targets[-1]))

    return run_and_report


def _step(scorer: StrengthScorer, given: Sequence[int], target: int, n_varying: int) -> Step:
    """Return the fraction of a column that the columns before it explain, and which of them do.

    ``n_varying`` is the number of columns of the set that vary.
    """
    prepared = scorer.prepared
    names = prepared.names

    def strength(by: Columns) -> tuple[float, float]:
        return scorer.strength(target, by, n_varying)

    conditions: list[Columns] = [(column,) for column in given]
    conditions += combinations(given, 2) if scorer.with_pairs(n_varying) else ()
    best = max(conditions, key=strength)
    explained = strength(best)[1]
    # The column that explains more alone comes first.
    by = sorted(best, key=lambda column: strength((column,)), reverse=True)
    by = by if explained > 0.0 else []
    return Step(
        target=names[target],
        given=tuple(names[column] for column in given),
        explained=explained,
        by=tuple(names[column] for column in by),
        bins=_bins_of_best_grid(prepared, by, target) if by else 0,
        alone=tuple(strength((column,))[1] for column in by),
        cuts={names[c]: best_cuts(prepared, target, c, [o for o in by if o != c]) for c in by},
        missing=sum(int(prepared.n_rows - prepared.n_present[column]) for column in by),
        rows=int(prepared.n_present[target]),
    )


def _bins_of_best_grid(prepared: Prepared, by: Sequence[int], target: int) -> int:
    """Return the largest number of bins of an explaining column in the best grid."""
    one, other = min(by), max(by)
    conditions = Conditions(one, other, np.array([target], np.int64))
    _, best = explain_targets(prepared, conditions)
    n_bins: list[int] = []
    for family in prepared.derived(Grids).families:
        n_bins += family.n_bins[by, : family.n_grids(one, other)].max(axis=0).tolist()
    return n_bins[int(best[0])] - any(prepared.has_missing(column) for column in by)
