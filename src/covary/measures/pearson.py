"""Pearson's correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.measures.base import register
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats


@register("pearson", "Absolute value of Pearson's correlation; straight lines, pairs only")
@dataclass(frozen=True)
class Pearson(Pairwise):
    """Absolute value of Pearson's correlation of two columns, in [0, 1].

        abs(r), r = sum (x - mean x) (y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)

    Pearson: Note on regression and inheritance in the case of two parents, Proceedings of the
    Royal Society of London 58, 1895.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    Blind to everything but straight lines, and a few extreme values may decide it. Rows that lack
    one of the two are left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> Pearson().score(np.column_stack([x, 3 - 2 * x]))
    1.0
    >>> round(Pearson().score(np.column_stack([x, x**2])), 12)
    0.0

    """

    reading = "above 0 by chance, 1 on a straight line"

    aggregate: Aggregate = None

    def of_pair(self, x: Floats, y: Floats) -> float:
        return min(abs(float(np.corrcoef(x, y)[0, 1])), 1.0)
