"""Slow, obviously right versions of everything in `covary.kernels`, written from the paper.

Nguyen, Mandros, Vreeken: Universal Dependency Analysis, SDM 2016. Nothing here is shared with the
package, and nothing here is clever: rows are lists of indices, NaN is a missing cell.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations

TOLERANCE = 1e-12


def is_missing(x):
    return x != x


def cumulative_entropy(values):
    """Section 3.1: h(X) = -sum_{i=1}^{m-1} (x_{i+1} - x_i) (i/m) log(i/m)."""
    x = sorted(v for v in values if not is_missing(v))
    m = len(x)
    return -sum((x[i] - x[i - 1]) * (i / m) * math.log(i / m) for i in range(1, m))


def initial_bins(values, beta):
    """Equal-frequency bins over the distinct values: a list of lists of rows."""
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
    """Section 5: sum over cells of |cell| / m times h(X' | cell)."""
    m = sum(len(cell) for cell in cells)
    return sum(len(cell) / m * cumulative_entropy([target[r] for r in cell]) for cell in cells)


def joint_entropy(cells):
    m = sum(len(cell) for cell in cells)
    return -sum(len(cell) / m * math.log(len(cell) / m) for cell in cells)


def cut(cubes, parts):
    """The non-empty intersections of cubes and parts, both lists of lists of rows."""
    cells = []
    for cube in cubes:
        for part in parts:
            inside = set(part)
            cell = [row for row in cube if row in inside]
            if cell:
                cells.append(cell)
    return cells


def optimal_discretizations(target, cubes, bins):
    """Algorithm 1: for each number of parts, the ends of the best merge of the initial bins.

    Costs that differ by less than a 10^-12th of the target's whole cost are equal: the leftmost
    split wins.
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
    parts = []
    start = 0
    for end in ends:
        parts.append([row for b in bins[start : end + 1] for row in b])
        start = end + 1
    return parts


def step(target, condition, cubes, parts_before, beta, regularize):
    """Discretise the condition for the target: (h(target | ...), ends of parts, new cubes).

    ``cubes`` are lists of rows; ``parts_before`` the numbers of bins of the columns before. Rows
    whose condition is missing form a bin that is never merged; rows whose target is missing take
    no part in choosing, and are cut like the rest.
    """
    bins = initial_bins(condition, beta)
    gap = [row for row in range(len(target)) if is_missing(condition[row])]
    seen = [[row for row in cube if not is_missing(target[row])] for cube in cubes]
    seen = [cube for cube in seen if cube]
    h = cumulative_entropy(target)
    ends = [len(bins) - 1] if bins else []
    if h > 0 and bins:
        seen_rows = {row for cube in seen for row in cube}
        seen_bins = [[row for row in b if row in seen_rows] for b in bins]
        candidates = []
        present = [[row for row in cube if not is_missing(condition[row])] for cube in seen]
        present = [cube for cube in present if cube]
        if present:
            for choice in _discretizations(target, present, seen_bins, h * len(seen_rows)):
                cells = cut(seen, [*merged(seen_bins, choice), gap])
                cost = conditional_entropy(target, cells) / h
                if regularize:
                    log_cells = math.log(len(bins) + bool(gap)) + sum(map(math.log, parts_before))
                    cost += joint_entropy(cells) / log_cells if log_cells > 0 else 0
                candidates.append((cost, choice))
            best = math.inf
            for cost, choice in candidates:
                if cost < best - TOLERANCE:
                    best, ends = cost, choice
    cells = cut(seen, [*merged(bins, ends), gap])
    conditional = conditional_entropy(target, cells) if cells else 0.0
    return conditional, ends, cut(cubes, [*merged(bins, ends), gap])


def _discretizations(target, cubes, bins, whole):
    """Algorithm 1 where some initial bins may hold no row that has a target.

    An empty bin costs nothing wherever it goes; it still is a bin.
    """
    if all(bins):
        return optimal_discretizations(target, cubes, bins)
    return _discretizations_with_empty_bins(target, cubes, bins, whole)


def _discretizations_with_empty_bins(target, cubes, bins, whole):
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
    """Every way to merge bins 0 .. n_bins - 1 into so many parts, as lists of their ends."""
    return [[*inner, n_bins - 1] for inner in combinations(range(n_bins - 1), parts - 1)]


def uds_of_order(columns, beta=20, regularize=True, scale="range"):
    """Eq. 4 for the columns in the order in which they come: (score, ends of every step)."""
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
    h = cumulative_entropy(column)
    present = [x for x in column if not is_missing(x)]
    if scale is None or h == 0:
        return h
    return h / (max(present) - min(present))


def uds(columns, beta=20, regularize=True, scale=None):
    """Definition 3, practical UDS; equal entropies keep the order of the input."""
    order = sorted(range(len(columns)), key=lambda c: -entropy_weight(columns[c], scale))
    return uds_of_order([columns[c] for c in order], beta, regularize, scale)[0]


def uds_exact(columns, beta=20, regularize=True, scale="range"):
    """Definition 2: the maximum over all orders."""
    return max(
        uds_of_order(list(order), beta, regularize, scale)[0] for order in permutations(columns)
    )


def explained(target, others, beta=20, regularize=True):
    """How much of the target others explain: each is cut for it in turn, by descending entropy."""
    h = cumulative_entropy(target)
    if h == 0:
        return 0.0
    cubes = [list(range(len(target)))]
    parts_before = []
    for condition in sorted(others, key=lambda column: -entropy_weight(column, "range")):
        conditional, ends, cubes = step(target, condition, cubes, parts_before, beta, regularize)
        parts_before.append(len(ends) + any(map(is_missing, condition)))
    return 1 - conditional / h


def beam_search(columns, score, beam, max_size, all_parents=True, fixed=()):
    """Every set that a beam search scores, with its score; sets are sorted tuples.

    ``fixed`` columns are in every set. Of equal scores the set that comes first is kept.
    """
    found = {}
    level = [tuple(sorted((*fixed, *free))) for free in combinations(columns, 2 - len(fixed))]
    while level:
        scores = {columns: score(columns) for columns in sorted(level)}
        found.update(scores)
        kept = sorted(scores, key=lambda columns: (-scores[columns], columns))[:beam]
        level = set()
        for candidate in {tuple(sorted({*a, c})) for a in kept for c in columns if c not in a}:
            parents = [tuple(x for x in candidate if x != c) for c in candidate if c not in fixed]
            in_beam = [parent in kept for parent in parents]
            if len(candidate) <= max_size and (all(in_beam) if all_parents else any(in_beam)):
                level.add(candidate)
    return found


def ranked(found):
    """Best first; of equal scores the smaller set, then the earlier columns."""
    return sorted(found.items(), key=lambda item: (-item[1], len(item[0]), item[0]))


def without_subsets(found):
    """Drop a set when a superset of it scores at least as high."""
    return {
        columns: score
        for columns, score in found.items()
        if not any(set(other) > set(columns) and found[other] >= score for other in found)
    }


def without_supersets(found):
    """Drop a set when a subset of it scores at least as high."""
    return {
        columns: score
        for columns, score in found.items()
        if not any(set(other) < set(columns) and found[other] >= score for other in found)
    }


def maximal_cliques(edges, n_columns):
    """Every set of three or more columns that are all joined, and that no other column joins."""
    cliques = [
        columns
        for size in range(3, n_columns + 1)
        for columns in combinations(range(n_columns), size)
        if all(pair in edges for pair in combinations(columns, 2))
    ]
    return [c for c in cliques if not any(set(c) < set(other) for other in cliques)]


def description_length(cliques, n_columns):
    """Bits for the union of some cliques, and for the columns that each lacks, one by one."""
    union = len(set().union(*cliques))
    bits = math.log2(n_columns) + math.log2(math.comb(n_columns, union))
    return bits + sum((1 + union - len(clique)) * math.log2(union) for clique in cliques)


def merged_cliques(cliques, n_columns, max_size):
    """Unions of cliques: from the largest on, each joins the group where it adds fewest bits."""
    groups = []
    for clique in sorted(cliques, key=lambda clique: (-len(clique), clique)):
        best, home = description_length([clique], n_columns), None
        for group in groups:
            together = [*group, clique]
            union = set().union(*together)
            if not set(clique) & set().union(*group) or len(union) > max_size:
                continue
            more = description_length(together, n_columns) - description_length(group, n_columns)
            if more < best:
                best, home = more, group
        if home is None:
            groups.append([clique])
        else:
            home.append(clique)
    return [tuple(sorted(set().union(*group))) for group in groups]
