"""Residuals of columns: what remains of them after a regression on given columns.

The regression is a ridge regression on smooth functions of the ranks of the given columns, and of
their products. Residuals are divided by their spread, which is estimated in the same way. So both
the location and the spread of a column are removed.

Everything is computed from ranks: strictly increasing transformations of the columns change
nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np

from covary.array_types import AnyArray, Floats, Integers

# The number of functions is at most this, and at most this fraction of the rows.
MAX_FUNCTIONS = 256
MAX_FRACTION = 0.5
# Functions oscillate up to this many half periods, and products have up to this many factors.
MAX_DEGREE = 64
MAX_FACTORS = 3
# The prior variance of a coefficient is degree ** -ROUGHNESS, and is multiplied by this for every
# further factor (or by 1 / columns, if that is less).
ROUGHNESS = 3.0
PER_FACTOR = 0.3
# Cosines are equally spaced in the normal distribution function of normal scores divided by this.
# They are denser in the middle of a column, but also resolve its tails.
STRETCH = 2.0
# Penalties of the ridge regression, relative to the number of rows.
PENALTIES = tuple(10.0 ** (1.0 - step / 2.0) for step in range(16))
# The penalty is this fraction of the one with the least prediction error, for one given column and
# for several. A larger penalty leaves more of the given columns in the residuals of both columns.
# A smaller one costs degrees of freedom only.
UNDERSMOOTHING, UNDERSMOOTHING_OF_SEVERAL = 0.1, 0.03
MAX_FREEDOM = 0.5
# The spread is the mean of log(|residual| + this fraction of its mean).
SPREAD_OFFSET = 0.1
# Products are left out if the prediction error is less than this fraction without them.
CLEARLY_BETTER = 0.95
TINY = 1e-300
# Residuals are rounded, because equal values must stay equal.
DECIMALS = 9
# A column is tied if this fraction of the rows, and more than two, have the same value.
TIED = 0.05


class Ranked(NamedTuple):
    """A column without missing cells, by its ranks.

    Parameters
    ----------
    codes : the number of each row's value among the distinct values, ascending
    places : twice the mid-rank minus its mean
    nominal : whether the values are levels without an order
    """

    codes: Integers
    places: Integers
    nominal: bool = False

    @property
    def varies(self) -> bool:
        """Whether there are two different values."""
        return bool(self.codes.size) and bool(self.codes.min() < self.codes.max())

    @property
    def tied(self) -> bool:
        """Whether many rows have the same value."""
        return bool(np.bincount(self.codes).max() > max(2, TIED * self.codes.size))

    def values(self) -> Floats:
        """Return the codes as floating-point numbers."""
        return self.codes.astype(np.float64)

    def of_rows(self, rows: Integers | slice) -> Ranked:
        """Return the column of some rows."""
        return ranked(self.codes[rows], self.nominal)

    def indicators(self, most: int) -> list[Ranked]:
        """Return the column itself, or of a nominal one, which rows have each frequent level.

        Parameters
        ----------
        most : the largest number of levels
        """
        if not self.nominal:
            return [self]
        counts = np.bincount(self.codes)
        frequent = np.argsort(-counts, kind="stable")[: min(most, np.count_nonzero(counts))]
        return [ranked(self.codes == level) for level in frequent.tolist()]

    def scores(self) -> Floats:
        """Return normal scores with mean 0 and variance 1."""
        return _standardised(self._quantiles())

    def positions(self) -> Floats:
        """Return positions between 0 and 1, for cosines; 0 for a constant column."""
        from scipy.special import ndtr

        stretched = ndtr(self._quantiles() / STRETCH)
        width = np.ptp(stretched)
        return np.asarray((stretched - stretched.min()) / (width if width > 0.0 else 1.0))

    def _quantiles(self) -> Floats:
        """Return the normal quantiles of the mid-ranks."""
        from scipy.special import ndtri

        return np.asarray(ndtri(0.5 + self.places / (2.0 * self.places.size)), np.float64)


def ranked(values: AnyArray, nominal: bool = False) -> Ranked:
    """Return a column without missing cells by its ranks."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return Ranked(codes, (2 * ends - counts - values.size)[codes], nominal and counts.size > 2)


