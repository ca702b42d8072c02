"""The evidence statistic of `uds-chance`: standardised gains of many grids, combined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Columns, Floats, Integers, Rows
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import (
    FoldedColumns,
    MidRanks,
    TargetArrays,
    moved_copies,
    target_arrays,
)
from covary.measures.uds_chance.strengths import MAX_COLUMNS_WITH_PAIRS
from covary.prepare import Prepared

# Copies of a column are processed in blocks of this many cells.
CELLS_PER_BLOCK = 1 << 20


class View(NamedTuple):
    """Grids whose gains are averaged, and the weight of the average.

    Parameters
    ----------
    sizes : the numbers of bins of the grids
    folded : whether the target is folded at its median first
    weight : the weight in the combination; all weights of a group add up to 1
    spread : the standard deviation of the average under independence
    """

    sizes: tuple[int, ...]
    folded: bool
    weight: float
    spread: float


# Coarse grids detect monotone relations, fine grids oscillating ones. Folding the target makes a
# circle or a growing spread monotone. The weights favour the most common relations.
PAIR_VIEWS = (
    View((2, 3, 4), False, 0.6, 1.75),
    View((8, 12, 16), False, 0.2, 1.55),
    View((4, 6, 8), True, 0.15, 1.5),
    View((24, 32, 48, 64, 96, 128, 192), False, 0.05, 1.4),
)
TRIPLE_VIEWS = (
    View((2,), False, 0.5, 1.0),
    View((3, 4, 6), False, 0.45, 1.0),
    View((8, 12, 16, 24), False, 0.05, 1.0),
)


class Relations(NamedTuple):
    """The pairs and triples that the evidence of some sets needs, each listed once.

    Parameters
    ----------
    pairs : two columns that explain each other
    triples : two columns and the target that they explain
    of_sets : for sets with equal numbers of pairs and triples: the numbers of the sets, of their
        pairs and of their triples
    """

    pairs: list[tuple[int, int]]
    triples: list[tuple[int, int, int]]
    of_sets: list[tuple[Integers, Integers, Integers]]


def evidence_of(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int,
    target: int | None = None,
) -> Floats:
    """Return the evidence statistic of sets.

    For each pair of columns, the gains of several grids are standardised, averaged, and summed
    over both directions. Triples, a target and two conditions, are treated in the same way. The
    evidence is the log mean exp of all relations. It is close to the maximum if one relation
    stands out, and larger if there are several. Pairs and triples have equal total weight.

    With a target, only relations that contain it count.
    """
    relations = _relations_of(prepared, sets, max_given, target)
    targets: dict[int, list[int]] = {}
    for a, b in relations.pairs:
        targets.setdefault(a, []).append(b)
        targets.setdefault(b, []).append(a)
    by_direction = {}
    for a, others in targets.items():
        gains = _view_gains(prepared, (a, a), others, PAIR_VIEWS)
        by_direction.update({(a, b): line for b, line in zip(others, gains, strict=True)})
    pairs = np.array([by_direction[a, b] + by_direction[b, a] for a, b in relations.pairs])
    targets_of_two: dict[tuple[int, int], list[int]] = {}
    for a, b, t in relations.triples:
        targets_of_two.setdefault((a, b), []).append(t)
    by_triple = {}
    for (a, b), others in targets_of_two.items():
        gains = _view_gains(prepared, (a, b), others, TRIPLE_VIEWS)
        by_triple.update({(a, b, t): line for t, line in zip(others, gains, strict=True)})
    triples = np.array([by_triple[each] for each in relations.triples])
    evidence: Floats = _combined(relations, len(sets), pairs[None], triples[None])[0]
    return evidence


def evidence_of_copies(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int,
    column: int,
    rows: Rows,
) -> Floats:
    """Return the evidence of sets, one line per permutation of one column.

    In each set, the column is the target, or the set has two columns. Then only its position
    relative to the others matters, so that cells are counted once for all permutations.

    Parameters
    ----------
    rows : one line per permutation: the row that the value of each row moves to
    """
    relations = _relations_of(prepared, sets, max_given, column)
    n_permutations, n_rows = rows.shape
    pairs = np.zeros((n_permutations, len(relations.pairs), len(PAIR_VIEWS)))
    triples = np.zeros((n_permutations, len(relations.triples), len(TRIPLE_VIEWS)))
    block = max(1, CELLS_PER_BLOCK // n_rows)
    for first in range(0, n_permutations, block):
        some = slice(first, first + block)
        inverse = kernels.shared.shuffling.invert(rows[some])
        for at, pair in enumerate(relations.pairs):
            other = pair[0] if pair[1] == column else pair[1]
            pairs[some, at] = _view_gains_of_copies(prepared, (other, other), column, rows[some])
            # Moving the column is equivalent to moving the other one back.
            pairs[some, at] += _view_gains_of_copies(prepared, (column, column), other, inverse)
        for at, (a, b, _) in enumerate(relations.triples):
            triples[some, at] = _view_gains_of_copies(prepared, (a, b), column, rows[some])
    return _combined(relations, len(sets), pairs, triples)


def _relations_of(
    prepared: Prepared, sets: Sequence[Sequence[int]], max_given: int, target: int | None
) -> Relations:
    varying = tuple(tuple(prepared.varying(columns)) for columns in sets)
    return _relations(varying, max_given > 1, target)


@lru_cache(maxsize=8)
def _relations(sets: tuple[Columns, ...], with_two: bool, target: int | None) -> Relations:
    """Return the relations of sets whose columns vary; only those with the target, if any."""
    pairs: dict[tuple[int, int], int] = {}
    triples: dict[tuple[int, int, int], int] = {}
    by_numbers: dict[tuple[int, int], list[tuple[int, list[int], list[int]]]] = {}
    for number, columns in enumerate(sets):
        two = [pair for pair in combinations(columns, 2) if target is None or target in pair]
        three: list[tuple[int, int, int]] = []
        if with_two and 2 < len(columns) <= MAX_COLUMNS_WITH_PAIRS:
            three = [
                (*pair, explained)
                for explained in columns
                if target is None or explained == target
                for pair in combinations([c for c in columns if c != explained], 2)
            ]
        numbers = (
            [pairs.setdefault(each, len(pairs)) for each in two],
            [triples.setdefault(each, len(triples)) for each in three],
        )
        by_numbers.setdefault((len(two), len(three)), []).append((number, *numbers))
    of_sets = [
        (np.array(numbers), np.array(two, np.int64), np.array(three, np.int64))
        for numbers, two, three in (zip(*each, strict=True) for each in by_numbers.values())
    ]
    return Relations(list(pairs), list(triples), of_sets)


def _null_moments(prepared: Prepared, folded: bool) -> tuple[Floats, Floats]:
    """Return units and variances of the columns, folded or not."""
    midranks = prepared.derived(FoldedColumns).midranks if folded else prepared.derived(MidRanks)
    return midranks.units, midranks.variances


def _view_gains(
    prepared: Prepared, given: tuple[int, int], targets: Sequence[int], views: Sequence[View]
) -> Floats:
    """Return the mean standardised gain of each view, one line per target."""
    which = np.array(targets, np.int64)
    gains = np.zeros((which.size, len(views)))
    for folded in sorted({view.folded for view in views}):
        columns, moments = target_arrays(prepared, folded), _null_moments(prepared, folded)
        gains += _gains_of_views(prepared, given, which, columns, moments, views, folded)
    return gains


def _view_gains_of_copies(
    prepared: Prepared, given: tuple[int, int], target: int, rows: Rows
) -> Floats:
    """Return the same for copies of one target, one per permutation."""
    views = PAIR_VIEWS if given[0] == given[1] else TRIPLE_VIEWS
    gains = np.zeros((len(rows), len(views)))
    which = np.arange(len(rows))
    for folded in sorted({view.folded for view in views}):
        columns = moved_copies(target_arrays(prepared, folded), target, rows)
        moments = tuple(
            np.full(len(rows), each[target]) for each in _null_moments(prepared, folded)
        )
        gains += _gains_of_views(prepared, given, which, columns, moments, views, folded)
    return gains


def _gains_of_views(
    prepared: Prepared,
    given: tuple[int, int],
    targets: Integers,
    columns: TargetArrays,
    moments: tuple[Floats, ...],
    views: Sequence[View],
    folded: bool,
) -> Floats:
    """Return the gains of the views with folded targets, or without; 0 for the other views."""
    finest = max(max(view.sizes) for view in views if view.folded == folded)
    grids = prepared.derived(Grids)
    used = []
    for family in grids.families:
        usable = family.sizes[: family.n_grids(*given)]
        used.append([size for size in usable if size <= finest])
    sizes = used[0] + used[1]
    gains: Floats = kernels.uds_chance.view_gains.mean_view_gains(
        grids.arrays,
        (len(used[0]), len(used[1])),
        *given,
        targets,
        columns,
        moments,
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
        np.array([[view.folded == folded and n in view.sizes for n in sizes] for view in views]),
    )
    return gains


def _combined(relations: Relations, n_sets: int, pairs: Floats, triples: Floats) -> Floats:
    """Return the evidence of each set from the gains of its pairs and triples."""
    evidence = np.zeros((len(pairs), n_sets))
    for which, two, three in relations.of_sets:
        if two.shape[1] == 0:
            continue
        combined = _log_mean_exp(pairs[:, two], PAIR_VIEWS)
        if three.shape[1] > 0:
            of_three = _log_mean_exp(triples[:, three], TRIPLE_VIEWS)
            combined = np.logaddexp(combined, of_three) - np.log(2.0)
        evidence[:, which] = combined
    return evidence


def _log_mean_exp(gains: Floats, views: Sequence[View]) -> Floats:
    """Return the log of the weighted sum over views of the mean exp over relations.

    Relations are on the last axis but one. Sorting makes the result independent of their order.
    """
    spreads = np.array([view.spread for view in views])
    weights = np.array([view.weight for view in views])
    ordered = np.sort(gains, axis=-2) / spreads + np.log(weights)
    highest = ordered.max(axis=(-2, -1), keepdims=True)
    means = np.exp(ordered - highest).mean(axis=-2)
    return np.asarray(highest[..., 0, 0] + np.log(means.sum(axis=-1)))
