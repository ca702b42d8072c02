"""A few cut points, or groups of levels, of a column that say most about a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import AnyArray, Floats, Integers, Rows
from covary.measures.shared.bins import EqualFrequencyBins
from covary.measures.uds_chance.places import Places
from covary.prepare import Prepared
from covary.results.explanation import Part

# The cuts are chosen from this many initial bins.
INITIAL_BINS = 20
# Another explaining column is cut into this many bins; several ones into two each.
BINS_OF_OTHER = 4
MAX_OTHERS = 4
# A correspondence analysis has at most this many cells.
MAX_DENSE = 1 << 14


class Parts(NamedTuple):
    """The parts of a column that say most about a target.

    Parameters
    ----------
    cuts : the cut points of an ordered column in its own units: the largest value of each part
        except the last; the groups of levels of a nominal column
    of_rows : the part of each row; missing cells are one more part
    parts : the values of each part
    """

    cuts: tuple[Any, ...]
    of_rows: Integers
    parts: tuple[Part, ...]


class _Bins(NamedTuple):
    """The initial bins of a column: of each row its bin, and the number of bins.

    Missing cells have the number of bins. ``levels`` are the levels of a column in the order of
    its bins, and ``bin_of`` is the bin of each of them; both are empty for numbers and dates.
    """

    codes: AnyArray
    number: int
    levels: Integers
    bin_of: Integers


class Partitions:
    """The partitions of a column that say most about a target, one for each number of parts.

    They minimise the entropy of the target in the cells, for both tails, plus a penalty of
    h(target) log(rows) / 2 per cell. If other columns explain the target as well, cells are
    formed together with the quarters of the other, or the halves of several others. Levels without
    an order are put into the order of their association with the target first. Because this order
    is selected, the penalty is larger by h(target) log(parts) per level.

    Parameters
    ----------
    prepared, target, column : the table, and the positions of the target and the column
    others : the positions of the other columns that explain the target
    """

    def __init__(
        self, prepared: Prepared, target: int, column: int, others: Sequence[int]
    ) -> None:
        self.prepared, self.column = prepared, column
        self.bins = _initial_bins(prepared, column, target)
        n_bins, n = self.bins.number, int(prepared.n_present[target])
        absent = prepared.absent([column, *others])
        if absent is not None:  # rows that do not count are treated like missing cells
            codes = np.where(absent, self.bins.codes.dtype.type(n_bins), self.bins.codes)
            self.bins = self.bins._replace(codes=codes)
            n -= int(np.count_nonzero(absent[prepared.orders[target, :n]]))
        self._costs, self._start = np.zeros(1), np.zeros((1, 1), np.uint8)
        if n_bins < 2 or n < 2:
            return
        cubes, n_cubes = _cells_of(prepared, others, target)
        if prepared.nominal[target]:
            costs = _level_costs(prepared, target, self.bins, cubes)
        else:
            costs = _rank_costs(prepared, target, self.bins, cubes, n_cubes)
        whole = float(costs[0, n_bins - 1, 0])
        least, self._start = kernels.shared.partition.best_partitions(costs, n_bins, whole)
        n_parts = np.arange(1, n_bins + 1)
        penalty = n_parts * n_cubes * math.log(n) / 2.0
        if prepared.table.columns[column].kind == "nominal":
            penalty += self.bins.levels.size * np.log(n_parts)
        self._costs = least[:, -1] + whole / n * penalty

    def best(self, max_parts: int = INITIAL_BINS) -> Parts:
        """Return the best partition into at most this many parts."""
        n_parts = int(np.argmin(self._costs[:max_parts])) + 1
        ends = kernels.shared.partition.part_ends(self._start, n_parts)[:-1].tolist()
        part_of_bin = np.searchsorted(ends, np.arange(self.bins.number + 1))
        part_of_bin[self.bins.number] = len(ends) + 1  # missing cells
        of_rows = part_of_bin[self.bins.codes]
        if _has_levels(self.prepared, self.column):
            cuts, parts = self._groups(part_of_bin)
        else:
            cuts, parts = self._intervals(ends, of_rows)
        return Parts(cuts if len(parts) > 1 else (), of_rows, parts)

    def _groups(self, part_of_bin: Integers) -> tuple[tuple[Any, ...], tuple[Part, ...]]:
        """Return the groups of levels of a column with named values."""
        own = self.prepared.table.columns[self.column]
        n_present = self.prepared.n_present[self.column]
        distinct = np.unique(own.values[self.prepared.orders[self.column, :n_present]])
        part_of_level = part_of_bin[self.bins.bin_of]
        groups = [
            tuple(own.in_own_units(distinct[at]) for at in self.bins.levels[part_of_level == part])
            for part in range(int(part_of_level.max(initial=-1)) + 1)
        ]
        ordered = own.kind == "category"
        parts = tuple(Part(levels=group, ordered=ordered) for group in groups)
        if own.kind == "nominal":
            return tuple(groups), parts
        return tuple(group[-1] for group in groups[:-1]), parts

    def _intervals(
        self, ends: list[int], of_rows: Integers
    ) -> tuple[tuple[Any, ...], tuple[Part, ...]]:
        """Return the cut points of a column of numbers or dates, and the intervals between."""
        own = self.prepared.table.columns[self.column]
        bins = self.prepared.derived(EqualFrequencyBins, INITIAL_BINS)
        cuts = bins.upper_values(self.prepared, self.column, ends)
        parts = []
        for at, (above, up_to) in enumerate(zip((None, *cuts), (*cuts, None), strict=True)):
            part = Part(above=above, up_to=up_to)
            values = own.values[of_rows == at]
            if own.kind == "number" and cuts and values.size and values.min() == values.max():
                part = part._replace(levels=(own.in_own_units(float(values[0])),))
            parts.append(part)
        return cuts, tuple(parts)


def level_order(prepared: Prepared, column: int, target: int) -> Integers:
    """Return the levels of a nominal column in the order of their association with a target.

    It is the order of the mean rank of an ordered target. For a nominal target, levels with the
    same most over-represented level of the target come together. These levels of the target, and
    the levels within, are in the order of the first axis of a correspondence analysis, or in the
    order of frequency if there is no such axis or if there are many levels. The order of the rows
    does not matter, and names only for levels that differ in nothing else.
    """
    return _association(prepared, column, target)[0]


def _association(prepared: Prepared, column: int, target: int) -> tuple[Integers, Integers]:
    """Return the order of the levels, and for each of them its level of the target.

    The latter is the position of its most over-represented level of a nominal target among all
    such levels, the most frequent one first; 0 if the target has an order.
    """
    levels, n_levels = _levels(prepared, column)
    values, n_values = _levels(prepared, target)
    both = (levels < n_levels) & (values < n_values)
    n_rows = _at_least_1(levels[both], n_levels)
    names = _name_ranks(prepared, column, n_levels)
    if not prepared.nominal[target]:
        places = prepared.derived(Places).by_row[target].astype(np.float64)
        means = np.bincount(levels[both], places[both], n_levels) / n_rows
        return np.lexsort((names, -n_rows, means)), np.zeros(n_levels, np.int64)
    # Only pairs of levels that occur: there may be very many others.
    found, counts = np.unique(levels[both] * n_values + values[both], return_counts=True)
    level, value = np.divmod(found, n_values)
    n_of_value = _at_least_1(values[both], n_values)
    expected = n_rows[level] * n_of_value[value] / max(both.sum(), 1)
    excess = (counts - expected) / np.sqrt(expected)
    # From here on, levels are numbered by their frequency and their association.
    level_rank = _ranks(level, excess, n_rows, names)
    value_names = _name_ranks(prepared, target, n_values)
    value_rank = _ranks(value, excess, n_of_value, value_names)
    level, value = level_rank[level], value_rank[value]
    sizes, n_of_value = n_rows[np.argsort(level_rank)], n_of_value[np.argsort(value_rank)]
    likely = np.lexsort((value, -np.round(excess, 9), level))
    likely = likely[np.append(True, np.diff(level[likely]) > 0)[: likely.size]]
    best, share = np.full(n_levels, n_values), np.zeros(n_levels)
    best[level[likely]], share[level[likely]] = value[likely], counts[likely]
    place_of_level, place_of_value = -share / sizes, np.arange(n_values + 1.0)
    if n_levels * n_values <= MAX_DENSE:
        table = -np.sqrt(sizes[:, None] * n_of_value / max(both.sum(), 1))
        table[level, value] = excess
        axis = _first_axis(table)
        if axis is not None:
            place_of_level = np.round(axis[0] / np.sqrt(sizes), 9)
            place_of_value[:-1] = np.round(axis[1] / np.sqrt(n_of_value), 9)
    order = np.lexsort((place_of_level, best, place_of_value[best]))
    by_frequency = np.unique(best, return_inverse=True)[1]
    back = np.argsort(level_rank)
    return back[order], by_frequency[level_rank]


def _first_axis(table: Floats) -> tuple[Floats, Floats] | None:
    """Return lines and columns of a table on the first axis; None if there is no unique one."""
    lines, sizes, columns = np.linalg.svd(table, full_matrices=False)
    if sizes.size < 2 or sizes[0] - sizes[1] <= 1e-6 * sizes[0]:
        return None
    sign = -1.0 if lines[np.argmax(np.round(np.abs(lines[:, 0]), 9)), 0] > 0.0 else 1.0
    return sign * lines[:, 0], sign * columns[0]


def _ranks(which: Integers, excess: Floats, n_rows: Integers, names: Integers) -> Integers:
    """Return the rank of each level: by frequency, by association, and by name if both tie."""
    association = np.round(np.bincount(which, excess**2, n_rows.size), 9)
    return np.argsort(np.lexsort((names, -association, -n_rows)))


def _name_ranks(prepared: Prepared, column: int, n_levels: int) -> Integers:
    """Return the ranks of the names of levels, as text."""
    own = prepared.table.columns[column]
    if own.kind != "nominal" or not own.categories:
        return np.arange(n_levels)
    n = prepared.n_present[column]
    distinct = np.unique(own.values[prepared.orders[column, :n]]).astype(int).tolist()
    names = [str(own.categories[at]) for at in distinct]
    return np.argsort(sorted(range(n_levels), key=names.__getitem__))


def _has_levels(prepared: Prepared, column: int) -> bool:
    return prepared.table.columns[column].kind in ("nominal", "boolean", "category")


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
    """Return a column in bins with about equal numbers of rows, or its levels if they are few.

    Levels with different likely levels of a nominal target are not in the same bin.
    """
    if not _has_levels(prepared, column):
        none = np.empty(0, np.int64)
        bins = prepared.derived(EqualFrequencyBins, INITIAL_BINS)
        return _Bins(bins.codes[column], int(bins.counts[column]), none, none)
    levels, n_levels = _levels(prepared, column)
    order, likely = np.arange(n_levels), np.zeros(n_levels, np.int64)
    if prepared.table.columns[column].kind == "nominal":
        order, likely = _association(prepared, column, target)
    bin_of = np.zeros(n_levels + 1, np.int64)
    bin_of[order] = np.arange(n_levels)
    if n_levels > INITIAL_BINS:
        apart = np.minimum(likely[order], INITIAL_BINS)
        chunks = _chunks(levels, order, INITIAL_BINS)
        bin_of[order] = np.cumsum(np.append(False, np.diff(chunks) + np.abs(np.diff(apart)) > 0))
    number = int(bin_of[:n_levels].max(initial=-1)) + 1
    bin_of[n_levels] = number
    return _Bins(bin_of[levels].astype(np.uint8), number, order, bin_of[order])


def _coarse_bins(prepared: Prepared, column: int, target: int, n_bins: int) -> AnyArray:
    """Return the bin of each row in a column that explains a target together with another."""
    if not prepared.nominal[column]:
        codes: AnyArray = prepared.derived(EqualFrequencyBins, n_bins).codes[column]
        return codes
    levels, n_levels = _levels(prepared, column)
    order = level_order(prepared, column, target)
    bin_of = np.full(n_levels + 1, n_bins)
    bin_of[order] = _chunks(levels, order, n_bins)
    return bin_of[levels]


def _chunks(levels: Integers, order: Integers, most: int) -> Integers:
    """Return the chunk of each level, in an order; chunks have about equal numbers of rows."""
    counts = np.bincount(levels, minlength=order.size)[: order.size][order]
    middles = np.cumsum(counts) - counts / 2
    return np.asarray((most * middles) // counts.sum(), np.int64)


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


def _level_costs(prepared: Prepared, target: int, bins: _Bins, cubes: Rows) -> Floats:
    """Return the entropy of a nominal target in every interval of bins."""
    levels, n_levels = _levels(prepared, target)
    present = (levels < n_levels) & (bins.codes < bins.number)
    cells = np.zeros(prepared.n_rows, np.int64) if cubes.size == 0 else cubes.astype(np.int64)
    # Only levels that occur in a cell: there may be very many others.
    found, pair = np.unique(cells[present] * n_levels + levels[present], return_inverse=True)
    first_pairs = np.flatnonzero(np.append(True, np.diff(found // n_levels)))
    up_to = np.zeros((bins.number + 1, found.size), np.int32)
    np.add.at(up_to, (bins.codes[present] + 1, pair), 1)
    np.cumsum(up_to, axis=0, out=up_to)
    harmonics = kernels.shared.entropy_tables.weighted_harmonics(prepared.n_rows)
    costs = np.zeros((bins.number + 1, bins.number + 1, 2))
    for first in range(bins.number):
        for last in range(first, bins.number):
            inside = up_to[last + 1] - up_to[first]
            sums = np.add.reduceat(inside, first_pairs)
            costs[first, last, 0] = harmonics[sums].sum() - harmonics[inside].sum()
    return costs


def _cells_of(prepared: Prepared, others: Sequence[int], target: int) -> tuple[Rows, int]:
    """Return the cell of each row in a coarse grid of columns, and the number of cells."""
    if not others:
        return np.empty(0, np.uint32), 1
    n_bins = BINS_OF_OTHER if len(others) == 1 else 2
    cells = np.zeros(prepared.n_rows, np.uint32)
    for other in others[:MAX_OTHERS]:
        codes = _coarse_bins(prepared, other, target, n_bins).astype(np.uint32)
        cells = cells * (codes.max() + 1) + codes
    used, numbers = np.unique(cells, return_inverse=True)
    return numbers.astype(np.uint32), used.size


def _mid_ranks(ordered: Floats) -> Floats:
    """Return the mid-ranks of sorted values."""
    first = np.searchsorted(ordered, ordered)
    last = np.searchsorted(ordered, ordered, side="right")
    return np.asarray((first + last + 1) / 2.0)
