"""Strengths: how much of a target up to three columns explain, by grids.

Sets of any size share them. They show which conditions are worth balanced cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from covary import errors, kernels
from covary.array_types import Columns, ColumnSets, Floats, Integers
from covary.engines.base import RunTasks
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import Targets, targets_of
from covary.prepare import Prepared

# A search keeps at most this many strengths: about 200 MB.
MAX_STRENGTHS = 1 << 22
# Targets without rows that do not count are computed for at most this many cells at once.
CELLS_PER_BLOCK = 1 << 22
# Keys are integers of 63 bits that combine three columns.
MAX_COLUMNS = 2_000_000
# All pairs, and all triples, of columns are examined if they are at most this many for all targets
# of a set: up to 64 and up to 14 columns if every column is a target.
MAX_COLUMNS_WITH_PAIRS = 64
MAX_PAIRS = MAX_COLUMNS_WITH_PAIRS * math.comb(MAX_COLUMNS_WITH_PAIRS - 1, 2)
MAX_TRIPLES = 5_000


class Conditions(NamedTuple):
    """Up to three explaining columns and their targets."""

    columns: Columns
    targets: Integers


def most_examined(n_others: int, n_targets: int, n_columns: int, max_given: int | None) -> int:
    """Return the largest number of columns of which all conditions are examined, 1 to 3.

    Parameters
    ----------
    n_others : the number of columns that may explain a target
    n_targets : the number of targets
    n_columns : the number of columns of the table
    max_given : the largest number of columns of a condition, if it is limited
    """
    most = 1
    if n_targets * math.comb(n_others, 2) <= MAX_PAIRS:
        most = 2
        few_columns = n_columns <= kernels.uds_chance.strength_table.MAX_COLUMNS_WITH_TRIPLES
        if few_columns and n_targets * math.comb(n_others, 3) <= MAX_TRIPLES:
            most = 3
    return most if max_given is None else min(most, max_given)


def noise_deviations(n_columns: int, most: int) -> float:
    """Return the noise level of a set in standard deviations.

    Each column has all others as possible conditions. The more there are, the larger is the best
    strength by chance. One condition alone has several grids, and the best of them counts.

    Parameters
    ----------
    n_columns : the number of columns of the set
    most : the result of `most_examined`
    """
    others = max(n_columns - 1, 1)
    candidates = sum(math.comb(others, size) for size in range(1, most + 1))
    return math.sqrt(5.0 + 2.0 * math.log(candidates))


def explain_targets(prepared: Prepared, conditions: Conditions) -> tuple[Floats, Integers]:
    """Return what the best grid explains, and its number.

    There is one line per target: explained fraction, degrees of freedom, and unit, variance and
    skewness of the null distribution. The grids of the second family are numbered after those of
    the first.
    """
    columns, targets = conditions
    absent = prepared.absent(columns)
    if absent is None:
        n_grids = prepared.derived(Grids).n_examined(len(columns))
        return _explain(prepared, columns, targets_of(prepared, targets), n_grids)
    found, best = np.zeros((targets.size, 5)), np.zeros(targets.size, np.int64)
    n_blocks = -(-targets.size * prepared.n_rows // CELLS_PER_BLOCK)
    for block in np.array_split(np.arange(targets.size), max(n_blocks, 1)):
        some = targets_of(prepared, targets[block]).without(absent)
        for n_grids, which in _by_grids(prepared, len(columns), some):
            found[block[which]], best[block[which]] = _explain(
                prepared, columns, some._replace(which=which), n_grids
            )
    return found, best


def _by_grids(
    prepared: Prepared, n_columns: int, targets: Targets
) -> Iterator[tuple[tuple[int, int], Integers]]:
    """Yield the numbers of grids with enough rows that count, and the targets that have them."""
    grids = prepared.derived(Grids)
    n_counted = targets.columns[1]
    by_number: dict[tuple[int, int], list[int]] = {}
    for at in targets.which.tolist():
        numbers = grids.n_examined(n_columns, int(n_counted[at]))
        by_number.setdefault(numbers, []).append(at)
    for numbers, which in by_number.items():
        yield numbers, np.array(which, np.int64)


def _explain(
    prepared: Prepared, condition: Columns, targets: Targets, n_grids: tuple[int, int]
) -> tuple[Floats, Integers]:
    grids = prepared.derived(Grids)
    which, columns, moments = targets
    found, best = kernels.uds_chance.explained.explained_along(
        grids.arrays,
        n_grids,
        np.array(condition, np.int64),
        which,
        columns,
        moments,
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
    )
    best = np.where(best < n_grids[0], best, best + len(grids.families[0].sizes) - n_grids[0])
    return np.column_stack([found, *(each[which] for each in moments)]), best


def explain_all(prepared: Prepared, conditions: Sequence[Conditions]) -> list[Floats]:
    """Return the first result of `explain_targets` for many conditions: a task."""
    found = []
    for each in conditions:
        explained, _ = explain_targets(prepared, each)
        # A date does not explain its own hour, weekday or month.
        explained[
            np.isin(prepared.sources[each.targets], prepared.sources[list(each.columns)])
        ] = 0
        found.append(explained)
    return found


class StrengthTable:
    """Explained fractions and degrees of freedom, by target and conditions.

    It is a hash table of limited size. When it is full, it starts again from empty.

    Parameters
    ----------
    n_columns : the number of columns of the data
    with_nulls : whether the null distribution of a target depends on its conditions, because rows
        in which a condition is missing do not count
    """

    def __init__(self, n_columns: int, with_nulls: bool = False) -> None:
        self.n_values = 5 if with_nulls else 2
        if n_columns > MAX_COLUMNS:
            raise errors.too_many_columns(n_columns, MAX_COLUMNS)
        self.n_columns = n_columns
        self._clear(1 << 10)

    def _clear(self, n_slots: int) -> None:
        self.number = 0
        self.keys = np.full(n_slots, kernels.uds_chance.strength_table.EMPTY)
        self.values = np.empty((n_slots, self.n_values))

    @property
    def arrays(self) -> tuple[Integers, Floats]:
        """Keys and values, as the kernels expect them."""
        return self.keys, self.values

    def compute(self, sets: ColumnSets, most: int, run: RunTasks, target: int = -1) -> None:
        """Compute all strengths that these sets need and that are not in the table.

        Parameters
        ----------
        most : the largest number of columns of a condition
        target : the only column to be explained, or -1 if every column of a set is
        """
        wanted = self._missing(sets, most, target)
        if len(wanted) == 0:
            return
        if self.number + len(wanted) > MAX_STRENGTHS:
            self._clear(len(self.keys))
            wanted = self._missing(sets, most, target)
        self._make_room(len(wanted))
        starts = np.flatnonzero((np.diff(wanted[:, :3], axis=0, prepend=-1) != 0).any(axis=1))
        ends = np.append(starts[1:], len(wanted))
        targets = np.ascontiguousarray(wanted[:, 3])
        conditions = [
            Conditions(tuple(sorted({*columns})), targets[start:end])
            for columns, start, end in zip(
                wanted[starts, :3].tolist(), starts.tolist(), ends.tolist(), strict=True
            )
        ]
        for first, found in run(explain_all, conditions):
            begin = starts[first]
            values = np.ascontiguousarray(np.concatenate(found)[:, : self.n_values])
            self._insert(wanted[begin : begin + len(values)], values)

    def _insert(self, conditions: Integers, values: Floats) -> None:
        kernels.uds_chance.strength_table.insert(
            self.keys, self.values, conditions, self.n_columns, values
        )
        self.number += len(conditions)

    def _missing(self, sets: ColumnSets, most: int, target: int) -> Integers:
        found: Integers = kernels.uds_chance.strength_table.missing_conditions(
            self.keys, sets, self.n_columns, most, target
        )
        return np.unique(found, axis=0) if len(sets) > 1 else found[np.lexsort(found.T[::-1])]

    def _make_room(self, n_more: int) -> None:
        n_slots = len(self.keys)
        while n_slots < 2 * (self.number + n_more):
            n_slots *= 2
        if n_slots > len(self.keys):
            keys, values = self.arrays
            self._clear(n_slots)
            self.number = kernels.uds_chance.strength_table.copy_entries(
                self.keys, self.values, keys, values
            )
