"""A naive version of the evidence statistic, written from its definition in docs/uds_chance.rst.

This module shares no code with the package. A column is a list of numbers, or a `Nominal` list of
levels, and NaN is a missing cell.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import naive_chance
from naive_chance import as_if_missing, is_missing, is_nominal, level_counts

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
# Weights if one column is nominal, by whether the other is folded; and if both are.
KRUSKAL_WALLIS = {False: 0.3, True: 0.03}
CELLS_OF_LEVELS, MOST_CELLS = 0.3, 2**16
# If a column is nominal or has two values, the correlations of which none or both are folded,
# or the associations in their place, have this many times their weight.
EMPHASIS = 5
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


def as_target(column, fold):
    """Return the ranks of a target, or its levels; None if a nominal column is to be folded."""
    if is_nominal(column):
        return None if fold else column
    return folded(column) if fold else naive_chance.mid_ranks(column)


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
    return 1 - within - expected, naive_chance.freedom_of(null, parts)


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
    if target is None or naive_chance.rank_target(target).entropy == 0:
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
    present = sorted({x for x in column if not is_missing(x)})
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
    """Return how much less ranks, or levels, differ in windows along the condition, standardised.

    Two levels differ by 1. Along a nominal condition there are no windows.
    """
    if ranks is None or is_nominal(condition):
        return NOT_AVAILABLE
    nominal = is_nominal(ranks)

    def difference(i, j):
        return float(ranks[i] != ranks[j]) if nominal else abs(ranks[i] - ranks[j])

    rows = [row for row, r in enumerate(ranks) if r == r]
    n = len(rows)
    found = windows(condition, least)
    if n < 3 or not found:
        return NOT_AVAILABLE
    mean_of = {i: sum(difference(i, j) for j in rows) / (n - 1) for i in rows}
    mean = sum(mean_of.values()) / n

    def similarity(i, j):
        return mean_of[i] + mean_of[j] - mean - difference(i, j)

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
    return Standard(gain, skewness_of_windows(weights, found, third_cumulants(ranks)))


def third_cumulants(ranks):
    """Return E g(a,b) g(b,c) g(c,a) and E g^3 of similarities g with E g^2 = 1.

    Rows are drawn with replacement. Ranks of which at most two are equal are continuous.
    """
    present = [r for r in ranks if r == r]
    if not is_nominal(ranks) and max(Counter(present).values()) <= 2:
        return (1 / 945) / (1 / 90) ** 1.5, (1 / 1890) / (1 / 90) ** 1.5
    values = np.array(present)
    difference = np.abs(values[:, None] - values)
    if is_nominal(ranks):
        difference = (values[:, None] != values).astype(float)
    means = difference.mean(axis=0)
    g = means[:, None] + means - means.mean() - difference
    g /= math.sqrt((g**2).mean())
    return np.trace(g @ g @ g) / len(g) ** 3, (g**3).mean()


def skewness_of_windows(weights, found, cumulants):
    """Return the skewness of the gain of windows.

    Without ties, it is that of separate cells of average size. Ties change the third cumulant of a
    pair of rows, which counts by the cube of its weight.
    """
    of_triples, of_pairs = cumulants
    size = 1 + 2 * sum(weights.values()) / sum(map(len, found))
    covered = len({row for pair in weights for row in pair})
    second = size * (size - 1) / 2
    third = second * of_triples / 2 + size * (size - 1) * (size - 2) * of_triples
    of_cells = third / second**1.5 / math.sqrt(covered / size)
    cubes = sum(w**3 for w in weights.values()) / sum(w**2 for w in weights.values()) ** 1.5
    return of_cells + (of_pairs - of_triples / 2) * cubes


# ---------------------------------------------------------------- correlations


def centred(column):
    """Return the distances from the mean; a missing cell has the distance 0."""
    present = [x for x in column if not is_missing(x)]
    mean = math.fsum(present) / len(present) if present else 0.0
    return [0.0 if is_missing(x) else x - mean for x in column]


def correlation(one, other):
    """Return the correlation of two columns times sqrt(rows - 1), corrected for its skewness.

    In the longer tail, it is replaced by a normal deviation that is as unlikely.
    """
    z, skewness = correlation_and_skewness(one, other)
    if abs(skewness) <= 1e-3 or z * skewness <= 0:
        return z
    deviation = deviation_of(Standard(abs(z), abs(skewness)))
    return math.copysign(max(min(abs(z), deviation), 0.0), z)


def correlation_and_skewness(one, other):
    """Return the correlation of two columns times sqrt(rows - 1), and its skewness.

    Both are those of all permutations of one column. Ranks without ties are symmetric, and almost
    if they are folded. Two rows, of which the correlation is always 1 or -1, have none.
    """
    x, y = centred(one), centred(other)
    n = len(x)
    product_of_squares = math.fsum(a * a for a in x) * math.fsum(b * b for b in y)
    if n < 3 or product_of_squares < 1e-9:
        return 0.0, 0.0
    total = math.fsum(a * b for a, b in zip(x, y, strict=True))
    variance = product_of_squares / (n - 1)
    third = n / ((n - 1) * max(n - 2, 1))
    for ranks, distances in ((one, x), (other, y)):
        third *= 0.0 if without_ties(ranks) else math.fsum(a**3 for a in distances)
    return total / math.sqrt(variance), third / variance**1.5


def without_ties(ranks):
    """Return whether ranks have no ties, apart from those that folding makes."""
    present = sorted(r for r in ranks if r == r)
    n = len(present)
    return len(set(present)) == n or present == sorted(abs(i - (n - 1) / 2) for i in range(n))


# ---------------------------------------------------------------- associations of levels


def kruskal_wallis(levels, values):
    """Return the statistic of Kruskal and Wallis, standardised by mean and variance.

    A missing value counts as the mean of all values. A row without a level has no group.
    """
    x, n = centred(values), len(values)
    square = math.fsum(a * a for a in x)
    if square < 1e-9 or n < 4:
        return NOT_AVAILABLE
    counts = level_counts(levels)
    sums = {
        each: math.fsum(a for a, b in zip(x, levels, strict=True) if b == each) for each in counts
    }
    statistic = (n - 1) / square * math.fsum(sums[each] ** 2 / counts[each] for each in counts)
    freedom = math.fsum(1 - count / n for count in counts.values())
    return standardised(statistic, freedom, variance_of_groups(x, list(counts.values())))


def standardised(statistic, mean, variance):
    """Return a standardised statistic with the skewness of a Gamma variable."""
    if variance <= 1e-9 * mean:
        return NOT_AVAILABLE
    deviation = math.sqrt(variance)
    return Standard((statistic - mean) / deviation, 2 * deviation / mean)


def variance_of_groups(x, counts):
    """Return the variance of the statistic of Kruskal and Wallis over all permutations.

    The values have the sum 0. Some of them may have no group.

    The expectations of products of different values follow from their sum.
    """
    n = len(x)
    second, fourth = (math.fsum(a**power for a in x) / n for power in (2, 4))
    of_31 = -fourth / (n - 1)
    of_22 = (n * second**2 - fourth) / (n - 1)
    of_211 = -(of_31 + of_22) / (n - 2)
    of_1111 = -3 * of_211 / (n - 3) if n > 3 else 0.0

    def of_one_group(a):
        pairs, triples = a * (a - 1), a * (a - 1) * (a - 2)
        return (
            a * fourth
            + pairs * (4 * of_31 + 3 * of_22)
            + 6 * triples * of_211
            + triples * (a - 3) * of_1111
        )

    def of_two_groups(a, b):
        return a * b * (of_22 + (a + b - 2) * of_211 + (a - 1) * (b - 1) * of_1111)

    total = math.fsum(of_one_group(a) / a**2 for a in counts)
    total += 2 * math.fsum(of_two_groups(a, b) / (a * b) for a, b in combinations(counts, 2))
    mean = math.fsum(second * (n - a) / (n - 1) for a in counts)
    return (total - mean**2) * ((n - 1) / (n * second)) ** 2


def pearson(one, other):
    """Return Pearson's chi-square of two nominal columns, standardised.

    Mean and variance are those of all permutations of a column, with its missing cells. They
    follow from the matrices over pairs of rows whose product is the statistic, by the formulas of
    Kazi-Aoual and others (1995).
    """
    n = len(one)
    if n < 4:
        return NOT_AVAILABLE
    counts, others = level_counts(one), level_counts(other)
    both = Counter(zip(one, other, strict=True))
    expected = {(a, b): counts[a] * others[b] / n for a in counts for b in others}
    statistic = math.fsum((both[cell] - e) ** 2 / e for cell, e in expected.items())
    (t, t2, s2), (u, u2, v2) = (
        (np.trace(m), np.trace(m @ m), (np.diag(m) ** 2).sum())
        for m in (matrix_of_levels(one), matrix_of_levels(other))
    )
    variance = 2 * ((n - 1) * t2 - t**2) * ((n - 1) * u2 - u**2)
    variance /= (n - 1) ** 2 * (n + 1) * (n - 2)
    product_of_squares = n * (n + 1) * s2 - (n - 1) * (t**2 + 2 * t2)
    product_of_squares *= n * (n + 1) * v2 - (n - 1) * (u**2 + 2 * u2)
    variance += product_of_squares / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    freedom, variance = n * t * u / (n - 1), n**2 * variance
    found = standardised(statistic, freedom, variance)
    if found == NOT_AVAILABLE:
        return found
    # The third cumulant of Poisson counts: the sum over cells of 8 + 22 / e + 1 / e^2.
    third = 8 * freedom + 22 * (variance - 2 * freedom)
    third += math.fsum(e**-2 for e in expected.values())
    return Standard(found.gain, max(found.skewness, third / variance**1.5))


def matrix_of_levels(column):
    """Return the sum over levels of v v' / rows, where v is the indicator minus its mean."""
    total = np.zeros((len(column), len(column)))
    for level, count in level_counts(column).items():
        indicator = np.array([x == level for x in column]) - count / len(column)
        total += np.outer(indicator, indicator) / count
    return total


