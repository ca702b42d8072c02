"""Strategies decide which sets a search scores; one file each, found by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from covary.registry import Entry
from covary.searching.strategies.base import STRATEGIES, Batch, Strategy

__all__ = [
    "STRATEGIES",
    "Batch",
    "Strategy",
    "all_strategies",
    "find_strategy",
    "strategy_parameters",
]


def all_strategies() -> dict[str, Entry[Strategy]]:
    """Return every registered strategy by name."""
    return STRATEGIES.entries()


def strategy_parameters(
    keywords: Mapping[str, Any], measure: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords that are parameters of a strategy, and all others.

    A parameter of the measure is never taken for one of a strategy.
    """
    names = {name for entry in all_strategies().values() for name in entry.parameters}
    names -= set(inspect.signature(type(measure)).parameters)
    mine = {name: value for name, value in keywords.items() if name in names}
    return mine, {name: value for name, value in keywords.items() if name not in names}


def find_strategy(
    strategy: Any, default_max_size: int | None = None, /, **parameters: Any
) -> Strategy:
    """Return a strategy by its name, or the given one; parameters that are None are ignored.

    ``default_max_size`` is the ``max_size`` of a strategy given by name, if none is given.

    Examples
    --------
    >>> find_strategy("beam", max_size=3, beam=None)
    Beam(max_size=3, beam=100, parents=None, every=None)

    """
    given: Mapping[str, Any] = {k: v for k, v in parameters.items() if v is not None}
    if isinstance(strategy, type) and issubclass(strategy, Strategy):
        strategy = strategy()
    if not isinstance(strategy, Strategy):
        strategy = STRATEGIES.entry(strategy).make()
        if default_max_size is not None:
            given = {"max_size": default_max_size, **given}
    STRATEGIES.check_parameters(strategy.name, type(strategy), given)
    changed: Strategy = dataclasses.replace(strategy, **given)
    return changed


def __getattr__(name: str) -> Any:
    """Return a registered class, such as ``Beam``."""
    if name[:1].isupper() and name in (classes := STRATEGIES.classes()):
        return classes[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
