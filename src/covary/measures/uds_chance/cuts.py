"""A few cut points, or groups of levels, of a column that say most about a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import AnyArray, Floats, Integers, Rows
from covary.formatting import distinct_texts, shown_value
from covary.measures.shared.bins import EqualFrequencyBins
from covary.measures.uds_chance.places import Places
from covary.prepare import Prepared

# The cuts are chosen from this many initial bins.
INITIAL_BINS = 20
# Another explaining column is cut into this many bins; several ones into two each.
BINS_OF_OTHER = 4
MAX_OTHERS = 4
# A correspondence analysis has at most this many cells.
MAX_DENSE = 1 << 14
# The name of a group lists at most this many levels.
MAX_LABELS = 3


class Parts(NamedTuple):
    """The parts of a column that say most about a target.

    Parameters
    ----------
    cuts : the cut points of an ordered column in its own units: the largest value of each part
        except the last; the groups of levels of a nominal column
    of_rows : the part of each row; missing cells are one more part
    names : of the parts, in words
    """

    cuts: tuple[Any, ...]
    of_rows: Integers
    names: tuple[str, ...]


class _Bins(NamedTuple):
    """The initial bins of a column: of each row its bin, and the number of bins.

    Missing cells have the number of bins. ``levels`` are the levels of a nominal column in the
    order of its bins, and ``bin_of`` is the bin of each of them.
    """

    codes: AnyArray
    number: int
    levels: Integers
    bin_of: Integers


def best_parts(
    prepared: Prepared,
    target: int,
    column: int,
    others: Sequence[int],
    max_parts: int = INITIAL_BINS,
) -> Parts:
    """Return the parts of a column that say most about the target.

    They minimise the entropy of the target in the cells, for both tails, plus a penalty of
    h(target) log(rows) / 2 per cell. If other columns explain the target as well, cells are
    formed together with the quarters of the other, or the halves of several others. The levels of
    a nominal column are put into the order of their association with the target first.
    """
    bins = _initial_bins(prepared, column, target)
    ends = _best_ends(prepared, target, bins, others, max_parts)
    part_of_bin = np.searchsorted(ends, np.arange(bins.number + 1))
    part_of_bin[bins.number] = len(ends) + 1  # missing cells
    parts = part_of_bin[bins.codes]
    if prepared.nominal[column]:
        return _groups(prepared, column, bins, part_of_bin, parts)
    upper = prepared.derived(EqualFrequencyBins, INITIAL_BINS)
    cuts = upper.upper_values(prepared, column, ends)
    return Parts(cuts, parts, _interval_names(prepared, column, cuts))


def level_order(prepared: Prepared, column: int, target: int) -> Integers:
    """Return the levels of a nominal column in the order of their association with a target.

    It is the order of the mean rank of an ordered target. For a nominal target it is the order of
    the first axis of a correspondence analysis. If there is no such axis, or if there are many
    levels, those with the same most over-represented level of the target come together.
    """
    levels, n_levels = _levels(prepared, column)
    values, n_values = _levels(prepared, target)
    both = (levels < n_levels) & (values < n_values)
    n_rows = _at_least_1(levels[both], n_levels)
    if not prepared.nominal[target]:
        places = prepared.derived(Places).by_row[target].astype(np.float64)
        sums = np.bincount(levels[both], places[both], n_levels)
        return np.argsort(sums / n_rows, kind="stable")
    # Only pairs of levels that occur: there may be very many others.
    found, counts = np.unique(levels[both] * n_values + values[both], return_counts=True)
    level, value = np.divmod(found, n_values)
    expected = n_rows[level] * _at_least_1(values[both], n_values)[value] / max(both.sum(), 1)
    excess = (counts - expected) / np.sqrt(expected)
    if n_levels * n_values <= MAX_DENSE:
        table = np.full((n_levels, n_values), np.nan)
        table[level, value] = excess
        columns = _at_least_1(values[both], n_values)
        absent = -np.sqrt(n_rows[:, None] * columns / max(both.sum(), 1))
        axes, sizes, _ = np.linalg.svd(np.where(np.isnan(table), absent, table))
        if sizes.size > 1 and sizes[0] - sizes[1] > 1e-6 * sizes[0]:
            axis = np.round(axes[:, 0] / np.sqrt(n_rows), 9)
            return np.argsort(axis if axis[0] <= 0.0 else -axis, kind="stable")
    likely = np.lexsort((-excess, level))
    first = np.flatnonzero(np.append(True, np.diff(level[likely]))[: likely.size])
    best = likely[first]
    key, share = np.full(n_levels, n_values), np.zeros(n_levels)
    key[level[best]], share[level[best]] = value[best], counts[best] / n_rows[level[best]]
    return np.lexsort((-share, key))


def _at_least_1(levels: Integers, n_levels: int) -> Integers:
    return np.maximum(np.bincount(levels, minlength=n_levels), 1)


def _levels(prepared: Prepared, column: int) -> tuple[Integers, int]:
    """Return the number of each row's value among the distinct ones; missing ones come last."""
    n = prepared.n_present[column]
    values = prepared.values[column, :n]
    steps = np.append(0, np.cumsum(values[1:] != values[:-1])) if n else np.empty(0, np.int64)
    n_levels = int(steps[-1]) + 1 if n else 0
    levels = np.full(prepared.n_rows, n_levels)
    levels[prepared.orders[column, :n]] = steps
    return levels, n_levels


