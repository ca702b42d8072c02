"""A naive version of conditional evidence and of increments, written from their definitions.

This module shares no code with the package. A column is a list of numbers, or a `Nominal` list of
levels, and NaN is a missing cell. Random numbers are arguments.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import naive_chance
import naive_evidence
from naive_chance import is_missing, is_nominal, level_counts
from naive_evidence import NOT_AVAILABLE, Standard, inverse_probability

MOST_TERMS = 256
MOST_DEGREE = 64
PER_FACTOR = Fraction(3, 10)
LARGEST_PENALTY, SMALLEST_PENALTY = 10.0, 10**-6.5
DECIMALS = 9
ROWS_OF_CELLS = 16
MOST_INDICATORS = 8
NOTHING = 1e-9


# ---------------------------------------------------------------- functions of ranks


def quantiles(column):
    """Return the normal quantile of each mid-rank."""
    ranks = np.array(naive_chance.mid_ranks(column))
    return norm.ppf((ranks - 0.5) / len(column)).tolist()


def standardised(values):
    """Return values with mean 0 and variance 1; 0 if they are all equal."""
    mean = math.fsum(values) / len(values)
    variance = math.fsum((x - mean) ** 2 for x in values) / len(values)
    if variance < NOTHING**2:
        return [0.0] * len(values)
    return [(x - mean) / math.sqrt(variance) for x in values]


def normal_scores(column):
    return standardised(quantiles(column))


def cosine(column, half_periods):
    """Return a cosine along the column, which is stretched in the middle."""
    along = norm.cdf(np.array(quantiles(column)) / 2).tolist()
    low, high = min(along), max(along)
    if low == high:
        return [0.0] * len(column)
    return standardised(
        [math.cos(math.pi * half_periods * (x - low) / (high - low)) for x in along]
    )


@naive_chance.memoize
def function(column, degree):
    """Return the function of a column with this degree."""
    return normal_scores(column) if degree == 1 else cosine(column, degree)


def indicators(column, most):
    """Return the column itself, or which rows have each of the most frequent levels.

    Of equally frequent levels, those with smaller numbers come first.
    """
    if not is_nominal(column):
        return [column]
    counts = level_counts(column)
    frequent = sorted(counts, key=lambda level: (-counts[level], level))[:most]
    return [[float(x == level) for x in column] for level in frequent]


# ---------------------------------------------------------------- terms


def prior_variance(degrees, n_columns):
    """Return the exact prior variance of a product of functions of these degrees."""
    per_factor = min(PER_FACTOR, Fraction(1, max(n_columns, 1)))
    return per_factor ** (len(degrees) - 1) / Fraction(math.prod(degrees)) ** 3


@cache
def all_products(n_levels):
    """Return all products of at most three functions of different columns, with their degrees.

    Each is ({(column, function), ..}, degrees). The functions of an ordered column are numbered by
    their degrees. A nominal column has a function of degree 1 for each level.
    """
    functions = [
        [(column, level, 1) for level in range(1, n + 1)]
        if n > 0
        else [(column, degree, degree) for degree in range(1, MOST_DEGREE + 1)]
        for column, n in enumerate(n_levels)
    ]
    return [
        (frozenset((c, f) for c, f, _ in chosen), tuple(sorted(d for *_, d in chosen)))
        for n_factors in (1, 2, 3)
        for columns in combinations(functions, n_factors)
        for chosen in product(*columns)
        if math.prod(d for *_, d in chosen) <= MOST_DEGREE
    ]


def terms(n_levels, n_further, most, most_factors=3):
    """Return the terms with the largest prior variances, as {factors: variance}.

    Products with the same degrees are taken together, until the next ones are too many. Functions
    of the further columns are not multiplied.

    Parameters
    ----------
    n_levels : of each column, the number of levels that have a function; 0 if it is ordered
    """
    n_columns = len(n_levels)
    by_degrees = {}
    for factors, degrees in all_products(tuple(n_levels)):
        if len(factors) <= most_factors:
            by_degrees.setdefault(degrees, []).append(factors)
    for degree in range(1, MOST_DEGREE + 1):
        further = [frozenset([(n_columns + at, degree)]) for at in range(n_further)]
        by_degrees.setdefault((degree,), []).extend(further)
    chosen = {}
    for degrees in sorted(by_degrees, key=lambda d: (-prior_variance(d, n_columns), d)):
        same = by_degrees[degrees]
        if len(chosen) + len(same) > most and degrees != (1,):
            break
        chosen |= dict.fromkeys(same, prior_variance(degrees, n_columns))
    return chosen


def design(columns, further, n_rows, most_factors=3):
    """Return the terms, each a list with one value per row, scaled by their prior deviations."""
    most = min(MOST_TERMS, n_rows // 2)
    most_levels = most // (1 + sum(map(is_nominal, columns)))
    levels = [indicators(each, most_levels) if is_nominal(each) else [] for each in columns]
    every = [*columns, *further]

    def values(column, number):
        if column < len(columns) and levels[column]:
            return normal_scores(levels[column][number - 1])
        return function(every[column], number)

    found = []
    for factors, variance in terms(
        [len(each) for each in levels], len(further), most, most_factors
    ).items():
        functions = [values(*factor) for factor in factors]
        found.append(
            [math.sqrt(variance) * math.prod(row) for row in zip(*functions, strict=True)]
        )
    return found


# ---------------------------------------------------------------- ridge regression


class Ridge(NamedTuple):
    """A regression on the terms of a design, with a spread of each row.

    Coefficients minimise the sum of ((y - intercept - prediction) / spread) ** 2, plus penalty *
    rows * the sum of their squares. The intercept has no penalty.
    """

    design: list
    spread: list
    fraction: float  # of the best penalty, which is used

    def predictors(self):
        """Return intercept and terms divided by the spread, one line per row."""
        rows = np.array([np.ones(len(self.spread)), *self.design]).T
        return rows / np.array(self.spread)[:, None]

    def hat(self, penalty):
        """Return the matrix that maps the values, divided by the spread, to predictions."""
        x = self.predictors()
        if penalty is None:
            x = x[:, :1]
            penalty = 0.0
        penalties = penalty * len(x) * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
        return x @ np.linalg.solve(x.T @ x + penalties, x.T)

    def residuals(self, column, penalty):
        """Return the residuals divided by the spread."""
        values = np.array(column) / np.array(self.spread)
        x = self.predictors()
        if penalty is None:
            x = x[:, :1]
            penalty = 0.0
        # The same as with the hat matrix, but more accurate: penalties are additional rows.
        more = math.sqrt(penalty * len(x)) * np.eye(x.shape[1])[1:]
        target = np.append(values, np.zeros(len(more)))
        coefficients = np.linalg.lstsq(np.vstack([x, more]), target, rcond=None)[0]
        return values - x @ coefficients

    def freedom(self, penalty):
        return float(np.trace(self.hat(penalty)))

    def error(self, column, penalty, freedom):
        """Return the prediction error by generalised cross-validation."""
        square = float(np.mean(self.residuals(column, penalty) ** 2))
        return square / (1 - freedom / len(column)) ** 2

    def penalty(self, column):
        """Return a fraction of the best penalty, or None if the mean predicts best."""
        best = self.least_error(column)[1]
        if best is None:
            return None
        smaller = best * self.fraction
        while self.freedom(smaller) - 1 > len(column) / 2:
            smaller *= 2
        return smaller

    def least_error(self, column):
        """Return the least prediction error of all penalties, and the best penalty.

        The degrees of freedom are at most half of the rows.
        """
        n = len(column)
        factor = (SMALLEST_PENALTY / LARGEST_PENALTY) ** (1 / 15)
        freedoms = {None: 1.0}
        for step in range(16):
            penalty = LARGEST_PENALTY * factor**step
            freedoms[penalty] = self.freedom(penalty)
        possible = {each: freedom for each, freedom in freedoms.items() if freedom <= n / 2}
        errors = {each: self.error(column, each, freedoms[each]) for each in possible}
        best = min(errors, key=lambda each: errors[each])
        return errors[best], best

    def fitted(self, column):
        residuals = self.residuals(column, self.penalty(column))
        return [y - r * s for y, r, s in zip(column, residuals, self.spread, strict=True)]


def rounded(values):
    return [round(float(x), DECIMALS) + 0.0 for x in values]


def is_tied(column):
    """Return whether more than 5 % of the rows, and more than two, have the same value."""
    most = max(column.count(x) for x in column)
    return most > 2 and most > 0.05 * len(column)


class Adjusted(NamedTuple):
    """A column and its residuals given others; `unexplained` is a standard deviation."""

    column: list
    ridge: Ridge
    penalty: float | None
    residuals: list
    fitted: list
    unexplained: float

    def exchanged(self, sources):
        """Return the residuals if each row receives the residual, or tied value, of another."""
        scores = normal_scores(self.column)
        if is_tied(self.column):
            moved = [scores[source] for source in sources]
        else:
            moved = [
                prediction + self.residuals[source] * spread
                for prediction, source, spread in zip(
                    self.fitted, sources, self.ridge.spread, strict=True
                )
            ]
        return rounded(self.ridge.residuals(moved, self.penalty))


def best_ridge(given, further, column):
    """Return the regression with products, or without if its error is 5 % smaller."""
    n = len(column)
    fraction = 0.1 if len(given) < 2 else 0.03
    ridge = Ridge(design(given, further, n), [1.0] * n, fraction)
    if len(given) > 1:
        without = Ridge(design(given, further, n, most_factors=1), [1.0] * n, fraction)
        if without.least_error(column)[0] < 0.95 * ridge.least_error(column)[0]:
            return without
    return ridge


def adjust(columns, given):
    """Return columns without missing cells, and their residuals given columns that vary."""
    scores = [normal_scores(column) for column in columns]
    further = []
    if len(given) > 1:
        predictions = [rounded(best_ridge(given, [], each).fitted(each)) for each in scores]
        further = [each for each in predictions if len(set(each)) > 1]
    adjusted = []
    for column, values in zip(columns, scores, strict=True):
        ridge = best_ridge(given, further, values)
        left = ridge.residuals(values, ridge.penalty(values))
        if not is_tied(column):
            offset = 0.1 * np.mean(np.abs(left)) + 1e-300
            logs = [math.log(abs(r) + offset) for r in left]
            spread = np.exp(best_ridge(given, further, logs).fitted(logs))
            ridge = Ridge(ridge.design, (spread / spread.mean()).tolist(), ridge.fraction)
        penalty = ridge.penalty(values)
        residuals = ridge.residuals(values, penalty)
        fitted = [y - r * s for y, r, s in zip(values, residuals, ridge.spread, strict=True)]
        adjusted.append(
            Adjusted(
                column, ridge, penalty, rounded(residuals), rounded(fitted), float(np.std(left))
            )
        )
    return adjusted


# ---------------------------------------------------------------- exchange


def similar_rows(targets, conditions):
    """Return cells with fewer than 16 rows, as lists of rows.

    They are cells of the only condition, or of the predictions of the target, or its indicators.
    Rows of a cell have the same level of every nominal condition.
    """
    n = len(targets[0].column)
    levels = [each for each in conditions if is_nominal(each)]
    if n < ROWS_OF_CELLS:
        by_levels = {}
        for row in range(n):
            by_levels.setdefault(tuple(each[row] for each in levels), []).append(row)
        return list(by_levels.values())
    along = conditions
    if len(conditions) != 1:
        along = [*(each.fitted for each in targets), *levels]
    return naive_chance.balanced_levels(along, first_order(along))[-3]


def first_order(columns):
    """Return the order in which columns are preferred; of equally good columns, the first."""
    keys = naive_chance.separations(columns)
    return sorted(range(len(columns)), key=lambda c: -keys[c])


def sources_of(cells, numbers):
    """Return the row whose residual each row receives: those of a cell, sorted by numbers."""
    sources = [None] * len(numbers)
    for rows in cells:
        by_number = sorted(rows, key=lambda row: numbers[row])
        for row, source in zip(sorted(rows), by_number, strict=True):
            sources[row] = source
    return sources


# ---------------------------------------------------------------- evidence


def views_of_pair(column, target, like):
    """Return the gains of a pair: by view, of both directions; then the correlations.

    The null distribution of grids is that of another column in place of the target. In the place
    of a skewness, correlations have whether one of the columns has two values.
    """
    gains = []
    for of_grids, views in (
        (True, naive_evidence.GRIDS_OF_PAIRS),
        (False, naive_evidence.NEIGHBOURS),
    ):
        for sizes, fold, *_ in views:
            for explained, condition, null in ((target, column, like), (column, target, column)):
                fold_or_not = naive_evidence.folded if fold else naive_chance.mid_ranks
                ranks = fold_or_not(explained)
                if of_grids:
                    null_ranks = fold_or_not(null)
                    gains.append(naive_evidence.grid_gain(ranks, [condition], sizes, null_ranks))
                else:
                    gains.append(naive_evidence.neighbour_gain(ranks, condition, sizes))
    two_valued = len(set(column)) == 2 or len(set(target)) == 2
    for fold, fold_target in product((naive_chance.mid_ranks, naive_evidence.folded), repeat=2):
        correlation = naive_evidence.correlation(fold(column), fold_target(target))
        gains.append(Standard(correlation, two_valued))
    return gains


def evidence_of_pair(gains):
    """Return the mean of 1 / probability from the gains of a pair."""
    gains = list(gains)
    terms = []
    for _, _, *weights in naive_evidence.GRIDS_OF_PAIRS + naive_evidence.NEIGHBOURS:
        terms.append(naive_evidence.weighted_directions(gains.pop(0), gains.pop(0), *weights))
    all_weights = 1.0
    for folds, (gain, two_valued) in zip(product((0, 1), repeat=2), gains, strict=True):
        weight = naive_evidence.CORRELATIONS[sum(folds)]
        if two_valued and folds[0] == folds[1]:
            all_weights += (naive_evidence.EMPHASIS - 1) * weight
            weight *= naive_evidence.EMPHASIS
        terms.append(weight * math.exp(-math.log(2) - norm.logsf(abs(gain))))
    return math.fsum(terms) / all_weights


def views_of(columns, joint, target, like):
    """Return the gains of each pair, and of the levels of cells over all columns."""
    pairs = [views_of_pair(column, target, like) for column in columns]
    return [*pairs, [naive_evidence.level_gain(target, cells, like) for cells in joint]]


def standardise(views, references):
    """Return views standardised by those of reference copies."""
    result = []
    for at, gains in enumerate(views):
        result.append([])
        for which, (gain, skewness) in enumerate(gains):
            others = [reference[at][which].gain for reference in references]
            others = [other for other in others if other != -math.inf] or [0.0]
            mean, deviation = np.mean(others), np.std(others)
            if gain == -math.inf:
                standard = NOT_AVAILABLE
            elif deviation <= NOTHING:
                standard = Standard(0.0, skewness)
            else:
                standard = Standard((gain - mean) / deviation, skewness)
            result[-1].append(standard)
    return result


def combined(views_of_targets):
    """Return the evidence from standardised views, those of each indicator of the target."""
    of_pairs, of_levels = [], []
    for *pairs, levels in views_of_targets:
        of_pairs += [evidence_of_pair(gains) for gains in pairs]
        inverse = [inverse_probability(each) for each in levels]
        of_levels.append(naive_evidence.mean(inverse or [1.0]))
    return math.log((naive_evidence.mean(of_pairs) + naive_evidence.mean(of_levels)) / 2)


class Test(NamedTuple):
    """All that a conditional test compares: copies of the target's residuals with columns."""

    rows: list  # the complete rows, sorted by all values
    targets: list  # the target, or its indicators
    columns: list  # residuals
    cells: list
    joint: list

    def copy(self, numbers):
        """Return a copy of the residuals of each indicator."""
        sources = sources_of(self.cells, numbers)
        return [each.exchanged(sources) for each in self.targets]

    def views(self, copy):
        """Return the views of each indicator."""
        return [
            views_of(self.columns, self.joint, residuals, target.residuals)
            for residuals, target in zip(copy, self.targets, strict=True)
        ]


