"""How much of a column one or two others explain: computed once, for sets of any size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import errors, kernels
from covary.measures.base import Run, Scorer, Scores, Sets
from covary.prepare import Prepared

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# What is known of so many targets and conditions is kept in a search: about 200 MB.
MOST_KNOWN = 1 << 22
# Keys are whole numbers of 63 bits: so many columns can be told apart, three at a time.
MOST_COLUMNS = 2_000_000
# In larger sets, a column is explained by one other: pairs of others would be too many.
MOST_WITH_PAIRS = 64
# So many rows are gone through, about two seconds, before scores are handed out.
ROWS_AT_A_TIME = 2e9
MOST_SETS_AT_A_TIME = 1 << 15
# Copies of a column are gone through so many cells at a time.
CELLS_AT_A_TIME = 1 << 20


class Condition(NamedTuple):
    """One column, or two, and the targets that they may explain; one column is named twice."""

    one: int
    other: int
    targets: Numbers


def deviations_of(n_columns: int, with_pairs: bool) -> float:
    """Return how far out the noise level is in a set of so many columns.

    Each column of a set has all others to choose from, and the more there are, the further out
    their best comes by chance.
    """
    others = max(n_columns - 1, 1)
    candidates = others + (math.comb(others, 2) if with_pairs else 0)
    return math.sqrt(4.0 + 2.0 * math.log(candidates))


def explain_targets(prepared: Prepared, condition: Condition) -> tuple[Floats, Numbers]:
    """Return for each target the explained share and the freedom of its best grid, and the grid.

    Grids are numbered through both families.
    """
    ranked, families = prepared.ranked, prepared.grids
    alone = condition.one == condition.other
    found: tuple[Floats, Numbers] = kernels.strengths.explained_along(
        tuple((grids.codes, grids.maps, grids.n_bins) for grids in families),
        tuple(len(grids.sizes) if alone else grids.n_of_two for grids in families),
        condition.one,
        condition.other,
        condition.targets,
        as_targets(prepared),
        ranked.nulls,
        *kernels.tables.whole_increments(prepared.n_rows),
    )
    return found


Columns = tuple[npt.NDArray[np.generic], ...]


def as_targets(prepared: Prepared, folded: bool = False) -> Columns:
    """Return the columns as `covary.kernels.gains` wants them."""
    orders, ranked = prepared.folded if folded else (prepared.orders, prepared.ranked)
    return (
        orders,
        prepared.n_present,
        ranked.entropies,
        ranked.gap_lines,
        ranked.gap_of,
        ranked.bias_lines,
        ranked.bias_of,
    )


def copies(columns: Columns, column: int, rows: npt.NDArray[np.uint32]) -> Columns:
    """Return copies of one of the columns, its values moved to other rows in each.

    Parameters
    ----------
    columns : as of `as_targets`
    rows : for each copy, where the value of each row goes

    """
    orders, n_present, entropies, gap_lines, gap_of, bias_lines, bias_of = columns

    def repeated(figures: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.full(len(rows), figures[column])

    return (
        np.take(rows, orders[column], axis=1),
        repeated(n_present),
        repeated(entropies),
        gap_lines,
        repeated(gap_of),
        bias_lines,
        repeated(bias_of),
    )


def explain_all(prepared: Prepared, conditions: Sequence[Condition]) -> list[Floats]:
    """Return what `explain_targets` does of many conditions, without the grids: a task."""
    return [explain_targets(prepared, condition)[0] for condition in conditions]


class Known:
    """What is known: by target and condition, the explained share and the degrees of freedom.

    A hash table of limited size: when it is full, it starts afresh.
    """

    def __init__(self, n_columns: int) -> None:
        if n_columns > MOST_COLUMNS:
            raise errors.too_many_columns(n_columns, MOST_COLUMNS)
        self.n_columns = n_columns
        self._clear(1 << 10)

    def _clear(self, n_slots: int) -> None:
        self.number = 0
        self.keys = np.full(n_slots, kernels.strengths.EMPTY)
        self.values = np.empty((n_slots, 2))

    @property
    def table(self) -> tuple[Numbers, Floats]:
        """Keys and values, as `covary.kernels.orders` wants them."""
        return self.keys, self.values

    def learn(self, sets: Sets, with_pairs: bool, run: Run, target: int = -1) -> None:
        """Compute all that is not known yet to score these sets.

        ``target`` is the only column to be explained, or -1 if every column of a set is.
        """
        wanted = self._unknown(sets, with_pairs, target)
        if len(wanted) == 0:
            return
        if self.number + len(wanted) > MOST_KNOWN:
            self._clear(len(self.keys))
            wanted = self._unknown(sets, with_pairs, target)
        self._make_room(len(wanted))
        targets, pairs = np.divmod(wanted, self.n_columns**2)
        places = np.argsort(pairs, kind="stable")
        starts = np.flatnonzero(np.diff(pairs[places], prepend=-1))
        ends = np.append(starts[1:], len(places))
        ones, others = np.divmod(pairs[places[starts]], self.n_columns)
        conditions = [
            Condition(one, other, targets[places[start:end]])
            for one, other, start, end in zip(
                ones.tolist(), others.tolist(), starts.tolist(), ends.tolist(), strict=True
            )
        ]
        for first, found in run(explain_all, conditions):
            begin = starts[first]
            values = np.concatenate(found)
            new = wanted[places[begin : begin + len(values)]]
            kernels.strengths.remember(self.keys, self.values, new, values)
            self.number += len(new)

    def _unknown(self, sets: Sets, with_pairs: bool, target: int) -> Numbers:
        found: Numbers = kernels.strengths.unknown(
            self.keys, sets, self.n_columns, with_pairs, target
        )
        return found

    def _make_room(self, n_more: int) -> None:
        n_slots = len(self.keys)
        while n_slots < 2 * (self.number + n_more):
            n_slots *= 2
        if n_slots > len(self.keys):
            filled = self.keys != kernels.strengths.EMPTY
            keys, values = self.keys[filled], self.values[filled]
            self._clear(n_slots)
            kernels.strengths.remember(self.keys, self.values, keys, values)
            self.number = len(keys)


class StrengthScorer(Scorer):
    """Scores sets from what is known of their columns; rows are looked at only for what is not.

    Parameters
    ----------
    max_given : how many columns may explain one together, 1 or 2
    target : the column that is explained by each set, or -1 if they explain each other
    """

    def __init__(self, prepared: Prepared, max_given: int, target: int = -1) -> None:
        _ = prepared.ranked, prepared.grids  # computed here, before the workers get it
        self.shared = prepared
        self.max_given = max_given
        self.target = target
        self.known = Known(len(prepared.names))

    def score(
        self, sets: Sets, run: Run, remember: int = 0
    ) -> Iterator[tuple[npt.NDArray[np.int64], Scores]]:
        with_pairs = self.with_pairs(sets.shape[1])
        at_a_time = self._sets_at_a_time(sets.shape[1])
        for first in range(0, len(sets), at_a_time):
            some = sets[first : first + at_a_time]
            self.known.learn(some, with_pairs, run, self.target)
            yield np.arange(first, first + len(some)), self.from_known(some)

    def with_pairs(self, size: int) -> bool:
        """Return whether two of so many columns may explain one together."""
        return self.max_given > 1 and size + (self.target >= 0) <= MOST_WITH_PAIRS

    def best_order(self, columns: Sequence[int]) -> tuple[float, list[int]]:
        """Return the score of a set of which everything is known, and the order that gives it.

        Its columns all vary.
        """
        if len(columns) < 2:
            return 0.0, list(columns)
        which, ranked = np.array(columns, np.int64), self.shared.ranked
        with_pairs = self.with_pairs(len(columns))
        parts = kernels.orders.parts_of(
            which,
            with_pairs,
            self.known.table,
            ranked.entropies,
            ranked.nulls,
            deviations_of(len(columns), with_pairs),
        )
        wholes = np.rint(ranked.entropies[which] / kernels.orders.UNIT).astype(np.int64)
        score, order = kernels.orders.best_order(parts, wholes)
        return float(score), which[order].tolist()

    def strength(self, target: int, by: tuple[int, ...], n_columns: int) -> tuple[float, float]:
        """Return how much of a target one or two columns explain, in a set of so many that vary.

        The first is for sure, the second in all likelihood; 0 if nothing is known.
        """
        deviations = deviations_of(n_columns, self.with_pairs(n_columns))
        found: tuple[float, float] = kernels.strengths.known_strength(
            self.known.table, target, by[0], by[-1], self.shared.ranked.nulls, deviations
        )
        return found

    def _sets_at_a_time(self, size: int) -> int:
        """Return how many sets can be scored before anyone loses patience."""
        n_targets = size if self.target < 0 else 1
        n_conditions = size + (math.comb(size, 2) if self.with_pairs(size) else 0)
        at_worst = self.shared.n_rows * 16 * n_targets * n_conditions
        return int(min(max(ROWS_AT_A_TIME / at_worst, 16), MOST_SETS_AT_A_TIME))

    def from_known(self, sets: Sets) -> Scores:
        """Return the scores of sets of which everything is known."""
        ranked = self.shared.ranked
        with_pairs = self.with_pairs(sets.shape[1])
        known = (
            sets,
            with_pairs,
            self.shared.varies,
            self.known.table,
            ranked.entropies,
            ranked.nulls,
            np.array([deviations_of(d, with_pairs) for d in range(sets.shape[1] + 2)]),
        )
        scores: Scores
        if self.target >= 0:
            scores = kernels.orders.score_sets_toward(self.target, *known)
        else:
            scores = kernels.orders.score_sets(*known)
        return scores
