"""Naive versions of the baseline measures, written from their definitions.

This module shares no code with the package. A column is a list of numbers, and NaN is a missing
cell. A table is a list of columns.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from itertools import accumulate, combinations, pairwise, product

import numpy as np
from naive import cumulative_entropy, initial_bins, is_missing
from scipy.special import digamma, ndtr
from scipy.stats import t as student

TOLERANCE = 1e-11  # rounding error of a sum of fractions of entropies


def complete(columns):
    """Return the columns, without rows in which one of them is missing."""
    rows = [row for row in zip(*columns, strict=True) if not any(map(is_missing, row))]
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in columns]


def varies(column):
    return len(set(column)) > 1


def present(column):
    return [x for x in column if not is_missing(x)]


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def population_sd(values):
    centre = mean(values)
    return math.sqrt(mean((x - centre) ** 2 for x in values))


def to_unit(column):
    low, high = min(column), max(column)
    return [(x - low) / (high - low) if high > low else 0.0 for x in column]


def entropy(symbols):
    n = len(symbols)
    return -math.fsum(k / n * math.log(k / n) for k in Counter(symbols).values())


# ---------------------------------------------------------------- cmi


def cmi(columns, scale=None):
    columns = complete(columns)
    n = len(columns[0])
    if n < 2:
        return 0.0
    if scale == "range":
        columns = [to_unit(column) for column in columns]
    columns = sorted(columns, key=lambda column: -cumulative_entropy(column))
    total = 0.0
    for i in range(1, len(columns)):
        labels = clusters(columns[:i])
        total += cumulative_entropy(columns[i])
        for label in set(labels):
            cell = [x for x, its in zip(columns[i], labels, strict=True) if its == label]
            total -= len(cell) / n * cumulative_entropy(cell)
    return max(total / math.log(2), 0.0)


def clusters(columns):
    """Return the cluster of each row: ten centres, three passes over the rows."""
    n, k = len(columns[0]), len(columns)
    every = math.isqrt(n)
    centres = [
        [
            mean(column) + (-1) ** c * i * population_sd(column) / (9 * k)
            for c, column in enumerate(columns)
        ]
        for i in range(10)
    ]
    for number in (1, 2, 3):
        members = [[] for _ in centres]
        labels = []
        for r, row in enumerate(zip(*columns, strict=True)):
            label = nearest(centres, row)
            labels.append(label)
            members[label].append(row)
            if number == 1 and r % every == 0:
                centres = moved(centres, members)
        centres = moved(centres, members)
    return labels


def nearest(centres, row):
    distances = [sum((x - y) ** 2 for x, y in zip(row, c, strict=True)) for c in centres]
    return distances.index(min(distances))


def moved(centres, members):
    return [
        [sum(values) / len(rows) for values in zip(*rows, strict=True)] if rows else centre
        for centre, rows in zip(centres, members, strict=True)
    ]


# ---------------------------------------------------------------- mac


def first(choices):
    return choices[0]


def mac(columns, beta=20, epsilon=0.5, choose=first):
    """Return MAC; ``choose`` selects among equal choices that the definition leaves open."""
    columns = [c for c in columns if len({"missing" if is_missing(x) else x for x in c}) > 1]
    if len(columns) < 2:
        return 0.0
    limit = max(4.0, len(columns[0]) ** (1 - epsilon))
    bins = [initial_bins(column, beta) for column in columns]
    everything = range(len(columns))

    def size(c, parts):
        return parts + any(map(is_missing, columns[c]))

    def numbers(c):
        return range(min(2, len(bins[c])), len(bins[c]) + 1)

    def symbols(c, parts, targets):
        return symbols_of(columns[c], bins[c], grids[c, tuple(targets)][parts])

    grids = {}
    for a in everything:
        for b in everything:
            if a != b:
                grids[a, (b,)] = best_merges(bins[a], [columns[b]], choose)

    starts = []  # (value, number of parts, {column: symbols}, {column: k})
    for a, b in combinations(everything, 2):
        parts = [
            p for p in product(numbers(a), numbers(b)) if size(a, p[0]) * size(b, p[1]) <= limit
        ]
        for i, j in parts or [(numbers(a)[0], numbers(b)[0])]:
            cut = {a: symbols(a, i, [b]), b: symbols(b, j, [a])}
            sizes = {a: size(a, i), b: size(b, j)}
            starts.append((normalised(cut, sizes), sum(sizes.values()), cut, sizes))
    starts = highest(starts)
    fewest = min(start[1] for start in starts)
    value, _, chosen, sizes = choose([start for start in starts if start[1] == fewest])

    while len(chosen) < len(columns):
        steps = []
        for c in everything:
            if c in chosen:
                continue
            grids[c, tuple(chosen)] = best_merges(bins[c], [columns[s] for s in chosen], choose)
            largest = max(sizes.values())
            parts = [p for p in numbers(c) if size(c, p) * largest <= limit]
            for i in parts or [numbers(c)[0]]:
                cut = {**chosen, c: symbols(c, i, chosen)}
                now = {**sizes, c: size(c, i)}
                steps.append((normalised(cut, now), i, cut, now))
        value, _, chosen, sizes = choose(highest(steps))
    return value


def highest(choices):
    top = max(choice[0] for choice in choices)
    return [choice for choice in choices if choice[0] >= top - TOLERANCE]


def normalised(cut, sizes):
    """Return the total correlation of columns of symbols, divided by its maximum."""
    logs = [math.log(k) for k in sizes.values()]
    most = math.fsum(logs) - max(logs)
    joint = entropy(list(zip(*cut.values(), strict=True)))
    return (math.fsum(map(entropy, cut.values())) - joint) / most if most > 0 else 0.0


def symbols_of(column, bins, ends):
    """Return the number of the merged bin of each row; -1 for a missing cell."""
    symbols = [-1] * len(column)
    for b, rows in enumerate(bins):
        for row in rows:
            symbols[row] = sum(b > end for end in ends)
    return symbols


def merge_costs(bins, targets):
    """Return the cost of merging initial bins j to i, summed over all targets."""
    bins = tuple(map(tuple, bins))
    tables = [merge_costs_of_target(bins, tuple(target)) for target in targets]
    return {run: sum(table[run] for table in tables) for run in tables[0]}


@lru_cache(200)
def merge_costs_of_target(bins, target):
    runs = [(j, i) for i in range(len(bins)) for j in range(i + 1)]
    whole = len(present(target)) * cumulative_entropy(target)
    if whole == 0:
        return dict.fromkeys(runs, 0.0)
    costs = {}
    for j, i in runs:
        cell = present([target[row] for b in bins[j : i + 1] for row in b])
        costs[j, i] = len(cell) * cumulative_entropy(cell) / whole
    return costs


def best_merges(bins, targets, choose=first):
    """Return, for each number of parts, the ends of the cheapest merge of the initial bins."""
    costs = merge_costs(bins, targets)
    best = {(1, i): (costs[0, i], [i]) for i in range(len(bins))}
    for parts in range(2, len(bins) + 1):
        for i in range(parts - 1, len(bins)):
            choices = []
            for j in range(parts - 2, i):
                cost, ends = best[parts - 1, j]
                choices.append((cost + costs[j + 1, i], [*ends, i]))
            least = min(choice[0] for choice in choices)
            best[parts, i] = choose(
                [choice for choice in choices if choice[0] <= least + TOLERANCE]
            )
    return {parts: best[parts, len(bins) - 1][1] for parts in range(1, len(bins) + 1)}


# ---------------------------------------------------------------- hics


def hics_values(columns, alpha=0.1, test="ks"):
    """Return the deviation and the probability of every slice; None for a slice without rows."""
    columns = [column for column in columns if varies(present(column))]
    if len(columns) < 2 or len(complete(columns)[0]) < 3:
        return [(0.0, 1.0)]
    blocks = [all_blocks(column, hics_size(column, alpha, len(columns))) for column in columns]
    return [
        (deviation(columns[reference], inside, test), chance / len(columns))
        for reference in range(len(columns))
        for inside, chance in all_slices(blocks[:reference] + blocks[reference + 1 :]).items()
    ]


def hics(columns, rng, slices=50, alpha=0.1, test="ks"):
    """Return the score with random numbers from ``rng``."""
    columns = [column for column in columns if varies(present(column))]
    if len(columns) < 2 or len(complete(columns)[0]) < 3:
        return 0.0
    orders = [shuffled_order(column, rng) for column in columns]
    found = []
    for _ in range(slices):
        reference = int(rng.integers(len(columns)))
        inside = set(range(len(columns[0])))
        for c, column in enumerate(columns):
            if c != reference:
                inside &= random_block(orders[c], hics_size(column, alpha, len(columns)), rng)
        value = deviation(columns[reference], inside, test)
        if value is not None:
            found.append(value)
    return mean(found) if found else 0.0


def hics_size(column, alpha, d):
    return max(1, math.floor(len(present(column)) * alpha ** (1 / d)))


def shuffled_order(column, rng):
    """Return the rows by ascending value, with rows of equal values in random order."""
    rows = [row for row in rng.permutation(len(column)).tolist() if not is_missing(column[row])]
    return sorted(rows, key=lambda row: column[row])


def random_block(order, size, rng):
    start = math.floor(rng.random() * (len(order) - size + 1))
    return set(order[start : start + size])


def all_blocks(column, size):
    """Return the probability of every possible block, over all starts and orders of ties."""
    runs = [[r for r, x in enumerate(column) if x == at] for at in sorted(set(present(column)))]
    ends = list(accumulate(map(len, runs)))
    blocks = Counter()
    for start in range(ends[-1] - size + 1):
        taken = [
            max(0, min(end, start + size) - max(end - len(run), start))
            for run, end in zip(runs, ends, strict=True)
        ]
        choices = list(product(*map(combinations, runs, taken)))
        for choice in choices:
            rows = frozenset(row for part in choice for row in part)
            blocks[rows] += 1 / (ends[-1] - size + 1) / len(choices)
    return blocks


def all_slices(blocks):
    """Return the probability of every intersection of one block per column."""
    slices = blocks[0]
    for more in blocks[1:]:
        narrower = Counter()
        for (rows, chance), (block, its) in product(slices.items(), more.items()):
            narrower[rows & block] += chance * its
        slices = narrower
    return slices


def deviation(reference, inside, test):
    everywhere = present(reference)
    here = present([reference[row] for row in inside])
    if not here:
        return None
    return kolmogorov_smirnov(everywhere, here) if test == "ks" else welch(everywhere, here)


def kolmogorov_smirnov(a, b):
    a, b = sorted(a), sorted(b)
    return max(abs(bisect_right(a, x) / len(a) - bisect_right(b, x) / len(b)) for x in a)


def welch(a, b):
    if min(len(a), len(b)) < 2 or not (varies(a) or varies(b)):
        return 0.0
    of_a, of_b = (
        math.fsum((x - mean(v)) ** 2 for x in v) / (len(v) - 1) / len(v) if varies(v) else 0.0
        for v in (a, b)
    )
    difference = (mean(a) - mean(b)) / math.sqrt(of_a + of_b)
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    return 1 - 2 * float(student.sf(abs(difference), freedom))


# ---------------------------------------------------------------- mcde


def mcde_values(columns, alpha=0.5, beta=0.5):
    """Return the contrast and the probability of every slice."""
    columns = [column for column in columns if varies(present(column))]
    if len(columns) < 2 or len(complete(columns)[0]) < 3:
        return [(0.0, 1.0)]
    blocks = [all_blocks(column, mcde_size(column, alpha, len(columns))) for column in columns]
    found = []
    for reference, column in enumerate(columns):
        slices = all_slices(blocks[:reference] + blocks[reference + 1 :])
        ranges = all_ranges(column, mcde_size(column, beta, 2))
        for (inside, chance), limits in product(slices.items(), ranges):
            value = contrast(column, inside, limits)
            found.append((value, chance / len(ranges) / len(columns)))
    return found


def mcde(columns, rng, slices=50, alpha=0.5, beta=0.5):
    """Return the score with random numbers from ``rng``."""
    columns = [column for column in columns if varies(present(column))]
    if len(columns) < 2 or len(complete(columns)[0]) < 3:
        return 0.0
    orders = [shuffled_order(column, rng) for column in columns]
    found = []
    for _ in range(slices):
        reference = int(rng.integers(len(columns)))
        inside = set(range(len(columns[0])))
        for c, column in enumerate(columns):
            if c != reference:
                inside &= random_block(orders[c], mcde_size(column, alpha, len(columns)), rng)
        ranges = all_ranges(columns[reference], mcde_size(columns[reference], beta, 2))
        limits = ranges[math.floor(rng.random() * len(ranges))]
        found.append(contrast(columns[reference], inside, limits))
    return mean(found)


def mcde_size(column, share, d):
    n = len(present(column))
    return min(n, max(1, math.ceil(n * share ** (1 / (d - 1)))))


def all_ranges(column, size):
    """Return the first and the last value of each block of ``size`` sorted values."""
    x = sorted(present(column))
    return [(x[start], x[start + size - 1]) for start in range(len(x) - size + 1)]


def contrast(reference, inside, limits):
    with_reference = {row for row, x in enumerate(reference) if not is_missing(x)}
    if with_reference <= inside:
        return 0.0
    slice_, rest = [], []
    for row in with_reference:
        if limits[0] <= reference[row] <= limits[1]:
            (slice_ if row in inside else rest).append(reference[row])
    if not slice_ or not rest:
        return 1.0
    return mann_whitney(slice_, rest)


def mann_whitney(a, b):
    """Return 1 - p of the two-sided test, by normal approximation with correction for ties."""
    n1, n2 = len(a), len(b)
    n = n1 + n2
    ranks = mid_ranks([*a, *b])
    u = sum(ranks[:n1]) - n1 * (n1 + 1) / 2
    ties = sum(t**3 - t for t in Counter([*a, *b]).values())
    variance = n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1)))
    if not varies([*a, *b]):
        return 0.0
    return math.erf(abs(u - n1 * n2 / 2) / math.sqrt(variance) / math.sqrt(2))


def mid_ranks(values):
    return [sum(y < x for y in values) + (1 + sum(y == x for y in values)) / 2 for x in values]


# ---------------------------------------------------------------- total correlation


def total_correlation_of_bins(columns, bins=5, nominal=()):
    """Return the score; ``nominal`` contains the positions of the nominal columns."""
    symbols = []
    for at, column in enumerate(columns):
        if at in nominal:
            symbols.append(frequent_levels(column))
        else:
            parts = initial_bins(column, bins)
            symbols.append(symbols_of(column, parts, range(len(parts))))
    return math.fsum(map(entropy, symbols)) - entropy(list(zip(*symbols, strict=True)))


def frequent_levels(column):
    """Return the level of each row; rare ones share one, and missing cells are another one."""
    counts = Counter(present(column))
    rare = {x for x, k in counts.items() if k < 5 and k < 0.05 * counts.total()}
    return ["missing" if is_missing(x) else "rare" if x in rare else x for x in column]


def total_correlation_of_neighbors(columns, neighbors=3):
    """Return the estimate for columns without ties."""
    columns = [column for column in complete(columns) if varies(column)]
    if len(columns) < 2 or len(columns[0]) < 3:
        return 0.0
    n, d = len(columns[0]), len(columns)
    k = min(neighbors, n - 1)
    columns = [[x / population_sd(column) for x in column] for column in columns]
    closer = []
    for i in range(n):
        apart = [[abs(c[i] - c[j]) for c in columns] for j in range(n) if j != i]
        radius = sorted(max(gaps) for gaps in apart)[k - 1]
        closer.append(
            math.fsum(digamma(sum(gaps[c] < radius for gaps in apart) + 1) for c in range(d))
        )
    return float(digamma(k) + (d - 1) * digamma(n)) - mean(closer)


# ---------------------------------------------------------------- quadratic


def quadratic(columns):
    columns = [to_unit(column) for column in complete(columns) if varies(column)]
    if len(columns) < 2:
        return 0.0
    n, d = len(columns[0]), len(columns)

    def beyond(k, i, j):
        return 1 - max(columns[k][i], columns[k][j])

    rows = range(n)
    joint = math.fsum(math.prod(beyond(k, i, j) for k in range(d)) for i in rows for j in rows)
    mixed = math.fsum(
        math.prod(math.fsum(beyond(k, i, j) for j in rows) for k in range(d)) for i in rows
    )
    apart = math.prod(
        math.fsum(beyond(k, i, j) for i in rows for j in rows) / n**2 for k in range(d)
    )
    return max(joint / n**2 - 2 * mixed / n ** (d + 1) + apart, 0.0)


def quadratic_by_integration(columns):
    """Return the integral of (F - product of all F_k)^2, box by box: F is a step function."""
    columns = [to_unit(column) for column in complete(columns) if varies(column)]
    if len(columns) < 2:
        return 0.0
    rows = list(zip(*columns, strict=True))
    total = 0.0
    for box in product(*(list(pairwise(sorted(set(column)))) for column in columns)):
        corner = [low for low, _ in box]
        joint = mean(all(x <= c for x, c in zip(row, corner, strict=True)) for row in rows)
        apart = math.prod(
            mean(x <= c for x in column) for column, c in zip(columns, corner, strict=True)
        )
        total += math.prod(high - low for low, high in box) * (joint - apart) ** 2
    return total


# ---------------------------------------------------------------- kernels and distances


def distances(column):
    x = np.array(column, float)
    return np.abs(x[:, None] - x[None, :])


def median_distance(column):
    return float(np.median(distances(column)[~np.eye(len(column), dtype=bool)]))


def gaussian_kernels(columns, scale):
    """Return kernel matrices; the bandwidth is the median distance in the first column."""
    if scale == "median":
        columns = [np.array(c, float) / (median_distance(c) or population_sd(c)) for c in columns]
    bandwidth = median_distance(columns[0]) or 1.0
    return [np.exp(-(distances(column) ** 2) / (2 * bandwidth**2)) for column in columns]


def u_centred(matrix):
    n = len(matrix)
    along = matrix.sum(axis=0) / (n - 2)
    centred = matrix - along[:, None] - along[None, :] + matrix.sum() / ((n - 1) * (n - 2))
    return centred * (1 - np.eye(n))


def hsic_parts(x, y, scale=None):
    """Return the unbiased covariance and both variances, up to a common factor."""
    a, b = (u_centred(1 - kernel) for kernel in gaussian_kernels(complete([x, y]), scale))
    return float((a * b).sum()), float((a * a).sum()), float((b * b).sum())


def zero_if_undefined(measure):
    """Decorate a measure to return 0 for fewer than 3 complete rows or a constant column."""

    def found(x, y, *arguments, **parameters):
        x, y = complete([x, y])
        if len(x) < 3 or not varies(x) or not varies(y):
            return 0.0
        return measure(x, y, *arguments, **parameters)

    return found


@zero_if_undefined
def hsic(x, y, scale=None):
    covariance, of_x, of_y = hsic_parts(x, y, scale)
    return covariance / math.sqrt(of_x * of_y) if min(of_x, of_y) > 0 else 0.0


def dhsic(columns, scale=None):
    """Return the V-statistic; constants are ignored, so that they do not set the bandwidth."""
    columns = [column for column in complete(columns) if varies(column)]
    if len(columns) < 2 or len(columns[0]) < 3:
        return 0.0
    kernels = gaussian_kernels(columns, scale)
    joint = np.prod(kernels, axis=0).mean()
    apart = math.prod(kernel.mean() for kernel in kernels)
    mixed = np.prod([kernel.mean(axis=1) for kernel in kernels], axis=0).mean()
    return float(joint + apart - 2 * mixed)


@zero_if_undefined
def distance_correlation(x, y):
    a, b = (double_centred(distances(column)) for column in (x, y))
    covariance = max(float((a * b).mean()), 0.0)
    return math.sqrt(covariance / math.sqrt((a * a).mean() * (b * b).mean()))


def double_centred(matrix):
    along = matrix.mean(axis=0)
    return matrix - along[:, None] - along[None, :] + matrix.mean()


# ---------------------------------------------------------------- other pairs


@zero_if_undefined
def pearson(x, y):
    above, of_x, of_y = (
        math.fsum((a - mean(u)) * (b - mean(v)) for a, b in zip(u, v, strict=True))
        for u, v in ((x, y), (x, x), (y, y))
    )
    return abs(above) / math.sqrt(of_x) / math.sqrt(of_y)


@zero_if_undefined
def spearman(x, y):
    return pearson(mid_ranks(x), mid_ranks(y))


@zero_if_undefined
def xi(x, y):
    return max(xi_of_direction(x, y), xi_of_direction(y, x))


def xi_of_direction(x, y):
    """Return xi of one direction; rows with equal x keep their order, as in SciPy."""
    n = len(x)
    y = [y[row] for row in sorted(range(n), key=lambda row: x[row])]
    up = [sum(other <= at for other in y) for at in y]
    down = [sum(other >= at for other in y) for at in y]
    changes = sum(abs(b - a) for a, b in pairwise(up))
    return 1 - n * changes / (2 * sum(k * (n - k) for k in down))


@zero_if_undefined
def mutual_information(x, y, neighbors=3):
    """Return the estimate for columns without ties."""
    return max(total_correlation_of_neighbors([x, y], neighbors), 0.0)


def mutual_information_of_frequencies(x, y):
    """Return the mutual information of two columns of levels."""
    x, y = complete([x, y])
    n = len(x)
    joint, of_x, of_y = Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return math.fsum(k / n * math.log(k * n / (of_x[a] * of_y[b])) for (a, b), k in joint.items())


def mutual_information_with_levels(levels, numbers, neighbors=3):
    """Return the estimate of Ross for a nominal column and numbers without ties."""
    levels, numbers = complete([levels, numbers])
    counts = Counter(levels)
    rows = [r for r, level in enumerate(levels) if counts[level] > 1]
    if len(levels) < 3 or not rows or len(counts) < 2 or not varies(numbers):
        return 0.0
    terms = []
    for i in rows:
        apart = {j: abs(numbers[i] - numbers[j]) for j in rows if j != i}
        k = min(neighbors, counts[levels[i]] - 1)
        radius = sorted(gap for j, gap in apart.items() if levels[j] == levels[i])[k - 1]
        closer = sum(gap < radius for gap in apart.values())
        terms.append(digamma(k) - digamma(counts[levels[i]]) - digamma(closer + 1))
    return max(float(digamma(len(rows))) + mean(terms), 0.0)


# ---------------------------------------------------------------- levels


def levels_of(column, nominal=False, bins=10):
    """Return the level of each row: its value, or its bin if numbers have more than 20 values."""
    if nominal or len(set(present(column))) <= 20:
        return list(column)
    levels = [math.nan] * len(column)
    for number, rows in enumerate(initial_bins(column, bins)):
        for row in rows:
            levels[row] = number
    return levels


def contingency_table(x, y):
    """Return the number of rows of each pair of levels, as a list of lines."""
    rows = list(zip(x, y, strict=True))
    return [[rows.count((a, b)) for b in sorted(set(y))] for a in sorted(set(x))]


def chi_squared(table, correct=False):
    """Return the statistic of Pearson's test; with the correction of Yates for 2 x 2 cells."""
    n = sum(map(sum, table))
    is_corrected = correct and len(table) == len(table[0]) == 2
    total = 0.0
    for line in table:
        for b, observed in enumerate(line):
            expected = sum(line) * sum(other[b] for other in table) / n
            gap = abs(observed - expected)
            total += (gap - min(gap, 0.5) * is_corrected) ** 2 / expected
    return total


