"""Write a file completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from covary import errors


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Return a context with an open file, which replaces ``path`` when the context ends.

    If the context ends with an error, ``path`` stays as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a device or a pipe must not be replaced
        with _one_line_errors(path), open(target, "wb") as file:
            yield file
        return
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with _one_line_errors(path):
            with open(partial, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def _one_line_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of the operating system into errors of covary."""
    try:
        yield
    except OSError as error:
        raise errors.unwritable(path, os.strerror(error.errno) if error.errno else error) from None
