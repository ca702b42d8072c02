"""covary: find the sets of columns that depend on each other.

>>> import covary, numpy as np
>>> x = np.linspace(-1, 1, 500)
>>> round(covary.score(np.column_stack([x, x**2])), 2)
0.96
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from covary import accessors as _accessors
from covary.version import __version__ as __version__

if TYPE_CHECKING:
    from covary.api import evidence as evidence
    from covary.api import explain as explain
    from covary.api import matrix as matrix
    from covary.api import overview as overview
    from covary.api import score as score
    from covary.api import search as search
    from covary.api import test as test
    from covary.errors import CovaryError as CovaryError
    from covary.errors import CovaryWarning as CovaryWarning
    from covary.estimators import SubspaceSearch as SubspaceSearch
    from covary.measures.uds.uds import UDS as UDS
    from covary.measures.uds_chance.uds_chance import UDSChance as UDSChance
    from covary.results import Explanation as Explanation
    from covary.results import Group as Group
    from covary.results import Lag as Lag
    from covary.results import Link as Link
    from covary.results import MissingTogether as MissingTogether
    from covary.results import Overview as Overview
    from covary.results import RowDependence as RowDependence
    from covary.results import SearchResult as SearchResult
    from covary.results import Step as Step
    from covary.results import Subspace as Subspace
    from covary.results import TestResult as TestResult
    from covary.results import TestSummary as TestSummary

# Names are imported on first use, so that `import covary` is fast.
_MODULES = {
    "covary.api": ("evidence", "explain", "matrix", "overview", "score", "search", "test"),
    "covary.results": (
        "Explanation",
        "Group",
        "Lag",
        "Link",
        "MissingTogether",
        "Overview",
        "RowDependence",
        "SearchResult",
        "Step",
        "Subspace",
        "TestResult",
        "TestSummary",
    ),
    "covary.estimators": ("SubspaceSearch",),
    "covary.errors": ("CovaryError", "CovaryWarning"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
# The registered classes are public, too: covary.UDS, covary.Beam, ...
_REGISTRIES = {
    "covary.measures.registry": "MEASURES",
    "covary.searching.strategies.base": "STRATEGIES",
}
# Former names of modules, see the changelog.
_RENAMED = ("datasets", "strategies")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    if name in _RENAMED:
        return importlib.import_module(f"covary.{name}")
    if name[:1].isupper() and name in (classes := _registered_classes()):
        return classes[name]
    raise AttributeError(f"module 'covary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *_MODULE_OF, *_registered_classes()])


def _registered_classes() -> dict[str, type]:
    """Return the classes of all measures and strategies by name."""
    found: dict[str, type] = {}
    for module, registry in _REGISTRIES.items():
        found.update(getattr(importlib.import_module(module), registry).classes())
    return found


_accessors.install()
