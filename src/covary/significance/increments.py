"""Is a set of columns more than its parts?

A set that holds a strong pair scores high whatever else is in it. What its last column tells about
each other one, beyond what all the rest tells, is tested by permuting it inside the cells of the
rest: that keeps whatever the last column has to do with the rest. A set is more than its parts if
none of the others can be spared, so the largest p-value counts (an intersection-union test).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.measures import Measure
from covary.measures.strengths import CELLS_AT_A_TIME, as_targets, copies
from covary.measures.uds_chance import UDSChance
from covary.prepare import Prepared
from covary.prepare.grids import Grids
from covary.significance.arrangements import INCREMENTS
from covary.significance.permutation import at_least
from covary.table import Column, Table

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint32]

# So many permutations, and so many in all if at most a few of the first are as high.
PERMUTATIONS = 199
IN_ALL = 999
CLOSE_LOOK = 4
# No smaller p-value is told: so far out the tail is a guess.
LEAST = 1e-6
# A cell of a grid should hold at least about so many rows.
ROWS_PER_CELL = 6
# Finer grids would take longer and tell no more.
MOST_CELLS = 1 << 15
# Of more rows, so many are drawn: they tell as well whether a column can be spared.
MOST_ROWS = 20_000


class Increment(NamedTuple):
    """A set of columns; the target is the last, if there is one, else the last to be explained."""

    columns: tuple[int, ...]
    target: int | None = None


def increment_pvalues(shared: tuple[Measure, Prepared, int], sets: Sequence[Increment]) -> Floats:
    """Return the p-values of many sets: a task; ``shared`` has a seed, too."""
    return np.array([increment_pvalue(*shared, each) for each in sets])


def increment_pvalue(measure: Measure, prepared: Prepared, seed: int, one: Increment) -> float:
    """Return the largest p-value of the null hypotheses that one of the others can be spared.

    It is 1, without a test, if grids that use all the others explain no more of the last column
    than those that do without one of them, however fine.
    """
    if prepared.n_rows > MOST_ROWS:
        return increment_pvalue(measure, *_drawn(prepared, one, seed))
    if one.target is not None:
        others, last = [c for c in one.columns if c != one.target], one.target
    else:
        order = measure.order_set(prepared, one.columns)
        *others, last = order or UDSChance().order_set(prepared, one.columns)
    with_all = _cut(prepared, others)
    observed = with_all.gains(last)
    tests = []
    for spared in others:
        rest = _cut(prepared, [column for column in others if column != spared])
        if observed.max() <= rest.gains(last).max():
            return 1.0
        tests.append((spared, rest))
    return max(_pvalue(prepared, last, spared, with_all, rest, seed) for spared, rest in tests)


def _drawn(prepared: Prepared, one: Increment, seed: int) -> tuple[Prepared, int, Increment]:
    """Return some rows of the columns of a set, the seed, and the set among those columns."""
    key = (INCREMENTS, *one.columns)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    rows = np.sort(rng.choice(prepared.n_rows, MOST_ROWS, replace=False))
    drawn = [Column(prepared.names[c], prepared.by_row(c)[rows]) for c in one.columns]
    target = None if one.target is None else one.columns.index(one.target)
    among = Increment(tuple(range(len(drawn))), target)
    return Prepared(Table(tuple(drawn), MOST_ROWS)), seed, among


def _pvalue(
    prepared: Prepared, last: int, spared: int, with_all: _Cells, rest: _Cells, seed: int
) -> float:
    """Return the p-value of: given the cells of the rest, two columns are independent."""
    key = (*sorted(with_all.columns), last, spared)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(INCREMENTS, *key)))
    # That the last column moves is as good as that the spared one moves back.
    turned = _cut(prepared, [*rest.columns, last])
    lines = [np.hstack([with_all.gains(last), turned.gains(spared)])]

    def permute(number: int) -> Floats:
        """Return how far out the observed line is, and each permuted one, with so many more."""
        for rows in _shuffles_inside(rest.cells, rng, number):
            back = kernels.shuffling.invert(rows)
            lines.append(np.hstack([with_all.gains(last, rows), turned.gains(spared, back)]))
        return _how_far_out(np.vstack(lines))

    told = permute(PERMUTATIONS)
    if np.count_nonzero(at_least(told[1:], told[0])) <= CLOSE_LOOK:
        told = permute(IN_ALL - PERMUTATIONS)
    return _tail(float(told[0]), told[1:])


def _how_far_out(gains: Floats) -> Floats:
    """Return one figure for each line, large if its gains stand out from those of all lines.

    Observed and permuted lines are treated alike, so that they stay exchangeable.
    """
    spread = gains.std(axis=0)
    standard = (gains - gains.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.log(np.mean(np.exp(standard), axis=1)))


class _Cells(NamedTuple):
    """Grids along some columns, each finer than the one before.

    Parameters
    ----------
    cells : of every row in the finest grid
    maps : one line per grid: for each of these cells, its cell in the grid
    n_cells : how many cells each grid has
    """

    prepared: Prepared
    columns: list[int]
    cells: Rows
    maps: Rows
    n_cells: Numbers

    def gains(self, target: int, rows: Rows | None = None) -> Floats:
        """Return how much of a target each grid explains, beyond chance.

        One line, or one for each way to move the values of the target.
        """
        columns = as_targets(self.prepared)
        which = np.array([target], np.int64)
        if rows is not None:
            columns, which = copies(columns, target, rows), np.arange(len(rows))
        found: Floats = kernels.gains.gains_in(
            self.cells,
            self.maps,
            self.n_cells,
            which,
            columns,
            *kernels.tables.whole_increments(self.prepared.n_rows),
        )
        return found


def _cut(prepared: Prepared, columns: list[int]) -> _Cells:
    """Return all grids along these columns whose cells are not too small."""
    grids = prepared.grids[0]
    most_cells = min(prepared.n_rows / ROWS_PER_CELL, MOST_CELLS)
    levels = [at for at, size in enumerate(grids.sizes) if size ** len(columns) <= most_cells]
    cells_of = [_cells_at(grids, columns, level) for level in levels or [0]]
    finest = cells_of[-1]
    n_cells = np.array([cells.max() + 1 for cells in cells_of])
    maps = np.zeros((len(cells_of), n_cells[-1]), np.uint32)
    for line, cells in zip(maps, cells_of, strict=True):
        line[finest] = cells
    return _Cells(prepared, columns, finest.astype(np.uint32), maps, n_cells)


def _cells_at(grids: Grids, columns: list[int], level: int) -> Numbers:
    """Return the cell of every row in one grid; only cells that hold a row are counted."""
    cells = np.zeros(grids.codes.shape[1], np.int64)
    for column in columns:
        bins = grids.maps[column, level][grids.codes[column]]
        cells = cells * int(grids.n_bins[column, level]) + bins
        cells = np.unique(cells, return_inverse=True)[1]
    return cells


def _shuffles_inside(cells: Rows, rng: np.random.Generator, number: int) -> Iterator[Rows]:
    """Yield so many ways to move values that leave each in its cell, some at a time."""
    by_cell = np.argsort(cells, kind="stable").astype(np.uint32)
    starts = np.append(0, np.cumsum(np.bincount(cells)))
    at_a_time = max(1, CELLS_AT_A_TIME // cells.size)
    for first in range(0, number, at_a_time):
        uniforms = rng.random((min(at_a_time, number - first), cells.size))
        yield np.array([kernels.shuffling.shuffle_inside(by_cell, starts, u) for u in uniforms])


def _tail(observed: float, null: Floats) -> float:
    """Return how likely a value as high as the observed one is, beside those of permutations.

    Where none of these is as high, the tail of a Gamma variable with their mean, variance and
    skewness tells how far out it is (Winkler et al., Faster permutation inference in brain
    imaging, NeuroImage 2016), by the approximation of Wilson and Hilferty.
    """
    count = int(at_least(null, observed).sum())
    least = 1.0 / (1 + null.size)
    if count > 0 or null.std() == 0.0:
        return (1 + count) * least
    deviations = (null - null.mean()) / null.std()
    skewness = max(float(np.mean(deviations**3)), 0.01)
    out = (observed - float(null.mean())) / float(null.std())
    bend = np.cbrt(1.0 + skewness * out / 2.0)
    normal = (bend - 1.0 + skewness**2 / 36.0) * 6.0 / skewness
    return max(min(0.5 * math.erfc(normal / math.sqrt(2.0)), least), LEAST)
