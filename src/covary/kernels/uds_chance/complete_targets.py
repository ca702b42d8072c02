"""Targets without the rows in which a condition is missing.

A row in which a condition is missing does not count: it is treated as if the target were missing
there. Ranks, entropy and null distribution are those of the other rows.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from covary.kernels.shared.jit import FLOATS, INTEGERS, kernel, subkernel
from covary.kernels.uds_chance.expected_entropy import null_shape
from covary.kernels.uds_chance.explained import ABSENT
from covary.kernels.uds_chance.gains import TARGETS
from covary.kernels.uds_chance.subset_tables import (
    fill_freedoms,
    level_biases,
    tied_biases,
    untied_biases,
)

_FLOATS = types.float64[::1]
_INTEGERS = types.int64[::1]
_COMPLETE = types.Tuple(
    (
        types.uint32[:, ::1],
        _INTEGERS,
        _FLOATS,
        types.float64[:, ::1],
        _INTEGERS,
        types.float64[:, ::1],
        _INTEGERS,
        _FLOATS,
        _INTEGERS,
        _FLOATS,
        _FLOATS,
        _FLOATS,
    )
)


@subkernel
def _keep_rows(order, gaps, absent, kept):
    """Write the rows that count, in the order of the target; return the rows of each value."""
    counts = np.zeros(order.size, np.int64)
    n_kept = 0
    n_values = 0
    for r in range(order.size):
        row = order[r]
        if not absent[row]:
            kept[n_kept] = row
            n_kept += 1
            counts[n_values] += 1
        # The gap is not 0 after the last row of a value.
        if gaps[r] != 0.0 and counts[n_values] > 0:
            n_values += 1
    if n_values < order.size and counts[n_values] > 0:
        n_values += 1
    return counts[:n_values].copy()


@subkernel
def _fold(kept, counts):
    """Sort rows by the distance of their mid-rank from the middle; return the rows of each."""
    n = counts.sum()
    starts = np.cumsum(counts) - counts
    distances = np.abs(2 * starts + counts - n)
    outward = np.argsort(distances, kind="mergesort")
    rows = kept[:n].copy()
    folded = np.zeros(counts.size, np.int64)
    n_folded = 0
    at = 0
    for i in range(outward.size):
        value = outward[i]
        if i > 0 and distances[value] != distances[outward[i - 1]]:
            n_folded += 1
        folded[n_folded] += counts[value]
        for r in range(starts[value], starts[value] + counts[value]):
            kept[at] = rows[r]
            at += 1
    return folded[: n_folded + 1].copy()


@subkernel
def _is_reversed(ends, n):
    """Return whether the reversed column is the one whose sums are computed.

    So a column and the reversed one have the same sums to the last bit.
    """
    for g in range(ends.size):
        mirrored = n - ends[ends.size - 1 - g]
        if ends[g] != mirrored:
            return ends[g] > mirrored
    return False


@kernel(_COMPLETE(TARGETS, INTEGERS, ABSENT, types.boolean, INTEGERS, FLOATS))
def complete_targets(columns, targets, absent, folded, sizes, harmonics):
    """Return some targets without the rows that do not count, and their null distributions.

    The results are those of `covary.kernels.uds_chance.gains.TARGETS`, with one entry per target,
    and units, variances and skewnesses.

    Parameters
    ----------
    columns, targets : all columns, not folded, and the targets among them
    absent : whether each row does not count
    folded : whether targets are folded at the median of the rows that count
    sizes : the cell sizes of tables, see `covary.measures.uds_chance.tie_patterns.table_sizes`
    harmonics : table of G for 0 .. the number of rows

    """
    orders, n_present, old_entropies, gaps, gaps_of, _, _, shannon, _ = columns
    k = targets.size
    n_rows = absent.size
    new_orders = np.zeros((k, n_rows), np.uint32)
    new_present = np.zeros(k, np.int64)
    entropies = np.zeros(k)
    new_gaps = np.zeros((k + 1, n_rows))
    new_gaps[0] = 1.0  # targets without ties
    new_gaps_of = np.zeros(k, np.int64)
    biases = np.zeros((2 * k + 1, sizes.size))
    biases_of = np.zeros(k, np.int64)
    new_shannon = np.zeros(k)
    freedoms_of = np.zeros(k, np.int64)
    units, variances, skewnesses = np.zeros(k), np.zeros(k), np.zeros(k)
    untied = int64(-1)  # the last target without ties
    for at in range(k):
        target = targets[at]
        if old_entropies[target] <= 0.0:
            continue
        kept = new_orders[at]
        order = orders[target, : n_present[target]]
        counts = _keep_rows(order, gaps[gaps_of[target]], absent, kept)
        n = counts.sum()
        new_present[at] = n
        # The order of two levels does not matter. More levels have no middle.
        nominal = shannon[target] > 0.0 and counts.size > 2
        if folded and nominal:
            continue
        if folded and counts.size > 1:
            counts = _fold(kept, counts)
        if counts.size < 2:
            continue
        biases_of[at] = 2 * at + 1
        if counts.size == 2 or nominal:
            freedoms_of[at] = 2 * at + 2
            fill_freedoms(n, counts, sizes, harmonics, biases[2 * at + 2])
        if nominal:
            entropy = level_biases(n, counts, sizes, biases[2 * at + 1])
            more = counts.size - 1.0
            entropies[at] = min(entropy, 1.0) / 4.0
            new_shannon[at] = entropy * n
            units[at] = more / (2.0 * n * entropy)
            variances[at] = 2.0 / more
            skewnesses[at] = np.sqrt(8.0 / more)
            new_gaps_of[at] = at + 1
            new_gaps[at + 1][np.cumsum(counts)[:-1] - 1] = 1.0
            continue
        if counts.size == n and untied >= 0 and new_present[untied] == n:
            biases_of[at] = biases_of[untied]
            entropies[at] = entropies[untied]
            units[at], variances[at] = units[untied], variances[untied]
            skewnesses[at] = skewnesses[untied]
            continue
        ends = np.cumsum(counts)[:-1]
        steps = (counts[1:] + counts[:-1]) / 2.0
        if counts.size < n:
            new_gaps_of[at] = at + 1
            new_gaps[at + 1][ends - 1] = steps
        if _is_reversed(ends, n):
            ends, steps = (n - ends)[::-1].copy(), steps[::-1].copy()
        entropy = np.sum((harmonics[n] - harmonics[ends] - harmonics[n - ends]) * steps)
        entropy /= 2.0 * n
        entropies[at] = entropy / n
        units[at] = steps.sum() / (4.0 * n * entropy)
        variances[at], skewnesses[at] = null_shape(ends / float64(n), steps)
        if counts.size == n:
            untied = at
            untied_biases(n, sizes, biases[2 * at + 1])
        else:
            tied_biases(n, ends, steps, sizes, biases[2 * at + 1])
    return (
        new_orders,
        new_present,
        entropies,
        new_gaps,
        new_gaps_of,
        biases,
        biases_of,
        new_shannon,
        freedoms_of,
        units,
        variances,
        skewnesses,
    )
