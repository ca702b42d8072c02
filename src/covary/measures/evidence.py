"""Is there any dependence at all? A statistic that sees more than the strongest one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.measures.strengths import (
    CELLS_AT_A_TIME,
    MOST_WITH_PAIRS,
    Columns,
    as_targets,
    copies,
)
from covary.prepare import Prepared

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint32]


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


class Plan(NamedTuple):
    """What has to be computed for the evidence of some sets: each relation once.

    Parameters
    ----------
    pairs : two columns each, which explain each other
    triples : two columns that explain a third
    of_sets : for sets that have as many of both: which sets, and which pairs and triples they have
    """

    pairs: list[tuple[int, int]]
    triples: list[tuple[int, int, int]]
    of_sets: list[tuple[Numbers, Numbers, Numbers]]


@lru_cache(maxsize=8)
def plan(sets: tuple[tuple[int, ...], ...], with_two: bool, target: int | None) -> Plan:
    """Return what to compute for sets of columns that vary.

    With a ``target``, only what has to do with it counts.
    """
    pairs: dict[tuple[int, int], int] = {}
    triples: dict[tuple[int, int, int], int] = {}
    alike: dict[tuple[int, int], list[tuple[int, list[int], list[int]]]] = {}
    for number, columns in enumerate(sets):
        two = [pair for pair in combinations(columns, 2) if target is None or target in pair]
        three: list[tuple[int, int, int]] = []
        if with_two and 2 < len(columns) <= MOST_WITH_PAIRS:
            three = [
                (*pair, explained)
                for explained in columns
                if target is None or explained == target
                for pair in combinations([c for c in columns if c != explained], 2)
            ]
        lines = (
            [pairs.setdefault(each, len(pairs)) for each in two],
            [triples.setdefault(each, len(triples)) for each in three],
        )
        alike.setdefault((len(two), len(three)), []).append((number, *lines))
    of_sets = [
        (np.array(numbers), np.array(two, np.int64), np.array(three, np.int64))
        for numbers, two, three in (zip(*each, strict=True) for each in alike.values())
    ]
    return Plan(list(pairs), list(triples), of_sets)


def evidence_of(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int,
    target: int | None = None,
) -> Floats:
    """Return how far what columns explain of each other is out of what chance explains.

    For each pair of columns, the gains of some grids are standardised, averaged, and added up for
    both ways; and so for each column given two others. The evidence is the log mean exp of all
    those: near the largest if one relation stands out among many, and above it if there are
    several. Pairs and triples count the same in all.

    With a ``target``, it is the evidence that the target depends on the others, whether or not
    these depend on each other.
    """
    planned = _planned(prepared, sets, max_given, target)
    targets: dict[int, list[int]] = {}
    for a, b in planned.pairs:
        targets.setdefault(a, []).append(b)
        targets.setdefault(b, []).append(a)
    one_way = {}
    for a, others in targets.items():
        told = _told(prepared, (a, a), others, OF_PAIRS)
        one_way.update({(a, b): line for b, line in zip(others, told, strict=True)})
    pairs = np.array([one_way[a, b] + one_way[b, a] for a, b in planned.pairs])
    explained: dict[tuple[int, int], list[int]] = {}
    for a, b, t in planned.triples:
        explained.setdefault((a, b), []).append(t)
    two_ways = {}
    for (a, b), others in explained.items():
        told = _told(prepared, (a, b), others, OF_TRIPLES)
        two_ways.update({(a, b, t): line for t, line in zip(others, told, strict=True)})
    triples = np.array([two_ways[each] for each in planned.triples])
    evidence: Floats = _combined(planned, len(sets), pairs[None], triples[None])[0]
    return evidence


def evidence_moved(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int,
    column: int,
    rows: Rows,
) -> Floats:
    """Return the evidence of sets, one line for each way to move the values of a column.

    The column is the target of all sets, or one of two columns. All else stays what it is, so that
    cells are counted once for all ways: what counts is how the column lies to the others.

    Parameters
    ----------
    rows : one line for each way: where the value of each row goes

    """
    planned = _planned(prepared, sets, max_given, column)
    n_ways, n_rows = rows.shape
    pairs = np.zeros((n_ways, len(planned.pairs), len(OF_PAIRS)))
    triples = np.zeros((n_ways, len(planned.triples), len(OF_TRIPLES)))
    at_a_time = max(1, CELLS_AT_A_TIME // n_rows)
    for first in range(0, n_ways, at_a_time):
        some = slice(first, first + at_a_time)
        back = kernels.shuffling.invert(rows[some])
        for at, pair in enumerate(planned.pairs):
            other = pair[0] if pair[1] == column else pair[1]
            pairs[some, at] = _told_of_copies(prepared, (other, other), column, rows[some])
            # That the column moves is as good as that the other moves back.
            pairs[some, at] += _told_of_copies(prepared, (column, column), other, back)
        for at, (a, b, _) in enumerate(planned.triples):
            triples[some, at] = _told_of_copies(prepared, (a, b), column, rows[some])
    return _combined(planned, len(sets), pairs, triples)


def _planned(
    prepared: Prepared, sets: Sequence[Sequence[int]], max_given: int, target: int | None
) -> Plan:
    varies = prepared.varies
    vary = tuple(tuple(column for column in columns if varies[column]) for columns in sets)
    return plan(vary, max_given > 1, target)


def _told(
    prepared: Prepared, given: tuple[int, int], targets: Sequence[int], views: Sequence[View]
) -> Floats:
    """Return by target what each view of the grids along one or two columns tells of it."""
    which = np.array(targets, np.int64)
    told = np.zeros((which.size, len(views)))
    for folded in sorted({view.folded for view in views}):
        ranked = prepared.folded[1] if folded else prepared.ranked
        nulls = (ranked.units, ranked.variances)
        told += _told_by(
            prepared, given, which, as_targets(prepared, folded), nulls, views, folded
        )
    return told


def _told_of_copies(prepared: Prepared, given: tuple[int, int], target: int, rows: Rows) -> Floats:
    """Return the same for copies of one target, each moved in its own way."""
    views = OF_PAIRS if given[0] == given[1] else OF_TRIPLES
    told = np.zeros((len(rows), len(views)))
    which = np.arange(len(rows))
    for folded in sorted({view.folded for view in views}):
        ranked = prepared.folded[1] if folded else prepared.ranked
        columns = copies(as_targets(prepared, folded), target, rows)
        nulls = tuple(
            np.full(len(rows), each[target]) for each in (ranked.units, ranked.variances)
        )
        told += _told_by(prepared, given, which, columns, nulls, views, folded)
    return told


def _told_by(
    prepared: Prepared,
    given: tuple[int, int],
    targets: Numbers,
    columns: Columns,
    nulls: tuple[Floats, ...],
    views: Sequence[View],
    folded: bool,
) -> Floats:
    """Return what the views tell that look at columns folded, or unfolded; 0 for the others."""
    finest = max(max(view.sizes) for view in views if view.folded == folded)
    used = []
    for grids in prepared.grids:
        usable = grids.sizes if given[0] == given[1] else grids.sizes[: grids.n_of_two]
        used.append([size for size in usable if size <= finest])
    sizes = used[0] + used[1]
    told: Floats = kernels.evidence.told_along(
        tuple((grids.codes, grids.maps, grids.n_bins) for grids in prepared.grids),
        (len(used[0]), len(used[1])),
        *given,
        targets,
        columns,
        nulls,
        *kernels.tables.whole_increments(prepared.n_rows),
        np.array([[view.folded == folded and n in view.sizes for n in sizes] for view in views]),
    )
    return told


def _combined(planned: Plan, n_sets: int, pairs: Floats, triples: Floats) -> Floats:
    """Return the evidence of each set from what is told of its pairs and triples."""
    evidence = np.zeros((len(pairs), n_sets))
    for which, two, three in planned.of_sets:
        if two.shape[1] == 0:
            continue
        told = _log_mean_exp(pairs[:, two], OF_PAIRS)
        if three.shape[1] > 0:
            of_three = _log_mean_exp(triples[:, three], OF_TRIPLES)
            told = np.logaddexp(told, of_three) - np.log(2.0)
        evidence[:, which] = told
    return evidence


def _log_mean_exp(told: Floats, views: Sequence[View]) -> Floats:
    """Return the log of the weighted sum over views of the mean exp over the last axis but one.

    It is the same in whatever order relations come.
    """
    spreads = np.array([view.spread for view in views])
    weights = np.array([view.weight for view in views])
    ordered = np.sort(told, axis=-2) / spreads + np.log(weights)
    highest = ordered.max(axis=(-2, -1), keepdims=True)
    means = np.exp(ordered - highest).mean(axis=-2)
    return np.asarray(highest[..., 0, 0] + np.log(means.sum(axis=-1)))
