"""Tables of results: text for the terminal, plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rich.table
from rich import box
from rich.markup import escape


def format_seconds(value: float) -> str:
    """Return a time in seconds, milliseconds or microseconds, with three digits.

    Examples
    --------
    >>> format_seconds(0.00123)
    '1.23 ms'
    """
    factor, unit = (1.0, "s") if value >= 1.0 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{value * factor:#.3g} {unit}".replace(". ", " ")


def format_megabytes(value: float) -> str:
    """Return a number of bytes in megabytes."""
    return f"{value / 1e6:,.0f} MB"


def format_ratio(value: float) -> str:
    """Return a ratio, with two significant digits if it is below 10.

    Examples
    --------
    >>> format_ratio(1.234)
    '1.2 x'
    """
    return f"{value:,.0f} x" if value >= 10 else f"{value:#.2g} x"


def decimals(digits: int) -> Callable[[float], str]:
    """Return a function that formats a number with this number of decimal places."""
    return lambda value: f"{value:,.{digits}f}"


@dataclass(frozen=True)
class BenchmarkColumn:
    """A column of a table of results.

    Parameters
    ----------
    key : the key of its values in each row
    heading : the printed heading
    format : formats a number
    """

    key: str
    heading: str
    format: Callable[[Any], str] = str


@dataclass
class BenchmarkTable:
    """A table of results.

    Parameters
    ----------
    title : printed above the table
    columns : the columns to print
    rows : one dictionary per row; a text in place of a number says why there is no number
    note : printed below the table
    """

    title: str
    columns: list[BenchmarkColumn]
    rows: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return title, note, headings by key, and rows."""
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
        for position, column in enumerate(self.columns):
            numeric = any(isinstance(row.get(column.key), (int, float)) for row in self.rows)
            table.add_column(
                escape(column.heading),
                justify="right" if numeric else "left",
                no_wrap=position == 0,
            )
        for row in self.rows:
            table.add_row(*(_cell(row.get(column.key), column.format) for column in self.columns))
        return table


def _cell(value: Any, format_number: Callable[[Any], str]) -> str:
    if value is None:
        return ""
    return escape(value if isinstance(value, str) else format_number(value))
