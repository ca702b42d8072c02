"""Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors
from covary.measures.bandwidths import MOST_ROWS, by_median, warn_of_units
from covary.measures.base import register
from covary.measures.packages import load
from covary.measures.pairwise import Aggregate, Pairwise
from covary.measures.rows import Floats, centred, rows_in_units
from covary.prepare import Prepared

# Of fewer rows, or a single odd one among equal rows, an unbiased estimate does not exist.
LEAST_ROWS = 4


@register("hsic", "Hilbert-Schmidt independence criterion, Gretton et al. (2005); pairs only")
@dataclass(frozen=True)
class HSIC(Pairwise):
    """Hilbert-Schmidt independence criterion of two columns, normalised, in [-1, 1].

    With Gaussian kernels k and l of all pairs of rows, centred so that independent columns have
    0 on average (the unbiased estimate),

        HSIC = sum k_ij l_ij / sqrt(sum k_ij^2 sum l_ij^2).

    From hyppo (``Hsic().statistic``).

    Gretton, Bousquet, Smola, Schölkopf: Measuring statistical dependence with Hilbert-Schmidt
    norms, ALT 2005.

    Parameters
    ----------
    scale : "median" or None
        hyppo takes the median distance of the first column as the width of both kernels: None
        leaves it at that, so that the score depends on units, and on which column comes first.
        "median" divides each column by its own median distance first (by its standard deviation
        if that is 0).
    aggregate : "mean", "max" or "min", optional
        What makes one score of the pairs of a larger set. None refuses sets of more than two.

    Notes
    -----
    Blind to what is finer than the kernels are wide, such as a sine of many periods. Memory and
    time grow with the square of the rows, of which 5,000 are taken at most. Rows that lack one of
    the two are left out.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)
    >>> round(HSIC().score(np.column_stack([x, x])), 2)
    1.0

    """

    reading = "about 0 if independent, 1 if the same"
    most_rows = MOST_ROWS

    scale: Literal["median"] | None = None
    aggregate: Aggregate = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale not in ("median", None):
            raise errors.invalid_parameter("scale", "'median' or None", self.scale)

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        load(self.name, "hyppo.independence")
        if self.scale is None:
            warn_of_units(self.name, prepared, "median")

    def rows(self, prepared: Prepared, pair: Sequence[int]) -> Floats:
        return super().rows(prepared, pair) if self.scale else rows_in_units(prepared, pair)[0]

    def of_pair(self, x: Floats, y: Floats) -> float:
        if min(_least_common(x), _least_common(y)) < 2 or x.size < LEAST_ROWS:
            return 0.0
        x, y = centred(x), centred(y)
        if self.scale == "median":
            x, y = by_median(x), by_median(y)
        hsic = load(self.name, "hyppo.independence").Hsic()
        # Rounding may take it beyond what it can be.
        return min(max(float(hsic.statistic(x[:, None], y[:, None])), -1.0), 1.0)


def _least_common(values: Floats) -> int:
    """Return in how many rows the less common of two values is; many, if there are more values."""
    counts = np.unique(values, return_counts=True)[1]
    return int(counts.min()) if counts.size == 2 else values.size
