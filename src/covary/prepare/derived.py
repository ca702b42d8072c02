"""Data that an estimator derives from prepared columns, and how it follows moved values.

Each estimator defines its own classes. `Prepared` caches their instances without knowing what
they contain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from covary.array_types import AnyArray, Rows

if TYPE_CHECKING:
    from covary.prepare.prepared import Prepared

# By column, the row that the value of each row moves to. Every row occurs once.
Moves = Mapping[int, Rows]


class Derived(ABC):
    """Data of all columns that is computed once per table."""

    @classmethod
    @abstractmethod
    def of(cls, prepared: Prepared, *parameters: Any) -> Self:
        """Return the data of these columns."""

    @abstractmethod
    def moved(self, moves: Moves) -> Self:
        """Return the data of the same columns after some values moved to other rows."""


class Need(NamedTuple):
    """A class of derived data and its parameters."""

    kind: type[Derived]
    parameters: tuple[Any, ...] = ()


def move_entries(entries: AnyArray, moves: Moves) -> AnyArray:
    """Return an array with one line per column and one entry per row, after moves."""
    moved = entries.copy()
    for column, rows in moves.items():
        moved[column, rows] = entries[column]
    moved.flags.writeable = False
    return moved


def move_orders(orders: Rows, moves: Moves) -> Rows:
    """Return an array with one line of row numbers per column, after moves."""
    moved = orders.copy()
    for column, rows in moves.items():
        np.take(rows, orders[column], out=moved[column])
    moved.flags.writeable = False
    return moved


def keep_missing(rows: Rows, present: Rows) -> Rows:
    """Return a permutation that moves only the values in some rows, in the order of another."""
    kept = np.arange(rows.size, dtype=np.uint32)
    kept[present[np.argsort(rows[present])]] = present
    return kept
