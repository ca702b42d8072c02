"""Steps of UDS: discretise one condition for one target within the present cubes."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.cubes import group_by_cube
from covary.kernels.shared.intervals import interval_costs, outer_costs, undivided_costs
from covary.kernels.shared.jit import (
    CODES,
    CODES_2D,
    FLOATS,
    FLOATS_2D,
    INTEGERS,
    ROWS,
    ROWS_2D,
    kernel,
)
from covary.kernels.shared.partition import TOLERANCE, best_partitions, part_ends, sum_over_parts

# The value of ``log_cells`` without regulariser. Adding logarithms does not change it.
UNREGULARIZED = -np.inf


@kernel(float64(float64))
def _explained(unexplained):
    """Return the explained fraction, 1 - unexplained; exactly 0 or 1 within the tolerance.

    Otherwise rounding errors could rank one set above another.
    """
    if unexplained < TOLERANCE:
        return 1.0
    return 1.0 - unexplained if unexplained < 1.0 - TOLERANCE else 0.0


@kernel(
    types.Tuple((float64, types.uint8[::1]))(
        ROWS, FLOATS, float64, CODES, int64, ROWS, int64, FLOATS, float64
    )
)
def discretize(order, values, entropy, codes, n_bins, cubes, n_cubes, increments, log_cells):
    """Return the explained fraction of the target, and the last initial bin of each part.

    The fraction is 1 - h(target | cubes, discretised condition) / h(target), and 0 for a constant
    target. The parts are the merged initial bins of the condition.

    Parameters
    ----------
    order, values, entropy : rows by ascending target (missing last), the sorted target values
        that are present, and their cumulative entropy
    codes, n_bins : initial bin of the condition in each row; code ``n_bins`` means missing
    cubes, n_cubes : the cube of each row, and the number of cubes; an empty array and 1 if all
        rows are in one cube
    increments : table of g(t) - g(t - 1)
    log_cells : log beta + sum of log e_i, the denominator of the regulariser in Eq. 5, or
        ``UNREGULARIZED``

    """
    n = values.size
    one_part = np.array([max(n_bins - 1, 0)], np.uint8)
    if n < 2 or entropy <= 0.0:
        return 0.0, one_part
    cell_values, cell_codes, starts = group_by_cube(order, values, codes, n_bins, cubes, n_cubes)
    missing, _ = undivided_costs(cell_values, starts[n_cubes:-1], increments)
    starts = starts[: n_cubes + 1]
    coarsest, coarsest_cells = undivided_costs(cell_values, starts, increments)
    whole = n * entropy
    if cubes.size == 0 and starts[1] == n:
        coarsest = whole  # the same sum, without a difference by rounding
    undivided = _explained((coarsest + missing) / whole)
    if n_bins < 2:
        return undivided, one_part

    # These bounds often decide without the costs of all intervals. They are exact. The finest
    # partition has the minimal cost. The best cut in two has the minimal joint entropy of all
    # partitions except the coarsest. Without regulariser the finest partition wins unless some
    # merge costs nothing. If cells have few rows, their entropies are small by chance and the
    # bound seldom decides, so we skip it.
    unregularized = log_cells == UNREGULARIZED
    if unregularized or n > 2 * n_cubes * n_bins:
        finest, splits, merges = outer_costs(
            cell_values, cell_codes, starts, n_bins, increments, unregularized
        )
        if unregularized:
            if merges.min() > 2.0 * TOLERANCE * whole:
                ends = np.arange(n_bins).astype(np.uint8)
                return _explained((finest + missing) / whole), ends
        else:
            gain = (coarsest - finest) / whole
            price = (coarsest_cells - splits.max()) / (n * log_cells)
            if gain < price * (1.0 - 1e-9):
                return undivided, one_part

    intervals = interval_costs(cell_values, cell_codes, starts, n_bins, increments)
    least, start = best_partitions(intervals, n_bins, whole)
    best = np.inf
    parts = 1
    for candidate in range(1, n_bins + 1):
        # Eq. 5 without the terms that all partitions share: log n and the cells whose condition
        # is missing.
        objective = least[candidate - 1, n_bins - 1] / whole
        if not unregularized:
            cells = sum_over_parts(part_ends(start, candidate), intervals, 1)
            objective -= cells / (n * log_cells)
        if objective < best - TOLERANCE:
            best = objective
            parts = candidate
    unexplained = (least[parts - 1, n_bins - 1] + missing) / whole
    return _explained(unexplained), part_ends(start, parts)


_COLUMNS = types.Tuple((ROWS_2D, FLOATS_2D, INTEGERS, FLOATS))
_BINS = types.Tuple((CODES_2D, INTEGERS))
_STEPS = types.Tuple((types.float64[::1], types.uint8[:, ::1], types.int64[::1]))


@kernel(_STEPS(_COLUMNS, _BINS, INTEGERS, INTEGERS, ROWS, int64, FLOATS, FLOATS))
def discretize_many(columns, bins, conditions, targets, cubes, n_cubes, increments, log_cells):
    """Return the result of ``discretize`` for each pair of condition k and target k.

    Parameters
    ----------
    columns : orders, sorted values, numbers of present values and entropies of all columns
    bins : codes and numbers of the initial bins of all columns
    conditions, targets : column numbers
    cubes, n_cubes, increments : as for ``discretize``
    log_cells : one value per step, as for ``discretize``

    Returns
    -------
    explained : the explained fraction of each target
    ends : last initial bin of each part, shape (steps, parts), filled with zeros
    parts : the number of parts of each condition

    """
    orders, values, n_present, entropies = columns
    codes, counts = bins
    most_bins = 1
    for k in range(len(conditions)):
        most_bins = max(most_bins, counts[conditions[k]])
    explained = np.empty(len(conditions))
    ends = np.zeros((len(conditions), most_bins), np.uint8)
    parts = np.empty(len(conditions), np.int64)
    for k in range(len(conditions)):
        condition = conditions[k]
        target = targets[k]
        explained[k], ends_of_step = discretize(
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
        parts[k] = ends_of_step.size
        ends[k, : ends_of_step.size] = ends_of_step
    return explained, ends, parts
