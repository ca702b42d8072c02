"""The version of covary."""

__version__ = "0.1.0"
