"""Ways to put the values of columns into other rows, as good as the one that was observed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.prepare import Prepared

Rows = npt.NDArray[np.uint32]
Moves = dict[int, Rows]

# What random numbers are drawn for: the same seed gives different ones.
SETS, SEARCHES, INCREMENTS = range(3)
# Ways are listed one by one only up to so many cells in all.
MOST_CELLS = 10_000_000


@dataclass(frozen=True)
class Shuffles:
    """Endlessly many ways, drawn at random; each has a number, and is the same wherever drawn.

    Parameters
    ----------
    n_rows : how many rows there are
    columns : which columns are shuffled, each by itself
    seed : a whole number from 0
    purpose : what they are drawn for
    """

    n_rows: int
    columns: tuple[int, ...]
    seed: int
    purpose: int = SETS

    def moves(self, number: int) -> Moves:
        """Return where the values of each row go."""
        return {column: self._rows(number, column) for column in self.columns}

    def _rows(self, number: int, column: int) -> Rows:
        key = (self.purpose, number, column)
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        uniforms = np.random.default_rng(sequence).random(self.n_rows)
        rows: Rows = kernels.shuffling.shuffle(uniforms)
        return rows


class Listed(NamedTuple):
    """All ways that differ from the observed one, each as likely as another.

    Parameters
    ----------
    columns : which columns move
    ways : for each of them, its ways, the observed one first
    """

    columns: tuple[int, ...]
    ways: tuple[Rows, ...]

    @property
    def number(self) -> int:
        """How many there are."""
        return math.prod(len(each) for each in self.ways) - 1

    def moves(self, number: int) -> Moves:
        """Return where the values of each row go."""
        which = np.unravel_index(number + 1, [len(each) for each in self.ways])
        return {
            column: ways[at]
            for column, ways, at in zip(self.columns, self.ways, which, strict=True)
        }


def list_ways(
    prepared: Prepared, columns: Sequence[int], target: int | None, most: int
) -> Listed | None:
    """Return all ways in which columns can lie to each other, or None if there are too many.

    One column may stay where it is: the one with most ways; or all but the target, if there is
    one. What moves nothing but equal values is no other way.
    """
    numbers = {column: _log_number(prepared, column) for column in columns}
    if target is None:
        movers = sorted(columns, key=lambda column: (numbers[column], column))[:-1]
    else:
        movers = [target]
    total = sum(numbers[column] for column in movers)
    if total > math.log(most + 1.5) or total + math.log(prepared.n_rows) > math.log(MOST_CELLS):
        return None
    return Listed(tuple(movers), tuple(_ways(prepared.ranks[column]) for column in movers))


def _log_number(prepared: Prepared, column: int) -> float:
    """Return the logarithm of the number of ways to put a column's values into the rows."""
    n_present = int(prepared.n_present[column])
    values = prepared.values[column, :n_present]
    ends = np.flatnonzero(values[1:] != values[:-1]) + 1
    equal = [*np.diff(ends, prepend=0, append=n_present).tolist(), prepared.n_rows - n_present]
    return math.lgamma(prepared.n_rows + 1) - sum(math.lgamma(n + 1) for n in equal)


def _ways(ranks: Rows) -> Rows:
    """Return all ways to put values of these ranks into the rows, the given one first."""
    groups = [np.flatnonzero(ranks == rank) for rank in np.unique(ranks)]
    groups.sort(key=len)
    own = [tuple(rows.tolist()) for rows in groups]
    ways = [np.arange(ranks.size, dtype=np.uint32)]
    for places in _places([len(rows) for rows in groups], tuple(range(ranks.size))):
        if places != own:
            ways.append(np.empty(ranks.size, np.uint32))
            for rows, to in zip(groups, places, strict=True):
                ways[-1][rows] = to
    return np.array(ways)


def _places(sizes: list[int], free: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to share out free places among groups of these sizes."""
    if len(sizes) == 1:
        yield [free]
        return
    for chosen in combinations(free, sizes[0]):
        taken = set(chosen)
        rest = tuple(place for place in free if place not in taken)
        for others in _places(sizes[1:], rest):
            yield [chosen, *others]