def _initial_bins(prepared: Prepared, column: int, target: int) -> _Bins:
    none = np.empty(0, np.int64)
    if not prepared.nominal[column]:
        bins = prepared.derived(EqualFrequencyBins, INITIAL_BINS)
        return _Bins(bins.codes[column], int(bins.counts[column]), none, none)
    levels, n_levels = _levels(prepared, column)
    order = level_order(prepared, column, target)
    bin_of = np.empty(n_levels + 1, np.int64)
    bin_of[order] = np.arange(n_levels)
    if n_levels > INITIAL_BINS:  # neighbouring levels form bins with about equal numbers of rows
        counts = np.bincount(levels, minlength=n_levels)[:n_levels][order]
        middles = np.cumsum(counts) - counts / 2
        _, joined = np.unique((INITIAL_BINS * middles) // counts.sum(), return_inverse=True)
        bin_of[order] = joined
    number = int(bin_of[:n_levels].max()) + 1
    bin_of[n_levels] = number
    return _Bins(bin_of[levels].astype(np.uint8), number, order, bin_of[order])


def _best_ends(
    prepared: Prepared, target: int, bins: _Bins, others: Sequence[int], max_parts: int
) -> list[int]:
    """Return the last bin of each part of the best partition, except the last part."""
    n_bins, n = bins.number, int(prepared.n_present[target])
    if n_bins < 2 or n < 2:
        return []
    cubes, n_cubes = _cells_of(prepared, others)
    if prepared.nominal[target]:
        costs = _level_costs(prepared, target, bins, cubes, n_cubes)
    else:
        costs = _rank_costs(prepared, target, bins, cubes, n_cubes)
    whole = float(costs[0, n_bins - 1, 0])
    least, start = kernels.shared.partition.best_partitions(costs, n_bins, whole)
    penalty = whole / n * math.log(n) / 2.0 * n_cubes
    penalised = least[:, -1] + penalty * np.arange(1, n_bins + 1)
    parts = int(np.argmin(penalised[:max_parts])) + 1
    return list(kernels.shared.partition.part_ends(start, parts)[:-1].tolist())


def _rank_costs(prepared: Prepared, target: int, bins: _Bins, cubes: Rows, n_cubes: int) -> Floats:
    """Return the entropy of an ordered target in every interval of bins, for both tails."""
    n = int(prepared.n_present[target])
    order, ranks = prepared.orders[target, :n], _mid_ranks(prepared.values[target, :n])
    increments = kernels.shared.entropy_tables.increments(prepared.n_rows)
    costs = np.zeros((bins.number + 1, bins.number + 1, 2))
    for rows, values in ((order, ranks), (order[::-1], -ranks[::-1])):
        cell_values, cell_codes, starts = kernels.shared.cubes.group_by_cube(
            np.ascontiguousarray(rows),
            np.ascontiguousarray(values),
            bins.codes,
            bins.number,
            cubes,
            n_cubes,
        )
        costs += kernels.shared.intervals.interval_costs(
            cell_values, cell_codes, starts[: n_cubes + 1], bins.number, increments
        )
    return costs


def _level_costs(
    prepared: Prepared, target: int, bins: _Bins, cubes: Rows, n_cubes: int
) -> Floats:
    """Return the entropy of a nominal target in every interval of bins."""
    levels, n_levels = _levels(prepared, target)
    present = (levels < n_levels) & (bins.codes < bins.number)
    cells = np.zeros(prepared.n_rows, np.int64) if cubes.size == 0 else cubes.astype(np.int64)
    counts = np.zeros((bins.number + 1, n_cubes, n_levels), np.int64)
    np.add.at(counts, (bins.codes[present] + 1, cells[present], levels[present]), 1)
    up_to = counts.cumsum(axis=0)
    harmonics = kernels.shared.entropy_tables.weighted_harmonics(prepared.n_rows)
    costs = np.zeros((bins.number + 1, bins.number + 1, 2))
    for first in range(bins.number):
        inside = up_to[first + 1 :] - up_to[first]
        entropies = harmonics[inside.sum(axis=2)] - harmonics[inside].sum(axis=2)
        costs[first, first : bins.number, 0] = entropies.sum(axis=1)
    return costs


def _groups(
    prepared: Prepared, column: int, bins: _Bins, part_of_bin: Integers, parts: Integers
) -> Parts:
    """Return the groups of levels of a nominal column."""
    own = prepared.table.columns[column]
    part_of_level = part_of_bin[bins.bin_of]
    distinct = np.unique(prepared.values[column, : prepared.n_present[column]])
    groups = tuple(
        tuple(own.in_own_units(distinct[level]) for level in bins.levels[part_of_level == part])
        for part in range(int(part_of_level.max()) + 1)
    )
    return Parts(groups if len(groups) > 1 else (), parts, tuple(map(_group_name, groups)))


def _group_name(labels: Sequence[Any]) -> str:
    shown = [shown_value(label) for label in labels[:MAX_LABELS]]
    more = len(labels) - len(shown)
    return " or ".join([*shown, *([f"{more} more"] if more else [])])


def _interval_names(prepared: Prepared, column: int, cuts: Sequence[Any]) -> tuple[str, ...]:
    """Return names of the parts of an ordered column: intervals, or single values."""
    own = prepared.table.columns[column]
    n = int(prepared.n_present[column])
    if n == 0:
        return ()
    ends = prepared.orders[column, [0, n - 1]]
    least, largest = (own.in_own_units(float(value)) for value in own.values[ends])
    if not cuts:
        return ("any",)
    if own.kind in ("boolean", "nominal"):
        return tuple(distinct_texts([*cuts, largest]))
    texts = distinct_texts([least, *cuts, largest])
    inner = [f"above {a} to {b}" for a, b in pairwise(texts[1:-1])]
    return (f"up to {texts[1]}", *inner, f"above {texts[-2]}")


def _cells_of(prepared: Prepared, others: Sequence[int]) -> tuple[Rows, int]:
    """Return the cell of each row in a coarse grid of columns, and the number of cells."""
    if not others:
        return np.empty(0, np.uint32), 1
    n_bins = BINS_OF_OTHER if len(others) == 1 else 2
    bins = prepared.derived(EqualFrequencyBins, n_bins)
    cells = np.zeros(prepared.n_rows, np.uint32)
    for other in others[:MAX_OTHERS]:
        codes = bins.codes[other].astype(np.uint32)
        if prepared.nominal[other]:  # the most frequent levels come first
            codes = np.minimum(_levels(prepared, other)[0], n_bins).astype(np.uint32)
        cells = cells * (codes.max() + 1) + codes
    used, numbers = np.unique(cells, return_inverse=True)
    return numbers.astype(np.uint32), used.size


def _mid_ranks(ordered: Floats) -> Floats:
    """Return the mid-ranks of sorted values."""
    first = np.searchsorted(ordered, ordered)
    last = np.searchsorted(ordered, ordered, side="right")
    return np.asarray((first + last + 1) / 2.0)
