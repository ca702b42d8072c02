"""Mean scores of uds-chance and uds for known dependences: `python -m benchmarks.contrast`."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import covary

Array = npt.NDArray[np.float64]
Random = np.random.Generator
Draw = Callable[[Random], Array]
ROWS = 4000
REPEATS = 20
MEASURES = ("uds-chance", "uds")


def normal_pair(correlation: float) -> Draw:
    """Return a function that draws a normal pair with this correlation."""

    def draw(random: Random) -> Array:
        a, b = random.standard_normal((2, ROWS))
        return np.column_stack([a, correlation * a + np.sqrt(1 - correlation**2) * b])

    return draw


def curve(function: Callable[[Array], Array]) -> Draw:
    """Return a function that draws x, uniform in [-1, 1], and ``function(x)``."""

    def draw(random: Random) -> Array:
        x = random.uniform(-1, 1, ROWS)
        return np.column_stack([x, function(x)])

    return draw


def surface(function: Callable[[Array, Array], Array]) -> Draw:
    """Return a function that draws a and b, standard normal, and ``function(a, b)``."""

    def draw(random: Random) -> Array:
        a, b = random.standard_normal((2, ROWS))
        return np.column_stack([a, b, function(a, b)])

    return draw


def circle(random: Random) -> Array:
    """Return points on the unit circle."""
    angle = random.uniform(0, 2 * np.pi, ROWS)
    return np.column_stack([np.cos(angle), np.sin(angle)])


DEPENDENCES: dict[str, list[Draw]] = {
    "two / ten independent": [
        lambda random: random.standard_normal((ROWS, 2)),
        lambda random: random.standard_normal((ROWS, 10)),
    ],
    "ten independent, but 30 rows": [lambda random: random.standard_normal((30, 10))],
    "normal pair, correlation 0.1 / 0.5 / 0.7 / 0.9": [
        normal_pair(correlation) for correlation in (0.1, 0.5, 0.7, 0.9)
    ],
    "x and: x / its square / one period of a sine": [
        curve(lambda x: x),
        curve(lambda x: x**2),
        curve(lambda x: np.sin(np.pi * x)),
    ],
    "a, b and: a + b / a b": [surface(np.add), surface(np.multiply)],
    "points on a circle": [circle],
}


def main() -> None:
    """Print the mean scores as a Markdown table."""
    print(f"| {ROWS} rows, means of {REPEATS} tables | `uds-chance` | `uds` |\n|---|---|---|")
    for name, draws in DEPENDENCES.items():
        cells = [" / ".join(mean_score(draw, measure) for draw in draws) for measure in MEASURES]
        print(f"| {name} | {' | '.join(cells)} |")


def mean_score(draw: Draw, measure: str) -> str:
    """Return the mean score of seeded tables."""
    random = np.random.default_rng(2016)
    scores = [covary.score(draw(random), measure=measure) for _ in range(REPEATS)]
    return f"{np.mean(scores):.3f}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", covary.CovaryWarning)
    main()
