"""Strengths: how much of a target one or two columns explain. Sets of any size share them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from covary import errors, kernels
from covary.array_types import ColumnSets, Floats, Integers
from covary.engines.base import RunTasks
from covary.measures.scorer import Scorer
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import MidRanks, target_arrays
from covary.prepare import Prepared

# A search keeps at most this many strengths: about 200 MB.
MAX_STRENGTHS = 1 << 22
# Keys are integers of 63 bits that combine three columns.
MAX_COLUMNS = 2_000_000
# In larger sets, one column at a time explains another, because there are too many pairs.
MAX_COLUMNS_WITH_PAIRS = 64
# Scores are returned after going through about this many rows: two seconds.
ROWS_PER_CHUNK = 2e9
MAX_SETS_PER_CHUNK = 1 << 15


class Conditions(NamedTuple):
    """One or two explaining columns and their targets; a single column is named twice."""

    one: int
    other: int
    targets: Integers


def noise_deviations(n_columns: int, with_pairs: bool) -> float:
    """Return the noise level of a set in standard deviations.

    Each column has all others as possible conditions. The more there are, the larger is the best
    strength by chance.
    """
    others = max(n_columns - 1, 1)
    candidates = others + (math.comb(others, 2) if with_pairs else 0)
    return math.sqrt(4.0 + 2.0 * math.log(candidates))


def explain_targets(prepared: Prepared, conditions: Conditions) -> tuple[Floats, Integers]:
    """Return explained fraction and degrees of freedom of the best grid, and its number.

    There is one line per target. The grids of the second family are numbered after those of the
    first.
    """
    grids = prepared.derived(Grids)
    one, other, targets = conditions
    found: tuple[Floats, Integers] = kernels.uds_chance.explained.explained_along(
        grids.arrays,
        tuple(family.n_grids(one, other) for family in grids.families),
        one,
        other,
        targets,
        target_arrays(prepared),
        prepared.derived(MidRanks).null_moments,
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
    )
    return found


def explain_all(prepared: Prepared, conditions: Sequence[Conditions]) -> list[Floats]:
    """Return the first result of `explain_targets` for many conditions: a task."""
    return [explain_targets(prepared, each)[0] for each in conditions]


class StrengthTable:
    """Explained fractions and degrees of freedom, by target and conditions.

    It is a hash table of limited size. When it is full, it starts again from empty.
    """

    def __init__(self, n_columns: int) -> None:
        if n_columns > MAX_COLUMNS:
            raise errors.too_many_columns(n_columns, MAX_COLUMNS)
        self.n_columns = n_columns
        self._clear(1 << 10)

    def _clear(self, n_slots: int) -> None:
        self.number = 0
        self.keys = np.full(n_slots, kernels.uds_chance.strength_table.EMPTY)
        self.values = np.empty((n_slots, 2))

    @property
    def arrays(self) -> tuple[Integers, Floats]:
        """Keys and values, as the kernels expect them."""
        return self.keys, self.values

    def compute(self, sets: ColumnSets, with_pairs: bool, run: RunTasks, target: int = -1) -> None:
        """Compute all strengths that these sets need and that are not in the table.

        ``target`` is the only column to be explained, or -1 if every column of a set is.
        """
        wanted = self._missing(sets, with_pairs, target)
        if len(wanted) == 0:
            return
        if self.number + len(wanted) > MAX_STRENGTHS:
            self._clear(len(self.keys))
            wanted = self._missing(sets, with_pairs, target)
        self._make_room(len(wanted))
        targets, pairs = np.divmod(wanted, self.n_columns**2)
        places = np.argsort(pairs, kind="stable")
        starts = np.flatnonzero(np.diff(pairs[places], prepend=-1))
        ends = np.append(starts[1:], len(places))
        ones, others = np.divmod(pairs[places[starts]], self.n_columns)
        conditions = [
            Conditions(one, other, targets[places[start:end]])
            for one, other, start, end in zip(
                ones.tolist(), others.tolist(), starts.tolist(), ends.tolist(), strict=True
            )
        ]
        for first, found in run(explain_all, conditions):
            begin = starts[first]
            values = np.concatenate(found)
            self._insert(wanted[places[begin : begin + len(values)]], values)

    def _insert(self, keys: Integers, values: Floats) -> None:
        kernels.uds_chance.strength_table.insert(self.keys, self.values, keys, values)
        self.number += len(keys)

    def _missing(self, sets: ColumnSets, with_pairs: bool, target: int) -> Integers:
        found: Integers = kernels.uds_chance.strength_table.missing_keys(
            self.keys, sets, self.n_columns, with_pairs, target
        )
        return found

    def _make_room(self, n_more: int) -> None:
        n_slots = len(self.keys)
        while n_slots < 2 * (self.number + n_more):
            n_slots *= 2
        if n_slots > len(self.keys):
            filled = self.keys != kernels.uds_chance.strength_table.EMPTY
            keys, values = self.keys[filled], self.values[filled]
            self._clear(n_slots)
            self._insert(keys, values)


class StrengthScorer(Scorer):
    """Scores sets from strengths; goes through the rows only for strengths that are missing.

    Parameters
    ----------
    max_given : the maximum number of columns that explain one together, 1 or 2
    target : the column that each set explains, or -1 if its columns explain each other
    """

    def __init__(self, prepared: Prepared, max_given: int, target: int = -1) -> None:
        super().__init__(prepared)
        self.prepared = prepared
        self.max_given = max_given
        self.target = target
        self.table = StrengthTable(len(prepared.names))

    def score(
        self, sets: ColumnSets, run: RunTasks, remember: int = 0
    ) -> Iterator[tuple[Integers, Floats]]:
        with_pairs = self.with_pairs(sets.shape[1])
        chunk = self._sets_per_chunk(sets.shape[1])
        for first in range(0, len(sets), chunk):
            some = sets[first : first + chunk]
            self.table.compute(some, with_pairs, run, self.target)
            yield np.arange(first, first + len(some)), self.from_table(some)

    def with_pairs(self, size: int) -> bool:
        """Return whether two columns may explain one together in a set of this size."""
        return self.max_given > 1 and size + (self.target >= 0) <= MAX_COLUMNS_WITH_PAIRS

    def best_order(self, columns: Sequence[int]) -> tuple[float, list[int]]:
        """Return the score of a set and the order that gives it.

        All columns must vary, and all strengths must be in the table.
        """
        if len(columns) < 2:
            return 0.0, list(columns)
        which, midranks = np.array(columns, np.int64), self.prepared.derived(MidRanks)
        with_pairs = self.with_pairs(len(columns))
        parts = kernels.uds_chance.column_order.contributions_of(
            which,
            with_pairs,
            self.table.arrays,
            midranks.entropies,
            midranks.null_moments,
            noise_deviations(len(columns), with_pairs),
        )
        unit = kernels.uds_chance.column_order.UNIT
        wholes = np.rint(midranks.entropies[which] / unit).astype(np.int64)
        score, order = kernels.uds_chance.column_order.best_order(parts, wholes)
        return float(score), which[order].tolist()

    def strength(self, target: int, by: tuple[int, ...], n_columns: int) -> tuple[float, float]:
        """Return a lower bound and an estimate of the fraction of a target that ``by`` explain.

        ``n_columns`` is the number of varying columns of the set. Both are 0 if the strength is
        not in the table.
        """
        found: tuple[float, float] = kernels.uds_chance.strength_table.stored_strength(
            self.table.arrays,
            target,
            by[0],
            by[-1],
            self.prepared.derived(MidRanks).null_moments,
            noise_deviations(n_columns, self.with_pairs(n_columns)),
        )
        return found

    def _sets_per_chunk(self, size: int) -> int:
        """Return the number of sets that are scored before scores are returned."""
        n_targets = size if self.target < 0 else 1
        n_conditions = size + (math.comb(size, 2) if self.with_pairs(size) else 0)
        rows_per_set = self.prepared.n_rows * 16 * n_targets * n_conditions
        return int(min(max(ROWS_PER_CHUNK / rows_per_set, 16), MAX_SETS_PER_CHUNK))

    def from_table(self, sets: ColumnSets) -> Floats:
        """Return the scores of sets; all strengths must be in the table."""
        midranks = self.prepared.derived(MidRanks)
        with_pairs = self.with_pairs(sets.shape[1])
        arguments = (
            sets,
            with_pairs,
            self.prepared.varies,
            self.table.arrays,
            midranks.entropies,
            midranks.null_moments,
            np.array([noise_deviations(d, with_pairs) for d in range(sets.shape[1] + 2)]),
        )
        scores: Floats
        if self.target >= 0:
            scores = kernels.uds_chance.column_order.score_sets_with_target(
                self.target, *arguments
            )
        else:
            scores = kernels.uds_chance.column_order.score_sets(*arguments)
        return scores
