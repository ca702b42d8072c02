"""How the rows of a table depend on each other: series in time, or groups."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from covary.array_types import Booleans, Integers, Rows
from covary.formatting import counted

SERIES = "series"
WITHIN = "within"
BETWEEN = "between"

# A series is shifted by up to this share of its rows in each direction. As many rows are left
# out at each end, so that every shift compares equally many rows, without joining end and start.
REACH = 0.1
# Of shorter series: up to this many rows, and this share.
LEAST_REACH = 10
LARGEST_SHARE = 0.25


@dataclass(frozen=True)
class DependentRows:
    """Rows that are sorted by series or group, and within a series by time.

    Parameters
    ----------
    kind : "series": rows are similar to their neighbours in time; "within": rows are exchangeable
        within groups; "between": whole groups are exchangeable
    starts : the first row of each series or group, and the number of rows
    """

    kind: str
    starts: Integers = field(repr=False)

    @cached_property
    def sizes(self) -> Integers:
        """The number of rows of each series or group."""
        return np.diff(self.starts)

    @cached_property
    def of_row(self) -> Integers:
        """The number of the series or group of each row."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def reaches(self) -> Integers:
        """The largest shift of each series, in rows."""
        short = np.minimum(LEAST_REACH, (LARGEST_SHARE * self.sizes).astype(np.int64))
        return np.maximum((REACH * self.sizes).astype(np.int64), short)

    @cached_property
    def centre(self) -> Integers:
        """The rows that are compared: those far enough from the ends of their series."""
        is_centre = self._places >= self.reaches[self.of_row]
        is_centre &= self._places < (self.sizes - self.reaches)[self.of_row]
        return np.flatnonzero(is_centre)

    @property
    def _places(self) -> Integers:
        """The place of each row within its series."""
        return np.arange(self.starts[-1]) - self.starts[self.of_row]

    def sentence(self) -> str:
        """Return what takes the place of permutations, in words."""
        n, n_groups = int(self.starts[-1]), self.sizes.size
        if self.kind == SERIES:
            series = "" if n_groups == 1 else f" within each of {n_groups:,} series"
            return (
                f"columns are shifted in time{series}, by up to {2 * int(self.reaches.max()):,} "
                f"rows relative to each other, and {self.centre.size:,} of {n:,} rows are "
                "compared; at least one of two unrelated series must be stationary"
            )
        if self.kind == WITHIN:
            return (
                f"rows are exchanged within {n_groups:,} groups, and numbers are compared with "
                "the mean of their group: only dependence beyond the groups counts"
            )
        return f"whole groups of equal size are exchanged ({n_groups:,} groups)"

    def fingerprint(self) -> str:
        """Return the number of series or groups, and a hash of where they start."""
        digest = hashlib.blake2b(self.starts.astype("<i8").tobytes(), digest_size=8).hexdigest()
        return f"{counted(self.sizes.size, 'group')} of rows ({digest})"

    def shifted(self, shifts: Integers) -> Integers:
        """Return the rows that take the place of the centre if each series is shifted."""
        return self.centre + shifts[self.of_row[self.centre]]

    def rotated(self, shifts: Integers) -> Integers:
        """Return the row that takes the place of each row if series are shifted in a circle."""
        of_row = self.of_row
        places = (self._places + shifts[of_row]) % self.sizes[of_row]
        return self.starts[of_row] + places

    def of_centre(self) -> DependentRows:
        """Return the series of the centre."""
        sizes = self.sizes - 2 * self.reaches
        return DependentRows(self.kind, np.append(0, np.cumsum(sizes)))

    def of_rows(self, rows: Integers) -> DependentRows:
        """Return the series or groups of some of the rows, which are in ascending order."""
        sizes = np.bincount(self.of_row[rows], minlength=self.sizes.size)
        return DependentRows(self.kind, np.append(0, np.cumsum(sizes[sizes > 0])))

    def some_rows(self, n_rows: int, rng: np.random.Generator) -> Integers:
        """Return the rows of some groups or series, or those in the middle of a long one.

        Parameters
        ----------
        n_rows : the largest number of rows
        """
        order = rng.permutation(self.sizes.size)
        fits = np.cumsum(self.sizes[order]) <= n_rows
        if not fits[0]:
            first, size = int(self.starts[order[0]]), int(self.sizes[order[0]])
            start = first + max(size - n_rows, 0) // 2
            return np.arange(start, start + min(size, n_rows))
        return np.flatnonzero(np.isin(self.of_row, order[fits]))

    def exchanged(self, rng: np.random.Generator) -> Rows:
        """Return the row that the value of each row moves to in a random exchange.

        Rows of the same group exchange places, or whole groups of equal size.
        """
        n = int(self.starts[-1])
        if self.kind == WITHIN:
            rows = np.lexsort((rng.random(n), self.of_row))
            return rows.astype(np.uint32)
        places = np.arange(self.sizes.size)
        for size in np.unique(self.sizes):
            equal = np.flatnonzero(self.sizes == size)
            places[equal] = rng.permutation(equal)
        return (self.starts[places[self.of_row]] + self._places).astype(np.uint32)

    def first_rows(self, number: int) -> Booleans:
        """Return which rows are among the first ones of their series."""
        return np.asarray(self._places < number)


def random_shifts(
    dependent: DependentRows, number: int, rng: np.random.Generator
) -> list[Integers]:
    """Return shifts in either direction: of one series all different ones, at most this many.

    Small shifts are among them. Larger ones alone would have less evidence than no shift, by
    chance, because the evidence changes slowly with the shift.
    """
    most = dependent.reaches
    if most.size > 1:
        return list(rng.integers(-most, most + 1, (number, most.size)))
    every = np.delete(np.arange(-most[0], most[0] + 1), most[0])
    return list(rng.permutation(every)[:number, None])


def all_shifts(dependent: DependentRows, number: int, rng: np.random.Generator) -> list[Integers]:
    """Return evenly distributed shifts of one series, and no shift; random ones of several."""
    most = dependent.reaches
    if most.size > 1:
        return random_shifts(dependent, number, rng)
    places = np.linspace(-most[0], most[0], min(number, 2 * int(most[0]) + 1))
    return list(np.rint(places).astype(np.int64)[:, None])


def spaced_shift(
    dependent: DependentRows, number: int, n_numbers: int, rng: np.random.Generator
) -> Integers:
    """Return random shifts of the series that are far from those with other numbers.

    The numbers divide the range of shifts into equal spaces. A shift varies by a quarter of one.
    """
    space = 2.0 * dependent.reaches / (n_numbers - 1)
    varied = number + rng.uniform(-0.25, 0.25, space.size)
    return np.rint(np.clip(varied, 0, n_numbers - 1) * space - dependent.reaches).astype(np.int64)
