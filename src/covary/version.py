"""The version of covary."""

__version__ = "0.2.0"
