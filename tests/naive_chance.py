"""A naive version of `uds-chance`, written from its definition in docs/uds_chance.rst.

This module shares no code with the package. A column is a list of numbers, or a `Nominal` list of
levels. NaN is a missing cell, and a cell of a grid is a list of rows.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

ROWS_PER_CELL = 6
FAMILIES = ((2, 4, 8, 16, 32, 64, 128), (3, 6, 12, 24, 48, 96, 192))
LARGEST_ON_SEVERAL = 32
MOST_PAIRS = 64 * math.comb(63, 2)
MOST_TRIPLES = 5000
LONG_TAIL = 0.4
LONG_TAIL_LIMIT = 6.0
NEARLY_ZERO = 1e-9
MOST_LEVELS = 8
MOST_TRIED = 2
MOST_LEVELS_OF_SEVERAL = 39


class Nominal(list):
    """A nominal column: the level of each row, as a number without meaning."""

    def __repr__(self):
        return f"Nominal({super().__repr__()})"  # unlike a list, for `memoize`


def is_missing(x):
    return x != x


# The option `missing`, as a list of one item that `missing_cells` replaces.
option = ["values"]


@contextmanager
def missing_cells(value):
    """Use another value of the option `missing` within a block."""
    before, option[0] = option[0], value
    try:
        yield
    finally:
        option[0] = before


def counted_rows(condition):
    """Return the rows that count for a condition: those in which no column of it is missing."""
    rows = range(len(condition[0]))
    if option[0] == "level":
        return list(rows)
    return [row for row in rows if not any(is_missing(column[row]) for column in condition)]


def as_if_missing(target, condition):
    """Return a target that is missing in the rows that do not count for a condition."""
    rows = set(counted_rows(condition))
    return like(target, (x if row in rows else math.nan for row, x in enumerate(target)))


def like(column, values):
    """Return values as a column of the same kind."""
    return Nominal(values) if isinstance(column, Nominal) else list(values)


def memoize(function):
    """Return a function that caches results by the text of the arguments, because NaN != NaN."""
    results = {}

    def memoized(*arguments):
        key = repr((option, arguments))
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


def is_nominal(column):
    """Return whether a column has levels without an order. Two levels count as ordered."""
    return isinstance(column, Nominal) and len(level_counts(column)) > 2


def level_counts(column):
    """Return the number of rows of each level."""
    return Counter(x for x in column if not is_missing(x))


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


class LevelTarget(NamedTuple):
    """The levels of a nominal target, and its entropy."""

    levels: list  # the level of each row
    counts: list  # the number of rows of each level
    n: int  # the number of rows that have a level
    entropy: float


@memoize
def rank_target(column):
    """Return what is needed of a target: a `RankedTarget`, or a `LevelTarget`."""
    if is_nominal(column):
        counts = list(level_counts(column).values())
        return LevelTarget(list(column), counts, sum(counts), level_entropy(counts))
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


def level_entropy(counts):
    """Return the estimate of Shannon's entropy from the numbers of rows of the levels."""
    n = sum(counts)
    return (g(n) - math.fsum(g(k) for k in counts)) / n


def entropy_of_rows(ranked, rows):
    """Return the entropy of the target in some rows, with the cuts of the whole column."""
    if isinstance(ranked, LevelTarget):
        return level_entropy(Counter(ranked.levels[row] for row in rows).values())
    ranks = np.array([ranked.ranks[row] for row in rows])
    counts = (ranks <= np.array(ranked.cuts)[:, None]).sum(axis=1)
    return float(ranked.gaps @ cut_entropies(len(rows))[counts]) / 2


def expected_entropy(ranked, size):
    """Return the expected entropy of ``size`` rows drawn at random."""
    if isinstance(ranked, LevelTarget):
        return expected_level_entropy(ranked.counts, size)
    return float(ranked.gaps @ expected_cut_entropies(ranked.below, ranked.n, size)) / 2


@memoize
def expected_cut_entropies(below, n, size):
    """Return the expected estimate of H at each cut. The count k is hypergeometric."""
    probabilities = hypergeom.pmf(np.arange(size + 1), n, np.array(below)[:, None], size)
    return probabilities @ cut_entropies(size)


