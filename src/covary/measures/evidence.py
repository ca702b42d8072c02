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
    pairs: list[Floats] = []
    for view in OF_PAIRS:
        found = {a: _standardised(prepared, a, a, [t for t in vary if t != a], view) for a in vary}
        both = [(found[a][b] + found[b][a]) / view.spread for a, b in combinations(vary, 2)]
        pairs.append(np.array(both) + np.log(view.weight))
    told = [_log_mean_exp(pairs)]
    if max_given > 1 and 2 < len(vary) <= MOST_WITH_PAIRS:
        triples: list[Floats] = []
        for view in OF_TRIPLES:
            each: list[float] = []
            for a, b in combinations(vary, 2):
                others = [t for t in vary if t not in (a, b)]
                each += _standardised(prepared, a, b, others, view).values()
            triples.append(np.array(each) + np.log(view.weight))
        told.append(_log_mean_exp(triples))
    return _log_mean_exp([np.array(told)])


def _standardised(
    prepared: Prepared, one: int, other: int, targets: Sequence[int], view: View
) -> dict[int, float]:
    """Return by target the mean gain over grids, in standard deviations under independence.

    It is 0 where there is no such grid, or nothing to explain.
    """
    ranked = prepared.folded[1] if view.folded else prepared.ranked
    which = np.array(targets, np.int64)
    gains, freedoms = [], []
    for grids in prepared.grids:
        sizes = grids.sizes if one == other else grids.sizes[: grids.n_of_two]
        take = [at for at, size in enumerate(sizes) if size in view.sizes]
        if not take:
            continue
        found = kernels.gains.gains_along(
            (grids.codes, grids.maps, grids.n_bins),
            one,
            other,
            take[-1] + 1,
            which,
            as_targets(prepared, view.folded),
            *kernels.tables.whole_increments(prepared.n_rows),
        )
        gains.append(found[0][:, take])
        freedoms.append(found[2][:, take])
    if not gains:
        return dict.fromkeys(targets, 0.0)
    freedom = np.hstack(freedoms)
    spread = ranked.units[which, None] * np.sqrt(freedom * ranked.variances[which, None])
    standard = np.hstack(gains) / np.where(spread > 0, spread, np.inf)
    # A coarser grid sees a part of what a finer one sees: they correlate by the root of that.
    alike = np.sqrt(freedom[:, :, None] / np.maximum(freedom[:, None, :], 1.0))
    alike = np.minimum(alike, alike.transpose(0, 2, 1)).mean(axis=(1, 2))
    told = standard.mean(axis=1) / np.sqrt(np.maximum(alike, 1.0 / freedom.shape[1]))
    return dict(zip(targets, told.tolist(), strict=True))


def _log_mean_exp(values: Iterable[Floats]) -> float:
    """Return the log of the sum of the mean exp of each array, whatever order they come in."""
    parts = [np.sort(each) for each in values]
    highest = max(float(each[-1]) for each in parts)
    means = [float(np.mean(np.exp(each - highest))) for each in parts]
    return highest + float(np.log(sum(means)))
