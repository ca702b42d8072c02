"""What is computed once per column and used by everything after."""

from covary.prepare.prepared import Bins, Prepared, prepare

__all__ = ["Bins", "Prepared", "prepare"]
