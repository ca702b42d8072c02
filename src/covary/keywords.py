"""The keywords of the public functions: those of the table, and those of a measure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from covary import errors
from covary.measures import Measure, all_measures, find_measure, find_seeded
from covary.searching.strategies import all_strategies
from covary.table import TableOptions, declare


def declared(data: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return data with the columns that keywords declare, and all other keywords."""
    declared, others = TableOptions.split(keywords)
    return declare(data, TableOptions(**declared)), others


def measure_of(
    function: Callable[..., Any],
    measure: str | Measure,
    parameters: dict[str, Any],
    seed: int | None = None,
) -> Measure:
    """Return the measure with parameters; check for misspelt keywords of the function."""
    found = find_measure(measure) if seed is None else find_seeded(measure, seed)
    if not parameters:
        return found
    names = inspect.signature(function).parameters.values()
    keywords = [each.name for each in names if each.kind is not inspect.Parameter.VAR_KEYWORD]
    if function.__name__ == "search":
        keywords += [name for entry in all_strategies().values() for name in entry.parameters]
    known = {name for entry in all_measures().values() for name in entry.parameters}
    for name in parameters:
        if name not in known and errors.is_misspelt(name, keywords):
            raise errors.unknown_keyword(function.__name__, name, keywords)
    return found.with_parameters(parameters)


def check_keywords(function: Callable[..., Any], unknown: Iterable[str]) -> None:
    """Raise an error if there are keywords that a function does not have."""
    for name in unknown:
        raise errors.unknown_keyword(
            function.__name__, name, list(inspect.signature(function).parameters)
        )
