"""The measure `xi`: Chatterjee's correlation coefficient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.pairwise import Aggregate, Pairwise
from covary.validation import check_whole_number


@register("xi", "Chatterjee's xi (2021), the larger of both directions; pairs only")
@dataclass(frozen=True)
class Xi(Pairwise):
    """Chatterjee's xi (2021) of two columns, the larger of both directions, in [-1, 1].

    With the rows by ascending x, r_i the rank of y in row i and l_i = #{j: y_j >= y_i},

        xi(x, y) = 1 - n sum_i abs(r_{i+1} - r_i) / (2 sum_i l_i (n - l_i)).

    For many rows, it is 1 if y is a function of x. The score is max(xi(x, y), xi(y, x)), or
    xi(x, y) if y is a target. Computed by scipy.

    Chatterjee: A new coefficient of correlation, Journal of the American Statistical Association
    116, 2021.

    Parameters
    ----------
    seed : int
        Random seed for the order of rows with equal x.
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It hardly detects weak dependence or relations that are not functions, such as a circle. It is
    about 0 for independent columns, and often negative. If x has ties, scipy gets the rows in
    random order. Rows in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(Xi().score(np.column_stack([x, x**2])), 2)
    0.99

    """

    reading = "about 0 if independent, 1 if one is a function of the other"

    seed: int = 0
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole_number("seed", self.seed, 0)

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def score_pair(self, x: Floats, y: Floats) -> float:
        return max(self.score_pair_with_target(x, y), self.score_pair_with_target(y, x))

    def score_pair_with_target(self, x: Floats, target: Floats) -> float:
        from scipy.stats import chatterjeexi

        # scipy keeps the order of rows with equal x. The order of the table may carry information.
        rows = np.random.default_rng(self.seed).permutation(x.size)
        return float(chatterjeexi(x[rows], target[rows]).statistic)
