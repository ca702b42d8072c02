"""Convert columns of text: to numbers or dates if all cells are, otherwise to levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from covary import errors
from covary.array_types import Integers
from covary.table.arrays import array_column
from covary.table.levels import nominal_column
from covary.table.table import Ambiguous, Column
from covary.table.text_values import (
    MISSING_TEXTS,
    Converted,
    convert_texts,
    is_missing_text,
    missing_note,
    numbers_but,
    point_decimals,
    unit_reason,
)

# At most this number of texts, with at least this number of rows each, are levels even if most of
# them are numbers, such as "1", "2", "3+".
FEW_TEXTS, ROWS_PER_TEXT = 12, 10
# Numbers that every program reads alike. Leading zeros, plus signs and more digits need a check.
_PLAIN_NUMBER = r"^-?(?:0|[1-9]\d{0,14})(?:[.]\d*)?(?:[eE][+-]?\d{1,2})?$"
_FIRST_CELLS = 100


def text_column(texts: Any, name: str, as_levels: bool = False, decimal: str = "") -> Column | str:
    """Return a column of text as numbers, dates or levels, or why it cannot be used.

    Parameters
    ----------
    texts : an Arrow array of strings
    as_levels : whether every text is a level, even numbers and texts such as "NA"
    decimal : the decimal sign in other columns of the table; empty if it is unknown
    """
    plain = None if as_levels else _plain_numbers(texts, name, decimal)
    if plain is not None:
        return plain
    codes, labels = encoded(texts)
    if as_levels:
        return nominal_column(name, codes, labels, declared=True)
    converted = convert_texts(labels, decimal)
    if isinstance(converted, Converted):
        column = _converted_column(converted, codes, name)
        if isinstance(column, str):
            return column
        return replace(column, read_as=converted.what, decimal=converted.decimal)
    reason = converted
    if reason is None and (odd := numbers_but(labels)) is not None:
        reason = errors.not_a_number_reason(odd)
    are_few = len(labels) <= FEW_TEXTS and codes.size >= ROWS_PER_TEXT * len(labels)
    if reason is not None and not are_few:
        return reason
    column = _level_column(codes, labels, name)
    reason = reason or unit_reason(labels)
    if reason is None:
        return column
    if isinstance(column, str):
        return reason
    notes = [errors.kept_as_levels(reason), *([column.read_as] if column.read_as else [])]
    decimal = "?" if isinstance(reason, Ambiguous) else ""
    return replace(column, read_as="; ".join(notes), decimal=decimal)


def _plain_numbers(texts: Any, name: str, decimal: str) -> Column | None:
    """Return a column of plain numbers; None if a cell is something else. This is fast."""
    if texts.type not in (pa.string(), pa.large_string()):
        return None

    def present_and_plain(cells: Any) -> tuple[Any, Any, bool]:
        cells = pc.ascii_trim_whitespace(cells)
        is_marker = pc.is_in(cells, value_set=pa.array(MISSING_TEXTS, cells.type))
        present = pc.if_else(is_marker, pa.scalar(None, cells.type), cells)
        matches = pc.match_substring_regex(present, pattern=_PLAIN_NUMBER)
        return present, cells.filter(is_marker), bool(pc.all(matches, min_count=0).as_py())

    if not present_and_plain(texts[:_FIRST_CELLS])[-1]:
        return None
    present, markers, is_plain = present_and_plain(texts)
    if not is_plain or present.null_count == len(present):
        return None
    sign = point_decimals(present.drop_null())
    if sign == "?" and decimal == ",":
        return None
    values = np.array(present.cast("double"), dtype=np.float64)
    read_as = "numbers" + missing_note(markers.unique().to_pylist())
    return Column(name, values, read_as=read_as, decimal=sign)


def _level_column(codes: Integers, labels: list[str], name: str) -> Column | str:
    """Return a nominal column; texts such as "NA" are missing if two other levels remain."""
    is_blank = np.array([not label.strip() for label in labels], dtype=bool)
    is_marker = np.array(list(map(is_missing_text, labels)), dtype=bool)
    keep_markers = np.sum(~is_marker) < 2 and np.sum(~is_blank) >= 2
    is_missing = is_blank if keep_markers else is_marker
    if not is_missing.any():
        return nominal_column(name, codes, labels)
    column = nominal_column(name, np.where(np.append(is_missing, True)[codes], -1, codes), labels)
    used = np.unique(codes[codes >= 0])
    markers = [labels[at].strip() for at in used.tolist() if is_missing[at] and not is_blank[at]]
    if isinstance(column, str) or not markers:
        return column
    return replace(column, read_as=errors.missing_levels(markers))


def _converted_column(converted: Converted, codes: Integers, name: str) -> Column | str:
    """Return a column of converted texts."""
    values = converted.values
    if values.dtype.kind == "m":  # times of day
        times = values.astype("m8[ns]").astype(np.float64)
        times[np.isnat(values)] = np.nan
        return Column(name, np.append(times, np.nan)[codes], "date", dtype="time")
    if values.dtype.kind == "M":
        dates = np.append(values, np.datetime64("NaT"))[codes]
        return array_column(dates, name, zone=converted.zone)
    return array_column(np.append(values, np.nan)[codes], name, converted.kind)


def encoded(texts: Any) -> tuple[Integers, list[Any]]:
    """Return the number of each cell's label, -1 if it is missing, and the distinct labels."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_encode()
    codes = texts.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False).copy()
    labels = texts.dictionary.to_pylist()
    for at, label in enumerate(labels):
        if label is None:  # a dictionary may contain a missing cell
            codes[codes == at] = -1
            labels[at] = ""
    position: dict[Any, int] = {}
    first = [position.setdefault(label, at) for at, label in enumerate(labels)]
    if len(position) < len(labels):  # a dictionary may contain a label twice
        codes = np.array([*first, -1])[codes]
    return codes, labels
