"""The measure `pearson`: absolute Pearson correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.pairwise import Aggregate, Pairwise


@register("pearson", "Absolute value of Pearson's correlation; pairs only")
@dataclass(frozen=True)
class Pearson(Pairwise):
    """Absolute value of Pearson's correlation of two columns, in [0, 1].

        abs(r), r = sum (x - mean x) (y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)

    Pearson: Note on regression and inheritance in the case of two parents, Proceedings of the
    Royal Society of London 58, 1895.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It cannot detect relations without a linear trend. A few extreme values can dominate it. Rows
    in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> Pearson().score(np.column_stack([x, 3 - 2 * x]))
    1.0
    >>> round(Pearson().score(np.column_stack([x, x**2])), 12)
    0.0

    """

    reading = "above 0 by chance, 1 if linear"

    aggregate: Aggregate = None

    def score_pair(self, x: Floats, y: Floats) -> float:
        return min(abs(float(np.corrcoef(x, y)[0, 1])), 1.0)
