"""What figures and reports need of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from covary.array_types import Columns, Floats
from covary.engines import Engine
from covary.measures import Measure
from covary.prepare import Prepared
from covary.significance.permutation import PermutationResult


@dataclass(frozen=True, eq=False)
class SearchRecord:
    """A search that ended, or was interrupted, with its table.

    Parameters
    ----------
    prepared, measure : the columns that were searched, and the measure that scored them
    engine : where the search ran; figures compute on it, too
    labels : the user's names of the columns
    sets : the positions of the columns of the reported sets, best first
    pairs : the scores of all pairs, NaN where a pair was not scored; None if none were kept
    tested : by set, its p-value and null distribution
    target : the position of the target, if there is one
    complete : whether the search ran to the end
    started, finished : times of the search
    frame_library : the library of the data frame that was searched, if it was one
    """

    prepared: Prepared
    measure: Measure
    engine: Engine
    labels: tuple[Any, ...]
    sets: tuple[Columns, ...] = ()
    pairs: Floats | None = None
    tested: Mapping[Columns, PermutationResult] = field(default_factory=dict)
    target: int | None = None
    complete: bool = True
    started: datetime | None = None
    finished: datetime | None = None
    frame_library: str | None = None
