"""Distance correlation."""

from __future__ import annotations

from dataclasses import dataclass

from covary.measures.base import register
from covary.measures.packages import load
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats, centred
from covary.prepare import Prepared


@register("distance-correlation", "Distance correlation of Székely et al. (2007); pairs only")
@dataclass(frozen=True)
class DistanceCorrelation(Pairwise):
    """Distance correlation of Székely, Rizzo and Bakirov (2007) of two columns, in [0, 1].

    With the distances of all pairs of rows in each column, less the means of rows and columns,
    a_ij and b_ij,

        dCor^2 = sum a_ij b_ij / sqrt(sum a_ij^2 sum b_ij^2).

    From dcor, in time n log n.

    Székely, Rizzo, Bakirov: Measuring and testing dependence by correlation of distances, Annals
    of Statistics 35, 2007.

    Parameters
    ----------
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    Not 0 for independent columns, but the nearer the more rows there are. Nearly blind to
    relations that turn often, such as a sine of many periods. Rows that lack one of the two are
    left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(DistanceCorrelation().score(np.column_stack([x, x**2])), 2)
    0.49

    """

    reading = "above 0 by chance, 1 on a straight line"

    aggregate: Aggregate = None

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        load(self.name, "dcor")

    def of_pair(self, x: Floats, y: Floats) -> float:
        dcor = load(self.name, "dcor")
        return min(float(dcor.distance_correlation(centred(x), centred(y))), 1.0)
