"""Scores of pairs of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from covary.engines import Threads
from covary.measures import Measure
from covary.prepare import Prepared
from covary.strategies import Exhaustive


def pairwise(
    prepared: Prepared,
    measure: Measure,
    *,
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> npt.NDArray[np.float64]:
    """Return the scores of all pairs of prepared columns as a square array."""
    n_columns = len(prepared.names)
    measure.check(prepared, 2)
    scores = np.diag(np.where(prepared.entropies > 0, measure.of_itself, 0.0))
    batches = (batch.sets for batch in Exhaustive(max_size=2).batches(n_columns))
    done, total = 0, n_columns * (n_columns - 1) // 2
    for pairs, found in score_pairs(prepared, measure, batches, n_jobs=n_jobs):
        scores[pairs[:, 0], pairs[:, 1]] = scores[pairs[:, 1], pairs[:, 0]] = found
        done += len(found)
        if on_progress is not None:
            on_progress(done, total)
    return scores


def score_pairs(
    prepared: Prepared,
    measure: Measure,
    batches: Iterable[npt.NDArray[np.int32]],
    *,
    n_jobs: int | None = None,
) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]]:
    """Yield pairs of prepared columns and their scores, a few at a time and in any order."""
    scorer = measure.any_scorer(prepared, None)
    with Threads(n_jobs).session(scorer.shared) as session:
        for pairs in batches:
            for which, found in scorer.score(pairs, session.run):
                yield pairs[which], found
