"""The measure `mac`: multivariate maximal correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Codes, Floats
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.bins import MAX_BINS, EqualFrequencyBins
from covary.measures.shared.content_order import order_one_by_content
from covary.prepare import Need, Prepared, Ranks
from covary.validation import check_fraction, check_whole_number

# Values closer than this count as equal, so that rounding does not decide the order of columns.
TOLERANCE = 1e-12
# The costs of this many pairs of columns are cached: 3 kB each with 20 bins.
MAX_CACHED = 1 << 15


@register("mac", "Multivariate maximal correlation of Nguyen et al. (2014)")
@dataclass(frozen=True)
class MAC(Measure):
    """Multivariate maximal correlation of Nguyen et al. (2014), in [0, 1].

    Columns are cut into k_1 .. k_d bins, and

        MAC = max over cuts of (sum_i H(X_i) - H(X_1 .. X_d)) / (sum_i log k_i - max_i log k_i)

    with Shannon entropy H of the bins. The maximum is greedy, as in the paper:

    1. For each pair of columns and each number of bins, dynamic programming over at most ``beta``
       initial bins finds the cuts of each column that minimise the cumulative entropy of the other
       one. The numbers of bins with the largest value are selected.
    2. The pair with the largest value is the start.
    3. The column with the largest value is added, cut optimally for all columns before it. This is
       repeated for all other columns.

    Nguyen, Müller, Vreeken, Efros, Böhm: Multivariate Maximal Correlation Analysis, ICML 2014.

    Parameters
    ----------
    beta : int
        The maximum number of initial bins per column, 2 to 254. Bins have equal frequencies; ties
        stay together.
    epsilon : float
        A grid over two columns has at most n^(1 - epsilon) cells, or 2 x 2 if that is larger.

    Notes
    -----
    It is above 0 for independent columns, because it is a maximum over cuts; more so with fewer
    rows. In sets of many columns, it cannot detect which columns depend on each other: nearly
    every row has a cell of its own, and every set scores high.

    The missing cells of a column are a bin of their own.

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
        check_whole_number("beta", self.beta, 2, MAX_BINS)
        check_fraction("epsilon", self.epsilon)

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks), Need(EqualFrequencyBins, (self.beta,)))

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        varying = prepared.varying(columns)
        if len(varying) < 2:
            return 0.0
        members = order_one_by_content(prepared, varying)
        max_cells = max(4.0, prepared.n_rows ** (1.0 - self.epsilon))
        search = _CutSearch(prepared, prepared.derived(EqualFrequencyBins, self.beta), max_cells)
        pairs = [search.cut_pair(*pair) for pair in combinations(members, 2)]
        highest = max(pair.value for pair in pairs)
        # The fewest bins decide between equal values, then the content of the columns.
        equal = [pair for pair in pairs if pair.value >= highest - TOLERANCE]
        best = min(equal, key=search.n_bins)
        return search.extend(best, [column for column in members if column not in best.ends])


class _Cut(NamedTuple):
    """The value of some columns; by column, the last initial bin of each part."""

    value: float
    ends: dict[int, Codes]


@dataclass
class _CutSearch:
    """Finds cuts of columns that are optimal for other columns.

    Parameters
    ----------
    max_cells : the largest number of cells of a grid over two columns
    """

    prepared: Prepared
    bins: EqualFrequencyBins
    max_cells: float
    _cached: dict[tuple[int, int], Floats] = field(default_factory=dict)

    def cut_pair(self, one: int, other: int) -> _Cut:
        """Return the cuts of two columns with the largest value."""
        value, *ends = kernels.baselines.mac_bins.best_for_each_other(
            *self._bins_of(one),
            self.costs(one, other),
            *self._bins_of(other),
            self.costs(other, one),
            self.max_cells,
        )
        return _Cut(float(value), dict(zip((one, other), ends, strict=True)))

    def n_bins(self, cut: _Cut) -> int:
        """Return the total number of bins; the missing cells of a column are one."""
        return sum(
            ends.size + self.prepared.has_missing(column) for column, ends in cut.ends.items()
        )

    def extend(self, start: _Cut, rest: list[int]) -> float:
        """Return the value after adding the rest of the columns, the best column first."""
        n_bins = self.bins.counts
        costs = {column: np.zeros((n_bins[column], n_bins[column])) for column in rest}
        cells: tuple[Any, int] = (np.empty(0, np.uint32), 1)
        information = logs = largest = 0.0
        added, value = start.ends, start.value
        while rest:
            for column, ends in added.items():
                cells, entropy, k = self._refined(cells, column, ends)
                information += entropy
                logs += math.log(k)
                largest = max(largest, math.log(k))
                for other in rest:
                    costs[other] += self.costs(other, column)
            max_parts = int(self.max_cells / math.exp(largest) + TOLERANCE)
            best = _Cut(-math.inf, {})
            for column in rest:
                value, ends = kernels.baselines.mac_bins.best_extension(
                    *cells,
                    *self._bins_of(column),
                    costs[column],
                    (information, logs, largest),
                    max_parts - self.prepared.has_missing(column),
                )
                if value > best.value + TOLERANCE:
                    best = _Cut(value, {column: ends})
            added, value = best.ends, best.value
            rest = [column for column in rest if column not in added]
        return min(max(value, 0.0), 1.0)

    def costs(self, column: int, target: int) -> Floats:
        """Return the fraction of a target's entropy that remains in each interval of bins."""
        if (column, target) in self._cached:
            return self._cached[column, target]
        prepared = self.prepared
        costs: Floats = kernels.baselines.mac_bins.relative_costs(
            prepared.orders[target],
            prepared.values[target, : prepared.n_present[target]],
            prepared.entropies[target],
            self.bins.codes[column],
            self.bins.counts[column],
            kernels.shared.entropy_tables.increments(prepared.n_rows),
        )
        if len(self._cached) < MAX_CACHED:
            self._cached[column, target] = costs
        return costs

    def _bins_of(self, column: int) -> tuple[Any, ...]:
        return (
            self.bins.codes[column],
            self.bins.counts[column],
            int(self.prepared.has_missing(column)),
        )

    def _refined(
        self, cells: tuple[Any, int], column: int, ends: Codes
    ) -> tuple[tuple[Any, int], float, int]:
        """Return the cells cut along one more column, n times its entropy, and its bins."""
        codes, n_bins, has_missing = self._bins_of(column)
        symbols = np.searchsorted(ends, np.arange(n_bins + 1)).astype(np.uint8)
        k = ends.size + has_missing
        counts = np.bincount(symbols[codes], minlength=k)
        counts = counts[counts > 0]
        entropy = codes.size * math.log(codes.size) - float(np.sum(counts * np.log(counts)))
        return kernels.shared.cubes.refine_cubes(*cells, codes, symbols, k), entropy, k
