"""How far what grids explain of a column is out of what chance explains."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.gains import COLUMNS, gains_along
from covary.kernels.grids import GRIDS
from covary.kernels.jit import FLOATS, WHOLES, kernel

_VIEWS = types.Array(types.boolean, 2, "C", readonly=True)


@kernel(
    types.float64[:, ::1](
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        int64,
        int64,
        WHOLES,
        COLUMNS,
        types.UniTuple(FLOATS, 2),
        WHOLES,
        float64,
        _VIEWS,
    )
)
def told_along(families, n_grids, one, other, targets, columns, nulls, increments, unit, views):
    """Return for each target and view the mean gain of its grids, in standard deviations.

    A coarser grid sees a part of what a finer one sees: under independence they correlate by the
    root of that, which gives the standard deviation of the mean. It is 0 where a view has no
    grid, or there is nothing to explain.

    Parameters
    ----------
    families, n_grids : two families of grids, and how many grids of each to use
    one, other : the columns to cut along; the same twice for one column
    targets, columns, increments, unit : as for `covary.kernels.gains.gains`
    nulls : units and variances of all columns
    views : one line per view, true for its grids, counted through both families

    """
    units, variances = nulls
    n_of_all = n_grids[0] + n_grids[1]
    told = np.zeros((targets.size, views.shape[0]))
    standard = np.zeros((targets.size, n_of_all))
    freedom = np.zeros((targets.size, n_of_all))
    base = 0
    for family in range(2):
        if n_grids[family] == 0:
            continue
        found, _, freedoms = gains_along(
            families[family], one, other, n_grids[family], targets, columns, increments, unit
        )
        for k in range(targets.size):
            for grid in range(n_grids[family]):
                spread = units[targets[k]] * np.sqrt(freedoms[k, grid] * variances[targets[k]])
                freedom[k, base + grid] = freedoms[k, grid]
                if spread > 0.0:
                    standard[k, base + grid] = found[k, grid] / spread
        base += n_grids[family]
    for k in range(targets.size):
        for view in range(views.shape[0]):
            number = 0
            total = 0.0
            alike = 0.0
            for i in range(n_of_all):
                if not views[view, i]:
                    continue
                number += 1
                total += standard[k, i]
                for j in range(n_of_all):
                    if views[view, j]:
                        less = min(freedom[k, i], freedom[k, j])
                        more = max(freedom[k, i], freedom[k, j])
                        alike += np.sqrt(less / max(more, 1.0))
            if number > 0:
                variance = max(alike / float64(number * number), 1.0 / number)
                told[k, view] = total / number / np.sqrt(variance)
    return told
