"""What is computed once per column and used by everything after."""

from covary.prepare.prepared import Bins, Prepared, prepare, prepare_toward

__all__ = ["Bins", "Prepared", "prepare", "prepare_toward"]
