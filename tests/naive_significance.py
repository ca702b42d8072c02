"""Naive versions of the significance tests, written from their definitions.

This module shares no code with the package. A column is a list of numbers, and NaN is a missing
cell.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import permutations, product

FIRST_CHECK = 32
CHECKS_PER_STEP = 100
MAX_SPENT = Fraction(1, 1000)
HALF_SPENT_AT = 1000


# ---------------------------------------------------------------- p-values


def at_least(value, observed):
    """Return whether value >= observed, with a tolerance of 1e-9 (relative above 1)."""
    return value >= observed - 1e-9 * max(1.0, abs(observed))


def pvalue(observed, null):
    """Return the permutation p-value. The observed table counts as one of the draws."""
    return Fraction(1 + sum(at_least(value, observed) for value in null), 1 + len(null))


def pvalues_so_far(observed, null):
    """Return the p-value after each draw."""
    return [pvalue(observed, null[:n]) for n in range(len(null) + 1)]


# ---------------------------------------------------------------- all arrangements


def arrangements(column, missing_stay=False):
    """Return all distinct permutations of a column, as tuples. A missing cell is None.

    Missing cells move as well, unless they stay in their rows.
    """
    cells = [None if x != x else x for x in column]
    every = set(permutations(cells))
    if missing_stay:
        gone = [x is None for x in cells]
        every = {each for each in every if [x is None for x in each] == gone}
    return every


def as_column(arrangement):
    """Return an arrangement as a list, with NaN for missing cells."""
    return [math.nan if x is None else x for x in arrangement]


def fixed_columns(columns, target=None, missing_stay=False):
    """Return the columns that need no permutation.

    These are all columns except the target or, without a target, the one with most arrangements,
    the last of several.
    """
    if target is not None:
        return [c for c in range(len(columns)) if c != target]
    counts = [len(arrangements(column, missing_stay)) for column in columns]
    return [max(range(len(columns)), key=lambda c: (counts[c], c))]


def all_tables(columns, target=None, missing_stay=False):
    """Return all tables under the null hypothesis, including the observed one."""
    fixed = fixed_columns(columns, target, missing_stay)
    choices = [
        [tuple(column)] if c in fixed else sorted(arrangements(column, missing_stay), key=repr)
        for c, column in enumerate(columns)
    ]
    return [[as_column(chosen) for chosen in table] for table in product(*choices)]


def exact_pvalue(columns, statistic, target=None, missing_stay=False):
    """Return the fraction of all tables with at least the observed statistic."""
    observed = statistic(columns)
    values = [statistic(table) for table in all_tables(columns, target, missing_stay)]
    return Fraction(sum(at_least(value, observed) for value in values), len(values))


# ---------------------------------------------------------------- sequential stopping


def spending_limit(n):
    """Return the largest probability of a wrong stop within n permutations."""
    return MAX_SPENT * n / (HALF_SPENT_AT + n)


@cache
def boundaries(most, level, continue_below=False):
    """Return the lower and upper boundary after 0 .. most permutations. Stop at or beyond them.

    Under Binomial(n, level) the probability to hit a boundary within n permutations is at most
    ``spending_limit(n)``. Each boundary is the tightest that satisfies this. With
    ``continue_below`` there is no lower boundary (it is -1). From 200 permutations on, only every
    second permutation is checked, from 300 on every third, and so on.
    """
    level = Fraction(level)
    running = {0: Fraction(1)}  # probability of each count without an earlier stop
    spent_low = spent_high = Fraction(0)
    limits = [(-1, 1)]
    for n in range(1, most + 1):
        after = dict.fromkeys(range(n + 1), Fraction(0))
        for count, probability in running.items():
            after[count + 1] += probability * level
            after[count] += probability * (1 - level)
        low, high = limits[-1][0], limits[-1][1] + 1  # no count can be beyond these
        if n >= FIRST_CHECK and n % max(1, n // CHECKS_PER_STEP) == 0:
            low, high = -1, n + 1
            while high > 0 and spent_high + after[high - 1] <= spending_limit(n):
                high -= 1
                spent_high += after[high]
            while (
                not continue_below and low < n and spent_low + after[low + 1] <= spending_limit(n)
            ):
                low += 1
                spent_low += after[low]
        running = {count: p for count, p in after.items() if low < count < high}
        limits.append((low, high))
    return tuple(limits)


def stops(most, limits):
    """Return the probability to stop at each (n, count) if p is uniform (Polya's urn)."""
    running = {0: Fraction(1)}
    stopped = {}
    for n in range(1, most + 1):
        after = dict.fromkeys(range(n + 1), Fraction(0))
        for count, probability in running.items():
            up = Fraction(count + 1, n + 1)
            after[count + 1] += probability * up
            after[count] += probability * (1 - up)
        low, high = limits[n]
        running = {}
        for count, probability in after.items():
            if probability == 0:
                continue
            if n == most or count <= low or count >= high:
                stopped[n, count] = probability
            else:
                running[count] = probability
    return stopped


def extremeness(stop, most, limits):
    """Return a sort key for stops: lower boundary (early first), the end, upper boundary."""
    n, count = stop
    low, high = limits[n]
    if count <= low:
        return (0, n, count)
    if count >= high:
        return (2, -n, count)
    assert n == most
    return (1, n, count)


@cache
def stopping_pvalues(most, limits):
    """Return the p-value of each (n, count) at which a test can stop."""
    probabilities = stops(most, limits)
    order = sorted(probabilities, key=lambda stop: extremeness(stop, most, limits))
    return {
        stop: sum(probabilities[other] for other in order[: at + 1])
        for at, stop in enumerate(order)
    }


def run_until_stopped(reached, most, limits):
    """Return (n, count) at which a test stops.

    ``reached`` has for each permutation whether its statistic is at least the observed one.
    """
    count = 0
    for n in range(1, most + 1):
        count += reached[n - 1]
        low, high = limits[n]
        if count <= low or count >= high:
            return n, count
    return most, count


# ---------------------------------------------------------------- many tests


def benjamini_hochberg(pvalues):
    """Return the smallest false discovery rate at which each hypothesis is rejected."""
    m = len(pvalues)
    adjusted = []
    for p in pvalues:
        larger = [other for other in pvalues if other >= p]
        rates = [other * m / sum(each <= other for each in pvalues) for other in larger]
        adjusted.append(min([*rates, 1]))
    return adjusted


def besag_clifford(observed, null, hits, most):
    """Return the p-value of a sequential test that stops after ``hits`` values as high.

    It is hits / draws. If ``most`` draws have fewer hits, it is (1 + count) / (1 + most). The
    values of ``null`` are drawn in their order.
    """
    count = 0
    for n, value in enumerate(null[:most], start=1):
        count += at_least(value, observed)
        if count == hits:
            return Fraction(hits, n)
    return Fraction(1 + count, 1 + most)


def family_hits(most):
    """Return the number of shuffled tables with at least the best score that ends the search."""
    return max(math.floor(Fraction(5, 100) * (most + 1)), 1)


def tables_needed(best, maxima, most):
    """Return the number of shuffled tables that are searched."""
    hits = family_hits(most)
    for n in range(1, most + 1):
        if sum(at_least(value, best) for value in maxima[:n]) >= hits:
            return n
    return most


def family_pvalues(scores, maxima, most):
    """Return the family-wise p-value of each set, from the best scores of shuffled searches."""
    return [besag_clifford(score, maxima, family_hits(most), most) for score in scores]


def qvalues(scores, pvalues, adds_nothing, null_scores, scored):
    """Return the q-value of each reported set, from all scores of all shuffled searches."""
    values = []
    for score, own in zip(scores, pvalues, strict=True):
        rates = []
        for other in scores:
            if other > score:
                continue
            rank = sum(
                at_least(each, other) and not nothing
                for each, nothing in zip(scores, adds_nothing, strict=True)
            )
            # If no set adds anything beyond a subset, count one set.
            rates.append(pvalue(other, null_scores) * scored / max(rank, 1))
        values.append(max(min([*rates, 1]), own))
    return values


def largest_of(pvalues, n_searched, size):
    """Return the largest p-value, times the number of columns that could have been added."""
    return min(1, max(pvalues) * (n_searched - size + 1))
