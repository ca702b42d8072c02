"""Multivariate maximal correlation.

Nguyen, Müller, Vreeken, Efros, Böhm: Multivariate Maximal Correlation Analysis, ICML 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary import errors, kernels
from covary.measures.base import Measure, register
from covary.measures.ties import one_by_content
from covary.prepare import MOST_BINS, Bins, Prepared

# Values closer than this are equal: rounding must not decide which column comes next.
_EQUAL = 1e-12
# What is left of one column by another is kept for so many pairs: 3 kB each with 20 bins.
_MOST_KEPT = 1 << 15


@register("mac", "Multivariate maximal correlation of Nguyen et al. (2014)")
@dataclass(frozen=True)
class MAC(Measure):
    """Multivariate maximal correlation of Nguyen et al. (2014), in [0, 1].

    Columns are cut into k_1 .. k_d bins, and

        MAC = max over cuts of (sum_i H(X_i) - H(X_1 .. X_d)) / (sum_i log k_i - max_i log k_i)

    with Shannon entropy H of the bins. Not all cuts are tried. The bins of a column are those that
    leave least of the cumulative entropy of other columns (dynamic programming over at most
    ``beta`` initial bins, for each number of bins), and the number of bins is the one with the
    highest value: for each pair of columns, bins that are best for each other; the pair with the
    highest value comes first. Then one column after the other is added, the one with the highest
    value, cut as is best for all columns before it.

    Parameters
    ----------
    beta : int
        The most initial bins per column, 2 to 254. Equal-frequency; equal values stay together.
    epsilon : float
        Two columns have at most n^(1 - epsilon) cells together, but 2 x 2 are always allowed.

    Notes
    -----
    Not 0 for independent columns: a maximum over cuts is above 0 by chance alone, the more so the
    fewer rows there are. Entropies of many columns together are blind: when nearly every row has a
    cell of its own, anything seems to depend on everything.

    Missing cells of a column are a bin of their own.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(MAC().score(np.column_stack([x, x**2])), 2)
    1.0

    """

    reading = "above 0 by chance, 1 if determined"

    beta: int = 20
    epsilon: float = 0.5

    def __post_init__(self) -> None:
        errors.whole_number("beta", self.beta, 2, MOST_BINS)
        errors.share("epsilon", self.epsilon)

    def make_ready(self, prepared: Prepared) -> None:
        _ = prepared.ranks, prepared.bins(self.beta)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        vary = [column for column in columns if prepared.varies[column]]
        if len(vary) < 2:
            return 0.0
        members = one_by_content(prepared, vary)
        limit = max(4.0, prepared.n_rows ** (1.0 - self.epsilon))
        cuts = _Cuts(prepared, prepared.bins(self.beta), limit)
        pairs = [cuts.of_pair(*pair) for pair in combinations(members, 2)]
        highest = max(pair.value for pair in pairs)
        # Of equals, the one with the fewest bins; of those, what the columns hold decides.
        equal = [pair for pair in pairs if pair.value >= highest - _EQUAL]
        best = min(equal, key=cuts.n_bins)
        return cuts.grow(best, [column for column in members if column not in best.ends])


class _Cut(NamedTuple):
    """The value of some columns, and by column the last initial bin of each part."""

    value: float
    ends: dict[int, npt.NDArray[np.uint8]]


@dataclass
class _Cuts:
    """Ways to cut columns that are best for other columns."""

    prepared: Prepared
    bins: Bins
    limit: float
    _kept: dict[tuple[int, int], npt.NDArray[np.float64]] = field(default_factory=dict)

    def of_pair(self, one: int, other: int) -> _Cut:
        """Return the cuts of two columns with the highest value."""
        value, *ends = kernels.symbols.best_for_each_other(
            *self._symbols(one),
            self.costs(one, other),
            *self._symbols(other),
            self.costs(other, one),
            self.limit,
        )
        return _Cut(float(value), dict(zip((one, other), ends, strict=True)))

    def n_bins(self, cut: _Cut) -> int:
        """Return how many bins columns are cut into, missing cells being one."""
        return sum(
            ends.size + self.prepared.has_missing(column) for column, ends in cut.ends.items()
        )

    def grow(self, start: _Cut, left: list[int]) -> float:
        """Return the value with all columns that are left, the best first."""
        n_bins = self.bins.counts
        costs = {column: np.zeros((n_bins[column], n_bins[column])) for column in left}
        cells: tuple[Any, int] = (np.empty(0, np.uint32), 1)
        information = logs = largest = 0.0
        added, value = start.ends, start.value
        while left:
            for column, ends in added.items():
                cells, entropy, k = self._refined(cells, column, ends)
                information += entropy
                logs += math.log(k)
                largest = max(largest, math.log(k))
                for other in left:
                    costs[other] += self.costs(other, column)
            most = int(self.limit / math.exp(largest) + _EQUAL)
            best = _Cut(-math.inf, {})
            for column in left:
                value, ends = kernels.symbols.best_extension(
                    *cells,
                    *self._symbols(column),
                    costs[column],
                    (information, logs, largest),
                    most - self.prepared.has_missing(column),
                )
                if value > best.value + _EQUAL:
                    best = _Cut(value, {column: ends})
            added, value = best.ends, best.value
            left = [column for column in left if column not in added]
        return min(max(value, 0.0), 1.0)

    def costs(self, column: int, target: int) -> npt.NDArray[np.float64]:
        """Return the share of a target that is left inside each interval of a column's bins."""
        if (column, target) in self._kept:
            return self._kept[column, target]
        prepared = self.prepared
        found: npt.NDArray[np.float64] = kernels.symbols.relative_costs(
            prepared.orders[target],
            prepared.values[target, : prepared.n_present[target]],
            prepared.entropies[target],
            self.bins.codes[column],
            self.bins.counts[column],
            kernels.tables.increments(prepared.n_rows),
        )
        if len(self._kept) < _MOST_KEPT:
            self._kept[column, target] = found
        return found

    def _symbols(self, column: int) -> tuple[Any, ...]:
        return (
            self.bins.codes[column],
            self.bins.counts[column],
            int(self.prepared.has_missing(column)),
        )

    def _refined(
        self, cells: tuple[Any, int], column: int, ends: npt.NDArray[np.uint8]
    ) -> tuple[tuple[Any, int], float, int]:
        """Return cells cut along one column more, n times its entropy, and its number of bins."""
        codes, n_bins, gaps = self._symbols(column)
        symbols = np.searchsorted(ends, np.arange(n_bins + 1)).astype(np.uint8)
        k = ends.size + gaps
        counts = np.bincount(symbols[codes], minlength=k)
        counts = counts[counts > 0]
        entropy = codes.size * math.log(codes.size) - float(np.sum(counts * np.log(counts)))
        return kernels.cubes.refine_cubes(*cells, codes, symbols, k), entropy, k
