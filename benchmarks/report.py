"""Tables of results: as text for the terminal, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rich.table
from rich import box
from rich.markup import escape


def in_seconds(value: float) -> str:
    """Return a time in the unit that suits it.

    Examples
    --------
    >>> in_seconds(0.00123)
    '1.23 ms'
    """
    factor, unit = (1.0, "s") if value >= 1.0 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{value * factor:#.3g} {unit}".replace(". ", " ")


def in_megabytes(value: float) -> str:
    """Return bytes as megabytes."""
    return f"{value / 1e6:,.0f} MB"


def as_ratio(value: float) -> str:
    """Return a factor with as many digits as mean something."""
    return f"{value:,.0f} x" if value >= 10 else f"{value:#.2g} x"


def as_number(digits: int) -> Callable[[float], str]:
    """Return a formatter with this many digits after the point."""
    return lambda value: f"{value:,.{digits}f}"


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its values, its heading, and how a number is written."""

    key: str
    heading: str
    written: Callable[[Any], str] = str


@dataclass
class Table:
    """Results: one dictionary per row. A text in place of a number says why there is none."""

    title: str
    columns: list[Column]
    rows: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return title, note and rows; keys are explained by the headings."""
        headings = {column.key: column.heading for column in self.columns}
        return {
            "title": self.title,
            "note": self.note,
            "columns": headings,
            "rows": self.rows,
        }

    def as_text(self) -> rich.table.Table:
        """Return the table for a terminal."""
        table = rich.table.Table(
            title=escape(self.title),
            caption=escape(self.note) or None,
            box=box.SIMPLE_HEAD,
            title_justify="left",
            caption_justify="left",
        )
        for place, column in enumerate(self.columns):
            numbers = any(isinstance(row.get(column.key), (int, float)) for row in self.rows)
            table.add_column(
                escape(column.heading), justify="right" if numbers else "left", no_wrap=place == 0
            )
        for row in self.rows:
            table.add_row(*(_cell(row.get(column.key), column.written) for column in self.columns))
        return table


def _cell(value: Any, written: Callable[[Any], str]) -> str:
    if value is None:
        return ""
    return escape(value if isinstance(value, str) else written(value))
