"""The measure `phik`: the correlation of a normal distribution with the same chi-squared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.array_types import Booleans, Floats, Integers
from covary.measures.registry import register
from covary.measures.shared.levels import pool_rare_levels
from covary.measures.shared.packages import load_package
from covary.measures.shared.pairwise import Aggregate, Pairwise
from covary.prepare import Prepared
from covary.validation import check_whole_number

# More levels take too long: phik integrates over each cell of the contingency table.
MAX_LEVELS = 100


@register("phik", "Correlation phi_K of numbers and levels, Baak et al. (2020); pairs only")
@dataclass(frozen=True)
class PhiK(Pairwise):
    """Correlation coefficient phi_K of Baak et al. (2020) of two columns, in [0, 1].

    It is the correlation of the bivariate normal distribution whose contingency table, in bins of
    equal width in [-5, 5], has the chi-squared statistic of the two columns, after correction for
    chance. Numbers are cut into bins of equal width first. Computed by phik
    (``phik_from_hist2d``).

    Baak, Koopman, Snoek, Klous: A new correlation coefficient between categorical, ordinal and
    interval variables with Pearson characteristics, Computational Statistics and Data Analysis
    152, 2020.

    Parameters
    ----------
    bins : int
        The number of bins of a column that is not nominal, 2 to 100.
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It does not detect structure that is finer than the bins. If a few values are extreme, all
    others are in one bin. About half of all independent pairs of nominal columns score exactly 0.
    Independent numbers score higher, because their outer bins have few rows. A nominal column has
    at most 100 levels: the rarest of more levels share one. For two columns with two values each,
    phik applies the correction of Yates: two equal columns score slightly below 1. The score has
    an error of up to 0.00001. Rows in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> PhiK().score(np.column_stack([x, x]))
    1.0
    >>> round(PhiK().score(np.column_stack([x, x**2])), 1)
    0.9

    """

    reading = "above 0 by chance, 1 if one determines the other"
    takes_nominal = True

    bins: int = 10
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole_number("bins", self.bins, 2, MAX_LEVELS)

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        load_package(self.name, "phik.phik")

    def score_pair(self, x: Floats, y: Floats) -> float:
        return self.score_values(np.array([x, y]), np.array([False, False]), False)

    def score_values(self, values: Floats, nominal: Booleans, has_target: bool) -> float:
        x, y = (
            pool_rare_levels(line if is_nominal else self._cut(line), 0, MAX_LEVELS)
            for line, is_nominal in zip(values, nominal.tolist(), strict=True)
        )
        one, other = _in_order(x, y)
        shape = int(one.max()) + 1, int(other.max()) + 1
        counts = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1])
        phik = load_package(self.name, "phik.phik")
        return min(max(float(phik.phik_from_hist2d(counts.reshape(shape))), 0.0), 1.0)

    def _cut(self, line: Floats) -> Integers:
        """Return the bin of each row, as phik cuts numbers."""
        line = line - line.min()  # phik extends the first bin by a fraction of the minimum
        edges = load_package(self.name, "phik.binning").bin_edges(line, self.bins)
        return np.searchsorted(edges, line)


def _in_order(x: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return two columns of levels in an order that depends only on their contents.

    phik integrates along the first one first, which changes the last digits.
    """
    different = np.flatnonzero(x != y)
    first = int(different[0]) if different.size else 0
    return (x, y) if (x.max(), x[first]) <= (y.max(), y[first]) else (y, x)
