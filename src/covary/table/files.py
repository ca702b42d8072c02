"""Files as Arrow tables: what a file is, is told by its first bytes, not by its name."""

from __future__ import annotations

import codecs
import csv
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from covary import errors

_SAMPLE_BYTES = 1 << 16
_MISSING = ["", "?", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "NaT", "."]
_READ_ERRORS = (pa.ArrowException, OSError, EOFError, ValueError, MemoryError, OverflowError)


def read_file(path: str) -> pa.Table:
    """Return the table in a CSV (also compressed), Parquet, Arrow or Feather file."""
    try:
        sample = _first_bytes(path)
        return _read(path, sample)
    except errors.CovaryError:
        raise
    except FileNotFoundError:
        raise errors.unreadable(path, "there is no such file") from None
    except IsADirectoryError:
        raise errors.unreadable(path, "it is a directory, name a file in it") from None
    except PermissionError:
        raise errors.unreadable(path, "no permission") from None
    except _READ_ERRORS as error:
        raise errors.unreadable(path, _reason(error)) from None


def _read(path: str, sample: bytes) -> pa.Table:
    if sample.startswith(b"PAR1"):
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(path).read()
    if sample.startswith(b"ARROW1"):
        return pa.ipc.open_file(path).read_all()
    if sample.startswith(b"\xff\xff\xff\xff"):
        return pa.ipc.open_stream(path).read_all()
    if sample.startswith(b"FEA1"):
        import pyarrow.feather

        return pyarrow.feather.read_table(path)
    if sample.startswith(b"PK\x03\x04"):
        raise errors.unreadable(path, "it is a workbook or zip archive, save the table as CSV")
    return _read_csv(path, sample)


def _first_bytes(path: str) -> bytes:
    """Return the start of a file, decompressed."""
    if Path(path).is_dir():
        raise IsADirectoryError(path)
    with pa.input_stream(path) as stream:
        return bytes(stream.read(_SAMPLE_BYTES))


def _read_csv(path: str, sample: bytes) -> pa.Table:
    import pyarrow.csv as arrow_csv

    encoding = _encoding(sample)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    if not text.strip():
        raise errors.unreadable(path, "the file is empty")
    if "\0" in text:
        raise errors.unreadable(path, "it is neither CSV nor Parquet nor Arrow")
    delimiter = _delimiter(text, path)
    header = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    named = not all(_is_number(cell) for cell in header)
    names = [
        cell.strip() if named and cell.strip() else f"x{position}"
        for position, cell in enumerate(header)
    ]
    with pa.input_stream(path) as stream:
        table = arrow_csv.read_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=names, skip_rows_after_names=int(named), encoding=encoding
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                null_values=_MISSING,
                strings_can_be_null=True,
                decimal_point="," if _decimal_comma(text, delimiter) else ".",
            ),
        )
    return table


def _encoding(sample: bytes) -> str:
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if sample.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _delimiter(text: str, path: str) -> str:
    """Return the delimiter that cuts the first lines into the most, equally many cells."""
    lines = text.splitlines()[:20]
    best, most = ",", 1
    for delimiter in (",", "\t", ";", "|"):
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if widths and min(widths[:-1] or widths) > most:
            best, most = delimiter, min(widths[:-1] or widths)
    return best


def _decimal_comma(text: str, delimiter: str) -> bool:
    return (
        delimiter != ","
        and re.search(r"\d,\d", text) is not None
        and re.search(r"\d\.\d", text) is None
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _reason(error: Any) -> str:
    text = str(error)
    return text if text else type(error).__name__
