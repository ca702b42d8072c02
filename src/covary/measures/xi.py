"""Chatterjee's xi."""

from __future__ import annotations

from dataclasses import dataclass

from covary.measures.base import register
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats


@register("xi", "Chatterjee's xi (2021), the larger of both directions; pairs only")
@dataclass(frozen=True)
class Xi(Pairwise):
    """Chatterjee's xi (2021) of two columns, the larger of both directions, in [-1/2, 1].

    With the rows by ascending x, r_i the rank of y in row i and l_i = #{j: y_j >= y_i},

        xi(x, y) = 1 - n sum_i abs(r_{i+1} - r_i) / (2 sum_i l_i (n - l_i)),

    1 if y is a function of x; the score is max(xi(x, y), xi(y, x)), or with a target y only the
    first of the two. From scipy.

    Chatterjee: A new coefficient of correlation, Journal of the American Statistical Association
    116, 2021.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    About 0 for independent columns, and below it by chance in half of all cases. Nearly blind to
    weak dependence, and to a circle or any relation that is no function. Rows that are equal in
    one column are taken in their order. Rows that lack one of the two are left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(Xi().score(np.column_stack([x, x**2])), 2)
    0.99

    """

    aggregate: Aggregate = None

    @property
    def bounds(self) -> tuple[float, float]:
        return -0.5, 1.0

    def of_pair(self, x: Floats, y: Floats) -> float:
        return max(self.of_target(x, y), self.of_target(y, x))

    def of_target(self, x: Floats, target: Floats) -> float:
        from scipy.stats import chatterjeexi

        return float(chatterjeexi(x, target).statistic)
