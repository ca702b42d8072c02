"""The increment test: does a set need all of its columns?

A set that contains a strong pair scores high with any additional column. The set needs all of its
columns if certain pairs of them depend on each other given all other columns of the set. These are

- the pairs with the target,
- without a target, the pairs with a column that the others explain best, or nearly so, and the
  pairs that depend on each other if nothing is given.

So two columns that depend on each other only through a third one do not form an increment. Two
independent columns that explain a third one together do.

Every pair must be dependent, so that the largest p-value counts (an intersection-union test).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np

from covary.array_types import Columns, Floats, Integers, Rows
from covary.measures.shared.content_order import content_hashes
from covary.measures.shared.shifted import evidence_of_shifts
from covary.measures.uds_chance.conditional import ConditionalEvidence
from covary.measures.uds_chance.evidence import evidence_of, evidence_of_copies
from covary.measures.uds_chance.places import by_content
from covary.prepare import Prepared, keep_missing
from covary.seeds import Purpose, random_stream
from covary.table.dependent_rows import DependentRows, random_shifts
from covary.tail_probability import tail_probability

# The number of permutations; more if the p-value may be small, and still more if it is, unless it
# is so small that an error by a factor of ten does not matter.
FEW_PERMUTATIONS, PERMUTATIONS, MANY_PERMUTATIONS = 31, 199, 999
NEAR_LEVEL = (1e-5, 0.05)
# With a larger p-value, the set does not need all of its columns. Others are not tested then.
INSIGNIFICANT = 0.2
# Two columns depend on each other, if nothing is given, with a p-value of at most this.
DEPENDENT = 0.1
# A column is nearly the best explained one if at least this fraction as much of it is explained.
NEARLY_BEST = 0.75


def increment_pvalue(
    prepared: Prepared,
    columns: Sequence[int],
    explained: dict[int, float],
    given: Columns,
    seed: int,
) -> float:
    """Return the p-value of the hypothesis that a set does not need one of its columns.

    Parameters
    ----------
    columns : the columns of the set
    explained : the fraction of columns that the others of the set explain: of the target, or of
        all columns if there is no target
    given : columns that are given in all tests
    seed : of the permutations
    """
    limit = NEARLY_BEST * max(explained.values())
    best = {column for column, fraction in explained.items() if fraction >= limit}
    pairs = list(combinations(columns, 2))
    with_best = [pair for pair in pairs if not best.isdisjoint(pair)]
    others = [] if len(explained) == 1 else [pair for pair in pairs if best.isdisjoint(pair)]
    largest = 0.0
    for some in (with_best, others):
        for pair in _weakest_first(prepared, some):
            test = _PairTest(prepared, pair, columns, given, seed)
            if some is with_best or test.depends():
                largest = max(largest, test.pvalue())
            if largest > INSIGNIFICANT:
                return largest
    return largest


def _weakest_first(prepared: Prepared, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs that are most likely to be independent given the others first.

    These are usually those with the least evidence if nothing is given. This is known after a
    hundredth of the time of the test itself.
    """
    if not pairs:
        return []
    evidence = evidence_of(prepared, pairs, None).tolist()
    columns = by_content(prepared, sorted({column for pair in pairs for column in pair}))
    places = {column: at for at, column in enumerate(columns)}
    keys = [(e, sorted(places[c] for c in pair)) for e, pair in zip(evidence, pairs, strict=True)]
    return [pair for _, pair in sorted(zip(keys, pairs, strict=True))]


class _PairTest:
    """The tests of two columns of a set, with and without the others given."""

    def __init__(
        self,
        prepared: Prepared,
        pair: tuple[int, int],
        columns: Sequence[int],
        given: Columns,
        seed: int,
    ) -> None:
        self.prepared = prepared
        ordered = by_content(prepared, [*columns, *given])
        self.pair = sorted(
            pair,
            key=lambda column: (
                not prepared.nominal[column],  # an ordered target has only one residual
                _n_values(prepared, column),
                ordered.index(column),
            ),
        )
        tested, target = self.pair
        rest = sorted({*columns, *given} - {tested, target})
        # The permutations do not depend on the positions of the columns in the table.
        hashes = content_hashes(prepared, [tested, target, *rest])
        self.seed, self.key = seed, (*hashes[:2], *sorted(hashes[2:]))
        self.conditional = ConditionalEvidence(prepared, target, (tested,), rest)

    def pvalue(self) -> float:
        """Return the p-value of the independence of both columns given the others."""
        conditional = self.conditional
        if self.prepared.series is not None:
            series = conditional.series
            assert series is not None
            return _pvalue(conditional.observed, conditional.of_own_shifts, self._shifts(series))
        return _pvalue(conditional.observed, conditional.of_permutations, self._rows())

    def depends(self) -> bool:
        """Return whether the columns depend on each other if nothing is given."""
        moved = self.pair[1]
        if self.prepared.series is not None:
            zero = np.zeros(self.prepared.series.sizes.size, np.int64)
            drawn = self._shifts(self.prepared.series)(PERMUTATIONS)
            shifts = [{moved: each} for each in (zero, *drawn)]
            both = evidence_of_shifts(_pair_evidence, self.prepared, [self.pair], shifts, None)
            return tail_probability(float(both[0, 0]), both[1:, 0]) <= DEPENDENT
        rows = self._rows()(PERMUTATIONS)
        if not self.prepared.missing_is_level:
            n_present = self.prepared.n_present[moved]
            present = np.sort(self.prepared.orders[moved, :n_present])
            rows = np.array([keep_missing(each, present) for each in rows])
        null = evidence_of_copies(self.prepared, [self.pair], 1, moved, rows)
        observed = float(evidence_of(self.prepared, [self.pair], 1)[0])
        return tail_probability(observed, null[:, 0]) <= DEPENDENT

    def _shifts(self, series: DependentRows) -> Callable[[int], list[Integers]]:
        """Return a function that draws shifts in time, of one series each shift once."""
        rng = random_stream(self.seed, Purpose.INCREMENTS, *self.key)
        drawn = iter(random_shifts(series, MANY_PERMUTATIONS, rng))
        return lambda number: list(islice(drawn, number))

    def _rows(self) -> Callable[[int], Rows]:
        """Return a function that draws permutations of the rows, or of those of each group."""
        rng = random_stream(self.seed, Purpose.INCREMENTS, *self.key)
        dependent = self.prepared.dependent
        every = np.arange(self.prepared.n_rows, dtype=np.uint32)
        if dependent is None:
            return lambda number: rng.permuted(np.tile(every, (number, 1)), axis=1)
        return lambda number: np.array([dependent.exchanged(rng) for _ in range(number)])


def _pair_evidence(
    prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None
) -> Floats:
    return evidence_of(prepared, sets, 1, target)


def _n_values(prepared: Prepared, column: int) -> int:
    values = prepared.values[column, : prepared.n_present[column]]
    return int(np.count_nonzero(values[1:] != values[:-1]))


def _pvalue(
    observed: float, evidence: Callable[[Any], Floats], rows: Callable[[int], Any]
) -> float:
    """Return the p-value of an observed evidence, with more permutations if it may be small."""
    null = evidence(rows(FEW_PERMUTATIONS))
    if tail_probability(observed, null) <= INSIGNIFICANT:
        null = np.append(null, evidence(rows(PERMUTATIONS - FEW_PERMUTATIONS)))
        if NEAR_LEVEL[0] <= tail_probability(observed, null) <= NEAR_LEVEL[1]:
            null = np.append(null, evidence(rows(MANY_PERMUTATIONS - PERMUTATIONS)))
    return tail_probability(observed, null)
