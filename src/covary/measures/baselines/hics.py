"""The measure `hics`: the contrast of high contrast subspaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.array_types import Floats, Integers
from covary.measures.registry import register
from covary.measures.shared.random_slices import Draws, RandomSlices, SortedColumns


@register("hics", "Contrast of random slices (HiCS) of Keller, Müller and Böhm (2012)")
@dataclass(frozen=True)
class HiCS(RandomSlices):
    """Contrast of Keller, Müller and Böhm (2012), in [0, 1]: a Monte Carlo estimate.

    For each slice s, one column X_r is drawn as the reference. Of each other column, a block of
    n alpha^(1/d) consecutive sorted values is drawn. The slice consists of the rows in all blocks.
    The contrast is the mean deviation between the reference in the slice and in all rows,

        contrast = 1/M sum_{s=1..M} deviation(X_r, X_r | slice s).

    Keller, Müller, Böhm: HiCS: High Contrast Subspaces for Density-Based Outlier Ranking, ICDE
    2012.

    Parameters
    ----------
    slices : int
        The number of slices, M in the paper.
    alpha : float
        The fraction of rows in a slice if all d columns, including the reference, restricted it.
    test : "ks" or "welch"
        The deviation: the Kolmogorov-Smirnov statistic (largest difference of the distribution
        functions), or 1 - p of Welch's t-test.
    seed : int
        Random seed for the slices.

    Notes
    -----
    With "welch", it cannot detect dependence that leaves the mean of the reference unchanged. With
    both tests, it is above 0 for independent columns, because a slice of few rows deviates by
    chance. More columns make the blocks wider and the contrast lower: copies of a column score 0.5
    if there are two, and 0.05 if there are 50. Scores of sets of different sizes cannot be
    compared.

    Equal values at the end of a block are selected at random. A row with a missing cell is in no
    block of that column. Slices without rows are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.random(500), rng.random(500)
    >>> round(HiCS().score(np.column_stack([x, x**2])), 1)
    0.5
    >>> round(HiCS().score(np.column_stack([x, noise])), 1)
    0.1

    """

    reading = "above 0 by chance, about 0.5 if determined"

    slices: int = 50
    alpha: float = 0.1
    test: Literal["ks", "welch"] = "ks"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test not in ("ks", "welch"):
            raise errors.invalid_parameter("test", "'ks' or 'welch'", self.test)

    @property
    def self_score(self) -> float:
        return math.nan

    def mean_deviation(self, columns: SortedColumns, members: Integers, draws: Draws) -> float:
        share = self.alpha ** (1.0 / members.size)
        sizes = np.maximum(np.floor(share * columns[2][members]), 1).astype(np.int64)
        if self.test == "ks":
            deviations = kernels.baselines.random_slices.ks_distances(
                columns, members, sizes, *draws
            )
        else:
            moments = kernels.baselines.random_slices.moments(columns, members, sizes, *draws)
            deviations = _welch(*moments.T)
        defined = deviations[~np.isnan(deviations)]
        return float(defined.mean()) if defined.size else 0.0


def _welch(
    n: Floats, mean: Floats, squares: Floats, n_in: Floats, mean_in: Floats, squares_in: Floats
) -> Floats:
    """Return 1 - p of Welch's t-test between all rows and each slice; NaN for an empty slice."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        whole, inside = squares / (n * (n - 1.0)), squares_in / (n_in * (n_in - 1.0))
        variance = whole + inside
        share = whole / variance
        freedom = 1.0 / (share**2 / (n - 1.0) + (1.0 - share) ** 2 / (n_in - 1.0))
        confidence = 1.0 - 2.0 * stdtr(freedom, -np.abs(mean - mean_in) / np.sqrt(variance))
    confidence = np.where((n_in < 2) | ~(variance > 0), 0.0, confidence)
    return np.where(n_in > 0, confidence, np.nan)