# ---------------------------------------------------------------- functions of the given columns


class Term(NamedTuple):
    """A product of functions: the columns and functions of its factors, and its prior variance.

    The function of an ordered column is given by its degree, that of a nominal column by the
    number of a level.
    """

    factors: tuple[tuple[int, int], ...]
    variance: float


@lru_cache(maxsize=64)
def terms(
    n_levels: tuple[int, ...], n_further: int, maximum: int, max_factors: int = MAX_FACTORS
) -> tuple[Term, ...]:
    """Return the terms with the largest prior variances.

    Terms with the same degrees are used together or not at all, so that the order of the columns
    does not matter. Terms of degree 1 are always used. All functions of a nominal column have
    degree 1.

    Parameters
    ----------
    n_levels : for each column the number of its levels that have a function; 0 if it is ordered
    n_further : the number of further columns, whose functions are not multiplied by others
    maximum : the largest number of terms
    max_factors : the largest number of factors of a term
    """
    n_columns = len(n_levels)
    per_factor = min(PER_FACTOR, 1.0 / max(n_columns, 1))
    found: list[Term] = []
    for degrees in _degrees(per_factor):
        if len(degrees) > max_factors:
            continue
        variance = per_factor ** (len(degrees) - 1) * math.prod(degrees) ** -ROUGHNESS
        further = range(n_columns, n_columns + n_further) if len(degrees) == 1 else range(0)
        ways = _n_ways(n_levels, degrees)
        if len(found) + ways + len(further) > maximum and degrees != (1,):
            break
        choices = {
            tuple(sorted(factors))
            for columns in permutations(range(n_columns), len(degrees))
            for factors in product(
                *(
                    [(column, function) for function in _functions(n_levels[column], degree)]
                    for column, degree in zip(columns, degrees, strict=True)
                )
            )
        }
        found += [Term(factors, variance) for factors in sorted(choices)]
        found += [Term(((column, degrees[0]),), variance) for column in further]
    return tuple(found)


def _functions(n_levels: int, degree: int) -> Sequence[int]:
    """Return the functions of this degree: one, or of a nominal column one for each level."""
    if n_levels == 0:
        return (degree,)
    return range(1, n_levels + 1) if degree == 1 else ()


def _n_ways(n_levels: tuple[int, ...], degrees: tuple[int, ...]) -> int:
    """Return the number of products of functions with these degrees, of different columns."""
    # By the degrees that are left, the number of ways to choose the others.
    ways = Counter({degrees: 1})
    for levels in n_levels:
        for left, number in list(ways.items()):
            for degree in set(left):
                rest = list(left)
                rest.remove(degree)
                ways[tuple(rest)] += number * len(_functions(levels, degree))
    return ways[()]


