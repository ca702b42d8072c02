"""Deprecated alias of `covary.reproduction.datasets`."""

import warnings
from typing import Any

from covary.reproduction import datasets


def __getattr__(name: str) -> Any:
    if name not in datasets.__all__:
        raise AttributeError(f"module 'covary.datasets' has no attribute {name!r}")
    message = "covary.datasets is deprecated: use covary.reproduction.datasets instead"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(datasets, name)
