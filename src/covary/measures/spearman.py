"""Spearman's rank correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.measures.base import register
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats


@register("spearman", "Absolute value of Spearman's rank correlation; monotone, pairs only")
@dataclass(frozen=True)
class Spearman(Pairwise):
    """Absolute value of Spearman's rank correlation of two columns, in [0, 1].

    It is Pearson's correlation of the ranks, equal values having the mean of theirs.

    Spearman: The proof and measurement of association between two things, American Journal of
    Psychology 15, 1904.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    Blind to everything that does not rise or fall throughout. Rows that lack one of the two are
    left out.

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

    def of_pair(self, x: Floats, y: Floats) -> float:
        from scipy.stats import rankdata

        return min(abs(float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])), 1.0)
