"""Hypercubes: the cells of the grid that the discretised columns form.

Each row has the number of its cube, 0 .. n_cubes - 1. A row that is alone in its cube has the
number n_cubes: its entropy is 0 in every finer partition, so later steps do not need it. An empty
array of cubes means that no column is discretised yet: one cube holds all rows.
"""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint32, uint64

from covary.kernels.shared.jit import CODES, FLOATS, ROWS, kernel

_GROUPED = types.Tuple((types.float64[::1], types.uint8[::1], types.uint64[::1]))


@kernel(types.void(types.float64[::1], types.uint64[::1]))
def _centre(values, starts):
    """Subtract the median of each cube from its values, to limit cancellation in entropies."""
    one = uint64(1)
    for c in range(uint64(starts.size) - uint64(2)):
        if starts[c] < starts[c + one]:
            median = values[starts[c] + (starts[c + one] - starts[c]) // uint64(2)]
            for at in range(starts[c], starts[c + one]):
                values[at] -= median


@kernel(_GROUPED(ROWS, FLOATS, CODES, int64))
def _group_uncut(order, values, codes, n_bins):
    """Return the result of ``group_by_cube`` for one cube that holds all rows."""
    one = uint64(1)
    n = uint64(values.size)
    grouped_values = values.copy()
    grouped_codes = np.empty(n, np.uint8)
    n_missing = uint64(0)
    for r in range(n):
        code = codes[order[r]]
        grouped_codes[r] = code
        n_missing += uint64(code == n_bins)
    if n_missing > uint64(0):
        sorted_codes = grouped_codes.copy()
        at = uint64(0)
        at_missing = n - n_missing
        for r in range(n):
            if sorted_codes[r] == n_bins:
                grouped_values[at_missing] = values[r]
                grouped_codes[at_missing] = sorted_codes[r]
                at_missing += one
            else:
                grouped_values[at] = values[r]
                grouped_codes[at] = sorted_codes[r]
                at += one
    starts = np.array([0, n - n_missing, n, n], np.uint64)
    _centre(grouped_values, starts)
    return grouped_values, grouped_codes, starts


@kernel(_GROUPED(ROWS, FLOATS, CODES, int64, ROWS, int64))
def group_by_cube(order, values, codes, n_bins, cubes, n_cubes):
    """Return target values and condition codes grouped by cube, and the start of each group.

    The groups are: the rows of each cube whose condition is present, then the rows of each cube
    whose condition is missing, then the rows that are alone in their cube. Rows within a group
    keep the order of the target (stable counting sort). The median of each group of the first two
    kinds is subtracted from its values.

    Parameters
    ----------
    order, values : rows by ascending target (missing last), and the sorted target values
    codes, n_bins : initial bin of the condition in each row; code ``n_bins`` means missing
    cubes, n_cubes : the cube of each row, and the number of cubes

    """
    if cubes.size == 0:
        return _group_uncut(order, values, codes, n_bins)
    one = uint64(1)
    missing = uint64(n_bins)
    alone = uint64(n_cubes)
    last = alone + alone
    n = uint64(values.size)
    starts = np.zeros(last + uint64(2), np.uint64)
    groups = np.empty(n, np.uint32)
    for r in range(n):
        row = order[r]
        group = uint64(cubes[row])
        if group == alone:
            group = last
        elif uint64(codes[row]) == missing:
            group += alone
        groups[r] = uint32(group)
        starts[group + one] += one
    for c in range(last + one):
        starts[c + one] += starts[c]
    fill = starts[: last + one].copy()
    grouped_values = np.empty(n, np.float64)
    grouped_codes = np.empty(n, np.uint8)
    for r in range(n):
        group = groups[r]
        at = fill[group]
        fill[group] = at + one
        grouped_values[at] = values[r]
        grouped_codes[at] = codes[order[r]]
    _centre(grouped_values, starts)
    return grouped_values, grouped_codes, starts


@kernel(types.Tuple((types.uint32[::1], types.int64))(ROWS, int64, CODES, CODES, int64))
def refine_cubes(cubes, n_cubes, codes, bin_of_code, n_bins):
    """Return the cubes after one more column is discretised, and the number of cubes.

    The new cubes are numbered by old cube, then by bin, so the order of the rows does not matter.

    Parameters
    ----------
    cubes, n_cubes : the cube of each row, and the number of cubes
    codes : initial bin of the column in each row
    bin_of_code, n_bins : the merged bin of each code, 0 .. n_bins - 1

    """
    width = uint64(n_bins)
    alone = uint64(n_cubes)
    uncut = cubes.size == 0
    counts = np.zeros(alone * width, np.uint32)
    for r in range(uint64(codes.size)):
        cube = uint64(0) if uncut else uint64(cubes[r])
        if cube != alone:
            counts[cube * width + uint64(bin_of_code[codes[r]])] += uint32(1)
    number = uint32(0)
    singleton = uint32(0xFFFFFFFF)
    for cell in range(uint64(counts.size)):
        if counts[cell] == 1:
            counts[cell] = singleton
        elif counts[cell] > 1:
            counts[cell] = number
            number += uint32(1)
    refined = np.empty(codes.size, np.uint32)
    for r in range(uint64(codes.size)):
        cube = uint64(0) if uncut else uint64(cubes[r])
        refined[r] = number
        if cube != alone:
            cell = counts[cube * width + uint64(bin_of_code[codes[r]])]
            if cell != singleton:
                refined[r] = cell
    return refined, int64(number)
