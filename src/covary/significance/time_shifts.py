"""Null distributions of time series: columns that are shifted in time.

If two series are independent and one of them is stationary, shifting one of them changes nothing:
the evidence at shift 0 has the same distribution as at every other shift. Permutations would
destroy the similarity of neighbouring rows, and with it most of the variance of the evidence.

All shifts compare equally many rows: those at both ends are left out, so that no end is joined to
a start. This is the truncated time-shift test (Yuan and Shou, PLOS Biology 2024). Circular shifts
reject too often if series drift, or if their length is no multiple of their period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covary.array_types import Columns, Floats, Integers
from covary.measures import Measure
from covary.prepare import Prepared
from covary.prepare.selected_rows import with_rows
from covary.seeds import Purpose, random_stream
from covary.significance.nulls import NullTables
from covary.table.dependent_rows import DependentRows

# By column, the number of rows by which each series is shifted.
Shifts = dict[int, Integers]


@dataclass(frozen=True)
class TimeShifts(NullTables):
    """Tables in which columns are shifted in time. Each has a number.

    Parameters
    ----------
    dependent : the series
    columns : the columns that move
    seed : the random seed
    relative : if there are two sides, how many rows each series of the second side moves relative
        to the first one, one line per table; otherwise, columns move independently at random
    sides : the columns of both sides; all columns of a side move together
    """

    dependent: DependentRows
    columns: Columns
    seed: int
    relative: Integers | None = None
    sides: tuple[Columns, Columns] = ((), ())

    def shifts(self, number: int) -> Shifts:
        """Return the shifts of the columns."""
        reaches = self.dependent.reaches
        first, second = self.sides
        if self.relative is not None:
            relative = np.atleast_1d(self.relative[number])
        elif second:
            rng = random_stream(self.seed, Purpose.SET_TESTS, number)
            most = reaches if not first else 2 * reaches
            relative = rng.integers(-most, most + 1)
        else:
            return {
                column: random_stream(self.seed, Purpose.SET_TESTS, number, column).integers(
                    -reaches, reaches + 1
                )
                for column in self.columns
            }
        if not first:
            return dict.fromkeys(second, relative)
        back = -(relative // 2)
        return {**dict.fromkeys(first, back), **dict.fromkeys(second, relative + back)}

    def evidence(
        self,
        measure: Measure,
        prepared: Prepared,
        sets: Sequence[Columns],
        numbers: Sequence[int],
        target: int | None,
    ) -> Floats:
        shifts = [self.shifts(number) for number in numbers]
        return measure.evidence_shifted(prepared, sets, shifts, target)

    def observed(
        self,
        measure: Measure,
        prepared: Prepared,
        sets: Sequence[Columns],
        target: int | None,
    ) -> Floats:
        evidence: Floats = measure.evidence_shifted(prepared, sets, [{}], target)[0]
        return evidence


def time_shifts(
    dependent: DependentRows,
    columns: Columns,
    sides: tuple[Columns, Columns],
    seed: int,
    maximum: int,
) -> tuple[TimeShifts, bool]:
    """Return the shifts for the test of one set, and whether these are all possible ones.

    Parameters
    ----------
    sides : the columns that move together; the first side may be empty if it stays. Without a
        second side, columns move independently
    maximum : the largest number of shifts
    """
    first, second = sides
    if dependent.sizes.size > 1 or not second:
        return TimeShifts(dependent, columns, seed, sides=sides), False
    most = int(dependent.reaches[0]) * (2 if first else 1)
    every = np.array([by for by in range(-most, most + 1) if by != 0])
    is_exact = every.size <= maximum
    if not is_exact:
        rng = random_stream(seed, Purpose.SET_TESTS)
        every = rng.permutation(every)[:maximum]
    return TimeShifts(dependent, columns, seed, every, sides), is_exact


def compared_rows(prepared: Prepared) -> Prepared:
    """Return the rows that shifts in time compare; the same columns if the rows are no series."""
    series = prepared.series
    if series is None:
        return prepared
    columns = range(len(prepared.names))
    return with_rows(prepared, columns, [series.centre] * len(columns), series.of_centre())


def far_relative_shifts(dependent: DependentRows, least: int, number: int) -> Integers:
    """Return shifts of each series by more than some rows, one line per table.

    All of them, or evenly distributed ones, if there is one series; else random ones.
    """
    every = []
    for most in (2 * dependent.reaches).tolist():
        far = np.arange(min(least + 1, most), most + 1)
        every.append(np.append(-far[::-1], far))
    if len(every) == 1:
        places = np.linspace(0, every[0].size - 1, min(number, every[0].size))
        return every[0][places.astype(np.int64)][:, None]
    rng = random_stream(0, Purpose.REFERENCE, 4)
    return np.stack([rng.choice(each, number) for each in every], axis=1)
