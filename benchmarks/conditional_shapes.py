"""Tables for the benchmark of conditional independence tests: columns x, a target y and given
columns z. In formulas, e is standard normal noise, drawn again at each place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Random = np.random.Generator


class Sample(NamedTuple):
    """Columns x, a target y, and given columns z."""

    x: Array
    y: Array
    z: Array


Draw = Callable[[Random, int], Sample]


class Shape(NamedTuple):
    """A kind of table.

    Parameters
    ----------
    name : printed in the results
    group : "design" if covary's test was designed on this shape, "further" if not, or "hyppo"
    dependent : whether y depends on x, given z
    draw : returns a table, by a random generator and the number of rows
    """

    name: str
    group: str
    dependent: bool
    draw: Draw


def sample(x: Array, y: Array, *z: Array) -> Sample:
    """Return a table with one column x and some columns z."""
    return Sample(x[:, None], y, np.column_stack(z))


# ---------------------------------------------------------------- y is independent of x, given z


def common_cause(cause: Callable[..., Array], n_given: int = 1) -> Draw:
    """Return a function that draws x and y: each is a function of z plus 0.5 e."""

    def draw(random: Random, n_rows: int) -> Sample:
        z = random.standard_normal((n_given, n_rows))
        x, y = cause(*z) + 0.5 * random.standard_normal((2, n_rows))
        return sample(x, y, *z)

    return draw


def common_spread(random: Random, n_rows: int) -> Sample:
    """Return x = exp(z) e and y = exp(z) e."""
    z = random.standard_normal(n_rows)
    x, y = np.exp(z) * random.standard_normal((2, n_rows))
    return sample(x, y, z)


def common_category(random: Random, n_rows: int) -> Sample:
    """Return x and y with means 0, 2, 1 and 3 in the four levels of z."""
    z = random.integers(4, size=n_rows)
    x, y = np.array([0, 2, 1, 3])[z] + random.standard_normal((2, n_rows))
    return sample(x, y, z.astype(float))


def heavy_tails(random: Random, n_rows: int) -> Sample:
    """Return x and y: z plus noise, all with Cauchy distributions."""
    z, x, y = random.standard_cauchy((3, n_rows))
    return sample(z + 0.5 * x, z + 0.5 * y, z)


def chain(random: Random, n_rows: int) -> Sample:
    """Return z = x + 0.5 e and y = z + 0.5 e."""
    x, e, f = random.standard_normal((3, n_rows))
    z = x + 0.5 * e
    return sample(x, z + 0.5 * f, z)


def curved_chain(random: Random, n_rows: int) -> Sample:
    """Return z = tanh(2 x) + 0.5 e and y = |z| + 0.3 e."""
    x, e, f = random.standard_normal((3, n_rows))
    z = np.tanh(2 * x) + 0.5 * e
    return sample(x, np.abs(z) + 0.3 * f, z)


def monotone_causes(random: Random, n_rows: int) -> Sample:
    """Return x = exp(z) + 0.5 e and y = 1 / (1 + exp(-3 z)) + 0.2 e."""
    z, e, f = random.standard_normal((3, n_rows))
    return sample(np.exp(z) + 0.5 * e, 1 / (1 + np.exp(-3 * z)) + 0.2 * f, z)


# ---------------------------------------------------------------- y depends on x, given z


def effect(formula: Callable[[Array, Array], Array], correlated: bool = False) -> Draw:
    """Return a function that draws x = e, or z + e if correlated, and y = formula + e."""

    def draw(random: Random, n_rows: int) -> Sample:
        z, x, e = random.standard_normal((3, n_rows))
        if correlated:
            x = z + x
        return sample(x, formula(x, z) + e, z)

    return draw


def growing_spread(random: Random, n_rows: int) -> Sample:
    """Return y = z + exp(x / 2) e."""
    z, x, e = random.standard_normal((3, n_rows))
    return sample(x, z + np.exp(x / 2) * e, z)


def common_square_and_effect(random: Random, n_rows: int) -> Sample:
    """Return x = z² + e and y = z² + 0.4 x + e."""
    z, e, f = random.standard_normal((3, n_rows))
    x = z**2 + e
    return sample(x, z**2 + 0.4 * x + f, z)


def common_effect(random: Random, n_rows: int) -> Sample:
    """Return independent x and y, and z = x + y + e."""
    x, y, e = random.standard_normal((3, n_rows))
    return sample(x, y, x + y + e)


def sign_by_category(random: Random, n_rows: int) -> Sample:
    """Return y = 0.5 x + e in two of the four levels of z, and -0.5 x + e in the others."""
    z = random.integers(4, size=n_rows)
    x, e = random.standard_normal((2, n_rows))
    return sample(x, np.where(z % 2, 0.5, -0.5) * x + e, z.astype(float))


def three_given(random: Random, n_rows: int) -> Sample:
    """Return x = a + b + c + e and y = a + b + c + 0.4 x + e."""
    z, (e, f) = random.standard_normal((3, n_rows)), random.standard_normal((2, n_rows))
    x = z.sum(axis=0) + e
    return sample(x, z.sum(axis=0) + 0.4 * x + f, *z)


def cauchy_noise(random: Random, n_rows: int) -> Sample:
    """Return x = z + e and y = z + 0.5 x, plus noise with a Cauchy distribution."""
    z, e = random.standard_normal((2, n_rows))
    x = z + e
    return sample(x, z + 0.5 * x + 0.5 * random.standard_cauchy(n_rows), z)


def crossing_lines(random: Random, n_rows: int) -> Sample:
    """Return x = z + h and y = z + h + 0.3 e or z - h + 0.3 e, at random."""
    z, h, e = random.standard_normal((3, n_rows))
    return sample(z + h, z + random.choice([-1, 1], n_rows) * h + 0.3 * e, z)


# ---------------------------------------------------------------- all shapes

_NULL = {
    "design": {
        "x = z + e/2, y = z + e/2": common_cause(lambda z: z),
        "x = z² + e/2, y = z² + e/2": common_cause(lambda z: z**2),
        "x = sin(3z) + e/2, y = sin(3z) + e/2": common_cause(lambda z: np.sin(3 * z)),
        "chain: z = x + e/2, y = z + e/2": chain,
        "both a + b + e/2": common_cause(lambda a, b: a + b, 2),
        "both a² + b² + e/2": common_cause(lambda a, b: a**2 + b**2, 2),
        "both sin(2a) + sin(2b) + e/2": common_cause(
            lambda a, b: np.sin(2 * a) + np.sin(2 * b), 2
        ),
    },
    "further": {
        "both 2 [z > 0] + e/2": common_cause(lambda z: 2.0 * (z > 0)),
        "x = exp(z) + e/2, y sigmoid of z": monotone_causes,
        "x = exp(z) e, y = exp(z) e": common_spread,
        "z is a category": common_category,
        "heavy tails: both z + noise": heavy_tails,
        "chain: z = tanh(2x) + e/2, y = |z|": curved_chain,
        "both a + bc + e/2": common_cause(lambda a, b, c: a + b * c, 3),
    },
}
_DEPENDENT = {
    "design": {
        "x = z + e, y = z + 0.4x + e": effect(lambda x, z: z + 0.4 * x, correlated=True),
        "y = z + x² + e": effect(lambda x, z: z + x**2),
        "y = xz + e": effect(lambda x, z: x * z),
        "y = z + sin(3x) + e": effect(lambda x, z: z + np.sin(3 * x)),
        "y = z + exp(x/2) e": growing_spread,
    },
    "further": {
        "x = z² + e, y = z² + 0.4x + e": common_square_and_effect,
        "common effect: z = x + y + e": common_effect,
        "y = x/2 + e or -x/2 + e, by category z": sign_by_category,
        "x, y share a + b + c, y + 0.4x": three_given,
        "y = z + [x > 1/2] + e": effect(lambda x, z: z + (x > 0.5)),
        "y = z + x/2 + heavy tails": cauchy_noise,
        "x = z + h, y = z + h or z - h": crossing_lines,
        "y = z cos(2x) + e": effect(lambda x, z: z * np.cos(2 * x)),
    },
}


def all_shapes() -> list[Shape]:
    """Return all shapes: the null ones first."""
    shapes = [
        Shape(name, group, dependent, draw)
        for dependent, groups in ((False, _NULL), (True, _DEPENDENT))
        for group, draws in groups.items()
        for name, draw in draws.items()
    ]
    shapes += _simulations()
    return sorted(shapes, key=lambda shape: shape.dependent)


def _simulations() -> list[Shape]:
    """Return hyppo's simulations with their default numbers of columns.

    If y has two columns, the first one is the target.
    """
    from hyppo.tools.conditional_indep_sim import COND_SIMULATIONS

    def drawn(simulate: Callable[..., tuple[Array, Array, Array]]) -> Draw:
        def draw(random: Random, n_rows: int) -> Sample:
            seed = int(random.integers(2**32))
            x, y, z = (
                np.asarray(part, float).reshape(n_rows, -1)
                for part in simulate(n_rows, random_state=seed)
            )
            return Sample(x, y[:, 0], z)

        return draw

    return [
        Shape(
            name.replace("_", " ").replace("liear", "linear"),
            "hyppo",
            "indep" not in name,
            drawn(simulate),
        )
        for name, simulate in COND_SIMULATIONS.items()
    ]