@memoize
def expected_level_entropy(counts, size):
    """Return the expected estimate of Shannon's entropy. The counts are hypergeometric."""
    n = sum(counts)
    k = np.arange(size + 1)
    weighted = np.array([g(each) for each in k])
    expected = math.fsum(float(hypergeom.pmf(k, n, each, size) @ weighted) for each in counts)
    return (g(size) - expected) / size


def bias_of_levels(counts, size):
    """Return the exact bias of the entropy of ``size`` random rows, as in the docs (Zhang)."""
    m = sum(counts)
    total = Fraction(0)
    for v in range(size, m):
        for m_l in counts:
            factors = [Fraction(m - m_l - j, m - 1 - j) for j in range(v)]
            total += Fraction(m_l, m) * math.prod(factors) / v
    return total


def expected_entropy_by_enumeration(ranked, size):
    """Return the same as `expected_entropy`, as a mean over all subsets of rows."""
    values = ranked.levels if isinstance(ranked, LevelTarget) else ranked.ranks
    present = [row for row, y in enumerate(values) if not is_missing(y)]
    entropies = [entropy_of_rows(ranked, rows) for rows in combinations(present, size)]
    return math.fsum(entropies) / len(entropies)


class NullShape(NamedTuple):
    """The null distribution of the explained fraction, per degree of freedom."""

    unit: float
    variance: float
    skewness: float


@memoize
def null_shape(ranked):
    if isinstance(ranked, LevelTarget):
        # A chi-square variable with one degree of freedom per level but one.
        k = len(ranked.counts) - 1
        return NullShape(k / (2 * ranked.n * ranked.entropy), 2 / k, math.sqrt(8 / k))
    w = ranked.gaps
    u = np.array(ranked.below) / ranked.n
    low, high = np.minimum.outer(u, u), np.maximum.outer(u, u)
    correlation = np.sqrt(low * (1 - high) / (high * (1 - low)))
    m = w[:, None] / w.sum() * correlation
    square = m @ m
    variance = 2 * np.trace(square)
    skewness = 8 * (square * m.T).sum() / variance**1.5  # the trace of m @ m @ m
    return NullShape(w.sum() / (4 * ranked.n * ranked.entropy), float(variance), float(skewness))


def freedom_of(ranked, parts):
    """Return the degrees of freedom of cells: 0, or at least 1."""
    sizes = [len(rows) for rows in parts]
    total = sum(freedom_of_cell(ranked, size) for size in sizes if size >= 2)
    return max(total, 1.0) if any(2 <= size < ranked.n for size in sizes) else 0.0


def freedom_of_cell(ranked, size):
    """Return the degrees of freedom of a cell with at least two rows."""
    if isinstance(ranked, LevelTarget):
        return freedom_of_levels(ranked.counts, size)
    if len(ranked.below) == 1:
        return freedom_of_levels((ranked.below[0], ranked.n - ranked.below[0]), size)
    return (1 - size / ranked.n) * (1 + 2 / size)


@memoize
def freedom_of_levels(counts, size):
    """Return the degrees of freedom of a cell of a nominal target; 0 if it has all rows."""
    m = sum(counts)
    if size == m:
        return 0.0
    total = math.fsum(variance_beyond_line(m, each, size) / (1 - each / m) for each in counts)
    return 2 / (len(counts) - 1) * total / (1 - size / m)


def variance_beyond_line(m, m_l, size):
    """Return the variance of G(K) that is left after a linear regression on K.

    K of ``size`` rows that are drawn from m have a level of m_l rows.
    """
    k = np.arange(max(0, size - (m - m_l)), min(size, m_l) + 1)
    probabilities = hypergeom.pmf(k, m, m_l, size)
    probabilities /= probabilities.sum()
    x = k - probabilities @ k
    y = np.array([g(int(each)) for each in k])
    y = y - probabilities @ y
    variance, of_x, covariance = (float(probabilities @ each) for each in (y * y, x * x, x * y))
    return variance - (covariance**2 / of_x if of_x > NEARLY_ZERO else 0.0)


