"""Naive versions of UDS and of the search, written from the paper.

Nguyen, Mandros, Vreeken: Universal Dependency Analysis, SDM 2016. This module shares no code with
the package and is not optimised. Rows are lists of indices, and NaN is a missing cell.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations

TOLERANCE = 1e-12


def is_missing(x):
    return x != x


def cumulative_entropy(values):
    """Return h(X) = -sum_{i=1}^{m-1} (x_{i+1} - x_i) (i/m) log(i/m), see Section 3.1."""
    x = sorted(v for v in values if not is_missing(v))
    m = len(x)
    return -sum((x[i] - x[i - 1]) * (i / m) * math.log(i / m) for i in range(1, m))


def initial_bins(values, beta):
    """Return equal-frequency bins over the distinct values, as lists of rows."""
    rows_of = {}
    for row, value in enumerate(values):
        if not is_missing(value):
            rows_of.setdefault(value, []).append(row)
    left = sum(len(rows) for rows in rows_of.values())
    target = left // beta
    bins = []
    current = []
    for value in sorted(rows_of):
        copies = len(rows_of[value])
        if current and abs(len(current) + copies - target) >= abs(len(current) - target):
            bins.append(current)
            left -= len(current)
            current = []
            target = left // (beta - len(bins))
        current = current + rows_of[value]
    if current:
        bins.append(current)
    return bins


def conditional_entropy(target, cells):
    """Return the sum over cells of |cell| / m times h(X' | cell), see Section 5."""
    m = sum(len(cell) for cell in cells)
    return sum(len(cell) / m * cumulative_entropy([target[r] for r in cell]) for cell in cells)


def joint_entropy(cells):
    """Return the Shannon entropy of the cells."""
    m = sum(len(cell) for cell in cells)
    return -sum(len(cell) / m * math.log(len(cell) / m) for cell in cells)


def cut(cubes, parts):
    """Return the non-empty intersections of cubes and parts, all as lists of rows."""
    cells = []
    for cube in cubes:
        for part in parts:
            inside = set(part)
            cell = [row for row in cube if row in inside]
            if cell:
                cells.append(cell)
    return cells


def optimal_discretizations(target, cubes, bins):
    """Return, for each number of parts, the ends of the optimal partition (Algorithm 1).

    Costs are tied if they differ by less than 1e-12 of the total cost of the target. Among tied
    splits the leftmost wins.
    """
    beta = len(bins)
    m = sum(len(cube) for cube in cubes)
    slack = TOLERANCE * m * cumulative_entropy([target[r] for cube in cubes for r in cube])
    s = [sum(len(b) for b in bins[: i + 1]) for i in range(beta)]  # lines 6-8

    def f(j, i):  # lines 9-11
        union = [row for b in bins[j : i + 1] for row in b]
        return conditional_entropy(target, cut(cubes, [union]))

    costs = {(j, i): f(j, i) for i in range(beta) for j in range(i + 1)}
    val = {(1, i): costs[0, i] for i in range(beta)}  # lines 12-14
    ends = {(1, i): [i] for i in range(beta)}
    for parts in range(2, beta + 1):  # lines 15-22
        for i in range(parts - 1, beta):
            best = None
            for j in range(parts - 2, i):
                omega = (s[i] - s[j]) / s[i] * costs[j + 1, i] + s[j] / s[i] * val[parts - 1, j]
                if best is None or omega * s[i] < best * s[i] - slack:
                    best = omega
                    at = j
            val[parts, i] = best
            ends[parts, i] = [*ends[parts - 1, at], i]
    return [ends[parts, beta - 1] for parts in range(1, beta + 1)]


def merged(bins, ends):
    """Return the rows of each part of a partition of the bins."""
    parts = []
    start = 0
    for end in ends:
        parts.append([row for b in bins[start : end + 1] for row in b])
        start = end + 1
    return parts


def step(target, condition, cubes, parts_before, beta, regularize):
    """Return h(target | cubes, discretised condition), the ends of the parts, and the new cubes.

    Rows with a missing condition form a bin that is never merged. Rows with a missing target do
    not influence the partition, but belong to the new cubes.

    Parameters
    ----------
    cubes : lists of rows
    parts_before : the numbers of bins of the previous columns

    """
    bins = initial_bins(condition, beta)
    missing = [row for row in range(len(target)) if is_missing(condition[row])]
    usable = [[row for row in cube if not is_missing(target[row])] for cube in cubes]
    usable = [cube for cube in usable if cube]
    h = cumulative_entropy(target)
    ends = [len(bins) - 1] if bins else []
    if h > 0 and bins:
        usable_rows = {row for cube in usable for row in cube}
        usable_bins = [[row for row in b if row in usable_rows] for b in bins]
        candidates = []
        present = [[row for row in cube if not is_missing(condition[row])] for cube in usable]
        present = [cube for cube in present if cube]
        if present:
            for choice in _discretizations(target, present, usable_bins, h * len(usable_rows)):
                cells = cut(usable, [*merged(usable_bins, choice), missing])
                cost = conditional_entropy(target, cells) / h
                if regularize:
                    log_cells = math.log(len(bins) + bool(missing)) + sum(
                        map(math.log, parts_before)
                    )
                    cost += joint_entropy(cells) / log_cells if log_cells > 0 else 0
                candidates.append((cost, choice))
            best = math.inf
            for cost, choice in candidates:
                if cost < best - TOLERANCE:
                    best, ends = cost, choice
    cells = cut(usable, [*merged(bins, ends), missing])
    conditional = conditional_entropy(target, cells) if cells else 0.0
    return conditional, ends, cut(cubes, [*merged(bins, ends), missing])


def _discretizations(target, cubes, bins, whole):
    """Return the result of Algorithm 1. Some bins may have no row with a target.

    An empty bin costs nothing in each interval, but still counts as a bin.
    """
    if all(bins):
        return optimal_discretizations(target, cubes, bins)
    return _discretizations_with_empty_bins(target, cubes, bins, whole)


def _discretizations_with_empty_bins(target, cubes, bins, whole):
    """Return the result of Algorithm 1 with costs that are not divided by counts."""
    beta = len(bins)
    slack = TOLERANCE * whole

    def cost(j, i):
        union = [row for b in bins[j : i + 1] for row in b]
        cells = cut(cubes, [union])
        return conditional_entropy(target, cells) * len(union) if cells else 0.0

    costs = {(j, i): cost(j, i) for i in range(beta) for j in range(i + 1)}
    val = {(1, i): costs[0, i] for i in range(beta)}
    ends = {(1, i): [i] for i in range(beta)}
    for parts in range(2, beta + 1):
        for i in range(parts - 1, beta):
            best = math.inf
            for j in range(parts - 2, i):
                total = val[parts - 1, j] + costs[j + 1, i]
                if total < best - slack:
                    best, at = total, j
            val[parts, i] = best
            ends[parts, i] = [*ends[parts - 1, at], i]
    return [ends[parts, beta - 1] for parts in range(1, beta + 1)]


def all_partitions(n_bins, parts):
    """Return all partitions of bins 0 .. n_bins - 1 into ``parts`` parts, as lists of ends."""
    return [[*inner, n_bins - 1] for inner in combinations(range(n_bins - 1), parts - 1)]


def uds_of_order(columns, beta=20, regularize=True, scale="range"):
    """Return the score of Eq. 4 for a given order, and (explained fraction, ends) of each step."""
    weights = [entropy_weight(column, scale) for column in columns]
    cubes = [list(range(len(columns[0])))]
    parts_before = []
    gain = total = 0.0
    steps = []
    for position in range(1, len(columns)):
        target, condition = columns[position], columns[position - 1]
        conditional, ends, cubes = step(target, condition, cubes, parts_before, beta, regularize)
        parts_before.append(len(ends) + any(map(is_missing, condition)))
        h = cumulative_entropy(target)
        explained = 1 - conditional / h if h > 0 else 0.0
        gain += weights[position] * explained
        total += weights[position]
        steps.append((explained, ends))
    return (gain / total if total > 0 else 0.0), steps


def entropy_weight(column, scale):
    """Return the entropy, divided by the range of the values if ``scale`` is "range"."""
    h = cumulative_entropy(column)
    present = [x for x in column if not is_missing(x)]
    if scale is None or h == 0:
        return h
    return h / (max(present) - min(present))


def uds(columns, beta=20, regularize=True, scale=None):
    """Return practical UDS (Definition 3). Columns of equal entropy keep their order."""
    order = sorted(range(len(columns)), key=lambda c: -entropy_weight(columns[c], scale))
    return uds_of_order([columns[c] for c in order], beta, regularize, scale)[0]


def uds_exact(columns, beta=20, regularize=True, scale="range"):
    """Return the maximum over all orders (Definition 2)."""
    return max(
        uds_of_order(list(order), beta, regularize, scale)[0] for order in permutations(columns)
    )


def explained(target, others, beta=20, regularize=True):
    """Return the explained fraction of the target. Conditions are added by descending entropy."""
    h = cumulative_entropy(target)
    if h == 0:
        return 0.0
    cubes = [list(range(len(target)))]
    parts_before = []
    for condition in sorted(others, key=lambda column: -entropy_weight(column, "range")):
        conditional, ends, cubes = step(target, condition, cubes, parts_before, beta, regularize)
        parts_before.append(len(ends) + any(map(is_missing, condition)))
    return 1 - conditional / h


def beam_search(columns, score, beam, max_size, all_parents=True, fixed=(), every=0, place=int):
    """Return the score of each set that a beam search scores. Sets are sorted tuples.

    Each set contains the ``fixed`` columns. Among sets of equal score, the first ones are kept, in
    the order of the places of their columns. Sizes with at most ``every`` sets are scored
    completely.
    """
    scored = {}
    size = 2
    level = [tuple(sorted((*fixed, *free))) for free in combinations(columns, 2 - len(fixed))]
    while size <= max_size:
        scores = {columns: score(columns) for columns in sorted(level)}
        scored.update(scores)
        kept = sorted(scores, key=lambda columns: (-scores[columns], sorted(map(place, columns))))[
            :beam
        ]
        level = set()
        for candidate in {tuple(sorted({*a, c})) for a in kept for c in columns if c not in a}:
            parents = [tuple(x for x in candidate if x != c) for c in candidate if c not in fixed]
            in_beam = [parent in kept for parent in parents]
            if len(candidate) <= max_size and (all(in_beam) if all_parents else any(in_beam)):
                level.add(candidate)
        size += 1
        all_sets = list(combinations(columns, size - len(fixed)))
        if size <= max_size and len(all_sets) <= every:
            level = {tuple(sorted((*fixed, *free))) for free in all_sets}
    return scored


def ranked(scored, place=lambda column: column):
    """Return the sets by descending score, then ascending size, then places of columns."""
    return sorted(
        scored.items(), key=lambda item: (-item[1], len(item[0]), sorted(map(place, item[0])))
    )


def without_subsets(scored):
    """Return the sets without those that have a superset with at least the same score."""
    return {
        columns: score
        for columns, score in scored.items()
        if not any(set(other) > set(columns) and scored[other] >= score for other in scored)
    }


def without_supersets(scored):
    """Return the sets without those that have a subset with at least the same score."""
    return {
        columns: score
        for columns, score in scored.items()
        if not any(set(other) < set(columns) and scored[other] >= score for other in scored)
    }


def maximal_cliques(edges, n_columns):
    """Return all maximal cliques of at least three columns."""
    cliques = [
        columns
        for size in range(3, n_columns + 1)
        for columns in combinations(range(n_columns), size)
        if all(pair in edges for pair in combinations(columns, 2))
    ]
    return [c for c in cliques if not any(set(c) < set(other) for other in cliques)]


def description_length(cliques, n_columns):
    """Return the bits to encode the union of cliques, and the columns missing in each clique."""
    union = len(set().union(*cliques))
    bits = math.log2(n_columns) + math.log2(math.comb(n_columns, union))
    return bits + sum((1 + union - len(clique)) * math.log2(union) for clique in cliques)


def merged_cliques(cliques, n_columns, max_size):
    """Return unions of cliques. Each clique, by size, joins the group that adds fewest bits."""
    groups = []
    for clique in sorted(cliques, key=lambda clique: (-len(clique), clique)):
        best, best_group = description_length([clique], n_columns), None
        for group in groups:
            together = [*group, clique]
            union = set().union(*together)
            if not set(clique) & set().union(*group) or len(union) > max_size:
                continue
            more = description_length(together, n_columns) - description_length(group, n_columns)
            if more < best:
                best, best_group = more, group
        if best_group is None:
            groups.append([clique])
        else:
            best_group.append(clique)
    return [tuple(sorted(set().union(*group))) for group in groups]
