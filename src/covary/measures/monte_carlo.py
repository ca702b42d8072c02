"""Random slices: what HiCS and MCDE have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.measures.base import Measure
from covary.measures.rows import LEAST_ROWS
from covary.measures.ties import one_by_content
from covary.prepare import Prepared

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
ByValue = tuple[npt.NDArray[np.uint32], Floats, Numbers]

MOST_SLICES = 1_000_000


class Draws(NamedTuple):
    """What is drawn for a set: by slice, the reference, and a number from 0 to 1 per column."""

    references: Numbers
    uniforms: Floats


class MonteCarlo(Measure):
    """A measure that looks at one column of a set inside random slices of the others.

    Sets of one size get the same draws; which is for which column depends on what the columns
    hold, so that their order does not matter. Columns that never vary take no part. A target is
    the reference of all slices.
    """

    slices: int
    alpha: float
    seed: int

    def __post_init__(self) -> None:
        errors.whole_number("slices", self.slices, 1, MOST_SLICES)
        errors.whole_number("seed", self.seed, 0)
        errors.share("alpha", self.alpha)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        return self._mean(prepared, _varying(prepared, columns), None)

    def score_target(self, prepared: Prepared, columns: Sequence[int], target: int) -> float:
        if prepared.entropies[target] == 0.0:
            return 0.0
        return self._mean(prepared, [*_varying(prepared, columns), target], target)

    def _mean(self, prepared: Prepared, columns: list[int], target: int | None) -> float:
        if len(columns) < 2 or prepared.n_complete(columns) < LEAST_ROWS:
            return 0.0
        members = np.array(columns, np.int64)
        rng = np.random.default_rng(self.seed)
        references = rng.integers(members.size, size=self.slices)
        uniforms = rng.random((self.slices, members.size))
        if target is not None:
            references[:] = members.size - 1
        by_value = (prepared.shuffled_ties(self.seed), prepared.values, prepared.n_present)
        return self.mean_deviation(by_value, members, Draws(references, uniforms))

    def make_ready(self, prepared: Prepared) -> None:
        prepared.shuffled_ties(self.seed)

    @abstractmethod
    def mean_deviation(self, columns: ByValue, members: Numbers, draws: Draws) -> float:
        """Return how much references inside slices differ from those outside, from 0 to 1.

        ``columns`` are the rows by ascending value, the values, and how many are not missing.
        """


def _varying(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    vary = [c for c in columns if prepared.entropies[c] > 0]
    return one_by_content(prepared, vary) if len(vary) > 1 else vary
