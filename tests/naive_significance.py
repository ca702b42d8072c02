"""Slow, obviously right versions of the tests, written from their definition.

Nothing here is shared with the package. A column is a list of numbers, NaN a missing cell.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import naive_chance

FIRST_LOOK = 32
LOOKS = 100
LEAST_INCREMENT = 1e-6
SPENT = Fraction(1, 1000)
HALF_SPENT_AT = 1000


# ---------------------------------------------------------------- p-values


def as_high(value, observed):
    """At least as high, where values closer than 1e-9 (of what is above 1) are equal."""
    return value >= observed - 1e-9 * max(1.0, abs(observed))


def pvalue(observed, null):
    """How often chance did as well, the observed table being one of the draws."""
    return Fraction(1 + sum(as_high(value, observed) for value in null), 1 + len(null))


def pvalues_so_far(observed, null):
    """The same after every single draw."""
    return [pvalue(observed, null[:n]) for n in range(len(null) + 1)]


# ---------------------------------------------------------------- all arrangements


def arrangements(column):
    """Every way to put the cells of a column in rows, as tuples; a missing cell is None."""
    cells = [None if x != x else x for x in column]
    return set(permutations(cells))


def as_column(arrangement):
    return [math.nan if x is None else x for x in arrangement]


def which_stays(columns, target=None):
    """Columns that need not be moved: the one with most arrangements, or all but the target."""
    if target is not None:
        return [c for c in range(len(columns)) if c != target]
    ways = [len(arrangements(column)) for column in columns]
    return [ways.index(max(ways))]


def all_tables(columns, target=None):
    """Every table that there is under the null hypothesis, the observed one included."""
    stays = which_stays(columns, target)
    ways = [
        [tuple(column)] if c in stays else sorted(arrangements(column), key=repr)
        for c, column in enumerate(columns)
    ]
    return [[as_column(chosen) for chosen in table] for table in product(*ways)]


def exact_pvalue(columns, statistic, target=None):
    """The share of all tables whose statistic is as high as that of the observed one."""
    observed = statistic(columns)
    values = [statistic(table) for table in all_tables(columns, target)]
    return Fraction(sum(as_high(value, observed) for value in values), len(values))


# ---------------------------------------------------------------- sequential stopping


def may_spend(n):
    return SPENT * n / (HALF_SPENT_AT + n)


@cache
def boundaries(most, level, go_on=False):
    """Lower and upper boundary after 0 .. most permutations: stop at or beyond them.

    Under Binomial(n, level) each is hit by n with a probability of at most ``may_spend(n)``, and
    is as near as that allows. With ``go_on`` there is no lower one (it is -1). From 200
    permutations on only every second is looked at, from 300 on every third, and so on.
    """
    level = Fraction(level)
    going = {0: Fraction(1)}  # how likely the count is this, not having stopped before
    spent_low = spent_high = Fraction(0)
    found = [(-1, 1)]
    for n in range(1, most + 1):
        after = dict.fromkeys(range(n + 1), Fraction(0))
        for count, chance in going.items():
            after[count + 1] += chance * level
            after[count] += chance * (1 - level)
        low, high = found[-1][0], found[-1][1] + 1  # nothing can be beyond them
        if n >= FIRST_LOOK and n % max(1, n // LOOKS) == 0:
            low, high = -1, n + 1
            while high > 0 and spent_high + after[high - 1] <= may_spend(n):
                high -= 1
                spent_high += after[high]
            while not go_on and low < n and spent_low + after[low + 1] <= may_spend(n):
                low += 1
                spent_low += after[low]
        going = {count: chance for count, chance in after.items() if low < count < high}
        found.append((low, high))
    return tuple(found)


def stops(most, limits):
    """How likely a test stops at (n, count) if the count is uniform: Polya's urn."""
    going = {0: Fraction(1)}
    found = {}
    for n in range(1, most + 1):
        after = dict.fromkeys(range(n + 1), Fraction(0))
        for count, chance in going.items():
            up = Fraction(count + 1, n + 1)
            after[count + 1] += chance * up
            after[count] += chance * (1 - up)
        low, high = limits[n]
        going = {}
        for count, chance in after.items():
            if chance == 0:
                continue
            if n == most or count <= low or count >= high:
                found[n, count] = chance
            else:
                going[count] = chance
    return found


def how_extreme(place, most, limits):
    """A key to sort places by: lower boundary, the earlier the first; the end; the upper one."""
    n, count = place
    low, high = limits[n]
    if count <= low:
        return (0, n, count)
    if count >= high:
        return (2, -n, count)
    assert n == most
    return (1, n, count)


