"""Kernels of the baseline measures."""

from covary.kernels import import_on_use

__getattr__ = import_on_use(__name__)
