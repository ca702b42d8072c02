"""Nominal columns: their levels, and columns whose texts are not levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Integers
from covary.table.table import Column
from covary.table.text_values import is_missing_text
from covary.validation import label_text

# The numbers of levels have 16 bits.
MAX_LEVELS = 65_535
# A column with fewer rows per level is an identifier, or free text.
MIN_ROWS_PER_LEVEL = 2.0
# Texts of more words than this, on average, are free text.
MAX_WORDS = 5
_SAMPLE_LABELS = 1000
# Whole numbers that hardly repeat are identifiers if the column has such a name.
_THINGS = (
    "obs(ervation)?|case|record|sample|subject|patient|customer|user|client|order|account|row"
    "|invoice|ticket|serial|member|employee|student|transaction"
)
_IDENTIFIER_NAME = re.compile(
    rf"(unnamed: ?\d+(\.\d+)*|index|level_\d+|row ?_?names?|row|#|no\.?|nr\.?|[ug]?uid|pk"
    rf"|({_THINGS})? ?_?id|({_THINGS})[ _.-]?(num(ber)?|nr|no)\.?"
    r"|.*[ _.-]id|id[ _.-].*|(?-i:.*[a-z]I[dD])|)",
    re.IGNORECASE,
)
MIN_DISTINCT = 0.95
# Whole numbers from 0 or 1 on, in the order of the rows, are row numbers if there are at least
# this many, unless the name says that they are times.
MIN_ROW_NUMBERS = 20
_TIME_NAME = re.compile(
    r".*(time|date|year|quarter|month|week|day|hour|minute|second|step|period|round|epoch|age).*|t",
    re.IGNORECASE,
)


def nominal_column(
    name: str, codes: Integers, labels: Sequence[Any], declared: bool = False
) -> Column | str:
    """Return a nominal column, or the reason why it cannot be used.

    Levels are numbered from the most frequent one on. Equally frequent levels are numbered in the
    order of the rows. So neither the names of the levels nor their order matter.

    Parameters
    ----------
    codes : for each row the position of its label; -1 if the cell is missing
    labels : the labels; some may have no row
    declared : whether the user, or the type of the column, says that it is nominal. Otherwise
        identifiers and free text are not used
    """
    present = codes[codes >= 0]
    if present.size == 0:
        return "empty"
    used, first, counts = np.unique(present, return_index=True, return_counts=True)
    if used.size == 1 and present.size == codes.size:
        return errors.single_level_reason(labels[used[0]])
    if not declared and present.size < MIN_ROWS_PER_LEVEL * used.size:
        is_free_text = _is_free_text([labels[at] for at in used[:_SAMPLE_LABELS].tolist()])
        return errors.identifier_reason(used.size, present.size, is_free_text, MAX_LEVELS)
    if used.size > MAX_LEVELS:
        return errors.too_many_levels_reason(used.size, MAX_LEVELS)
    ordered = used[np.lexsort((first, -counts))]
    number = np.full(len(labels) + 1, np.nan)  # the last one is for missing cells
    number[ordered] = np.arange(ordered.size)
    return Column(name, number[codes], "nominal", tuple(labels[at] for at in ordered.tolist()))


def as_nominal(column: Column) -> Column | str:
    """Return a column of any kind as a nominal column, with its values as labels."""
    if column.kind == "nominal":
        return column
    missing = np.isnan(column.values)
    distinct, codes = np.unique(column.values[~missing], return_inverse=True)
    all_codes = np.full(column.values.size, -1)
    all_codes[~missing] = codes
    labels = [column.in_own_units(value) for value in distinct.tolist()]
    return nominal_column(column.name, all_codes, labels, declared=True)


def as_ordered(column: Column, order: Sequence[Any]) -> Column:
    """Return a nominal column with an order of its labels.

    Labels are compared as text, because they may come from the command line. A text such as "NA"
    is missing if the order does not list it.
    """
    position = {label_text(label): at for at, label in enumerate(order)}
    unlisted = [label for label in column.categories if label_text(label) not in position]
    markers = [label for label in unlisted if is_missing_text(str(label))]
    if len(markers) < len(unlisted):
        unknown = [label for label in unlisted if not is_missing_text(str(label))]
        raise errors.label_without_order(column.name, unknown, order)
    moved = np.array([position.get(label_text(label), np.nan) for label in column.categories])
    values = np.full(column.values.size, np.nan)
    present = ~np.isnan(column.values)
    values[present] = moved[column.values[present].astype(np.int64)]
    read_as = errors.missing_markers([str(label) for label in markers]) if markers else ""
    return Column(column.name, values, "category", tuple(order), read_as=read_as)


def is_row_number(column: Column) -> bool:
    """Return whether a column is 0, 1, 2, ... or 1, 2, 3, ... and is not named like a time."""
    values = column.values
    if column.kind != "number" or values.size < MIN_ROW_NUMBERS or values[0] not in (0.0, 1.0):
        return False
    is_row_number = np.array_equal(values, values[0] + np.arange(values.size))
    return is_row_number and not _TIME_NAME.fullmatch(column.name.strip())


def is_identifier(column: Column) -> bool:
    """Return whether whole numbers hardly repeat and have the name of an identifier."""
    name, values = column.name.strip(), column.values
    if column.kind != "number" or not values.size or not _IDENTIFIER_NAME.fullmatch(name):
        return False
    present = values[~np.isnan(values)]
    n_distinct = np.unique(present).size
    is_distinct = n_distinct >= min(MIN_DISTINCT * values.size, values.size - 1)
    return is_distinct and bool(np.all(present == np.floor(present)))


def _is_free_text(labels: Sequence[Any]) -> bool:
    """Return whether labels have many words on average."""
    sample = [str(label) for label in labels]
    return sum(len(text.split()) for text in sample) > MAX_WORDS * len(sample)
