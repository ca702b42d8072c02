"""The profile of an explained column: how it differs between groups of rows, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from covary.formatting import printable
from covary.plots.chart_values import is_whole
from covary.plots.figures.style import brief_label, isolated
from covary.plots.levels import MIN_ROWS_WITHOUT_ROWS, frequent_levels, shortened
from covary.plots.round_bins import coarse_value
from covary.results import Cell, Part, Step
from covary.table import Column

MAX_CHARACTERS = 100
TOO_FEW = "(too few rows)"


class ProfileLine(NamedTuple):
    """A group of rows: its values of each explaining column, the target there, its size."""

    where: tuple[str, ...]
    target: str
    rows: str


class Profile(NamedTuple):
    """How a column differs between groups of rows.

    Parameters
    ----------
    columns : the explaining columns
    target : the explained column, with its value in all rows if that is one text
    lines : one per group
    note : the explaining columns that form no groups, as a sentence
    """

    columns: tuple[str, ...]
    target: str
    lines: tuple[ProfileLine, ...]
    note: str = ""


def profile_of(
    step: Step, columns: Mapping[str, Column], labels: Mapping[str, str], *, coarse: bool
) -> Profile | None:
    """Return the profile of a step as a table; None if there is none.

    Parameters
    ----------
    step : the step
    columns : all columns, by name
    labels : texts that replace the names of some columns
    coarse : whether no value of a row may remain
    """
    if not step.profile:
        return None
    names = list(step.profile[0].where)
    cells = _coarse_cells(step, columns) if coarse else step.profile
    if not cells:
        return None
    heading = brief_label(step.target, MAX_CHARACTERS)
    common = {(each.level, each.overall()) for each in cells if _is_described(each)}
    in_heading = len(common) == 1  # what all lines have in common
    if in_heading:
        ((level, overall),) = common
        heading += f" ({overall})" if level is None else f" = {printable(level)} ({overall})"
    lines = []
    for cell in cells:
        words = TOO_FEW
        if _is_described(cell):
            words = cell.tendency() if in_heading else step.describe(cell)
        where = tuple(_shown(str(cell.where[name])) for name in names)
        lines.append(ProfileLine(where, _shown(words), f"{cell.rows:,}"))
    shown = tuple(labels.get(name, brief_label(name, MAX_CHARACTERS)) for name in names)
    return Profile(shown, heading, tuple(lines), "; ".join(step.note_on_profile()))


def _is_described(cell: Cell) -> bool:
    return cell.share is not None or cell.median is not None


def _shown(text: str) -> str:
    return isolated(shortened(printable(text), MAX_CHARACTERS))


# ---------------------------------------------------------------- without rows


def _coarse_cells(step: Step, columns: Mapping[str, Column]) -> tuple[Cell, ...]:
    """Return the cells of a profile without any value of a number and without rare levels.

    There are none with dates, and for a number with two values that are not whole.
    """
    target = columns[step.target]
    kinds = {columns[name].kind for name in (*step.profile[0].where, step.target)}
    two_values = target.kind == "number" and step.profile[0].level is not None
    if "date" in kinds or (two_values and not is_whole(target)):
        return ()
    cells = []
    for cell in step.profile:
        where = {name: _coarse_part(part, columns[name]) for name, part in cell.where.items()}
        cells.append(_coarse_target(cell, target, step.rows)._replace(where=where))
    return tuple(cells)


def _coarse_part(part: Part, column: Column) -> Part:
    """Return the values of a column in a cell, rounded, and without the names of rare levels."""
    if column.kind == "number":
        above, up_to = (_coarse(end, column) for end in (part.above, part.up_to))
        return part._replace(levels=(), above=above, up_to=up_to)
    if column.kind != "nominal":
        return part
    frequent = frequent_levels(column)
    levels = tuple(label for label in part.levels if label in frequent)
    return part._replace(levels=levels, more=len(part.levels) - len(levels))


def _coarse_target(cell: Cell, target: Column, n_rows: int) -> Cell:
    """Return a cell with rounded medians, and without levels of few rows."""
    if cell.rows < MIN_ROWS_WITHOUT_ROWS:
        return Cell(cell.where, cell.rows)
    if target.kind == "number" and cell.median is not None:
        median, overall = (_coarse(v, target) for v in (cell.median, cell.overall_median))
        return cell._replace(median=median, overall_median=overall)
    if round((cell.overall_share or 1.0) * n_rows) < MIN_ROWS_WITHOUT_ROWS:
        return Cell(cell.where, cell.rows)
    if round((cell.most_common_share or 1.0) * cell.rows) < MIN_ROWS_WITHOUT_ROWS:
        return cell._replace(most_common=None, most_common_share=None)
    return cell


def _coarse(number: Any, column: Column) -> float | None:
    return None if number is None else coarse_value(column, float(number))
