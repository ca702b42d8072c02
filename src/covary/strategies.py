"""Deprecated alias of `covary.searching.strategies`."""

import warnings
from typing import Any

from covary.searching import strategies

_NAMES = ["Batch", "Beam", "Exhaustive", "FourS", "Strategy", "all_strategies", "find_strategy"]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'covary.strategies' has no attribute {name!r}")
    message = "covary.strategies is deprecated: use covary.searching.strategies instead"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(strategies, name)
