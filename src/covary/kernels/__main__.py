"""Compile every kernel for this machine and cache it: ``python -m covary.kernels``."""

import importlib
import pkgutil

from covary import kernels
from covary.kernels.shared.jit import Kernel

for found in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
    if not found.name.endswith("__main__"):
        for each in vars(importlib.import_module(found.name)).values():
            if isinstance(each, Kernel):
                each.compiled  # noqa: B018
