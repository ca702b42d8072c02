"""Measures of two columns, and how they are extended to more: by a named aggregate over pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from covary import errors
from covary.measures.base import Measure
from covary.measures.rows import LEAST_ROWS, Floats, complete_rows, varying
from covary.prepare import Prepared

Aggregate = Literal["mean", "max", "min"] | None
AGGREGATES: dict[str, Callable[[Floats], Any]] = {"mean": np.mean, "max": np.max, "min": np.min}


class Pairwise(Measure):
    """A measure that looks at two columns at a time.

    Rows that lack one of the two are left out of a pair. A column that does not vary in what is
    left depends on nothing: 0.
    """

    aggregate: Aggregate

    def __post_init__(self) -> None:
        if self.aggregate not in (None, *AGGREGATES):
            raise errors.invalid_parameter(
                "aggregate", "'mean', 'max', 'min' or None", self.aggregate
            )

    @property
    def leaves_out_rows(self) -> bool:
        return True

    @property
    def most_columns(self) -> int | None:
        return 2 if self.aggregate is None else None

    @abstractmethod
    def of_pair(self, x: Floats, y: Floats) -> float:
        """Return the score of two columns that vary and have no missing cells."""

    def rows(self, prepared: Prepared, pair: Sequence[int]) -> Floats:
        """Return the values of two columns in the rows that have both."""
        return complete_rows(prepared, pair)

    def of_target(self, x: Floats, target: Floats) -> float:
        """Return how much of a target another column explains: the score itself, mostly."""
        return self.of_pair(x, target)

    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        return self._aggregated(self.of_pair, prepared, list(combinations(columns, 2)))

    def score_target(self, prepared: Prepared, columns: Sequence[int], target: int) -> float:
        return self._aggregated(self.of_target, prepared, [(c, target) for c in columns])

    def _aggregated(
        self,
        score: Callable[[Floats, Floats], float],
        prepared: Prepared,
        pairs: Sequence[tuple[int, int]],
    ) -> float:
        scores = np.zeros(len(pairs))
        for at, pair in enumerate(pairs):
            values = varying(self.rows(prepared, pair))
            if len(values) == 2 and values.shape[1] >= LEAST_ROWS:
                scores[at] = score(*values)
        return float(AGGREGATES[self.aggregate or "mean"](np.sort(scores)))