def pair_of_levels(x, y, nominal, bins):
    """Return the levels in complete rows; None if a column does not vary in these."""
    x, y = (levels_of(c, is_nominal, bins) for c, is_nominal in zip((x, y), nominal, strict=True))
    x, y = complete([x, y])
    return (x, y) if len(x) >= 3 and varies(x) and varies(y) else None


def cramers_v(x, y, nominal=(False, False), bins=10):
    pair = pair_of_levels(x, y, nominal, bins)
    if pair is None:
        return 0.0
    table = contingency_table(*pair)
    n, r, c = len(pair[0]), len(table), len(table[0])
    phi = max(chi_squared(table) / n - (r - 1) * (c - 1) / (n - 1), 0.0)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return math.sqrt(phi / least) if least > 1e-12 else 0.0


def theils_u(x, y, nominal=(False, False), bins=10, target=False):
    """Return the symmetric coefficient, or that of y given x if y is a target."""
    pair = pair_of_levels(x, y, nominal, bins)
    if pair is None:
        return 0.0
    x, y = pair
    inside = [[b for a, b in zip(x, y, strict=True) if a == level] for level in set(x)]
    explained = entropy(y) - math.fsum(len(part) / len(y) * entropy(part) for part in inside)
    return explained / (entropy(y) if target else (entropy(x) + entropy(y)) / 2)


