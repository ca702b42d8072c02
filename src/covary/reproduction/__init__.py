"""Experiments of the paper, and the data sets that they use."""
