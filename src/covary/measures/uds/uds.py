"""The measure `uds`: the universal dependency score with the estimator of its paper.

Nguyen, Mandros, Vreeken: Universal Dependency Analysis, SDM 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from covary import errors, kernels
from covary.array_types import Columns, ColumnSets, Floats, Integers, OnProgress
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.scorer import Scorer
from covary.measures.shared.bins import MAX_BINS, EqualFrequencyBins
from covary.measures.shared.content_order import order_by_content
from covary.measures.uds.chains import EMPTY_STATE, Chain, ChainState, Extensions
from covary.measures.uds.prefix_scorer import ChainBuilder, PrefixScorer
from covary.measures.uds.target import TargetChains
from covary.prepare import Need, Prepared
from covary.results import Explanation, Step
from covary.validation import check_whole_number

MAX_COLUMNS_EXACT = 8
# Entropies that are relatively closer than this count as equal.
ENTROPY_TOLERANCE = 1e-12


@register("uds", "Universal dependency score of Nguyen, Mandros and Vreeken (2016)")
@register(
    "uds-unregularized",
    "uds without its regulariser: above 0 by chance",
    regularize=False,
)
@dataclass(frozen=True)
class UDS(Measure):
    """Universal dependency score of Nguyen, Mandros and Vreeken (2016), in [0, 1].

    For columns X_1 .. X_d in an order s,

        UDS = sum_{i=2..d} [h(X_s(i)) - h(X_s(i) | X_s(1..i-1))] / sum_{i=2..d} h(X_s(i)),

    with cumulative entropy h and 0/0 = 0. Each column is cut into bins that are optimal for the
    next column (dynamic programming over at most ``beta`` initial bins). The regulariser of the
    paper's Eq. 5 chooses the number of bins.

    Parameters
    ----------
    beta : int
        The maximum number of initial bins per column, 2 to 254. Bins have equal frequencies; ties
        stay together.
    scale : "range" or None
        "range" maps every column to [0, 1] first, so that units do not matter. None is the
        literal definition: a column in millimetres weighs a thousand times one in metres.
    order : "entropy" or "exact"
        "entropy" takes the columns by descending entropy, the paper's practical UDS. "exact"
        takes the best of all orders, for at most 8 columns that vary.
    regularize : bool
        Whether Eq. 5 chooses the number of bins. False takes the bins with the smallest entropy:
        this detects every dependence, but also scores independent columns above 0.

    Notes
    -----
    It does not detect weak dependence. The regulariser rejects a cut unless it removes about a
    quarter of the target's entropy, independently of the number of rows. A normal pair with
    correlation 0.7 scores 0. The score weights the lower tail of a column: negating a column
    changes it.

    The order of columns with equal entropies is undefined in the paper. With ``scale=None`` they
    keep their order in the table. With ``scale="range"`` their contents decide, so that the score
    depends neither on the order of columns nor on that of rows.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> UDS().score(np.column_stack([x, x > 0.8]))
    1.0
    >>> UDS(beta=10, order="exact").score(np.column_stack([x, x > 0.8]))
    1.0

    """

    takes_target: ClassVar[bool] = True

    beta: int = 20
    scale: Literal["range"] | None = "range"
    order: Literal["entropy", "exact"] = "entropy"
    regularize: bool = True

    def __post_init__(self) -> None:
        check_whole_number("beta", self.beta, 2, MAX_BINS)
        if self.scale not in ("range", None):
            raise errors.invalid_parameter("scale", "'range' or None", self.scale)
        if self.order not in ("entropy", "exact"):
            raise errors.invalid_parameter("order", "'entropy' or 'exact'", self.order)
        if not isinstance(self.regularize, (bool, np.bool_)):
            raise errors.invalid_parameter("regularize", "True or False", self.regularize)

    def needs(self) -> tuple[Need, ...]:
        return (Need(EqualFrequencyBins, (self.beta,)),)

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if target is None:
            return _score(self._best_chain(prepared, columns))
        builder = TargetChains(self, target)
        chain = builder.chain(prepared)
        for column in builder.ordered(prepared, np.array([columns], np.int32))[0].tolist():
            chain = builder.extend(chain, column)
        return chain.state.explained[-1]

    def make_scorer(self, prepared: Prepared, target: int | None) -> Scorer:
        if self.order == "entropy":
            builder: ChainBuilder = self if target is None else TargetChains(self, target)
            return PrefixScorer(builder, prepared)
        if target is not None:
            raise errors.invalid_parameter("order", "'entropy' if there is a target", self.order)
        return super().make_scorer(prepared, target)

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        return list(self._best_chain(prepared, columns).columns)

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
        target: int | None = None,
    ) -> Explanation:
        chain = self._best_chain(prepared, columns, on_progress)
        names = tuple(prepared.names[position] for position in chain.columns)
        return Explanation(_score(chain), names, _steps(chain), self.name, prepared.n_rows)

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

    def ordered(
        self, prepared: Prepared, sets: ColumnSets, context: tuple[int, ...] = ()
    ) -> ColumnSets:
        """Return each set by descending entropy.

        The contents of the columns, and of those in ``context``, order columns of equal entropy.
        """
        weights = self.weights(prepared)[sets]
        places = np.argsort(-weights, axis=1, kind="stable")
        ordered = np.take_along_axis(sets, places, axis=1)
        weights = np.take_along_axis(weights, places, axis=1)
        decreases = _is_less(weights[:, 1:], weights[:, :-1])
        tied = np.flatnonzero(~decreases.all(axis=1))
        if tied.size > 0:
            levels = np.zeros((tied.size, sets.shape[1]), np.uint64)
            levels[:, 1:] = np.cumsum(decreases[tied], axis=1)
            ties = ordered[tied]
            if self.scale is None:
                ordered[tied] = np.take_along_axis(ties, np.lexsort((ties, levels)), axis=1)
            else:
                ordered[tied] = order_by_content(prepared, ties, levels, context)
        return ordered

    def weights(self, prepared: Prepared, columns: Any = slice(None)) -> Floats:
        """Return the cumulative entropies of columns, in the units that ``scale`` implies."""
        weights: Floats = prepared.entropies[columns]
        if self.scale is None:
            return np.asarray(np.ldexp(weights, prepared.exponents[columns]))
        widths = prepared.widths[columns]
        return weights / np.where(widths > 0, widths, 1.0)

    def _best_of_all_orders(
        self, prepared: Prepared, columns: Sequence[int], on_progress: OnProgress | None
    ) -> Chain:
        """Return the best chain over all orders; orders with a common prefix share its steps.

        Constant columns without missing cells go last: they explain nothing. A constant column
        with missing cells may explain something.
        """
        varying = [c for c in columns if prepared.entropies[c] > 0 or prepared.has_missing(c)]
        if len(varying) > MAX_COLUMNS_EXACT:
            raise errors.too_many_orders(len(varying), MAX_COLUMNS_EXACT)
        constant = [column for column in columns if column not in varying]
        best: Chain | None = None
        n_orders = math.factorial(len(varying))
        chains = self._all_chains(prepared, varying or constant[:1])
        for tried, chain in enumerate(chains, start=1):
            if best is None or _score(chain) > _score(best):
                best = chain
            if on_progress is not None and tried % 50 == 0:
                on_progress(tried, n_orders)
        assert best is not None
        for column in constant if varying else constant[1:]:
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
        """Return the chain with one more column, explained by the columns in it: one step."""
        columns = (*chain.columns, column)
        if not chain.columns:
            return Chain(chain.prepared, chain.bins, columns)
        state = self.extend_many(chain, np.array([column])).state(0)
        return Chain(chain.prepared, chain.bins, columns, state, cubes_before=chain.cubes)

    def extend_many(self, chain: Chain, columns: Integers) -> Extensions:
        """Return one step from the chain to each of the columns."""
        condition = chain.columns[-1]
        log_cells = chain.cubes.log_cells + self.log_bins(chain.prepared, condition)
        explained, ends, parts = chain.steps(
            np.full_like(columns, condition), columns, np.full(columns.size, log_cells)
        )
        weights = self.weights(chain.prepared, columns)
        gains = chain.state.gain + explained * weights
        totals = chain.state.total + weights
        scores = _scores(gains, totals)
        return Extensions(chain.state, scores, explained, gains, totals, ends, parts)

    def chain(
        self, prepared: Prepared, columns: Columns = (), state: ChainState = EMPTY_STATE
    ) -> Chain:
        """Return an empty chain, or the chain that a state describes."""
        return Chain(prepared, prepared.derived(EqualFrequencyBins, self.beta), columns, state)

    def log_bins(self, prepared: Prepared, condition: int) -> float:
        """Return log beta of Eq. 5, for the bins that exist; missing cells are one bin."""
        if not self.regularize:
            return float(kernels.uds.step.UNREGULARIZED)
        bins = prepared.derived(EqualFrequencyBins, self.beta)
        n_bins = bins.counts[condition] + prepared.has_missing(condition)
        return math.log(max(n_bins, 1))


def _steps(chain: Chain) -> tuple[Step, ...]:
    """Return the steps of a chain in the user's terms."""
    prepared = chain.prepared
    names = [prepared.names[column] for column in chain.columns]
    steps = []
    by: list[str] = []
    for at, (ends, explained) in enumerate(
        zip(chain.state.ends, chain.state.explained, strict=True)
    ):
        condition, target = chain.columns[at : at + 2]
        if chain.is_cut(at):
            by.append(names[at])
        cuts = chain.bins.upper_values(prepared, condition, ends[:-1].tolist())
        step = Step(
            target=names[at + 1],
            given=tuple(names[: at + 1]),
            explained=explained,
            by=tuple(by),
            bins=chain.n_parts(at),
            cuts={names[at]: cuts},
            missing=int(prepared.n_rows - prepared.n_present[condition]),
            rows=int(prepared.n_present[target]),
        )
        steps.append(step)
    return tuple(steps)


def _is_less(weight: Any, other: Any) -> Any:
    """Return whether an entropy is smaller than another by more than rounding."""
    return weight < other * (1 - ENTROPY_TOLERANCE)


def _score(chain: Chain) -> float:
    return float(_scores(chain.state.gain, chain.state.total))


def _scores(gains: Any, totals: Any) -> Any:
    """Return Eq. 4: gains divided by entropies, with 0/0 = 0."""
    return np.minimum(gains / np.where(totals > 0, totals, 1.0), 1.0)
