"""What every later stage sees of the user's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Column:
    """One usable column: its values as floats, NaN where missing, and the way back.

    Parameters
    ----------
    name : what the user calls it
    values : one float per row; a view of the user's memory where that is possible
    kind : "number", "boolean", "date" or "category"
    categories : the labels in their order, for a category
    origin, dtype : for a date, the first instant and NumPy dtype; the values count from there
    """

    name: str
    values: npt.NDArray[np.float64] = field(repr=False)
    kind: str = "number"
    categories: tuple[Any, ...] = ()
    origin: int = 0
    dtype: str = ""

    def in_own_units(self, value: float) -> Any:
        """Return what a value of this column stands for: a number, truth, date or label."""
        if self.kind == "boolean":
            return bool(value)
        if self.kind == "category":
            return self.categories[int(value)]
        if self.kind == "date":
            return np.array(self.origin + int(value)).astype(self.dtype).item()
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(value)


@dataclass(frozen=True)
class Table:
    """The columns of a table that can be used, and what was left out and why."""

    columns: tuple[Column, ...]
    n_rows: int
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def select(self, positions: Sequence[int]) -> Table:
        """Return the table with these columns only, in this order."""
        return Table(tuple(self.columns[p] for p in positions), self.n_rows, self.left_out)
