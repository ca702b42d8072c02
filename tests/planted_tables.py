"""Tables with known structure, for tests of the overview."""

from __future__ import annotations

import numpy as np
import pandas as pd


def planted(seed, n_rows=1000, n_columns=40, noise=0.7):
    """A table and its links: sets of columns that belong together, in random column order."""
    rng = np.random.default_rng(seed)
    columns, links = {}, []

    def normal():
        return rng.normal(size=n_rows)

    def link(*names):
        links.append(frozenset(names))

    columns["hub"] = normal()
    for k in range(3):
        columns[f"leaf{k}"] = columns["hub"] + noise * normal()
        link("hub", f"leaf{k}")
    columns["chain0"] = normal()
    for k in range(1, 4):
        columns[f"chain{k}"] = columns[f"chain{k - 1}"] + noise * normal()
        link(f"chain{k - 1}", f"chain{k}")
    columns["term0"], columns["term1"] = normal(), normal()
    columns["sum"] = columns["term0"] + columns["term1"] + 0.5 * normal()
    link("term0", "term1", "sum")
    columns["factor0"], columns["factor1"] = normal(), normal()
    columns["product"] = columns["factor0"] * columns["factor1"] + 0.3 * normal()
    link("factor0", "factor1", "product")
    bits = rng.integers(0, 2, (2, n_rows))
    columns["bit0"], columns["bit1"] = bits
    columns["xor"] = bits[0] ^ bits[1] ^ (rng.random(n_rows) < 0.1)
    link("bit0", "bit1", "xor")
    columns["original"] = normal()
    columns["copy"] = columns["original"].copy()
    link("original", "copy")
    columns["root"] = normal()
    columns["square"] = columns["root"] ** 2 + 0.3 * normal()
    link("root", "square")
    kinds = (
        normal,
        lambda: rng.random(n_rows),
        lambda: rng.integers(0, 2, n_rows),
        lambda: rng.integers(0, 5, n_rows),
        lambda: rng.exponential(size=n_rows),
    )
    k = 0
    while len(columns) < n_columns:
        columns[f"noise{k}"] = kinds[k % len(kinds)]()
        k += 1
    frame = pd.DataFrame(columns)
    return frame[rng.permutation(frame.columns)], set(links)


def awkward(seed, n_rows=200, n_columns=40):
    """Independent columns of awkward kinds: rare values, ties, levels, missing cells."""
    rng = np.random.default_rng(seed)
    letters, levels = np.array(list("abcde")), np.array([f"level {k}" for k in range(50)])
    kinds = (
        lambda: rng.normal(size=n_rows),
        lambda: rng.random(n_rows) < 0.02,
        lambda: rng.random(n_rows) < 0.3,
        lambda: letters[rng.integers(0, 5, n_rows)],
        lambda: np.exp(3 * rng.normal(size=n_rows)),
        lambda: np.where(rng.random(n_rows) < 0.8, 0, rng.exponential(size=n_rows)),
        lambda: rng.poisson(0.5, n_rows),
        lambda: np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
        lambda: levels[np.minimum(rng.geometric(0.1, n_rows), 49)],
        lambda: rng.integers(0, 10, n_rows),
    )
    return pd.DataFrame({f"c{k}": kinds[k % len(kinds)]() for k in range(n_columns)})
