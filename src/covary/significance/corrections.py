"""What a p-value is worth after a search: false discovery rate and family-wise error."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def benjamini_hochberg(pvalues: Floats, ranks: Counts, total: int) -> Floats:
    """Return q-values: the least false discovery rate at which each hypothesis is rejected.

    Parameters
    ----------
    pvalues, ranks : of some of the hypotheses: the p-value, and how many of all hypotheses have
        one that is as low
    total : how many hypotheses there are in all

    """
    shares = np.minimum(pvalues * total / np.maximum(ranks, 1), 1.0)
    order = np.argsort(pvalues, kind="stable")
    qvalues = np.empty(pvalues.size)
    qvalues[order] = np.minimum.accumulate(shares[order][::-1])[::-1]
    return qvalues


def enough_of(most: int, level: float) -> int:
    """Return how many of ``most`` values, being as high as what was observed, put it out of reach.

    With so many, (1 + count) / (1 + most) is above the level.
    """
    return max(int(np.floor(level * (most + 1))), 1)


def besag_clifford(exceeded: npt.NDArray[np.bool_], enough: int, most: int) -> float:
    """Return the p-value of a test that stops as soon as ``enough`` values are as high.

    Sequential Monte Carlo p-values, Biometrika 1991: valid whenever it stops.

    Parameters
    ----------
    exceeded : which of the values, in their order, are at least as high as what was observed
    most : after how many it stops in any case

    """
    reached = np.flatnonzero(np.cumsum(exceeded) == enough)
    if reached.size > 0:
        return enough / (int(reached[0]) + 1)
    return (1 + int(exceeded.sum())) / (1 + most)
