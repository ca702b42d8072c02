"""The dependences of the power study, called shapes: how to draw them, and the noise.

Each shape has three levels of noise: normal, more normal noise, and less but heavy-tailed noise.
The amounts were chosen by hand: with 300 rows, the best method finds the dependence in most tables
at the first level, and in some at the second. In formulas, x, a and b are the first columns, and e
is independent noise.
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
    "triples": "three columns, the last computed from the first two",
    "sets": "five columns, two of them dependent",
}
SIZE_OF_SETS = 5
BOARD = 5
NORMAL_LEVELS = ("normal", "more")
LEVELS = (*NORMAL_LEVELS, "heavy-tailed")
# Heavy-tailed noise is Student's t with 2 degrees of freedom, which has no variance. Its scale is
# this factor times the scale of the first level.
HEAVY_SCALE = 0.75
HEAVY_DEGREES = 2


@dataclass(frozen=True)
class Noise:
    """Additive noise: normal, or Student's t if ``heavy``."""

    scale: float
    heavy: bool = False

    def draw(self, random: Random, size: int | tuple[int, ...]) -> Array:
        """Return an array of noise of this size."""
        if self.heavy:
            return self.scale * random.standard_t(HEAVY_DEGREES, size)
        return self.scale * random.standard_normal(size)


Draw = Callable[[Random, int, Noise], Array]


@dataclass(frozen=True)
class DependenceShape:
    """A kind of dependence.

    Parameters
    ----------
    name : name in the printed tables
    group : one of GROUPS
    formula : formula of the last column
    draw : returns a table, given a random generator, a number of rows and the noise
    scales : standard deviations of the two levels of normal noise
    """

    name: str
    group: str
    formula: str
    draw: Draw
    scales: tuple[float, float]

    def noise(self, level: str) -> Noise:
        """Return the noise of one of LEVELS."""
        if level in NORMAL_LEVELS:
            return Noise(self.scales[NORMAL_LEVELS.index(level)])
        return Noise(HEAVY_SCALE * self.scales[0], heavy=True)


# ------------------------------------------------------------ pairs


def curve(function: Callable[[Array], Array]) -> Draw:
    """Return a function that draws x, uniform in [-1, 1], and ``function(x)`` plus noise."""

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
    """Return uncorrelated points on the black squares of a 5 x 5 board with squares of side 1."""
    column = random.integers(BOARD, size=n_rows)
    odd = column % 2
    row = 2 * random.integers(BOARD // 2 + 1 - odd, size=n_rows) + odd
    corners = np.column_stack([column, row])
    points = corners + random.uniform(size=corners.shape)
    return points + noise.draw(random, points.shape)


def growing_spread(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return x, uniform in [0, 1], and noise with standard deviation x, plus constant noise."""
    x = random.uniform(size=n_rows)
    y = x * random.standard_normal(n_rows) + noise.draw(random, n_rows)
    return np.column_stack([x, y])


# ------------------------------------------------------------ three columns


def surface(function: Callable[[Array, Array], Array]) -> Draw:
    """Return a function that draws a and b, standard normal, and ``function(a, b)`` plus noise."""

    def draw(random: Random, n_rows: int, noise: Noise) -> Array:
        a, b = random.standard_normal((2, n_rows))
        return np.column_stack([a, b, function(a, b) + noise.draw(random, n_rows)])

    return draw


def xor(random: Random, n_rows: int, noise: Noise) -> Array:
    """Return three pairwise independent columns: the third has the sign of a * b."""
    a, b, size = random.standard_normal((3, n_rows))
    signed = np.sign(a * b) * np.abs(size)
    return np.column_stack([a, b, signed + noise.draw(random, n_rows)])


# ------------------------------------------------------------ one dependent pair in a set


def among_noise(pair: Draw) -> Draw:
    """Return a function that draws five columns: a dependent pair, and three of normal noise."""

    def draw(random: Random, n_rows: int, noise: Noise) -> Array:
        table = random.standard_normal((n_rows, SIZE_OF_SETS))
        table[:, [1, 3]] = pair(random, n_rows, noise)
        return table

    return draw


def linear(x: Array) -> Array:
    """Return x itself."""
    return x


def quadratic(x: Array) -> Array:
    """Return the parabola 2 x^2 - 1."""
    return 2 * x**2 - 1


SHAPES = [
    DependenceShape("linear", "pairs", "x + noise e", curve(linear), (2.8, 3.8)),
    DependenceShape("quadratic", "pairs", "2 x^2 - 1 + noise e", curve(quadratic), (1.9, 2.6)),
    DependenceShape(
        "cubic",
        "pairs",
        "4 x^3 - 3 x + noise e",
        curve(lambda x: 4 * x**3 - 3 * x),
        (2.5, 3.4),
    ),
    DependenceShape(
        "W",
        "pairs",
        "8 x^4 - 8 x^2 + 1 + noise e",
        curve(lambda x: 8 * x**4 - 8 * x**2 + 1),
        (2.1, 2.8),
    ),
    DependenceShape(
        "sine, 1 period",
        "pairs",
        "sin(pi x) + noise e",
        curve(lambda x: np.sin(np.pi * x)),
        (3.0, 4.0),
    ),
    DependenceShape(
        "sine, 4 periods",
        "pairs",
        "sin(4 pi x) + noise e",
        curve(lambda x: np.sin(4 * np.pi * x)),
        (1.8, 2.4),
    ),
    DependenceShape("step", "pairs", "sign(x) + noise e", curve(np.sign), (4.6, 6.2)),
    DependenceShape("circle", "pairs", "unit circle + noise (e1, e2)", circle, (0.42, 0.5)),
    DependenceShape(
        "checkerboard",
        "pairs",
        "black squares of 5 x 5, side 1 + noise (e1, e2)",
        checkerboard,
        (0.29, 0.36),
    ),
    DependenceShape("growing spread", "pairs", "x e1 + noise e2", growing_spread, (0.65, 0.9)),
    DependenceShape("sum of two", "triples", "a + b + noise e", surface(np.add), (7.0, 9.3)),
    DependenceShape(
        "product of two", "triples", "a b + noise e", surface(np.multiply), (2.8, 3.7)
    ),
    DependenceShape("XOR", "triples", "sign(a b) |e1| + noise e2", xor, (2.4, 3.2)),
    DependenceShape(
        "linear pair of 5",
        "sets",
        "x + noise e, and three columns of noise",
        among_noise(curve(linear)),
        (2.5, 3.3),
    ),
    DependenceShape(
        "quadratic pair of 5",
        "sets",
        "2 x^2 - 1 + noise e, and three columns of noise",
        among_noise(curve(quadratic)),
        (1.7, 2.3),
    ),
]
