"""Total correlation.

Watanabe: Information theoretical analysis of multivariate correlation, IBM Journal of Research and
Development 4, 1960.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.measures.base import Measure, register
from covary.measures.rows import LEAST_ROWS, Floats, complete_rows, varying
from covary.measures.ties import one_by_content
from covary.prepare import MOST_BINS, Prepared


@register("total-correlation", "Total correlation of Watanabe (1960), by bins or neighbours")
@dataclass(frozen=True)
class TotalCorrelation(Measure):
    """Total correlation of Watanabe (1960) in nats, without upper bound.

    How much the entropies of the columns by themselves exceed their joint entropy,

        TC = sum_i H(X_i) - H(X_1 .. X_d),

    which for two columns is their mutual information.

    Parameters
    ----------
    estimator : "bins" or "knn"
        "bins" counts the cells of equal-frequency bins; 0 or more. "knn" takes the distances to
        the nearest neighbours (Kraskov, Stögbauer, Grassberger, Physical Review E 69, 2004, the
        first of their estimators), and may be below 0 by chance.
    bins : int
        The most bins per column, 2 to 254; equal values stay together.
    neighbors : int
        Which neighbour's distance is taken.
    seed : int
        Of the little noise that tells equal values apart for "knn".

    Notes
    -----
    Not 0 for independent columns with "bins": by chance, two columns of b bins score about
    (b - 1)^2 / (2 n), more columns far more, so that small tables and large sets score high.
    Scores of sets of different size cannot be compared. "knn" is blind to weak dependence among
    many columns.

    With "bins" missing cells are a bin of their own; with "knn" rows with a missing cell are left
    out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(TotalCorrelation().score(np.column_stack([x, x**2])) / math.log(5), 6)
    1.0

    """

    reading = "nats; above 0 by chance"

    estimator: Literal["bins", "knn"] = "bins"
    bins: int = 5
    neighbors: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.estimator not in ("bins", "knn"):
            raise errors.invalid_parameter("estimator", "'bins' or 'knn'", self.estimator)
        errors.whole_number("bins", self.bins, 2, MOST_BINS)
        errors.whole_number("neighbors", self.neighbors, 1)
        errors.whole_number("seed", self.seed, 0)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0 if self.estimator == "bins" else -math.inf, math.inf

    @property
    def leaves_out_rows(self) -> bool:
        return self.estimator == "knn"

    def make_ready(self, prepared: Prepared) -> None:
        _ = prepared.ranks, prepared.bins(self.bins)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        if self.estimator == "bins":
            alone = sum(self._entropy(prepared, [column]) for column in columns)
            return max(alone - self._entropy(prepared, columns), 0.0)
        values = varying(complete_rows(prepared, one_by_content(prepared, columns)))
        if len(values) < 2 or values.shape[1] < LEAST_ROWS:
            return 0.0
        return _from_neighbors(values, self.neighbors, self.seed)

    def score_target(self, prepared: Prepared, columns: Sequence[int], target: int) -> float:
        """Return the mutual information of the target and all the columns together."""
        if self.estimator == "bins":
            alone = self._entropy(prepared, columns) + self._entropy(prepared, [target])
            return max(alone - self._entropy(prepared, [*columns, target]), 0.0)
        values = complete_rows(prepared, [*one_by_content(prepared, columns), target])
        others, last = varying(values[:-1]), varying(values[-1:])
        if min(len(others), len(last)) == 0 or values.shape[1] < LEAST_ROWS:
            return 0.0
        return _from_neighbors(np.vstack([others, last]), self.neighbors, self.seed, target=True)

    def _entropy(self, prepared: Prepared, columns: Sequence[int]) -> float:
        """Return the joint entropy of the bins of columns."""
        bins = prepared.bins(self.bins)
        cells, n_cells = np.empty(0, np.uint32), 1
        for column in columns:
            codes, n_codes = bins.codes[column], int(bins.counts[column]) + 1
            every = np.arange(n_codes, dtype=np.uint8)
            cells, n_cells = kernels.cubes.refine_cubes(cells, n_cells, codes, every, n_codes)
        # Rows that are alone in their cell carry the last number: they add nothing to the sum.
        counts = np.sort(np.bincount(cells, minlength=n_cells)[:n_cells])
        n = prepared.n_rows
        return math.log(n) - float(np.sum(counts * np.log(counts))) / n


def _from_neighbors(values: Floats, neighbors: int, seed: int, target: bool = False) -> float:
    """Return the total correlation of columns, one line each, from nearest neighbours.

    If the last of them is a ``target``, that of the target and all others together.
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
    farthest = KDTree(points).query(points, k + 1, p=np.inf)[0][:, k]
    nearer = np.nextafter(farthest, 0.0)
    parts = (
        [slice(0, -1), slice(-1, None)] if target else [slice(c, c + 1) for c in range(n_columns)]
    )
    score = digamma(k) + (len(parts) - 1) * digamma(n)
    for part in parts:
        side = points[:, part]
        # The point itself is counted, as psi(n + 1) asks for.
        inside = KDTree(side).query_ball_point(side, nearer, p=np.inf, return_length=True)
        score -= float(np.mean(digamma(inside)))
    return float(score)
