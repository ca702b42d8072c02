"""Read delimited text as Arrow tables.

Encoding, delimiter, header and decimal sign are detected.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.csv

from covary import errors
from covary.table.frames import Choose

_SAMPLE_BYTES = 1 << 16
_MAX_SAMPLE_BYTES = 1 << 26
_SAMPLE_ROWS = 20
_BLOCK_BYTES = 1 << 22
_DELIMITERS = (",", ";", "\t", "|")
_MISSING = (
    *("", "?", "-", ".", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan"),
    *("-NaN", "null", "NULL", "Null", "None", "NaT", "1.#QNAN", "-1.#IND"),
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_BLANK_LINES = re.compile(r"([ \t,;|]*(\r\n|\r|\n))+")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHER_FORMATS = {
    r"%PDF": "a PDF document",
    r"\s*<(!doctype|html|\?xml)": "a web page or XML",
    r'\s*(\{\s*["}]|\[\s*["{\[])': "JSON",
}

# A function that opens the file and returns a stream of the decompressed content.
Open = Callable[[], Any]


@dataclass(frozen=True)
class _Layout:
    """The layout of a delimited file.

    Parameters
    ----------
    encoding : the character encoding
    delimiter : the character between two cells
    decimal_comma : whether the decimal sign is a comma
    names : one per column; ``x0``, ``x1``, ... for columns without a name
    has_header : whether the first row contains names
    n_blank : the number of blank lines before the first row
    is_empty : whether the file contains only a header
    block_bytes : the number of bytes to parse at a time; a row must not be longer
    """

    encoding: str
    delimiter: str
    decimal_comma: bool
    names: tuple[str, ...]
    has_header: bool
    n_blank: int
    is_empty: bool
    block_bytes: int


def read_delimited(
    path: str, open_file: Open, choose: Choose, texts: Set[str] = frozenset()
) -> pa.Table:
    """Return the chosen columns of a file of delimited text.

    Parameters
    ----------
    path : the name of the file
    open_file : returns a stream of its decompressed content
    choose : takes the names of all columns and returns the positions of those to read
    texts : the columns that stay text, even if they contain numbers
    """
    with open_file() as stream:
        sample, is_complete = _sample(stream)
    layout = _find_layout(path, sample, is_complete)
    wanted = [layout.names[position] for position in choose(layout.names)]
    if layout.is_empty:
        return pa.table({name: pa.nulls(0) for name in wanted})
    try:
        table, n_quotes = _parse(open_file, layout, wanted, texts)
    except pa.ArrowInvalid as error:
        cause = _find_cause(path, open_file, layout, error)
        if cause is not None:
            raise cause from None
        table, n_quotes = _parse(open_file, layout, wanted, texts, skip_ragged=True)
    if n_quotes % 2:
        _check_open_quote(path, open_file, layout)
    if not layout.has_header:
        errors.warn(errors.no_header(path))
    return table


def _parse(
    open_file: Open,
    layout: _Layout,
    wanted: list[str],
    texts: Set[str],
    skip_ragged: bool = False,
) -> tuple[pa.Table, int]:
    """Return the wanted columns, and the number of quotation marks in the file."""
    declared = [name for name in wanted if name in texts]
    if not declared:
        return _parse_columns(open_file, layout, wanted, skip_ragged)
    others = [name for name in wanted if name not in texts]
    table, n_quotes = _parse_columns(open_file, layout, declared, skip_ragged, as_text=True)
    if others:
        rest, _ = _parse_columns(open_file, layout, others, skip_ragged)
        table = pa.table([*table.columns, *rest.columns], [*declared, *others])
    return table.select(wanted), n_quotes


def _parse_columns(
    open_file: Open,
    layout: _Layout,
    wanted: list[str],
    skip_ragged: bool,
    as_text: bool = False,
) -> tuple[pa.Table, int]:
    """Return columns and the number of quotation marks; in text, only empty cells are missing."""
    options = {
        "read_options": pa.csv.ReadOptions(
            column_names=layout.names,
            skip_rows=layout.n_blank,
            skip_rows_after_names=int(layout.has_header),
            block_size=layout.block_bytes,
            encoding="utf8" if layout.encoding.startswith("utf-8") else layout.encoding,
        ),
        "parse_options": pa.csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            invalid_row_handler=(lambda row: "skip") if skip_ragged else None,
        ),
        "convert_options": pa.csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.string()) if as_text else {},
            null_values=_with_leading_space(("",) if as_text else _MISSING),
            true_values=_with_leading_space(("true", "True", "TRUE")),
            false_values=_with_leading_space(("false", "False", "FALSE")),
            strings_can_be_null=True,
            decimal_point="," if layout.decimal_comma else ".",
        ),
    }
    with _QuoteCounter(open_file()) as stream:
        return pa.csv.read_csv(stream, **options), stream.quotes


def _with_leading_space(words: Iterable[str]) -> list[str]:
    """Return words without and with the space that may follow a delimiter."""
    return [space + word for word in words for space in ("", " ")]


class _QuoteCounter(io.RawIOBase):
    """A stream that counts quotation marks; if the number is odd, one may be open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.quotes = 0

    def read(self, size: int = -1) -> bytes:
        chunk: bytes = self._stream.read(size)
        self.quotes += chunk.count(b'"')
        return chunk

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()


# ---------------------------------------------------------------- layout


