"""How a measure scores many sets; the default scores one set after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from covary.array_types import ColumnSets, Floats, Integers
from covary.engines.base import RunTasks
from covary.prepare import Prepared

if TYPE_CHECKING:
    from covary.measures.base import Measure


class Scorer:
    """Scores batches of sets.

    Parameters
    ----------
    shared : what every task needs: the measure, the prepared columns and the target
    """

    def __init__(self, shared: Any) -> None:
        self.shared = shared

    def score(
        self, sets: ColumnSets, run: RunTasks, remember: int = 0
    ) -> Iterator[tuple[Integers, Floats]]:
        """Yield indices of sets and their scores, in chunks and in any order.

        Parameters
        ----------
        sets : one line per set, all of one size, without the target
        run : runs tasks on an engine whose session has ``shared``
        remember : the number of best sets of this size from which larger sets will be built
        """
        for first, scores in run(_score_each, sets):
            yield np.arange(first, first + len(scores)), scores


def _score_each(shared: tuple[Measure, Prepared, int | None], sets: ColumnSets) -> Floats:
    measure, prepared, target = shared
    with_target = {} if target is None else {"target": target}
    return np.array([measure.score_set(prepared, each, **with_target) for each in sets.tolist()])
