"""The real tables of the experiments, each read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from covary import errors
from covary.datasets import Loaded, load, missing


@lru_cache(maxsize=2)
def loaded(name: str, folder: Path | None) -> Loaded:
    """Return a table by its name."""
    return load(name, folder)


@lru_cache(maxsize=64)
def fingerprint(name: str, folder: Path | None) -> str:
    """Return what tells a table from any other: what was computed from it is not for another."""
    table = loaded(name, folder)
    seen = hashlib.sha256("\n".join(table.labels or ()).encode())
    for column in table.table.columns:
        seen.update(column.name.encode())
        seen.update(np.ascontiguousarray(column.values, np.float64).tobytes())
    return seen.hexdigest()[:16]


def check_tables(names: Iterable[str], folder: Path | None) -> None:
    """Refuse if a table is not to be had, before hours of work."""
    if absent := missing(names, folder):
        raise errors.datasets_missing(absent, folder)
