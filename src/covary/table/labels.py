"""Tables out: a matrix of scores in the kind of table that the data came in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors


def label_matrix(scores: npt.NDArray[np.float64], names: Sequence[str], like: Any) -> Any:
    """Return a square array as a labelled table of the kind that ``like`` is."""
    if isinstance(like, (np.ndarray, list, tuple)):
        return scores
    columns = {name: scores[:, position] for position, name in enumerate(names)}
    labelled = {"column": list(names), **columns}
    if isinstance(like, (str, os.PathLike)):
        import pyarrow as pa

        return pa.table(labelled)
    import narwhals as nw

    frame = nw.from_native(like)
    namespace = nw.get_native_namespace(frame)
    if frame.implementation.is_pandas_like():
        return namespace.DataFrame(columns, index=list(names))
    if isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars():
        import pyarrow as namespace
    return nw.from_dict(labelled, backend=namespace).to_native()


def write_table(table: Any, path: str) -> None:
    """Write a pyarrow table to a .csv or .parquet file, whole or not at all."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise errors.unknown_output(path, [".csv", ".parquet"])
    partial = Path(f"{path}.{os.getpid()}.partial")
    try:
        if suffix == ".csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(table, partial)
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, partial)
        partial.replace(path)
    except OSError as error:
        raise errors.unwritable(path, error.strerror or error) from None
    finally:
        partial.unlink(missing_ok=True)
