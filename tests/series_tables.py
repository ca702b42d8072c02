"""Series for tests, and tables whose rows depend on each other."""

from __future__ import annotations

import numpy as np

from covary.prepare import prepare
from covary.table import TableOptions, declare


def ar(rng, n, phi):
    """Return an autoregressive series."""
    noise = rng.normal(size=n + 100)
    found = np.zeros(n + 100)
    for t in range(1, n + 100):
        found[t] = phi * found[t - 1] + noise[t]
    return found[100:]


def declared(data, **options):
    """Return prepared columns of a table with options."""
    return prepare(declare(data, TableOptions(**options)))