# ---------------------------------------------------------------- grids


def sizes(n_rows, columns):
    """Return the number of bins per column of each grid, in the order of the search.

    There are fewer if only some rows count.
    """
    usable = []
    for family in FAMILIES if columns == 1 else FAMILIES[:1]:
        for i, size in enumerate(family):
            fits = size**columns * ROWS_PER_CELL <= n_rows
            if i == 0 or (fits and (columns == 1 or size <= LARGEST_ON_SEVERAL)):
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
    finest, finest_of_column = (
        max((n for n in family if n * ROWS_PER_CELL <= n_values), default=family[0])
        for n_values in (len(column), len(x))
    )
    if is_nominal(column):
        return groups_of_levels(column, min(size, finest_of_column), size == finest)
    size = min(size, finest_of_column)
    bounds = [x[place] for place in cut_places(column, size)] if x else []
    return ["missing" if is_missing(v) else sum(v >= bound for bound in bounds) for v in column]


def groups_of_levels(column, size, is_finest):
    """Return the bin of each row of a nominal column: its level, or one bin for several levels."""
    counts = level_counts(column)
    n_more_frequent = {x: sum(other > counts[x] for other in counts.values()) for x in counts}
    kept = len(counts)
    most = min(2 * size, MOST_LEVELS_OF_SEVERAL) if size <= LARGEST_ON_SEVERAL else 2 * size
    if len(counts) > most and not is_finest:
        first, *larger = sorted(set(n_more_frequent.values()) - {0} | {len(counts)})
        if 2 * first * ROWS_PER_CELL > sum(counts.values()):
            first, larger = 0, [first, *larger]
        if size <= LARGEST_ON_SEVERAL:
            larger = [number for number in larger if number < MOST_LEVELS_OF_SEVERAL]
        kept = min([first, *larger], key=lambda number: abs(number - (size - 1)))

    def bin_of(x):
        return x if n_more_frequent[x] < kept else "others"

    return ["missing" if is_missing(x) else bin_of(x) for x in column]


def cells(target, binned):
    """Return the cells of a grid, as lists of the rows that have a target."""
    by_bins = {}
    for row, key in enumerate(zip(*binned, strict=True)):
        if not is_missing(target[row]):
            by_bins.setdefault(key, []).append(row)
    return list(by_bins.values())


# ---------------------------------------------------------------- balanced cells


def places(column):
    """Return twice the distance of each mid-rank from the middle of the column."""
    n = sum(not is_missing(x) for x in column)
    return [math.nan if is_missing(r) else int(2 * r - n - 1) for r in mid_ranks(column)]


def separations(columns):
    """Return how well the halves of each column, or its levels, separate all columns."""
    return [sum(separation(own, other) for other in columns) for own in columns]


