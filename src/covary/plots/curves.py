"""The best-fitting curve of two columns: a polynomial or a monotone curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from covary.array_types import Floats, Integers

MAX_DEGREE = 5
FOLDS = 5
# A less simple curve must raise the cross-validated R² by at least this much.
MIN_IMPROVEMENT = 0.005
MIN_ROWS_FITTED = 20
# A curve with a lower cross-validated R² is not drawn.
MIN_R2 = 0.05
POINTS_ON_CURVE = 101


class Fit(NamedTuple):
    """A fitted curve.

    Parameters
    ----------
    kind : the kind of curve, such as "straight line"
    r2 : the fraction of the variance of y that the curve explains
    x, y : points on the curve
    """

    kind: str
    r2: float
    x: Floats
    y: Floats


class _Range(NamedTuple):
    """The range of a column; halves avoid overflow."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> _Range:
        return cls(float(values.min()), float(values.max()))

    def to_unit(self, values: Floats) -> Floats:
        return np.asarray((values / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def from_unit(self, values: Floats) -> Floats:
        return np.asarray(self.low * (1.0 - values) + self.high * values)


class _Polynomial:
    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __str__(self) -> str:
        return "straight line" if self.degree == 1 else f"polynomial of degree {self.degree}"

    def fit_predict(self, x: Floats, y: Floats, at: Floats) -> Floats:
        degree = min(self.degree, np.unique(x).size - 1)
        if degree == 0:
            return np.full(at.size, y.mean())
        return np.asarray(np.polynomial.Polynomial.fit(x, y, degree)(at))


class _Monotone:
    def __str__(self) -> str:
        return "monotone curve"

    def fit_predict(self, x: Floats, y: Floats, at: Floats) -> Floats:
        from sklearn.isotonic import IsotonicRegression

        increasing = np.corrcoef(np.argsort(np.argsort(x)), y)[0, 1] >= 0
        curve = IsotonicRegression(increasing=bool(increasing), out_of_bounds="clip").fit(x, y)
        return np.asarray(curve.predict(at))


def best_fit(x: Floats, y: Floats, seed: int = 0) -> Fit | None:
    """Return the simplest curve that fits nearly as well as the best; None if none fits.

    Candidates are a straight line, polynomials up to degree 5 and a monotone curve. They are
    compared by their R² in 5-fold cross-validation. Rows with a missing value are left out.

    Parameters
    ----------
    x, y : the values of two columns, NaN where missing
    seed : random seed for the folds

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> fit = best_fit(x, 1 - x**2)
    >>> fit.kind, round(fit.r2, 6)
    ('polynomial of degree 2', 1.0)

    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if x.size < MIN_ROWS_FITTED or np.unique(x).size < 3 or y.min() == y.max():
        return None
    x_range, y_range = _Range.of(x), _Range.of(y)
    x, y = x_range.to_unit(x), y_range.to_unit(y)
    degrees = range(1, min(MAX_DEGREE, np.unique(x).size - 1) + 1)
    curves: list[_Polynomial | _Monotone] = [
        *(_Polynomial(degree) for degree in degrees),
        _Monotone(),
    ]
    fold = np.random.default_rng(seed).permutation(x.size) % FOLDS
    validated = [_r2(y, _cross_validated(curve, x, y, fold)) for curve in curves]
    best = max(validated)
    if best < MIN_R2:
        return None
    chosen = next(
        curve for curve, r2 in zip(curves, validated, strict=True) if r2 >= best - MIN_IMPROVEMENT
    )
    at = np.linspace(0.0, 1.0, POINTS_ON_CURVE)
    r2 = _r2(y, chosen.fit_predict(x, y, x))
    # A polynomial may diverge where there are few rows.
    curve_y = y_range.from_unit(np.clip(chosen.fit_predict(x, y, at), 0.0, 1.0))
    return Fit(str(chosen), r2, x_range.from_unit(at), curve_y)


def _cross_validated(
    curve: _Polynomial | _Monotone, x: Floats, y: Floats, fold: Integers
) -> Floats:
    """Return a prediction for each row from a curve fitted to the other folds."""
    predicted = np.empty(x.size)
    for number in range(FOLDS):
        held_out = fold == number
        training = x[~held_out]
        # A polynomial may diverge outside the training rows: a single outlier must not decide
        # between curves.
        within = np.clip(x[held_out], training.min(), training.max())
        predicted[held_out] = curve.fit_predict(training, y[~held_out], within)
    return np.clip(predicted, 2 * y.min() - y.max(), 2 * y.max() - y.min())


def _r2(y: Floats, fitted: Floats) -> float:
    return 1.0 - float(np.sum((y - fitted) ** 2) / np.sum((y - y.mean()) ** 2))
