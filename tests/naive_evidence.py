"""A naive version of the evidence statistic, written from its definition in docs/uds_chance.rst.

This module shares no code with the package. A column is a list of numbers, and NaN is a missing
cell.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import NamedTuple

from scipy.stats import norm

import naive_chance

COARSE, MEDIUM, FINE = (2, 3, 4), (4, 6, 8, 12, 16), (24, 32, 48, 64, 96, 128, 192)
# Each view: numbers of bins, whether the target is folded, weight of either direction, weight of
# both together, standard deviation of the sum of both.
GRIDS_OF_PAIRS = (
    (COARSE, False, 0.03, 0.2, 1.75),
    (MEDIUM, False, 0.09, 0, 1),
    (FINE, False, 0.005, 0, 1),
    (MEDIUM, True, 0, 0.08, 1.55),
)
# The same with the number of rows of a window.
NEIGHBOURS = (
    (2, False, 0.02, 0, 1),
    (6, False, 0.01, 0, 1),
    (18, False, 0.01, 0, 1),
    (6, True, 0, 0.02, 1.45),
)
# Weights of correlations by the number of folded columns.
CORRELATIONS = {0: 0.3, 1: 0.02, 2: 0.03}
# Pairs, triples, and a column with all others.
WEIGHTS_OF_KINDS = (0.45, 0.45, 0.1)
GRIDS_OF_TRIPLES = (((2,), 0.5), ((3, 4, 6), 0.45), ((8, 12, 16, 24), 0.05))


class Standard(NamedTuple):
    """A gain with mean 0 and variance 1 under independence, and its skewness."""

    gain: float
    skewness: float


NOT_AVAILABLE = Standard(-math.inf, 0.0)


def folded(column):
    """Return the distance of each rank from the middle rank."""
    ranks = naive_chance.mid_ranks(column)
    n = sum(r == r for r in ranks)
    return [abs(r - (n + 1) / 2) for r in ranks]


# ---------------------------------------------------------------- grids


def raw_gain(target, binned, like=None):
    """Return the gain of the cells of a grid, and their degrees of freedom.

    The gain is the explained fraction of the target's entropy minus its expectation under
    independence. Both results are 0 for a constant target.
    """
    ranked = naive_chance.rank_target(target)
    if ranked.entropy == 0:
        return 0.0, 0.0
    return gain_of_cells(ranked, naive_chance.cells(target, binned), like)


def gain_of_cells(ranked, parts, like=None):
    """Return the gain of any cells, and their degrees of freedom.

    The expectation is that of the target, or of another column with other ties.
    """
    n, h = ranked.n, ranked.entropy
    within = sum(len(c) / n * naive_chance.entropy_of_rows(ranked, c) for c in parts) / h
    null = ranked if like is None else naive_chance.rank_target(like)
    expected = sum(
        len(c) / n * (1 - naive_chance.expected_entropy(null, len(c)) / null.entropy)
        for c in parts
    )
    freedom = sum((1 - len(c) / n) * (1 + 2 / len(c)) for c in parts if len(c) >= 2)
    freedom = max(freedom, 1.0) if freedom > naive_chance.NEARLY_ZERO else 0.0
    return 1 - within - expected, freedom


def all_sizes(n_rows, n_columns):
    """Return the number of bins per column of each grid of both families."""
    return [
        n
        for family in naive_chance.FAMILIES
        for n in family
        if n == family[0]
        or (
            n**n_columns * naive_chance.ROWS_PER_CELL <= n_rows
            and (n_columns == 1 or n <= naive_chance.LARGEST_ON_SEVERAL)
        )
    ]


def grid_gain(target, given, bins_of, like=None):
    """Return the mean of the standardised gains of some grids, divided by its deviation.

    The null distribution is that of the target, or of another column with other ties.
    """
    if naive_chance.rank_target(target).entropy == 0:
        return NOT_AVAILABLE
    shape = naive_chance.null_shape(naive_chance.rank_target(target if like is None else like))
    gains = [
        raw_gain(target, [naive_chance.bins(column, size) for column in given], like)
        for size in all_sizes(len(target), len(given))
        if size in bins_of
    ]
    gains = [(e, f) for e, f in gains if f > 0]
    if not gains:
        return NOT_AVAILABLE
    n = len(gains)
    mean = math.fsum(e / (shape.unit * math.sqrt(f * shape.variance)) for e, f in gains) / n
    freedoms = [f for _, f in gains]
    # A finer grid contains the independent terms of a coarser one.
    variance, third = (
        math.fsum(min(some) / math.sqrt(math.prod(some)) for some in product(freedoms, repeat=k))
        for k in (2, 3)
    )
    variance, third = variance / n**2, third / n**3
    return Standard(mean / math.sqrt(variance), shape.skewness * third / variance**1.5)


# ---------------------------------------------------------------- neighbours


def windows(column, least):
    """Return windows of neighbouring rows, as lists of rows.

    All runs of values with at least ``least`` and at most four times as many rows that have fewer
    without the first or the last value; and both ends of the column with fewer rows.
    """
    present = sorted({x for x in column if not naive_chance.is_missing(x)})
    groups = [[row for row, x in enumerate(column) if x == value] for value in present]
    if sum(map(len, groups)) < 4 * least:
        return []
    found = []
    for first in range(len(groups)):
        for last in range(first, len(groups)):
            rows, without_last, without_first = (
                [row for group in part for row in group]
                for part in (
                    groups[first : last + 1],
                    groups[first:last],
                    groups[first + 1 : last + 1],
                )
            )
            if len(rows) > 4 * least:
                break
            at_an_end = first == 0 or last == len(groups) - 1
            if len(rows) < least and at_an_end:
                found.append(rows)
            if len(rows) >= least and max(len(without_last), len(without_first)) < least:
                found.append(rows)
    return found


def neighbour_gain(ranks, condition, least):
    """Return how much less ranks differ in windows along the condition, standardised."""
    rows = [row for row, r in enumerate(ranks) if r == r]
    n = len(rows)
    found = windows(condition, least)
    if n < 3 or not found:
        return NOT_AVAILABLE
    mean_of = {i: sum(abs(ranks[i] - ranks[j]) for j in rows) / (n - 1) for i in rows}
    mean = sum(mean_of.values()) / n

    def similarity(i, j):
        return mean_of[i] + mean_of[j] - mean - abs(ranks[i] - ranks[j])

    variance = sum(similarity(i, j) ** 2 for i, j in combinations(rows, 2)) / math.comb(n, 2)
    weights = {}
    for window in found:
        for pair in combinations(sorted(window), 2):
            weights[pair] = weights.get(pair, 0) + 1
    both = {pair: w for pair, w in weights.items() if pair[0] in mean_of and pair[1] in mean_of}
    if not both or variance < 1e-9:
        return NOT_AVAILABLE
    gain = math.fsum(w * similarity(*pair) for pair, w in both.items())
    gain /= math.sqrt(variance * sum(w**2 for w in both.values()))
    size = 1 + 2 * sum(weights.values()) / sum(map(len, found))
    covered = len({row for pair in weights for row in pair})
    # The third cumulant of cells of this size, over the second to the power 1.5.
    second, third = size * (size - 1) / 180, size * (size - 1) * (4 * size - 7) / 3780
    return Standard(gain, third / second**1.5 / math.sqrt(covered / size))


# ---------------------------------------------------------------- correlations


def centred(column):
    """Return the distances from the mean; a missing cell has the distance 0."""
    present = [x for x in column if not naive_chance.is_missing(x)]
    mean = math.fsum(present) / len(present) if present else 0.0
    return [0.0 if naive_chance.is_missing(x) else x - mean for x in column]


def correlation(one, other):
    """Return the correlation of two columns times sqrt(rows - 1)."""
    x, y = centred(one), centred(other)
    product_of_squares = math.fsum(a * a for a in x) * math.fsum(b * b for b in y)
    if product_of_squares < 1e-9:
        return 0.0
    total = math.fsum(a * b for a, b in zip(x, y, strict=True))
    return total * math.sqrt((len(x) - 1) / product_of_squares)


# ---------------------------------------------------------------- evidence


def inverse_probability(standard):
    """Return 1 / P(at least this gain) for a Gamma variable, by Wilson and Hilferty."""
    if standard.gain == -math.inf:
        return 1.0
    skewness = max(standard.skewness, 1e-3)
    root = max(1 + skewness * standard.gain / 2, 0) ** (1 / 3)
    return math.exp(-norm.logsf(6 / skewness * (root - 1 + skewness**2 / 36)))


def pair_evidence(one, other):
    """Return the mean of 1 / probability over all views of a pair."""
    terms = []
    for of_grids, views in ((True, GRIDS_OF_PAIRS), (False, NEIGHBOURS)):
        for sizes, fold, one_way, both_ways, spread in views:
            directions = []
            for target, condition in ((one, other), (other, one)):
                ranks = folded(target) if fold else naive_chance.mid_ranks(target)
                if of_grids:
                    directions.append(grid_gain(ranks, [condition], sizes))
                else:
                    directions.append(neighbour_gain(ranks, condition, sizes))
            terms += [one_way * inverse_probability(each) for each in directions]
            gain = (directions[0].gain + directions[1].gain) / spread
            skewness = (directions[0].skewness + directions[1].skewness) / 2 * spread / 2
            terms.append(both_ways * inverse_probability(Standard(gain, skewness)))
    ranks = [(naive_chance.mid_ranks(column), folded(column)) for column in (one, other)]
    for i, j in product((0, 1), repeat=2):
        z = correlation(ranks[0][i], ranks[1][j])
        terms.append(CORRELATIONS[i + j] * math.exp(-math.log(2) - norm.logsf(abs(z))))
    return math.fsum(terms)


def triple_evidence(target, given):
    """Return the mean of 1 / probability over all views of a target and two conditions."""
    return math.fsum(
        weight * inverse_probability(grid_gain(target, given, sizes))
        for sizes, weight in GRIDS_OF_TRIPLES
    )


def joint_evidence(target, given):
    """Return the mean of 1 / probability over the levels of balanced cells of some columns."""
    if naive_chance.rank_target(target).entropy == 0:
        return 1.0
    by_order = []
    for order in naive_chance.preferred_orders(given):
        levels = naive_chance.balanced_levels(given, order)
        by_order.append(mean([inverse_probability(level_gain(target, c)) for c in levels] or [1]))
    return mean(by_order)


def level_gain(target, cells, like=None):
    """Return the gain of cells, divided by its standard deviation; `like` as in `grid_gain`."""
    ranked = naive_chance.rank_target(target)
    shape = naive_chance.null_shape(ranked if like is None else naive_chance.rank_target(like))
    gain, freedom = gain_of_cells(ranked, naive_chance.present_rows(cells, target), like)
    if freedom == 0:
        return NOT_AVAILABLE
    deviation = shape.unit * math.sqrt(freedom * shape.variance)
    return Standard(gain / deviation, shape.skewness / math.sqrt(freedom))


def mean(values):
    return math.fsum(values) / len(values)


def evidence(columns, target=None, max_given=None):
    """Return the evidence that columns depend on each other, or that a target depends on them."""
    columns_that_vary = [c for c, column in enumerate(columns) if naive_chance.varies(column)]
    d = len(columns_that_vary)
    if d < 2 or target not in (None, *columns_that_vary):
        return 0.0

    def of_column(c):
        others = [columns[o] for o in columns_that_vary if o != c]
        kinds = [mean([pair_evidence(columns[c], other) for other in others])]
        if d > 2 and max_given != 1:
            pairs = list(combinations(others, 2))
            kinds.append(mean([triple_evidence(columns[c], two) for two in pairs]))
        if d > 3 and max_given in (None, d - 1):
            kinds.append(joint_evidence(columns[c], others))
        weights = WEIGHTS_OF_KINDS[: len(kinds)]
        return math.fsum(w * each for w, each in zip(weights, kinds, strict=True)) / math.fsum(
            weights
        )

    if target is not None:
        return math.log((1 + of_column(target)) / 2)
    return sum(math.log(1 - 1 / d + of_column(c) / d) for c in columns_that_vary) / 2
