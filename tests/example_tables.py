"""Random tables for property tests: hypothesis draws shape and seed, NumPy the values."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = ("normal", "ties", "binary", "constant", "heavy", "dependent", "offset")


def column(rng, kind, n_rows, others):
    if kind == "normal":
        return rng.normal(size=n_rows)
    if kind == "ties":
        return rng.integers(0, rng.integers(2, 12), size=n_rows).astype(float)
    if kind == "binary":
        return (rng.random(n_rows) < rng.random()).astype(float)
    if kind == "constant":
        return np.full(n_rows, rng.normal())
    if kind == "heavy":
        return rng.standard_cauchy(size=n_rows)
    if kind == "offset":
        return 1e6 + np.round(rng.normal(size=n_rows), 1)
    if others:
        base = np.nan_to_num(others[rng.integers(len(others))])
        return np.sin(2 * base) + rng.choice([0.0, 0.1, 0.5]) * rng.normal(size=n_rows)
    return rng.random(n_rows)


@st.composite
def tables(draw, rows=(3, 120), columns=(2, 5), kinds=KINDS, missing=True):
    """Draw a float array with columns of many kinds, some with NaN if ``missing``."""
    n_rows = draw(st.integers(*rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=columns[0], max_size=columns[1]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = []
    for kind in chosen:
        made.append(column(rng, kind, n_rows, made))
    table = np.column_stack(made)
    if missing and draw(st.booleans()):
        table[rng.random(table.shape) < draw(st.sampled_from([0.02, 0.2, 0.7]))] = np.nan
    return table
