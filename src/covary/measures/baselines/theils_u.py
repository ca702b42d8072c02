"""The measure `theils-u`: the uncertainty coefficient of two columns of levels."""

from __future__ import annotations

from dataclasses import dataclass

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.levels import (
    LevelPairwise,
    count_levels,
    entropy_of_counts,
    information_of_counts,
)
from covary.measures.shared.pairwise import Aggregate


@register("theils-u", "Theil's uncertainty coefficient of levels; pairs only")
@dataclass(frozen=True)
class TheilsU(LevelPairwise):
    """Theil's uncertainty coefficient of two columns of levels, in [0, 1].

    With the entropies H of the levels and their mutual information I = H(X) + H(Y) - H(X, Y),

        U(X, Y) = 2 I / (H(X) + H(Y)).

    With a target Y, it is the fraction of the target's entropy that the other column explains,

        U(Y | X) = I / H(Y).

    Theil: On the estimation of relationships involving qualitative variables, American Journal of
    Sociology 76, 1970.

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
    between two numbers. It is above 0 for independent columns, because I is about
    (r - 1) (c - 1) / (2 n) for r and c levels in n rows. A column with nearly as many levels as
    rows explains every other one. Rows in which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.arange(500) % 4
    >>> table = np.column_stack([group, group % 2])
    >>> TheilsU().score(table, ["x0"], target="x1")
    1.0
    >>> round(TheilsU().score(table, ["x1"], target="x0"), 6)
    0.5

    """

    reading = "above 0 by chance, 1 if they determine each other"

    bins: int = 10
    aggregate: Aggregate = None

    def score_pair(self, x: Floats, y: Floats) -> float:
        counts = count_levels(x, y)
        mean_entropy = (entropy_of_counts(counts.x) + entropy_of_counts(counts.y)) / 2.0
        return min(information_of_counts(counts) / mean_entropy, 1.0)

    def score_pair_with_target(self, x: Floats, target: Floats) -> float:
        counts = count_levels(x, target)
        return min(information_of_counts(counts) / entropy_of_counts(counts.y), 1.0)
