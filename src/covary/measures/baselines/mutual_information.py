"""The measure `mutual-information`, estimated from nearest neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from covary.array_types import Booleans, Floats
from covary.measures.registry import register
from covary.measures.shared.complete_rows import centred
from covary.measures.shared.levels import count_levels, information_of_counts
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

    For a nominal column and a column of numbers X,

        I(X; Y) = psi(n) + mean of [psi(k) - psi(n_level) - psi(m)],

    where n_level is the number of rows of the same level, and m - 1 the number of other rows that
    are closer in X than the k-th nearest neighbour of that level. Computed by scikit-learn
    (``mutual_info_classif``). For two nominal columns, it is the mutual information of the
    frequencies of their levels. In a pair with a nominal column, a column with two different
    values counts as nominal.

    Kraskov, Stögbauer, Grassberger: Estimating mutual information, Physical Review E 69, 2004.
    Ross: Mutual information between discrete and continuous data sets, PLoS ONE 9, 2014.

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
    score exactly 0. Two independent nominal columns with r and c levels score about
    (r - 1) (c - 1) / (2 n) in n rows. A level with a single row is ignored in a pair with a column
    of numbers. Rows in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> MutualInformation().score(np.column_stack([x, x + noise])) > 0.3
    True

    """

    reading = "in nats; about 0 if independent"
    takes_nominal = True

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

        x, y = _without_offset(x), _without_offset(y)
        k = min(self.neighbors, x.size - 1)
        information = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=self.seed)
        return float(information[0])

    def score_values(self, values: Floats, nominal: Booleans, has_target: bool) -> float:
        if not nominal.any():
            return super().score_values(values, nominal, has_target)
        levels, other = values if nominal[0] else values[::-1]
        if nominal.all() or np.unique(other).size == 2:
            return information_of_counts(count_levels(levels, other))
        return self._of_levels(levels, other)

    def _of_levels(self, levels: Floats, numbers: Floats) -> float:
        """Return the mutual information of a nominal column and a column of numbers."""
        from sklearn.feature_selection import mutual_info_classif

        _, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
        if counts.max() == 1:
            return 0.0
        features = _without_offset(numbers)[:, None]
        information = mutual_info_classif(
            features, codes, n_neighbors=self.neighbors, random_state=self.seed
        )
        return float(information[0])


def _without_offset(values: Floats) -> Floats:
    """Return values whose mean is not huge: scikit-learn scales the noise for ties by the mean."""
    return centred(values) if abs(values.mean()) > MAX_OFFSET * values.std() else values
