"""Dependence measures, one file each, found by name.

A file in this folder registers its measures with `covary.measures.base.register`; nothing else
has to know about it.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from covary import errors
from covary.measures.base import Explanation, Measure, Registered, Scorer, Step, registered

__all__ = [
    "Explanation",
    "Measure",
    "Registered",
    "Scorer",
    "Step",
    "all_measures",
    "find_measure",
    "find_seeded",
]


def all_measures() -> dict[str, Registered]:
    """Return every registered measure by name."""
    _load_all()
    return dict(sorted(registered().items()))


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def find_measure(measure: str | Measure | type[Measure], /, **parameters: Any) -> Measure:
    """Return a measure by its registered name, or the given one, with these parameters.

    Examples
    --------
    >>> find_measure("uds", beta=10)
    UDS(beta=10, scale='range', order='entropy', regularize=True)

    """
    known = all_measures()
    if isinstance(measure, str):
        measure = measure.strip().lower().replace("_", "-")
    if isinstance(measure, type) and issubclass(measure, Measure):
        measure = measure()
    if isinstance(measure, Measure):
        return measure.with_parameters(parameters)
    if not isinstance(measure, str) or measure not in known:
        raise errors.unknown_measure(measure, list(known))
    return known[measure].make(parameters)


def find_seeded(measure: str | Measure, seed: int, /, **parameters: Any) -> Measure:
    """Return the same; if it is given by its name and draws anything, with this seed for that.

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
