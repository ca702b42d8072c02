"""covary: find the sets of columns that vary together.

>>> import covary, numpy as np
>>> x = np.linspace(-1, 1, 500)
>>> round(covary.score(np.column_stack([x, x**2])), 2)
0.96
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from covary.api import evidence, explain, matrix, score, search, test
    from covary.errors import CovaryError, CovaryWarning
    from covary.estimators import SubspaceSearch
    from covary.measures import Explanation, Step
    from covary.measures.uds import UDS
    from covary.measures.uds_chance import UDSChance
    from covary.results import SearchResult, Subspace, TestResult, TestSummary

__all__ = [
    "UDS",
    "CovaryError",
    "CovaryWarning",
    "Explanation",
    "SearchResult",
    "Step",
    "Subspace",
    "SubspaceSearch",
    "TestResult",
    "TestSummary",
    "UDSChance",
    "__version__",
    "evidence",
    "explain",
    "matrix",
    "score",
    "search",
    "test",
]

# Loaded when first used: importing covary must not cost the time of what it stands on.
_HOME = {
    "score": "covary.api",
    "evidence": "covary.api",
    "explain": "covary.api",
    "matrix": "covary.api",
    "search": "covary.api",
    "test": "covary.api",
    "UDS": "covary.measures.uds",
    "UDSChance": "covary.measures.uds_chance",
    "Explanation": "covary.measures",
    "Step": "covary.measures",
    "SearchResult": "covary.results",
    "Subspace": "covary.results",
    "TestResult": "covary.results",
    "TestSummary": "covary.results",
    "SubspaceSearch": "covary.estimators",
    "CovaryError": "covary.errors",
    "CovaryWarning": "covary.errors",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'covary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
