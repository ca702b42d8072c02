"""Delays: which earlier values of which column explain a target best, and whether by chance.

The evidence of two series that are far from each other in time has an exponential tail, whose
scale follows from their autocorrelations (`covary.significance.time_scales`). The p-value of the
largest evidence is corrected for the number of columns and delays (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import Columns, Floats, OnProgress
from covary.engines import RunTasks
from covary.engines.base import Task
from covary.measures import Measure
from covary.prepare import Prepared
from covary.results.significance import Lag
from covary.significance.time_scales import MEAN_EVIDENCE, EvidenceScales
from covary.significance.time_shifts import TimeShifts, far_relative_shifts
from covary.tail_probability import SMALLEST_PVALUE

MAX_SHIFTS = 200


class LagTest(NamedTuple):
    """What every task needs to compare a target with earlier values of other columns."""

    measure: Measure
    prepared: Prepared
    target: int

    def pair(self, column: int) -> Columns:
        """Return a column and the target, in the order of the table."""
        return (min(column, self.target), max(column, self.target))


def best_lag(
    test: LagTest, others: Sequence[int], run: RunTasks, on_progress: OnProgress | None = None
) -> tuple[list[Lag], int, float, Floats]:
    """Return all delays of all columns, the best one, its p-value, and a null distribution.

    The null distribution is the evidence of the best column, without delay, and the target if
    they are farther apart than all delays.

    Parameters
    ----------
    others : the columns to compare with the target, with all delays
    run : runs tasks on an engine whose session has the test
    on_progress : called with the number of columns done and the number of all
    """
    prepared, target = test.prepared, test.target
    scales = EvidenceScales(prepared)
    # Without delay, by name; all delays of a column have the same null distribution.
    columns = [prepared.table.columns[column] for column in others]
    names = [column.undelayed for column in columns]
    first = dict(zip(names[::-1], others[::-1], strict=True))
    done, total = 0, len(others) + len(first)

    def results(task: Task, items: Sequence[int]) -> list[Any]:
        nonlocal done
        found: list[Any] = [None] * len(items)
        for start, some in run(task, items):
            found[start : start + len(some)] = some
            done += len(some)
            if on_progress is not None:
                on_progress(done, total)
        return found

    evidence, scores = np.array(results(evidence_and_score, others)).T
    nulls = dict(zip(first, results(evidence_beyond_delays, [*first.values()]), strict=True))
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


def evidence_and_score(test: LagTest, columns: Sequence[int]) -> list[tuple[float, float]]:
    """Return the evidence and the score of each column and the target: a task."""
    sets = [test.pair(column) for column in columns]
    measure, prepared, target = test.measure, test.prepared, test.target
    evidence = measure.evidence_shifted(prepared, sets, [{}], target)[0]
    scores = measure.score_sets(prepared, sets, target)
    return list(zip(evidence.tolist(), scores.tolist(), strict=True))


def evidence_beyond_delays(test: LagTest, columns: Sequence[int]) -> list[Floats]:
    """Return the evidence of columns and the target, farther apart than all delays: a task."""
    series, target = test.prepared.series, test.target
    assert series is not None
    shifts = far_relative_shifts(series, test.prepared.table.options.lags, MAX_SHIFTS)
    found = []
    for column in columns:
        moved = TimeShifts(series, (column, target), 0, shifts, ((column,), (target,)))
        pair = [test.pair(column)]
        evidence = moved.evidence(test.measure, test.prepared, pair, range(len(shifts)), target)
        found.append(evidence[:, 0])
    return found
