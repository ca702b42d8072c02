"""The explained fraction of a target, given some columns: the best grid, or the best cells."""

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
from covary.kernels.uds_chance.cells import PLACES_AND_LEVELS, group_rows, split_cells
from covary.kernels.uds_chance.gains import NEARLY_ZERO, TARGETS, gains, gains_along
from covary.kernels.uds_chance.grids import GRIDS

# Scale, variance and skewness of the null distribution of each column.
NULLS = types.UniTuple(FLOATS, 3)
# Whether each row does not count.
ABSENT = read_only(types.boolean)

# Grids of one condition are compared at a noise level of two standard deviations.
GRID_DEVIATIONS = 2.0
# Cells of few rows underestimate the entropy of a column with long tails. For a normal column, the
# relative bias is about LONG_TAIL s / (1 + LONG_TAIL_LIMIT s), where s is the number of degrees of
# freedom per row.
LONG_TAIL = 0.4
LONG_TAIL_LIMIT = 6.0


@subkernel
def _rounded(fraction):
    """Return a fraction without its last digits, in which rounding errors accumulate.

    So the result is the same to the last bit if a column is reversed.
    """
    return np.rint(fraction * 2.0**32) / 2.0**32


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
    """Return the explained fraction e shrunken by the noise level.

    It is (e - level^2 / e) / (1 - level^2), at least 0: Breiman's non-negative garrote, divided by
    its value for e = 1. It is 0 up to the noise level, close to e far above it, and 1 for e = 1.
    """
    if explained <= level:
        return 0.0
    fraction = min(explained, 1.0)
    return max((fraction - level * level / fraction) / (1.0 - level * level), 0.0)


@subkernel
def lower_bound(explained, level, sparsity):
    """Return a lower bound of the explained fraction, to select grids and conditions by.

    The bound of 1 is 1. It subtracts the noise level, and an allowance for the long tails of a
    distribution that cells of few rows miss.

    Parameters
    ----------
    explained : the explained fraction
    level : the noise level
    sparsity : degrees of freedom per row, about the number of cells per row

    """
    if level >= 1.0:
        return -np.inf
    tail = LONG_TAIL * sparsity / (1.0 + LONG_TAIL_LIMIT * sparsity)
    return (explained - level) / (1.0 - level) - tail * (1.0 - explained)


@subkernel
def _improve_best(best, bests, gains, expected, freedoms, targets, nulls, offset):
    """Replace the best partition of each target if one of these partitions has a larger bound.

    Parameters
    ----------
    best : output, explained fraction and degrees of freedom, shape (targets, 2); the fraction is
        relative to the entropy that remains after the chance correction, so the degrees of freedom
        are divided by the square of that share
    bests : output, the lower bound and the number of the best partition, shape (targets, 2)
    gains, expected, freedoms : the result of `covary.kernels.uds_chance.gains.gains`
    targets, nulls : the targets, and the null distributions of all columns
    offset : the number of the first of these partitions

    """
    units, variances, skewnesses = nulls
    for k in range(targets.size):
        target = targets[k]
        for grid in range(gains.shape[1]):
            explainable = 1.0 - expected[k, grid]
            if freedoms[k, grid] > 0.0 and explainable > NEARLY_ZERO:
                explained = _rounded(gains[k, grid] / explainable)
                freedom = freedoms[k, grid] / (explainable * explainable)
                level = noise_level(
                    freedom,
                    units[target],
                    variances[target],
                    skewnesses[target],
                    GRID_DEVIATIONS,
                )
                bound = lower_bound(explained, level, units[target] * freedom)
                if bound > bests[k, 0]:
                    bests[k, 0] = bound
                    bests[k, 1] = offset + grid
                    best[k, 0] = explained
                    best[k, 1] = freedom


_BEST = types.Tuple((types.float64[:, ::1], types.int64[::1]))


@kernel(
    _BEST(
        types.UniTuple(GRIDS, 2),
        types.UniTuple(int64, 2),
        INTEGERS,
        INTEGERS,
        TARGETS,
        NULLS,
        INTEGERS,
        float64,
    )
)
def explained_along(families, n_grids, given, targets, columns, nulls, increments, unit):
    """Return the explained fraction and degrees of freedom of the best grid, and the grid.

    The best grid has the largest lower bound. The first result has the shape (targets, 2). Grids
    are numbered through both families.

    Parameters
    ----------
    families, n_grids : two families of grids, and the number of grids to use of each
    given : the conditions
    targets, columns, increments, unit : as for `covary.kernels.uds_chance.gains.gains`
    nulls : scales, variances and skewnesses of the null distributions of all columns

    """
    best = np.zeros((targets.size, 2))
    bests = np.full((targets.size, 2), -np.inf)
    offset = 0
    for family in range(2):
        if n_grids[family] > 0:
            gain, expected, freedoms = gains_along(
                families[family], given, n_grids[family], targets, columns, increments, unit
            )
            _improve_best(best, bests, gain, expected, freedoms, targets, nulls, offset)
            offset += n_grids[family]
    return best, np.maximum(bests[:, 1], 0.0).astype(np.int64)


