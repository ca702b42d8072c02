"""What the experiments on power share: how often the score of related columns is above chance."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import covary
from covary.experiments.base import (
    METHODS,
    Experiment,
    Result,
    Results,
    Sheet,
    Spec,
    Trial,
    measure_of,
)
from covary.experiments.generator import FUNCTIONS, Recipe, related, unrelated
from covary.experiments.pictures import tiles

Row = dict[str, Any]

ROWS = 4000
LEVEL = 0.05
# The scores of these depend on ranks alone: columns that are unrelated, and without ties, score
# alike whatever their values are, and those of one recipe will do for all.
OF_RANKS = ("uds-chance",)
OF_VALUES = tuple(method for method in METHODS if method not in OF_RANKS)

PAPER, HARDER = "the paper's setting", "independent X"
# The noise in the paper's setting, where its methods have power, and how it is varied.
NOISE = 0.5
NOISES = (0.5, 1.0, 2.0, 4.0)
MUCH_NOISE = 2.0
# With independent X, for each function from where most methods have power to where few do.
HARD_NOISES = {
    "f1": (4.0, 8.0, 16.0, 32.0),
    "f2": (4.0, 8.0, 16.0, 32.0),
    "f3": (0.5, 1.0, 1.5, 2.0),
    "f4": (1.0, 2.0, 4.0, 8.0),
}
# Which of them is taken where noise is not what is varied.
USUAL = 1


class Drawn(NamedTuple):
    """Which table: the recipe, whether its columns are related, and the how many-th."""

    recipe: Recipe
    related: bool
    number: int

    def trial(self) -> Trial:
        """Return the trial that scores this table by all methods."""
        return ("table", *self.recipe, self.related, self.number)


def table_of(drawn: Drawn, seed: int) -> Any:
    """Return the table."""
    draw = related if drawn.related else unrelated
    return draw(drawn.recipe, seed, drawn.number)


class Comparison(NamedTuple):
    """Related tables and unrelated ones, from which the cutoff comes, and what tells them apart.

    Parameters
    ----------
    labels : by heading: setting, function, noise and whatever is varied
    related, unrelated : tables
    controls : unrelated tables of the size of the related ones, where that is another
    """

    labels: dict[str, Any]
    related: Sequence[Drawn]
    unrelated: Sequence[Drawn]
    controls: Sequence[Drawn] = ()


def _for_ranks(drawn: Drawn) -> Drawn:
    """Return the table whose ranks stand for those of an unrelated one."""
    if drawn.related:
        return drawn
    recipe = drawn.recipe._replace(function="f1", noise=NOISE, independent=False)
    return drawn._replace(recipe=recipe)


def power_of(related: Iterable[float], unrelated: Iterable[float]) -> float:
    """Return the share of scores above a cutoff that one more by chance exceeds in 5 % at most.

    Examples
    --------
    >>> power_of([1.0, 2.0, 3.0, 4.0], range(-93, 7))
    0.5

    """
    chance = np.sort(np.fromiter(unrelated, float))
    cutoff = chance[math.ceil((len(chance) + 1) * (1 - LEVEL)) - 1]
    return float(np.mean(np.fromiter(related, float) > cutoff))


@dataclass(frozen=True)
class PowerExperiment(Experiment):
    """An experiment on power: some comparisons, all from one pool of tables."""

    pool: ClassVar[str] = "power"

    @abstractmethod
    def comparisons(self) -> list[Comparison]:
        """Return what is compared."""

    @property
    def rows(self) -> int:
        """How many rows a table has."""
        return 400 if self.quick else ROWS

    @property
    def dimensions(self) -> tuple[int, ...]:
        """How many columns a table has."""
        return (6, 10) if self.quick else (20, 40, 60, 80)

    @property
    def numbers(self) -> range:
        """Of the tables of a kind."""
        return range(20 if self.quick else 100)

    def recipe(self, columns: int, function: str, noise: float, setting: str = PAPER) -> Recipe:
        """Return what tables are drawn from."""
        return Recipe(self.rows, columns, function, noise, setting == HARDER)

    def drawn(self, recipe: Recipe, *, related: bool) -> list[Drawn]:
        """Return all tables of a recipe."""
        return [Drawn(recipe, related, number) for number in self.numbers]

    def settings(self, function: str) -> list[tuple[str, float]]:
        """Return settings and noises where neither is what is varied."""
        hard = HARD_NOISES[function][USUAL]
        return [(PAPER, NOISE), (PAPER, MUCH_NOISE), (HARDER, hard)]

    def trials(self) -> list[Trial]:
        tables = {
            drawn
            for each in self.comparisons()
            for drawn in (*each.related, *each.unrelated, *each.controls)
        }
        return sorted({drawn.trial() for drawn in tables | set(map(_for_ranks, tables))})

    def run(self, trial: Trial) -> Result:
        _, *recipe, is_related, number = trial
        drawn = Drawn(Recipe(*recipe), is_related, number)
        methods = METHODS if drawn == _for_ranks(drawn) else OF_VALUES
        table = table_of(drawn, self.seed)
        return {method: covary.score(table, measure=measure_of(method)) for method in methods}

    def powers(self, results: Results) -> list[Row]:
        """Return the power of all methods for each comparison, with its labels."""
        return self.above(results, lambda each: each.related)

    def alarms(self, results: Results) -> list[Row]:
        """Return how often unrelated tables of the related ones' size are above the cutoff."""
        return self.above(results, lambda each: each.controls)

    def above(
        self, results: Results, tables: Callable[[Comparison], Sequence[Drawn]]
    ) -> list[Row]:
        """Return how many of some tables of each comparison are above its cutoff."""
        return [
            each.labels
            | {
                method: power_of(
                    scores_of(results, tables(each), method),
                    scores_of(results, each.unrelated, method),
                )
                for method in METHODS
            }
            for each in self.comparisons()
        ]

    def how(self) -> list[str]:
        """Return how it was done."""
        n = len(self.numbers)
        functions = ", ".join(f"{name}(x) = {shown}" for name, (shown, _) in FUNCTIONS.items())
        return [
            f"Tables have {self.rows:,} rows. Half of the columns are X = AZ with standard normal "
            "Z and fixed A, drawn from [0, 1]; the others are f(W) + e with W = BX, fixed B, "
            f"drawn from [0, 0.5], and normal e whose standard deviation is the noise; {functions}"
            ". A and B are drawn once for each number of columns, and are the same for all "
            "functions and noises. The more columns, the more W varies: the same noise is less "
            "beside it, and sin(2W) hardly tells anything of X, so that what is seen of f4 with "
            "many columns is how the columns X depend on each other. With independent X, which is "
            "not in the paper, A is the identity, and W varies less. Unrelated tables are drawn "
            "in the same way, and then every column is shuffled by itself.",
            f"The cutoff is that of a test at 0.05 with {n} unrelated tables (the "
            f"{math.ceil((n + 1) * (1 - LEVEL))}th of their scores from the lowest); power is the "
            f"share of {n} related tables above it. Its standard error is up to "
            f"{math.sqrt(0.25 / n):.2f}, and {math.sqrt(0.95 * 0.05 / n):.2f} at a power of 0.95, "
            "without that of the cutoff. A method that gives exactly 0 to unrelated tables, such "
            "as `uds`, has a cutoff of 0, and no false alarm.",
            "The text of the paper does not tell the noise of its figures. Ours was chosen after "
            "first runs: in the paper's setting so that its methods have power, with independent "
            "X so that the methods differ. There it was chosen twice: with noise up to 16 for f1 "
            "and f2 and up to 4 for f4, `uds-chance` and `cmi` had a power of 1.00 in most "
            "comparisons (0.97 and 0.95 on average; `uds-chance` had more than all in 5 of 20, as "
            "much as the best in 15).",
            "The scores of `uds-chance` depend on ranks alone, so that the unrelated tables of "
            "one function serve for all; the error of that cutoff is common to all its figures.",
        ]


