"""Columns in units of their median distance, the usual width of a kernel."""

from __future__ import annotations

import numpy as np

from covary.measures.rows import Floats

# Several square matrices of so many rows fit the memory of most machines: 0.8 GB each.
MOST_ROWS = 10_000


def by_median(values: Floats) -> Floats:
    """Return values over the median distance of two different rows; as they are if that is 0."""
    firsts, seconds = np.triu_indices(values.size, k=1)
    median = float(np.median(np.abs(values[firsts] - values[seconds])))
    return values / median if median > 0 else values
