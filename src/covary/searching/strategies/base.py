"""What a search strategy is: a generator of candidate sets that receives their scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from itertools import chain, combinations, islice
from typing import ClassVar, NamedTuple

import numpy as np

from covary.array_types import Columns, ColumnSets, Floats
from covary.options import Options
from covary.registry import Registry

# The text is the same for all strategies, because the command line has one option for all.
MAX_SIZE_HELP = (
    "Maximum number of columns of a set, including the target. By default 5, no limit for "
    "strategy 4s, and 2 for a measure of pairs."
)
# The number of best sets that are kept if every set of the next size is scored: about ten
# megabytes.
REMEMBER = 50_000
# Large enough to keep all workers busy, small enough for memory.
BATCH_SIZE = 1 << 17


class Batch(NamedTuple):
    """Candidate sets of one size.

    Parameters
    ----------
    sets : one line per set, columns ascending
    stage : the stage of the search, as text
    total : the number of sets of the stage
    remember : the number of best sets of this stage from which the next one is built
    """

    sets: ColumnSets
    stage: str
    total: int
    remember: int = 0


Batches = Generator[Batch, Floats, None]


class Strategy(Options, ABC):
    """Decides which sets a search scores; subclasses are frozen dataclasses of options.

    Attributes
    ----------
    takes_target : whether all sets may contain a target
    """

    takes_target: ClassVar[bool] = True
    max_size: int | None

    @property
    def name(self) -> str:
        """The registered name."""
        return STRATEGIES.name_of(self)

    @abstractmethod
    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        """Yield batches of sets and receive their scores.

        With ``fixed`` = 1, every set has one more column that is not among the ``n_columns``, and
        the first sets consist of a single column.
        """

    def batches_within(self, n_columns: int, fixed: int, affordable: int | None) -> Batches:
        """Yield batches as `batches` does, but score about this many sets of three if it helps.

        ``affordable`` is None if the time to score a set is unknown.
        """
        return self.batches(n_columns, fixed)

    def run(
        self,
        n_columns: int,
        fixed: int,
        score: Callable[[Batch], Floats],
        affordable: int | None = None,
    ) -> None:
        """Score all batches; ``score`` returns the scores of one."""
        batches = self.batches_within(n_columns, fixed, affordable)
        batch = next(batches, None)
        while batch is not None:
            try:
                batch = batches.send(score(batch))
            except StopIteration:
                return

    def count(self, n_columns: int, fixed: int = 0) -> int | None:
        """Return the number of sets that will be scored, if it is known in advance."""
        return None


STRATEGIES: Registry[Strategy] = Registry("strategy", "covary.searching.strategies")
register = STRATEGIES.register


def stage_name(size: int, fixed: int) -> str:
    """Return the name of the stage that scores sets of this size."""
    return "pairs" if size + fixed == 2 else f"sets of {size + fixed}"


def all_sets(n_columns: int, size: int, fixed: int, remember: int = 0) -> Batches:
    """Yield all sets of a size in lexicographic order."""
    total = math.comb(n_columns, size)
    every = combinations(range(n_columns), size)
    for first in range(0, total, BATCH_SIZE):
        n_sets = min(BATCH_SIZE, total - first)
        numbers = chain.from_iterable(islice(every, n_sets))
        sets = np.fromiter(numbers, np.int32, n_sets * size).reshape(n_sets, size)
        yield Batch(sets, stage_name(size, fixed), total, remember)


def listed_sets(sets: list[Columns], fixed: int, remember: int = 0) -> Batches:
    """Yield the sets of a list, all of one size."""
    for first in range(0, len(sets), BATCH_SIZE):
        part = np.array(sets[first : first + BATCH_SIZE], np.int32)
        yield Batch(part, stage_name(part.shape[1], fixed), len(sets), remember)
