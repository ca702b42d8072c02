"""Numba functions: arrays in, arrays out.

The submodules are loaded when they are first used, because importing numba takes longer than all
the rest of covary: ``from covary import kernels``, then ``kernels.step.discretize(...)``.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_SUBMODULES = (
    "chance",
    "clusters",
    "columns",
    "contents",
    "cubes",
    "evidence",
    "gains",
    "grids",
    "intervals",
    "orders",
    "partition",
    "quadratic",
    "shuffling",
    "slices",
    "sorting",
    "step",
    "strengths",
    "symbols",
    "tables",
)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"covary.kernels.{name}")
    raise AttributeError(f"module 'covary.kernels' has no attribute {name!r}")
