"""Read delimited text as Arrow tables.

Encoding, delimiter and header are detected.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from covary import errors
from covary.table.arrays import LARGEST_EXACT
from covary.table.frames import Choose
from covary.table.text_values import is_missing_text

_SAMPLE_BYTES = 1 << 16
_MAX_SAMPLE_BYTES = 1 << 26
_SAMPLE_ROWS = 20
_BLOCK_BYTES = 1 << 22
_DELIMITERS = (",", ";", "\t", "|")
# Arrow reads these as numbers, the second one without its last digits.
_MISREAD = r"^\s*(0[xX]|[+-]?\d{16})"
_DELIMITER_LINE = re.compile(r"sep=([,;\t|])[ \t]*(\r\n|\r|\n)", re.IGNORECASE)
_BLANK_LINES = re.compile(r"([ \t,;|]*(\r\n|\r|\n))+")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Windows-1252 is Latin-1 with more characters, but some bytes are undefined.
_NEXT_ENCODING = {"utf-8": "cp1252", "utf-8-sig": "cp1252", "cp1252": "latin-1"}
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
    names : one per column; ``x0``, ``x1``, ... if the file has no header
    texts : the names of columns in which a cell of the first rows is not a number
    has_header : whether the first row contains names
    n_blank : the number of blank lines before the first row
    is_empty : whether the file contains only a header
    block_bytes : the number of bytes to parse at a time; a row must not be longer
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    texts: frozenset[str]
    has_header: bool
    n_blank: int
    is_empty: bool
    block_bytes: int


def read_delimited(
    path: str,
    open_file: Open,
    choose: Choose,
    texts: Set[str] = frozenset(),
    all_texts: bool = False,
) -> pa.Table:
    """Return the chosen columns of a file of delimited text, each as numbers or as text.

    Parameters
    ----------
    path : the name of the file
    open_file : returns a stream of its decompressed content
    choose : takes the names of all columns and returns the positions of those to read
    texts : the columns that stay text, even if they contain numbers
    all_texts : whether all columns stay text
    """
    with open_file() as stream:
        sample, is_complete = _sample(stream)
    layout = _find_layout(path, sample, is_complete)
    wanted = [layout.names[position] for position in choose(layout.names)]
    if layout.is_empty:
        return pa.table({name: pa.nulls(0) for name in wanted})
    texts = set(wanted) if all_texts else {*texts, *layout.texts}
    try:
        layout, table, n_quotes = _parse_decoded(open_file, layout, wanted, texts)
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


def _parse_decoded(
    open_file: Open, layout: _Layout, wanted: list[str], texts: Set[str]
) -> tuple[_Layout, pa.Table, int]:
    """Return the layout with the encoding of the whole file, and the parsed file."""
    while True:
        try:
            return layout, *_parse(open_file, layout, wanted, texts)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            # The sample may end before the first character that is not in its encoding.
            is_decoding = isinstance(error, UnicodeDecodeError) or "UTF8" in str(error)
            if not is_decoding or layout.encoding not in _NEXT_ENCODING:
                raise
            layout = replace(layout, encoding=_NEXT_ENCODING[layout.encoding])


def _parse(
    open_file: Open,
    layout: _Layout,
    wanted: list[str],
    texts: Set[str],
    skip_ragged: bool = False,
) -> tuple[pa.Table, int]:
    """Return the wanted columns, and the number of quotation marks in the file.

    Arrow finds numbers. Other columns stay text, because `text_column` reads more formats, and
    reports them.
    """
    table, stream = _parse_columns(open_file, layout, wanted, texts, skip_ragged)
    final = {pa.string(), pa.null(), pa.float64(), pa.int64()}
    others = {field.name for field in table.schema if field.type not in final}
    doubtful = {name for name in wanted if _may_be_misread(table[name], stream.has_hexadecimals)}
    if others or doubtful:
        names = [name for name in wanted if name in others | doubtful]
        again, _ = _parse_columns(open_file, layout, names, set(names), skip_ragged)
        for name in names:
            if name in others or pc.any(pc.match_substring_regex(again[name], _MISREAD)).as_py():
                table = table.set_column(wanted.index(name), name, again[name])
    return table, stream.quotes


def _may_be_misread(column: pa.ChunkedArray, has_hexadecimals: bool) -> bool:
    """Return whether Arrow may have read codes as numbers: "0x1f", or too many digits."""
    if column.type == pa.int64():
        return has_hexadecimals
    if column.type != pa.float64():
        return False
    # To compare the column with a plain number, pyarrow would import pandas.
    extremes = pc.min_max(column).as_py().values()
    return any(abs(each) >= LARGEST_EXACT for each in extremes if each is not None)


def _parse_columns(
    open_file: Open, layout: _Layout, wanted: list[str], texts: Set[str], skip_ragged: bool
) -> tuple[pa.Table, _Scan]:
    """Return columns and what the file contains; only empty cells are missing."""
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
            column_types={name: pa.string() for name in wanted if name in texts},
            null_values=["", " "],
            strings_can_be_null=True,
        ),
    }
    with _Scan(open_file()) as stream:
        return pa.csv.read_csv(stream, **options), stream


class _Scan(io.RawIOBase):
    """A stream that finds out what a file contains while it is read.

    If the number of quotation marks is odd, one may be open. A file without "0x" has no
    hexadecimal numbers.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._last = b""
        self.quotes = 0
        self.has_hexadecimals = False

    def read(self, size: int = -1) -> bytes:
        chunk: bytes = self._stream.read(size)
        self.quotes += chunk.count(b'"')
        if not self.has_hexadecimals:
            found = (b"0x" in chunk, b"0X" in chunk, self._last + chunk[:1] in (b"0x", b"0X"))
            self.has_hexadecimals = any(found)
            self._last = chunk[-1:]
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
    n_blank, text, given = _skip_blank(text)
    rows_by = {delimiter: _first_rows(text, delimiter, is_complete) for delimiter in _DELIMITERS}
    delimiter = given or max(_DELIMITERS, key=lambda each: _fit(rows_by[each], each))
    rows = rows_by[delimiter]
    if not rows:
        raise errors.unreadable(
            path, "its first cell is too long: it is not a table, or it is damaged"
        )
    has_header = not _are_numbers(rows[0], delimiter)
    names = [cell.strip() if has_header else "" for cell in rows[0]]
    names = [name or _unnamed(position, has_header) for position, name in enumerate(names)]
    cells = zip_longest(*rows[has_header:], fillvalue="")
    texts = {name for name, column in zip(names, cells, strict=False) if _is_text(column)}
    return _Layout(
        encoding,
        delimiter,
        tuple(names),
        frozenset(texts),
        has_header,
        n_blank,
        is_empty=is_complete and has_header and len(rows) == 1,
        block_bytes=max(_BLOCK_BYTES, 4 * max(map(len, sample.splitlines()))),
    )


