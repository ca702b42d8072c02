"""Open and copy the SQLite database of a run file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from covary import errors

FIRST_BYTES = b"SQLite format 3\0"
# The time to wait for another program that writes to the file.
TIMEOUT_SECONDS = 10.0


def database_exists(path: str | os.PathLike[str]) -> bool:
    """Return whether a database exists; raise an error if the path is something else.

    An empty file counts as no database.
    """
    if os.path.isdir(path):
        raise errors.run_not_written(path, "it is a folder")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise errors.run_not_written(path, "there is no such folder")
    try:
        with open(path, "rb") as file:
            first_bytes = file.read(len(FIRST_BYTES))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise errors.run_not_written(path, error.strerror) from None
    if first_bytes and first_bytes != FIRST_BYTES:
        raise errors.not_a_run_file(path)
    return bool(first_bytes)


def connect(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Return a connection without automatic transactions."""
    # The absolute path, because SQLite does not write names such as ":memory:" to disk.
    return sqlite3.connect(os.path.abspath(path), timeout=TIMEOUT_SECONDS, isolation_level=None)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log and wait for other programs; SQLite does not wait here."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def copy_database(path: Path, copy: sqlite3.Connection) -> None:
    """Copy a database without changing it or its folder."""
    log = path.with_name(f"{path.name}-wal")
    if not (log.exists() and log.stat().st_size > 0):
        # No program is writing, and none was killed while writing.
        _back_up(path, "immutable=1", copy)
        return
    try:
        _back_up(path, "mode=ro", copy)
    except sqlite3.OperationalError:
        # SQLite needs a writable folder to read a write-ahead log.
        with tempfile.TemporaryDirectory(prefix="covary-") as folder:
            for each in (path, log):
                shutil.copy(each, folder)
            _back_up(Path(folder) / path.name, "mode=rw", copy)


def _back_up(path: Path, mode: str, copy: sqlite3.Connection) -> None:
    address = f"{path.as_uri()}?{mode}"
    with closing(sqlite3.connect(address, timeout=TIMEOUT_SECONDS, uri=True)) as original:
        original.execute("PRAGMA trusted_schema = OFF")
        original.backup(copy)
