"""Tables out: a matrix of scores in the kind of table that the data came in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.table.table import Table


def label_matrix(scores: npt.NDArray[np.float64], names: Sequence[str], like: Any) -> Any:
    """Return a square array as a labelled table of the kind that ``like`` is.

    Arrays stay arrays. A pandas frame has its own labels as columns and as index; other frames
    have the names in a first column, ``column``. Files and tables of covary give pyarrow tables.
    """
    if isinstance(like, (np.ndarray, list, tuple)):
        return scores
    label = "column"
    while label in names:
        label += "_"
    labelled = {label: list(names)} | {name: scores[:, p] for p, name in enumerate(names)}
    if isinstance(like, (str, os.PathLike, Table)):
        return _arrow_table(labelled)
    import narwhals as nw

    native = nw.to_native(like, pass_through=True)
    if nw.dependencies.is_polars_lazyframe(native):
        native = native.clear().collect()
    frame = nw.from_native(native, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return _arrow_table(labelled)
    namespace = nw.get_native_namespace(frame)
    if frame.implementation.is_pandas_like():
        where = {str(each): position for position, each in enumerate(frame.columns)}
        labels = native.columns.take([where[name] for name in names])
        return namespace.DataFrame(scores, index=labels, columns=labels)
    return nw.from_dict(labelled, backend=namespace).to_native()


def _arrow_table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a pyarrow table to a .csv or .parquet file, whole or not at all."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise errors.unknown_output(path, [".csv", ".parquet"])
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            if suffix == ".csv":
                import pyarrow.csv

                pyarrow.csv.write_csv(table, file)
            else:
                import pyarrow.parquet

                pyarrow.parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        raise errors.unwritable(path, os.strerror(error.errno) if error.errno else error) from None
    finally:
        with suppress(OSError):
            partial.unlink()
