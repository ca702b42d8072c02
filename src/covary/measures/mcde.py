"""Monte Carlo dependency estimation, with the Mann-Whitney test.

Fouché, Böhm: Monte Carlo Dependency Estimation, SSDBM 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covary import errors, kernels
from covary.measures.base import register
from covary.measures.monte_carlo import ByValue, Draws, MonteCarlo, Numbers


@register("mcde", "Monte Carlo dependency estimation (MWP) of Fouché and Böhm (2019)")
@dataclass(frozen=True)
class MCDE(MonteCarlo):
    """Monte Carlo dependency estimation (MWP) of Fouché and Böhm (2019), in [0, 1].

    One column is drawn as the reference, and of each other column a block of
    n alpha^(1/(d - 1)) neighbouring values. Among the rows of a block of the reference itself, the
    ranks inside the slice are compared with those outside,

        MWP = 1/M sum_{s=1..M} (1 - p_s),

    p_s being the p-value of the Mann-Whitney test with its correction for ties.

    Parameters
    ----------
    slices : int
        How many slices are drawn, the M of the paper.
    alpha : float
        The share of rows in a slice, if the columns are independent.
    beta : float
        The share of rows in the block of the reference.
    seed : int
        Of the draws.

    Notes
    -----
    About 0.5 for independent columns, not 0, since that is the mean of a p-value by chance; for
    most dependence it goes to 1 with the number of rows: it says how sure it is that there is a
    dependence, not how strong it is. Sets of nearly as many columns as rows score 0: their slices
    hold everything. Blind to ranks that spread without being shifted inside any
    block.

    Which of several equal values belong to a block is drawn; the block of the reference keeps them
    together. If no row, or every row, of that block is in the slice, this counts as 1, as it does
    for the authors; a slice of all rows says nothing and counts as 0. Rows with a missing cell are
    in no block of that column.

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

    reading = "about 0.5 if independent; how sure, not how strong"

    slices: int = 50
    alpha: float = 0.5
    beta: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        errors.share("beta", self.beta)

    def mean_deviation(self, columns: ByValue, members: Numbers, draws: Draws) -> float:
        share = self.alpha ** (1.0 / (members.size - 1))
        found = kernels.slices.mann_whitney(
            columns,
            members,
            *(np.ceil(part * columns[2][members]).astype(np.int64) for part in (share, self.beta)),
            *draws,
        )
        return float(found.mean())
