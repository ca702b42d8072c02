"""The entropy of a nominal column under independence.

It depends only on the numbers of rows of its levels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Floats, Integers
from covary.measures.uds_chance.tie_patterns import (
    MAX_ROWS_CACHED,
    MAX_THRESHOLDS,
    interpolated,
    some_sizes,
    table_sizes,
)


class LevelPattern(NamedTuple):
    """Moments of the entropy of levels.

    Parameters
    ----------
    entropy : the Shannon entropy in nats, by the estimator of the cells
    unit : the expected relative decrease of the entropy per additional cell
    variance, skewness : moments of this decrease, scaled to mean 1: of a chi-square distribution
    biases : by cell size (`table_sizes`), the expected bias of the estimate of the cell's entropy,
        as a fraction of the entropy of all rows
    freedoms : by cell size, the degrees of freedom of the cell
    """

    entropy: float
    unit: float
    variance: float
    skewness: float
    biases: Floats
    freedoms: Floats


def level_pattern(n: int, counts: Integers) -> LevelPattern:
    """Return the pattern of a column with n rows; ``counts`` are the rows of its levels."""
    distinct, numbers = np.unique(counts, return_counts=True)
    if n > MAX_ROWS_CACHED:
        return _pattern(n, distinct, numbers)
    return _cached_pattern(n, distinct.tobytes(), numbers.tobytes())


@lru_cache(maxsize=8)
def _cached_pattern(n: int, counts: bytes, numbers: bytes) -> LevelPattern:
    return _pattern(n, np.frombuffer(counts, np.int64), np.frombuffer(numbers, np.int64))


def _pattern(n: int, counts: Integers, numbers: Integers) -> LevelPattern:
    sizes = table_sizes(n)
    within = np.clip(sizes, 1, n)
    expected = kernels.uds_chance.expected_entropy.expected_level_entropies(
        n, counts, numbers, np.append(within, n)
    )
    entropy = float(expected[-1])
    freedom = int(numbers.sum()) - 1
    return LevelPattern(
        entropy=entropy,
        unit=freedom / (2.0 * n * entropy),
        variance=2.0 / freedom,
        skewness=float(np.sqrt(8.0 / freedom)),
        biases=sizes * (1.0 - expected[:-1] / entropy) / n,
        freedoms=_freedoms(n, counts, numbers, within),
    )


def _freedoms(n: int, counts: Integers, numbers: Integers, sizes: Integers) -> Floats:
    """Return the degrees of freedom of a cell, for each number of rows."""
    few = some_sizes(n)
    # A cell of almost all rows varies as little as the few others.
    some = np.union1d(few, n - few[:-1])
    harmonics = kernels.shared.entropy_tables.weighted_harmonics(n)
    found = kernels.uds_chance.expected_entropy.level_freedoms(
        n, *_few_counts(counts, numbers), some, harmonics
    )
    return np.maximum(interpolated(np.log(sizes), np.log(some), found), 0.0)


def _few_counts(counts: Integers, numbers: Integers) -> tuple[Integers, Floats]:
    """Return a few of many different counts, and how many levels each of them represents."""
    if counts.size <= MAX_THRESHOLDS:
        return counts, numbers.astype(np.float64)
    spread = np.geomspace(counts[0], counts[-1], MAX_THRESHOLDS)
    few = np.unique(np.rint(spread).astype(np.int64))
    at = np.clip(np.searchsorted(few, counts, side="right") - 1, 0, few.size - 2)
    part = (np.log(counts) - np.log(few[at])) / (np.log(few[at + 1]) - np.log(few[at]))
    shared = np.bincount(at, numbers * (1 - part), few.size)
    shared += np.bincount(at + 1, numbers * part, few.size)
    return few, shared.astype(np.float64)
