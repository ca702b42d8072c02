"""Tables with nominal columns for the section `nominal`: relations of two columns, and noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary.table import Column, Table

Random = np.random.Generator
Values = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """Two columns: a nominal one, and another one that is nominal or not."""

    levels: Values
    other: Values
    other_is_nominal: bool

    def table(self) -> Table:
        """Return the pair as a table."""
        kind = "nominal" if self.other_is_nominal else "number"
        columns = (Column("levels", self.levels, "nominal"), Column("other", self.other, kind))
        return Table(columns, self.levels.size)

    def permuted(self, random: Random) -> Pair:
        """Return the pair with the other column permuted."""
        return self._replace(other=random.permutation(self.other))


def _groups(random: Random, n: int, n_levels: int = 4) -> npt.NDArray[np.int64]:
    return random.integers(n_levels, size=n)


def _numbers(levels: npt.NDArray[np.int64], values: Values) -> Pair:
    return Pair(levels.astype(float), values, other_is_nominal=False)


def _levels(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Pair:
    return Pair(one.astype(float), other.astype(float), other_is_nominal=True)


def _shifted(random: Random, n: int) -> Pair:
    levels = _groups(random, n)
    return _numbers(levels, random.standard_normal(n) + 0.18 * levels)


def _one_shifted(random: Random, n: int) -> Pair:
    levels = _groups(random, n)
    return _numbers(levels, random.standard_normal(n) + 0.45 * (levels == 0))


def _spread(random: Random, n: int) -> Pair:
    levels = _groups(random, n)
    return _numbers(levels, random.standard_normal(n) * (1 + 0.25 * levels))


def _two_levels(random: Random, n: int) -> Pair:
    x = random.standard_normal(n)
    return _numbers((random.random(n) < 1 / (1 + np.exp(-0.4 * x))).astype(np.int64), x)


def _ten_levels(random: Random, n: int) -> Pair:
    x = random.standard_normal(n)
    noisy = x + 3.5 * random.standard_normal(n)
    return _numbers(np.clip(np.floor(1.2 * noisy + 5), 0, 9).astype(np.int64), x)


def _ten_levels_curved(random: Random, n: int) -> Pair:
    x = random.standard_normal(n)
    noisy = 0.45 * np.cos(2 * x) + 1.2 * random.standard_normal(n)
    return _numbers(np.clip(np.floor(noisy + 5), 0, 9).astype(np.int64), x)


def _diagonal(random: Random, n: int) -> Pair:
    one, other = _groups(random, n, 6), _groups(random, n, 6)
    return _levels(one, np.where(random.random(n) < 0.14, one, other))


def _skewed_diagonal(random: Random, n: int) -> Pair:
    shares = 1 / np.arange(1, 9)
    one, other = random.choice(8, (2, n), p=shares / shares.sum())
    return _levels(one, np.where(random.random(n) < 0.13, one, other))


def _unusual_cell(random: Random, n: int) -> Pair:
    one, other = _groups(random, n, 6), _groups(random, n, 6)
    return _levels(one, np.where((one == 0) & (random.random(n) < 0.28), 0, other))


# A relation, and the statistic that is optimal or standard for it.
SHAPES: dict[str, Callable[[Random, int], Pair]] = {
    "shifted means, 4 levels": _shifted,
    "one mean shifted, 4 levels": _one_shifted,
    "spread only, 4 levels": _spread,
    "2 levels from a number": _two_levels,
    "10 levels from a number": _ten_levels,
    "10 levels, curved": _ten_levels_curved,
    "6 x 6, diagonal": _diagonal,
    "8 x 8, skewed, diagonal": _skewed_diagonal,
    "6 x 6, one unusual cell": _unusual_cell,
}


# ---------------------------------------------------------------- shapes to confirm with


def _two_groups(random: Random, n: int) -> Pair:
    levels = _groups(random, n, 7)
    return _numbers(levels, random.standard_normal(n) + 0.4 * np.isin(levels, (0, 3, 4)))


def _outliers(random: Random, n: int) -> Pair:
    levels = _groups(random, n, 3)
    return _numbers(levels, random.standard_t(2, n) + 0.3 * levels)


def _mixture(random: Random, n: int) -> Pair:
    levels = _groups(random, n, 3)
    sides = random.choice([-1.0, 1.0], n)
    return _numbers(levels, random.standard_normal(n) + 0.55 * levels * sides)


def _late(random: Random, n: int) -> Pair:
    x = random.random(n)
    other = _groups(random, n, 5)
    return _numbers(np.where((x > 0.85) & (random.random(n) < 0.45), 4, other), x)


def _band(random: Random, n: int) -> Pair:
    one, other = _groups(random, n, 8), _groups(random, n, 8)
    near = (one + random.integers(-1, 2, n)) % 8
    return _levels(one, np.where(random.random(n) < 0.3, near, other))


def _blocks(random: Random, n: int) -> Pair:
    one, other = _groups(random, n, 9), _groups(random, n, 9)
    same_half = other % 3 + 3 * (one // 3)
    return _levels(one, np.where(random.random(n) < 0.22, same_half, other))


FURTHER_SHAPES: dict[str, Callable[[Random, int], Pair]] = {
    "three of 7 levels shifted": _two_groups,
    "shifted, heavy tails": _outliers,
    "two modes": _mixture,
    "one level above a threshold": _late,
    "8 x 8, band": _band,
    "9 x 9, blocks": _blocks,
}


# ---------------------------------------------------------------- independent columns


def _shares(n_levels: int, skewed: bool) -> Values:
    shares = 1 / np.arange(1, n_levels + 1) if skewed else np.ones(n_levels)
    return np.asarray(shares / shares.sum())


def independent_levels(random: Random, n: int, n_levels: int, skewed: bool) -> Column:
    """Return a nominal column."""
    values = random.choice(n_levels, n, p=_shares(n_levels, skewed)).astype(float)
    return Column("levels", values, "nominal")


def _with_missing(random: Random, n: int) -> Column:
    values = np.where(random.random(n) < 0.2, np.nan, random.integers(5, size=n))
    return Column("other", values, "nominal")


# Columns that the levels are compared with.
OTHERS: dict[str, Callable[[Random, int], Column]] = {
    "numbers": lambda random, n: Column("other", random.standard_normal(n)),
    "dates": lambda random, n: Column(
        "other", random.integers(700, size=n).astype(float), "date", dtype="datetime64[D]"
    ),
    "5 levels": lambda random, n: Column(
        "other", random.integers(5, size=n).astype(float), "nominal"
    ),
    "100 levels": lambda random, n: Column(
        "other", random.choice(100, n, p=_shares(100, True)).astype(float), "nominal"
    ),
    "20 % missing": _with_missing,
}


def mixed_table(n_rows: int, n_columns: int) -> Table:
    """Return numbers, booleans, and nominal columns with 5 and with up to 60 levels."""
    random = np.random.default_rng(1)
    draws: list[tuple[Callable[[], Values], str]] = [
        (lambda: random.standard_normal(n_rows), "number"),
        (lambda: random.integers(5, size=n_rows).astype(float), "nominal"),
        (lambda: np.minimum(random.geometric(0.1, n_rows), 60).astype(float), "nominal"),
        (lambda: random.integers(2, size=n_rows).astype(float), "boolean"),
    ]
    columns = []
    for at in range(n_columns):
        draw, kind = draws[at % len(draws)]
        columns.append(Column(f"c{at}", draw(), kind))
    return Table(tuple(columns), n_rows)
