"""Independent random streams from one seed, one for each purpose."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What random numbers are drawn for. The same seed gives different numbers for each."""

    SET_TESTS = 0
    NULL_SEARCHES = 1
    INCREMENTS = 2
    REFERENCE = 3


def random_stream(seed: int, purpose: Purpose, *key: int) -> np.random.Generator:
    """Return the random generator of a purpose and a key, the same on every engine."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), *key))
    return np.random.default_rng(sequence)