def tail_of_count(count, expected):
    """Return the deviation of a normal variable as unlikely as a Poisson count, or a further one.

    By the approximation of Wilson and Hilferty: the probability of at least k events is that of a
    Gamma variable with the mean k below the expectation.
    """
    if count > expected:
        return 3 * math.sqrt(count) * (1 - 1 / (9 * count) - (expected / count) ** (1 / 3))
    k = count + 1
    return 3 * math.sqrt(k) * ((expected / k) ** (1 / 3) - 1 + 1 / (9 * k))


def single_cells(one, other):
    """Return the mean over all cells of 1 / probability of a count as far from its expectation."""
    n = len(one)
    counts, others = level_counts(one), level_counts(other)
    both = Counter(zip(one, other, strict=True))
    terms = []
    for a, b in product(counts, others):
        # Both tails. The variance of a count is smaller than that of a Poisson variable.
        narrowing = math.sqrt((1 - counts[a] / n) * (1 - others[b] / n))
        deviation = tail_of_count(both[a, b], counts[a] * others[b] / n)
        terms.append(max(math.exp(-norm.logsf(max(deviation, 0) / narrowing)) / 2, 1.0))
    return mean(terms)


def association(one, other):
    """Return the weighted 1 / probabilities in the place of correlations, if one is nominal."""
    if not is_nominal(one):
        one, other = other, one
    if is_nominal(other):
        inverse = 1.0
        if len(level_counts(one)) * len(level_counts(other)) <= MOST_CELLS:
            inverse = mean([inverse_probability(pearson(one, other)), single_cells(one, other)])
        terms = [(CELLS_OF_LEVELS, inverse)]
    else:
        terms = [
            (weight, inverse_probability(kruskal_wallis(one, as_target(other, fold))))
            for fold, weight in KRUSKAL_WALLIS.items()
        ]
    # What is left of the weight of the correlations is not available.
    rest = 2 * CORRELATIONS[1]
    rest += EMPHASIS * (CORRELATIONS[0] + CORRELATIONS[2] - sum(w for w, _ in terms))
    return EMPHASIS * math.fsum(weight * inverse for weight, inverse in terms) + rest


