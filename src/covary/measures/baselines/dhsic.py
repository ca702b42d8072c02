"""The measure `dhsic`: Hilbert-Schmidt independence criterion of any number of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from covary import errors
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.complete_rows import (
    MIN_COMPLETE_ROWS,
    centred,
    complete_rows,
    complete_rows_in_units,
    varying_lines,
)
from covary.measures.shared.packages import load_package
from covary.measures.shared.scaling import (
    MAX_ROWS_OF_DISTANCES,
    by_median_distance,
    warn_about_units,
)
from covary.prepare import Prepared

# The kernel matrices of all columns together have at most this many entries: 4 GB.
MAX_ENTRIES = 500_000_000


@register("dhsic", "HSIC of any number of columns, Pfister et al. (2018)")
@dataclass(frozen=True)
class DHSIC(Measure):
    """Hilbert-Schmidt independence criterion of d columns (Pfister et al. 2018), in [0, 1].

    With Gaussian kernels k^1 .. k^d of all pairs of rows, it is the squared distance between the
    embeddings of the joint distribution and of the product of the marginal distributions,

        dHSIC = 1/n^2 sum_ij prod_c k^c_ij + prod_c 1/n^2 sum_ij k^c_ij
                - 2/n sum_i prod_c 1/n sum_j k^c_ij.

    Computed by hyppo (``dHsic().statistic``).

    Pfister, Bühlmann, Schölkopf, Peters: Kernel-based tests for joint independence, Journal of the
    Royal Statistical Society B 80, 2018.

    Parameters
    ----------
    scale : "median" or None
        With None, the bandwidth of all kernels is the median distance of two rows in the first
        column, as in hyppo. The score then depends on units and on which column is the first.
        "median" divides each column by its own median distance first, as in Pfister et al., or by
        its standard deviation if the median distance is 0.

    Notes
    -----
    It does not detect structure that is finer than the bandwidth. It is above 0 for independent
    columns. Scores become smaller with more columns: scores of sets of different sizes cannot be
    compared. Memory and time grow with the square of the number of rows, which is at most 5,000.
    Rows with a missing cell are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)
    >>> 0.05 < DHSIC().score(np.column_stack([x, x, x])) < 0.2
    True

    """

    reading = "near 0 if independent; always far below 1"

    scale: Literal["median"] | None = None

    def __post_init__(self) -> None:
        if self.scale not in ("median", None):
            raise errors.invalid_parameter("scale", "'median' or None", self.scale)

    @property
    def self_score(self) -> float:
        return math.nan

    @property
    def drops_incomplete_rows(self) -> bool:
        return True

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        max_rows = min(MAX_ROWS_OF_DISTANCES, math.isqrt(MAX_ENTRIES // size))
        if prepared.n_rows > max_rows:
            raise errors.too_many_rows(self.name, prepared.n_rows, max_rows)
        load_package(self.name, "hyppo.d_variate")
        if self.scale is None:
            warn_about_units(self.name, prepared, "median")

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if self.scale is None:
            values, _ = complete_rows_in_units(prepared, columns)
        else:
            values = complete_rows(prepared, columns)
        values = varying_lines(values)
        if len(values) < 2 or values.shape[1] < MIN_COMPLETE_ROWS:
            return 0.0
        lines = [centred(line) for line in values]
        if self.scale == "median":
            lines = [by_median_distance(line) for line in lines]
        dhsic = load_package(self.name, "hyppo.d_variate").dHsic()
        return max(float(dhsic.statistic(*(line[:, None] for line in lines))), 0.0)
