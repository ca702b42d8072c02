"""The curve that fits two columns best: a polynomial, or one that only rises or falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_DEGREE = 5
FOLDS = 5
# A curve that is less simple must explain so much more of the variance in rows it has not seen.
WORTH = 0.005
LEAST_ROWS = 20
# A curve that explains less of them than this is none.
LEAST_R2 = 0.05
DRAWN = 101


class Fit(NamedTuple):
    """A curve through points.

    Parameters
    ----------
    kind : what it is, in words
    r2 : the share of the variance of y that it explains
    x, y : points along it
    """

    kind: str
    r2: float
    x: Floats
    y: Floats


class _Unit(NamedTuple):
    """What brings a column between 0 and 1, where nothing is too large or too small."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> _Unit:
        return cls(float(values.min()), float(values.max()))

    def inside(self, values: Floats) -> Floats:
        return np.asarray((values / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def outside(self, values: Floats) -> Floats:
        return np.asarray(self.low * (1.0 - values) + self.high * values)


class _Polynomial:
    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __str__(self) -> str:
        return "straight line" if self.degree == 1 else f"polynomial of degree {self.degree}"

    def through(self, x: Floats, y: Floats, at: Floats) -> Floats:
        degree = min(self.degree, np.unique(x).size - 1)
        if degree == 0:
            return np.full(at.size, y.mean())
        return np.asarray(np.polynomial.Polynomial.fit(x, y, degree)(at))


class _Monotone:
    def __str__(self) -> str:
        return "monotone curve"

    def through(self, x: Floats, y: Floats, at: Floats) -> Floats:
        from sklearn.isotonic import IsotonicRegression

        rises = np.corrcoef(np.argsort(np.argsort(x)), y)[0, 1] >= 0
        curve = IsotonicRegression(increasing=bool(rises), out_of_bounds="clip").fit(x, y)
        return np.asarray(curve.predict(at))


def best_fit(x: Floats, y: Floats, seed: int = 0) -> Fit | None:
    """Return the simplest of the curves that fit about as well as the best; None if none does.

    Straight line, polynomials up to degree 5 and monotone curves are compared by how well they
    predict rows that they were not fitted to. Rows in which x or y is missing are left out.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> fit = best_fit(x, 1 - x**2)
    >>> fit.kind, round(fit.r2, 6)
    ('polynomial of degree 2', 1.0)

    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if x.size < LEAST_ROWS or np.unique(x).size < 3 or y.min() == y.max():
        return None
    across, up = _Unit.of(x), _Unit.of(y)
    x, y = across.inside(x), up.inside(y)
    degrees = range(1, min(MOST_DEGREE, np.unique(x).size - 1) + 1)
    curves: list[_Polynomial | _Monotone] = [
        *(_Polynomial(degree) for degree in degrees),
        _Monotone(),
    ]
    fold = np.random.default_rng(seed).permutation(x.size) % FOLDS
    unseen = [_share_explained(y, _predicted(curve, x, y, fold)) for curve in curves]
    best = max(unseen)
    if best < LEAST_R2:
        return None
    chosen = next(curve for curve, r2 in zip(curves, unseen, strict=True) if r2 >= best - WORTH)
    along = np.linspace(0.0, 1.0, DRAWN)
    r2 = _share_explained(y, chosen.through(x, y, x))
    return Fit(str(chosen), r2, across.outside(along), up.outside(chosen.through(x, y, along)))


def _predicted(
    curve: _Polynomial | _Monotone, x: Floats, y: Floats, fold: npt.NDArray[np.int64]
) -> Floats:
    """Return what the curve says of each row, fitted to the rows of the other folds."""
    predicted = np.empty(x.size)
    for number in range(FOLDS):
        out = fold == number
        seen = x[~out]
        # A polynomial may go anywhere beyond the rows that it has seen: a single row far from all
        # others must not decide between curves.
        within = np.clip(x[out], seen.min(), seen.max())
        predicted[out] = curve.through(seen, y[~out], within)
    return np.clip(predicted, 2 * y.min() - y.max(), 2 * y.max() - y.min())


def _share_explained(y: Floats, fitted: Floats) -> float:
    return 1.0 - float(np.sum((y - fitted) ** 2) / np.sum((y - y.mean()) ** 2))
