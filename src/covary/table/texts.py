"""Convert columns of text: to numbers or dates if all cells are, otherwise to levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from covary import errors
from covary.array_types import Integers
from covary.table.arrays import array_column
from covary.table.levels import nominal_column
from covary.table.table import Column
from covary.table.text_values import Converted, convert_texts, is_missing_text, numbers_but

# Dates that 64 bits can count in nanoseconds.
_EARLIEST, _LATEST = np.datetime64("1678"), np.datetime64("2262")


# At most this number of texts, with at least this number of rows each, are levels even if most of
# them are numbers, such as "1", "2", "3+".
FEW_TEXTS, ROWS_PER_TEXT = 12, 10


def text_column(texts: Any, name: str, as_levels: bool = False) -> Column | str:
    """Return a column of text as numbers, dates or levels, or why it cannot be used.

    Parameters
    ----------
    texts : an Arrow array of strings
    as_levels : whether every text is a level, even numbers and texts such as "NA"
    """
    codes, labels = encoded(texts)
    if as_levels:
        return nominal_column(name, codes, labels, declared=True)
    converted = convert_texts(labels)
    if converted is not None:
        column = _converted_column(converted, codes, name)
        return column if isinstance(column, str) else replace(column, read_as=converted.what)
    are_levels = len(labels) <= FEW_TEXTS and codes.size >= ROWS_PER_TEXT * len(labels)
    number_but = None if are_levels else numbers_but(labels)
    if number_but is not None:
        return errors.not_a_number_reason(number_but)
    markers = [at for at, label in enumerate(labels) if is_missing_text(label)]
    if not markers:
        return nominal_column(name, codes, labels)
    present = codes.copy()
    present[np.isin(codes, markers)] = -1
    column = nominal_column(name, present, labels)
    if isinstance(column, str):
        return column
    found = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(labels))[markers])
    return replace(column, read_as=errors.missing_markers([labels[markers[at]] for at in found]))


def _converted_column(converted: Converted, codes: Integers, name: str) -> Column | str:
    """Return a column of converted texts, in the units that Arrow uses for CSV files."""
    values = converted.values
    if values.dtype.kind == "m":  # times of day
        times = values.astype("m8[ns]").astype(np.float64)
        times[np.isnat(values)] = np.nan
        return Column(name, np.append(times, np.nan)[codes], "date", dtype="time")
    if values.dtype.kind == "M":
        present = values[~np.isnat(values)]
        if values.dtype == "M8[us]" and np.all((present > _EARLIEST) & (present < _LATEST)):
            values = values.astype("M8[ns]")
        return array_column(np.append(values, np.datetime64("NaT"))[codes], name)
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
    if not pa.types.is_nested(texts.dictionary.type):
        position: dict[Any, int] = {}
        first = [position.setdefault(label, at) for at, label in enumerate(labels)]
        if len(position) < len(labels):  # a dictionary may contain a label twice
            codes = np.array([*first, -1])[codes]
    return codes, labels