# What another column adds is measured in cells of at least about 16 rows: this many levels above
# the finest one.
_SPLIT_LEVEL = 3


@subkernel
def added_deviations(
    places, candidates, cells, n_cells, absent, targets, columns, nulls, increments, unit
):
    """Return how much the cells explain more if they are split along another column.

    The result is in standard deviations of a column that adds nothing, shape (targets,
    candidates). Within the cells, the entropy and its chance correction are smaller by the
    fraction that the cells explain.

    Parameters
    ----------
    places, candidates : places and levels of all columns, and the columns to split along
    cells, n_cells : the cell of each row, and the number of cells
    absent : whether each row does not count; empty if all rows count
    targets, columns, increments, unit : as for `covary.kernels.uds_chance.gains.gains`
    nulls : scales, variances and skewnesses of the null distributions of all columns

    """
    units, variances, _ = nulls
    added = np.zeros((targets.size, candidates.size))
    if candidates.size == 0:
        return added
    grouped, starts = group_rows(cells, n_cells, absent)
    for at in range(candidates.size):
        split, maps, n_split = split_cells(places, candidates[at], grouped, starts)
        gain, expected, freedoms = gains(split, maps, n_split, targets, columns, increments, unit)
        for k in range(targets.size):
            remaining = max(1.0 - gain[k, 0] / max(1.0 - expected[k, 0], NEARLY_ZERO), NEARLY_ZERO)
            for level in (1, 2):
                freedom = freedoms[k, level] - freedoms[k, 0]
                deviation = units[targets[k]] * np.sqrt(max(freedom, 1.0) * variances[targets[k]])
                if deviation > 0.0:
                    chance = (1.0 - remaining) * (expected[k, level] - expected[k, 0])
                    more = gain[k, level] - gain[k, 0] + chance
                    added[k, at] = max(added[k, at], _rounded(more / (remaining * deviation)))
    return added


@kernel(
    types.Tuple(
        (types.float64[:, ::1], types.float64[::1], types.int64[::1], types.float64[:, ::1])
    )(
        ROWS,
        ROWS_2D,
        INTEGERS,
        PLACES_AND_LEVELS,
        INTEGERS,
        ABSENT,
        INTEGERS,
        TARGETS,
        NULLS,
        INTEGERS,
        float64,
    )
)
def explained_in_cells(
    cells, maps, n_cells, places, candidates, absent, targets, columns, nulls, increments, unit
):
    """Return the explained fraction and degrees of freedom of the best level of balanced cells.

    The best level has the largest lower bound. This bound, the number of cells of the level, and
    what candidates add are also returned.

    Parameters
    ----------
    cells, maps, n_cells : the result of `covary.kernels.uds_chance.cells.balanced_cells`
    places, candidates : places and levels of all columns, and other columns, see
        `added_deviations`
    absent : whether each row does not count; empty if all rows count. The targets must be missing
        in these rows
    targets, columns, nulls, increments, unit : as for `explained_along`

    """
    best = np.zeros((targets.size, 2))
    bests = np.full((targets.size, 2), -np.inf)
    n_best = np.zeros(targets.size, np.int64)
    if n_cells.size == 0:
        return best, bests[:, 0].copy(), n_best, np.zeros((targets.size, candidates.size))
    gain, expected, freedoms = gains(cells, maps, n_cells, targets, columns, increments, unit)
    _improve_best(best, bests, gain, expected, freedoms, targets, nulls, 0)
    for k in range(targets.size):
        if bests[k, 0] > -np.inf:
            n_best[k] = n_cells[int64(bests[k, 1])]
    level = max(n_cells.size - 1 - _SPLIT_LEVEL, 0)
    added = added_deviations(
        places,
        candidates,
        maps[level][cells],
        n_cells[level],
        absent,
        targets,
        columns,
        nulls,
        increments,
        unit,
    )
    return best, bests[:, 0].copy(), n_best, added
