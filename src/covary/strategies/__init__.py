"""Ways to choose which sets of columns to score, one file each."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from typing import Any

from covary import errors
from covary.strategies.base import Batch, Strategy
from covary.strategies.beam import Beam
from covary.strategies.exhaustive import Exhaustive
from covary.strategies.four_s import FourS

__all__ = ["Batch", "Beam", "Exhaustive", "FourS", "Strategy", "all_strategies", "find_strategy"]


@cache
def all_strategies() -> dict[str, type[Strategy]]:
    """Return every strategy by its name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return {strategy.name: strategy for strategy in Strategy.__subclasses__()}


def find_strategy(strategy: Any, at_most: int | None = None, **parameters: Any) -> Strategy:
    """Return a strategy by its name, or the given one; what is None keeps its default.

    ``at_most`` is the ``max_size`` of a strategy by its name, if none is given.

    Examples
    --------
    >>> find_strategy("beam", max_size=3, beam=None)
    Beam(max_size=3, beam=100, parents='all')

    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(strategy, str) and strategy in all_strategies():
        strategy = all_strategies()[strategy]()
        if at_most is not None:
            given.setdefault("max_size", at_most)
    if not isinstance(strategy, Strategy):
        raise errors.unknown_strategy(strategy, list(all_strategies()))
    known = [field.name for field in dataclasses.fields(strategy)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise errors.unknown_parameter("strategy", strategy.name, name, known)
    found: Strategy = dataclasses.replace(strategy, **given)  # type: ignore[type-var]
    return found
