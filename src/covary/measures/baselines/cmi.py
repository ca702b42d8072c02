"""The measure `cmi`: cumulative mutual information."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.array_types import Floats
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.complete_rows import complete_rows, complete_rows_in_units
from covary.measures.shared.content_order import order_one_by_content
from covary.measures.shared.scaling import warn_about_units
from covary.prepare import Need, Prepared, Ranks
from covary.prepare.sorting import sort_column


@register("cmi", "Cumulative mutual information of Nguyen et al. (2013), from clusters of rows")
@dataclass(frozen=True)
class CMI(Measure):
    """Cumulative mutual information of Nguyen et al. (2013), at least 0, without upper bound.

    For columns by descending cumulative entropy h,

        CMI = sum_{i=2..d} [h(X_i) - h(X_i | X_1..X_{i-1})],

    in bits times the units of the columns. To estimate h(X_i | X_1..X_{i-1}), the rows are divided
    into ten clusters by the columns X_1..X_{i-1}. The clusters come from three passes of k-means.
    Its initial centres are close to the mean.

    Nguyen, Müller, Vreeken, Keller, Böhm: CMI: An Information-Theoretic Contrast Measure for
    Enhancing Subspace Cluster and Outlier Detection, SDM 2013.

    Parameters
    ----------
    scale : "range" or None
        None is the definition: a column in millimetres weighs a thousand times one in metres, in
        the sum and in the clusters. "range" maps every column to [0, 1] first.

    Notes
    -----
    It does not detect fine structure, because there are ten clusters for any number of columns.
    Scores of sets of different sizes cannot be compared. The clusters depend on the order of the
    rows. Rows with a missing cell are ignored.

    The conventions, and therefore the scores, are those of the authors' program.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> round(CMI().score(np.column_stack([x, x**2])), 1)
    0.3

    """

    reading = "bits times the units of the columns; above 0 by chance"
    takes_target = True

    scale: Literal["range"] | None = None

    def __post_init__(self) -> None:
        if self.scale not in ("range", None):
            raise errors.invalid_parameter("scale", "'range' or None", self.scale)

    def check(self, prepared: Prepared, size: int) -> None:
        super().check(prepared, size)
        if self.scale is None:
            warn_about_units(self.name, prepared, "range")

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, math.inf

    @property
    def drops_incomplete_rows(self) -> bool:
        return True

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks),)

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        members = order_one_by_content(prepared, columns)
        if target is not None:
            members = [*members, target]
        values, exponent = self._values(prepared, members)
        table = _SortedColumns(values)
        if target is None:
            order = np.argsort(-table.entropies, kind="stable").tolist()
            score = sum(table.gain(order[:n], order[n]) for n in range(1, len(order)))
        else:
            order = np.argsort(-table.entropies[:-1], kind="stable").tolist()
            score = table.gain(order, len(order))
        # In the original units the score may overflow.
        return min(float(np.ldexp(score, exponent)), sys.float_info.max)

    def _values(self, prepared: Prepared, columns: Sequence[int]) -> tuple[Floats, int]:
        """Return the columns divided by a power of two, one line each, and the exponent."""
        if self.scale is None:
            return complete_rows_in_units(prepared, columns)
        values = complete_rows(prepared, columns)
        if values.shape[1] == 0:
            return values, 0
        smallest = values.min(axis=1, keepdims=True)
        widths = np.ptp(values, axis=1, keepdims=True)
        return np.asarray((values - smallest) / np.where(widths > 0, widths, 1.0)), 0


class _SortedColumns:
    """Columns without missing cells, one line each, sorted, with their cumulative entropies."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.increments = kernels.shared.entropy_tables.increments(values.shape[1])
        self.ordered = [sort_column(line) for line in values] if values.size else []
        entropy = kernels.shared.columns.cumulative_entropy
        entropies = [entropy(line, self.increments) for _, line in self.ordered]
        self.entropies = np.array(entropies or np.zeros(len(values)))

    def gain(self, given: list[int], target: int) -> float:
        """Return by how much clusters of the given columns reduce a target's entropy, in bits."""
        if self.entropies[target] == 0.0:
            return 0.0
        labels = kernels.baselines.cmi_clusters.cluster(np.ascontiguousarray(self.values[given].T))
        conditional = kernels.baselines.cmi_clusters.entropy_inside(
            *self.ordered[target], labels, self.increments
        )
        return max(float(self.entropies[target] - conditional), 0.0) / math.log(2.0)
