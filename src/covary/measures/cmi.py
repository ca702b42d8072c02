"""Cumulative mutual information.

Nguyen, Müller, Vreeken, Keller, Böhm: CMI: An Information-Theoretic Contrast Measure for Enhancing
Subspace Cluster and Outlier Detection, SDM 2013.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.measures.bandwidths import warn_of_units
from covary.measures.base import Measure, register
from covary.measures.rows import Floats, complete_rows, rows_in_units
from covary.measures.ties import one_by_content
from covary.prepare import Prepared
from covary.prepare.sorting import sort_column


@register("cmi", "Cumulative mutual information of Nguyen et al. (2013), by clustering")
@dataclass(frozen=True)
class CMI(Measure):
    """Cumulative mutual information of Nguyen et al. (2013), 0 or more, without upper bound.

    For columns by descending cumulative entropy h,

        CMI = sum_{i=2..d} [h(X_i) - h(X_i | X_1..X_{i-1})],

    in units of the columns times log base 2. The conditional terms come from ten clusters of the
    rows by all columns before (k-means that is stopped after three passes, from centres that are
    spread about the mean).

    Parameters
    ----------
    scale : "range" or None
        None is the definition: a column in millimetres weighs a thousand times one in metres,
        and so it does for the clusters. "range" maps every column to [0, 1] first.

    Notes
    -----
    Blind to much of what takes fine cuts to see: there are ten clusters, however many columns they
    are made of. Scores of sets of different size cannot be compared, and clusters depend on the
    order of the rows. Rows with a missing cell are left out.

    Conventions are those of the authors' program, whose scores are met.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(CMI().score(np.column_stack([x, x**2])), 1)
    0.3

    """

    reading = "above 0 by chance; bits times the units of the columns"

    scale: Literal["range"] | None = None

    def __post_init__(self) -> None:
        if self.scale not in ("range", None):
            raise errors.invalid_parameter("scale", "'range' or None", self.scale)

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        if self.scale is None:
            warn_of_units(self.name, prepared, "range")

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, math.inf

    @property
    def leaves_out_rows(self) -> bool:
        return True

    def make_ready(self, prepared: Prepared) -> None:
        _ = prepared.ranks

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        values, exponent = self._values(prepared, one_by_content(prepared, columns))
        table = _Sorted(values)
        order = np.argsort(-table.entropies, kind="stable").tolist()
        told = [table.told(order[:known], order[known]) for known in range(1, len(order))]
        return _in_units(sum(told), exponent)

    def score_target(self, prepared: Prepared, columns: Sequence[int], target: int) -> float:
        others = one_by_content(prepared, columns)
        values, exponent = self._values(prepared, [*others, target])
        table = _Sorted(values)
        order = np.argsort(-table.entropies[:-1], kind="stable").tolist()
        return _in_units(table.told(order, len(order)), exponent)

    def _values(self, prepared: Prepared, columns: Sequence[int]) -> tuple[Floats, int]:
        """Return the columns over a power of two, one line each, and its exponent."""
        if self.scale is None:
            return rows_in_units(prepared, columns)
        values = complete_rows(prepared, columns)
        if values.shape[1] == 0:
            return values, 0
        least, widths = values.min(axis=1, keepdims=True), np.ptp(values, axis=1, keepdims=True)
        return np.asarray((values - least) / np.where(widths > 0, widths, 1.0)), 0


def _in_units(score: float, exponent: int) -> float:
    """Return a score times a power of two, at most the largest double."""
    return min(float(np.ldexp(score, exponent)), sys.float_info.max)


class _Sorted:
    """Columns, one line each, their order, and their cumulative entropy."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.increments = kernels.tables.increments(values.shape[1])
        self.ordered = [sort_column(line) for line in values] if values.size else []
        entropy = kernels.columns.cumulative_entropy
        found = [entropy(line, self.increments) for _, line in self.ordered]
        self.entropies = np.array(found or np.zeros(len(values)))

    def told(self, known: list[int], target: int) -> float:
        """Return how much clusters by the known columns tell about the target, in bits."""
        if self.entropies[target] == 0.0:
            return 0.0
        labels = kernels.clusters.cluster(np.ascontiguousarray(self.values[known].T))
        left = kernels.clusters.entropy_inside(*self.ordered[target], labels, self.increments)
        return max(float(self.entropies[target] - left), 0.0) / math.log(2.0)