def separation(own, other):
    """Return how well the halves or levels of a column separate another column.

    The sums are over rows in which both have a value. The levels of a nominal column take the
    place of halves, and half of an ordered column that of its places if the other one is nominal.
    """
    if is_nominal(own) and is_nominal(other):
        both = [pair for pair in zip(own, other, strict=True) if pair[0] == pair[0]]
        both = [pair for pair in both if pair[1] == pair[1]]
        one, two = (Counter(pair[side] for pair in both) for side in (0, 1))
        return sum(one[x] * two[y] // len(own) for x, y in both)
    if is_nominal(own):
        return sum_by_level(own, places(other))
    if is_nominal(other):
        return sum_by_level(other, signs(places(own)))
    pairs = zip(signs(places(own)), places(other), strict=True)
    return abs(sum(x * y for x, y in pairs if not is_missing(x) and not is_missing(y)))


def signs(values):
    return [x if is_missing(x) else (x > 0) - (x < 0) for x in values]


def sum_by_level(levels, values):
    """Return the sum over levels of the absolute sum of the values."""
    sums = Counter()
    for x, y in zip(levels, values, strict=True):
        if not is_missing(x) and not is_missing(y):
            sums[x] += y
    return sum(map(abs, sums.values()))


def preferred_orders(columns):
    """Return the orders in which columns are preferred if several have the widest range."""
    keys = [-each for each in separations(columns)]
    every = permutations(range(len(columns)))
    return [order for order in every if [keys[c] for c in order] == sorted(keys)]


def parts_at_median(rows, values):
    """Return the parts of some rows: lower, sometimes middle, and upper."""
    if any(is_missing(values[row]) for row in rows):
        missing = [row for row in rows if is_missing(values[row])]
        return [[row for row in rows if row not in missing], missing]
    ordered = sorted(values[row] for row in rows)
    half = Fraction(len(rows), 2)
    ends = [i for i in range(1, len(rows)) if ordered[i - 1] != ordered[i]]
    nearest = [i for i in ends if abs(i - half) == min(abs(j - half) for j in ends)]
    if len(nearest) == 2:  # by the half of the column to which the value between them belongs
        between = ordered[nearest[0]]
        nearest = nearest[1:] if between < 0 else nearest[:1] if between > 0 else nearest
    bounds = [ordered[i] for i in nearest]
    parts = [[] for _ in range(len(bounds) + 1)]
    for row in rows:
        parts[sum(values[row] >= bound for bound in bounds)].append(row)
    return parts


def width(rows, values):
    present = [values[row] for row in rows if not is_missing(values[row])]
    if not present:
        return 0
    return max(present) - min(present) + (len(present) < len(rows))


def parts_by_level(rows, column):
    """Return the rows of each level, and those with a missing cell."""
    by_level = {}
    for row in rows:
        level = "missing" if is_missing(column[row]) else column[row]
        by_level.setdefault(level, []).append(row)
    return list(by_level.values())


def split_until(rows, nominal, ordered, limit):
    """Return cells with fewer rows than the limit, unless all columns are constant in them.

    Nominal columns are split first, one after the other, and then ordered ones.
    """
    if len(rows) < limit:
        return [rows]
    parts = [rows]
    if nominal:
        parts, nominal = parts_by_level(rows, nominal[0]), nominal[1:]
    elif ordered:
        widths = [width(rows, values) for values in ordered]
        if max(widths) > 0:
            parts = parts_at_median(rows, ordered[widths.index(max(widths))])
        else:
            ordered = []
    else:
        return [rows]
    return [cell for part in parts for cell in split_until(part, nominal, ordered, limit)]


def balanced_levels(columns, order):
    """Return the cells of each level, coarsest first."""
    nominal = [columns[c] for c in order if is_nominal(columns[c])]
    ordered = [places(columns[c]) for c in order if not is_nominal(columns[c])]
    rows = counted_rows(columns)
    limits = [4 * 2**i for i in range(MOST_LEVELS) if 4 * 2**i <= len(rows)]
    return [split_until(rows, nominal, ordered, limit) for limit in reversed(limits)]


def present_rows(parts, target):
    """Return the cells without the rows in which the target is missing."""
    kept = [[row for row in rows if not is_missing(target[row])] for rows in parts]
    return [rows for rows in kept if rows]


# ---------------------------------------------------------------- gains


class Gain(NamedTuple):
    """The explained fraction of a grid, and its degrees of freedom."""

    explained: float
    freedom: float


def gain(ranked, parts):
    """Return the gain of the cells of a grid, or None if the grid has no degrees of freedom."""
    n, h = ranked.n, ranked.entropy
    freedom = freedom_of(ranked, parts)
    if freedom == 0:
        return None
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
    sparsity = shape.unit * grid_gain.freedom
    tail = LONG_TAIL * sparsity / (1 + LONG_TAIL_LIMIT * sparsity)
    return (e - tau) / (1 - tau) - tail * (1 - e)


def garrote(shape, grid_gain, z):
    """Return S, the explained fraction shrunken by the noise level."""
    tau = level(shape, grid_gain, z)
    e = grid_gain.explained
    if e <= tau:
        return 0.0
    return max((min(e, 1.0) - tau**2 / min(e, 1.0)) / (1 - tau**2), 0.0)


def best_gain(target, partitions):
    """Return the gain of the partition with the largest lower bound, or None if there is none."""
    ranked = rank_target(target)
    if ranked.entropy == 0:
        return None
    shape = null_shape(ranked)
    best, most = None, -math.inf
    for parts in partitions:
        found = gain(ranked, parts)
        if found is not None and (value := lower_bound(shape, found, 2.0)) > most:
            best, most = found, value
    return best


@memoize
def best_grid(target, condition):
    """Return the gain of the best grid, or None if there is no grid."""
    n_counted = len(target)
    if len(counted_rows(condition)) < len(target):
        target = as_if_missing(target, condition)
        n_counted = sum(not is_missing(x) for x in target)
    some = sizes(n_counted, len(condition))
    return best_gain(
        target, (cells(target, [bins(column, n) for column in condition]) for n in some)
    )


@memoize
def best_cells(target, condition):
    """Return the gain of the best level of balanced cells."""
    target = as_if_missing(target, condition)
    levels = [
        present_rows(parts, target)
        for order in preferred_orders(condition)
        for parts in balanced_levels(condition, order)
    ]
    return best_gain(target, levels)


@memoize
def added_deviations(target, condition, candidate):
    """Return what a column adds within the cells of a condition, in standard deviations."""
    target = as_if_missing(target, [*condition, candidate])
    kept = counted_rows([*condition, candidate])
    ranked = rank_target(target)
    if ranked.entropy == 0:
        return 0.0
    shape = null_shape(ranked)
    along = candidate if is_nominal(candidate) else places(candidate)
    most = 0.0
    for order in preferred_orders(condition):
        levels = balanced_levels(condition, order)
        if not levels:
            return 0.0
        whole = [[r for r in rows if r in kept] for rows in levels[max(len(levels) - 4, 0)]]
        whole = [rows for rows in whole if rows]
        once = [p for rows in whole for p in split_once(rows, along)]
        twice = [p for rows in once for p in split_once(rows, along)]
        raw = [
            relative_gain(ranked, present_rows(parts, target)) for parts in (whole, once, twice)
        ]
        (first, expected, freedom) = raw[0]
        remaining = max(1 - (first - expected) / max(1 - expected, NEARLY_ZERO), NEARLY_ZERO)
        for found, chance, more_freedom in raw[1:]:
            deviation = shape.unit * math.sqrt(max(more_freedom - freedom, 1) * shape.variance)
            surplus = found - first - remaining * (chance - expected)
            most = max(most, surplus / (remaining * deviation))
    return most


def split_once(rows, values):
    """Return the parts of a cell, split along levels, or along places if they vary there."""
    if is_nominal(values):
        return parts_by_level(rows, values)
    return parts_at_median(rows, values) if width(rows, values) > 0 else [rows]


def relative_gain(ranked, parts):
    """Return the gain, its expectation under independence, both relative, and the freedom."""
    n, h = ranked.n, ranked.entropy
    within = sum(len(c) / n * entropy_of_rows(ranked, c) for c in parts)
    expected = sum(len(c) / n * (h - expected_entropy(ranked, len(c))) for c in parts)
    return 1 - within / h, expected / h, freedom_of(ranked, parts)


# ---------------------------------------------------------------- strength and score


def most_examined(n_others, n_targets, max_given):
    """Return the number of columns up to which all conditions are examined by grids."""
    most = 1
    if n_targets * math.comb(n_others, 2) <= MOST_PAIRS:
        most = 3 if n_targets * math.comb(n_others, 3) <= MOST_TRIPLES else 2
    return most if max_given is None else min(most, max_given)


def threshold(n_varying, most):
    """Return z for ``n_varying`` columns that vary, one of which is explained by the others."""
    choices = sum(math.comb(n_varying - 1, k) for k in range(1, most + 1))
    return math.sqrt(5 + 2 * math.log(choices))


class Strength(NamedTuple):
    """A condition by its column numbers, with its lower bound and S."""

    bound: float
    explained: float
    condition: tuple


NOTHING = Strength(0.0, 0.0, ())


class Level(NamedTuple):
    """How conditions are examined: z, the largest conditions by grids, the largest of all."""

    z: float
    most: int
    max_given: int | None
    one_target: bool = False


def as_strength(columns, target, condition, found, z):
    if found is None:
        return NOTHING
    counted = as_if_missing(columns[target], [columns[c] for c in condition])
    shape = null_shape(rank_target(counted))
    bound = max(lower_bound(shape, found, z), 0.0)
    return Strength(bound, garrote(shape, found, z), tuple(condition))


def by_grids(columns, target, condition, z):
    found = best_grid(columns[target], [columns[c] for c in condition])
    return as_strength(columns, target, condition, found, z)


def by_cells(columns, target, condition, z):
    found = best_cells(columns[target], [columns[c] for c in condition])
    return as_strength(columns, target, condition, found, z)


def conditions(given, most):
    """Return all conditions of up to ``most`` columns."""
    return [c for k in range(1, most + 1) for c in combinations(sorted(given), k)]


def is_worth(new, old):
    return new.bound > old.bound + min(0.02 * (1 - old.bound), 0.1 * old.bound)


def worthwhile(found):
    """Return the strengths of single columns, and those worth more than all their subsets."""
    kept = []
    for each in found:
        subsets = [other for other in found if set(other.condition) < set(each.condition)]
        if len(each.condition) == 1 or is_worth(each, max(subsets, default=NOTHING)):
            kept.append(each)
    return kept


def examined_conditions(columns, target, others, level, known_columns=()):
    """Return the strengths of the conditions that are examined with balanced cells.

    Columns that are known already are a further start.
    """
    if rank_target(columns[target]).entropy == 0 or len(others) < 2 or level.max_given == 1:
        return []
    known = {c: by_grids(columns, target, c, level.z) for c in conditions(others, level.most)}
    examined = {}

    def examine(condition):
        examined[condition] = by_cells(columns, target, condition, level.z)
        return examined[condition]

    sizes = range(1, level.most + 1) if level.one_target else (level.most,)
    all_starts = [[s for s in known.values() if len(s.condition) <= size] for size in sizes]
    all_starts += [[s for s in known.values() if set(s.condition) <= set(known_columns)]]
    for few in all_starts:
        start = max(worthwhile(few), default=NOTHING)
        if start.bound > 0:
            grow(columns, target, others, start, known, level, examined, examine)
    if known_columns and examined:
        put_in_place(known_columns, known, level, examined, examine)
    kept = []
    for each in sorted(examined.values(), key=lambda each: len(each.condition)):
        smaller = worthwhile([s for s in known.values() if set(s.condition) < set(each.condition)])
        smaller += [s for s in kept if set(s.condition) < set(each.condition)]
        if is_worth(each, max(smaller, default=NOTHING)):
            kept.append(each)
    return kept


def is_promising(column, condition, known, most):
    """Return whether grids find something with a column and a part of a condition."""
    parts = [part for k in range(most) for part in combinations(condition, k)]
    return any(known[tuple(sorted((*part, column)))].bound > 0 for part in parts)


def put_in_place(known_columns, known, level, examined, examine):
    """Examine the best condition with known columns in the place of others."""
    current = max(examined.values())
    while True:
        replaced = [
            examine(tuple(sorted({*current.condition, column} - {out})))
            for out in set(current.condition) - set(known_columns)
            for column in set(known_columns) - set(current.condition)
            if is_promising(column, set(current.condition) - {out}, known, level.most)
        ]
        if not replaced or is_worth(current, max(replaced)):
            return
        current = max(replaced)


def grow(columns, target, others, current, known, level, examined, examine):
    """Add columns while this helps, then drop columns that are not needed."""
    z, most = level.z, level.most
    n_first = len(current.condition)
    limit = len(others) if level.max_given is None else min(level.max_given, len(others))
    while True:
        start = current.condition
        if len(start) > 1:
            current = max(current, examined.get(start) or examine(start))
        added = {}
        for c in set(others) - set(start) if len(start) < limit else ():
            if is_promising(c, start, known, most):
                condition = [columns[i] for i in start]
                added[c] = added_deviations(columns[target], condition, columns[c])
        tried = sorted((c for c in added if added[c] > z), key=lambda c: -added[c])[:MOST_TRIED]
        best = max((examine(tuple(sorted((*start, c)))) for c in tried), default=NOTHING)
        if not is_worth(best, current):
            break
        current = best
    while len(current.condition) > max(n_first, 2):
        smaller = combinations(current.condition, len(current.condition) - 1)
        best = max(examine(condition) for condition in smaller)
        if is_worth(current, best):
            break
        current = best


def strength(columns, target, given, others, level):
    """Return S of a target given some of the other columns, all by their numbers."""
    if rank_target(columns[target]).entropy == 0:
        return 0.0
    found = [by_grids(columns, target, c, level.z) for c in conditions(given, level.most)]
    found = worthwhile(found)
    examined = examined_conditions(columns, target, tuple(others), level)
    found += [each for each in examined if set(each.condition) <= set(given)]
    return max(found, default=NOTHING).explained


def explained(columns, target, max_given=None, n_candidates=None):
    """Return S of a target given all other columns.

    ``n_candidates`` is the number of columns of the table that vary, except the target.
    """
    others = [c for c in range(len(columns)) if c != target and varies(columns[c])]
    n_candidates = len(others) if n_candidates is None else n_candidates
    if not others:
        return 0.0
    z = threshold(n_candidates + 1, most_examined(n_candidates, 1, max_given))
    level = Level(z, most_examined(len(others), 1, max_given), max_given, one_target=True)
    return strength(columns, target, others, others, level)


def explained_beyond(columns, target, known, max_given=None):
    """Return what all other columns explain of what the known ones leave unexplained.

    All columns vary. A column that only replaces known ones does not count.
    """
    others = [c for c in range(len(columns)) if c != target]
    z = threshold(len(columns), most_examined(len(others), 1, max_given))

    def best(allowed, within):
        level = Level(z, most_examined(len(within), 1, max_given), max_given, one_target=True)
        found = [by_grids(columns, target, c, z) for c in conditions(allowed, level.most)]
        examined = examined_conditions(columns, target, tuple(within), level, known)
        found = worthwhile(found) + [s for s in examined if set(s.condition) <= set(allowed)]
        return max(found, default=NOTHING)

    before = best(known, known)
    allowed, current = list(others), max(best(others, others), before)
    while new := set(current.condition) - set(known):
        without = {c: max(best([o for o in allowed if o != c], others), before) for c in new}
        least = max(without, key=lambda c: without[c])
        if is_worth(current, without[least]):
            break
        allowed.remove(least)
        current = without[least]
    if before.explained >= 1:
        return 0.0
    return max(current.explained - before.explained, 0.0) / (1.0 - before.explained)


def level_of(columns, max_given):
    """Return how conditions of a set are examined in which all columns vary."""
    most = most_examined(len(columns) - 1, len(columns), max_given)
    return Level(threshold(len(columns), most), most, max_given)


def weight(column):
    ranked = rank_target(column)
    if isinstance(ranked, LevelTarget):
        return min(1.0, ranked.entropy) / 4
    return ranked.entropy / ranked.n if ranked.n else 0.0


def score_of_order(columns, order, level):
    total = sum(weight(columns[c]) for c in order[1:])
    if total == 0:
        return 0.0
    every = range(len(columns))
    gains = []
    for i in range(1, len(order)):
        others = [c for c in every if c != order[i]]
        found = strength(columns, order[i], sorted(order[:i]), others, level)
        gains.append(weight(columns[order[i]]) * found)
    return sum(gains) / total


def score(columns, max_given=None):
    """Return the maximum over all orders of the columns that vary."""
    columns = [column for column in columns if varies(column)]
    if len(columns) < 2:
        return 0.0
    level = level_of(columns, max_given)
    return max(
        score_of_order(columns, order, level) for order in permutations(range(len(columns)))
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
