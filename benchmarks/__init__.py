"""Benchmarks of covary, one module for each section: ``python -m benchmarks --help``."""
