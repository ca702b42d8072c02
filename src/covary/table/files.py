"""Read files as Arrow tables.

The format is detected from the content, not from the file extension.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

import pyarrow as pa

from covary import errors
from covary.table.delimited import read_delimited
from covary.table.frames import Choose, arrow_series, series_column
from covary.table.table import Column

_SAMPLE_BYTES = 1 << 16
_COMPRESSIONS = {
    "gzip": rb"\x1f\x8b",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "lz4": rb"\x04\x22\x4d\x18",
    "xz": rb"\xfd7zXZ\x00",
}
_BINARY_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".ipc": "Arrow",
    ".arrows": "Arrow",
    ".feather": "Feather",
}


def read_file(
    path: str, choose: Choose, levels: Set[str] = frozenset(), decimal: str = ""
) -> tuple[int, list[tuple[str, Column | str]]]:
    """Return the number of rows and the columns of a CSV, Parquet, Arrow or Feather file.

    CSV files may be compressed. In place of a column that cannot be used, the reason is returned.

    Parameters
    ----------
    path : the file
    choose : takes the names of all columns and returns the positions of those to read
    levels : the columns of which every text is a level
    decimal : the decimal sign in other columns of text; empty if it is unknown
    """
    try:
        table = _read(path, _first_bytes(path), choose, levels, bool(decimal))
        n_rows, chosen = arrow_series(table)
        del table
        return n_rows, [
            (name, series_column(series, name, name in levels, decimal)) for name, series in chosen
        ]
    except errors.CovaryError:
        raise
    except FileNotFoundError:
        raise _no_such_file(path) from None
    except PermissionError:
        raise errors.unreadable(path, "permission denied") from None
    except MemoryError:
        raise errors.unreadable(path, "it needs too much memory, or it is damaged") from None
    except Exception as error:  # readers raise undocumented errors for damaged files
        if isinstance(error, OSError) and error.errno:
            raise errors.unreadable(path, os.strerror(error.errno)) from None
        raise errors.damaged(path, str(error) or type(error).__name__) from None


def _first_bytes(path: str) -> bytes:
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:
        raise errors.unreadable(path, error) from None
    if stat.S_ISDIR(mode):
        raise errors.unreadable(path, "it is a directory: pass a file in it")
    if not stat.S_ISREG(mode):
        raise errors.unreadable(path, "it is a pipe or device, not a file: save the table first")
    with open(path, "rb") as file:
        return file.read(_SAMPLE_BYTES)


def _no_such_file(path: str) -> errors.TableError:
    directory = Path(path).parent
    if not directory.is_dir():
        return errors.unreadable(path, f"there is no directory {directory}")
    try:
        return errors.no_such_file(path, os.listdir(directory))
    except OSError:  # no permission to list the directory
        return errors.no_such_file(path, [])


def _read(path: str, sample: bytes, choose: Choose, levels: Set[str], all_texts: bool) -> pa.Table:
    if b"\0" in sample:
        if sample.startswith(b"PAR1"):
            return _read_parquet(path, choose)
        if sample.startswith(b"ARROW1"):
            return _read_arrow(path, choose)
        if sample.startswith(b"\xff\xff\xff\xff"):
            return _read_arrow_stream(path, choose)
        if sample.startswith(b"FEA1"):
            raise errors.unreadable(path, "it is Feather version 1: write it as version 2")
        if sample.startswith(b"PK\x03\x04"):
            raise errors.unreadable(path, "it is a workbook or zip archive: save the table as CSV")
    format_of_suffix = _BINARY_SUFFIXES.get(Path(path).suffix.lower())
    if format_of_suffix and sample:
        raise errors.unreadable(
            path, f"it is not a {format_of_suffix} file: it is damaged, or its suffix is wrong"
        )
    return read_delimited(path, lambda: _open(path, sample), choose, levels, all_texts)


def _open(path: str, sample: bytes) -> Any:
    """Return a stream of the decompressed content."""
    codec = next((name for name, magic in _COMPRESSIONS.items() if re.match(magic, sample)), None)
    if codec == "xz":
        import lzma

        return lzma.open(path)
    file = pa.OSFile(path)
    return file if codec is None else pa.CompressedInputStream(file, codec)


# ---------------------------------------------------------------- binary formats


def _read_parquet(path: str, choose: Choose) -> pa.Table:
    from pyarrow.parquet import ParquetFile

    # With pre_buffer, the whole file would be in memory in addition to its columns.
    with pa.OSFile(path) as file, ParquetFile(file, pre_buffer=False) as parquet:
        names = parquet.schema_arrow.names
        wanted = [names[position] for position in choose(names)]
        return parquet.read(wanted).select(wanted)


def _read_arrow(path: str, choose: Choose) -> pa.Table:
    with pa.OSFile(path) as file:
        return _read_batches(file, pa.ipc.open_file, choose)


def _read_arrow_stream(path: str, choose: Choose) -> pa.Table:
    with pa.OSFile(path) as file:
        return _read_batches(file, pa.ipc.open_stream, choose)


def _read_batches(file: Any, open_batches: Callable[..., Any], choose: Choose) -> pa.Table:
    names = open_batches(file).schema.names
    wanted = list(choose(names))
    file.seek(0)
    options = pa.ipc.IpcReadOptions(included_fields=wanted)
    table = open_batches(file, options=options).read_all()
    # Arrow does not check its buffers. Invalid offsets or codes would crash later.
    table.validate(full=True)
    return table.select([names[position] for position in wanted])
