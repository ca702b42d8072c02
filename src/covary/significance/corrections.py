"""Corrections of p-values for multiple testing, and p-values of tests that stop early."""

from __future__ import annotations

import numpy as np

from covary.array_types import Booleans, Floats, Integers


def benjamini_hochberg(pvalues: Floats, ranks: Integers, total: int) -> Floats:
    """Return q-values: the smallest false discovery rate at which a hypothesis is rejected.

    Parameters
    ----------
    pvalues : of some of the hypotheses
    ranks : for each of them, the number of all hypotheses with a p-value at most as large
    total : the number of all hypotheses
    """
    rates = np.minimum(pvalues * total / np.maximum(ranks, 1), 1.0)
    order = np.argsort(pvalues, kind="stable")
    qvalues = np.empty(pvalues.size)
    qvalues[order] = np.minimum.accumulate(rates[order][::-1])[::-1]
    return qvalues


def insignificant_count(maximum: int, level: float) -> int:
    """Return the number of exceeding values, of ``maximum``, that makes p exceed the level.

    With this count, (1 + count) / (1 + maximum) is above the level.
    """
    return max(int(np.floor(level * (maximum + 1))), 1)


def besag_clifford(exceeding: Booleans, enough: int, maximum: int) -> float:
    """Return the p-value of a test that stops when ``enough`` values exceed the observed one.

    Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 1991.

    Parameters
    ----------
    exceeding : which values, in their order, are at least as large as the observed one
    maximum : the number of values after which the test stops in any case
    """
    reached = np.flatnonzero(np.cumsum(exceeding) == enough)
    if reached.size > 0:
        return enough / (int(reached[0]) + 1)
    return (1 + int(exceeding.sum())) / (1 + maximum)
