"""Synthetic tables of section 7.1: half of the columns are noisy functions of the other half."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from covary.array_types import Floats
from covary.reproduction.experiments.base import Trial

FUNCTIONS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "f1": ("2x + 1", lambda x: 2 * x + 1),
    "f2": ("x² - 2x", lambda x: x**2 - 2 * x),
    "f3": ("log(|x| + 1)", lambda x: np.log(np.abs(x) + 1)),
    "f4": ("sin(2x)", lambda x: np.sin(2 * x)),
}
# Unrelated tables start from other random numbers than related tables.
_UNRELATED_OFFSET = 1_000_000


class Design(NamedTuple):
    """The parameters of a synthetic table.

    Parameters
    ----------
    rows, columns : numbers of rows and columns
    function : "f1" to "f4"
    noise : standard deviation of the noise that is added to the function values
    independent : whether the columns X are independent of each other (A is the identity)
    """

    rows: int
    columns: int
    function: str
    noise: float
    independent: bool


class SyntheticTable(NamedTuple):
    """A synthetic table: its design, whether its columns are related, and its number."""

    design: Design
    related: bool
    number: int

    def values(self, seed: int) -> Floats:
        """Return the cells of the table."""
        draw = related_table if self.related else unrelated_table
        return draw(self.design, seed, self.number)

    def trial(self) -> Trial:
        """Return the trial that scores this table by all methods."""
        return ("table", *self.design, self.related, self.number)


def related_table(design: Design, seed: int, number: int) -> Floats:
    """Return a table in which half of the columns depend on the other half.

    The columns are X = AZ and f(BX) + noise. The matrices A and B depend only on the seed and on
    the number of columns.

    Examples
    --------
    >>> related_table(Design(1000, 3, "f1", 0.5, True), seed=1, number=0).shape
    (1000, 3)

    """
    n_x = (design.columns + 1) // 2
    n_functions = design.columns - n_x
    fixed = np.random.default_rng((seed, design.columns))
    a = fixed.uniform(0.0, 1.0, (n_x, n_x))
    b = fixed.uniform(0.0, 0.5, (n_functions, n_x))
    if design.independent:
        a = np.eye(n_x)
    rng = np.random.default_rng(_seed_key(design, seed, number))
    x = rng.normal(size=(design.rows, n_x)) @ a.T
    w = x @ b.T
    values = FUNCTIONS[design.function][1](w)
    return np.hstack([x, values + rng.normal(size=w.shape) * design.noise])


def unrelated_table(design: Design, seed: int, number: int) -> Floats:
    """Return a table of the same design in which every column is shuffled independently."""
    table = related_table(design, seed, number + _UNRELATED_OFFSET)
    rng = np.random.default_rng((*_seed_key(design, seed, number), 1))
    return np.ascontiguousarray(np.stack([rng.permutation(c) for c in table.T], axis=1))


def _seed_key(design: Design, seed: int, number: int) -> tuple[int, ...]:
    function = int(design.function[1:])
    noise = round(design.noise * 1000)
    return (seed, design.rows, design.columns, function, noise, int(design.independent), number)
