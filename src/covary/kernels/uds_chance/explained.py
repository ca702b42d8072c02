"""The explained fraction of a target, given one or two columns: the best of all grids."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import FLOATS, INTEGERS, kernel, subkernel
from covary.kernels.uds_chance.gains import NEARLY_ZERO, TARGETS, gains_along
from covary.kernels.uds_chance.grids import GRIDS

# Scale, variance and skewness of the null distribution of each column.
NULLS = types.UniTuple(FLOATS, 3)

# Grids of one condition are compared at a noise level of two standard deviations.
GRID_DEVIATIONS = 2.0
# Cells of few rows underestimate the entropy of a column with long tails. For a normal column the
# relative bias is about this factor times the number of cells per row.
LONG_TAIL = 0.2


@subkernel
def noise_level(freedom, unit, variance, skewness, deviations):
    """Return the noise level tau: a quantile of the explained fraction under independence.

    The null distribution is approximated by a Gamma distribution with the same mean, variance and
    skewness (Pearson type III). Its quantile follows from the normal quantile by the formula of
    Wilson and Hilferty.

    Parameters
    ----------
    freedom : degrees of freedom of the grid
    unit, variance, skewness : null distribution of the target, per degree of freedom
    deviations : the normal quantile z

    """
    skew = skewness / np.sqrt(freedom)
    cube_root = 1.0 + skew * deviations / 6.0 - skew * skew / 36.0
    quantile = 2.0 / skew * (cube_root * cube_root * cube_root - 1.0)
    return quantile * unit * np.sqrt(freedom * variance)


@subkernel
def shrunken(explained, level):
    """Return the explained fraction e shrunken by the noise level: e - level^2 / e, at least 0.

    This is Breiman's non-negative garrote. It is 0 up to the noise level, and close to e far above
    it.
    """
    if explained <= level:
        return 0.0
    fraction = min(explained, 1.0)
    return max(fraction - level * level / fraction, 0.0)


@subkernel
def lower_bound(explained, level, sparsity):
    """Return a lower bound of the explained fraction, to select grids and conditions by.

    The bound of 1 is 1. It subtracts the noise level, and an allowance for the long tails of a
    distribution that cells of few rows miss.

    Parameters
    ----------
    explained : the explained fraction
    level : the noise level
    sparsity : approximately the number of cells divided by the number of rows

    """
    if level >= 1.0:
        return -np.inf
    return (explained - level) / (1.0 - level) - LONG_TAIL * sparsity * (1.0 - explained)


@kernel(
    types.Tuple((types.float64[:, ::1], types.int64[::1]))(
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        int64,
        int64,
        INTEGERS,
        TARGETS,
        NULLS,
        INTEGERS,
        float64,
    )
)
def explained_along(families, n_grids, one, other, targets, columns, nulls, increments, unit):
    """Return the explained fraction and degrees of freedom of the best grid, and the grid.

    The best grid has the largest lower bound. The fraction is relative to the entropy that remains
    after the chance correction, so the degrees of freedom are divided by the square of that share.
    The first result has the shape (targets, 2). Grids are numbered through both families.

    Parameters
    ----------
    families, n_grids : two families of grids, and the number of grids to use of each
    one, other : the conditions; the same column twice for a grid along one column
    targets, columns, increments, unit : as for `covary.kernels.uds_chance.gains.gains`
    nulls : scales, variances and skewnesses of the null distributions of all columns

    """
    units, variances, skewnesses = nulls
    best = np.zeros((targets.size, 2))
    best_grid = np.zeros(targets.size, np.int64)
    best_bound = np.full(targets.size, -np.inf)
    offset = 0
    for family in range(2):
        gains, expected, freedoms = gains_along(
            families[family], one, other, n_grids[family], targets, columns, increments, unit
        )
        for k in range(targets.size):
            target = targets[k]
            for grid in range(n_grids[family]):
                explainable = 1.0 - expected[k, grid]
                if freedoms[k, grid] > 0.0 and explainable > NEARLY_ZERO:
                    explained = gains[k, grid] / explainable
                    freedom = freedoms[k, grid] / (explainable * explainable)
                    level = noise_level(
                        freedom,
                        units[target],
                        variances[target],
                        skewnesses[target],
                        GRID_DEVIATIONS,
                    )
                    bound = lower_bound(explained, level, units[target] * freedom)
                    if bound > best_bound[k]:
                        best_bound[k] = bound
                        best[k, 0] = explained
                        best[k, 1] = freedom
                        best_grid[k] = offset + grid
        offset += n_grids[family]
    return best, best_grid
