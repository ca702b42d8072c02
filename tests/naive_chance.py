"""Slow, obviously right versions of `uds-chance`, written from its definition in the docs.

Nothing here is shared with the package. A column is a list of numbers, NaN a missing cell; a cell
of a grid is a list of rows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

ROWS_PER_CELL = 6
FAMILIES = ((2, 4, 8, 16, 32, 64, 128), (3, 6, 12, 24, 48, 96, 192))
LARGEST_ON_TWO = 32
LARGEST_SET_WITH_PAIRS = 64
THINNESS = 0.2
NOTHING = 1e-9


def is_missing(x):
    return x != x


def remembered(function):
    """Call it once for the same arguments: what they look like is the key, as NaN is not NaN."""
    known = {}

    def found(*arguments):
        key = repr(arguments)
        if key not in known:
            if len(known) > 10_000:
                known.clear()
            known[key] = function(*arguments)
        return known[key]

    return found


def varies(column):
    """More than one value, where a missing cell beside values is one more."""
    kinds = {"missing" if is_missing(x) else x for x in column}
    return len(kinds) > 1


# The entropy of a column, and what chance takes from it


@cache
def g(t):
    return t * math.fsum(1 / i for i in range(1, t))


def cut_entropy(k, n):
    """Hhat for k of n rows at or below a cut."""
    return (g(n) - g(k) - g(n - k)) / n


def mid_ranks(column):
    """The rank of every present value, the mean rank where values are equal; NaN stays NaN."""
    present = sorted(x for x in column if not is_missing(x))
    first = {}
    last = {}
    for place, x in enumerate(present, start=1):
        first.setdefault(x, place)
        last[x] = place
    return [math.nan if is_missing(x) else (first[x] + last[x]) / 2 for x in column]


class Ladder(NamedTuple):
    """What matters of a target: its cuts, how far apart its ranks are there, and its entropy."""

    ranks: list  # of every row
    cuts: list  # the distinct ranks but the last
    gaps: np.ndarray
    below: list  # rows at or below each cut
    n: int  # rows that have a value
    entropy: float


@remembered
def ladder(column):
    ranks = mid_ranks(column)
    present = [y for y in ranks if not is_missing(y)]
    distinct = sorted(set(present))
    gaps = [after - before for before, after in pairwise(distinct)]
    below = [int((np.array(present) <= cut).sum()) for cut in distinct[:-1]]
    n = len(present)
    entropy = sum(gap * cut_entropy(k, n) for gap, k in zip(gaps, below, strict=True)) / 2
    return Ladder(ranks, distinct[:-1], np.array(gaps), below, n, entropy)


@cache
def cut_entropies(n):
    """Hhat for 0 .. n of n rows."""
    return np.array([cut_entropy(k, n) for k in range(n + 1)])


def entropy_of_rows(steps, rows):
    """The entropy of the target in some rows, by the cuts and gaps of the whole column."""
    ranks = np.array([steps.ranks[row] for row in rows])
    counts = (ranks <= np.array(steps.cuts)[:, None]).sum(axis=1)
    return float(steps.gaps @ cut_entropies(len(rows))[counts]) / 2


def expected_entropy(steps, size):
    """The mean entropy of so many rows drawn at random."""
    return float(steps.gaps @ expected_cut_entropies(steps.below, steps.n, size)) / 2


@remembered
def expected_cut_entropies(below, n, size):
    """The mean of Hhat at every cut: k is hypergeometric."""
    chances = hypergeom.pmf(np.arange(size + 1), n, np.array(below)[:, None], size)
    return chances @ cut_entropies(size)


def expected_entropy_by_enumeration(steps, size):
    """The same, over all subsets."""
    present = [row for row, y in enumerate(steps.ranks) if not is_missing(y)]
    found = [entropy_of_rows(steps, rows) for rows in combinations(present, size)]
    return math.fsum(found) / len(found)


class Shape(NamedTuple):
    """Of what is explained by chance."""

    unit: float
    variance: float
    skewness: float


@remembered
def null_shape(steps):
    w = steps.gaps
    u = np.array(steps.below) / steps.n
    low, high = np.minimum.outer(u, u), np.maximum.outer(u, u)
    correlation = np.sqrt(low * (1 - high) / (high * (1 - low)))
    m = w[:, None] / w.sum() * correlation
    square = m @ m
    variance = 2 * np.trace(square)
    skewness = 8 * (square * m.T).sum() / variance**1.5  # the trace of m @ m @ m
    return Shape(w.sum() / (4 * steps.n * steps.entropy), float(variance), float(skewness))


# Grids


def sizes(n_rows, columns):
    """Bins on each column, in the order in which grids are tried."""
    found = []
    for family in FAMILIES:
        for i, size in enumerate(family):
            fits = size**columns * ROWS_PER_CELL <= n_rows
            if i == 0 or (fits and (columns == 1 or size <= LARGEST_ON_TWO)):
                found.append(size)
    return found


def cut_places(column, size):
    """Before how many of the sorted present values the column is cut."""
    x = sorted(v for v in column if not is_missing(v))
    n = len(x)
    places = set()
    for j in range(1, size):
        place = Fraction(j * n, size)
        row = math.floor(place)  # the row that the place lies in, or before
        if place == row and 0 < row < n and x[row - 1] != x[row]:
            places.add(row)
        elif n > 0:
            lo = x.index(x[row])
            hi = lo + x.count(x[row])
            keys = {end: (abs(end - place), abs(end - Fraction(n, 2))) for end in (lo, hi)}
            places.update(end for end in keys if keys[end] == min(keys.values()))
    return sorted(places - {0, n})


def bins(column, size):
    """The bin of every row; missing cells are one more.

    A column with few values is cut no finer than these allow.
    """
    x = sorted(v for v in column if not is_missing(v))
    (family,) = (family for family in FAMILIES if size in family)
    enough = [n for n in family if n * ROWS_PER_CELL <= len(x)]
    size = min(size, max(enough, default=family[0]))
    bounds = [x[place] for place in cut_places(column, size)] if x else []
    return ["missing" if is_missing(v) else sum(v >= bound for bound in bounds) for v in column]


def cells(target, binned):
    """Rows that have a target, by their bins."""
    found = {}
    for row, key in enumerate(zip(*binned, strict=True)):
        if not is_missing(target[row]):
            found.setdefault(key, []).append(row)
    return list(found.values())


# What a grid explains


class Gain(NamedTuple):
    """What the cells of one grid explain; ``freedom`` is that in units of the null shape."""

    explained: float
    freedom: float


def gain(steps, parts):
    """What cells explain of a target, or None if the grid is of no use."""
    n = steps.n
    freedom = sum((1 - len(c) / n) * (1 + 2 / len(c)) for c in parts if len(c) >= 2)
    if freedom <= NOTHING:
        return None
    freedom = max(freedom, 1.0)
    h = steps.entropy
    within = sum(len(c) / n * entropy_of_rows(steps, c) for c in parts)
    chance = sum(len(c) / n * (h - expected_entropy(steps, len(c))) for c in parts)
    left = 1 - chance / h
    if left <= NOTHING:
        return None
    return Gain((h - within - chance) / (h - chance), freedom / left**2)


def level(shape, found, z):
    """tau: what chance exceeds as rarely as a normal variable exceeds z."""
    skew = shape.skewness / math.sqrt(found.freedom)
    quantile = 2 / skew * ((1 + skew * z / 6 - skew**2 / 36) ** 3 - 1)
    return quantile * shape.unit * math.sqrt(found.freedom * shape.variance)


def sure(shape, found, z):
    tau = level(shape, found, z)
    if tau >= 1:
        return -math.inf
    e = found.explained
    return (e - tau) / (1 - tau) - THINNESS * shape.unit * found.freedom * (1 - e)


def garrote(shape, found, z):
    """S: what is left of what is explained; no more than all can be."""
    tau = level(shape, found, z)
    e = found.explained
    if e <= tau:
        return 0.0
    return max(min(e, 1.0) - tau**2 / min(e, 1.0), 0.0)


@remembered
def best_grid(target, condition):
    """The gain of the grid on one or two columns by which most is explained for sure, or None."""
    steps = ladder(target)
    if steps.entropy == 0:
        return None
    shape = null_shape(steps)
    best, most = None, -math.inf
    for size in sizes(len(target), len(condition)):
        found = gain(steps, cells(target, [bins(column, size) for column in condition]))
        if found is not None and (value := sure(shape, found, 2.0)) > most:
            best, most = found, value
    return best


# Strength and score


def threshold(n_varying, pairs):
    others = n_varying - 1
    choices = others + (math.comb(others, 2) if pairs else 0)
    return math.sqrt(4 + 2 * math.log(choices))


def conditions(given, pairs):
    return [*((a,) for a in given), *(combinations(given, 2) if pairs else ())]


def strength(columns, target, given, z, pairs):
    """S of one column given others (all by their number)."""
    steps = ladder(columns[target])
    if steps.entropy == 0:
        return 0.0
    shape = null_shape(steps)
    candidates = []
    for condition in conditions(given, pairs):
        found = best_grid(columns[target], [columns[c] for c in condition])
        if found is not None:
            candidates.append((max(sure(shape, found, z), 0.0), garrote(shape, found, z)))
    return max(candidates, default=(0.0, 0.0))[1]


def uses_pairs(columns, max_given):
    return max_given == 2 and len(columns) <= LARGEST_SET_WITH_PAIRS


def explained(columns, target, max_given=2):
    """S of one column given all others."""
    others = [c for c in range(len(columns)) if c != target]
    n_varying = sum(map(varies, columns))
    if n_varying < 2:
        return 0.0
    pairs = uses_pairs(columns, max_given)
    return strength(columns, target, others, threshold(n_varying, pairs), pairs)


def weight(column):
    steps = ladder(column)
    return steps.entropy / steps.n if steps.n else 0.0


def score_of_order(columns, order, z, pairs):
    total = sum(weight(columns[c]) for c in order[1:])
    if total == 0:
        return 0.0
    gains = [
        weight(columns[order[i]]) * strength(columns, order[i], sorted(order[:i]), z, pairs)
        for i in range(1, len(order))
    ]
    return sum(gains) / total


def score(columns, max_given=2):
    """The maximum over all orders of the columns that vary."""
    pairs = uses_pairs(columns, max_given)
    columns = [column for column in columns if varies(column)]
    if len(columns) < 2:
        return 0.0
    z = threshold(len(columns), pairs)
    return max(
        score_of_order(columns, order, z, pairs) for order in permutations(range(len(columns)))
    )


def best_ratio(parts, weights):
    """The best (sum of parts / sum of weights) of all orders; parts[t][subset before]."""
    best = 0.0
    for order in permutations(range(len(weights))):
        total = sum(weights[t] for t in order[1:])
        gains = sum(parts[t][sum(1 << c for c in order[:i])] for i, t in enumerate(order) if i > 0)
        if total > 0:
            best = max(best, gains / total)
    return best
