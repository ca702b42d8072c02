"""The measure `quadratic`: the quadratic measure of dependency of 4S."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covary import kernels
from covary.array_types import Floats
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.complete_rows import complete_rows, varying_lines
from covary.measures.shared.content_order import order_one_by_content
from covary.prepare import Need, Prepared, Ranks

ROWS_PER_BLOCK = 1024


@register("quadratic", "Quadratic measure of dependency of 4S, Nguyen et al. (2013)")
@dataclass(frozen=True)
class Quadratic(Measure):
    """Quadratic measure of dependency, as used by 4S (Nguyen et al. 2013), in [0, 1].

    With every column mapped to [0, 1] by its range, it is the integrated squared difference
    between the joint distribution function and the product of the marginal ones,

        D = integral over [0, 1]^d of (F(x_1 .. x_d) - F_1(x_1) ... F_d(x_d))^2,

    computed in closed form from sums over all pairs of rows.

    Nguyen, Müller, Böhm: 4S: Scalable Subspace Search Scheme Overcoming Traditional Apriori
    Processing, IEEE BigData 2013, after Seth, Rao, Park, Príncipe: A Unified Framework for
    Quadratic Measures of Independence, IEEE Transactions on Signal Processing 59, 2011.

    Notes
    -----
    The integral is over values: if a few of them are extreme, it does not detect dependence of the
    others. Scores are small: two copies of a uniform column score 1/90, three score 0.023. Scores
    of sets of different sizes cannot be compared. In sets of three or more columns, negating a
    column changes the score. Time grows with the square of the number of rows, which is at most
    100,000. Rows with a missing cell are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(Quadratic().score(np.column_stack([x, x])) * 90, 2)
    1.0

    """

    reading = "near 0 if independent; always far below 1"
    max_rows = 100_000

    @property
    def self_score(self) -> float:
        return math.nan

    @property
    def drops_incomplete_rows(self) -> bool:
        return True

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks),)

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        values = varying_lines(complete_rows(prepared, order_one_by_content(prepared, columns)))
        n_columns, n = values.shape
        if n_columns < 2:
            return 0.0
        smallest, largest = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
        # Distances t from the maximum, because 1 - max(v, w) = min(t_v, t_w).
        distances = np.ascontiguousarray((largest - values) / (largest - smallest))
        products = float(np.prod(distances, axis=0).sum())
        for first in range(0, n, ROWS_PER_BLOCK):
            last = min(first + ROWS_PER_BLOCK, n)
            products += 2.0 * kernels.baselines.quadratic.sum_of_products(distances, first, last)
        means = np.array([_mean_minimum(line) for line in distances])
        joint = products / n**2
        mixed = float(np.prod(means, axis=0).mean())
        marginal = float(np.prod(means.mean(axis=1)))
        return float(max(joint - 2.0 * mixed + marginal, 0.0))


def _mean_minimum(line: Floats) -> Floats:
    """Return, for each value v, the mean of min(v, w) over all values w."""
    order = np.argsort(line, kind="stable")
    ordered = line[order]
    n = line.size
    means = np.empty(n)
    means[order] = (np.cumsum(ordered) + ordered * np.arange(n - 1, -1, -1)) / n
    return means
