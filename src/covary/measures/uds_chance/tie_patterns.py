"""The entropy of a column under independence.

It depends only on the number of rows and on the ties.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Floats, Integers

# Tables over the size of a cell have an entry for every size up to this. Above, they have
# `EVERY_SIZE / 2` entries per doubling.
EVERY_SIZE = 4096
# Expectations for tied columns are computed for this many sizes per doubling and at most this many
# thresholds, and interpolated in between.
SIZES_PER_DOUBLING = 4
MAX_THRESHOLDS = 48
# Results are cached for tables with up to this many rows.
MAX_ROWS_CACHED = 1 << 16


class TiePattern(NamedTuple):
    """Moments of the entropy of mid-ranks.

    Parameters
    ----------
    entropy : h times the number of rows
    unit : the expected relative decrease of the entropy per additional cell
    variance, skewness : moments of this decrease, scaled to mean 1
    gaps : differences of successive mid-ranks; empty without ties, where all are 1
    biases : by cell size (`table_sizes`), the expected bias of the estimate of the cell's entropy,
        as a fraction of the entropy of all rows
    """

    entropy: float
    unit: float
    variance: float
    skewness: float
    gaps: Floats
    biases: Floats


def tie_pattern(n: int, ends: Integers) -> TiePattern:
    """Return the pattern of a column with n rows.

    ``ends`` are the positions in the sorted column at which a new value begins.
    """
    if ends.size == n - 1:
        return _without_ties(n)
    return _pattern(n, ends, None) if n > MAX_ROWS_CACHED else _cached_pattern(n, ends.tobytes())


@lru_cache(maxsize=8)
def _without_ties(n: int) -> TiePattern:
    sizes = np.clip(table_sizes(n), 1, n)
    pattern = _pattern(n, np.arange(1, n), _bias_without_ties(n, sizes))
    return pattern._replace(gaps=np.empty(0))


@lru_cache(maxsize=8)
def _cached_pattern(n: int, ends: bytes) -> TiePattern:
    return _pattern(n, np.frombuffer(ends, np.int64), None)


def _pattern(n: int, ends: Integers, relative_bias: Floats | None) -> TiePattern:
    entropy, own_gaps = tie_entropy(n, ends)
    ends, gaps = _canonical(n, ends, own_gaps)
    variance, skewness = kernels.uds_chance.expected_entropy.null_shape(ends / n, gaps)
    sizes = table_sizes(n)
    if relative_bias is None:
        relative_bias = _bias_with_ties(n, np.clip(sizes, 1, n), ends, gaps)
    return TiePattern(
        entropy=entropy,
        unit=float(gaps.sum()) / (4.0 * n * entropy),
        variance=variance,
        skewness=skewness,
        gaps=own_gaps,
        biases=sizes * relative_bias / n,
    )


def tie_entropy(n: int, ends: Integers) -> tuple[float, Floats]:
    """Return the entropy and the gaps of a pattern, which take little time."""
    counts = np.diff(ends, prepend=0, append=n)
    own_gaps = (counts[1:] + counts[:-1]) / 2.0
    ends, gaps = _canonical(n, ends, own_gaps)
    harmonics = kernels.shared.entropy_tables.weighted_harmonics(n)
    entropies = harmonics[n] - harmonics[ends] - harmonics[n - ends]
    return float(np.sum(entropies * gaps)) / (2.0 * n), own_gaps


def _canonical(n: int, ends: Integers, gaps: Floats) -> tuple[Integers, Floats]:
    """Return ends and gaps of the column or of the reversed one, which has the same moments."""
    reversed_ends = n - ends[::-1]
    if ends.tolist() < reversed_ends.tolist():
        return ends, gaps
    return reversed_ends, gaps[::-1].copy()


@lru_cache(maxsize=4)
def table_sizes(most: int) -> Integers:
    """Return the cell sizes for which tables have entries, as the kernel `look_up` expects."""
    sizes = np.arange(min(most, EVERY_SIZE) + 1)
    half = EVERY_SIZE // 2
    while sizes[-1] < most:
        step = 2 * (sizes[-1] // EVERY_SIZE)
        more = sizes[-1] + step * np.arange(1, half + 1)
        sizes = np.append(sizes, more[: 1 + np.searchsorted(more, most)])
    return sizes


def _bias_without_ties(n: int, sizes: Integers) -> Floats:
    """Return the exact relative bias of the estimate of h from k random rows, for each size k.

    Any two neighbours in a random sample of k rows are (n + 1) / (k + 1) ranks apart on average.
    The estimates of H over all thresholds sum to (k - 1) (k + 2) / 2k.
    """
    k = sizes.astype(np.float64)
    return 1.0 - (k - 1) * (k + 2) / (k * (k + 1)) * (n / (n - 1.0)) * ((n + 1.0) / (n + 2.0))


def _bias_with_ties(n: int, sizes: Integers, ends: Integers, gaps: Floats) -> Floats:
    """Return the relative bias of the estimate of h from a random sample, for each size."""
    firsts, weights = _few_thresholds(n, ends, gaps)
    some = some_sizes(n)
    harmonics = kernels.shared.entropy_tables.weighted_harmonics(n)
    expected = kernels.uds_chance.expected_entropy.expected_entropies(
        n, firsts, weights, some, harmonics
    )
    # The bias times the size is a smooth function of the logarithm of the size.
    scaled_bias = some * (1.0 - expected / expected[-1])
    return interpolated(np.log(sizes), np.log(some), scaled_bias) / sizes


def some_sizes(n: int) -> Integers:
    """Return the cell sizes for which expectations are computed."""
    doublings = np.arange(1, SIZES_PER_DOUBLING * n.bit_length()) / SIZES_PER_DOUBLING
    some = np.concatenate([np.arange(1, 17), np.rint(16 * 2**doublings).astype(np.int64)])
    return np.append(some[some < n], n)


def _few_thresholds(n: int, ends: Integers, gaps: Floats) -> tuple[Integers, Floats]:
    """Return a few thresholds and weights that represent all; H is symmetric in them."""
    firsts, which = np.unique(np.minimum(ends, n - ends), return_inverse=True)
    weights = np.bincount(which, gaps).astype(np.float64)
    if firsts.size <= MAX_THRESHOLDS:
        return firsts, weights
    angles = np.arcsin(np.sqrt(firsts / n))
    spread = np.linspace(angles[0], angles[-1], MAX_THRESHOLDS)
    few = np.unique(np.rint(n * np.sin(spread) ** 2).astype(np.int64))
    at = np.clip(np.searchsorted(few, firsts, side="right") - 1, 0, few.size - 2)
    few_angles = np.arcsin(np.sqrt(few / n))
    part = (angles - few_angles[at]) / (few_angles[at + 1] - few_angles[at])
    shared = np.bincount(at, weights * (1 - part), few.size)
    shared += np.bincount(at + 1, weights * part, few.size)
    return few, shared.astype(np.float64)


def interpolated(wanted: Floats, places: Floats, values: Floats) -> Floats:
    """Return values interpolated by Lagrange's polynomial through four neighbours."""
    nearest = min(4, places.size)
    first = np.clip(np.searchsorted(places, wanted) - 2, 0, places.size - nearest)
    result = np.zeros(wanted.size)
    for j in range(nearest):
        term = values[first + j].copy()
        for k in range(nearest):
            if k != j:
                term *= wanted - places[first + k]
                term /= places[first + j] - places[first + k]
        result += term
    return result
