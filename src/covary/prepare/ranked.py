"""Columns by their mid-ranks, and what chance does to their entropy."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Tables over the size of a cell have every size up to this, then this many for each doubling.
EVERY_SIZE = 4096
# What is expected of tied columns is computed for these many sizes of a doubling, and for these
# many thresholds, and interpolated in between.
SIZES_PER_DOUBLING = 4
MOST_THRESHOLDS = 48
# Up to so many rows, what depends on the ties alone is kept for the next table with the same ones.
MOST_KEPT = 1 << 16


class Ranked:
    """What the chance-corrected estimator needs of every column; entries are one per column.

    h is the mean of cumulative and cumulative residual entropy of the mid-ranks, estimated as in
    `covary.kernels.chance`.

    Attributes
    ----------
    entropies : h, divided by the number of rows that have a value: 1/4 without ties, 0 for a
        constant
    units : what one cell more is expected to take off the entropy, as a share of it, if the cells
        are large and independent of the column: 1 / rows without ties
    variances, skewnesses : how that varies, if it were 1 on average
    gap_lines, gap_of : distances from each row's rank to that of the next, in the order of the
        column, and which line of them is that of a column
    bias_lines, bias_of : by number of rows of a cell (`table_sizes`), what the estimate of its
        entropy is expected to fall short by if it is independent of the column, as a share of the
        entropy of all rows

    """

    def __init__(self, sorted_columns: list[Floats], n_rows: int) -> None:
        n_columns = len(sorted_columns)
        self.entropies = np.zeros(n_columns)
        self.units = np.zeros(n_columns)
        self.variances = np.zeros(n_columns)
        self.skewnesses = np.zeros(n_columns)
        self.gap_of = np.zeros(n_columns, np.int64)
        self.bias_of = np.zeros(n_columns, np.int64)
        gap_lines = [np.ones(n_rows)]  # the line of all columns without ties
        bias_lines = [np.zeros(table_sizes(n_rows).size)]
        like: dict[tuple[int, bytes], int] = {}  # the first column with the same ties
        for at, values in enumerate(sorted_columns):
            n = values.size
            ends = np.flatnonzero(values[1:] != values[:-1]) + 1
            if ends.size == 0:
                continue
            untied = ends.size == n - 1
            first = like.setdefault((n, b"" if untied else blake2b(ends.tobytes()).digest()), at)
            if first < at:
                for figures in (*self.nulls, self.entropies, self.gap_of, self.bias_of):
                    figures[at] = figures[first]
                continue
            ties = _without_ties(n) if untied else _with_ties(n, ends)
            self.entropies[at] = ties.entropy / n
            self.units[at] = ties.unit
            self.variances[at] = ties.variance
            self.skewnesses[at] = ties.skewness
            self.bias_of[at] = len(bias_lines)
            bias_lines.append(np.zeros(bias_lines[0].size))
            bias_lines[-1][: ties.biases.size] = ties.biases
            if not untied:
                self.gap_of[at] = len(gap_lines)
                gap_lines.append(np.zeros(n_rows))
                gap_lines[-1][ends - 1] = ties.gaps
        self.gap_lines = np.array(gap_lines)
        self.bias_lines = np.array(bias_lines)

    @property
    def nulls(self) -> tuple[Floats, Floats, Floats]:
        """Units, variances and skewnesses, as the kernels want them."""
        return self.units, self.variances, self.skewnesses


class Ties(NamedTuple):
    """What depends on nothing but the number of rows and which of them are tied.

    Without ties there are no ``gaps``: they are all 1.
    """

    entropy: float
    unit: float
    variance: float
    skewness: float
    gaps: Floats
    biases: Floats


@lru_cache(maxsize=8)
def _without_ties(n: int) -> Ties:
    sizes = np.clip(table_sizes(n), 1, n)
    return _ties(n, np.arange(1, n), _shortfall_without_ties(n, sizes))._replace(gaps=np.empty(0))


def _with_ties(n: int, ends: Counts) -> Ties:
    return _ties(n, ends, None) if n > MOST_KEPT else _kept_ties(n, ends.tobytes())


@lru_cache(maxsize=8)
def _kept_ties(n: int, ends: bytes) -> Ties:
    return _ties(n, np.frombuffer(ends, np.int64), None)


def _ties(n: int, ends: Counts, shortfall: Floats | None) -> Ties:
    counts = np.diff(ends, prepend=0, append=n)
    gaps = (counts[1:] + counts[:-1]) / 2.0
    harmonics = kernels.tables.weighted_harmonics(n)
    coins = harmonics[n] - harmonics[ends] - harmonics[n - ends]
    entropy = float(np.sum(coins * gaps)) / (2.0 * n)
    variance, skewness = kernels.chance.null_shape(ends / n, gaps)
    sizes = table_sizes(n)
    if shortfall is None:
        shortfall = _shortfall_with_ties(n, np.clip(sizes, 1, n), ends, gaps)
    return Ties(
        entropy=entropy,
        unit=float(gaps.sum()) / (4.0 * n * entropy),
        variance=variance,
        skewness=skewness,
        gaps=gaps,
        biases=sizes * shortfall / n,
    )


@lru_cache(maxsize=4)
def table_sizes(most: int) -> Counts:
    """Return the sizes that a table over sizes has entries for, as `look_up` expects them."""
    sizes = np.arange(min(most, EVERY_SIZE) + 1)
    half = EVERY_SIZE // 2
    while sizes[-1] < most:
        step = 2 * (sizes[-1] // EVERY_SIZE)
        more = sizes[-1] + step * np.arange(1, half + 1)
        sizes = np.append(sizes, more[: 1 + np.searchsorted(more, most)])
    return sizes


def _shortfall_without_ties(n: int, sizes: Counts) -> Floats:
    """Return by what share the estimate from so many random rows falls short of h, exactly.

    Neighbours in a random choice of k rows are (n + 1) / (k + 1) ranks apart on average, whichever
    neighbours they are, and the estimates of H over all thresholds sum to (k - 1) (k + 2) / 2k.
    """
    k = sizes.astype(np.float64)
    return 1.0 - (k - 1) * (k + 2) / (k * (k + 1)) * (n / (n - 1.0)) * ((n + 1.0) / (n + 2.0))


def _shortfall_with_ties(n: int, sizes: Counts, ends: Counts, gaps: Floats) -> Floats:
    """Return by what share the estimate from so many random rows falls short of h."""
    firsts, weights = _few_thresholds(n, ends, gaps)
    doublings = np.arange(1, SIZES_PER_DOUBLING * n.bit_length()) / SIZES_PER_DOUBLING
    some = np.concatenate([np.arange(1, 17), np.rint(16 * 2**doublings).astype(np.int64)])
    some = np.append(some[some < n], n)
    harmonics = kernels.tables.weighted_harmonics(n)
    expected = kernels.chance.expected_entropies(n, firsts, weights, some, harmonics)
    # Times the size, it is smooth over the logarithm of the size.
    short = some * (1.0 - expected / expected[-1])
    return _interpolated(np.log(sizes), np.log(some), short) / sizes


def _few_thresholds(n: int, ends: Counts, gaps: Floats) -> tuple[Counts, Floats]:
    """Return thresholds and weights that stand for all; H is symmetric, so one side will do."""
    firsts, which = np.unique(np.minimum(ends, n - ends), return_inverse=True)
    weights = np.bincount(which, gaps).astype(np.float64)
    if firsts.size <= MOST_THRESHOLDS:
        return firsts, weights
    angles = np.arcsin(np.sqrt(firsts / n))
    spread = np.linspace(angles[0], angles[-1], MOST_THRESHOLDS)
    few = np.unique(np.rint(n * np.sin(spread) ** 2).astype(np.int64))
    at = np.clip(np.searchsorted(few, firsts, side="right") - 1, 0, few.size - 2)
    few_angles = np.arcsin(np.sqrt(few / n))
    part = (angles - few_angles[at]) / (few_angles[at + 1] - few_angles[at])
    shared = np.bincount(at, weights * (1 - part), few.size)
    shared += np.bincount(at + 1, weights * part, few.size)
    return few, shared.astype(np.float64)


def _interpolated(wanted: Floats, places: Floats, values: Floats) -> Floats:
    """Return values at the wanted places by Lagrange's polynomial through four neighbours."""
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