def _skip_blank(text: str) -> tuple[int, str, str]:
    """Return the number of lines before the first row, the text after them, and the delimiter.

    The delimiter is known if Excel wrote it in the first line, as in "sep=;". Otherwise it is
    empty.
    """
    given = _DELIMITER_LINE.match(text)
    n_lines, text = (1, text[given.end() :]) if given else (0, text)
    blank = _BLANK_LINES.match(text)
    if blank:
        n_lines, text = n_lines + len(blank.group().splitlines()), text[blank.end() :]
    return n_lines, text, given[1] if given else ""


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
    if len(sample) > 3 and b"\0" in sample[:4]:  # UTF-16 without a mark
        even, odd = (sum(byte == 0 for byte in sample[start:200:2]) for start in (0, 1))
        return "utf-16-le" if odd > even else "utf-16-be"
    encoding = "utf-8"
    while encoding in _NEXT_ENCODING:
        try:
            codecs.getincrementaldecoder(encoding)().decode(sample)
            break
        except UnicodeDecodeError:
            encoding = _NEXT_ENCODING[encoding]
    return encoding


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
    present = [cell for cell in row if not cell or not is_missing_text(cell)]
    return bool(present) and all(_is_number(cell, delimiter) for cell in present)


def _is_text(column: tuple[str, ...]) -> bool:
    """Return whether one of the cells is neither empty nor a number."""
    return not all(_is_number(cell, ",") for cell in column if cell.strip())


def _unnamed(position: int, has_header: bool) -> str:
    """Return a name for a column without one, the same as pandas in a file with a header."""
    return f"Unnamed: {position}" if has_header else f"x{position}"


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
            spaced = any(re.match(r'\s+"', cell) for cell in row)
            n_columns = len(layout.names)
            return errors.ragged_row(path, line, len(row), n_columns, layout.delimiter, spaced)
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
