"""A naive version of `uds-chance`, written from its definition in docs/uds_chance.rst.

This module shares no code with the package. A column is a list of numbers, NaN is a missing cell,
and a cell of a grid is a list of rows.
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
LONG_TAIL = 0.2
NEARLY_ZERO = 1e-9


def is_missing(x):
    return x != x


def memoize(function):
    """Return a function that caches results by the text of the arguments, because NaN != NaN."""
    results = {}

    def memoized(*arguments):
        key = repr(arguments)
        if key not in results:
            if len(results) > 10_000:
                results.clear()
            results[key] = function(*arguments)
        return results[key]

    return memoized


def varies(column):
    """Return whether a column has more than one value. "Missing" counts as a value."""
    distinct = {"missing" if is_missing(x) else x for x in column}
    return len(distinct) > 1


# ---------------------------------------------------------------- entropy and its expectation


@cache
def g(t):
    """Return G(t) = t (1 + 1/2 + .. + 1/(t - 1))."""
    return t * math.fsum(1 / i for i in range(1, t))


def cut_entropy(k, n):
    """Return the estimate of H for k of n rows at or below a cut."""
    return (g(n) - g(k) - g(n - k)) / n


def mid_ranks(column):
    """Return the mid-rank of each present value, and NaN for a missing one."""
    present = sorted(x for x in column if not is_missing(x))
    first = {}
    last = {}
    for place, x in enumerate(present, start=1):
        first.setdefault(x, place)
        last[x] = place
    return [math.nan if is_missing(x) else (first[x] + last[x]) / 2 for x in column]


class RankedTarget(NamedTuple):
    """The mid-ranks of a target, the cuts between them, and its entropy."""

    ranks: list  # the mid-rank of each row
    cuts: list  # the distinct ranks except the last
    gaps: np.ndarray  # the difference between the ranks after and before each cut
    below: list  # the number of rows at or below each cut
    n: int  # the number of rows that have a value
    entropy: float


@memoize
def rank_target(column):
    ranks = mid_ranks(column)
    present = [y for y in ranks if not is_missing(y)]
    distinct = sorted(set(present))
    gaps = [after - before for before, after in pairwise(distinct)]
    below = [int((np.array(present) <= cut).sum()) for cut in distinct[:-1]]
    n = len(present)
    entropy = sum(gap * cut_entropy(k, n) for gap, k in zip(gaps, below, strict=True)) / 2
    return RankedTarget(ranks, distinct[:-1], np.array(gaps), below, n, entropy)


@cache
def cut_entropies(n):
    """Return the estimates of H for 0 .. n of n rows."""
    return np.array([cut_entropy(k, n) for k in range(n + 1)])


def entropy_of_rows(ranked, rows):
    """Return the entropy of the target in some rows, with the cuts of the whole column."""
    ranks = np.array([ranked.ranks[row] for row in rows])
    counts = (ranks <= np.array(ranked.cuts)[:, None]).sum(axis=1)
    return float(ranked.gaps @ cut_entropies(len(rows))[counts]) / 2


def expected_entropy(ranked, size):
    """Return the expected entropy of ``size`` rows drawn at random."""
    return float(ranked.gaps @ expected_cut_entropies(ranked.below, ranked.n, size)) / 2


@memoize
def expected_cut_entropies(below, n, size):
    """Return the expected estimate of H at each cut. The count k is hypergeometric."""
    probabilities = hypergeom.pmf(np.arange(size + 1), n, np.array(below)[:, None], size)
    return probabilities @ cut_entropies(size)


def expected_entropy_by_enumeration(ranked, size):
    """Return the same as `expected_entropy`, as a mean over all subsets of rows."""
    present = [row for row, y in enumerate(ranked.ranks) if not is_missing(y)]
    entropies = [entropy_of_rows(ranked, rows) for rows in combinations(present, size)]
    return math.fsum(entropies) / len(entropies)


class NullShape(NamedTuple):
    """The null distribution of the explained fraction, per degree of freedom."""

    unit: float
    variance: float
    skewness: float


@memoize
def null_shape(ranked):
    w = ranked.gaps
    u = np.array(ranked.below) / ranked.n
    low, high = np.minimum.outer(u, u), np.maximum.outer(u, u)
    correlation = np.sqrt(low * (1 - high) / (high * (1 - low)))
    m = w[:, None] / w.sum() * correlation
    square = m @ m
    variance = 2 * np.trace(square)
    skewness = 8 * (square * m.T).sum() / variance**1.5  # the trace of m @ m @ m
    return NullShape(w.sum() / (4 * ranked.n * ranked.entropy), float(variance), float(skewness))


# ---------------------------------------------------------------- grids


def sizes(n_rows, columns):
    """Return the number of bins per column of each grid, in the order of the search."""
    usable = []
    for family in FAMILIES:
        for i, size in enumerate(family):
            fits = size**columns * ROWS_PER_CELL <= n_rows
            if i == 0 or (fits and (columns == 1 or size <= LARGEST_ON_TWO)):
                usable.append(size)
    return usable


def cut_places(column, size):
    """Return the positions of the cuts in the sorted present values."""
    x = sorted(v for v in column if not is_missing(v))
    n = len(x)
    places = set()
    for j in range(1, size):
        place = Fraction(j * n, size)
        row = math.floor(place)  # the row that contains the place, or starts there
        if place == row and 0 < row < n and x[row - 1] != x[row]:
            places.add(row)
        elif n > 0:
            lo = x.index(x[row])
            hi = lo + x.count(x[row])
            keys = {end: (abs(end - place), abs(end - Fraction(n, 2))) for end in (lo, hi)}
            places.update(end for end in keys if keys[end] == min(keys.values()))
    return sorted(places - {0, n})


def bins(column, size):
    """Return the bin of each row. Missing cells are an additional bin.

    A column with few present values has fewer bins, to keep enough values per bin.
    """
    x = sorted(v for v in column if not is_missing(v))
    (family,) = (family for family in FAMILIES if size in family)
    enough = [n for n in family if n * ROWS_PER_CELL <= len(x)]
    size = min(size, max(enough, default=family[0]))
    bounds = [x[place] for place in cut_places(column, size)] if x else []
    return ["missing" if is_missing(v) else sum(v >= bound for bound in bounds) for v in column]


def cells(target, binned):
    """Return the cells of a grid, as lists of the rows that have a target."""
    by_bins = {}
    for row, key in enumerate(zip(*binned, strict=True)):
        if not is_missing(target[row]):
            by_bins.setdefault(key, []).append(row)
    return list(by_bins.values())


# ---------------------------------------------------------------- gains


class Gain(NamedTuple):
    """The explained fraction of a grid, and its degrees of freedom."""

    explained: float
    freedom: float


def gain(ranked, parts):
    """Return the gain of the cells of a grid, or None if the grid has no degrees of freedom."""
    n = ranked.n
    freedom = sum((1 - len(c) / n) * (1 + 2 / len(c)) for c in parts if len(c) >= 2)
    if freedom <= NEARLY_ZERO:
        return None
    freedom = max(freedom, 1.0)
    h = ranked.entropy
    within = sum(len(c) / n * entropy_of_rows(ranked, c) for c in parts)
    expected = sum(len(c) / n * (h - expected_entropy(ranked, len(c))) for c in parts)
    explainable = 1 - expected / h
    if explainable <= NEARLY_ZERO:
        return None
    return Gain((h - within - expected) / (h - expected), freedom / explainable**2)


def level(shape, grid_gain, z):
    """Return the noise level tau, exceeded under independence as rarely as z by a normal."""
    skew = shape.skewness / math.sqrt(grid_gain.freedom)
    quantile = 2 / skew * ((1 + skew * z / 6 - skew**2 / 36) ** 3 - 1)
    return quantile * shape.unit * math.sqrt(grid_gain.freedom * shape.variance)


def lower_bound(shape, grid_gain, z):
    """Return the lower bound of the explained fraction that selects grids and conditions."""
    tau = level(shape, grid_gain, z)
    if tau >= 1:
        return -math.inf
    e = grid_gain.explained
    return (e - tau) / (1 - tau) - LONG_TAIL * shape.unit * grid_gain.freedom * (1 - e)


def garrote(shape, grid_gain, z):
    """Return S, the explained fraction shrunken by the noise level."""
    tau = level(shape, grid_gain, z)
    e = grid_gain.explained
    if e <= tau:
        return 0.0
    return max(min(e, 1.0) - tau**2 / min(e, 1.0), 0.0)


@memoize
def best_grid(target, condition):
    """Return the gain of the grid with the largest lower bound, or None if there is no grid."""
    ranked = rank_target(target)
    if ranked.entropy == 0:
        return None
    shape = null_shape(ranked)
    best, most = None, -math.inf
    for size in sizes(len(target), len(condition)):
        grid_gain = gain(ranked, cells(target, [bins(column, size) for column in condition]))
        if grid_gain is not None and (value := lower_bound(shape, grid_gain, 2.0)) > most:
            best, most = grid_gain, value
    return best


# ---------------------------------------------------------------- strength and score


def threshold(n_varying, pairs):
    """Return z for a set with ``n_varying`` columns that vary."""
    others = n_varying - 1
    choices = others + (math.comb(others, 2) if pairs else 0)
    return math.sqrt(4 + 2 * math.log(choices))


def conditions(given, pairs):
    """Return all conditions of one column, and of two columns if ``pairs`` is true."""
    return [*((a,) for a in given), *(combinations(given, 2) if pairs else ())]


def strength(columns, target, given, z, pairs):
    """Return S of a target given other columns, all by their numbers."""
    ranked = rank_target(columns[target])
    if ranked.entropy == 0:
        return 0.0
    shape = null_shape(ranked)
    candidates = []
    for condition in conditions(given, pairs):
        grid_gain = best_grid(columns[target], [columns[c] for c in condition])
        if grid_gain is not None:
            candidates.append(
                (max(lower_bound(shape, grid_gain, z), 0.0), garrote(shape, grid_gain, z))
            )
    return max(candidates, default=(0.0, 0.0))[1]


def uses_pairs(columns, max_given):
    return max_given == 2 and len(columns) <= LARGEST_SET_WITH_PAIRS


def explained(columns, target, max_given=2):
    """Return S of a target given all other columns."""
    others = [c for c in range(len(columns)) if c != target]
    n_varying = sum(map(varies, columns))
    if n_varying < 2:
        return 0.0
    pairs = uses_pairs(columns, max_given)
    return strength(columns, target, others, threshold(n_varying, pairs), pairs)


def weight(column):
    ranked = rank_target(column)
    return ranked.entropy / ranked.n if ranked.n else 0.0


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
    """Return the maximum over all orders of the columns that vary."""
    pairs = uses_pairs(columns, max_given)
    columns = [column for column in columns if varies(column)]
    if len(columns) < 2:
        return 0.0
    z = threshold(len(columns), pairs)
    return max(
        score_of_order(columns, order, z, pairs) for order in permutations(range(len(columns)))
    )


def best_ratio(parts, weights):
    """Return the maximum over all orders of sum of parts / sum of weights.

    ``parts[t]`` has the contribution of column t given each subset of columns.
    """
    best = 0.0
    for order in permutations(range(len(weights))):
        total = sum(weights[t] for t in order[1:])
        gains = sum(parts[t][sum(1 << c for c in order[:i])] for i, t in enumerate(order) if i > 0)
        if total > 0:
            best = max(best, gains / total)
    return best
