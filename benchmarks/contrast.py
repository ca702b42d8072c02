"""What uds-chance and uds read where one knows the answer: `python -m benchmarks.contrast`."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import covary

Array = npt.NDArray[np.float64]
Random = np.random.Generator
ROWS = 4000
REPEATS = 20
MEASURES = ("uds-chance", "uds")


def normal_pair(correlation: float) -> Callable[[Random], Array]:
    """Return how to draw a normal pair."""

    def draw(random: Random) -> Array:
        a, b = random.standard_normal((2, ROWS))
        return np.column_stack([a, correlation * a + np.sqrt(1 - correlation**2) * b])

    return draw


def function(of: Callable[[Array], Array]) -> Callable[[Random], Array]:
    """Return how to draw x, uniform in [-1, 1], and a function of it."""

    def draw(random: Random) -> Array:
        x = random.uniform(-1, 1, ROWS)
        return np.column_stack([x, of(x)])

    return draw


def of_two(of: Callable[[Array, Array], Array]) -> Callable[[Random], Array]:
    """Return how to draw a and b, normal, and a function of them."""

    def draw(random: Random) -> Array:
        a, b = random.standard_normal((2, ROWS))
        return np.column_stack([a, b, of(a, b)])

    return draw


def circle(random: Random) -> Array:
    """Return points on the unit circle."""
    angle = random.uniform(0, 2 * np.pi, ROWS)
    return np.column_stack([np.cos(angle), np.sin(angle)])


ROWS_OF_TABLE: dict[str, list[Callable[[Random], Array]]] = {
    "two / ten independent": [
        lambda random: random.standard_normal((ROWS, 2)),
        lambda random: random.standard_normal((ROWS, 10)),
    ],
    "ten independent, but 30 rows": [lambda random: random.standard_normal((30, 10))],
    "normal pair, correlation 0.1 / 0.5 / 0.7 / 0.9": [
        normal_pair(correlation) for correlation in (0.1, 0.5, 0.7, 0.9)
    ],
    "x and: x / its square / one period of a sine": [
        function(lambda x: x),
        function(lambda x: x**2),
        function(lambda x: np.sin(np.pi * x)),
    ],
    "a, b and: a + b / a b": [of_two(np.add), of_two(np.multiply)],
    "points on a circle": [circle],
}


def main() -> None:
    """Print the table in Markdown."""
    print(f"| {ROWS} rows, means of {REPEATS} tables | `uds-chance` | `uds` |\n|---|---|---|")
    for name, draws in ROWS_OF_TABLE.items():
        cells = [" / ".join(mean(draw, measure) for draw in draws) for measure in MEASURES]
        print(f"| {name} | {' | '.join(cells)} |")


def mean(draw: Callable[[Random], Array], measure: str) -> str:
    """Return the mean score of seeded tables."""
    random = np.random.default_rng(2016)
    scores = [covary.score(draw(random), measure=measure) for _ in range(REPEATS)]
    return f"{np.mean(scores):.3f}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", covary.CovaryWarning)
    main()
