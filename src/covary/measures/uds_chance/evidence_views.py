"""The views of the evidence statistic: what is computed from a target and its conditions.

A view looks at the relation in one way: through grids of some sizes, through neighbouring rows, or
through a rank correlation. Its value becomes a tail probability under independence.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Booleans, Floats, Integers, Rows
from covary.measures.uds_chance.balanced_cells import Cells, balanced_cells
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import Targets, targets_of
from covary.measures.uds_chance.places import Places
from covary.prepare import Prepared


class View(NamedTuple):
    """Gains that are averaged, and the weights of their tail probabilities.

    Parameters
    ----------
    sizes : the numbers of bins of the grids, or the window size
    folded : whether the target is folded at its median first
    one_way : the weight of each direction of a pair
    both_ways : the weight of the mean of both directions
    spread : the standard deviation, under independence, of the sum of both directions
    """

    sizes: tuple[int, ...]
    folded: bool
    one_way: float
    both_ways: float = 0.0
    spread: float = 2.0**0.5


# Coarse grids detect smooth relations, fine grids and neighbours oscillating ones. Folding the
# target makes a circle or a growing spread monotone.
_COARSE = (2, 3, 4)
_MEDIUM = (4, 6, 8, 12, 16)
_FINE = (24, 32, 48, 64, 96, 128, 192)
GRID_VIEWS = (
    View(_COARSE, False, 0.03, 0.20, 1.75),
    View(_MEDIUM, False, 0.09),
    View(_FINE, False, 0.005),
    View(_MEDIUM, True, 0.0, 0.08, 1.55),
)
NEIGHBOUR_VIEWS = (
    View((2,), False, 0.02),
    View((6,), False, 0.01),
    View((18,), False, 0.01),
    View((6,), True, 0.0, 0.02, 1.45),
)
PAIR_VIEWS = GRID_VIEWS + NEIGHBOUR_VIEWS
# Rank correlations: of the ranks, both folded, the one folded, the other folded. All weights of
# pairs, those in one direction twice, add up to 1. Associations of nominal columns take the place
# of the first two: the statistic of Kruskal and Wallis, and with the other column folded; or
# unusual cells of two nominal columns.
CORRELATION_WEIGHTS = (0.30, 0.03, 0.02, 0.02)
TRIPLE_VIEWS = (
    View((2,), False, 0.5),
    View((3, 4, 6), False, 0.45),
    View((8, 12, 16, 24), False, 0.05),
)


_PAIR_WEIGHTS = (
    np.array([view.one_way for view in PAIR_VIEWS]),
    np.array([view.both_ways for view in PAIR_VIEWS]),
    np.array([view.spread for view in PAIR_VIEWS]),
    np.array(CORRELATION_WEIGHTS),
)
_WINDOWS = (
    np.array([view.sizes[0] for view in NEIGHBOUR_VIEWS]),
    np.array([int(view.folded) for view in NEIGHBOUR_VIEWS]),
)
_TRIPLE_WEIGHTS = np.array([view.one_way for view in TRIPLE_VIEWS])


class ViewGains(NamedTuple):
    """Gains standardised to mean 0 and variance 1, and their skewnesses; views on the last axis.

    A view that is not available has the gain minus infinity. Correlations have a kind, see
    `covary.kernels.uds_chance.associations`, in the place of a skewness.
    """

    gains: Floats
    skewnesses: Floats


class Moved(NamedTuple):
    """Permutations of one column: the row that each value moves to, and the inverse."""

    rows: Rows
    inverse: Rows

    def reversed(self) -> Moved:
        """Moving a column is equivalent to moving all others back."""
        return Moved(self.inverse, self.rows)


def pair_gains(
    prepared: Prepared,
    given: int,
    targets: Sequence[int],
    moved: Moved | None = None,
    n_correlated: int | None = None,
) -> tuple[ViewGains, ViewGains]:
    """Return the gains of `PAIR_VIEWS`, and rank correlations, one line per target.

    With permutations of the only target, one line per permutation. ``n_correlated`` is the number
    of lines, from the first on, that need correlations: these are the same in both directions.
    """
    orders, lines, every_target = _lines(prepared, given, targets, moved)
    n_correlated = len(lines) if n_correlated is None else n_correlated
    grids = grid_gains(prepared, (given, given), targets, GRID_VIEWS, moved)
    neighbour_views = kernels.uds_chance.neighbours.neighbour_views
    if prepared.absent([given, *targets]) is not None:
        neighbour_views = kernels.uds_chance.complete_pairs.complete_neighbour_views
    near, of_near, correlations, kinds = neighbour_views(
        orders,
        lines,
        every_target,
        given,
        prepared.values,
        prepared.n_present,
        prepared.derived(Places).arrays,
        (*_WINDOWS, n_correlated),
    )
    gains = ViewGains(np.hstack([grids.gains, near]), np.hstack([grids.skewnesses, of_near]))
    return gains, ViewGains(correlations, kinds)


def _lines(
    prepared: Prepared, given: int, targets: Sequence[int], moved: Moved | None
) -> tuple[Rows, Integers, Integers]:
    """Return the rows in the order of the condition, and the line and target of each result."""
    if moved is None:
        which = np.array(targets, np.int64)
        return prepared.orders[given : given + 1], np.zeros(which.size, np.int64), which
    orders = np.take(moved.inverse, prepared.orders[given], axis=1)
    return orders, np.arange(len(orders)), np.full(len(orders), targets[0], np.int64)


def grid_gains(
    prepared: Prepared,
    given: tuple[int, int],
    targets: Sequence[int],
    views: Sequence[View],
    moved: Moved | None = None,
) -> ViewGains:
    """Return the gains of views of grids, one line per target, or per permutation of the only one.

    Parameters
    ----------
    given : the conditions; the same column twice for one condition
    """
    absent = prepared.absent(given)
    parts = []
    for folded in sorted({view.folded for view in views}):
        # Without some rows, the median at which a target is folded differs.
        found = targets_of(prepared, targets, folded and absent is None)
        if moved is not None:
            found = found.copies(moved.rows)
        some = tuple(view for view in views if view.folded == folded)
        parts.append(_gains_of_views(prepared, given, found.without(absent, folded), some))
    # The views that are not folded come first.
    return ViewGains(*(np.hstack(each) for each in zip(*parts, strict=True)))


def _gains_of_views(
    prepared: Prepared, given: tuple[int, int], targets: Targets, views: tuple[View, ...]
) -> tuple[Floats, Floats]:
    grids = prepared.derived(Grids)
    usable = tuple(family.sizes[: family.n_grids(*given)] for family in grids.families)
    numbers, members = _members(usable, views)
    gains: tuple[Floats, Floats] = kernels.uds_chance.view_gains.mean_view_gains(
        grids.arrays,
        numbers,
        *given,
        *targets,
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
        members,
    )
    return gains


@lru_cache
def _members(
    families: tuple[tuple[int, ...], ...], views: tuple[View, ...]
) -> tuple[tuple[int, int], Booleans]:
    """Return the numbers of grids of both families, and whether each view contains each grid."""
    finest = max(max(view.sizes) for view in views)
    one, other = ([size for size in sizes if size <= finest] for sizes in families)
    members = [[size in view.sizes for size in one + other] for view in views]
    return (len(one), len(other)), np.array(members)


def pair_evidence(gains: ViewGains, reverse: ViewGains, correlations: ViewGains) -> Floats:
    """Return the evidence of pairs from both directions and the correlations of one of them."""
    evidence: Floats = kernels.uds_chance.tails.evidence_of_pairs(
        tuple(gains), tuple(reverse), tuple(correlations), _PAIR_WEIGHTS
    )
    return evidence


def triple_evidence(gains: ViewGains) -> Floats:
    """Return the evidence of triples."""
    evidence: Floats = kernels.uds_chance.tails.evidence_of_views(tuple(gains), _TRIPLE_WEIGHTS)
    return evidence


def cell_gains(
    prepared: Prepared,
    cells: Cells,
    targets: Sequence[int],
    moved: Moved | None = None,
    absent: Booleans | None = None,
) -> ViewGains:
    """Return the gains of levels of cells: a view for each level.

    One line per target, or per permutation of the only one. Rows that are ``absent`` do not count.
    """
    found = targets_of(prepared, targets)
    if moved is not None:
        found = found.copies(moved.rows)
    gains = kernels.uds_chance.view_gains.cell_view_gains(
        *cells,
        *found.without(absent),
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
    )
    return ViewGains(*gains)


def joint_evidence(
    prepared: Prepared, given: Sequence[int], targets: Sequence[int], moved: Moved | None = None
) -> Floats:
    """Return the evidence that balanced cells over columns explain a target, one per line.

    It is the log mean exp over the equally good orders of the columns.
    """
    found = [
        level_evidence(cell_gains(prepared, cells, targets, moved, prepared.absent(given)))
        for cells in balanced_cells(prepared, given)
    ]
    return log_mean_exp(np.stack(found, axis=-1))


def level_evidence(gains: ViewGains) -> Floats:
    """Return the evidence of levels of cells, which have equal weights."""
    n_levels = gains.gains.shape[1]
    if n_levels == 0:
        return np.zeros(len(gains.gains))
    weights = np.full(n_levels, 1.0 / n_levels)
    evidence: Floats = kernels.uds_chance.tails.evidence_of_views(tuple(gains), weights)
    return evidence


def log_mean_exp(evidence: Floats) -> Floats:
    """Return the log of the mean exp over the last axis.

    Sorting makes the result independent of the order.
    """
    ordered = np.sort(evidence, axis=-1)
    highest = ordered[..., -1:]
    return np.asarray(highest[..., 0] + np.log(np.exp(ordered - highest).mean(axis=-1)))
