"""Measures that other packages compute, which need not be installed."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from types import ModuleType

from covary import errors


@cache
def load(measure: str, module: str) -> ModuleType:
    """Return a module that a measure needs; what it warns of on import is not the user's doing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError:
        raise errors.missing_package(measure, module.partition(".")[0]) from None
