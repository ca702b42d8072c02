"""Could it be chance? Permutation tests, when to stop them, and what a whole search is worth."""

from __future__ import annotations
