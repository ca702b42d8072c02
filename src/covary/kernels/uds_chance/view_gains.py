"""Standardised gains of grids, averaged over views."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import FLOATS, INTEGERS, kernel, read_only
from covary.kernels.uds_chance.gains import TARGETS, gains_along
from covary.kernels.uds_chance.grids import GRIDS

_VIEWS = read_only(types.boolean, 2)


@kernel(
    types.float64[:, ::1](
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        int64,
        int64,
        INTEGERS,
        TARGETS,
        types.UniTuple(FLOATS, 2),
        INTEGERS,
        float64,
        _VIEWS,
    )
)
def mean_view_gains(
    families, n_grids, one, other, targets, columns, nulls, increments, unit, views
):
    """Return the standardised mean gain of each view, shape (targets, views).

    A view is a set of grids. The gain of each grid is divided by its standard deviation under
    independence. The mean over the grids of a view is divided by its own standard deviation. Under
    independence, two nested grids have the correlation sqrt(freedom of the coarser / freedom of
    the finer). The result is 0 if a view has no grid or the target is constant.

    Parameters
    ----------
    families, n_grids : two families of grids, and the number of grids to use of each
    one, other : the conditions; the same column twice for a grid along one column
    targets, columns, increments, unit : as for `covary.kernels.uds_chance.gains.gains`
    nulls : scales and variances of the null distributions of all columns
    views : whether each grid belongs to each view, shape (views, grids of both families)

    """
    units, variances = nulls
    n_all_grids = n_grids[0] + n_grids[1]
    means = np.zeros((targets.size, views.shape[0]))
    standardized = np.zeros((targets.size, n_all_grids))
    freedom = np.zeros((targets.size, n_all_grids))
    offset = 0
    for family in range(2):
        if n_grids[family] == 0:
            continue
        gains, _, freedoms = gains_along(
            families[family], one, other, n_grids[family], targets, columns, increments, unit
        )
        for k in range(targets.size):
            for grid in range(n_grids[family]):
                deviation = units[targets[k]] * np.sqrt(freedoms[k, grid] * variances[targets[k]])
                freedom[k, offset + grid] = freedoms[k, grid]
                if deviation > 0.0:
                    standardized[k, offset + grid] = gains[k, grid] / deviation
        offset += n_grids[family]
    for k in range(targets.size):
        for view in range(views.shape[0]):
            n_used = 0
            total = 0.0
            correlations = 0.0
            for i in range(n_all_grids):
                if not views[view, i]:
                    continue
                n_used += 1
                total += standardized[k, i]
                for j in range(n_all_grids):
                    if views[view, j]:
                        coarser = min(freedom[k, i], freedom[k, j])
                        finer = max(freedom[k, i], freedom[k, j])
                        correlations += np.sqrt(coarser / max(finer, 1.0))
            if n_used > 0:
                variance = max(correlations / float64(n_used * n_used), 1.0 / n_used)
                means[k, view] = total / n_used / np.sqrt(variance)
    return means
