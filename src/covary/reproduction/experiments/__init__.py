"""Experiments that reproduce the tables and figures of the paper."""

from __future__ import annotations

import importlib

from covary import errors
from covary.reproduction.experiments.base import SEED, Experiment
from covary.reproduction.experiments.findings import Findings, ResultTable

# Module and class of each experiment. A module is imported only when its experiment is requested.
_CLASSES = {
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
NAMES = tuple(_CLASSES)

__all__ = ["NAMES", "SEED", "Experiment", "Findings", "ResultTable", "find_experiment"]


def find_experiment(name: str) -> type[Experiment]:
    """Return the class of the experiment with this name.

    Examples
    --------
    >>> find_experiment("power-dimension").title
    'Power by number of columns (Figure 1)'

    """
    if name not in _CLASSES:
        raise errors.unknown_name("experiment", name, NAMES)
    module_name, _, class_name = _CLASSES[name].partition(".")
    module = importlib.import_module(f"covary.reproduction.experiments.{module_name}")
    experiment: type[Experiment] = getattr(module, class_name)
    return experiment
