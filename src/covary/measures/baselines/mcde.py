"""The measure `mcde`: Monte Carlo dependency estimation with the Mann-Whitney test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary import kernels
from covary.array_types import Integers
from covary.measures.registry import register
from covary.measures.shared.random_slices import Draws, RandomSlices, SortedColumns
from covary.validation import check_fraction


@register("mcde", "Monte Carlo dependency estimation (MWP) of Fouché and Böhm (2019)")
@dataclass(frozen=True)
class MCDE(RandomSlices):
    """Monte Carlo dependency estimation (MWP) of Fouché and Böhm (2019), in [0, 1].

    For each slice s, one column is drawn as the reference. Of each other column, a block of
    n alpha^(1/(d - 1)) consecutive sorted values is drawn. The slice consists of the rows in all
    blocks. A Mann-Whitney test with correction for ties compares the ranks of the reference inside
    and outside the slice, within the rows of a block of the reference. With its p-value p_s,

        MWP = 1/M sum_{s=1..M} (1 - p_s).

    Fouché, Böhm: Monte Carlo Dependency Estimation, SSDBM 2019.

    Parameters
    ----------
    slices : int
        The number of slices, M in the paper.
    alpha : float
        The expected fraction of rows in a slice if the columns are independent.
    beta : float
        The fraction of rows in the block of the reference.
    seed : int
        Random seed for the slices.

    Notes
    -----
    It is about 0.5 for independent columns, the mean of a random p-value. For most kinds of
    dependence it approaches 1 with the number of rows: it measures certainty, not strength. It
    cannot detect a change of spread that does not shift the ranks within any block. Sets with
    nearly as many columns as rows score 0, because their slices contain all rows.

    Equal values at the end of a block are selected at random; the block of the reference is
    extended to keep them together. If none or all of the rows of that block are in the slice, the
    slice counts as 1, as in the authors' program. A slice of all rows counts as 0. A row with a
    missing cell is in no block of that column.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.random(500), rng.random(500)
    >>> round(MCDE().score(np.column_stack([x, x**2])), 1)
    1.0
    >>> 0.3 < MCDE().score(np.column_stack([x, noise])) < 0.7
    True

    """

    reading = "about 0.5 if independent; certainty, not strength"

    slices: int = 50
    alpha: float = 0.5
    beta: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("beta", self.beta)

    def mean_deviation(self, columns: SortedColumns, members: Integers, draws: Draws) -> float:
        share = self.alpha ** (1.0 / (members.size - 1))
        confidences = kernels.baselines.random_slices.mann_whitney(
            columns,
            members,
            *(np.ceil(part * columns[2][members]).astype(np.int64) for part in (share, self.beta)),
            *draws,
        )
        return float(confidences.mean())
