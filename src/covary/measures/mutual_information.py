"""Mutual information from nearest neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

from covary import errors
from covary.measures.base import register
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats, centred

# In standard deviations.
FAR_OFF = 1e4


@register("mutual-information", "Mutual information from nearest neighbours; pairs only")
@dataclass(frozen=True)
class MutualInformation(Pairwise):
    """Mutual information of two columns in nats, 0 or more, without upper bound.

        I(X; Y) = psi(k) + psi(n) - mean of psi(n_x + 1) + psi(n_y + 1),

    n_x and n_y being the numbers of rows that are nearer in one column than the k-th neighbour is
    in both; 0 if that is below 0. From scikit-learn (``mutual_info_regression``).

    Kraskov, Stögbauer, Grassberger: Estimating mutual information, Physical Review E 69, 2004.

    Parameters
    ----------
    neighbors : int
        Which neighbour's distance is taken, the k above.
    seed : int
        Of the little noise that tells equal values apart.
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    Nearly blind to weak dependence: the estimate is noisy, and half of all independent pairs score
    exactly 0. Rows that lack one of the two are left out.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> MutualInformation().score(np.column_stack([x, x + noise])) > 0.3
    True

    """

    reading = "nats; about 0 if independent"

    neighbors: int = 3
    seed: int = 0
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        errors.whole_number("neighbors", self.neighbors, 1)
        errors.whole_number("seed", self.seed, 0, 2**32 - 1)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, math.inf

    def of_pair(self, x: Floats, y: Floats) -> float:
        from sklearn.feature_selection import mutual_info_regression

        # The noise that tells equal values apart is as large as an offset: it must not be huge.
        x, y = (centred(v) if abs(v.mean()) > FAR_OFF * v.std() else v for v in (x, y))
        k = min(self.neighbors, x.size - 1)
        found = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=self.seed)
        return float(found[0])
