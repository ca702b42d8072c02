"""An order in which columns that depend on each other stand side by side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def clustered(scores: npt.NDArray[np.float64]) -> list[int]:
    """Return the columns of a square of scores, those that score high together side by side.

    Hierarchical clustering by average linkage, and the best order of its leaves.

    Examples
    --------
    >>> clustered(np.array([[1, 0, 0.9], [0, 1, 0.1], [0.9, 0.1, 1]]))
    [0, 2, 1]

    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n = len(scores)
    if n < 3:
        return list(range(n))
    apart = np.nan_to_num(scores, nan=0.0)
    apart = apart.max(initial=0.0) - (apart + apart.T) / 2
    np.fill_diagonal(apart, 0.0)
    tree = linkage(
        squareform(np.maximum(apart, 0.0), checks=False), "average", optimal_ordering=True
    )
    order: list[int] = leaves_list(tree).tolist()
    return order if order[0] < order[-1] else order[::-1]
