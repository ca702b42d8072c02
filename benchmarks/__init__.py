"""Benchmarks of covary: ``python -m benchmarks --help``; one file for each section."""
