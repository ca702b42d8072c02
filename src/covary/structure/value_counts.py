"""How often values occur, and where."""

from __future__ import annotations

import numpy as np

from covary.array_types import Floats, Integers
from covary.prepare import Prepared, Ranks


def run_lengths(values: Floats) -> Integers:
    """Return the lengths of the runs of equal neighbours; of sorted values, how often each is."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.diff(starts, append=values.size)


def rank_pattern(prepared: Prepared, column: int) -> bytes:
    """Return what columns with the same ranks have in common, whatever their direction.

    Levels without an order are numbered by their first row.
    """
    ranks = prepared.derived(Ranks).by_row[column].astype(np.int64)
    n = int(prepared.n_present[column])
    missing = np.ones(ranks.size, np.bool_)
    missing[prepared.orders[column, :n]] = False
    _, first, codes = np.unique(ranks[~missing], return_index=True, return_inverse=True)
    if prepared.nominal[column]:
        renumbered = np.empty(first.size, np.int64)
        renumbered[np.argsort(first, kind="stable")] = np.arange(first.size)
        codes = renumbered[codes]
    elif codes.size and codes[0] > first.size - 1 - codes[0]:
        codes = first.size - 1 - codes
    elif codes.size and 2 * codes[0] == first.size - 1:
        codes = min(codes, first.size - 1 - codes, key=lambda each: each.tobytes())
    kind = b"levels" if prepared.nominal[column] else b"ranks"
    return kind + missing.tobytes() + codes.tobytes()
