"""Every set up to a size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from covary import errors
from covary.strategies.base import Batches, Strategy, all_sets

# How many sets of a size may be remembered for the next: some ten megabytes.
REMEMBER = 50_000


@dataclass(frozen=True)
class Exhaustive(Strategy):
    """Score every set of 2 to ``max_size`` columns: nothing is missed, and it takes its time."""

    name = "exhaustive"
    summary = "every set up to a size"

    max_size: int = 5

    def __post_init__(self) -> None:
        errors.whole_number("max_size", self.max_size, 2)

    def count(self, n_columns: int, fixed: int = 0) -> int:
        return sum(math.comb(n_columns, size) for size in self._sizes(n_columns, fixed))

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        sizes = self._sizes(n_columns, fixed)
        for size in sizes:
            yield from all_sets(n_columns, size, fixed, REMEMBER if size < sizes[-1] else 0)

    def _sizes(self, n_columns: int, fixed: int) -> range:
        return range(2 - fixed, min(self.max_size - fixed, n_columns) + 1)
