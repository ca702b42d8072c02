"""Digest of a table, to check whether copies are equal up to the order of rows and all names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def content_digest(
    columns: Sequence[npt.NDArray[Any]], labels: Sequence[str] | None = None
) -> str:
    """Return a digest of the cells of a table and of the division of its rows into classes.

    The digest depends on the order of the columns. It does not depend on the order of the rows,
    the names of the columns, or the names of the classes.

    Parameters
    ----------
    columns : arrays of numbers (missing: NaN) or text (missing: "")
    labels : the class of each row; None for a table without classes

    Examples
    --------
    >>> a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    >>> digest = content_digest([a, b], ["x", "x", "y"])
    >>> digest == content_digest([a[::-1], b[::-1]], ["no", "yes", "yes"])
    True
    >>> digest == content_digest([b, a], ["x", "x", "y"])
    False

    """
    cells = [_canonical(column) for column in columns]
    order = np.lexsort([_sortable(column) for column in cells])
    n_rows = len(order)
    classes = np.zeros(n_rows, dtype=np.intp)
    if labels is not None:
        classes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1]
    parts = [_digest_rows(cells, order[classes[order] == each]) for each in np.unique(classes)]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def _canonical(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return text unchanged, and numbers as doubles.

    The doubles have a single representation of zero and NaN.
    """
    if column.dtype.kind == "U":
        return column
    numbers = np.asarray(column, dtype="<f8") + 0.0  # a negative zero becomes zero
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def _sortable(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.unique(column, return_inverse=True)[1] if column.dtype.kind == "U" else column


def _digest_rows(cells: Sequence[npt.NDArray[Any]], rows: npt.NDArray[np.intp]) -> str:
    digest = hashlib.sha256(f"{len(rows)} rows, {len(cells)} columns\n".encode())
    for column in cells:
        values = column[rows]
        is_text = values.dtype.kind == "U"
        digest.update("\0".join(values.tolist()).encode() if is_text else values.tobytes())
    return digest.hexdigest()
