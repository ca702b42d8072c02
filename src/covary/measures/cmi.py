"""Cumulative mutual information.

Nguyen, Müller, Vreeken, Keller, Böhm: CMI: An Information-Theoretic Contrast Measure for Enhancing
Subspace Cluster and Outlier Detection, SDM 2013.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covary import errors, kernels
from covary.measures.base import Measure, register
from covary.measures.rows import complete_rows
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

    bounds = (0.0, math.inf)

    scale: Literal["range"] | None = None

    def __post_init__(self) -> None:
        if self.scale not in ("range", None):
            raise errors.invalid_parameter("scale", "'range' or None", self.scale)

    @property
    def leaves_out_rows(self) -> bool:
        return True

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        values = complete_rows(prepared, one_by_content(prepared, columns))
        if values.shape[1] < 2:
            return 0.0
        if self.scale == "range":
            least, widths = values.min(axis=1), np.ptp(values, axis=1)
            values = (values - least[:, None]) / np.where(widths > 0, widths, 1.0)[:, None]
        increments = kernels.tables.increments(values.shape[1])
        ordered = [sort_column(line) for line in values]
        entropies = np.array(
            [kernels.columns.cumulative_entropy(line, increments) for _, line in ordered]
        )
        order = np.argsort(-entropies, kind="stable")
        table = np.ascontiguousarray(values[order].T)
        shared = 0.0
        for known, column in enumerate(order[1:].tolist(), start=1):
            labels = kernels.clusters.cluster(table, known)
            left = kernels.clusters.entropy_inside(*ordered[column], labels, increments)
            shared += max(float(entropies[column]) - left, 0.0)
        return shared / math.log(2.0)
