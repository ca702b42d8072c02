"""The increment test: does a set need all of its columns?

A set that contains a strong pair scores high with any additional column. The test takes the last
column of the set as the target. For each other column, the null hypothesis says that it is
independent of the target given the rest. Permuting the target within the cells of the rest
preserves its dependence on the rest and breaks its dependence on the tested column. The set needs
all of its columns if every hypothesis is rejected, so that the largest p-value counts (an
intersection-union test).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Floats, Integers, Rows
from covary.measures.uds_chance.evidence import CELLS_PER_BLOCK
from covary.measures.uds_chance.grids import MIN_ROWS_PER_CELL, GridFamily, Grids
from covary.measures.uds_chance.midranks import moved_copies, target_arrays
from covary.prepare import Prepared
from covary.seeds import Purpose, random_stream
from covary.tolerance import at_least

# The number of permutations, and the total number if at most a few of the first exceed.
FIRST_PERMUTATIONS = 199
TOTAL_PERMUTATIONS = 999
MAX_EXCEEDING = 4
# Smaller p-values are not reported, because the fitted tail is too uncertain there.
SMALLEST_PVALUE = 1e-6
# Finer grids take longer and do not improve the test.
MAX_GRID_CELLS = 1 << 15


def increment_pvalue(prepared: Prepared, order: Sequence[int], seed: int) -> float:
    """Return the largest p-value over the columns that explain the last one.

    It is 1, without a test, if the grids of all columns explain no more of the last column than
    those that omit one of them.
    """
    *others, last = order
    full = _make_cells(prepared, others)
    observed = full.gains(last)
    tests = []
    for tested in others:
        rest = _make_cells(prepared, [column for column in others if column != tested])
        if observed.max() <= rest.gains(last).max():
            return 1.0
        tests.append((tested, rest))
    return max(_pvalue(prepared, last, tested, full, rest, seed) for tested, rest in tests)


def _pvalue(
    prepared: Prepared, last: int, tested: int, full: Cells, rest: Cells, seed: int
) -> float:
    """Return the p-value of the hypothesis that two columns are independent given the rest."""
    rng = random_stream(seed, Purpose.INCREMENTS, *sorted(full.columns), last, tested)
    # Moving the last column is equivalent to moving the tested column back.
    reverse = _make_cells(prepared, [*rest.columns, last])
    lines = [np.hstack([full.gains(last), reverse.gains(tested)])]

    def permute(number: int) -> Floats:
        """Return the statistic of the observed line and of all permuted ones."""
        for rows in _shuffles_within(rest.cells, rng, number):
            inverse = kernels.shared.shuffling.invert(rows)
            lines.append(np.hstack([full.gains(last, rows), reverse.gains(tested, inverse)]))
        return _standardised(np.vstack(lines))

    statistics = permute(FIRST_PERMUTATIONS)
    if np.count_nonzero(at_least(statistics[1:], statistics[0])) <= MAX_EXCEEDING:
        statistics = permute(TOTAL_PERMUTATIONS - FIRST_PERMUTATIONS)
    return _tail_probability(float(statistics[0]), statistics[1:])


def _standardised(gains: Floats) -> Floats:
    """Return one statistic per line: the log mean exp of its standardised gains.

    Observed and permuted lines are treated alike, so that they stay exchangeable.
    """
    spread = gains.std(axis=0)
    standard = (gains - gains.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.log(np.mean(np.exp(standard), axis=1)))


class Cells(NamedTuple):
    """Grids over some columns, each finer than the one before.

    Parameters
    ----------
    cells : the cell of every row in the finest grid
    maps : one line per grid: the cell in that grid of each finest cell
    n_cells : the number of cells of each grid
    """

    prepared: Prepared
    columns: list[int]
    cells: Rows
    maps: Rows
    n_cells: Integers

    def gains(self, target: int, rows: Rows | None = None) -> Floats:
        """Return the chance-corrected gain of each grid for a target.

        There is one line, or one for each permutation of the target in ``rows``.
        """
        columns = target_arrays(self.prepared)
        which = np.array([target], np.int64)
        if rows is not None:
            columns, which = moved_copies(columns, target, rows), np.arange(len(rows))
        found: Floats = kernels.uds_chance.gains.gains_in(
            self.cells,
            self.maps,
            self.n_cells,
            which,
            columns,
            *kernels.shared.entropy_tables.whole_increments(self.prepared.n_rows),
        )
        return found


def _make_cells(prepared: Prepared, columns: list[int]) -> Cells:
    """Return all grids over these columns whose cells are large enough."""
    family = prepared.derived(Grids).families[0]
    max_cells = min(prepared.n_rows / MIN_ROWS_PER_CELL, MAX_GRID_CELLS)
    levels = [at for at, size in enumerate(family.sizes) if size ** len(columns) <= max_cells]
    cells_of = [_cells_at(family, columns, level) for level in levels or [0]]
    finest = cells_of[-1]
    n_cells = np.array([cells.max() + 1 for cells in cells_of])
    maps = np.zeros((len(cells_of), n_cells[-1]), np.uint32)
    for line, cells in zip(maps, cells_of, strict=True):
        line[finest] = cells
    return Cells(prepared, columns, finest.astype(np.uint32), maps, n_cells)


def _cells_at(family: GridFamily, columns: list[int], level: int) -> Integers:
    """Return the cell of every row in one grid; empty cells are not numbered."""
    cells = np.zeros(family.codes.shape[1], np.int64)
    for column in columns:
        bins = family.maps[column, level][family.codes[column]]
        cells = cells * int(family.n_bins[column, level]) + bins
        cells = np.unique(cells, return_inverse=True)[1]
    return cells


def _shuffles_within(cells: Rows, rng: np.random.Generator, number: int) -> Iterator[Rows]:
    """Yield blocks of random permutations that keep every value in its cell."""
    by_cell = np.argsort(cells, kind="stable").astype(np.uint32)
    starts = np.append(0, np.cumsum(np.bincount(cells)))
    block = max(1, CELLS_PER_BLOCK // cells.size)
    shuffle = kernels.shared.shuffling.shuffle_within_groups
    for first in range(0, number, block):
        uniforms = rng.random((min(block, number - first), cells.size))
        yield np.array([shuffle(by_cell, starts, each) for each in uniforms])


def _tail_probability(observed: float, null: Floats) -> float:
    """Return the p-value of an observed statistic.

    If no permutation exceeds it, the tail of a Gamma distribution with the mean, variance and
    skewness of the permutations gives the p-value (Winkler et al., Faster permutation inference
    in brain imaging, NeuroImage 2016), in the approximation of Wilson and Hilferty.
    """
    count = int(at_least(null, observed).sum())
    smallest = 1.0 / (1 + null.size)
    if count > 0 or null.std() == 0.0:
        return (1 + count) * smallest
    deviations = (null - null.mean()) / null.std()
    skewness = max(float(np.mean(deviations**3)), 0.01)
    standardised = (observed - float(null.mean())) / float(null.std())
    root = np.cbrt(1.0 + skewness * standardised / 2.0)
    normal = (root - 1.0 + skewness**2 / 36.0) * 6.0 / skewness
    return max(min(0.5 * math.erfc(normal / math.sqrt(2.0)), smallest), SMALLEST_PVALUE)
