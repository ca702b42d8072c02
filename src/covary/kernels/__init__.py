"""Compiled functions by estimator: arrays in, arrays out.

``shared`` holds what several estimators use; ``uds``, ``uds_chance`` and ``baselines`` hold the
rest. Modules are imported on first use, because importing numba takes longer than importing
everything else: ``from covary import kernels``, then ``kernels.uds.step.discretize_many(...)``.

``python -m covary.kernels`` compiles all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def import_on_use(package: str) -> Callable[[str], ModuleType]:
    """Return a module-level ``__getattr__`` that imports the submodules of a package."""

    def import_submodule(name: str) -> ModuleType:
        module = f"{package}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # a dependency, such as numba, is missing
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return import_submodule


__getattr__ = import_on_use(__name__)