def complete_rows(every):
    """Return the rows in which no column is missing, and their columns, both sorted.

    They are sorted by the last column first. Levels are numbered before.
    """
    n_rows = len(every[0])
    rows = [row for row in range(n_rows) if not any(is_missing(each[row]) for each in every)]
    every = numbered([type(each)(each[row] for row in rows) for each in every])
    order = sorted(range(len(rows)), key=lambda at: [each[at] for each in reversed(every)])
    return [rows[at] for at in order], [type(each)(each[at] for at in order) for each in every]


def has_no_order(column):
    return is_nominal(column) or len(set(column)) <= 2


def numbered(every):
    """Return columns whose levels, or two values, are numbered by frequency and by a hash.

    The hash of a level is the sum over its rows of a hash of all other columns. There are two
    rounds. The content of a column is its place. If it has no order, it is the number of rows with
    the same value in the first round, and the hash of the value in the second.
    """
    contents = []
    for column in every:
        counts = Counter(column)
        places = [counts[x] for x in column]
        contents.append(places if has_no_order(column) else naive_chance.places(column))
    for _ in range(2):
        hashes = [
            hashes_of_values(column, contents[:at] + contents[at + 1 :])
            for at, column in enumerate(every)
        ]
        contents = [
            [of_values[x] for x in column] if has_no_order(column) else content
            for column, of_values, content in zip(every, hashes, contents, strict=True)
        ]
    result = []
    for column, of_values in zip(every, hashes, strict=True):
        counts = Counter(column)
        order = sorted(counts, key=lambda x: (-counts[x], of_values[x], x))
        numbers = (float(order.index(x)) for x in column)
        result.append(type(column)(numbers) if has_no_order(column) else column)
    return result


