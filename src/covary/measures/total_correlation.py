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
import numpy.typing as npt

from covary import errors, kernels
from covary.measures.base import Measure, register
from covary.measures.rows import complete_rows, varying
from covary.measures.ties import one_by_content
from covary.prepare import Prepared

MOST_BINS = 254


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
    Not 0 for independent columns with "bins": n times the score is by chance about half the
    number of cells, so that small tables and large sets score high. Scores of sets of different
    size cannot be compared. "knn" is blind to weak dependence among many columns.

    With "bins" missing cells are a bin of their own; with "knn" rows with a missing cell are left
    out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(TotalCorrelation().score(np.column_stack([x, x**2])) / math.log(5), 6)
    1.0

    """

    bounds = (-math.inf, math.inf)

    estimator: Literal["bins", "knn"] = "bins"
    bins: int = 5
    neighbors: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.estimator not in ("bins", "knn"):
            raise errors.invalid_parameter("estimator", "'bins' or 'knn'", self.estimator)
        if errors.whole_number("bins", self.bins, 2) > MOST_BINS:
            raise errors.invalid_parameter("bins", f"from 2 to {MOST_BINS}", self.bins)
        errors.whole_number("neighbors", self.neighbors, 1)
        errors.whole_number("seed", self.seed, 0)

    @property
    def leaves_out_rows(self) -> bool:
        return self.estimator == "knn"

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        if self.estimator == "bins":
            return self._from_bins(prepared, columns)
        values = varying(complete_rows(prepared, one_by_content(prepared, columns)))
        if len(values) < 2 or values.shape[1] < 3:
            return 0.0
        return _from_neighbors(values, self.neighbors, self.seed)

    def _from_bins(self, prepared: Prepared, columns: Sequence[int]) -> float:
        bins = prepared.bins(self.bins)
        alone = 0.0
        cells, n_cells = np.empty(0, np.uint32), 1
        for column in columns:
            codes, n_codes = bins.codes[column], int(bins.counts[column]) + 1
            alone += _entropy(np.bincount(codes), codes.size)
            every = np.arange(n_codes, dtype=np.uint8)
            cells, n_cells = kernels.cubes.refine_cubes(cells, n_cells, codes, every, n_codes)
        # Rows that are alone in their cell all carry the last number.
        counts = np.bincount(cells, minlength=n_cells + 1)
        joint = np.append(counts[:n_cells], np.ones(counts[n_cells], np.int64))
        return max(alone - _entropy(joint, prepared.n_rows), 0.0)


def _entropy(counts: npt.NDArray[np.int64], n: int) -> float:
    """Return the Shannon entropy of cells, from how many of ``n`` rows each holds."""
    counts = np.sort(counts[counts > 0])
    return math.log(n) - float(np.sum(counts * np.log(counts))) / n


def _from_neighbors(values: npt.NDArray[np.float64], neighbors: int, seed: int) -> float:
    """Return the total correlation of columns, one line each, from nearest neighbours."""
    from scipy.spatial import KDTree
    from scipy.special import digamma

    values = values / values.std(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    for line in values:
        if np.unique(line).size < line.size:
            line += 1e-10 * max(1.0, float(np.abs(line).mean())) * rng.standard_normal(line.size)
    n_columns, n = values.shape
    k = min(neighbors, n - 1)
    points = values.T
    reach = KDTree(points).query(points, k + 1, p=np.inf)[0][:, k]
    score = digamma(k) + (n_columns - 1) * digamma(n)
    for line in values:
        ordered = np.sort(line)
        # Strictly nearer than the neighbour; the point itself is counted, as psi(n + 1) asks for.
        inside = np.searchsorted(ordered, np.nextafter(line + reach, -np.inf), "right")
        inside -= np.searchsorted(ordered, np.nextafter(line - reach, np.inf), "left")
        score -= float(np.mean(digamma(np.maximum(inside, 1))))
    return float(score)
