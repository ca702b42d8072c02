"""Universal dependency score, with the estimator of its paper.

Nguyen, Mandros, Vreeken: Universal Dependency Analysis, SDM 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from covary import errors, kernels
from covary.measures.base import Explanation, Measure, OnProgress, Scorer, Sets, Step, register
from covary.measures.chains import NOTHING, Chain, Extensions, Known
from covary.measures.prefixes import PrefixScorer
from covary.measures.ties import by_content
from covary.measures.toward import Toward
from covary.prepare import MOST_BINS, Prepared

MOST_COLUMNS_EXACT = 8

# Entropies closer than this, relatively, are equal: rounding must not decide the order.
_EQUAL = 1e-12


@register("uds", "Universal dependency score of Nguyen, Mandros and Vreeken (2016)")
@register("uds-unregularized", "uds without its regulariser: chance shows, too", regularize=False)
@dataclass(frozen=True)
class UDS(Measure):
    """Universal dependency score of Nguyen, Mandros and Vreeken (2016), in [0, 1].

    For columns X_1 .. X_d in an order s,

        UDS = sum_{i=2..d} [h(X_s(i)) - h(X_s(i) | X_s(1..i-1))] / sum_{i=2..d} h(X_s(i)),

    with cumulative entropy h and 0/0 = 0. Each column is cut into bins that are best for the
    column after it (dynamic programming over at most ``beta`` initial bins), as many as the
    regulariser of the paper's Eq. 5 allows.

    Parameters
    ----------
    beta : int
        The most initial bins per column, 2 to 254. Equal-frequency; equal values stay together.
    scale : "range" or None
        "range" maps every column to [0, 1] first, so that units do not matter. None is the
        literal definition: a column in millimetres weighs a thousand times one in metres.
    order : "entropy" or "exact"
        "entropy" takes the columns by descending entropy, the paper's practical UDS. "exact"
        takes the best of all orders, for at most 8 columns that vary.
    regularize : bool
        Whether to choose the number of bins by Eq. 5. False takes the bins with the least
        entropy: every dependence shows, and chance shows too.

    Notes
    -----
    Blind to weak dependence: a cut must remove about a quarter of the target's entropy, or the
    regulariser refuses it, however many rows there are. A Gaussian pair with correlation 0.7
    scores 0. It also weighs the lower tail of a column: turning a column upside down changes its
    score.

    Where entropies are equal the order of the columns is not defined. With ``scale=None`` the
    columns keep their place in the input; with ``scale="range"`` their contents decide, so that
    the score depends on the order of neither columns nor rows.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> UDS().score(np.column_stack([x, x > 0.8]))
    1.0
    >>> UDS(beta=10, order="exact").score(np.column_stack([x, x > 0.8]))
    1.0

    """

    beta: int = 20
    scale: Literal["range"] | None = "range"
    order: Literal["entropy", "exact"] = "entropy"
    regularize: bool = True

    def __post_init__(self) -> None:
        errors.whole_number("beta", self.beta, 2, MOST_BINS)
        if self.scale not in ("range", None):
            raise errors.invalid_parameter("scale", "'range' or None", self.scale)
        if self.order not in ("entropy", "exact"):
            raise errors.invalid_parameter("order", "'entropy' or 'exact'", self.order)
        if not isinstance(self.regularize, (bool, np.bool_)):
            raise errors.invalid_parameter("regularize", "True or False", self.regularize)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        return _score(self._best_chain(prepared, columns))

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        return list(self._best_chain(prepared, columns).columns)

    def scorer(self, prepared: Prepared) -> Scorer:
        if self.order == "exact":
            return super().scorer(prepared)
        prepared.bins(self.beta)
        return PrefixScorer(self, prepared)

    def target_scorer(self, prepared: Prepared, target: int) -> Scorer:
        if self.order == "exact":
            raise errors.invalid_parameter("order", "'entropy' when there is a target", self.order)
        prepared.bins(self.beta)
        return PrefixScorer(Toward(self, target), prepared)

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> Explanation:
        chain = self._best_chain(prepared, columns, on_progress)
        names = tuple(prepared.names[position] for position in chain.columns)
        return Explanation(_score(chain), names, _in_words(chain), self.name, prepared.n_rows)

    # ------------------------------------------------------------ orders

    def _best_chain(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> Chain:
        order = self.entropy_order(prepared, columns)
        if self.order == "exact":
            return self._best_of_all_orders(prepared, order, on_progress)
        chain = self.chain(prepared)
        for column in order:
            chain = self.extend(chain, column)
        return chain

    def entropy_order(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        """Return the columns by descending entropy; see the notes on equal entropies."""
        return list(self.ordered(prepared, np.array([columns], np.int32))[0].tolist())

    def ordered(self, prepared: Prepared, sets: Sets, beside: tuple[int, ...] = ()) -> Sets:
        """Return each set by descending entropy.

        Columns ``beside`` the sets take part in telling columns of equal entropy apart.
        """
        weights = self.weights(prepared)[sets]
        places = np.argsort(-weights, axis=1, kind="stable")
        ordered = np.take_along_axis(sets, places, axis=1)
        weights = np.take_along_axis(weights, places, axis=1)
        falls = _is_less(weights[:, 1:], weights[:, :-1])
        tied = np.flatnonzero(~falls.all(axis=1))
        if tied.size > 0:
            levels = np.zeros((tied.size, sets.shape[1]), np.uint64)
            levels[:, 1:] = np.cumsum(falls[tied], axis=1)
            ties = ordered[tied]
            if self.scale is None:
                ordered[tied] = np.take_along_axis(ties, np.lexsort((ties, levels)), axis=1)
            else:
                ordered[tied] = by_content(prepared, ties, levels, beside)
        return ordered

    def weights(self, prepared: Prepared, columns: Any = slice(None)) -> npt.NDArray[np.float64]:
        """Return the cumulative entropy of columns, in the units that ``scale`` asks for."""
        weights: npt.NDArray[np.float64] = prepared.entropies[columns]
        if self.scale is None:
            return np.asarray(np.ldexp(weights, prepared.exponents[columns]))
        widths = prepared.widths[columns]
        return weights / np.where(widths > 0, widths, 1.0)

    def _best_of_all_orders(
        self, prepared: Prepared, columns: Sequence[int], on_progress: OnProgress | None
    ) -> Chain:
        """Return the best chain over all orders; what orders have in common is computed once.

        A constant explains nothing and is explained by anything: it goes last. (One with gaps may
        explain by them.)
        """
        vary = [c for c in columns if prepared.entropies[c] > 0 or prepared.has_missing(c)]
        if len(vary) > MOST_COLUMNS_EXACT:
            raise errors.too_many_orders(len(vary), MOST_COLUMNS_EXACT)
        constant = [column for column in columns if column not in vary]
        best: Chain | None = None
        n_orders = math.factorial(len(vary))
        for tried, chain in enumerate(self._all_chains(prepared, vary or constant[:1]), start=1):
            if best is None or _score(chain) > _score(best):
                best = chain
            if on_progress is not None and tried % 50 == 0:
                on_progress(tried, n_orders)
        assert best is not None
        for column in constant if vary else constant[1:]:
            best = self.extend(best, column)
        return best

    def _all_chains(self, prepared: Prepared, columns: Sequence[int]) -> Iterator[Chain]:
        unfinished = [self.chain(prepared)]
        while unfinished:
            chain = unfinished.pop()
            rest = [column for column in columns if column not in chain.columns]
            if not rest:
                yield chain
            unfinished += [self.extend(chain, column) for column in reversed(rest)]

    # ------------------------------------------------------------ steps

    def extend(self, chain: Chain, column: int) -> Chain:
        """Return the chain with one column more, explained by those in it: one step."""
        columns = (*chain.columns, column)
        if not chain.columns:
            return Chain(chain.prepared, chain.bins, columns)
        known = self.extend_many(chain, np.array([column])).known(0)
        return Chain(chain.prepared, chain.bins, columns, known, cubes_before=chain.cubes)

    def extend_many(self, chain: Chain, columns: npt.NDArray[np.int64]) -> Extensions:
        """Return one step from the chain to each of the columns."""
        condition = chain.columns[-1]
        log_cells = chain.cubes.log_cells + self.log_bins(chain.prepared, condition)
        explained, ends, parts = chain.steps(
            np.full_like(columns, condition), columns, np.full(columns.size, log_cells)
        )
        weights = self.weights(chain.prepared, columns)
        gains = chain.known.gain + explained * weights
        totals = chain.known.total + weights
        scores = _scores(gains, totals)
        return Extensions(chain.known, scores, explained, gains, totals, ends, parts)

    def chain(
        self, prepared: Prepared, columns: tuple[int, ...] = (), known: Known = NOTHING
    ) -> Chain:
        """Return the chain that holds no column yet, or one of which only this is known."""
        return Chain(prepared, prepared.bins(self.beta), columns, known)

    def log_bins(self, prepared: Prepared, condition: int) -> float:
        """Return log beta of Eq. 5: of the bins that were formed; missing cells are one."""
        if not self.regularize:
            return float(kernels.step.UNREGULARIZED)
        formed = prepared.bins(self.beta).counts[condition] + prepared.has_missing(condition)
        return math.log(max(formed, 1))


def _in_words(chain: Chain) -> tuple[Step, ...]:
    """Return the steps of a chain in the user's terms."""
    prepared = chain.prepared
    names = [prepared.names[column] for column in chain.columns]
    steps = []
    by: list[str] = []
    for at, (ends, explained) in enumerate(
        zip(chain.known.ends, chain.known.explained, strict=True)
    ):
        condition, target = chain.columns[at : at + 2]
        if chain.is_cut(at):
            by.append(names[at])
        step = Step(
            target=names[at + 1],
            given=tuple(names[: at + 1]),
            explained=explained,
            by=tuple(by),
            bins=chain.n_parts(at),
            cuts={names[at]: prepared.upper_ends(condition, chain.bins, ends[:-1].tolist())},
            missing=int(prepared.n_rows - prepared.n_present[condition]),
            rows=int(prepared.n_present[target]),
        )
        steps.append(step)
    return tuple(steps)


def _is_less(weight: Any, other: Any) -> Any:
    """Return whether an entropy is below another by more than rounding."""
    return weight < other * (1 - _EQUAL)


def _score(chain: Chain) -> float:
    return float(_scores(chain.known.gain, chain.known.total))


def _scores(gains: Any, totals: Any) -> Any:
    """Return Eq. 4: gains over entropies, 0/0 = 0."""
    return np.minimum(gains / np.where(totals > 0, totals, 1.0), 1.0)
