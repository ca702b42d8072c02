"""The measure `cramers-v`: bias-corrected association of two columns of levels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.levels import LevelPairwise, count_levels
from covary.measures.shared.pairwise import Aggregate


@register("cramers-v", "Cramér's V of levels, corrected by Bergsma (2013); pairs only")
@dataclass(frozen=True)
class CramersV(LevelPairwise):
    """Cramér's V of two columns of levels, with the bias correction of Bergsma (2013), in [0, 1].

    With n_ij rows in cell ij of the r x c contingency table, n_i and n_j rows of its levels, and n
    rows in all,

        phi^2 = sum_ij n_ij^2 / (n_i n_j) - 1, the chi-squared statistic divided by n,
        V = sqrt(max(phi^2 - (r - 1) (c - 1) / (n - 1), 0) / (min(r', c') - 1)),

    where r' = r - (r - 1)^2 / (n - 1), and c' likewise. The subtracted term is the expectation of
    phi^2 under independence.

    Cramér: Mathematical Methods of Statistics, 1946. Bergsma: A bias-correction for Cramér's V and
    Tschuprow's T, Journal of the Korean Statistical Society 42, 2013.

    Parameters
    ----------
    bins : int
        The number of equal-frequency bins of a column with an order and more than 20 different
        values, 2 to 254; ties stay together.
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    Each level of a nominal column is a level, and each value of another column if there are at
    most 20 different ones. The order of the levels is ignored: it hardly detects a weak trend
    between two numbers. About half of all independent pairs score exactly 0. The score is exactly
    1 only if the columns determine each other. A column in which all levels differ scores 0. Rows
    in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.arange(500) % 4
    >>> CramersV().score(np.column_stack([group, (group + 1) % 4]))
    1.0
    >>> CramersV().score(np.column_stack([group, np.arange(500) % 5]))
    0.0

    """

    reading = "about 0 if independent, about 1 if one determines the other"

    bins: int = 10
    aggregate: Aggregate = None

    def score_pair(self, x: Floats, y: Floats) -> float:
        counts = count_levels(x, y)
        # Sorted, so that the numbering of the levels does not change the last digits.
        terms = np.sort(counts.cells**2 / (counts.x_of_cell * counts.y_of_cell))
        phi_squared = float(np.sum(terms)) - 1.0
        r, c, n = counts.x.size - 1, counts.y.size - 1, x.size - 1
        corrected = phi_squared - r * c / n
        largest = min(r - r**2 / n, c - c**2 / n)
        if corrected <= 0.0 or largest <= 0.0:
            return 0.0
        return min(math.sqrt(corrected / largest), 1.0)
