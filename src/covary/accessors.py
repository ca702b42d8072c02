"""`df.covary`: the public functions as methods of pandas and polars frames.

A frame library that is imported after covary is registered when it is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAME = "covary"
METHODS = ("evidence", "explain", "matrix", "overview", "score", "search", "test")


class FrameMethods:
    """The public functions of covary with a frame as their first argument.

    ``df.covary.overview()`` is ``covary.overview(df)``.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(f"df.covary has no method '{name}': it has {', '.join(METHODS)}")
        import functools

        function = getattr(importlib.import_module("covary.api"), name)
        return functools.update_wrapper(functools.partial(function, self._frame), function)

    def __dir__(self) -> list[str]:
        return list(METHODS)


def _register_pandas(module: ModuleType) -> None:
    if not hasattr(module.DataFrame, NAME):
        module.api.extensions.register_dataframe_accessor(NAME)(FrameMethods)


def _register_polars(module: ModuleType) -> None:
    if not hasattr(module.DataFrame, NAME):
        module.api.register_dataframe_namespace(NAME)(FrameMethods)


_REGISTER = {"pandas": _register_pandas, "polars": _register_polars}


class _Hook(MetaPathFinder):
    """Registers the methods as soon as a frame library is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _REGISTER:
            return None
        sys.meta_path.remove(self)  # the other finders look for the module
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader, name)
        return spec


class _RegisteringLoader(Loader):
    """Loads a module as another loader does, then registers the methods."""

    def __init__(self, loader: Loader, name: str) -> None:
        self._loader = loader
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _REGISTER[self._name](module)


def install() -> None:
    """Register the methods for the frame libraries that are imported, now or later."""
    for name, register in _REGISTER.items():
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "DataFrame"):
            register(module)
    if not any(isinstance(each, _Hook) for each in sys.meta_path):
        sys.meta_path.insert(0, _Hook())