def hashes_of_values(column, others):
    """Return, for each value of a column, the sum over its rows of a hash of other columns."""
    hashes = dict.fromkeys(column, 0)
    for x, *contents in zip(column, *others, strict=True):
        of_row = 0
        for content in contents:
            of_row = splitmix64(of_row ^ (content % 2**64))
        hashes[x] = (hashes[x] + of_row) % 2**64
    return hashes


def splitmix64(number):
    """Return the first output of the generator of Steele, Lea and Flood (2014)."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


def by_content(target, columns, given):
    """Return the columns and the given columns that vary, in an order by their contents."""
    every = [each for each in (target, *columns, *given) if naive_chance.varies(each)]
    keys = naive_chance.separations(every)
    order = [every[c] for c in sorted(range(len(every)), key=lambda c: keys[c])]
    return (
        [each for each in order if any(each is other for other in columns)],
        [each for each in order if any(each is other for other in given)],
    )


def least_rows(given):
    """Return the least number of rows of a test: 8, or 12 per given column."""
    return max(8, 12 * len(given))


def prepare_test(target, columns, given):
    """Return the test, or None if there is nothing to test."""
    columns, given = by_content(target, columns, given)
    rows, (target, *others) = complete_rows([target, *columns, *given])
    columns, given = others[: len(columns)], others[len(columns) :]
    tested = [each for each in columns if naive_chance.varies(each)]
    if len(rows) < least_rows(given) or not tested or not naive_chance.varies(target):
        return None
    conditions = [each for each in given if naive_chance.varies(each)]
    ordered = [each for each in tested if not is_nominal(each)]
    nominal = [each for each in tested if is_nominal(each)]
    of_target = indicators(target, MOST_INDICATORS)
    of_nominal = [some for each in nominal for some in indicators(each, MOST_INDICATORS)]
    adjusted = adjust([*of_target, *ordered, *of_nominal], conditions)

    def undetermined(first, number):
        return [each for each in adjusted[first : first + number] if each.unexplained > 0.01]

    targets = undetermined(0, len(of_target))
    of_ordered = [each.residuals for each in undetermined(len(of_target), len(ordered))]
    last = undetermined(len(of_target) + len(ordered), len(of_nominal))
    residuals = [*of_ordered, *(each.residuals for each in last)]
    if not targets or not residuals:
        return None
    along = [*of_ordered, *(each for each in conditions if not is_nominal(each))]
    along += [each for each in (*nominal, *conditions) if is_nominal(each)]
    joint = naive_chance.balanced_levels(along, first_order(along))
    return Test(rows, targets, residuals, similar_rows(targets, conditions), joint)


def evidence(target, columns, given, reference, permutations=()):
    """Return the observed evidence, and the evidence after permutations.

    Parameters
    ----------
    reference : lists of numbers, one for each complete row, that give the reference copies
    permutations : lists of numbers, one for each row of the table
    """
    test = prepare_test(target, columns, given)
    if test is None:
        return [0.0] * (1 + len(permutations))
    references = [test.views(test.copy(numbers)) for numbers in reference]
    copies = [[each.residuals for each in test.targets]]
    copies += [test.copy([numbers[row] for row in test.rows]) for numbers in permutations]
    found = []
    for copy in copies:
        standardised_views = [
            standardise(views, [reference[at] for reference in references])
            for at, views in enumerate(test.views(copy))
        ]
        found.append(combined(standardised_views))
    return found


# ---------------------------------------------------------------- increments


def pairs_to_test(columns, explained, dependent, target=None):
    """Return the pairs that must depend on each other given the other columns: two sets.

    The pairs of the first set are tested first.

    Parameters
    ----------
    explained : the fraction of each column that the others explain
    dependent : the pairs that depend on each other if nothing is given
    """
    pairs = {frozenset(pair) for pair in combinations(columns, 2)}
    if target is not None:
        return {pair for pair in pairs if target in pair}, set()
    most = max(explained.values())
    nearly_best = {column for column in columns if explained[column] >= 0.75 * most}
    first = {pair for pair in pairs if pair & nearly_best}
    return first, {pair for pair in pairs - first if pair in dependent}


def increment_pvalue(first, then, observed, pvalues):
    """Return the largest p-value of pairs, those with little evidence first.

    After a p-value above 0.2, no more pairs are tested.
    """
    so_far = []
    for pair in sorted(first | then, key=lambda pair: (pair in then, observed[pair])):
        so_far.append(pvalues[pair])
        if so_far[-1] > 0.2:
            break
    return max(so_far)


def roles(pair, columns, given, values):
    """Return tested column, target and given columns of a pair: the target has more values.

    If both have equally many values, it is the column that separates the others of the set best.
    An ordered column is preferred to a nominal one as a target.
    """
    numbers = {c: len({x for x in values[c] if not is_missing(x)}) for c in pair}
    every = [*columns, *given]
    separations = naive_chance.separations([values[c] for c in every])
    tested, target = sorted(
        pair, key=lambda c: (not is_nominal(values[c]), numbers[c], separations[every.index(c)])
    )
    return tested, target, tuple(sorted({*columns, *given} - {tested, target}))
