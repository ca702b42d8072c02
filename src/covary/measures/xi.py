"""Chatterjee's xi."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary import errors
from covary.measures.base import register
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats


@register("xi", "Chatterjee's xi (2021), the larger of both directions; pairs only")
@dataclass(frozen=True)
class Xi(Pairwise):
    """Chatterjee's xi (2021) of two columns, the larger of both directions, in [-1, 1].

    With the rows by ascending x, r_i the rank of y in row i and l_i = #{j: y_j >= y_i},

        xi(x, y) = 1 - n sum_i abs(r_{i+1} - r_i) / (2 sum_i l_i (n - l_i)),

    1 if y is a function of x; the score is max(xi(x, y), xi(y, x)), or with a target y only the
    first of the two. From scipy.

    Chatterjee: A new coefficient of correlation, Journal of the American Statistical Association
    116, 2021.

    Parameters
    ----------
    seed : int
        Of the order in which rows of equal x are taken.
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    About 0 for independent columns, often below it. Nearly blind to
    weak dependence, and to a circle or any relation that is no function. Where x has
    ties it is what scipy gives for the rows in an order that is drawn. Rows that lack one of the
    two are left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(Xi().score(np.column_stack([x, x**2])), 2)
    0.99

    """

    reading = "about 0 if independent, 1 if a function"

    seed: int = 0
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        errors.whole_number("seed", self.seed, 0)

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def of_pair(self, x: Floats, y: Floats) -> float:
        return max(self.of_target(x, y), self.of_target(y, x))

    def of_target(self, x: Floats, target: Floats) -> float:
        from scipy.stats import chatterjeexi

        # scipy takes rows of equal x in their order, which must not mean anything.
        rows = np.random.default_rng(self.seed).permutation(x.size)
        return float(chatterjeexi(x[rows], target[rows]).statistic)
