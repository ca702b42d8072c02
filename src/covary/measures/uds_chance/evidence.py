"""The evidence statistic of `uds-chance`: tail probabilities of many views, combined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Columns, Floats, Integers, Rows
from covary.measures.uds_chance.evidence_views import (
    CORRELATION_WEIGHTS,
    PAIR_VIEWS,
    TRIPLE_VIEWS,
    Moved,
    ViewGains,
    grid_gains,
    pair_evidence,
    pair_gains,
    triple_evidence,
)
from covary.measures.uds_chance.strengths import MAX_COLUMNS_WITH_PAIRS
from covary.prepare import Prepared

# Copies of a column are processed in blocks of this many cells.
CELLS_PER_BLOCK = 1 << 20


class Relations(NamedTuple):
    """The pairs and triples that the evidence of some sets needs, each listed once.

    Parameters
    ----------
    pairs : two columns that explain each other
    triples : two columns and the target that they explain
    of_sets : for sets with equal numbers of columns: the numbers of the sets, and by set and
        column, the numbers of the pairs and of the triples of the column
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

    The evidence of a relation, a pair of columns or a target and two conditions, is the log of a
    weighted mean of 1 / probability over views, see `covary.measures.uds_chance.evidence_views`.

    The evidence E of a column is the log mean exp over its relations: the pairs that contain it
    and the triples in which it is the target. Pairs and triples have equal total weight. It is
    close to the maximum if one relation stands out. The evidence of a set of d columns is the sum
    over columns of log(1 - 1/d + exp(E)/d) / 2. Columns without evidence hardly change this sum,
    and a strong relation adds the same number to the evidence of the table and of permutations
    that preserve it, so that it hides no other one.

    With a target, only the target's own evidence counts, as log(1/2 + exp(E)/2). For a pair, both
    are equal.
    """
    relations = _relations_of(prepared, sets, max_given, target)
    pairs = _evidence_of_pairs(prepared, relations.pairs)
    triples = _evidence_of_triples(prepared, relations.triples)
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
    pairs = np.zeros((n_permutations, len(relations.pairs)))
    triples = np.zeros((n_permutations, len(relations.triples)))
    block = max(1, CELLS_PER_BLOCK // n_rows)
    for first in range(0, n_permutations, block):
        some = slice(first, first + block)
        moved = Moved(rows[some], kernels.shared.shuffling.invert(rows[some]))
        for at, pair in enumerate(relations.pairs):
            other = pair[0] if pair[1] == column else pair[1]
            gains, correlations = pair_gains(prepared, other, [column], moved)
            reverse, _ = pair_gains(prepared, column, [other], moved.reversed())
            pairs[some, at] = pair_evidence(gains, reverse, correlations)
        for at, (a, b, _) in enumerate(relations.triples):
            of_two = grid_gains(prepared, (a, b), [column], TRIPLE_VIEWS, moved)
            triples[some, at] = triple_evidence(of_two)
    return _combined(relations, len(sets), pairs, triples)


def _relations_of(
    prepared: Prepared, sets: Sequence[Sequence[int]], max_given: int, target: int | None
) -> Relations:
    varying = tuple(tuple(prepared.varying(columns)) for columns in sets)
    return _relations(varying, max_given > 1, target)


@lru_cache(maxsize=8)
def _relations(sets: tuple[Columns, ...], with_two: bool, target: int | None) -> Relations:
    """Return the relations of sets whose columns vary; only those of the target, if any."""
    pairs: dict[tuple[int, int], int] = {}
    triples: dict[tuple[int, int, int], int] = {}
    by_size: dict[int, list[tuple[int, list[list[int]], list[list[int]]]]] = {}
    for number, columns in enumerate(sets):
        explained = [c for c in columns if target is None or c == target]
        if not explained or len(columns) < 2:
            continue
        two: list[list[int]] = []
        three: list[list[int]] = []
        for c in explained:
            others = [other for other in columns if other != c]
            keys = [(min(c, other), max(c, other)) for other in others]
            two.append([pairs.setdefault(key, len(pairs)) for key in keys])
            small = with_two and len(columns) <= MAX_COLUMNS_WITH_PAIRS
            given = combinations(others, 2) if small else ()
            three.append([triples.setdefault((a, b, c), len(triples)) for a, b in given])
        by_size.setdefault(len(columns), []).append((number, two, three))
    of_sets = [
        (np.array(numbers), np.array(two, np.int64), np.array(three, np.int64))
        for numbers, two, three in (zip(*each, strict=True) for each in by_size.values())
    ]
    return Relations(list(pairs), list(triples), of_sets)


def _evidence_of_pairs(prepared: Prepared, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Return the evidence of each pair."""
    n = len(pairs)
    targets: dict[int, tuple[list[int], list[int]]] = {}  # by condition, with their lines
    for at, (a, b) in enumerate(pairs):
        for given, target, line in ((a, b, at), (b, a, n + at)):
            others, lines = targets.setdefault(given, ([], []))
            others.append(target)
            lines.append(line)
    gains, skewnesses = np.empty((2, 2 * n, len(PAIR_VIEWS)))
    correlations = np.empty((2 * n, len(CORRELATION_WEIGHTS)))
    for given, (others, lines) in targets.items():
        found, correlations[lines] = pair_gains(prepared, given, others)
        gains[lines], skewnesses[lines] = found
    return pair_evidence(
        ViewGains(gains[:n], skewnesses[:n]),
        ViewGains(gains[n:], skewnesses[n:]),
        correlations[:n],
    )


def _evidence_of_triples(prepared: Prepared, triples: Sequence[tuple[int, int, int]]) -> Floats:
    """Return the evidence of each triple: that two columns explain the third."""
    targets: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for at, (a, b, target) in enumerate(triples):
        others, lines = targets.setdefault((a, b), ([], []))
        others.append(target)
        lines.append(at)
    evidence = np.empty(len(triples))
    for given, (others, lines) in targets.items():
        evidence[lines] = triple_evidence(grid_gains(prepared, given, others, TRIPLE_VIEWS))
    return evidence


def _combined(relations: Relations, n_sets: int, pairs: Floats, triples: Floats) -> Floats:
    """Return the evidence of each set from the evidence of its pairs and triples.

    Relations are on the last axis of the arguments, sets on the last axis of the result.
    """
    evidence = np.zeros((len(pairs), n_sets))
    for which, two, three in relations.of_sets:
        columns = _log_mean_exp(pairs[:, two])
        if three.shape[2] > 0:
            columns = np.logaddexp(columns, _log_mean_exp(triples[:, three])) - np.log(2.0)
        n_columns = two.shape[1]  # 1 if there is a target
        n = max(n_columns, 2)
        terms = np.logaddexp(np.log(1 - 1 / n), np.sort(columns) - np.log(n))
        evidence[:, which] = terms.sum(axis=-1) / min(n_columns, 2)
    return evidence


def _log_mean_exp(evidence: Floats) -> Floats:
    """Return the log of the mean exp over the last axis.

    Sorting makes the result independent of the order.
    """
    ordered = np.sort(evidence, axis=-1)
    highest = ordered[..., -1:]
    return np.asarray(highest[..., 0] + np.log(np.exp(ordered - highest).mean(axis=-1)))