def scores_of(results: Results, tables: Iterable[Drawn], method: str) -> list[float]:
    """Return what a method scored for some tables."""
    of_ranks = method in OF_RANKS
    return [
        results[(_for_ranks(drawn) if of_ranks else drawn).trial()][method] for drawn in tables
    ]


def power_sheet(title: str, powers: Sequence[Row]) -> Sheet:
    """Return the figures of one setting, with the mean of all rows."""
    heads = [head for head in powers[0] if head != "setting"]
    labels = ["mean", *[None] * (len(heads) - len(METHODS) - 1)]
    rows = [[row[head] for head in heads] for row in powers]
    return Sheet(title, heads, [*rows, [*labels, *means(powers).values()]])


def power_sheets(title: str, powers: Sequence[Row]) -> list[Sheet]:
    """Return the figures of each setting."""
    return [
        power_sheet(f"{title}: {setting}", where(powers, setting=setting))
        for setting in dict.fromkeys(row["setting"] for row in powers)
    ]


def where(rows: Sequence[Row], **labels: Any) -> list[Row]:
    """Return the rows with these labels."""
    return [row for row in rows if all(row[name] == value for name, value in labels.items())]


def means(rows: Sequence[Row], methods: Sequence[str] = METHODS) -> dict[str, float]:
    """Return the mean of methods over some rows."""
    return {method: float(np.mean([row[method] for row in rows])) for method in methods}


def power_strip(title: str, rows: Sequence[Row], across: str) -> Spec:
    """Return a picture of the power of all methods, one panel for each function."""
    cells = [
        {
            "row": method,
            "value": row[method],
            across: row[across],
            "function": f"{row['f']}: {FUNCTIONS[row['f']][0]}",
        }
        for row in rows
        for method in METHODS
    ]
    return tiles(title, cells, across=across, rows=METHODS, panels="function")
