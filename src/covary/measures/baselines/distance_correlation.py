"""The measure `distance-correlation`."""

from __future__ import annotations

from dataclasses import dataclass

from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.complete_rows import centred
from covary.measures.shared.packages import load_package
from covary.measures.shared.pairwise import Aggregate, Pairwise
from covary.prepare import Prepared


@register("distance-correlation", "Distance correlation of Székely et al. (2007); pairs only")
@dataclass(frozen=True)
class DistanceCorrelation(Pairwise):
    """Distance correlation of Székely, Rizzo and Bakirov (2007) of two columns, in [0, 1].

    With the distances of all pairs of rows in each column, double-centred to a_ij and b_ij,

        dCor^2 = sum a_ij b_ij / sqrt(sum a_ij^2 sum b_ij^2).

    Computed by dcor, in O(n log n).

    Székely, Rizzo, Bakirov: Measuring and testing dependence by correlation of distances, Annals
    of Statistics 35, 2007.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It hardly detects oscillating relations, such as a sine of many periods. It is above 0 for
    independent columns, and closer to 0 with more rows. Rows in which one of the two columns is
    missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(DistanceCorrelation().score(np.column_stack([x, x**2])), 2)
    0.49

    """

    reading = "above 0 by chance, 1 if linear"

    aggregate: Aggregate = None

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        load_package(self.name, "dcor")

    def score_pair(self, x: Floats, y: Floats) -> float:
        dcor = load_package(self.name, "dcor")
        return min(float(dcor.distance_correlation(centred(x), centred(y))), 1.0)
