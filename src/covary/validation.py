"""Checks of arguments. Each returns the value, or raises an error that says what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from covary import errors


def check_whole_number(name: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return a whole number between two limits, both included."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < minimum or (maximum is not None and value > maximum):  # type: ignore[operator]
        limits = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise errors.invalid_parameter(name, f"a whole number {limits}", value)
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_fraction(name: str, value: object) -> float:
    """Return a number above 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise errors.invalid_parameter(name, "a number above 0 and below 1", value)
    return float(value)


def check_columns(name: str, columns: Any) -> tuple[Any, ...]:
    """Return the names or positions of columns; raise an error if they are not a list."""
    if isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable):
        raise errors.invalid_parameter(name, "a list of names, such as ['a', 'b']", columns)
    return tuple(columns)


def check_orders(name: str, orders: Any) -> dict[Any, tuple[Any, ...]]:
    """Return the ordered values of each column."""
    if not isinstance(orders, Mapping):
        raise errors.invalid_parameter(
            name, "a dictionary of lists, such as {'size': ['S', 'M', 'L']}", orders
        )
    checked: dict[Any, tuple[Any, ...]] = {}
    for column, labels in orders.items():
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise errors.invalid_parameter(
                f"{name}[{column!r}]", "a list of values in their order", labels
            )
        checked[column] = tuple(labels)
        if len(set(map(label_text, checked[column]))) < len(checked[column]):
            raise errors.invalid_parameter(f"{name}[{column!r}]", "different values", labels)
    return checked


def label_text(label: Any) -> str:
    """Return a label as text, in which it is compared: "1" for 1, 1.0 and "1"."""
    is_whole = isinstance(label, (float, np.floating)) and float(label).is_integer()
    return str(int(label) if is_whole else label)


def check_choices(name: str, values: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """Return some of the choices, at least one."""
    allowed = f"a list of {', '.join(map(repr, choices))}"
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise errors.invalid_parameter(name, allowed, values)
    chosen = tuple(values)
    for each in chosen:
        if each not in choices:
            raise errors.invalid_parameter(name, allowed, each)
    if not chosen:
        raise errors.invalid_parameter(name, allowed, values)
    return chosen
