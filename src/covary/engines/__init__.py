"""Ways to run one task for many items; every engine gives the same results in the same order."""

from covary.engines.threads import Threads

__all__ = ["Threads"]
