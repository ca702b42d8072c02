"""Naive versions of the significance tests, written from their definitions.

This module shares no code with the package. A column is a list of numbers, and NaN is a missing
cell.
"""

from __future__ import annotations

import math
import statistics
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


def tail_probability(sample, value):
    """Return the probability of a value: the share of values as large if these are ten or more.

    Beyond, it is the largest probability of the Pareto tails fitted to the largest 5 % and 1 %,
    but at most that of ten values. The tail of 1 % counts if it has 40 values or more.
    """
    n = len(sample)
    number = sum(each >= value - 1e-9 * abs(value) for each in sample)
    numbers = [min(max(int(0.05 * n), 1), n)]
    if int(0.01 * n) >= 40:
        numbers.append(int(0.01 * n))
    tails = [pareto_tail(sample, k, value) for k in numbers]
    fitted = [tail for tail in tails if tail is not None]
    if number >= 10 or not fitted:
        return (1 + number) / (1 + n)
    return min(max(*fitted, number / (1 + n)), 11 / (1 + n))


def pareto_tail(sample, k, value):
    """Return the probability of a value by a Pareto tail of the k largest values.

    The tail is fitted by probability-weighted moments (Hosking and Wallis). Its shape is between 0
    and 1; without a mean, its scale is the median excess. None if the k values are equal.
    """
    n = len(sample)
    largest = sorted(sample)[n - k :]
    excesses = [each - largest[0] for each in largest]
    mean = sum(excesses) / k
    weighted = sum((k - i + 0.35) / k * each for i, each in enumerate(excesses, start=1)) / k
    if mean <= 0:
        return None
    shape = 0.0
    if mean > 2 * weighted > 0:
        shape = max(2 - mean / (mean - 2 * weighted), 0.0)
    scale = mean * (1 - shape)
    if shape >= 1:
        shape, scale = 1.0, statistics.median(excesses)
    if scale <= 0:
        return None
    excess = max((value - largest[0]) / scale, 0.0)
    if shape == 0:
        return k / n * math.exp(-excess)
    return k / n * (1 + shape * excess) ** (-1 / shape)


def with_subsets(own, level):
    """Return, by set, the expected number of false sets; those of subsets count as well.

    A set with a subset at or below the level has the smallest number of its subsets.
    """
    found = {}
    for columns in sorted(own, key=len):
        within = [found[each] for each in found if set(each) < set(columns)]
        significant = [value for value in within if value <= level]
        found[columns] = min(significant or [*within, own[columns]])
    return found


def family_pvalues(expected, pvalues):
    """Return the expected numbers of false sets as p-values, not below those of single sets."""
    return [max(min(e, 1), 1e-6, p) for e, p in zip(expected, pvalues, strict=True)]


def qvalues(expected, pvalues, adds_nothing):
    """Return the smallest share of false sets of all lists that end at or after each set."""
    values = []
    for own, p in zip(expected, pvalues, strict=True):
        rates = []
        for limit in expected:
            if limit >= own:
                rank = sum(
                    each <= limit and not nothing
                    for each, nothing in zip(expected, adds_nothing, strict=True)
                )
                rates.append(limit / max(rank, 1))
        values.append(max(min([*rates, 1]), 1e-6, p))
    return values


def largest_of(pvalues, n_searched, size):
    """Return the largest p-value, times the number of columns that could have been added."""
    return min(1, max(pvalues) * (n_searched - size + 1))
