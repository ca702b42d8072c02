"""Quadratic measure of dependency.

Nguyen, Müller, Böhm: 4S: Scalable Subspace Search Scheme Overcoming Traditional Apriori
Processing, IEEE BigData 2013, after Seth, Rao, Park, Príncipe: A Unified Framework for Quadratic
Measures of
Independence, IEEE Transactions on Signal Processing 59, 2011.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covary import kernels
from covary.measures.base import Measure, register
from covary.measures.rows import Floats, complete_rows, varying
from covary.measures.ties import one_by_content
from covary.prepare import Prepared

ROWS_AT_ONCE = 1024


@register("quadratic", "Quadratic measure of dependency, as used by 4S (2013)")
@dataclass(frozen=True)
class Quadratic(Measure):
    """Quadratic measure of dependency, as used by 4S (Nguyen et al. 2013), in [0, 1].

    The distance of the joint distribution function from the product of those of the columns, each
    mapped to [0, 1] by its range,

        D = integral over [0, 1]^d of (F(x_1 .. x_d) - F_1(x_1) ... F_d(x_d))^2,

    in closed form, by sums over all pairs of rows.

    Notes
    -----
    Small: two copies of a uniform column score 1/90, three 0.023; scores of sets of different size
    cannot be compared. It integrates over values, so that a few extreme ones make it blind to all
    the others. Turning one of three columns or more upside down changes the score. Time grows with
    the square of the rows, of which 100,000 are taken at most. Rows with a missing cell are left
    out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(Quadratic().score(np.column_stack([x, x])) * 90, 2)
    1.0

    """

    reading = "0 if independent; far below 1 always"
    most_rows = 100_000

    @property
    def of_itself(self) -> float:
        return math.nan

    @property
    def leaves_out_rows(self) -> bool:
        return True

    def make_ready(self, prepared: Prepared) -> None:
        _ = prepared.ranks

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        values = varying(complete_rows(prepared, one_by_content(prepared, columns)))
        n_columns, n = values.shape
        if n_columns < 2:
            return 0.0
        least, most = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
        # How far below the top: 1 - max(v, w) is the smaller of two such distances.
        tops = np.ascontiguousarray((most - values) / (most - least))
        products = float(np.prod(tops, axis=0).sum())
        for first in range(0, n, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, n)
            products += 2.0 * kernels.quadratic.sum_of_products(tops, first, last)
        means = np.array([_mean_of_smaller(line) for line in tops])
        together = products / n**2
        mixed = float(np.prod(means, axis=0).mean())
        apart = float(np.prod(means.mean(axis=1)))
        return float(max(together - 2.0 * mixed + apart, 0.0))


def _mean_of_smaller(line: Floats) -> Floats:
    """Return for each value the mean over all values of the smaller of the two."""
    order = np.argsort(line, kind="stable")
    ordered = line[order]
    n = line.size
    means = np.empty(n)
    means[order] = (np.cumsum(ordered) + ordered * np.arange(n - 1, -1, -1)) / n
    return means
