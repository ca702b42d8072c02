"""The tables of the paper's section 7.1: half of the columns are functions of the other half."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FUNCTIONS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "f1": ("2x + 1", lambda x: 2 * x + 1),
    "f2": ("x² - 2x", lambda x: x**2 - 2 * x),
    "f3": ("log(|x| + 1)", lambda x: np.log(np.abs(x) + 1)),
    "f4": ("sin(2x)", lambda x: np.sin(2 * x)),
}
# Unrelated tables are made from others than related ones.
_OTHERS = 1_000_000


class Recipe(NamedTuple):
    """What a table is drawn from.

    Parameters
    ----------
    rows, columns : how many
    function : "f1" to "f4"
    noise : the standard deviation of what is added to its values
    independent : whether the columns that it takes are independent of each other (A = identity)
    """

    rows: int
    columns: int
    function: str
    noise: float
    independent: bool


def related(recipe: Recipe, seed: int, number: int) -> Floats:
    """Return a table in which half of the columns depend on the other half.

    The matrices A and B are the same for all tables of as many columns.

    Examples
    --------
    >>> related(Recipe(1000, 3, "f1", 0.5, True), seed=1, number=0).shape
    (1000, 3)

    """
    n_given = (recipe.columns + 1) // 2
    n_functions = recipe.columns - n_given
    fixed = np.random.default_rng((seed, recipe.columns))
    a = fixed.uniform(0.0, 1.0, (n_given, n_given))
    b = fixed.uniform(0.0, 0.5, (n_functions, n_given))
    if recipe.independent:
        a = np.eye(n_given)
    draw = np.random.default_rng(_key(recipe, seed, number))
    x = draw.normal(size=(recipe.rows, n_given)) @ a.T
    w = x @ b.T
    values = FUNCTIONS[recipe.function][1](w)
    return np.hstack([x, values + draw.normal(size=w.shape) * recipe.noise])


def unrelated(recipe: Recipe, seed: int, number: int) -> Floats:
    """Return a table with such columns, each in an order of its own: nothing depends."""
    table = related(recipe, seed, number + _OTHERS)
    draw = np.random.default_rng((*_key(recipe, seed, number), 1))
    return np.ascontiguousarray(np.stack([draw.permutation(c) for c in table.T], axis=1))


def _key(recipe: Recipe, seed: int, number: int) -> tuple[int, ...]:
    function = int(recipe.function[1:])
    noise = round(recipe.noise * 1000)
    return (seed, recipe.rows, recipe.columns, function, noise, int(recipe.independent), number)
