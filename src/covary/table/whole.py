"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from covary import errors


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of ``path`` only when all is written."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a device or a pipe, which nothing may replace
        with _refused(path), open(target, "wb") as file:
            yield file
        return
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with _refused(path):
            with open(partial, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def _refused(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says into one line."""
    try:
        yield
    except OSError as error:
        raise errors.unwritable(path, os.strerror(error.errno) if error.errno else error) from None
