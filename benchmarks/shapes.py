"""The dependences whose detection is studied: how they are drawn, and with how much noise.

Three levels of noise for each, chosen by hand so that with 300 rows the best method finds the
middle one in most data sets, and no method finds all of them. x, a and b are the columns that
come first, e is standard normal noise of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Random = np.random.Generator

GROUPS = {
    "pairs": "two columns",
    "triples": "three columns, the last made from the first two",
    "sets": "five columns, of which two are related",
}
SIZE_OF_SETS = 5
BOARD = 5


@dataclass(frozen=True)
class Shape:
    """A dependence.

    Parameters
    ----------
    name : what the report calls it
    group : one of GROUPS
    formula : how the last column is made
    draw : returns a table, from random numbers, a number of rows and a level of noise
    noises : the levels, in ascending order
    """

    name: str
    group: str
    formula: str
    draw: Callable[[Random, int, float], Array]
    noises: tuple[float, float, float]


# ------------------------------------------------------------ pairs


def curve(function: Callable[[Array], Array]) -> Callable[[Random, int, float], Array]:
    """Return how to draw x, uniform in [-1, 1], and a function of it plus noise."""

    def draw(random: Random, n_rows: int, noise: float) -> Array:
        x = random.uniform(-1, 1, n_rows)
        y = function(x) + noise * random.standard_normal(n_rows)
        return np.column_stack([x, y])

    return draw


def circle(random: Random, n_rows: int, noise: float) -> Array:
    """Return points near the unit circle."""
    angle = random.uniform(0, 2 * np.pi, n_rows)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return points + noise * random.standard_normal(points.shape)


def checkerboard(random: Random, n_rows: int, noise: float) -> Array:
    """Return points on the black squares, of side 1, of a board of 5 x 5: uncorrelated."""
    column = random.integers(BOARD, size=n_rows)
    odd = column % 2
    row = 2 * random.integers(BOARD // 2 + 1 - odd, size=n_rows) + odd
    corners = np.column_stack([column, row])
    points = corners + random.uniform(size=corners.shape)
    return points + noise * random.standard_normal(corners.shape)


def growing_spread(random: Random, n_rows: int, noise: float) -> Array:
    """Return x, uniform in [0, 1], and noise that grows with it, plus noise that does not."""
    x = random.uniform(size=n_rows)
    e, other = random.standard_normal((2, n_rows))
    return np.column_stack([x, x * e + noise * other])


# ------------------------------------------------------------ three columns


def of_two(function: Callable[[Array, Array], Array]) -> Callable[[Random, int, float], Array]:
    """Return how to draw a and b, standard normal, and a function of them plus noise."""

    def draw(random: Random, n_rows: int, noise: float) -> Array:
        a, b, e = random.standard_normal((3, n_rows))
        return np.column_stack([a, b, function(a, b) + noise * e])

    return draw


def xor(random: Random, n_rows: int, noise: float) -> Array:
    """Return three columns of which any two are independent: signs multiply to the third's."""
    a, b, size, e = random.standard_normal((4, n_rows))
    return np.column_stack([a, b, np.sign(a * b) * np.abs(size) + noise * e])


# ------------------------------------------------------------ one relation in a set


def among_noise(
    pair: Callable[[Random, int, float], Array],
) -> Callable[[Random, int, float], Array]:
    """Return how to draw five columns: the second and fourth related, the others normal noise."""

    def draw(random: Random, n_rows: int, noise: float) -> Array:
        table = random.standard_normal((n_rows, SIZE_OF_SETS))
        table[:, [1, 3]] = pair(random, n_rows, noise)
        return table

    return draw


def linear(x: Array) -> Array:
    """Return x itself."""
    return x


def quadratic(x: Array) -> Array:
    """Return the parabola from 1 down to -1 and back."""
    return 2 * x**2 - 1


SHAPES = [
    Shape("linear", "pairs", "x + noise e", curve(linear), (2.1, 2.8, 3.8)),
    Shape("quadratic", "pairs", "2 x^2 - 1 + noise e", curve(quadratic), (1.4, 1.9, 2.6)),
    Shape(
        "cubic",
        "pairs",
        "4 x^3 - 3 x + noise e",
        curve(lambda x: 4 * x**3 - 3 * x),
        (1.9, 2.5, 3.4),
    ),
    Shape(
        "W",
        "pairs",
        "8 x^4 - 8 x^2 + 1 + noise e",
        curve(lambda x: 8 * x**4 - 8 * x**2 + 1),
        (1.6, 2.1, 2.8),
    ),
    Shape(
        "sine, 1 period",
        "pairs",
        "sin(pi x) + noise e",
        curve(lambda x: np.sin(np.pi * x)),
        (2.2, 3.0, 4.0),
    ),
    Shape(
        "sine, 4 periods",
        "pairs",
        "sin(4 pi x) + noise e",
        curve(lambda x: np.sin(4 * np.pi * x)),
        (1.3, 1.8, 2.4),
    ),
    Shape("step", "pairs", "sign(x) + noise e", curve(np.sign), (3.4, 4.6, 6.2)),
    Shape("circle", "pairs", "unit circle + noise (e1, e2)", circle, (0.34, 0.42, 0.5)),
    Shape(
        "checkerboard",
        "pairs",
        "black squares of 5 x 5, side 1 + noise (e1, e2)",
        checkerboard,
        (0.22, 0.29, 0.36),
    ),
    Shape("growing spread", "pairs", "x e1 + noise e2", growing_spread, (0.45, 0.65, 0.9)),
    Shape("sum of two", "triples", "a + b + noise e", of_two(np.add), (5.2, 7.0, 9.3)),
    Shape("product of two", "triples", "a b + noise e", of_two(np.multiply), (2.1, 2.8, 3.7)),
    Shape("XOR", "triples", "sign(a b) |e1| + noise e2", xor, (1.8, 2.4, 3.2)),
    Shape(
        "linear pair of 5",
        "sets",
        "x + noise e, and three columns of noise",
        among_noise(curve(linear)),
        (1.9, 2.5, 3.3),
    ),
    Shape(
        "quadratic pair of 5",
        "sets",
        "2 x^2 - 1 + noise e, and three columns of noise",
        among_noise(curve(quadratic)),
        (1.3, 1.7, 2.3),
    ),
]
