"""The profile of an explained column: how it differs between groups of rows, as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from covary.formatting import printable
from covary.plots.chart_values import is_whole
from covary.plots.figures.style import shown_label
from covary.plots.levels import shortened
from covary.plots.round_bins import coarse_value
from covary.results import Step
from covary.table import Column

MAX_CHARACTERS = 100
# Without rows, the page does not say how the target differs in groups of fewer rows.
MIN_ROWS = 5
TOO_FEW = "(too few rows)"
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_ALL_ROWS = re.compile(r"(.*) \((all rows: .*)\)", re.DOTALL)


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
    """

    columns: tuple[str, ...]
    target: str
    lines: tuple[ProfileLine, ...]


def profile_of(
    step: Step, columns: Mapping[str, Column], labels: Mapping[str, str], *, coarse: bool
) -> Profile | None:
    """Return the profile of a step as a table; None if there is none.

    Parameters
    ----------
    step : the step
    columns : all columns, by name
    labels : texts that replace the names of some columns
    coarse : whether no value of the table may remain
    """
    if not step.profile:
        return None
    names = list(step.profile[0].where)
    target_column = columns[step.target]
    if coarse and not _can_be_coarse(step, [columns[name] for name in (*names, step.target)]):
        return None
    lines = []
    for cell in step.profile:
        where = tuple(_words(cell.where[name], columns[name], coarse) for name in names)
        target = _words(cell.target, target_column, coarse)
        if coarse and cell.rows < MIN_ROWS:
            target = TOO_FEW
        lines.append(ProfileLine(where, target, f"{cell.rows:,}"))
    heading = shown_label(step.target)
    of_all = [_ALL_ROWS.fullmatch(line.target) for line in lines if line.target != TOO_FEW]
    common = {match.group(2) if match else "" for match in of_all}
    if len(common) == 1 and "" not in common:
        heading += f" ({common.pop()})"
        lines = [
            line._replace(target=match.group(1))
            if (match := _ALL_ROWS.fullmatch(line.target))
            else line
            for line in lines
        ]
    shown = tuple(labels.get(name, shown_label(name)) for name in names)
    return Profile(shown, heading, tuple(lines))


def _can_be_coarse(step: Step, columns: Sequence[Column]) -> bool:
    """Return whether the words of a profile can be changed so that they contain no value.

    They cannot if they contain dates, or one of the two values of a target.
    """
    if any(column.kind == "date" for column in columns):
        return False
    target = columns[-1]
    two_values = target.kind == "number" and any("%" in cell.target for cell in step.profile)
    return not two_values or is_whole(target)


def _words(text: str, column: Column, coarse: bool) -> str:
    """Return words about a column for the page; coarse words contain no value of a number."""
    if coarse and column.kind == "number" and "%" not in text:
        text = _NUMBER.sub(lambda match: _coarse(match.group(), column), text)
    return shortened(printable(text), MAX_CHARACTERS)


def _coarse(number: str, column: Column) -> str:
    return f"{coarse_value(column, float(number)):.12g}"