def _sample(stream: Any) -> tuple[bytes, bool]:
    """Return the first bytes, at least two lines, and whether they are the whole file."""
    sample = bytes(stream.read(_SAMPLE_BYTES))
    size = _SAMPLE_BYTES
    while len(sample) == size < _MAX_SAMPLE_BYTES and len(sample.splitlines()) < 3:
        sample += stream.read(size)
        size *= 2
    return sample, len(sample) < size


def _find_layout(path: str, sample: bytes, is_complete: bool) -> _Layout:
    encoding = _encoding(sample)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    _check_format(path, text)
    blank = _BLANK_LINES.match(text)
    n_blank = len(blank.group().splitlines()) if blank else 0
    text = text[blank.end() :] if blank else text
    rows_by = {delimiter: _first_rows(text, delimiter, is_complete) for delimiter in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda each: _fit(rows_by[each], each))
    rows = rows_by[delimiter]
    if not rows:
        raise errors.unreadable(
            path, "its first cell is too long: it is not a table, or it is damaged"
        )
    has_header = not _are_numbers(rows[0], delimiter)
    names = [cell.strip() if has_header else "" for cell in rows[0]]
    return _Layout(
        encoding,
        delimiter,
        delimiter != "," and _has_decimal_commas([cell.strip() for row in rows for cell in row]),
        tuple(name or _unnamed(position, has_header) for position, name in enumerate(names)),
        has_header,
        n_blank,
        is_empty=is_complete and has_header and len(rows) == 1,
        block_bytes=max(_BLOCK_BYTES, 4 * max(map(len, sample.splitlines()))),
    )


def _check_format(path: str, text: str) -> None:
    if not text.strip():
        raise errors.unreadable(path, "the file is empty")
    for pattern, what in _OTHER_FORMATS.items():
        if re.match(pattern, text, re.IGNORECASE):
            raise errors.unreadable(path, f"it is {what}: save the table as CSV or Parquet")
    if "\0" in text:
        raise errors.unreadable(path, "it is not a CSV, Parquet or Arrow file, or it is damaged")


def _encoding(sample: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if sample.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _first_rows(text: str, delimiter: str, is_complete: bool) -> list[list[str]]:
    """Return the first complete rows that are not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    filled = (row for row in reader if any(cell.strip() for cell in row))
    try:
        rows = list(islice(filled, _SAMPLE_ROWS))
        if rows and not is_complete and next(filled, None) is None:
            rows.pop()  # the sample may end within this row
    except csv.Error:  # a cell is too long, so this is not the delimiter
        return []
    return rows


def _fit(rows: list[list[str]], delimiter: str) -> tuple[bool, float, int]:
    """Return a sort key: rows of equal width, then the fraction of numbers, then the width."""
    n_cells = sum(map(len, rows))
    if n_cells == 0:
        return False, 0.0, 0
    width = len(rows[0])
    if width == 1 or any(len(row) != width for row in rows):
        return False, width, 0
    return True, sum(_is_number(cell, delimiter) for row in rows for cell in row) / n_cells, width


def _is_number(cell: str, delimiter: str) -> bool:
    try:
        float(cell if delimiter == "," else cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _are_numbers(row: list[str], delimiter: str) -> bool:
    """Return whether all cells that are present in a row are numbers."""
    present = [cell for cell in row if not cell or cell.strip() not in _MISSING]
    return bool(present) and all(_is_number(cell, delimiter) for cell in present)


def _unnamed(position: int, has_header: bool) -> str:
    """Return a name for a column without one; the first one often contains row numbers."""
    return "Unnamed: 0" if has_header and position == 0 else f"x{position}"


def _has_decimal_commas(cells: list[str]) -> bool:
    with_comma = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    # "5,126" may be a thousands separator. It is decided later, from the whole column.
    certain = any(not _THOUSANDS.fullmatch(cell) for cell in with_comma)
    return certain and not any(map(_DECIMAL_POINT.fullmatch, cells))


# ---------------------------------------------------------------- causes of errors


def _find_cause(
    path: str, open_file: Open, layout: _Layout, error: Exception
) -> errors.TableError | None:
    """Return an error that names the invalid line; None if only blank lines are too short."""
    has_blank = False
    rows = _lines_and_rows(open_file, layout)
    for line, row in rows:
        if len(row) in (0, len(layout.names)):
            continue
        if any(cell.strip(" \t\x1a") for cell in row):
            if _spans_lines(row) and next(rows, None) is None:
                return errors.open_quote(path, line)
            return errors.ragged_row(path, line, len(row), len(layout.names), layout.delimiter)
        has_blank = True
    if "straddling" in str(error):
        return errors.unreadable(path, f"a row has more than {layout.block_bytes} bytes")
    return None if has_blank else errors.damaged(path, error)


def _check_open_quote(path: str, open_file: Open, layout: _Layout) -> None:
    """Raise an error if a quoted cell extends to the end of the file."""
    last = deque(_lines_and_rows(open_file, layout), maxlen=1)
    if last and _spans_lines(last[0][1]):
        raise errors.open_quote(path, last[0][0])


def _spans_lines(row: list[str]) -> bool:
    return any(re.search(r"[\r\n]", cell.rstrip()) for cell in row)


def _lines_and_rows(open_file: Open, layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """Return every row with the number of its first line; this is slow."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with io.TextIOWrapper(open_file(), layout.encoding, errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=layout.delimiter)
            line = 1
            for row in reader:
                yield line, row
                line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)
