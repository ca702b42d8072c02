"""Error messages for the exceptions of SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from covary import errors

# Part of the message of SQLite if a file cannot be written, and our explanation.
_WRITE_ERRORS = {
    "full": "the disk is full; the scores written before are kept, free some space and resume",
    "locked": "another program is using it",
    "unable to open": "the folder is not writable",
    "readonly": "it is not writable",
    "disk I/O": "the disk is full or reports an error; the scores written before are kept",
}


@contextmanager
def sqlite_errors_translated(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an error of covary instead of an exception of SQLite."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        for part, explanation in _WRITE_ERRORS.items():
            if part in str(error):
                raise errors.run_not_written(path, explanation) from None
        if "not a database" in str(error):
            raise errors.not_a_run_file(path) from None
        raise errors.damaged_run(path, error) from None
    except UnicodeDecodeError:
        raise errors.damaged_run(path, "some of its text is not UTF-8") from None
