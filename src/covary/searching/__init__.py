"""Searching a table for sets of dependent columns."""