# ---------------------------------------------------------------- evidence


def deviation_of(standard):
    """Return the normal deviation that is as unlikely as at least this gain.

    A Gamma variable with this skewness, by Wilson and Hilferty. If it is larger than 3, at least
    the probability of a Poisson variable with this skewness.
    """
    skewness = max(standard.skewness, 1e-3)
    root = max(1 + skewness * standard.gain / 2, 0) ** (1 / 3)
    deviation = 6 / skewness * (root - 1 + skewness**2 / 36)
    if skewness <= 3:
        return deviation
    expected = skewness**-2
    k = expected + standard.gain / skewness
    if k <= 0:
        return -math.inf
    return min(deviation, 3 * math.sqrt(k) * (1 - 1 / (9 * k) - (expected / k) ** (1 / 3)))


def inverse_probability(standard):
    """Return 1 / P(at least this gain)."""
    if standard.gain == -math.inf:
        return 1.0
    return math.exp(-norm.logsf(deviation_of(standard)))


def weighted_directions(there, back, one_way, both_ways, spread):
    """Return the weighted 1 / probabilities of a view: of each direction, and of their sum.

    If only one direction is available, it takes the place of the sum.
    """
    available = [each for each in (there, back) if each.gain > -math.inf]
    both = NOT_AVAILABLE
    if len(available) == 2:
        skewness = (there.skewness + back.skewness) / 2 * spread / 2
        both = Standard((there.gain + back.gain) / spread, skewness)
    elif available:
        (both,) = available
    of_directions = one_way * (inverse_probability(there) + inverse_probability(back))
    return of_directions + both_ways * inverse_probability(both)


