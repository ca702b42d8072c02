"""What is computed once per column and used by everything after."""

from covary.prepare.prepared import MOST_BINS, Bins, Prepared, prepare, prepare_toward

__all__ = ["MOST_BINS", "Bins", "Prepared", "prepare", "prepare_toward"]