# ---------------------------------------------------------------- phi_K


def phik(x, y, nominal=(False, False), bins=10):
    """Return phi_K, from an integral over the cells of a bivariate normal distribution."""
    x, y = complete([x, y])
    if len(x) < 3 or not varies(x) or not varies(y):
        return 0.0
    levels = [
        column if is_nominal else equal_width_bins(column, bins)
        for column, is_nominal in zip((x, y), nominal, strict=True)
    ]
    table = contingency_table(*levels)
    n, shape = len(x), (len(table), len(table[0]))
    observed = chi_squared(table, correct=True)
    most = n * (min(shape) - 1)
    by_chance = (shape[0] - 1) * (shape[1] - 1)
    if observed <= by_chance or observed >= most * (1 - 1e-12):
        return float(observed > by_chance)
    independent = normal_cells(0.0, shape)

    def distance(rho):
        gaps = (normal_cells(rho, shape) - independent) ** 2
        return float((gaps / independent).sum())

    def excess(rho):
        return by_chance + (most - by_chance) * distance(rho) / distance(1.0) - observed

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


def equal_width_bins(column, bins):
    low, high = min(column), max(column)
    edges = [low + (high - low) * k / bins for k in range(1, bins)]
    return [sum(x > edge for edge in edges) for x in column]


