"""Universal dependency score, estimated so that it keeps what its paper promises.

The definition is that of Nguyen, Mandros and Vreeken, Universal Dependency Analysis, SDM 2016. The
correction for chance stands in the line of Romano, Bailey, Nguyen and Verspoor (ICML 2014), Wang,
Romano et al., Unbiased Multivariate Correlation Analysis (AAAI 2017), and Mandros, Boley and
Vreeken, Discovering Reliable Approximate Functional Dependencies (KDD 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.measures.base import (
    Explanation,
    Measure,
    OnProgress,
    Run,
    Scorer,
    Scores,
    Step,
    here,
    register,
)
from covary.measures.evidence import evidence_moved, evidence_of
from covary.measures.readable import readable_cuts
from covary.measures.strengths import Condition, StrengthScorer, explain_targets
from covary.prepare import Prepared


@register("uds-chance", "UDS corrected for chance: 0 if independent, 1 if one determines all")
@dataclass(frozen=True)
class UDSChance(Measure):
    """Universal dependency score with a chance-corrected estimate, in [0, 1].

    For columns X_1 .. X_d in the order s that makes it largest,

        UDS = sum_{i=2..d} h(X_s(i)) S(X_s(i) | X_s(1..i-1)) / sum_{i=2..d} h(X_s(i)),

    where S is the share of a column's entropy that the columns before it explain, and h the mean
    of cumulative entropy and cumulative residual entropy of the ranks.

    S(Y | ..) is the best over the columns that are given, one or two at a time, and over grids of
    equally many rows per bin on them. A grid explains

        [h(Y) - h(Y | cells) - E] / [h(Y) - E]

    of Y, with E what it would explain on average if it had nothing to do with Y: exactly 0 in
    expectation then, and 1 if Y is constant in every cell. It is shrunk towards 0 the more, the
    nearer it is to what the best of so many columns explains by chance.

    Parameters
    ----------
    max_given : 1 or 2
        How many columns may explain one together. With 1, what takes two columns to see (an
        exclusive or, a sum) is missed, and sets of many columns are scored much faster.

    Notes
    -----
    The score depends on the ranks alone: it is the same for any strictly monotone map of any
    column, increasing or decreasing, and for any order of columns and rows.

    The order is the best of all up to 12 columns that vary; beyond that, next comes the column
    that loses least by not waiting, and columns are then moved while that helps. In sets of more
    than 64 columns each is explained by one other at a time.

    Blind to what takes three columns or more to explain a fourth if no two of them do, and to
    differences in a column that cancel in its cumulative distribution.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(UDSChance().score(np.column_stack([x**2, x])), 2)
    0.96

    """

    max_given: int = 2

    def __post_init__(self) -> None:
        whole = isinstance(self.max_given, Integral) and not isinstance(self.max_given, bool)
        if not whole or self.max_given not in (1, 2):
            raise errors.invalid_parameter("max_given", "1 or 2", self.max_given)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        return self._learned(prepared, columns).best_order(_varying(prepared, columns))[0]

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        order = self._learned(prepared, columns).best_order(_varying(prepared, columns))[1]
        # What never varies comes last: it explains nothing, and there is nothing to explain.
        return order + [column for column in columns if not prepared.varies[column]]

    def scorer(self, prepared: Prepared) -> Scorer:
        return StrengthScorer(prepared, self.max_given)

    def target_scorer(self, prepared: Prepared, target: int) -> Scorer:
        return StrengthScorer(prepared, self.max_given, target)

    def evidence_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Scores:
        return evidence_of(prepared, sets, self.max_given, target)

    def evidence_moved(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        moves: Sequence[Mapping[int, npt.NDArray[np.uint32]]],
        target: int | None = None,
    ) -> Scores:
        only = _only_mover(moves)
        if only is None or any(
            only not in columns or (len(columns) > 2 and target != only) for columns in sets
        ):
            return super().evidence_moved(prepared, sets, moves, target)
        return evidence_moved(
            prepared, sets, self.max_given, only, np.array([rows[only] for rows in moves])
        )

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> Explanation:
        scorer = self._learned(prepared, columns, on_progress)
        vary = _varying(prepared, columns)
        score, order = scorer.best_order(vary)
        # What never varies comes last: it explains nothing, and there is nothing to explain.
        order += [column for column in columns if not prepared.varies[column]]
        steps = [_step(scorer, order[:at], order[at], len(vary)) for at in range(1, len(order))]
        names = tuple(prepared.names[column] for column in order)
        return Explanation(score, names, tuple(steps), self.name, prepared.n_rows)

    def _learned(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> StrengthScorer:
        """Return a scorer that knows all about a set."""
        scorer = StrengthScorer(prepared, self.max_given)
        sets = np.array([_varying(prepared, columns)], np.int32)
        run = _with_progress(here(prepared), on_progress)
        scorer.known.learn(sets, scorer.with_pairs(sets.size), run)
        return scorer


def _only_mover(moves: Sequence[Mapping[int, Any]]) -> int | None:
    """Return the column that moves each time, if no other ever does."""
    movers = {tuple(rows) for rows in moves}
    first = movers.pop() if len(movers) == 1 else ()
    return first[0] if len(first) == 1 else None


def _varying(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    return [column for column in columns if prepared.varies[column]]


def _with_progress(run: Run, on_progress: OnProgress | None) -> Run:
    """Return what runs tasks in the same way, and tells how many targets are done."""
    if on_progress is None:
        return run

    def told(task: Any, items: Sequence[Condition]) -> Iterator[tuple[int, Any]]:
        work = np.cumsum([len(item.targets) for item in items])
        for at, found in run(task, items):
            yield at, found
            on_progress(int(work[at]), int(work[-1]))

    return told


def _step(scorer: StrengthScorer, given: Sequence[int], target: int, n_columns: int) -> Step:
    """Return how much of a column those before it explain, and which of them do.

    ``n_columns`` is how many columns of the set vary.
    """
    prepared = scorer.shared
    names = prepared.names

    def strength(by: tuple[int, ...]) -> tuple[float, float]:
        return scorer.strength(target, by, n_columns)

    ways: list[tuple[int, ...]] = [(column,) for column in given]
    ways += combinations(given, 2) if scorer.with_pairs(n_columns) else ()
    best = max(ways, key=strength)
    explained = strength(best)[1]
    # The one that explains more by itself comes first.
    by = sorted(best, key=lambda column: strength((column,)), reverse=True)
    by = by if explained > 0.0 else []
    return Step(
        target=names[target],
        given=tuple(names[column] for column in given),
        explained=explained,
        by=tuple(names[column] for column in by),
        bins=_bins_of_best_grid(prepared, by, target) if by else 0,
        alone=tuple(strength((column,))[1] for column in by),
        cuts={names[c]: readable_cuts(prepared, target, c, [o for o in by if o != c]) for c in by},
        missing=sum(int(prepared.n_rows - prepared.n_present[column]) for column in by),
        rows=int(prepared.n_present[target]),
    )


def _bins_of_best_grid(prepared: Prepared, by: Sequence[int], target: int) -> int:
    """Return into how many bins the best grid cuts a column that explains, at most."""
    one, other = min(by), max(by)
    condition = Condition(one, other, np.array([target], np.int64))
    _, which = explain_targets(prepared, condition)
    cut: list[int] = []
    for grids in prepared.grids:
        n_grids = len(grids.sizes) if one == other else grids.n_of_two
        cut += grids.n_bins[by, :n_grids].max(axis=0).tolist()
    return cut[int(which[0])] - any(prepared.has_missing(column) for column in by)
