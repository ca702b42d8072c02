"""The measure `codec`: conditional dependence coefficient, from nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covary.array_types import Floats, Integers
from covary.measures.base import Measure
from covary.measures.registry import register
from covary.measures.shared.complete_rows import (
    MIN_COMPLETE_ROWS,
    centred,
    complete_rows,
    varying_lines,
)
from covary.prepare import Prepared
from covary.validation import check_whole_number

# Distances that are relatively closer than this count as equal, because of rounding.
DISTANCE_TOLERANCE = 1e-9
# Smaller coordinates, in standard deviations, count as 0: squared distances would underflow.
MIN_COORDINATE = 1e-130


@register("codec", "Coefficient of Azadkia and Chatterjee (2021), from nearest neighbours")
@dataclass(frozen=True)
class CODEC(Measure):
    """Coefficient of Azadkia and Chatterjee (2021), without lower bound; the upper bound is 1.

    It measures how much of a target Y the other columns X explain together. With n rows, R_i =
    #{j: Y_j <= Y_i}, L_i = #{j: Y_j >= Y_i} and M(i) the nearest neighbour of row i in X,

        T(Y | X) = sum_i (n min(R_i, R_M(i)) - L_i^2) / sum_i L_i (n - L_i).

    For many rows, it is 0 if Y and X are independent, and 1 if Y is a function of X. Without a
    target, the score is the maximum over the choice of the target among the columns, with all
    other columns as X. For two columns it is the larger of both directions.

    This is the unconditional form of the coefficient. Distances are Euclidean. Each column of X is
    divided by its standard deviation first, as by default in FOCI, the authors' program for
    feature selection. Nearest neighbours are computed by scipy.

    Azadkia, Chatterjee: A simple measure of conditional dependence, Annals of Statistics 49, 2021.

    Parameters
    ----------
    seed : int
        Random seed for the choice among rows at the same distance.

    Notes
    -----
    It hardly detects weak dependence, because each row is compared with one other row only. It is
    about 0 for independent columns, and often negative. Irrelevant columns in X move the nearest
    neighbours further away: the score then decreases, and it decreases more with fewer rows. The
    maximum over targets of independent columns is above 0 by chance. Constant columns and rows
    with a missing cell are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.random.default_rng(0).random((2, 2000))
    >>> table = np.column_stack([a, b, (a + b) % 1])
    >>> CODEC().score(table[:, [0, 2]]) < 0.1
    True
    >>> CODEC().score(table) > 0.8
    True

    """

    reading = "about 0 if independent, 1 if one is a function of the others"
    takes_target = True

    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("seed", self.seed, 0)

    @property
    def bounds(self) -> tuple[float, float]:
        return -math.inf, 1.0

    @property
    def drops_incomplete_rows(self) -> bool:
        return True

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        if target is not None:
            columns = [*columns, target]
        values = complete_rows(prepared, columns)
        n_rows = values.shape[1]
        if n_rows < MIN_COMPLETE_ROWS or (target is not None and np.ptp(values[-1]) == 0.0):
            return 0.0
        lines = varying_lines(values)
        if len(lines) < 2:
            return 0.0
        points = _standardised(lines)
        # Each row has its own random number, so that the order of columns does not matter.
        uniforms = np.random.default_rng(self.seed).random(size=(n_rows,))
        targets = range(len(lines)) if target is None else [len(lines) - 1]
        return max(
            _explained(lines[at], _nearest_rows(np.delete(points, at, axis=1), uniforms))
            for at in targets
        )


def _standardised(lines: Floats) -> Floats:
    """Return the columns in units of their standard deviation, one line per row."""
    points = np.column_stack([centred(line) / line.std() for line in lines])
    return np.where(np.abs(points) < MIN_COORDINATE, 0.0, points)


def _explained(target: Floats, neighbours: Integers) -> float:
    """Return T(Y | X) from the nearest neighbour in X of every row."""
    n_rows = target.size
    ordered = np.sort(target)
    up = np.searchsorted(ordered, target, side="right")
    down = n_rows - np.searchsorted(ordered, target, side="left")
    # R and L have the same sum. So this equals the formula; it is exactly 1 if no rank is lost.
    lost = float(np.sum(up - np.minimum(up, up[neighbours])))
    return 1.0 - n_rows * lost / float(np.sum(down * (n_rows - down), dtype=np.float64))


def _nearest_rows(points: Floats, uniforms: Floats) -> Integers:
    """Return the nearest other row of every row; of several, the uniform number selects one."""
    groups, members, starts = _equal_rows(points)
    sizes = np.diff(starts)
    place = np.empty(groups.size, np.int64)
    place[members] = np.arange(groups.size) - np.repeat(starts[:-1], sizes)
    # A row with equal rows selects one of these, but not itself.
    chosen = (uniforms * (sizes[groups] - 1)).astype(np.int64)
    chosen += (chosen >= place) & (sizes[groups] > 1)
    nearest: Integers = members[starts[groups] + chosen]
    alone = np.flatnonzero(sizes[groups] == 1)
    if alone.size:
        near, tied = _nearest_groups(points[members[starts[:-1]]], groups[alone])
        chosen = (uniforms[alone] * sizes[near]).astype(np.int64)
        nearest[alone] = members[starts[near] + chosen]
        for at, several in tied.items():
            rows = [row for group in several for row in members[starts[group] : starts[group + 1]]]
            nearest[alone[at]] = rows[int(uniforms[alone[at]] * len(rows))]
    return nearest


def _equal_rows(points: Floats) -> tuple[Integers, Integers, Integers]:
    """Return the group of equal points of every row, the rows by group, and where groups start.

    Groups are numbered by their first row, and the rows of a group ascend. The last entry of the
    starts is the number of rows.
    """
    order = np.lexsort(points.T)
    is_first = np.append(True, np.any(points[order[1:]] != points[order[:-1]], axis=1))
    by_first_row = np.argsort(order[is_first])
    number = np.empty(by_first_row.size, np.int64)
    number[by_first_row] = np.arange(by_first_row.size)
    groups = np.empty(order.size, np.int64)
    groups[order] = number[np.cumsum(is_first) - 1]
    members = np.argsort(groups, kind="stable")
    return groups, members, np.append(0, np.cumsum(np.bincount(groups)))


def _nearest_groups(points: Floats, which: Integers) -> tuple[Integers, dict[int, list[int]]]:
    """Return a nearest other point of some of several different points; all of them if tied."""
    from scipy.spatial import KDTree

    tree = KDTree(points)
    distances, found = tree.query(points[which], min(3, len(points)))
    near = found[:, 1].astype(np.int64)
    if len(points) < 3:
        return near, {}
    radii = distances[:, 1] * (1.0 + DISTANCE_TOLERANCE)
    tied = np.flatnonzero(distances[:, 2] <= radii)
    within = tree.query_ball_point(points[which[tied]], radii[tied], return_sorted=True)
    several = zip(tied.tolist(), which[tied].tolist(), within, strict=True)
    return near, {at: [g for g in inside if g != own] for at, own, inside in several}
