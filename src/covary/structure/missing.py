"""Missing cells: columns that are missing together, and links that missingness carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Booleans, Columns
from covary.engines import run_here
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.prepare import Prepared
from covary.table import Column, Table

# Columns are missing together if all are missing in this share of the rows in which any is, and
# the correlation of two patterns is at least the second number: columns that are nearly always
# missing share most of their rows by chance.
TOGETHER = 0.9
CORRELATED = 0.8
# Fewer rows say nothing.
MIN_ROWS = 5


class Together(NamedTuple):
    """Columns, by position, that are missing together; see `covary.results.MissingTogether`."""

    columns: Columns
    rows: int
    share: float


def missing_rows(prepared: Prepared, column: int) -> Booleans:
    """Return the rows in which a column is missing."""
    missing = np.zeros(prepared.n_rows, np.bool_)
    missing[prepared.orders[column, prepared.n_present[column] :]] = True
    return missing


def find_missing_together(prepared: Prepared, columns: Sequence[int]) -> list[Together]:
    """Return the groups of columns that are missing in about the same rows."""
    some = [c for c in columns if prepared.n_rows - prepared.n_present[c] >= MIN_ROWS]
    lines = [missing_rows(prepared, c) for c in some]
    rows = np.array(lines).reshape(len(some), prepared.n_rows)
    # Exactly equal patterns first: most columns of a table share a few of them.
    by_pattern: dict[bytes, list[int]] = {}
    for at, line in enumerate(rows):
        by_pattern.setdefault(np.packbits(line).tobytes(), []).append(at)
    patterns = sorted(by_pattern, key=lambda each: (-len(by_pattern[each]), each))
    groups: list[list[int]] = []
    for pattern in patterns:
        members = by_pattern[pattern]
        for group in groups:
            if _are_together(rows[[*group, members[0]]]):
                group += members
                break
        else:
            groups.append(list(members))
    found = []
    for group in groups:
        if len(group) > 1:
            together, share = _rows_together(rows[group])
            found.append(Together(tuple(some[at] for at in sorted(group)), together, share))
    return sorted(found, key=lambda each: (-len(each.columns), -each.rows, each.columns))


def _are_together(rows: Booleans) -> bool:
    """Return whether patterns of missing cells, the last of which is new, are nearly the same."""
    if _rows_together(rows)[1] < TOGETHER or rows[[0, -1]].all(axis=1).any():
        return False
    return bool(np.corrcoef(rows[0], rows[-1])[0, 1] >= CORRELATED)


def _rows_together(rows: Booleans) -> tuple[int, float]:
    """Return how many rows are in all patterns, and their share of those in any pattern."""
    together = int(np.count_nonzero(rows.all(axis=0)))
    return together, together / int(np.count_nonzero(rows.any(axis=0)))


def explained_by_missing(prepared: Prepared, target: int, by: Sequence[int]) -> float:
    """Return the fraction of a target that is explained by whether columns are missing."""
    some = [column for column in by if prepared.has_missing(column)]
    if not some:
        return 0.0
    values = prepared.by_row(target)
    kind = "nominal" if prepared.nominal[target] else "number"
    indicators = [
        Column(str(column), missing_rows(prepared, column).astype(np.float64)) for column in some
    ]
    table = Table((Column("target", values, kind), *indicators), prepared.n_rows)
    small = Prepared(table)
    which = np.array([small.varying(range(1, len(some) + 1))], np.int32)
    if which.size == 0 or small.entropies[0] == 0:
        return 0.0
    scorer = SetScorer(small, None, 0)
    ((_, scores),) = scorer.score(which, run_here(small))
    return float(scores[0])
