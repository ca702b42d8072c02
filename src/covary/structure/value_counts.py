"""How often values occur."""

from __future__ import annotations

import numpy as np

from covary.array_types import Floats, Integers


def run_lengths(values: Floats) -> Integers:
    """Return the lengths of the runs of equal neighbours; of sorted values, how often each is."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.diff(starts, append=values.size)
