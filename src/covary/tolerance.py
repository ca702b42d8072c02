"""Comparison of statistics with a tolerance for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from covary.array_types import Booleans, Floats

# Statistics that are relatively closer than this count as equal.
STATISTIC_TOLERANCE = 1e-9


def lower_limit(observed: Any) -> Any:
    """Return the smallest value that counts as at least as large as an observed statistic."""
    return observed - STATISTIC_TOLERANCE * np.maximum(np.abs(observed), 1.0)


def at_least(values: Floats, observed: Any) -> Booleans:
    """Return which values are at least as large as an observed statistic."""
    return np.asarray(values >= lower_limit(observed))
