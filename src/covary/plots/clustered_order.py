"""The order of columns in a heat map: dependent columns are next to each other."""

from __future__ import annotations

import numpy as np

from covary.array_types import Floats


def clustered_order(scores: Floats) -> list[int]:
    """Return the positions of columns so that columns with high pair scores are neighbours.

    Hierarchical clustering with average linkage and optimal leaf ordering.

    Parameters
    ----------
    scores : square array of pair scores; NaN counts as 0

    Examples
    --------
    >>> clustered_order(np.array([[1, 0, 0.9], [0, 1, 0.1], [0.9, 0.1, 1]]))
    [0, 2, 1]

    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n = len(scores)
    if n < 3:
        return list(range(n))
    distances = np.nan_to_num(scores, nan=0.0)
    distances = distances.max(initial=0.0) - (distances + distances.T) / 2
    np.fill_diagonal(distances, 0.0)
    tree = linkage(
        squareform(np.maximum(distances, 0.0), checks=False), "average", optimal_ordering=True
    )
    order: list[int] = leaves_list(tree).tolist()
    return order if order[0] < order[-1] else order[::-1]
