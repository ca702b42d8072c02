"""Cut points for people: few, and where they tell most about another column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import kernels
from covary.prepare import Prepared

# From how many initial bins the cuts are chosen, and into how many the other column is cut.
INITIAL_BINS = 20
BINS_OF_OTHER = 4


def readable_cuts(
    prepared: Prepared, target: int, column: int, others: Sequence[int]
) -> tuple[Any, ...]:
    """Return where to cut a column to tell most about the target, in the column's own units.

    The cuts minimise the entropy of the target in the cells, with both its tails, plus a price of
    h(target) log(rows) / 2 per cell. Where another column explains the target as well, cells are
    made with quarters of that one.
    """
    bins = prepared.bins(INITIAL_BINS)
    n_bins = int(bins.counts[column])
    n = int(prepared.n_present[target])
    if n_bins < 2 or n < 2:
        return ()
    cubes, n_cubes = np.empty(0, np.uint32), 1
    for other in others:
        quarters = prepared.bins(BINS_OF_OTHER)
        cubes = quarters.codes[other].astype(np.uint32)
        n_cubes = int(cubes.max()) + 1
    order, ranks = prepared.orders[target, :n], _mid_ranks(prepared.values[target, :n])
    increments = kernels.tables.increments(prepared.n_rows)
    costs = np.zeros((n_bins + 1, n_bins + 1, 2))
    for rows, values in ((order, ranks), (order[::-1], -ranks[::-1])):
        cell_values, cell_codes, starts = kernels.cubes.group_by_cube(
            np.ascontiguousarray(rows),
            np.ascontiguousarray(values),
            bins.codes[column],
            n_bins,
            cubes,
            n_cubes,
        )
        costs += kernels.intervals.interval_costs(
            cell_values, cell_codes, starts[: n_cubes + 1], n_bins, increments
        )
    whole = float(costs[0, n_bins - 1, 0])
    least, start = kernels.partition.best_partitions(costs, n_bins, whole)
    price = whole / n * math.log(n) / 2.0 * n_cubes
    parts = int(np.argmin(least[:, -1] + price * np.arange(1, n_bins + 1))) + 1
    ends = kernels.partition.part_ends(start, parts)
    return prepared.upper_ends(column, bins, ends[:-1].tolist())


def _mid_ranks(ordered: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Return the mid-ranks of sorted values."""
    first = np.searchsorted(ordered, ordered)
    last = np.searchsorted(ordered, ordered, side="right")
    return (first + last + 1) / 2.0