def pair_evidence(one, other):
    """Return the mean of 1 / probability over all views of a pair."""
    terms = []
    for sizes, fold, *weights in GRIDS_OF_PAIRS:
        there = grid_gain(as_target(as_if_missing(one, [other]), fold), [other], sizes)
        back = grid_gain(as_target(as_if_missing(other, [one]), fold), [one], sizes)
        terms.append(weighted_directions(there, back, *weights))
    rows = naive_chance.counted_rows([one, other])
    one, other = (
        naive_chance.like(column, (column[row] for row in rows)) for column in (one, other)
    )
    if len(rows) < 3:
        return math.fsum(terms) + 1 - weight_of_grids()
    for sizes, fold, *weights in NEIGHBOURS:
        there = neighbour_gain(as_target(one, fold), other, sizes)
        back = neighbour_gain(as_target(other, fold), one, sizes)
        terms.append(weighted_directions(there, back, *weights))
    all_weights = 1 + (EMPHASIS - 1) * (CORRELATIONS[0] + CORRELATIONS[2])
    if is_nominal(one) or is_nominal(other):
        return (math.fsum(terms) + association(one, other)) / all_weights
    ranks = [(naive_chance.mid_ranks(column), folded(column)) for column in (one, other)]
    two_valued = any(len({x for x in each if not is_missing(x)}) == 2 for each in (one, other))
    for i, j in product((0, 1), repeat=2):
        z = correlation(ranks[0][i], ranks[1][j])
        weight = CORRELATIONS[i + j] * (EMPHASIS if two_valued and i == j else 1)
        terms.append(weight * math.exp(-math.log(2) - norm.logsf(abs(z))))
    return math.fsum(terms) / (all_weights if two_valued else 1)


def weight_of_grids():
    return math.fsum(2 * one_way + both_ways for _, _, one_way, both_ways, _ in GRIDS_OF_PAIRS)


def triple_evidence(target, given):
    """Return the mean of 1 / probability over all views of a target and two conditions."""
    target = as_if_missing(target, given)
    return math.fsum(
        weight * inverse_probability(grid_gain(target, given, sizes))
        for sizes, weight in GRIDS_OF_TRIPLES
    )


def joint_evidence(target, given):
    """Return the mean of 1 / probability over the levels of balanced cells of some columns."""
    target = as_if_missing(target, given)
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
