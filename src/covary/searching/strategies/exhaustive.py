"""Every set up to a size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from covary.options import option
from covary.searching.strategies.base import (
    MAX_SIZE_HELP,
    REMEMBER,
    Batches,
    Strategy,
    all_sets,
    register,
)


@register("exhaustive", "every set up to a size")
@dataclass(frozen=True)
class Exhaustive(Strategy):
    """Score every set of 2 to ``max_size`` columns.

    Parameters
    ----------
    <options>
    """

    max_size: int = option(5, MAX_SIZE_HELP, minimum=2)

    def count(self, n_columns: int, fixed: int = 0) -> int:
        return sum(math.comb(n_columns, size) for size in self._sizes(n_columns, fixed))

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        sizes = self._sizes(n_columns, fixed)
        for size in sizes:
            yield from all_sets(n_columns, size, fixed, REMEMBER if size < sizes[-1] else 0)

    def _sizes(self, n_columns: int, fixed: int) -> range:
        return range(2 - fixed, min(self.max_size - fixed, n_columns) + 1)
