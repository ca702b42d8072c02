"""The dependences whose detection is studied: how they are drawn, and with how much noise.

Three levels of noise for each: normal, more of it, and less but heavy-tailed. How much was chosen
by hand, so that with 300 rows the best method finds the first in most data sets, and the second in
some. x, a and b are the columns that come first, e is noise of its own.
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
NORMAL_LEVELS = ("normal", "more")
LEVELS = (*NORMAL_LEVELS, "heavy-tailed")
# Student's t with 2 degrees of freedom, which has no variance, times this and the first level.
HEAVY_SCALE = 0.75
HEAVY_DEGREES = 2


@dataclass(frozen=True)
class Noise:
    """What is added to a dependence: normal, or Student's t if its tails are heavy."""

    scale: float
    heavy: bool = False

    def draw(self, random: Random, size: int | tuple[int, ...]) -> Array:
        """Return noise of this shape."""
        if self.heavy:
            return self.scale * random.standard_t(HEAVY_DEGREES, size)
        return self.scale * random.standard_normal(size)


Draw = Callable[[Random, int, Noise], Array]


@dataclass(frozen=True)
class Shape:
    """A dependence.

    Parameters
    ----------
    name : what the report calls it
    group : one of GROUPS
    formula : how the last column is made
    draw : returns a table, from random numbers, a number of rows and noise
    scales : standard deviations of the two levels of normal noise
    """

    name: str
    group: str
    formula: str
    draw: Draw
    scales: tuple[float, float]

    def noise(self, level: str) -> Noise:
        """Return one of LEVELS."""
        if level in NORMAL_LEVELS:
            return Noise(self.scales[NORMAL_LEVELS.index(level)])
        return Noise(HEAVY_SCALE * self.scales[0], heavy=True)


# ------------------------------------------------------------ pairs


def curve(function: Callable[[Array], Array]) -> Draw:
    """Return how to draw x, uniform in [-1, 1], and a function of it plus noise."""

    def draw(random: Random, n_rows: int, noise: Noise) -> Array:
        x = random.uniform(-1, 1, n_rows)
        y = function(x) + noise.draw(random, n_rows)
        return np.column_stack([x, y])

    return draw


def circle(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return points near the unit circle."""
    angle = random.uniform(0, 2 * np.pi, n_rows)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return points + noise.draw(random, points.shape)


def checkerboard(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return points on the black squares, of side 1, of a board of 5 x 5: uncorrelated."""
    column = random.integers(BOARD, size=n_rows)
    odd = column % 2
    row = 2 * random.integers(BOARD // 2 + 1 - odd, size=n_rows) + odd
    corners = np.column_stack([column, row])
    points = corners + random.uniform(size=corners.shape)
    return points + noise.draw(random, points.shape)


def growing_spread(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return x, uniform in [0, 1], and noise that grows with it, plus noise that does not."""
    x = random.uniform(size=n_rows)
    y = x * random.standard_normal(n_rows) + noise.draw(random, n_rows)
    return np.column_stack([x, y])


# ------------------------------------------------------------ three columns


def of_two(function: Callable[[Array, Array], Array]) -> Draw:
    """Return how to draw a and b, standard normal, and a function of them plus noise."""

    def draw(random: Random, n_rows: int, noise: Noise) -> Array:
        a, b = random.standard_normal((2, n_rows))
        return np.column_stack([a, b, function(a, b) + noise.draw(random, n_rows)])

    return draw


def xor(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return three columns of which any two are independent: signs multiply to the third's."""
    a, b, size = random.standard_normal((3, n_rows))
    signed = np.sign(a * b) * np.abs(size)
    return np.column_stack([a, b, signed + noise.draw(random, n_rows)])


# ------------------------------------------------------------ one relation in a set


def among_noise(pair: Draw) -> Draw:
    """Return how to draw five columns: the second and fourth related, the others normal noise."""

    def draw(random: Random, n_rows: int, noise: Noise) -> Array:
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
    Shape("linear", "pairs", "x + noise e", curve(linear), (2.8, 3.8)),
    Shape("quadratic", "pairs", "2 x^2 - 1 + noise e", curve(quadratic), (1.9, 2.6)),
    Shape(
        "cubic",
        "pairs",
        "4 x^3 - 3 x + noise e",
        curve(lambda x: 4 * x**3 - 3 * x),
        (2.5, 3.4),
    ),
    Shape(
        "W",
        "pairs",
        "8 x^4 - 8 x^2 + 1 + noise e",
        curve(lambda x: 8 * x**4 - 8 * x**2 + 1),
        (2.1, 2.8),
    ),
    Shape(
        "sine, 1 period",
        "pairs",
        "sin(pi x) + noise e",
        curve(lambda x: np.sin(np.pi * x)),
        (3.0, 4.0),
    ),
    Shape(
        "sine, 4 periods",
        "pairs",
        "sin(4 pi x) + noise e",
        curve(lambda x: np.sin(4 * np.pi * x)),
        (1.8, 2.4),
    ),
    Shape("step", "pairs", "sign(x) + noise e", curve(np.sign), (4.6, 6.2)),
    Shape("circle", "pairs", "unit circle + noise (e1, e2)", circle, (0.42, 0.5)),
    Shape(
        "checkerboard",
        "pairs",
        "black squares of 5 x 5, side 1 + noise (e1, e2)",
        checkerboard,
        (0.29, 0.36),
    ),
    Shape("growing spread", "pairs", "x e1 + noise e2", growing_spread, (0.65, 0.9)),
    Shape("sum of two", "triples", "a + b + noise e", of_two(np.add), (7.0, 9.3)),
    Shape("product of two", "triples", "a b + noise e", of_two(np.multiply), (2.8, 3.7)),
    Shape("XOR", "triples", "sign(a b) |e1| + noise e2", xor, (2.4, 3.2)),
    Shape(
        "linear pair of 5",
        "sets",
        "x + noise e, and three columns of noise",
        among_noise(curve(linear)),
        (2.5, 3.3),
    ),
    Shape(
        "quadratic pair of 5",
        "sets",
        "2 x^2 - 1 + noise e, and three columns of noise",
        among_noise(curve(quadratic)),
        (1.7, 2.3),
    ),
]
