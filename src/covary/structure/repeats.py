"""Rows that repeat other rows: copies of one observation look like dependence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covary.array_types import Rows
from covary.prepare import Prepared
from covary.structure.value_counts import rank_pattern

# Fewer repeated rows, also relative to all rows, hardly change a score.
MIN_REPEATED = 5
MIN_SHARE = 0.01
# Rows of coarse columns are equal by chance. Then many pairs of rows differ in a single column,
# and few rows are different.
MAX_NEARLY_EQUAL = 1.0
MIN_DIFFERENT_SHARE = 0.25
# In a table that is repeated as a whole, every row occurs equally often. Of fewer different rows,
# this may be chance.
MIN_DIFFERENT = 30

Keys = NDArray[np.uint64]


def count_repeated_rows(prepared: Prepared) -> int:
    """Return the number of rows that repeat an earlier row, or 0 if this may be chance."""
    columns, odd, keys = _row_keys(prepared)
    counts = np.unique(keys, return_counts=True)[1]
    repeated = keys.size - counts.size
    if repeated < max(MIN_REPEATED, MIN_SHARE * keys.size):
        return 0
    is_whole = np.gcd.reduce(counts) > 1
    least = MIN_DIFFERENT if is_whole else MIN_DIFFERENT_SHARE * keys.size
    if counts.size < least:
        return 0
    equal = _pairs(counts)
    nearly = 0.0
    for column, factors in zip(columns, odd, strict=True):
        without = keys - _cell_keys(prepared, column, factors)
        nearly += _pairs(np.unique(without, return_counts=True)[1]) - equal
        if nearly > MAX_NEARLY_EQUAL * equal:
            return 0
    return int(repeated)


def different_rows(prepared: Prepared) -> Rows:
    """Return the rows without those that repeat an earlier row, unless this may be chance."""
    if not count_repeated_rows(prepared):
        return np.arange(prepared.n_rows, dtype=np.uint32)
    return np.sort(np.unique(_row_keys(prepared)[2], return_index=True)[1]).astype(np.uint32)


def _row_keys(prepared: Prepared) -> tuple[list[int], Keys, Keys]:
    """Return columns, random factors of each, and a number for each row from its cells."""
    columns = _different_columns(prepared)
    rng = np.random.default_rng(0)
    odd = rng.integers(0, 2**62, (len(columns), 2)).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.zeros(prepared.n_rows, np.uint64)
    for column, factors in zip(columns, odd, strict=True):
        keys += _cell_keys(prepared, column, factors)
    return columns, odd, keys


def _different_columns(prepared: Prepared) -> list[int]:
    """Return the columns without parts of dates, and without columns that others determine.

    Two rows never differ in one of two columns only, if each determines the other.
    """
    columns: dict[bytes, int] = {}
    for column, described in enumerate(prepared.table.columns):
        if not described.part_of:
            columns.setdefault(rank_pattern(prepared, column), column)
    return list(columns.values())


def _bits(prepared: Prepared, column: int) -> Keys:
    """Return a number for each cell; equal cells have equal numbers."""
    values = prepared.by_row(column) + 0.0  # -0.0 equals 0.0
    values[np.isnan(values)] = np.nan  # every missing cell has the same bits
    bits: Keys = values.view(np.uint64)
    return bits


def _cell_keys(prepared: Prepared, column: int, factors: Keys) -> Keys:
    """Return a random number for each cell; equal cells of a column have equal numbers."""
    keys: Keys = _bits(prepared, column) * factors[0]
    keys ^= keys >> np.uint64(32)
    keys *= factors[1]
    keys ^= keys >> np.uint64(29)
    return keys


def _pairs(counts: NDArray[np.int64]) -> float:
    """Return the number of pairs within groups of these sizes."""
    return float((counts * (counts - 1.0)).sum() / 2.0)
