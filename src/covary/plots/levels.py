"""Levels of a column as figures show them: the most frequent ones, all others pooled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import Floats, Integers
from covary.formatting import counted
from covary.measures.uds_chance.cuts import level_order
from covary.measures.uds_chance.places import Places
from covary.plots.figures.style import isolated
from covary.prepare import Prepared
from covary.table import Column, Table

# An axis with more levels is hard to read.
MAX_LEVELS = 12
# More colours are hard to distinguish.
MAX_COLOURS = 7
# A page without rows names no level of fewer rows.
MIN_ROWS_WITHOUT_ROWS = 5
MAX_CHARACTERS = 18
MAX_CHARACTERS_OF_TOOLTIP = 60


class Levels(NamedTuple):
    """The levels of a column that a figure shows.

    Parameters
    ----------
    texts : one per level, all different; the most frequent level first, or in their own order
    codes : for each row the position of its level in ``texts``; -1 if the cell is missing
    n_pooled : how many levels the last text stands for; 0 if it stands for a single one
    has_order : whether the levels have an order of their own
    """

    texts: list[str]
    codes: Integers
    n_pooled: int = 0
    has_order: bool = False

    @property
    def n_named(self) -> int:
        """The number of levels with a text of their own; they come first."""
        return len(self.texts) - bool(self.n_pooled)


def has_levels(column: Column) -> bool:
    """Return whether the values of a column have names: figures show it as levels."""
    return column.kind in ("nominal", "boolean", "category")


def frequent_levels(column: Column) -> set[Any]:
    """Return the levels of a nominal column that a page without rows may name."""
    counts = np.bincount(column.values[~np.isnan(column.values)].astype(int))
    enough = np.flatnonzero(counts >= MIN_ROWS_WITHOUT_ROWS).tolist()
    return {column.categories[level] for level in enough}


def level_strengths(prepared: Prepared, column: int, other: int) -> Floats:
    """Return for each level of a nominal column how much another column differs in its rows.

    It is the squared mean of the centred ranks of an ordered column times the number of rows, or
    the contribution to chi-square of a nominal one.
    """
    own, of_other = (prepared.table.columns[each].values for each in (column, other))
    both = ~(np.isnan(own) | np.isnan(of_other))
    levels = own[both].astype(np.int64)
    n_levels = len(prepared.table.columns[column].categories)
    counts = np.maximum(np.bincount(levels, minlength=n_levels), 1)
    if not prepared.nominal[other]:
        places = prepared.derived(Places).by_row[other, both].astype(np.float64)
        return np.asarray(np.bincount(levels, places, n_levels) ** 2 / counts)
    values = of_other[both].astype(np.int64)
    pairs, joint = np.unique(np.column_stack([levels, values]), axis=0, return_counts=True)
    expected = counts[pairs[:, 0]] * np.bincount(values)[pairs[:, 1]] / levels.size
    return np.asarray(np.bincount(pairs[:, 0], joint**2 / expected, n_levels) - counts)


def shown_levels(
    column: Column,
    most: int = MAX_LEVELS,
    min_rows: int = 1,
    strengths: Floats | None = None,
) -> Levels:
    """Return the levels of a nominal, boolean or ordered column as figures show them.

    The most frequent levels of a nominal column have their own text, all others are one level.
    If an ordered category has more than twice as many labels, neighbouring ones are one level.

    Parameters
    ----------
    column : the column
    most : the maximum number of levels with an own text; one more level is not pooled alone
    min_rows : levels of a nominal column with fewer rows have no text of their own
    strengths : a quantity of each level; of equally frequent levels, the largest ones have a text
    """
    present = ~np.isnan(column.values)
    distinct, numbers = np.unique(column.values[present], return_inverse=True)
    codes = np.full(column.values.size, -1)
    codes[present] = numbers
    labels = [column.in_own_units(value) for value in distinct.tolist()]
    if column.kind != "nominal":
        if len(labels) > 2 * most:
            return _joined(labels, codes, most)
        return Levels(level_texts(labels), codes, has_order=True)
    counts = np.bincount(codes[present])
    if strengths is not None and len(labels) == strengths.size > most + 1:
        order = np.lexsort((-np.round(strengths, 9), -counts))
        labels = [labels[at] for at in order.tolist()]
        codes[present] = np.argsort(order)[codes[present]]
    n_frequent = int((counts >= min_rows).sum())
    if n_frequent == len(labels) <= most + 1:
        return Levels(level_texts(labels), codes)
    most = min(most, n_frequent)
    n_pooled = len(labels) - most
    texts = level_texts(labels[:most], extra=f"other ({counted(n_pooled, 'level')})")
    return Levels(texts, np.minimum(codes, most), n_pooled)


def _joined(labels: Sequence[Any], codes: Integers, most: int) -> Levels:
    """Return ranges of ordered labels with about equally many rows."""
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    middles = np.cumsum(counts) - counts / 2
    _, first, range_of = np.unique(
        (most * middles) // counts.sum(), return_index=True, return_inverse=True
    )
    ends = [*(first[1:] - 1).tolist(), len(labels) - 1]
    most_each = MAX_CHARACTERS // 2
    names = []
    for one, other in zip(first.tolist(), ends, strict=True):
        texts = [shortened(visible_text(labels[at]), most_each) for at in (one, other)]
        names.append(texts[0] if one == other else " to ".join(texts))
    return Levels(_distinct(names), np.append(range_of, -1)[codes], has_order=True)


def level_texts(
    labels: Sequence[Any], most: int = MAX_CHARACTERS, extra: str | None = None
) -> list[str]:
    """Return labels of levels as short texts that are all different.

    Parameters
    ----------
    labels : different values, of any type
    most : the maximum number of characters, not counting a number that makes a text different
    extra : a text that stands for other levels; it is added at the end, and no label equals it

    Examples
    --------
    >>> level_texts(["a", "a ", "", 1, "1", "other"], extra="other")
    ['a', '"a "', '""', '1', '1 (2)', 'other (2)', 'other']

    """
    texts = [isolated(shortened(visible_text(label), most)) for label in labels]
    if extra is None:
        return _distinct(texts)
    first, *others = _distinct([extra, *texts])
    return [*others, first]


def visible_text(label: object) -> str:
    r"""Return a label as text without invisible characters, which could hide differences.

    Examples
    --------
    >>> print(visible_text("a\tb"), visible_text(" a"), visible_text(""))
    a\tb " a" ""

    """
    text = str(label)
    # Escaping every character of a huge cell would take long.
    text = shortened(text, 10 * MAX_CHARACTERS_OF_TOOLTIP)
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return f'"{text}"' if not text or text != text.strip() or "  " in text else text


def shortened(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a text whose middle is left out if it is long: endings often differ.

    Examples
    --------
    >>> shortened("Department of Radiology, Leiden"), shortened("short")
    ('Department …Leiden', 'short')

    """
    if len(text) <= most:
        return text
    end = (most - 1) * 3 // 8
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return texts that are all different: later ones get a number."""
    used = set(texts)
    numbers = dict.fromkeys(texts, 0)
    distinct = []
    for text in texts:
        numbers[text] += 1
        name = text
        while numbers[text] > 1 and name in used:
            name = f"{text} ({numbers[text]})"
            numbers[text] += name in used
        used.add(name)
        distinct.append(name)
    return distinct


def association_order(
    prepared: Prepared, other: int, levels: Levels, levels_of_other: Levels | None
) -> list[int]:
    """Return the order of the shown levels by their association with another column.

    Pooled levels are last. Levels with an order of their own keep it.

    Parameters
    ----------
    prepared : the table
    other : the position of the other column
    levels : the shown levels of the column
    levels_of_other : those of the other column, if it is nominal
    """
    everything = list(range(len(levels.texts)))
    if levels.has_order:
        return everything
    # Thousands of levels of both columns would take long, and pooled ones would dominate.
    of_other = prepared.table.columns[other]
    if levels_of_other is not None:
        of_other = _named_only(levels_of_other)
    columns = (_named_only(levels), of_other)
    found = level_order(Prepared(Table(columns, prepared.n_rows)), 0, 1).tolist()
    named = np.unique(levels.codes[(levels.codes >= 0) & (levels.codes < levels.n_named)])
    return [int(named[level]) for level in found] + everything[levels.n_named :]


def _named_only(levels: Levels) -> Column:
    named = (levels.codes >= 0) & (levels.codes < levels.n_named)
    return Column("", np.where(named, levels.codes, np.nan), "nominal")
