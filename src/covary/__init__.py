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
    from covary.measures.cmi import CMI
    from covary.measures.dhsic import DHSIC
    from covary.measures.distance_correlation import DistanceCorrelation
    from covary.measures.hics import HiCS
    from covary.measures.hsic import HSIC
    from covary.measures.mac import MAC
    from covary.measures.mcde import MCDE
    from covary.measures.mutual_information import MutualInformation
    from covary.measures.pearson import Pearson
    from covary.measures.quadratic import Quadratic
    from covary.measures.spearman import Spearman
    from covary.measures.total_correlation import TotalCorrelation
    from covary.measures.uds import UDS
    from covary.measures.uds_chance import UDSChance
    from covary.measures.xi import Xi
    from covary.results import SearchResult, Subspace, TestResult, TestSummary

__all__ = [
    "CMI",
    "DHSIC",
    "HSIC",
    "MAC",
    "MCDE",
    "UDS",
    "CovaryError",
    "CovaryWarning",
    "DistanceCorrelation",
    "Explanation",
    "HiCS",
    "MutualInformation",
    "Pearson",
    "Quadratic",
    "SearchResult",
    "Spearman",
    "Step",
    "Subspace",
    "SubspaceSearch",
    "TestResult",
    "TestSummary",
    "TotalCorrelation",
    "UDSChance",
    "Xi",
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
    "CMI": "covary.measures.cmi",
    "MAC": "covary.measures.mac",
    "HiCS": "covary.measures.hics",
    "MCDE": "covary.measures.mcde",
    "TotalCorrelation": "covary.measures.total_correlation",
    "Quadratic": "covary.measures.quadratic",
    "DHSIC": "covary.measures.dhsic",
    "HSIC": "covary.measures.hsic",
    "DistanceCorrelation": "covary.measures.distance_correlation",
    "Pearson": "covary.measures.pearson",
    "Spearman": "covary.measures.spearman",
    "MutualInformation": "covary.measures.mutual_information",
    "Xi": "covary.measures.xi",
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
    if name == "datasets":
        return importlib.import_module("covary.datasets")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'covary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
