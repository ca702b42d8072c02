"""A few cut points of a column that say most about a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import kernels
from covary.array_types import Floats, Rows
from covary.measures.shared.bins import EqualFrequencyBins
from covary.prepare import Prepared

# The cuts are chosen from this many initial bins.
INITIAL_BINS = 20
# Another explaining column is cut into this many bins; several ones into two each.
BINS_OF_OTHER = 4
MAX_OTHERS = 4


def best_cuts(
    prepared: Prepared, target: int, column: int, others: Sequence[int]
) -> tuple[Any, ...]:
    """Return the cut points of a column that say most about the target, in its own units.

    They minimise the entropy of the target in the cells, for both tails, plus a penalty of
    h(target) log(rows) / 2 per cell. If other columns explain the target as well, cells are
    formed together with the quarters of the other, or the halves of several others.
    """
    bins = prepared.derived(EqualFrequencyBins, INITIAL_BINS)
    n_bins = int(bins.counts[column])
    n = int(prepared.n_present[target])
    if n_bins < 2 or n < 2:
        return ()
    cubes, n_cubes = _cells_of(prepared, others)
    order, ranks = prepared.orders[target, :n], _mid_ranks(prepared.values[target, :n])
    increments = kernels.shared.entropy_tables.increments(prepared.n_rows)
    costs = np.zeros((n_bins + 1, n_bins + 1, 2))
    for rows, values in ((order, ranks), (order[::-1], -ranks[::-1])):
        cell_values, cell_codes, starts = kernels.shared.cubes.group_by_cube(
            np.ascontiguousarray(rows),
            np.ascontiguousarray(values),
            bins.codes[column],
            n_bins,
            cubes,
            n_cubes,
        )
        costs += kernels.shared.intervals.interval_costs(
            cell_values, cell_codes, starts[: n_cubes + 1], n_bins, increments
        )
    whole = float(costs[0, n_bins - 1, 0])
    least, start = kernels.shared.partition.best_partitions(costs, n_bins, whole)
    penalty = whole / n * math.log(n) / 2.0 * n_cubes
    parts = int(np.argmin(least[:, -1] + penalty * np.arange(1, n_bins + 1))) + 1
    ends = kernels.shared.partition.part_ends(start, parts)
    return bins.upper_values(prepared, column, ends[:-1].tolist())


def _cells_of(prepared: Prepared, others: Sequence[int]) -> tuple[Rows, int]:
    """Return the cell of each row in a coarse grid of columns, and the number of cells."""
    if not others:
        return np.empty(0, np.uint32), 1
    bins = prepared.derived(EqualFrequencyBins, BINS_OF_OTHER if len(others) == 1 else 2)
    cells = np.zeros(prepared.n_rows, np.uint32)
    for other in others[:MAX_OTHERS]:
        codes = bins.codes[other].astype(np.uint32)
        cells = cells * (codes.max() + 1) + codes
    used, numbers = np.unique(cells, return_inverse=True)
    return numbers.astype(np.uint32), used.size


def _mid_ranks(ordered: Floats) -> Floats:
    """Return the mid-ranks of sorted values."""
    first = np.searchsorted(ordered, ordered)
    last = np.searchsorted(ordered, ordered, side="right")
    return np.asarray((first + last + 1) / 2.0)
