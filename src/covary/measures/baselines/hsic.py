"""The measure `hsic`: Hilbert-Schmidt independence criterion of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors
from covary.array_types import Floats
from covary.measures.registry import register
from covary.measures.shared.complete_rows import centred, complete_rows_in_units
from covary.measures.shared.packages import load_package
from covary.measures.shared.pairwise import Aggregate, Pairwise
from covary.measures.shared.scaling import (
    MAX_ROWS_OF_DISTANCES,
    by_median_distance,
    warn_about_units,
)
from covary.prepare import Prepared

# The unbiased estimate is undefined for fewer rows, and if all values except one are equal.
MIN_ROWS_UNBIASED = 4


@register("hsic", "Hilbert-Schmidt independence criterion of Gretton et al. (2005); pairs only")
@dataclass(frozen=True)
class HSIC(Pairwise):
    """Hilbert-Schmidt independence criterion of two columns, normalised, in [-1, 1].

    With U-centred Gaussian kernels k and l of all pairs of rows, for which the numerator has
    expectation 0 under independence,

        HSIC = sum k_ij l_ij / sqrt(sum k_ij^2 sum l_ij^2).

    Computed by hyppo (``Hsic().statistic``).

    Gretton, Bousquet, Smola, Schölkopf: Measuring statistical dependence with Hilbert-Schmidt
    norms, ALT 2005.

    Parameters
    ----------
    scale : "median" or None
        With None, the bandwidth of both kernels is the median distance of two rows in the first
        column, as in hyppo. The score then depends on units and on which column is the first.
        "median" divides each column by its own median distance first, or by its standard deviation
        if the median distance is 0.
    aggregate : "mean", "max" or "min", optional
        How to combine the scores of all pairs of a larger set. None allows sets of two columns
        only.

    Notes
    -----
    It does not detect structure that is finer than the bandwidth, such as a sine of many periods.
    Memory and time grow with the square of the number of rows, which is at most 5,000. Rows in
    which one of the two columns is missing are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)
    >>> round(HSIC().score(np.column_stack([x, x])), 2)
    1.0

    """

    reading = "about 0 if independent, 1 if identical"
    max_rows = MAX_ROWS_OF_DISTANCES

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
        load_package(self.name, "hyppo.independence")
        if self.scale is None:
            warn_about_units(self.name, prepared, "median")

    def rows(self, prepared: Prepared, pair: Sequence[int]) -> Floats:
        if self.scale is None:
            return complete_rows_in_units(prepared, pair)[0]
        return super().rows(prepared, pair)

    def score_pair(self, x: Floats, y: Floats) -> float:
        if min(_rarest_count(x), _rarest_count(y)) < 2 or x.size < MIN_ROWS_UNBIASED:
            return 0.0
        x, y = centred(x), centred(y)
        if self.scale == "median":
            x, y = by_median_distance(x), by_median_distance(y)
        hsic = load_package(self.name, "hyppo.independence").Hsic()
        # Rounding may exceed the bounds.
        return min(max(float(hsic.statistic(x[:, None], y[:, None])), -1.0), 1.0)


def _rarest_count(values: Floats) -> int:
    """Return the number of rows with the rarer of two values; all rows for more values."""
    counts = np.unique(values, return_counts=True)[1]
    return int(counts.min()) if counts.size == 2 else values.size
