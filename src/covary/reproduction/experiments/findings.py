"""Findings of an experiment: sentences, tables of results, a figure and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from covary.reproduction.experiments.charts import Spec


class ResultTable(NamedTuple):
    """A table of results.

    Parameters
    ----------
    title : title of the table
    headings : one for each column
    rows : rows of text and numbers; None is shown as a dash
    digits : number of decimal places
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    digits: int = 2

    def formatted_rows(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[_formatted(cell, self.digits) for cell in row] for row in self.rows]

    def numeric_columns(self) -> list[bool]:
        """Return for each column whether all its cells are numbers or None."""
        return [
            all(isinstance(row[at], int | float | None) for row in self.rows)
            for at in range(len(self.headings))
        ]


def _formatted(cell: Any, digits: int) -> str:
    if cell is None:
        return "-"
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


class Findings(NamedTuple):
    """Findings of an experiment.

    Parameters
    ----------
    sentences : comparison with the paper, and possible reasons for differences
    tables : the results
    figure : the results as a Vega-Lite chart
    notes : description of the method
    """

    sentences: Sequence[str]
    tables: Sequence[ResultTable]
    figure: Spec
    notes: Sequence[str] = ()


def sorted_values(values: Mapping[str, float], *, highest_first: bool = True) -> str:
    """Return the values of methods as text, sorted by value.

    Examples
    --------
    >>> sorted_values({"cmi": 0.204, "mac": 0.3, "uds": 0.2})
    '`mac` 0.30, `cmi` 0.20, `uds` 0.20'

    """
    sign = -1 if highest_first else 1
    ordered = sorted(values, key=lambda name: sign * round(values[name], 2))
    return ", ".join(f"`{name}` {values[name]:.2f}" for name in ordered)


def joined(items: Iterable[object]) -> str:
    """Return items as text, separated by commas and "and".

    Examples
    --------
    >>> joined([5, 10, 20]), joined(["cmi"]), joined([])
    ('5, 10 and 20', 'cmi', 'none')

    """
    *first, last = [str(item) for item in items] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def method_list(names: Iterable[str]) -> str:
    """Return names of methods as text.

    Examples
    --------
    >>> method_list(["cmi", "mac"]), method_list([])
    ('`cmi` and `mac`', 'none')

    """
    return joined(f"`{name}`" for name in names)
