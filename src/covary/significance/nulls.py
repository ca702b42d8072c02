"""Arrangements of values under the null hypothesis: random permutations, or all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from covary import errors, kernels
from covary.array_types import Columns, Floats, Rows
from covary.measures import Measure
from covary.prepare import Prepared, Ranks, keep_missing
from covary.seeds import Purpose, random_stream
from covary.table.dependent_rows import BETWEEN, SERIES, WITHIN, DependentRows

# Fewer shifts of series, or exchanges of groups, cannot give a p-value of 5 %.
MIN_ARRANGEMENTS = 20
# All arrangements are listed only if they have at most this many cells in total.
MAX_LISTED_CELLS = 10_000_000


class NullTables(ABC):
    """Numbered tables under the null hypothesis, and the evidence of sets in them."""

    @abstractmethod
    def evidence(
        self,
        measure: Measure,
        prepared: Prepared,
        sets: Sequence[Columns],
        numbers: Sequence[int],
        target: int | None,
    ) -> Floats:
        """Return the evidence of sets, one line per number."""

    def observed(
        self,
        measure: Measure,
        prepared: Prepared,
        sets: Sequence[Columns],
        target: int | None,
    ) -> Floats:
        """Return the evidence of sets in the table itself."""
        return measure.evidence_sets(prepared, sets, target)


class Arrangements(NullTables):
    """Tables in which values move to other rows."""

    @abstractmethod
    def moves(self, number: int) -> dict[int, Rows]:
        """Return, by column, the row that the value of each row moves to."""

    def evidence(
        self,
        measure: Measure,
        prepared: Prepared,
        sets: Sequence[Columns],
        numbers: Sequence[int],
        target: int | None,
    ) -> Floats:
        moves = [self.moves(number) for number in numbers]
        return measure.evidence_moved(prepared, sets, moves, target)


@dataclass(frozen=True)
class RandomPermutations(Arrangements):
    """Random permutations. Each has a number and is the same on every engine.

    Parameters
    ----------
    n_rows : the number of rows
    columns : the columns that are permuted, each independently
    seed : the random seed
    purpose : what the permutations are for
    present : by column, the rows of its values if its missing cells do not move, see
        `present_rows`
    dependent : groups, if only rows of the same group are exchanged, or whole groups
    """

    n_rows: int
    columns: tuple[int, ...]
    seed: int
    purpose: Purpose = Purpose.SET_TESTS
    present: Mapping[int, Rows] = field(default_factory=dict)
    dependent: DependentRows | None = None

    def moves(self, number: int) -> dict[int, Rows]:
        return {column: self._permutation(number, column) for column in self.columns}

    def _permutation(self, number: int, column: int) -> Rows:
        rng = random_stream(self.seed, self.purpose, number, column)
        if self.dependent is not None:
            return exchanged(self.dependent, rng, self.present.get(column))
        uniforms = rng.random(self.n_rows)
        rows: Rows = kernels.shared.shuffling.shuffle(uniforms)
        if column in self.present:
            rows = keep_missing(rows, self.present[column])
        return rows


def check_arrangements(prepared: Prepared, *, given: Columns = ()) -> None:
    """Raise an error if there are too few shifts or exchanges for a p-value of 5 %.

    With given columns, only the target is shifted.
    """
    dependent = prepared.dependent
    if dependent is None:
        return
    sizes, groups = dependent.sizes, str(prepared.table.options.groups)
    if dependent.kind == SERIES:
        numbers = 2.0 * dependent.reaches + 1.0
        number = float(np.log(numbers).sum())
        if sizes.size == 1:
            number = (2.0 if given else 4.0) * float(dependent.reaches[0])
        least = MIN_ARRANGEMENTS if sizes.size == 1 else math.log(MIN_ARRANGEMENTS)
        if number < least:
            raise errors.too_short_series(int(sizes.max()))
    elif dependent.kind == WITHIN and sizes.max() < 2:
        raise errors.no_groups(groups, sizes.size)
    elif dependent.kind == BETWEEN:
        _, equal = np.unique(sizes, return_counts=True)
        if sum(math.lgamma(number + 1) for number in equal.tolist()) < math.log(MIN_ARRANGEMENTS):
            raise errors.too_few_groups(groups, sizes.size)


def check_groups(prepared: Prepared, *, given: Columns = (), sift: bool = False) -> None:
    """Raise an error if whole groups are exchanged in a test that needs similar rows."""
    if prepared.dependent is not None and prepared.dependent.kind == BETWEEN:
        for name, used in (("given", bool(given)), ("sift", sift)):
            if used:
                raise errors.not_between_groups(name)


def exchanged(
    dependent: DependentRows, rng: np.random.Generator, present: Rows | None = None
) -> Rows:
    """Return the row that each value moves to in an exchange within or between groups.

    Within groups, missing cells stay in their rows if the rows ``present`` are given.
    """
    rows = dependent.exchanged(rng)
    if present is not None and dependent.kind == WITHIN:
        rows = keep_missing(rows, present)
    return rows


def present_rows(prepared: Prepared, columns: Sequence[int]) -> dict[int, Rows]:
    """Return the rows with a value of each column that has missing cells."""
    return {
        column: np.sort(prepared.orders[column, : prepared.n_present[column]])
        for column in columns
        if prepared.has_missing(column)
    }


@dataclass(frozen=True)
class AllArrangements(Arrangements):
    """All distinct arrangements except the observed one. They are equally likely.

    Parameters
    ----------
    columns : the columns that move
    by_column : for each of them, its arrangements, the observed one first
    """

    columns: tuple[int, ...]
    by_column: tuple[Rows, ...]

    @property
    def number(self) -> int:
        """The number of arrangements."""
        return math.prod(len(each) for each in self.by_column) - 1

    def moves(self, number: int) -> dict[int, Rows]:
        which = np.unravel_index(number + 1, [len(each) for each in self.by_column])
        return {
            column: arrangements[at]
            for column, arrangements, at in zip(self.columns, self.by_column, which, strict=True)
        }


def all_arrangements(
    prepared: Prepared,
    columns: Sequence[int],
    target: int | None,
    maximum: int,
    missing_stay: bool = False,
) -> AllArrangements | None:
    """Return all distinct arrangements of columns, or None if there are too many.

    There are too many if more than ``maximum`` differ from the observed one, or if they have more
    than `MAX_LISTED_CELLS` cells in total.

    Only relative positions matter. So the column with the most arrangements stays fixed, or all
    columns except the target if there is one. Exchanging equal values changes nothing. With
    ``missing_stay``, missing cells do not move.
    """
    numbers = {column: _log_number(prepared, column, missing_stay) for column in columns}
    if target is None:
        moving = sorted(columns, key=lambda column: (numbers[column], column))[:-1]
    else:
        moving = [target]
    total = sum(numbers[column] for column in moving)
    cells = total + math.log(prepared.n_rows)
    if total > math.log(maximum + 1.5) or cells > math.log(MAX_LISTED_CELLS):
        return None
    ranks = prepared.derived(Ranks).by_row
    fixed = present_rows(prepared, moving) if missing_stay else {}
    return AllArrangements(
        tuple(moving), tuple(_arrangements(ranks[each], fixed.get(each)) for each in moving)
    )


def _log_number(prepared: Prepared, column: int, missing_stay: bool) -> float:
    """Return the logarithm of the number of distinct arrangements of a column."""
    n_present = int(prepared.n_present[column])
    values = prepared.values[column, :n_present]
    ends = np.flatnonzero(values[1:] != values[:-1]) + 1
    ties = [*np.diff(ends, prepend=0, append=n_present).tolist(), prepared.n_rows - n_present]
    if missing_stay:
        ties.pop()
        # Rounded, because it matters which of two columns with as many arrangements stays fixed.
        return round(math.lgamma(n_present + 1) - sum(math.lgamma(n + 1) for n in ties), 9)
    return math.lgamma(prepared.n_rows + 1) - sum(math.lgamma(n + 1) for n in ties)


def _arrangements(ranks: Rows, present: Rows | None = None) -> Rows:
    """Return all distinct arrangements of values with these ranks, the observed one first.

    Only the values in the rows ``present`` move, if they are given.
    """
    if present is not None:
        every = np.arange(ranks.size, dtype=np.uint32)
        some = _arrangements(ranks[present]) if present.size else np.empty((1, 0), np.uint32)
        arrangements_of_all = np.tile(every, (len(some), 1))
        arrangements_of_all[:, present] = present[some]
        return arrangements_of_all
    groups = [np.flatnonzero(ranks == rank) for rank in np.unique(ranks)]
    groups.sort(key=len)
    observed = [tuple(rows.tolist()) for rows in groups]
    arrangements = [np.arange(ranks.size, dtype=np.uint32)]
    for places in _distributions([len(rows) for rows in groups], tuple(range(ranks.size))):
        if places != observed:
            arrangements.append(np.empty(ranks.size, np.uint32))
            for rows, destination in zip(groups, places, strict=True):
                arrangements[-1][rows] = destination
    return np.array(arrangements)


def _distributions(sizes: list[int], free: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to distribute free places among groups of these sizes."""
    if len(sizes) == 1:
        yield [free]
        return
    for chosen in combinations(free, sizes[0]):
        taken = set(chosen)
        rest = tuple(place for place in free if place not in taken)
        for others in _distributions(sizes[1:], rest):
            yield [chosen, *others]
