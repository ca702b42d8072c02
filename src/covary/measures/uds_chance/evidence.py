"""The evidence statistic of `uds-chance`: tail probabilities of many views, combined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

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
    joint_evidence,
    log_mean_exp,
    pair_evidence,
    pair_gains,
    triple_evidence,
)
from covary.measures.uds_chance.strengths import MAX_PAIRS
from covary.prepare import Prepared

# The weights of pairs, of triples, and of all other columns of a set together.
KIND_WEIGHTS = (0.45, 0.45, 0.1)
# Copies of a column are processed in blocks of this many cells.
CELLS_PER_BLOCK = 1 << 20


class Relations(NamedTuple):
    """The relations that the evidence of some sets needs, each listed once.

    Parameters
    ----------
    kinds : by kind: two columns that explain each other; two columns and the target that they
        explain; all other columns of a set, if these are three or more, and the target
    of_sets : for sets with equal numbers of columns: the numbers of the sets, and by set and
        column, the numbers of its relations of each kind
    """

    kinds: tuple[list[Columns], ...]
    of_sets: list[tuple[Integers, ...]]


def evidence_of(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int | None,
    target: int | None = None,
) -> Floats:
    """Return the evidence statistic of sets.

    The evidence of a relation is the log of a weighted mean of 1 / probability over views, see
    `covary.measures.uds_chance.evidence_views`. There are three kinds of relations: a pair of
    columns, a target and two conditions, and a target and all other columns of the set.

    The evidence E of a column is the log mean exp over its relations: the pairs that contain it
    and those in which it is the target. Each kind has its own total weight. It is close to the
    maximum if one relation stands out. The evidence of a set of d columns is the sum
    over columns of log(1 - 1/d + exp(E)/d) / 2. Columns without evidence hardly change this sum,
    and a strong relation adds the same number to the evidence of the table and of permutations
    that preserve it, so that it hides no other one.

    With a target, only the target's own evidence counts, as log(1/2 + exp(E)/2). For a pair, both
    are equal.
    """
    relations = _relations_of(prepared, sets, max_given, target)
    pairs, triples, jointly = relations.kinds
    found = (
        pair_evidence(*gains_of_pairs(prepared, pairs)),
        _evidence_of_triples(prepared, triples),
        np.array([joint_evidence(prepared, given, [c])[0] for *given, c in jointly]),
    )
    _ignore_calendars(prepared, relations, found)
    evidence: Floats = _combined(relations, len(sets), [each[None] for each in found])[0]
    return evidence


def evidence_of_copies(
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    max_given: int | None,
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
    found = [np.zeros((n_permutations, len(each))) for each in relations.kinds]
    of_pairs, of_triples, jointly = found
    block = max(1, CELLS_PER_BLOCK // n_rows)
    for first in range(0, n_permutations, block):
        some = slice(first, first + block)
        moved = Moved(rows[some], kernels.shared.shuffling.invert(rows[some]))
        pairs, triples, all_others = relations.kinds
        for at, pair in enumerate(pairs):
            other = pair[0] if pair[1] == column else pair[1]
            gains, correlations = pair_gains(prepared, other, [column], moved)
            reverse, _ = pair_gains(prepared, column, [other], moved.reversed(), n_correlated=0)
            of_pairs[some, at] = pair_evidence(gains, reverse, correlations)
        for at, (a, b, _) in enumerate(triples):
            of_two = grid_gains(prepared, (a, b), [column], TRIPLE_VIEWS, moved)
            of_triples[some, at] = triple_evidence(of_two)
        for at, (*given, _) in enumerate(all_others):
            jointly[some, at] = joint_evidence(prepared, given, [column], moved)
    _ignore_calendars(prepared, relations, found)
    return _combined(relations, len(sets), found)


def _relations_of(
    prepared: Prepared, sets: Sequence[Sequence[int]], max_given: int | None, target: int | None
) -> Relations:
    varying = tuple(tuple(prepared.varying(columns)) for columns in sets)
    return _relations(varying, max_given, target)


def _ignore_calendars(
    prepared: Prepared, relations: Relations, evidence: Sequence[Floats]
) -> None:
    """Set the evidence of relations between a date and its own calendar columns to 0.

    Relations are on the last axis of the evidence of each kind.
    """
    if np.unique(prepared.sources).size == prepared.sources.size:
        return
    for some, found in zip(relations.kinds, evidence, strict=True):
        for at, (*given, target) in enumerate(some):
            if len(prepared.unrelated(given, target)) < len(given):
                found[..., at] = 0.0


@lru_cache(maxsize=8)
def _relations(sets: tuple[Columns, ...], max_given: int | None, target: int | None) -> Relations:
    """Return the relations of sets whose columns vary; only those of the target, if any."""
    known: tuple[dict[Columns, int], ...] = ({}, {}, {})  # relations of each kind, numbered
    by_size: dict[int, list[tuple[Any, ...]]] = {}
    for number, columns in enumerate(sets):
        explained = [c for c in columns if target is None or c == target]
        if not explained or len(columns) < 2:
            continue
        n_others = len(columns) - 1
        largest = min(n_others, max_given or n_others)
        if len(explained) * math.comb(n_others, 2) > MAX_PAIRS:
            largest = 1
        of_kinds: list[list[list[int]]] = [[], [], []]
        for c in explained:
            others = [other for other in columns if other != c]
            relations: tuple[list[Columns], ...] = (
                [(min(c, other), max(c, other)) for other in others],
                [(*two, c) for two in combinations(others, 2)] if largest > 1 else [],
                [(*others, c)] if largest == len(others) > 2 else [],
            )
            for numbers, some, kind in zip(of_kinds, relations, known, strict=True):
                numbers.append([kind.setdefault(key, len(kind)) for key in some])
        by_size.setdefault(len(columns), []).append((number, *of_kinds))
    of_sets = [
        tuple(np.array(each, np.int64) for each in zip(*same_size, strict=True))
        for same_size in by_size.values()
    ]
    return Relations(tuple(list(kind) for kind in known), of_sets)


def gains_of_pairs(
    prepared: Prepared, pairs: Sequence[Columns]
) -> tuple[ViewGains, ViewGains, ViewGains]:
    """Return the gains of both directions, and the correlations, one line per pair."""
    n = len(pairs)
    targets: dict[int, tuple[list[int], list[int]]] = {}  # by condition, with their lines
    both_ways = [(a, b) for a, b in pairs] + [(b, a) for a, b in pairs]
    for line, (given, target) in enumerate(both_ways):
        others, lines = targets.setdefault(given, ([], []))
        others.append(target)
        lines.append(line)
    gains, skewnesses = np.empty((2, 2 * n, len(PAIR_VIEWS)))
    correlations, kinds = np.empty((2, 2 * n, len(CORRELATION_WEIGHTS)))
    for given, (others, lines) in targets.items():
        n_correlated = sum(line < n for line in lines)
        found, correlated = pair_gains(prepared, given, others, n_correlated=n_correlated)
        gains[lines], skewnesses[lines] = found
        correlations[lines], kinds[lines] = correlated
    return (
        ViewGains(gains[:n], skewnesses[:n]),
        ViewGains(gains[n:], skewnesses[n:]),
        ViewGains(correlations[:n], kinds[:n]),
    )


def _evidence_of_triples(prepared: Prepared, triples: Sequence[Columns]) -> Floats:
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


def _combined(relations: Relations, n_sets: int, kinds: Sequence[Floats]) -> Floats:
    """Return the evidence of each set from the evidence of its relations of each kind.

    Relations are on the last axis of the arguments, sets on the last axis of the result.
    """
    evidence = np.zeros((len(kinds[0]), n_sets))
    for which, *of_kinds in relations.of_sets:
        used = [kind for kind, numbers in enumerate(of_kinds) if numbers.shape[2] > 0]
        total = math.fsum(KIND_WEIGHTS[kind] for kind in used)
        columns = np.logaddexp.reduce(
            [
                log_mean_exp(kinds[kind][:, of_kinds[kind]]) + math.log(KIND_WEIGHTS[kind] / total)
                for kind in used
            ]
        )
        n_columns = columns.shape[-1]  # 1 if there is a target
        n = max(n_columns, 2)
        terms = np.logaddexp(np.log(1 - 1 / n), np.sort(columns) - np.log(n))
        evidence[:, which] = terms.sum(axis=-1) / min(n_columns, 2)
    return evidence