def normal_cells(rho, shape, points=400):
    """Return the probabilities of the cells of equal width in [-5, 5] x [-5, 5]."""
    x_edges, y_edges = (np.linspace(-5, 5, k + 1) for k in shape)
    cells = np.zeros(shape)
    for i, (a, b) in enumerate(pairwise(x_edges)):
        for j, (c, d) in enumerate(pairwise(y_edges)):
            if rho == 1.0:
                cells[i, j] = max(ndtr(min(b, d)) - ndtr(max(a, c)), 0.0)
                continue
            u = a + (b - a) * (np.arange(points) + 0.5) / points
            density = np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
            scale = math.sqrt(1 - rho**2)
            inside = ndtr((d - rho * u) / scale) - ndtr((c - rho * u) / scale)
            cells[i, j] = (b - a) * (density * inside).mean()
    return cells


# ---------------------------------------------------------------- codec


def codec_ranks(columns):
    """Return for each row all possible min(R_i, R_M(i)), of the last column given the others."""
    *others, target = columns
    scaled = [[x / population_sd(c) for x in c] for c in others if varies(c)]
    up = [sum(y <= at for y in target) for at in target]
    possible = []
    for i in range(len(target)):
        apart = {
            j: math.sqrt(sum((c[i] - c[j]) ** 2 for c in scaled))
            for j in range(len(target))
            if j != i
        }
        least = min(apart.values())
        nearest = [j for j, distance in apart.items() if distance <= least * (1 + 1e-9)]
        possible.append([min(up[i], up[j]) for j in nearest])
    return possible


def codec_from_ranks(smaller, target):
    """Return T(Y | X) from min(R_i, R_M(i)) of every row."""
    n = len(target)
    down = [sum(y >= at for y in target) for at in target]
    return sum(n * r - k**2 for r, k in zip(smaller, down, strict=True)) / sum(
        k * (n - k) for k in down
    )


def codec_of_target(columns, choose=mean):
    """Return the expected coefficient of the last column, or one for the chosen neighbours."""
    columns = complete(columns)
    if len(columns[0]) < 3 or not varies(columns[-1]) or not any(map(varies, columns[:-1])):
        return 0.0
    return codec_from_ranks([choose(ranks) for ranks in codec_ranks(columns)], columns[-1])


def codec(columns):
    """Return the maximum over all targets, for columns without ties of distances."""
    columns = [column for column in complete(columns) if varies(column)]
    if len(columns) < 2:
        return 0.0
    return max(
        codec_of_target([*columns[:t], *columns[t + 1 :], columns[t]]) for t in range(len(columns))
    )