@lru_cache(maxsize=64)
def _degrees(per_factor: float) -> list[tuple[int, ...]]:
    """Return the degrees of the factors of all terms, those with large prior variances first."""
    found = [
        degrees
        for n_factors in range(1, MAX_FACTORS + 1)
        for degrees in combinations_with_replacement(range(1, MAX_DEGREE + 1), n_factors)
        if math.prod(degrees) <= MAX_DEGREE
    ]

    def order(degrees: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        return math.prod(degrees) ** ROUGHNESS * per_factor ** (1 - len(degrees)), degrees

    return sorted(found, key=order)


def design_of(
    columns: Sequence[Ranked],
    further: Sequence[Ranked],
    n_rows: int,
    max_factors: int = MAX_FACTORS,
) -> Floats:
    """Return the terms of the columns, one per line, scaled by their prior deviations.

    The function of degree 1 is the normal score. The function of degree d > 1 is a cosine with d
    half periods. The functions of a nominal column indicate its most frequent levels.
    """
    every = [*columns, *further]
    maximum = min(MAX_FUNCTIONS, int(MAX_FRACTION * n_rows))
    most_levels = maximum // (1 + sum(column.nominal for column in columns))
    levels = {
        at: column.indicators(most_levels) for at, column in enumerate(columns) if column.nominal
    }
    positions = [column.positions() for column in every]
    functions: dict[tuple[int, int], Floats] = {}

    def function(column: int, number: int) -> Floats:
        if (column, number) not in functions:
            if column in levels:
                values = levels[column][number - 1].scores()
            elif number == 1:
                values = every[column].scores()
            else:
                values = _standardised(np.cos(math.pi * number * positions[column]))
            functions[column, number] = values
        return functions[column, number]

    n_levels = tuple(len(levels.get(at, ())) for at in range(len(columns)))
    lines = [
        math.sqrt(term.variance) * math.prod(function(*each) for each in term.factors)
        for term in terms(n_levels, len(further), maximum, max_factors)
    ]
    return np.array(lines).reshape(len(lines), n_rows)


def _standardised(values: Floats) -> Floats:
    """Return values with mean 0 and variance 1; 0 if they are all equal."""
    deviation = values.std()
    if deviation < 1e-9:
        return np.zeros(values.size)
    return np.asarray((values - values.mean()) / deviation)


# ---------------------------------------------------------------- regression


class Regression:
    """Ridge regression of columns on the terms of a design, for a given spread of the rows.

    Columns are divided by the spread first, and so are their residuals. The intercept has no
    penalty.

    Parameters
    ----------
    design : the terms, one per line
    spread : the standard deviation of each row, up to a factor
    undersmoothing : the fraction of the best penalty that is used
    """

    def __init__(self, design: Floats, spread: Floats, undersmoothing: float) -> None:
        self.spread = spread
        self.undersmoothing = undersmoothing
        self.intercept = 1.0 / spread
        self.intercept /= math.sqrt(float(self.intercept @ self.intercept))
        self.design = self._centred(design / spread)
        self.variances, directions = np.linalg.eigh(self.design @ self.design.T / spread.size)
        self.design = directions.T @ self.design

    def _centred(self, values: Floats) -> Floats:
        """Return values without their projection on the intercept."""
        return values - np.multiply.outer(values @ self.intercept, self.intercept)

    def penalty(self, column: Floats) -> float | None:
        """Return the penalty for a column; None if the mean predicts it best."""
        return self.best_fit(column)[1]

    def best_fit(self, column: Floats) -> tuple[float, float | None]:
        """Return the least prediction error of a column, and the penalty to use.

        The prediction error is estimated by generalised cross-validation (Golub, Heath and Wahba
        1979).
        """
        n = column.size
        values = self._centred(column / self.spread)
        moments = self.design @ values / n
        square = float(values @ values) / n
        best, penalty = square / (1.0 - 1.0 / n) ** 2, None
        for each in PENALTIES:
            freedom = 1.0 + float(np.sum(self.variances / (self.variances + each)))
            if freedom > MAX_FREEDOM * n:
                break
            weights = (self.variances + 2.0 * each) / (self.variances + each) ** 2
            error = (square - float(moments**2 @ weights)) / (1.0 - freedom / n) ** 2
            if error < best:
                best, penalty = error, each
        return best, None if penalty is None else self._undersmoothed(penalty, n)

    def _undersmoothed(self, penalty: float, n_rows: int) -> float:
        """Return a smaller penalty that leaves enough degrees of freedom."""
        smaller = penalty * self.undersmoothing
        while np.sum(self.variances / (self.variances + smaller)) > MAX_FREEDOM * n_rows:
            smaller *= 2.0
        return smaller

    def residuals(self, columns: Floats, penalty: float | None) -> Floats:
        """Return the residuals of columns, one per line, divided by the spread."""
        values = self._centred(columns / self.spread)
        if penalty is None:
            return values
        factors = 1.0 / ((self.variances + penalty) * self.spread.size)
        return values - (values @ self.design.T * factors) @ self.design

    def fitted(self, column: Floats) -> Floats:
        """Return the predictions of a column."""
        return column - self.residuals(column, self.penalty(column)) * self.spread


# ---------------------------------------------------------------- columns


class Adjusted(NamedTuple):
    """A column, and its residuals given other columns.

    Parameters
    ----------
    column : the column
    regression, penalty : the regression of its normal scores
    residuals : with mean 0, divided by the spread
    fitted : the predictions of the normal scores
    unexplained : the fraction of the standard deviation that remains
    """

    column: Ranked
    regression: Regression
    penalty: float | None
    residuals: Floats
    fitted: Floats
    unexplained: float

    def residuals_of(self, columns: Floats) -> Floats:
        """Return the residuals of other columns in the same regression, one per line."""
        return np.round(self.regression.residuals(columns, self.penalty), DECIMALS)

    def exchanged(self, sources: Integers) -> Floats:
        """Return copies of the residuals after an exchange between rows, one per line.

        Residuals are exchanged, added to the predictions, and computed again (Freedman and Lane
        1983): copies then have as few degrees of freedom as the residuals. The residuals of a tied
        column reveal the given columns. So the values of a tied column are exchanged instead.

        Parameters
        ----------
        sources : one line per copy: the row whose residual or value each row receives
        """
        if self.column.tied:
            return self.residuals_of(self.column.scores()[sources])
        moved = self.residuals[sources] * self.regression.spread
        return self.residuals_of(self.fitted + moved)


def adjust(columns: Sequence[Ranked], given: Sequence[Ranked]) -> list[Adjusted]:
    """Return columns and their residuals given other columns.

    With several given columns, the predictions of a first regression are further columns of the
    second one: a function of a sum, for example, is hard to represent by products.
    """
    n_rows = columns[0].codes.size
    scores = [column.scores() for column in columns]
    designs = _designs(given, [], n_rows)
    if len(given) > 1:
        plain = _equally_spread(designs)
        fitted = [plain[_choose(plain, each)].fitted(each) for each in scores]
        further = [ranked(np.round(each, DECIMALS)) for each in fitted]
        designs = _designs(given, [each for each in further if each.varies], n_rows)
    plain = _equally_spread(designs)
    adjusted = []
    for column, values in zip(columns, scores, strict=True):
        chosen = _choose(plain, values)
        regression = plain[chosen]
        residuals = regression.residuals(values, regression.penalty(values))
        unexplained = float(residuals.std())
        if not column.tied:
            sizes = np.abs(residuals)
            logs = np.log(sizes + SPREAD_OFFSET * sizes.mean() + TINY)
            spread = np.exp(plain[_choose(plain, logs)].fitted(logs))
            regression = Regression(
                designs[chosen], spread / spread.mean(), regression.undersmoothing
            )
        penalty = regression.penalty(values)
        residuals = regression.residuals(values, penalty)
        predicted = np.round(values - residuals * regression.spread, DECIMALS)
        found = np.round(residuals, DECIMALS)
        adjusted.append(Adjusted(column, regression, penalty, found, predicted, unexplained))
    return adjusted


def _designs(given: Sequence[Ranked], further: Sequence[Ranked], n_rows: int) -> list[Floats]:
    """Return a design with products and, of several columns, one without."""
    factors = (MAX_FACTORS, 1) if len(given) > 1 else (MAX_FACTORS,)
    return [design_of(given, further, n_rows, each) for each in factors]


def _equally_spread(designs: Sequence[Floats]) -> list[Regression]:
    """Return regressions with each design; there are two designs if several columns are given."""
    undersmoothing = UNDERSMOOTHING if len(designs) == 1 else UNDERSMOOTHING_OF_SEVERAL
    return [Regression(each, np.ones(each.shape[1]), undersmoothing) for each in designs]


def _choose(regressions: Sequence[Regression], column: Floats) -> int:
    """Return the number of the regression: the one without products if it is clearly better."""
    errors = [regression.best_fit(column)[0] for regression in regressions]
    return len(errors) - 1 if errors[-1] < CLEARLY_BETTER * errors[0] else 0
