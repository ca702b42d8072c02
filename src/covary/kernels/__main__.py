"""Compile every kernel for this machine and cache it: ``python -m covary.kernels``."""

import importlib
import pkgutil

from covary import kernels

for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