@cache
def stopping_pvalues(most, limits):
    """The p-value of every place at which a test can stop."""
    found = stops(most, limits)
    order = sorted(found, key=lambda place: how_extreme(place, most, limits))
    return {
        place: sum(found[other] for other in order[: at + 1]) for at, place in enumerate(order)
    }


def run_until_stopped(reached, most, limits):
    """(n, count) where a test stops, ``reached`` telling of each permutation if it counts."""
    count = 0
    for n in range(1, most + 1):
        count += reached[n - 1]
        low, high = limits[n]
        if count <= low or count >= high:
            return n, count
    return most, count


# ---------------------------------------------------------------- many tests


def benjamini_hochberg(pvalues):
    """The smallest false discovery rate at which each is rejected."""
    m = len(pvalues)
    found = []
    for p in pvalues:
        larger = [other for other in pvalues if other >= p]
        rates = [other * m / sum(each <= other for each in pvalues) for other in larger]
        found.append(min([*rates, 1]))
    return found


def besag_clifford(observed, null, hits, most):
    """Draw until ``hits`` are as high: their share of what was drawn; else one more of one more.

    ``null`` is drawn in this order; at most ``most`` of it.
    """
    count = 0
    for n, value in enumerate(null[:most], start=1):
        count += as_high(value, observed)
        if count == hits:
            return Fraction(hits, n)
    return Fraction(1 + count, 1 + most)


def family_hits(most):
    """How often the best set is reached before no more tables are searched."""
    return max(math.floor(Fraction(5, 100) * (most + 1)), 1)


def tables_needed(best, maxima, most):
    """How many shuffled tables are searched until the best set was reached often enough."""
    hits = family_hits(most)
    for n in range(1, most + 1):
        if sum(as_high(value, best) for value in maxima[:n]) >= hits:
            return n
    return most


def family_pvalues(scores, maxima, most):
    """Of every set: how often the best of a whole search on a shuffled table is as good."""
    return [besag_clifford(score, maxima, family_hits(most), most) for score in scores]


def qvalues(scores, pvalues, adds_nothing, null_scores, scored):
    """Of every reported set, from the scores of all sets in all shuffled searches."""
    found = []
    for score, own in zip(scores, pvalues, strict=True):
        rates = []
        for other in scores:
            if other > score:
                continue
            rank = sum(
                as_high(each, other) and not nothing
                for each, nothing in zip(scores, adds_nothing, strict=True)
            )
            # Where none of them adds anything, they count as one.
            rates.append(pvalue(other, null_scores) * scored / max(rank, 1))
        found.append(max(min([*rates, 1]), own))
    return found


# ---------------------------------------------------------------- what a grid tells


def raw_gain(target, binned):
    """What cells explain of a target beyond chance, as a share of all there is; 0 if nothing is.

    And their degrees of freedom.
    """
    steps = naive_chance.ladder(target)
    if steps.entropy == 0:
        return 0.0, 0.0
    parts = naive_chance.cells(target, binned)
    n, h = steps.n, steps.entropy
    within = sum(len(c) / n * naive_chance.entropy_of_rows(steps, c) for c in parts)
    chance = sum(len(c) / n * (h - naive_chance.expected_entropy(steps, len(c))) for c in parts)
    freedom = sum((1 - len(c) / n) * (1 + 2 / len(c)) for c in parts if len(c) >= 2)
    freedom = max(freedom, 1.0) if freedom > naive_chance.NOTHING else 0.0
    return (h - within - chance) / h, freedom


def log_mean_exp(values):
    return math.log(math.fsum(math.exp(x) for x in values) / len(values))


# ---------------------------------------------------------------- evidence

# Bins on a column, whether what is explained is folded, weight, and standard deviation.
OF_PAIRS = (
    ((2, 3, 4), False, 0.6, 1.75),
    ((8, 12, 16), False, 0.2, 1.55),
    ((4, 6, 8), True, 0.15, 1.5),
    ((24, 32, 48, 64, 96, 128, 192), False, 0.05, 1.4),
)
OF_TRIPLES = (
    ((2,), False, 0.5, 1.0),
    ((3, 4, 6), False, 0.45, 1.0),
    ((8, 12, 16, 24), False, 0.05, 1.0),
)


def folded(column):
    """How far from the middle every value is, by ranks."""
    ranks = naive_chance.mid_ranks(column)
    n = sum(r == r for r in ranks)
    return [abs(r - (n + 1) / 2) for r in ranks]


