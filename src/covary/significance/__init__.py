"""Significance: permutation tests, early stopping, corrections and increment tests."""
