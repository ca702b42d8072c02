"""How much the evidence of time series varies, compared with that of independent rows.

The correlation of two unrelated series varies more if both are autocorrelated: its variance is
multiplied by the sum over all lags of the product of both autocorrelations (Bartlett 1935). The
evidence, a logarithm of a probability, grows by about the same factor. It grows by more if other
properties of the series are autocorrelated, such as their spread. So the factor is at least the
mean evidence of both columns if they are far from each other in time, relative to that of
independent rows. Divided by it, the evidence of different pairs has similar null distributions,
so that a few slow series do not hide the relations of fast ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from covary.array_types import Booleans, Floats
from covary.prepare import Prepared, Ranks
from covary.table.dependent_rows import DependentRows

# The mean evidence of independent rows.
MEAN_EVIDENCE = 0.85
# A nominal column is represented by this many of its levels.
MAX_LEVELS = 20


class EvidenceScales:
    """The scale of the evidence of sets; 1 if rows are no series.

    Parameters
    ----------
    prepared : the columns
    """

    def __init__(self, prepared: Prepared) -> None:
        series = prepared.series
        self.factors: Floats | None = None
        if series is None:
            return
        every = [
            _autocorrelations(prepared, column, series) for column in range(len(prepared.names))
        ]
        lags = np.arange(1, every[0].size + 1)
        weights = 2.0 * (1.0 - lags / float(series.sizes.max()))
        correlations = np.array(every)
        self.factors = np.maximum(1.0 + (correlations * weights) @ correlations.T, 1.0)

    def raised(self, mean_evidence: Floats) -> EvidenceScales:
        """Return scales that agree with the mean evidence of unrelated pairs, NaN if unknown."""
        assert self.factors is not None
        raised = copy(self)
        raised.factors = np.fmax(self.factors, mean_evidence / MEAN_EVIDENCE)
        return raised

    def of_set(self, columns: Sequence[int], target: int | None = None) -> float:
        """Return the scale of a set: the largest one of its pairs, or of those with the target."""
        if self.factors is None:
            return 1.0
        if target is not None:
            return float(max(self.factors[c, target] for c in columns if c != target))
        factors = self.factors[np.ix_(columns, columns)]
        return float(factors[~np.eye(len(columns), dtype=np.bool_)].max())

    def scaled(
        self, evidence: Floats, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Floats:
        """Return evidence divided by its scale; sets are on the last axis."""
        if self.factors is None:
            return evidence
        scaled: Floats = evidence / np.array([self.of_set(columns, target) for columns in sets])
        return scaled


def _autocorrelations(prepared: Prepared, column: int, dependent: DependentRows) -> Floats:
    """Return the rank autocorrelations of a column at lags from 1 to half of the longest series.

    Those of a nominal column are the means over its levels, weighted by their variances.
    """
    n_lags = max(int(dependent.sizes.max()) // 2, 1)
    signals = _signals(prepared, column)
    covariances, variance = np.zeros(n_lags), 0.0
    for signal in signals:
        for start, end in zip(dependent.starts[:-1], dependent.starts[1:], strict=True):
            own = signal[start:end]
            variance += float(own @ own)
            size = 1 << int(2 * own.size - 1).bit_length()
            spectrum = np.fft.rfft(own, size)
            products = np.fft.irfft(spectrum * spectrum.conj(), size)[1 : own.size]
            used = min(n_lags, products.size)
            covariances[:used] += products[:used]
    return covariances / variance if variance > 0.0 else covariances


def _signals(prepared: Prepared, column: int) -> list[Floats]:
    """Return centred ranks, or which rows have each of the most frequent levels; 0 if missing."""
    ranks = prepared.derived(Ranks).by_row[column].astype(np.float64)
    present = np.zeros(prepared.n_rows, np.bool_)
    present[prepared.orders[column, : prepared.n_present[column]]] = True
    if not prepared.nominal[column]:
        _, codes, counts = np.unique(ranks[present], return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        signal = np.zeros(prepared.n_rows)
        signal[present] = (ends - (counts - 1) / 2.0)[codes]
        return [_centred(signal, present)]
    levels, counts = np.unique(ranks[present], return_counts=True)
    frequent = levels[np.argsort(-counts, kind="stable")[:MAX_LEVELS]]
    is_level = [(ranks == level) & present for level in frequent]
    return [_centred(each.astype(np.float64), present) for each in is_level]


def _centred(signal: Floats, present: Booleans) -> Floats:
    signal[present] -= signal[present].mean()
    return signal
