"""The evidence of sets whose columns are shifted in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from covary.array_types import Floats, Integers
from covary.prepare import Prepared
from covary.prepare.selected_rows import with_rows

# Returns the evidence of sets of prepared columns, with or without a target.
Evidence = Callable[[Prepared, Sequence[Sequence[int]], int | None], Floats]


def evidence_of_shifts(
    evidence: Evidence,
    prepared: Prepared,
    sets: Sequence[Sequence[int]],
    shifts: Sequence[Mapping[int, Integers]],
    target: int | None,
) -> Floats:
    """Return the evidence of sets, one line per shift: the rows at the ends do not count.

    Parameters
    ----------
    shifts : by column, the number of rows by which each series is shifted; others stay
    """
    dependent = prepared.dependent
    assert dependent is not None
    used = sorted({column for columns in sets for column in columns})
    places = {column: at for at, column in enumerate(used)}
    moved_sets = [[places[column] for column in columns] for columns in sets]
    moved_target = None if target is None else places[target]
    of_centre = dependent.of_centre()
    lines = np.empty((len(shifts), len(sets)))
    for at, each in enumerate(shifts):
        rows = [dependent.shifted(each[c]) if c in each else dependent.centre for c in used]
        table = with_rows(prepared, used, rows, of_centre)
        lines[at] = evidence(table, moved_sets, moved_target)
    return lines
