"""Standardised gains of grids, averaged over views."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import (
    FLOATS,
    INTEGERS,
    ROWS,
    ROWS_2D,
    kernel,
    read_only,
    subkernel,
)
from covary.kernels.uds_chance.gains import TARGETS, gains, gains_along
from covary.kernels.uds_chance.grids import GRIDS

_VIEWS = read_only(types.boolean, 2)


@subkernel
def _moments_of_mean(freedoms):
    """Return variance and skewness of the mean of the standardised gains of some grids.

    The gain of a grid is a sum of independent terms, one for each degree of freedom, and contains
    the terms of coarser grids. The skewness is relative to the skewness of one term.
    """
    ordered = np.sort(freedoms)
    variance = 0.0
    third = 0.0
    before = 0.0
    for i in range(ordered.size):
        weight = 0.0
        for j in range(i, ordered.size):
            weight += 1.0 / np.sqrt(ordered[j])
        weight /= ordered.size
        variance += (ordered[i] - before) * weight**2
        third += (ordered[i] - before) * weight**3
        before = ordered[i]
    return variance, third / variance**1.5


@subkernel
def _standardised(gain, freedom, targets, nulls, views):
    """Return the standardised mean gain of each view, and its skewness, shape (targets, views).

    Parameters
    ----------
    gain, freedom : gains and degrees of freedom, shape (targets, partitions)
    targets, nulls : as for `mean_view_gains`
    views : whether each partition belongs to each view, shape (views, partitions)

    """
    units, variances, skewnesses = nulls
    means = np.full((targets.size, views.shape[0]), -np.inf)
    skewness = np.zeros((targets.size, views.shape[0]))
    used = np.empty(views.shape[1])
    for k in range(targets.size):
        deviation = units[targets[k]] * np.sqrt(variances[targets[k]])
        if not deviation > 0.0:
            continue
        for view in range(views.shape[0]):
            n_used = 0
            total = 0.0
            for i in range(views.shape[1]):
                if views[view, i] and freedom[k, i] > 0.0:
                    used[n_used] = freedom[k, i]
                    total += gain[k, i] / np.sqrt(freedom[k, i])
                    n_used += 1
            if n_used > 0:
                variance, relative = _moments_of_mean(used[:n_used])
                means[k, view] = total / n_used / (deviation * np.sqrt(variance))
                skewness[k, view] = skewnesses[targets[k]] * relative
    return means, skewness


@kernel(
    types.UniTuple(types.float64[:, ::1], 2)(
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        int64,
        int64,
        INTEGERS,
        TARGETS,
        types.UniTuple(FLOATS, 3),
        INTEGERS,
        float64,
        _VIEWS,
    )
)
def mean_view_gains(
    families, n_grids, one, other, targets, columns, nulls, increments, unit, views
):
    """Return the standardised mean gain of each view, and its skewness, shape (targets, views).

    A view is a set of grids. The gain of each grid is divided by its standard deviation under
    independence. The mean over the grids of a view is divided by its own standard deviation. The
    result is minus infinity if a view has no grid or the target is constant.

    Parameters
    ----------
    families, n_grids : two families of grids, and the number of grids to use of each
    one, other : the conditions; the same column twice for a grid along one column
    targets, columns, increments, unit : as for `covary.kernels.uds_chance.gains.gains`
    nulls : scales, variances and skewnesses of the null distributions of all columns
    views : whether each grid belongs to each view, shape (views, grids of both families)

    """
    given = np.array([one]) if one == other else np.array([one, other])
    n_all_grids = n_grids[0] + n_grids[1]
    gain = np.zeros((targets.size, n_all_grids))
    freedom = np.zeros((targets.size, n_all_grids))
    offset = 0
    for family in range(2):
        if n_grids[family] == 0:
            continue
        some, _, freedoms = gains_along(
            families[family], given, n_grids[family], targets, columns, increments, unit
        )
        gain[:, offset : offset + n_grids[family]] = some
        freedom[:, offset : offset + n_grids[family]] = freedoms
        offset += n_grids[family]
    return _standardised(gain, freedom, targets, nulls, views)


@kernel(
    types.UniTuple(types.float64[:, ::1], 2)(
        ROWS,
        ROWS_2D,
        INTEGERS,
        INTEGERS,
        TARGETS,
        types.UniTuple(FLOATS, 3),
        INTEGERS,
        float64,
    )
)
def cell_view_gains(cells, maps, n_cells, targets, columns, nulls, increments, unit):
    """Return the standardised gain of each level of cells, and its skewness.

    The shape is (targets, levels). See `mean_view_gains` and `covary.kernels.uds_chance.gains`.
    """
    gain, _, freedom = gains(cells, maps, n_cells, targets, columns, increments, unit)
    views = np.zeros((n_cells.size, n_cells.size), np.bool_)
    for level in range(n_cells.size):
        views[level, level] = True
    return _standardised(gain, freedom, targets, nulls, views)
