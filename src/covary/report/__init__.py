"""Figures of what a search found."""
