"""A few cut points of a column that say most about a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import kernels
from covary.array_types import Floats
from covary.measures.shared.bins import EqualFrequencyBins
from covary.prepare import Prepared

# The cuts are chosen from this many initial bins; another explaining column is cut into fewer.
INITIAL_BINS = 20
BINS_OF_OTHER = 4


def best_cuts(
    prepared: Prepared, target: int, column: int, others: Sequence[int]
) -> tuple[Any, ...]:
    """Return the cut points of a column that say most about the target, in its own units.

    They minimise the entropy of the target in the cells, for both tails, plus a penalty of
    h(target) log(rows) / 2 per cell. If another column explains the target as well, cells are
    formed together with the quarters of that column.
    """
    bins = prepared.derived(EqualFrequencyBins, INITIAL_BINS)
    n_bins = int(bins.counts[column])
    n = int(prepared.n_present[target])
    if n_bins < 2 or n < 2:
        return ()
    cubes, n_cubes = np.empty(0, np.uint32), 1
    for other in others:
        quarters = prepared.derived(EqualFrequencyBins, BINS_OF_OTHER)
        cubes = quarters.codes[other].astype(np.uint32)
        n_cubes = int(cubes.max()) + 1
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


def _mid_ranks(ordered: Floats) -> Floats:
    """Return the mid-ranks of sorted values."""
    first = np.searchsorted(ordered, ordered)
    last = np.searchsorted(ordered, ordered, side="right")
    return np.asarray((first + last + 1) / 2.0)
