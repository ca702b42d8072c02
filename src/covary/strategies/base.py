"""What a search strategy is: a generator of candidates that is sent their scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from itertools import chain, combinations, islice
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

Sets = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]

# So many sets at once: enough to keep all workers busy, few enough to hold.
BATCH = 1 << 17


class Batch(NamedTuple):
    """Sets to be scored: one line each, columns ascending; all of one size.

    ``stage`` says in words what they are part of, ``total`` how many sets the stage has in all,
    ``remember`` how many of its best sets the next stage builds on.
    """

    sets: Sets
    stage: str
    total: int
    remember: int = 0


Batches = Generator[Batch, Scores, None]


class Strategy(ABC):
    """A way to choose which sets to score; subclasses are frozen dataclasses."""

    name: ClassVar[str]
    summary: ClassVar[str]
    takes_target: ClassVar[bool] = True
    max_size: int | None

    @abstractmethod
    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        """Yield batches of sets and be sent their scores.

        With ``fixed`` = 1, every set has one column more that is not among the ``n_columns``, and
        sets start with a single column.
        """

    def run(self, n_columns: int, fixed: int, score: Callable[[Batch], Scores]) -> None:
        """Go through all batches; ``score`` returns the scores of one."""
        batches = self.batches(n_columns, fixed)
        batch = next(batches, None)
        while batch is not None:
            try:
                batch = batches.send(score(batch))
            except StopIteration:
                return

    def count(self, n_columns: int, fixed: int = 0) -> int | None:
        """Return how many sets will be scored, if that is known beforehand."""
        return None


def stage(size: int, fixed: int) -> str:
    """Return the sets of a size in words."""
    return "pairs" if size + fixed == 2 else f"sets of {size + fixed}"


def all_sets(n_columns: int, size: int, fixed: int, remember: int = 0) -> Batches:
    """Yield all sets of a size in lexicographic order."""
    total = math.comb(n_columns, size)
    every = combinations(range(n_columns), size)
    for first in range(0, total, BATCH):
        n_sets = min(BATCH, total - first)
        numbers = chain.from_iterable(islice(every, n_sets))
        sets = np.fromiter(numbers, np.int32, n_sets * size).reshape(n_sets, size)
        yield Batch(sets, stage(size, fixed), total, remember)


def listed_sets(sets: list[tuple[int, ...]], fixed: int, remember: int = 0) -> Batches:
    """Yield sets that are listed, all of one size."""
    for first in range(0, len(sets), BATCH):
        part = np.array(sets[first : first + BATCH], np.int32)
        yield Batch(part, stage(part.shape[1], fixed), len(sets), remember)
