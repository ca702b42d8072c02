"""Dependence measures, found by name.

``uds`` and ``uds_chance`` hold our two estimators, ``baselines`` the published measures to compare
with. A file registers its measure with `covary.measures.registry.register`; nothing else lists it.
"""

from __future__ import annotations

from typing import Any

from covary.measures.base import Measure
from covary.measures.registry import MEASURES
from covary.measures.scorer import Scorer
from covary.registry import Entry

__all__ = ["MEASURES", "Measure", "Scorer", "all_measures", "find_measure", "find_seeded"]


def all_measures() -> dict[str, Entry[Measure]]:
    """Return every registered measure by name."""
    return MEASURES.entries()


def find_measure(measure: str | Measure | type[Measure], /, **parameters: Any) -> Measure:
    """Return a measure by its registered name, or the given one, with these parameters.

    Examples
    --------
    >>> find_measure("uds", beta=10)
    UDS(beta=10, scale='range', order='entropy', regularize=True)

    """
    if isinstance(measure, type) and issubclass(measure, Measure):
        measure = measure()
    if not isinstance(measure, Measure):
        measure = MEASURES.entry(measure).make()
    return measure.with_parameters(parameters)


def find_seeded(measure: str | Measure, seed: int, /, **parameters: Any) -> Measure:
    """Return the same; a randomised measure given by name gets this seed.

    Examples
    --------
    >>> find_seeded("hics", 5).seed
    5
    >>> find_seeded("uds", 5, beta=10)
    UDS(beta=10, scale='range', order='entropy', regularize=True)

    """
    found = find_measure(measure)
    if isinstance(measure, str) and hasattr(found, "seed"):
        parameters = {"seed": seed, **parameters}
    return found.with_parameters(parameters)
