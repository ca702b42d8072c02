"""Delays: which earlier values of which column explain a target best, and whether by chance.

The evidence of two series that are far from each other in time has an exponential tail, whose
scale follows from their autocorrelations (`covary.significance.time_scales`). The p-value of the
largest evidence is corrected for the number of columns and delays (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from covary.array_types import Floats
from covary.measures import Measure
from covary.prepare import Prepared
from covary.results.significance import Lag
from covary.significance.time_scales import MEAN_EVIDENCE, EvidenceScales
from covary.significance.time_shifts import TimeShifts, far_relative_shifts
from covary.table.dependent_rows import DependentRows
from covary.tail_probability import SMALLEST_PVALUE

MAX_SHIFTS = 200


def best_lag(
    measure: Measure, prepared: Prepared, others: Sequence[int], target: int
) -> tuple[list[Lag], int, float, Floats]:
    """Return all delays of all columns, the best one, its p-value, and a null distribution.

    The null distribution is the evidence of the best column, without delay, and the target if
    they are farther apart than all delays.
    """
    dependent = prepared.dependent
    assert dependent is not None
    scales = EvidenceScales(prepared)
    sets = [tuple(sorted((column, target))) for column in others]
    unshifted = TimeShifts(dependent, (), 0)
    evidence = unshifted.observed(measure, prepared, sets, target)
    scores = measure.score_sets(prepared, sets, target)
    # Without delay, by name; all delays of a column have the same null distribution.
    columns = [prepared.table.columns[column] for column in others]
    names = [column.undelayed for column in columns]
    first = dict(zip(names[::-1], others[::-1], strict=True))
    nulls = {
        name: _far_evidence(measure, prepared, dependent, column, target)
        for name, column in first.items()
    }
    factors = {
        name: max(scales.of_set((column, target)), float(nulls[name].mean()) / MEAN_EVIDENCE)
        for name, column in first.items()
    }
    scaled = evidence / np.array([factors[name] for name in names])
    best = int(scaled.argmax())
    pvalue = math.exp(-float(scaled[best])) * len(others)
    lags = [
        Lag(column.undelayed, column.lag, float(score), float(own))
        for column, score, own in zip(columns, scores, evidence, strict=True)
    ]
    return lags, best, min(max(pvalue, SMALLEST_PVALUE), 1.0), nulls[names[best]]


def _far_evidence(
    measure: Measure, prepared: Prepared, dependent: DependentRows, column: int, target: int
) -> Floats:
    """Return the evidence of a column and the target, farther apart than all delays."""
    shifts = far_relative_shifts(dependent, prepared.table.options.lags, MAX_SHIFTS)
    moved = TimeShifts(dependent, (column, target), 0, shifts, ((column,), (target,)))
    pair = tuple(sorted((column, target)))
    found: Floats = moved.evidence(measure, prepared, [pair], range(len(shifts)), target)[:, 0]
    return found
