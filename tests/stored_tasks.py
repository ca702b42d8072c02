"""The items of the results of tasks that a run file stores."""

from __future__ import annotations

import numpy as np


def items_of(call, first, items, sizes, results):
    """Return call, number and results of each item of a row of stored tasks.

    How many items a row has depends on the time that they took.
    """
    ends = np.cumsum(np.frombuffer(sizes, np.int64))
    parts = np.split(np.frombuffer(results), ends[:-1])
    return [(call, first + at, tuple(part.tolist())) for at, part in enumerate(parts)]
