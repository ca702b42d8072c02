"""Hilbert-Schmidt independence criterion of any number of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from covary import errors
from covary.measures.bandwidths import MOST_ROWS, by_median, warn_of_units
from covary.measures.base import Measure, register
from covary.measures.packages import load
from covary.measures.rows import LEAST_ROWS, centred, complete_rows, rows_in_units, varying
from covary.prepare import Prepared

# The kernels of all columns are kept at a time: together they have at most so many entries, 4 GB.
MOST_CELLS = 500_000_000


@register("dhsic", "HSIC of any number of columns, Pfister et al. (2018)")
@dataclass(frozen=True)
class DHSIC(Measure):
    """Hilbert-Schmidt independence criterion of d columns (Pfister et al. 2018), in [0, 1].

    With Gaussian kernels k^1 .. k^d of all pairs of rows, it is how far the embedding of the joint
    distribution is from that of independent columns,

        dHSIC = 1/n^2 sum_ij prod_c k^c_ij + prod_c 1/n^2 sum_ij k^c_ij
                - 2/n sum_i prod_c 1/n sum_j k^c_ij.

    From hyppo (``dHsic().statistic``).

    Pfister, Bühlmann, Schölkopf, Peters: Kernel-based tests for joint independence, Journal of the
    Royal Statistical Society B 80, 2018.

    Parameters
    ----------
    scale : "median" or None
        hyppo takes the median distance of the first column as the width of all kernels: None
        leaves it at that, so that the score depends on units, and on which column comes first.
        "median" divides each column by its own median distance first, as Pfister et al. do (by
        its standard deviation if that is 0).

    Notes
    -----
    Small, and the smaller the more columns there are: scores of sets of different size cannot be
    compared. Not 0 for independent columns. Blind to what is finer than the kernels are wide.
    Memory and time grow with the square of the rows, of which 5,000 are taken at most. Rows with a
    missing cell are left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)
    >>> 0.05 < DHSIC().score(np.column_stack([x, x, x])) < 0.2
    True

    """

    reading = "near 0 if independent; far below 1 always"

    scale: Literal["median"] | None = None

    def __post_init__(self) -> None:
        if self.scale not in ("median", None):
            raise errors.invalid_parameter("scale", "'median' or None", self.scale)

    @property
    def of_itself(self) -> float:
        return math.nan

    @property
    def leaves_out_rows(self) -> bool:
        return True

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        most = min(MOST_ROWS, math.isqrt(MOST_CELLS // size))
        if prepared.n_rows > most:
            raise errors.too_many_rows(self.name, prepared.n_rows, most)
        load(self.name, "hyppo.d_variate")
        if self.scale is None:
            warn_of_units(self.name, prepared, "median")

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        if self.scale is None:
            values, _ = rows_in_units(prepared, columns)
        else:
            values = complete_rows(prepared, columns)
        values = varying(values)
        if len(values) < 2 or values.shape[1] < LEAST_ROWS:
            return 0.0
        lines = [centred(line) for line in values]
        if self.scale == "median":
            lines = [by_median(line) for line in lines]
        dhsic = load(self.name, "hyppo.d_variate").dHsic()
        return max(float(dhsic.statistic(*(line[:, None] for line in lines))), 0.0)
