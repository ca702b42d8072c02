"""Pairs of columns for the benchmark of the evidence statistic: other shapes than in the power
study. They and their noise were fixed before any statistic was computed on them.

A shape is a function of a random generator, the number of rows, and the amount of noise. In
formulas, e is standard normal noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Random = np.random.Generator
Draw = Callable[[Random, int, float], Array]


class Shape(NamedTuple):
    """A kind of dependence.

    Parameters
    ----------
    draw : returns a table of two columns
    levels : three amounts of noise
    formula : of the second column, or of both
    """

    draw: Draw
    levels: tuple[float, float, float]
    formula: str


def curve(function: Callable[[Array], Array]) -> Draw:
    """Return a function that draws x, uniform in [0, 1], and ``function(x)`` plus noise."""

    def draw(random: Random, n_rows: int, noise: float) -> Array:
        x = random.uniform(0, 1, n_rows)
        return np.column_stack([x, function(x) + noise * random.standard_normal(n_rows)])

    return draw


def crossing_lines(random: Random, n_rows: int, noise: float) -> Array:
    """Return points near one of two diagonals."""
    x = random.uniform(-1, 1, n_rows)
    y = x * random.choice([-1, 1], n_rows)
    return np.column_stack([x, y + noise * random.standard_normal(n_rows)])


def four_clusters(random: Random, n_rows: int, noise: float) -> Array:
    """Return points near the corners of a square that stands on one of them."""
    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    points = corners[random.integers(4, size=n_rows)]
    return points + noise * random.standard_normal((n_rows, 2))


def banana(random: Random, n_rows: int, noise: float) -> Array:
    """Return a normal column and its noisy square."""
    x = random.standard_normal(n_rows)
    return np.column_stack([x, x**2 + noise * random.standard_normal(n_rows)])


def alternating_levels(random: Random, n_rows: int, noise: float) -> Array:
    """Return five levels, and a column that is higher for two of them."""
    x = random.integers(5, size=n_rows).astype(np.float64)
    return np.column_stack([x, x % 2 + noise * random.standard_normal(n_rows)])


def upper_tail(random: Random, n_rows: int, noise: float) -> Array:
    """Return columns that are related only in the upper fifth of the first one."""
    x = random.standard_normal(n_rows)
    y = np.where(x > 0.84, x, 0.0) + noise * random.standard_normal(n_rows)
    return np.column_stack([x, y])


def waving_spread(random: Random, n_rows: int, noise: float) -> Array:
    """Return x, uniform in [0, 1], and noise whose standard deviation is a sine of x."""
    x = random.uniform(0, 1, n_rows)
    y = (1 + np.sin(6 * np.pi * x)) * random.standard_normal(n_rows)
    return np.column_stack([x, y + noise * random.standard_normal(n_rows)])


def lissajous(random: Random, n_rows: int, noise: float) -> Array:
    """Return points near a curve that crosses itself."""
    t = random.uniform(0, 2 * np.pi, n_rows)
    points = np.column_stack([np.sin(2 * t), np.sin(3 * t + 0.5)])
    return points + noise * random.standard_normal((n_rows, 2))


def clayton(random: Random, n_rows: int, strength: float) -> Array:
    """Return a sample of the Clayton copula."""
    u, v = random.uniform(size=(2, n_rows))
    return np.column_stack(
        [u, (u**-strength * (v ** (-strength / (1 + strength)) - 1) + 1) ** (-1 / strength)]
    )


def rounded_line(random: Random, n_rows: int, noise: float) -> Array:
    """Return a normal column and a noisy copy, both rounded to whole numbers."""
    x = random.standard_normal(n_rows)
    return np.round(np.column_stack([x, x + noise * random.standard_normal(n_rows)]))


FURTHER_SHAPES = {
    "chirp": Shape(
        curve(lambda x: np.sin(16 * np.pi * x**2)), (0.7, 1.2, 2.0), "sin(16 pi x^2) + noise e"
    ),
    "saw-tooth, 3 teeth": Shape(
        curve(lambda x: (3 * x) % 1), (0.4, 0.6, 0.9), "3 x mod 1 + noise e"
    ),
    "zigzag, 6 periods": Shape(
        curve(lambda x: np.abs((6 * x) % 1 - 0.5) * 4 - 1),
        (0.5, 0.9, 1.4),
        "4 |6 x mod 1 - 1/2| - 1 + noise e",
    ),
    "crossing lines": Shape(crossing_lines, (0.3, 0.5, 0.8), "x or -x, + noise e"),
    "four clusters": Shape(
        four_clusters, (0.4, 0.55, 0.7), "(1, 0), (0, 1), (-1, 0) or (0, -1), + noise (e1, e2)"
    ),
    "banana": Shape(banana, (2.0, 4.0, 6.0), "x^2 + noise e, x normal"),
    "alternating levels": Shape(
        alternating_levels, (1.0, 1.5, 2.2), "x mod 2 + noise e, x one of 0, 1, 2, 3, 4"
    ),
    "upper tail": Shape(upper_tail, (2.0, 3.0, 4.5), "x if x > 0.84, else 0, + noise e, x normal"),
    "waving spread": Shape(waving_spread, (0.2, 0.5, 1.0), "(1 + sin(6 pi x)) e1 + noise e2"),
    "Lissajous 2:3": Shape(lissajous, (0.1, 0.2, 0.3), "(sin 2t, sin(3t + 1/2)) + noise (e1, e2)"),
    "slowing wave": Shape(
        curve(lambda x: np.sin(6 / (x + 0.1))), (0.8, 1.3, 2.0), "sin(6 / (x + 0.1)) + noise e"
    ),
    "Clayton copula": Shape(clayton, (0.5, 0.3, 0.2), "parameter 0.5, 0.3 or 0.2"),
    "rounded line": Shape(rounded_line, (3.0, 4.5, 6.5), "x + noise e, both rounded, x normal"),
    "sine, 12 periods": Shape(
        curve(lambda x: np.sin(24 * np.pi * x)), (0.3, 0.6, 1.0), "sin(24 pi x) + noise e"
    ),
}
