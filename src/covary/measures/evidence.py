"""Is there any dependence at all? A statistic that sees more than the strongest one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.measures.strengths import MOST_WITH_PAIRS, as_targets
from covary.prepare import Prepared

Floats = npt.NDArray[np.float64]


class View(NamedTuple):
    """Some grids whose gains are averaged, and how much they count.

    Parameters
    ----------
    sizes : into how many bins the grids cut a column
    folded : whether the explained column is folded in the middle first
    weight : the larger, the sooner it tells
    spread : standard deviation, under independence, of what is compared
    """

    sizes: tuple[int, ...]
    folded: bool
    weight: float
    spread: float


# Coarse grids see what rises or falls, fine ones what swings, the finest what swings many times;
# folded, a circle or a growing spread are such too. The weights leave most of the power to what is
# most common.
OF_PAIRS = (
    View((2, 3, 4), False, 0.6, 1.75),
    View((8, 12, 16), False, 0.2, 1.55),
    View((4, 6, 8), True, 0.15, 1.5),
    View((24, 32, 48, 64, 96, 128, 192), False, 0.05, 1.4),
)
OF_TRIPLES = (
    View((2,), False, 0.5, 1.0),
    View((3, 4, 6), False, 0.45, 1.0),
    View((8, 12, 16, 24), False, 0.05, 1.0),
)


def evidence_of(prepared: Prepared, columns: Sequence[int], max_given: int) -> float:
    """Return how far what the columns explain of each other is out of what chance explains.

    For each pair of columns, the gains of some grids are standardised, averaged, and added up for
    both ways; and so for each column given two others. The evidence is the log mean exp of all
    those: near the largest if one relation stands out among many, and above it if there are
    several. Pairs and triples count the same in all.
    """
    vary = [column for column in columns if prepared.varies[column]]
    if len(vary) < 2:
        return 0.0
    found = {a: _standardised(prepared, a, a, [t for t in vary if t != a], OF_PAIRS) for a in vary}
    pairs = np.array([found[a][b] + found[b][a] for a, b in combinations(vary, 2)])
    told = [_log_mean_exp(_weighed(pairs, OF_PAIRS))]
    if max_given > 1 and 2 < len(vary) <= MOST_WITH_PAIRS:
        triples: list[Floats] = []
        for a, b in combinations(vary, 2):
            others = [t for t in vary if t not in (a, b)]
            triples += _standardised(prepared, a, b, others, OF_TRIPLES).values()
        told.append(_log_mean_exp(_weighed(np.array(triples), OF_TRIPLES)))
    return _log_mean_exp([np.array(told)])


def _standardised(
    prepared: Prepared, one: int, other: int, targets: Sequence[int], views: Sequence[View]
) -> dict[int, Floats]:
    """Return by target the mean gain over the grids of each view, in standard deviations.

    It is 0 where there is no such grid, or nothing to explain.
    """
    told = np.zeros((len(targets), len(views)))
    for folded in sorted({view.folded for view in views}):
        mine = [view for view in views if view.folded == folded]
        sizes, gains, freedoms = _grids(prepared, one, other, targets, mine)
        for at, view in enumerate(views):
            take = np.isin(sizes, view.sizes)
            if view.folded == folded and take.any():
                told[:, at] = _mean(gains[:, take], freedoms[:, take])
    return dict(zip(targets, told, strict=True))


def _grids(
    prepared: Prepared, one: int, other: int, targets: Sequence[int], views: Sequence[View]
) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return the sizes of all grids that these views need, standardised gains, and freedoms."""
    folded = views[0].folded
    ranked = prepared.folded[1] if folded else prepared.ranked
    finest = max(max(view.sizes) for view in views)
    which = np.array(targets, np.int64)
    sizes: list[int] = []
    gains, freedoms = [], []
    for grids in prepared.grids:
        usable = grids.sizes if one == other else grids.sizes[: grids.n_of_two]
        used = [size for size in usable if size <= finest]
        found = kernels.gains.gains_along(
            (grids.codes, grids.maps, grids.n_bins),
            one,
            other,
            len(used),
            which,
            as_targets(prepared, folded),
            *kernels.tables.whole_increments(prepared.n_rows),
        )
        sizes += used
        gains.append(found[0])
        freedoms.append(found[2])
    freedom = np.hstack(freedoms)
    spread = ranked.units[which, None] * np.sqrt(freedom * ranked.variances[which, None])
    standard = np.hstack(gains) / np.where(spread > 0, spread, np.inf)
    return np.array(sizes), standard, freedom


def _mean(standard: Floats, freedom: Floats) -> Floats:
    """Return the mean over grids, divided by its standard deviation under independence.

    A coarser grid sees a part of what a finer one sees: they correlate by the root of that.
    """
    alike = np.sqrt(freedom[:, :, None] / np.maximum(freedom[:, None, :], 1.0))
    alike = np.minimum(alike, alike.transpose(0, 2, 1)).mean(axis=(1, 2))
    return np.asarray(standard.mean(axis=1) / np.sqrt(np.maximum(alike, 1.0 / freedom.shape[1])))


def _weighed(found: Floats, views: Sequence[View]) -> list[Floats]:
    """Return what each view tells, in standard deviations, plus the log of its weight."""
    return [
        told / view.spread + np.log(view.weight) for told, view in zip(found.T, views, strict=True)
    ]


def _log_mean_exp(values: Iterable[Floats]) -> float:
    """Return the log of the sum of the mean exp of each array, whatever order they come in."""
    parts = [np.sort(each) for each in values]
    highest = max(float(each[-1]) for each in parts)
    means = [float(np.mean(np.exp(each - highest))) for each in parts]
    return highest + float(np.log(sum(means)))
