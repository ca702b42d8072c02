"""The measure `mutual-information`, estimated from nearest neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.complete_rows import centred
from covary.measures.shared.pairwise import Aggregate, Pairwise
from covary.validation import check_whole_number

# A mean that is larger, in standard deviations, is subtracted first.
MAX_OFFSET = 1e4


@register("mutual-information", "Mutual information from nearest neighbours; pairs only")
@dataclass(frozen=True)
class MutualInformation(Pairwise):
    """Mutual information of two columns in nats, at least 0, without upper bound.

        I(X; Y) = psi(k) + psi(n) - mean of [psi(n_x + 1) + psi(n_y + 1)],

    where psi is the digamma function. For each row, n_x and n_y are the numbers of other rows that
    are closer in X, and in Y, than the k-th nearest neighbour in the maximum of both distances.
    Negative estimates are set to 0. Computed by scikit-learn (``mutual_info_regression``).

    Kraskov, Stögbauer, Grassberger: Estimating mutual information, Physical Review E 69, 2004.

    Parameters
    ----------
    neighbors : int
        The number k of nearest neighbours.
    seed : int
        Random seed for the small noise that separates equal values.
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It hardly detects weak dependence: the estimate is noisy, and half of all independent pairs
    score exactly 0. Rows in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> MutualInformation().score(np.column_stack([x, x + noise])) > 0.3
    True

    """

    reading = "in nats; about 0 if independent"

    neighbors: int = 3
    seed: int = 0
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole_number("neighbors", self.neighbors, 1)
        check_whole_number("seed", self.seed, 0, 2**32 - 1)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, math.inf

    def score_pair(self, x: Floats, y: Floats) -> float:
        from sklearn.feature_selection import mutual_info_regression

        # scikit-learn scales the noise for equal values by the mean, so the mean must not be huge.
        x, y = (centred(v) if abs(v.mean()) > MAX_OFFSET * v.std() else v for v in (x, y))
        k = min(self.neighbors, x.size - 1)
        information = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=self.seed)
        return float(information[0])
