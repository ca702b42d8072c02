"""What the public functions return: data with printing, frames and JSON."""

from covary.results.explanation import Cell, Explanation, Part, Step
from covary.results.link import Link
from covary.results.overview import Group, MissingTogether, Overview, OverviewPresenter
from covary.results.search import Presenter, SearchResult, Subspace
from covary.results.significance import (
    ADDS_NOTHING,
    Lag,
    RowDependence,
    TestResult,
    TestSummary,
)

__all__ = [
    "ADDS_NOTHING",
    "Cell",
    "Explanation",
    "Group",
    "Lag",
    "Link",
    "MissingTogether",
    "Overview",
    "OverviewPresenter",
    "Part",
    "Presenter",
    "RowDependence",
    "SearchResult",
    "Step",
    "Subspace",
    "TestResult",
    "TestSummary",
]
