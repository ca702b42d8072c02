"""Linear formulas: fitted, with few digits, and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns, Floats

# A coefficient is rounded if this changes the target by less than this many standard deviations.
ROUNDING = 1e-7


class Formula(NamedTuple):
    """A linear formula: ``target`` = sum of ``slopes`` times ``by``, plus ``intercept``.

    ``residual``, and the largest one that an identity may leave, are relative to the standard
    deviation of the target.
    """

    target: int
    by: Columns
    slopes: tuple[float, ...]
    intercept: float
    residual: float
    limit: float

    @property
    def complexity(self) -> tuple[int, ...]:
        """What makes a formula worse than another one: columns, residuals, signs, numbers."""
        return (
            len(self.by),
            max(int(np.ceil(np.log10(self.residual + 1e-300))), -6),
            sum(slope < 0 for slope in self.slopes) + (self.intercept != 0.0),
            sum(abs(slope) != 1.0 for slope in self.slopes),
        )


def formula_text(slopes: Sequence[float], names: Sequence[str], intercept: float) -> str:
    """Return a linear formula as text: a + 2 b - c."""
    terms = [(slope, name) for slope, name in zip(slopes, names, strict=True)]
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for slope, name in terms:
        sign = "-" if slope < 0 else "+"
        size = "" if abs(slope) == 1.0 else f"{number_text(abs(slope))} "
        text += f" {sign} {size}{name}" if text else f"{'-' if slope < 0 else ''}{size}{name}"
    if intercept:
        text += f" {'-' if intercept < 0 else '+'} {number_text(abs(intercept))}"
    return text


def number_text(number: float) -> str:
    """Return a positive number with all of its digits, and without an exponent if it is short."""
    if 1e-6 <= number < 1e16:
        return str(np.format_float_positional(number, trim="-"))
    return repr(number)


def _rounded(number: float, tolerance: float) -> float:
    """Return the number with the fewest digits that differs by at most a tolerance."""
    if abs(number) <= tolerance:
        return 0.0
    for digits in range(1, 17):
        simple = float(f"{number:.{digits}g}")
        if abs(number - simple) <= tolerance:
            return simple
    return number


def fitted(y: Floats, x: Floats) -> tuple[tuple[float, ...], float, float]:
    """Return slopes and intercept with few digits, and the relative residuals that they leave."""
    spread, centres = float(y.std()), x.mean(axis=0)
    centred, target = x - centres, y - y.mean()
    slopes = slopes_of(target, centred)
    noise = float(np.sqrt(np.mean((target - centred @ slopes) ** 2)))
    tolerance = max(noise, ROUNDING * spread)
    tolerances = tolerance / (x.shape[1] * np.maximum(x.std(axis=0), 1e-300))
    rounded = [_rounded(float(s), float(t)) for s, t in zip(slopes, tolerances, strict=True)]
    intercept = _rounded(float(y.mean() - centres @ rounded), tolerance)
    residuals = y - x @ np.array(rounded) - intercept
    return tuple(rounded), intercept, float(np.sqrt(np.mean(residuals**2)) / spread)


def slopes_of(y: Floats, x: Floats) -> Floats:
    """Return the least squares slopes of centred columns."""
    scale = np.maximum(np.abs(x).max(axis=0), 1e-300)
    return np.asarray(np.linalg.lstsq(x / scale, y, rcond=None)[0] / scale)
