"""The measure `spearman`: absolute Spearman rank correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.pairwise import Aggregate, Pairwise


@register("spearman", "Absolute value of Spearman's rank correlation; pairs only")
@dataclass(frozen=True)
class Spearman(Pairwise):
    """Absolute value of Spearman's rank correlation of two columns, in [0, 1].

    It is the absolute value of Pearson's correlation of the mid-ranks.

    Spearman: The proof and measurement of association between two things, American Journal of
    Psychology 15, 1904.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It cannot detect relations without a monotone trend. Rows in which one of the two columns is
    missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> Spearman().score(np.column_stack([x, np.exp(-x)]))
    1.0
    >>> round(Spearman().score(np.column_stack([x, x**2])), 2)
    0.0

    """

    reading = "above 0 by chance, 1 if monotone"

    aggregate: Aggregate = None

    def score_pair(self, x: Floats, y: Floats) -> float:
        from scipy.stats import rankdata

        return min(abs(float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])), 1.0)
