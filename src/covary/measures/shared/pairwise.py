"""Base class of measures of two columns; an aggregate over pairs extends them to larger sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from covary import errors
from covary.array_types import Booleans, Floats
from covary.measures.base import Measure
from covary.measures.shared.complete_rows import MIN_COMPLETE_ROWS, complete_rows, varying_lines
from covary.prepare import Prepared

Aggregate = Literal["mean", "max", "min"] | None
AGGREGATES: dict[str, Callable[[Floats], Any]] = {"mean": np.mean, "max": np.max, "min": np.min}


class Pairwise(Measure):
    """A measure of two columns. A subclass implements `score_pair`.

    Each pair uses the rows in which both columns are present. A pair scores 0 if one of its
    columns is constant in these rows.
    """

    takes_target: ClassVar[bool] = True
    aggregate: Aggregate

    def __post_init__(self) -> None:
        if self.aggregate not in (None, *AGGREGATES):
            raise errors.invalid_parameter(
                "aggregate", "'mean', 'max', 'min' or None", self.aggregate
            )

    @property
    def drops_incomplete_rows(self) -> bool:
        return True

    @property
    def max_columns(self) -> int | None:
        return 2 if self.aggregate is None else None

    @abstractmethod
    def score_pair(self, x: Floats, y: Floats) -> float:
        """Return the score of two columns that vary and have no missing cells."""

    def score_pair_with_target(self, x: Floats, target: Floats) -> float:
        """Return how much of a target another column explains; by default the score."""
        return self.score_pair(x, target)

    def score_values(self, values: Floats, nominal: Booleans, has_target: bool) -> float:
        """Return the score of two columns, one line each; override it to use nominal columns.

        Parameters
        ----------
        values : two columns that vary and have no missing cells
        nominal : whether each of them is nominal
        has_target : whether the second one is a target
        """
        score = self.score_pair_with_target if has_target else self.score_pair
        return score(*values)

    def rows(self, prepared: Prepared, pair: Sequence[int]) -> Floats:
        """Return the values of two columns in the rows in which both are present."""
        return complete_rows(prepared, pair)

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        pairs = list(combinations(columns, 2))
        if target is not None:
            pairs = [(column, target) for column in columns]
        scores = np.zeros(len(pairs))
        for at, pair in enumerate(pairs):
            values = varying_lines(self.rows(prepared, pair))
            if len(values) == 2 and values.shape[1] >= MIN_COMPLETE_ROWS:
                nominal = prepared.nominal[list(pair)]
                scores[at] = self.score_values(values, nominal, target is not None)
        return float(AGGREGATES[self.aggregate or "mean"](np.sort(scores)))