def told(target, given, view):
    """The mean of the standardised gains of the grids of a view, in standard deviations."""
    bins_of, fold, _, _ = view
    usable = [n for n in naive_chance.sizes(len(target), len(given)) if n in bins_of]
    if fold:
        target = folded(target)
    if not usable or naive_chance.ladder(target).entropy == 0:
        return 0.0
    shape = naive_chance.null_shape(naive_chance.ladder(target))
    gains = [
        raw_gain(target, [naive_chance.bins(column, size) for column in given]) for size in usable
    ]
    spreads = [shape.unit * math.sqrt(f * shape.variance) for _, f in gains]
    standard = [e / s if s > 0 else 0.0 for (e, _), s in zip(gains, spreads, strict=True)]
    # How grids correlate: a coarser one sees a part of what a finer one sees.
    alike = [math.sqrt(min(f, g) / max(f, g, 1.0)) for _, f in gains for _, g in gains]
    variance = max(math.fsum(alike) / len(gains) ** 2, 1 / len(gains))
    return math.fsum(standard) / len(gains) / math.sqrt(variance)


def combined(lines, views):
    """The log of the mean over relations of the weighted sum over views of exp."""
    return math.log(
        math.fsum(
            weight * math.exp(value / spread)
            for line in lines
            for value, (_, _, weight, spread) in zip(line, views, strict=True)
        )
        / len(lines)
    )


def evidence(columns, target=None, max_given=2):
    """How far what columns explain of each other, or of a target, is out of what chance does."""
    vary = [c for c, column in enumerate(columns) if naive_chance.varies(column)]
    pairs = [pair for pair in combinations(vary, 2) if target is None or target in pair]
    if not pairs:
        return 0.0

    def way(to, *by):
        views = OF_PAIRS if len(by) == 1 else OF_TRIPLES
        return [told(columns[to], [columns[c] for c in by], view) for view in views]

    lines = [[x + y for x, y in zip(way(a, b), way(b, a), strict=True)] for a, b in pairs]
    found = combined(lines, OF_PAIRS)
    if len(vary) > 2 and max_given == 2:
        lines = [
            way(to, *by)
            for to in vary
            if target is None or to == target
            for by in combinations([c for c in vary if c != to], 2)
        ]
        found = log_mean_exp([found, combined(lines, OF_TRIPLES)])
    return found


# ---------------------------------------------------------------- does every column add something?

FAMILY = naive_chance.FAMILIES[0]


def grid_sizes(n_rows, n_columns):
    """2, 4, 8, .. bins on each column, as long as there are 6 rows for a cell."""
    fit = [n for n in FAMILY if n**n_columns * naive_chance.ROWS_PER_CELL <= n_rows]
    return fit or [2]


def gains(target, columns):
    """What each grid along all these columns explains of the target, the coarsest first."""
    return [
        raw_gain(target, [naive_chance.bins(column, size) for column in columns])[0]
        for size in grid_sizes(len(target), len(columns))
    ]


def finest_cells(columns):
    """The cell of every row in the finest grid along these columns."""
    size = grid_sizes(len(columns[0]), len(columns))[-1]
    return list(zip(*[naive_chance.bins(column, size) for column in columns], strict=True))


def nothing_gained(last, others):
    """For each of the others: is what all explain no more than what those without it explain?"""
    best = max(gains(last, others))
    without = [[o for at, o in enumerate(others) if at != spared] for spared in range(len(others))]
    return [best - max(gains(last, rest)) for rest in without]


def standardised(values):
    """Of observed and permuted ones: how many standard deviations above their mean each is."""
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / len(values))
    return [(x - mean) / spread if spread > 1e-15 else 0.0 for x in values]


def standing_out(lines):
    """The statistic of every table, observed first; lines[table][grid]."""
    by_grid = [standardised(list(each)) for each in zip(*lines, strict=True)]
    return [log_mean_exp(each) for each in zip(*by_grid, strict=True)]


def spared_statistics(last, spared, rest, moved_lasts):
    """The statistic as observed, and of each table in which the last column was moved."""
    return standing_out(
        [gains(each, [*rest, spared]) + gains(spared, [*rest, each]) for each in moved_lasts]
    )


def largest_of(pvalues, n_searched, size):
    """Every column has to add something: the largest p-value, times the columns to choose from."""
    return min(1, max(pvalues) * (n_searched - size + 1))
