"""Steps of UDS: discretise the condition for the target, given the cubes so far."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.cubes import group_by_cube
from covary.kernels.intervals import interval_costs, outer_costs, undivided_costs
from covary.kernels.jit import CODES, FLOATS, ROWS, kernel
from covary.kernels.partition import _TOLERANCE, best_partitions, part_ends, sum_over_parts

# Stays what it is when logarithms are added to it.
UNREGULARIZED = -np.inf


@kernel(float64(float64))
def _explained(left):
    """Return 1 - left; what is nothing or everything but for rounding is exactly that.

    Otherwise rounding would rank one set above another.
    """
    if left < _TOLERANCE:
        return 1.0
    return 1.0 - left if left < 1.0 - _TOLERANCE else 0.0


@kernel(
    types.Tuple((float64, types.uint8[::1]))(
        ROWS, FLOATS, float64, CODES, int64, ROWS, int64, FLOATS, float64
    )
)
def discretize(order, values, entropy, codes, n_bins, cubes, n_cubes, increments, log_cells):
    """Return the fraction of the target that is explained, and the last bin of each part.

    The fraction is 1 - h(target | cubes, discretised condition) / h(target), 0 for a constant; the
    parts are what the initial bins of the condition were merged into.

    Parameters
    ----------
    order, values, entropy : rows by ascending target (missing last), the sorted target values
        of the rows that have one, and their cumulative entropy
    codes, n_bins : initial bin of the condition in every row; code ``n_bins`` is missing
    cubes, n_cubes : the cube of every row; an empty array if all are in one
    increments : table of g(t) - g(t - 1)
    log_cells : log beta + sum of log e_i, the regulariser's denominator in Eq. 5; or
        ``UNREGULARIZED``

    """
    n = values.size
    everything = np.array([max(n_bins - 1, 0)], np.uint8)
    if n < 2 or entropy <= 0.0:
        return 0.0, everything
    cell_values, cell_codes, starts = group_by_cube(order, values, codes, n_bins, cubes, n_cubes)
    missing, _ = undivided_costs(cell_values, starts[n_cubes:-1], increments)
    starts = starts[: n_cubes + 1]
    coarsest, coarsest_cells = undivided_costs(cell_values, starts, increments)
    whole = n * entropy
    if cubes.size == 0 and starts[1] == n:
        coarsest = whole  # the same sum, to the last bit
    undivided = _explained((coarsest + missing) / whole)
    if n_bins < 2:
        return undivided, everything

    # Bounds that often decide before the costs of all intervals are needed. They are exact: no
    # partition costs less than the finest, and none but the coarsest has less joint entropy than
    # the best cut in two; without regulariser the finest wins unless a merge is free. Cells of
    # few rows have little entropy by chance alone: there the bound is not worth its time.
    free = log_cells == UNREGULARIZED
    if free or n > 2 * n_cubes * n_bins:
        finest, splits, merges = outer_costs(
            cell_values, cell_codes, starts, n_bins, increments, free
        )
        if free:
            if merges.min() > 2.0 * _TOLERANCE * whole:
                ends = np.arange(n_bins).astype(np.uint8)
                return _explained((finest + missing) / whole), ends
        else:
            gain = (coarsest - finest) / whole
            price = (coarsest_cells - splits.max()) / (n * log_cells)
            if gain < price * (1.0 - 1e-9):
                return undivided, everything

    intervals = interval_costs(cell_values, cell_codes, starts, n_bins, increments)
    least, start = best_partitions(intervals, n_bins, whole)
    best = np.inf
    parts = 1
    for candidate in range(1, n_bins + 1):
        # Eq. 5, without what is the same for all: log n and the cells with a missing condition.
        objective = least[candidate - 1, n_bins - 1] / whole
        if not free:
            cells = sum_over_parts(part_ends(start, candidate), intervals, 1)
            objective -= cells / (n * log_cells)
        if objective < best - _TOLERANCE:
            best = objective
            parts = candidate
    left = (least[parts - 1, n_bins - 1] + missing) / whole
    return _explained(left), part_ends(start, parts)


_COLUMNS = types.Tuple(
    (
        types.Array(types.uint32, 2, "C", readonly=True),
        types.Array(types.float64, 2, "C", readonly=True),
        types.Array(types.int64, 1, "C", readonly=True),
        FLOATS,
    )
)
_BINS = types.Tuple(
    (
        types.Array(types.uint8, 2, "C", readonly=True),
        types.Array(types.int64, 1, "C", readonly=True),
    )
)
_COLUMN_NUMBERS = types.Array(types.int64, 1, "C", readonly=True)
_STEPS = types.Tuple((types.float64[::1], types.uint8[:, ::1], types.int64[::1]))


@kernel(_STEPS(_COLUMNS, _BINS, _COLUMN_NUMBERS, _COLUMN_NUMBERS, ROWS, int64, FLOATS, FLOATS))
def discretize_many(columns, bins, conditions, targets, cubes, n_cubes, increments, log_cells):
    """Take many steps from the same cubes: condition k is discretised for target k.

    Parameters
    ----------
    columns : orders, values, numbers of present values and entropies of all columns
    bins : codes and numbers of the initial bins of all columns
    log_cells : one for every step; this and the rest as for ``discretize``

    Returns
    -------
    explained : of each target
    ends : one line per step, of which the first ``parts`` are the last bin of each part
    parts : into how many parts each condition is cut

    """
    orders, values, n_present, entropies = columns
    codes, counts = bins
    most = 1
    for k in range(len(conditions)):
        most = max(most, counts[conditions[k]])
    explained = np.empty(len(conditions))
    ends = np.zeros((len(conditions), most), np.uint8)
    parts = np.empty(len(conditions), np.int64)
    for k in range(len(conditions)):
        condition = conditions[k]
        target = targets[k]
        explained[k], ends_here = discretize(
            orders[target],
            values[target, : n_present[target]],
            entropies[target],
            codes[condition],
            counts[condition],
            cubes,
            n_cubes,
            increments,
            log_cells[k],
        )
        parts[k] = ends_here.size
        ends[k, : ends_here.size] = ends_here
    return explained, ends, parts
