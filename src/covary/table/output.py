"""Return and write tables, in the library that the user's data came from."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covary import errors
from covary.array_types import Floats
from covary.table.atomic import atomic_file
from covary.table.options import undeclared
from covary.table.table import Table

if TYPE_CHECKING:
    import narwhals as nw


def label_matrix(scores: Floats, names: Sequence[str], like: Any) -> Any:
    """Return a square array as a labelled table of the same type as ``like``.

    Arrays stay arrays. A pandas frame has the original labels as columns and as index. Other
    frames have the names in a first column, ``column``. Files and covary tables give pyarrow
    tables.
    """
    like = undeclared(like)
    if isinstance(like, (np.ndarray, list, tuple)):
        return scores
    label = "column"
    while label in names:
        label += "_"
    labelled = {label: list(names)} | {name: scores[:, p] for p, name in enumerate(names)}
    frame = _empty_or_eager_frame(like)
    if frame is not None and frame.implementation.is_pandas_like():
        position_of = {str(each): position for position, each in enumerate(frame.columns)}
        labels = frame.to_native().columns
        if position_of.keys() >= set(names):
            labels = labels.take([position_of[name] for name in names])
        else:  # calendar columns are not in the frame
            own = labels_of(like)
            labels = [own.get(name, name) for name in names]
        return type(frame.to_native())(scores, index=labels, columns=labels)
    return as_frame(labelled, kind_of_frame(like))


def labels_of(data: Any) -> dict[str, Any]:
    """Return, by name, the labels of the columns of a pandas frame that are not text.

    A label that is not equal to itself, NaN, cannot be looked up. It becomes text.
    """
    frame = _empty_or_eager_frame(data)
    if frame is None or not frame.implementation.is_pandas_like():
        return {}
    labels = [each for each in frame.columns if not isinstance(each, str)]
    return {str(each): each for each in labels if each == each}


def kind_of_frame(data: Any) -> str | None:
    """Return the name of the library of a frame, or None if the data are not a frame."""
    frame = _empty_or_eager_frame(data)
    if frame is None:
        return None
    import narwhals as nw

    return str(nw.get_native_namespace(frame).__name__)


def as_frame(columns: dict[str, Any], kind: str | None) -> Any:
    """Return columns as a frame of the library that `kind_of_frame` returns; None is pyarrow."""
    if kind is None:
        import pyarrow as pa

        return pa.table(columns)
    import narwhals as nw

    return nw.from_dict(columns, backend=importlib.import_module(kind)).to_native()


def _empty_or_eager_frame(data: Any) -> nw.DataFrame[Any] | None:
    """Return a frame as narwhals frame, without rows if it is lazy; None for other data."""
    data = undeclared(data)
    if data is None or isinstance(data, (str, os.PathLike, Table, np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_polars_lazyframe(native):
        native = native.clear().collect()
    frame = nw.from_native(native, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a pyarrow table to a .csv or .parquet file."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise errors.unknown_output(path, [".csv", ".parquet"])
    with atomic_file(path) as file:
        if suffix == ".csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(table, file)
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, file)
