"""The tables and figures of the paper, each as an experiment that anybody can repeat."""

from __future__ import annotations

import importlib

from covary import errors
from covary.experiments.base import SEED, Experiment, Findings, Sheet

# Where each is: nothing is loaded before it is asked for.
_HOME = {
    "power-dimension": "power_dimension.PowerDimension",
    "power-extra": "power_extra.PowerExtra",
    "power-mixed": "power_mixed.PowerMixed",
    "beta": "beta.Beta",
    "runtime": "runtime.Runtime",
    "clustering": "clustering.Clustering",
    "outliers": "outliers.Outliers",
    "crime": "crime.Crime",
    "energy": "energy.Energy",
}
NAMES = tuple(_HOME)

__all__ = ["NAMES", "SEED", "Experiment", "Findings", "Sheet", "find_experiment"]


def find_experiment(name: str) -> type[Experiment]:
    """Return an experiment by its name.

    Examples
    --------
    >>> find_experiment("power-dimension").title
    'Power against the number of columns (Figure 1)'

    """
    if name not in _HOME:
        raise errors.unknown_experiment(name, NAMES)
    module, _, cls = _HOME[name].partition(".")
    found: type[Experiment] = getattr(importlib.import_module(f"covary.experiments.{module}"), cls)
    return found
