"""Cached access to the real tables of the experiments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from covary import errors
from covary.reproduction.datasets import Loaded, load, missing


@lru_cache(maxsize=2)
def load_cached(name: str, folder: Path | None) -> Loaded:
    """Return the table with this name."""
    return load(name, folder)


@lru_cache(maxsize=64)
def fingerprint(name: str, folder: Path | None) -> str:
    """Return a digest of a table; results of one table are never used for another."""
    loaded = load_cached(name, folder)
    digest = hashlib.sha256("\n".join(loaded.labels or ()).encode())
    for column in loaded.table.columns:
        digest.update(column.name.encode())
        digest.update(np.ascontiguousarray(column.values, np.float64).tobytes())
    return digest.hexdigest()[:16]


def check_tables(names: Iterable[str], folder: Path | None) -> None:
    """Raise an error if a table is not available, before a run that may take hours."""
    if absent := missing(names, folder):
        raise errors.datasets_missing(absent, folder)
