"""High contrast subspaces.

Keller, Müller, Böhm: HiCS: High Contrast Subspaces for Density-Based Outlier Ranking, ICDE 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.measures.base import register
from covary.measures.monte_carlo import ByValue, Draws, Floats, MonteCarlo, Numbers


@register("hics", "Contrast of random slices, Keller, Müller and Böhm (2012)")
@dataclass(frozen=True)
class HiCS(MonteCarlo):
    """Contrast of Keller, Müller and Böhm (2012), in [0, 1]: a Monte Carlo estimate.

    One column is drawn as the reference, and of each other column a block of n alpha^(1/d)
    neighbouring values. How much the reference inside all blocks differs from the reference as a
    whole is the deviation; the contrast is its mean,

        contrast = 1/M sum_{s=1..M} deviation(X_r, X_r | slice s).

    Parameters
    ----------
    slices : int
        How many slices are drawn, the M of the paper.
    alpha : float
        The share of rows that a slice would hold if all d columns took part in it.
    test : "ks" or "welch"
        The deviation: the largest difference of the distribution functions (Kolmogorov and
        Smirnov), or 1 - p of Welch's t-test.
    seed : int
        Of the draws.

    Notes
    -----
    Not 0 for independent columns: a slice of few rows deviates by chance. The more columns, the
    wider the blocks and the lower the contrast (copies of a column score 0.5 if they are two, 0.05
    if they are 50), so that sets of different size cannot be compared. With "welch" it is blind
    to whatever leaves the mean of the reference where it is.

    Which of several equal values belong to a block is drawn. Rows with a missing cell are in no
    block of that column; slices that hold no row are not counted.

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
    def of_itself(self) -> float:
        return math.nan

    def mean_deviation(self, columns: ByValue, members: Numbers, draws: Draws) -> float:
        share = self.alpha ** (1.0 / members.size)
        sizes = np.maximum(np.floor(share * columns[2][members]), 1).astype(np.int64)
        if self.test == "ks":
            deviations = kernels.slices.ks_distances(columns, members, sizes, *draws)
        else:
            deviations = _welch(*kernels.slices.moments(columns, members, sizes, *draws).T)
        counted = deviations[~np.isnan(deviations)]
        return float(counted.mean()) if counted.size else 0.0


def _welch(
    n: Floats, mean: Floats, squares: Floats, n_in: Floats, mean_in: Floats, squares_in: Floats
) -> Floats:
    """Return 1 - p of Welch's t-test between whole and slice; NaN if there is no slice."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        whole, inside = squares / (n * (n - 1.0)), squares_in / (n_in * (n_in - 1.0))
        spread = whole + inside
        share = whole / spread
        freedom = 1.0 / (share**2 / (n - 1.0) + (1.0 - share) ** 2 / (n_in - 1.0))
        surely = 1.0 - 2.0 * stdtr(freedom, -np.abs(mean - mean_in) / np.sqrt(spread))
    surely = np.where((n_in < 2) | ~(spread > 0), 0.0, surely)
    return np.where(n_in > 0, surely, np.nan)
