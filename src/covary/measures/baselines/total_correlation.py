"""The measure `total-correlation`, from bins or nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.array_types import Floats, Rows
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.bins import MAX_BINS, EqualFrequencyBins
from covary.measures.shared.complete_rows import MIN_COMPLETE_ROWS, complete_rows, varying_lines
from covary.measures.shared.content_order import order_one_by_content
from covary.measures.shared.levels import pool_rare_levels
from covary.prepare import Need, Prepared, Ranks
from covary.validation import check_whole_number

# A level of a nominal column has a bin of its own if it has this many rows, or this share of them.
MIN_ROWS_PER_LEVEL = 5
MIN_SHARE_PER_LEVEL = 0.05


@register("total-correlation", "Total correlation of Watanabe (1960), from bins or neighbours")
@dataclass(frozen=True)
class TotalCorrelation(Measure):
    """Total correlation of Watanabe (1960) in nats, without upper bound.

    It is the difference between the sum of the entropies of the columns and their joint entropy,

        TC = sum_i H(X_i) - H(X_1 .. X_d).

    For two columns it is their mutual information.

    Watanabe: Information theoretical analysis of multivariate correlation, IBM Journal of Research
    and Development 4, 1960.

    Parameters
    ----------
    estimator : "bins" or "knn"
        "bins" computes the entropies of equal-frequency bins; the score is at least 0. "knn" uses
        the distances to the nearest neighbours (Kraskov, Stögbauer, Grassberger, Physical Review E
        69, 2004, their first estimator); the score may be negative by chance.
    bins : int
        The maximum number of bins per column, 2 to 254; ties stay together. Does not apply to
        nominal columns.
    neighbors : int
        The number of nearest neighbours for "knn".
    seed : int
        Random seed for the small noise that separates equal values for "knn".

    Notes
    -----
    With b bins, two independent columns score about (b - 1)^2 / (2 n), and more columns far more.
    Small tables and large sets therefore score high. With "knn", it does not detect weak
    dependence among many columns. Scores of sets of different sizes cannot be compared.

    With "bins", each level of a nominal column is a bin. Levels with fewer than 5 rows, which are
    also less than 5 % of the rows, share one bin: otherwise a column with nearly as many levels as
    rows would seem to determine all others. Two independent columns with a and b bins score about
    (a - 1) (b - 1) / (2 n). With "knn", nominal columns cannot be used.

    With "bins", the missing cells of a column are a bin of their own. With "knn", rows with a
    missing cell are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(TotalCorrelation().score(np.column_stack([x, x**2])) / math.log(5), 6)
    1.0

    """

    reading = "in nats; above 0 by chance"
    takes_target = True

    estimator: Literal["bins", "knn"] = "bins"
    bins: int = 5
    neighbors: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.estimator not in ("bins", "knn"):
            raise errors.invalid_parameter("estimator", "'bins' or 'knn'", self.estimator)
        check_whole_number("bins", self.bins, 2, MAX_BINS)
        check_whole_number("neighbors", self.neighbors, 1)
        check_whole_number("seed", self.seed, 0)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0 if self.estimator == "bins" else -math.inf, math.inf

    @property
    def drops_incomplete_rows(self) -> bool:
        return self.estimator == "knn"

    # A class attribute of other measures; here it depends on the estimator.
    @property
    def takes_nominal(self) -> bool:  # type: ignore[override]
        return self.estimator == "bins"

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks), Need(EqualFrequencyBins, (self.bins,)))

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if target is not None:
            return self._mutual_information(prepared, columns, target)
        if self.estimator == "bins":
            marginal = sum(self._entropy(prepared, [column]) for column in columns)
            return max(marginal - self._entropy(prepared, columns), 0.0)
        values = varying_lines(complete_rows(prepared, order_one_by_content(prepared, columns)))
        if len(values) < 2 or values.shape[1] < MIN_COMPLETE_ROWS:
            return 0.0
        return _from_neighbors(values, self.neighbors, self.seed)

    def _mutual_information(
        self, prepared: Prepared, columns: Sequence[int], target: int
    ) -> float:
        """Return the mutual information of the target and the joint other columns."""
        if self.estimator == "bins":
            separate = self._entropy(prepared, columns) + self._entropy(prepared, [target])
            return max(separate - self._entropy(prepared, [*columns, target]), 0.0)
        values = complete_rows(prepared, [*order_one_by_content(prepared, columns), target])
        others, last = varying_lines(values[:-1]), varying_lines(values[-1:])
        if min(len(others), len(last)) == 0 or values.shape[1] < MIN_COMPLETE_ROWS:
            return 0.0
        return _from_neighbors(np.vstack([others, last]), self.neighbors, self.seed, target=True)

    def _entropy(self, prepared: Prepared, columns: Sequence[int]) -> float:
        """Return the joint entropy of the bins of these columns, in nats."""
        bins = prepared.derived(EqualFrequencyBins, self.bins)
        cells, n_cells = _cells_of_levels(prepared, [c for c in columns if prepared.nominal[c]])
        for column in columns:
            if prepared.nominal[column]:
                continue
            codes, n_codes = bins.codes[column], int(bins.counts[column]) + 1
            bin_of_code = np.arange(n_codes, dtype=np.uint8)
            cells, n_cells = kernels.shared.cubes.refine_cubes(
                cells, n_cells, codes, bin_of_code, n_codes
            )
        # Rows that are alone in their cell have the number n_cells; they add 1 log 1 = 0.
        counts = np.sort(np.bincount(cells, minlength=n_cells)[:n_cells])
        n = prepared.n_rows
        return math.log(n) - float(np.sum(counts * np.log(counts))) / n


def _cells_of_levels(prepared: Prepared, columns: Sequence[int]) -> tuple[Rows, int]:
    """Return the joint cell of each row in nominal columns, and the number of cells.

    Without columns, the cells are an empty array: one cell holds all rows.
    """
    ranks = prepared.derived(Ranks).by_row
    cells, n_cells = np.empty(0, np.int64), 1
    for column in columns:
        n_present = int(prepared.n_present[column])
        present = prepared.orders[column, :n_present]
        min_rows = min(MIN_ROWS_PER_LEVEL, MIN_SHARE_PER_LEVEL * n_present)
        levels = np.zeros(prepared.n_rows, np.int64)
        levels[present] = 1 + pool_rare_levels(ranks[column, present], min_rows)
        if cells.size:
            levels += cells * (int(levels.max()) + 1)
        distinct, cells = np.unique(levels, return_inverse=True)
        n_cells = distinct.size
    return cells.astype(np.uint32), n_cells


def _from_neighbors(values: Floats, neighbors: int, seed: int, target: bool = False) -> float:
    """Return the total correlation of columns, one line each, from nearest neighbours.

    If the last column is a target, return its mutual information with the joint other columns.
    """
    from scipy.spatial import KDTree
    from scipy.special import digamma

    values = values - values.mean(axis=1, keepdims=True)
    values /= values.std(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    for line in values:
        if np.unique(line).size < line.size:
            line += 1e-10 * rng.standard_normal(line.size)
    points = np.ascontiguousarray(values.T)
    n, n_columns = points.shape
    k = min(neighbors, n - 1)
    distances = KDTree(points).query(points, k + 1, p=np.inf)[0][:, k]
    # Only closer points count; `query_ball_point` includes points at the radius.
    radii = np.nextafter(distances, 0.0)
    parts = (
        [slice(0, -1), slice(-1, None)] if target else [slice(c, c + 1) for c in range(n_columns)]
    )
    score = digamma(k) + (len(parts) - 1) * digamma(n)
    for part in parts:
        projected = points[:, part]
        # The counts include the point itself: the formula has psi(count of others + 1).
        counts = KDTree(projected).query_ball_point(projected, radii, p=np.inf, return_length=True)
        score -= float(np.mean(digamma(counts)))
    return float(score)
