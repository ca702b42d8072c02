"""Loads tables by name, from a folder, from the cache, or by download into the cache."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covary import errors
from covary.reproduction.datasets.catalogue import DATASETS, LABEL, Dataset
from covary.reproduction.datasets.digest import content_digest
from covary.reproduction.datasets.fetching import fetch
from covary.table import (
    Table,
    TableOptions,
    as_frame,
    atomic_file,
    declare,
    read_table,
)


@dataclass(frozen=True, repr=False)
class Loaded:
    """A table with its classes.

    Parameters
    ----------
    name : name of the table
    table : all usable columns except the class; an input of `covary.search` and the like
    labels : the class of each row; None for a table without classes
    published : whether the content is that of the table behind the published results
    """

    name: str
    table: Table
    labels: list[str] | None
    published: bool = True

    def __repr__(self) -> str:
        classes = f", {len(set(self.labels))} classes" if self.labels is not None else ""
        return (
            f"<{self.name}: {self.table.n_rows} rows, {len(self.table.columns)} columns{classes}>"
        )

    def to_arrow(self) -> Any:
        """Return a pyarrow table with the class in the last column, ``label``."""
        columns = {column.name: column.values for column in self.table.columns}
        return as_frame(columns if self.labels is None else columns | {LABEL: self.labels}, None)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Loaded:
    """Return one of the tables of the experiments.

    Without a folder, the table is read from the cache, which is the folder ``covary`` in
    scikit-learn's data home. If it is not in the cache, it is downloaded from OpenML into the
    cache. Tables that OpenML does not have need a folder.

    Parameters
    ----------
    name : one of `DATASETS`
    folder : folder with ``NAME.csv.gz`` or ``NAME.csv``; the file has a header, and the class in
        the last column, ``label``. With a folder, nothing is downloaded.

    Raises
    ------
    CovaryError : the name is unknown, or the table is not available

    Warns
    -----
    CovaryWarning : the content differs from the table behind the published results, or
        `covary.table.read_table` warns

    Examples
    --------
    >>> from covary.reproduction.datasets import load
    >>> tumours = load("wdbc")  # included in scikit-learn  # doctest: +SKIP
    >>> tumours  # doctest: +SKIP
    <wdbc: 569 rows, 30 columns, 2 classes>
    >>> found = covary.search(tumours.table, max_size=2)  # doctest: +SKIP

    """
    if name not in DATASETS:
        raise errors.unknown_name("data set", name, list(DATASETS))
    dataset = DATASETS[name]
    if folder is None and dataset.bundled:
        return _fetch_checked(dataset)[0]
    path = _find_file(name, folder)
    if path is None:
        if folder is not None:
            raise errors.datasets_missing({name: dataset.origin}, folder)
        return _fetch_into(_cache_folder() / f"{name}.csv.gz", dataset)
    opener = gzip.open if path.suffix == ".gz" else open
    loaded, digest = _read(name, path, partial(opener, path, "rb"))
    if digest == dataset.digest:
        return loaded
    errors.warn(errors.other_dataset(path, name))
    return replace(loaded, published=False)


def missing(names: Iterable[str], folder: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Return the tables that are not available, with their origins.

    With a folder, these are the tables without a file in it. Without a folder, these are the
    tables that are not in the cache and cannot be downloaded.
    """
    return {
        name: DATASETS[name].origin
        for name in names
        if not (folder is None and DATASETS[name].can_be_fetched)
        and _find_file(name, folder) is None
    }


def _find_file(name: str, folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the path of a table in a folder or in the cache, or None."""
    if folder is None:
        directory = _cache_folder()
    else:
        directory = Path(folder).expanduser()
        if not directory.is_dir():
            raise errors.no_folder(folder)
    files = (directory / f"{name}{suffix}" for suffix in (".csv.gz", ".csv"))
    return next((file for file in files if file.is_file()), None)


def _cache_folder() -> Path:
    """Return the folder of the cache, which need not exist."""
    from sklearn.datasets import get_data_home

    try:
        return Path(get_data_home(), "covary")
    except OSError as error:
        raise errors.no_dataset_cache(error.strerror or error) from None


def _fetch_checked(dataset: Dataset) -> tuple[Loaded, bytes]:
    """Return a fetched table with the expected digest, and its text."""
    text = fetch(dataset)
    source = f"the download of {dataset.name}.csv.gz"
    loaded, digest = _read(dataset.name, source, lambda: io.BytesIO(text))
    if digest != dataset.digest:
        sender = "scikit-learn" if dataset.bundled else "OpenML"
        raise errors.not_the_dataset(dataset.name, sender)
    return loaded, text


def _fetch_into(path: Path, dataset: Dataset) -> Loaded:
    """Return a fetched table with the expected digest, after writing it to a file."""
    loaded, text = _fetch_checked(dataset)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.unwritable(path.parent, error.strerror or error) from None
    with atomic_file(path) as file:
        file.write(gzip.compress(text, mtime=0))
    return loaded


def _read(name: str, source: object, open_file: Callable[[], Any]) -> tuple[Loaded, str]:
    """Return a table and the digest of its content."""
    cells = _cells(str(source), open_file)
    names = list(cells.column_names)
    labels = None
    if names[-1] == LABEL:
        labels = ["" if each is None else str(each) for each in cells[LABEL].to_pylist()]
        names.pop()
    # The experiments of the paper have no calendar columns.
    table = read_table(declare(cells.select(names), TableOptions(dates=["time"])))
    numbers = {each.name: each.values for each in table.columns if each.kind == "number"}
    columns = [numbers[each] if each in numbers else _text(cells[each]) for each in names]
    return Loaded(name, table, labels), content_digest(columns, labels)


def _cells(source: str, open_file: Callable[[], Any]) -> Any:
    """Return all columns as a pyarrow table."""
    from covary.table.delimited import read_delimited

    def all_columns(names: Sequence[str]) -> Sequence[int]:
        if len(set(names)) < len(names):
            raise errors.duplicate_name(names)
        return range(len(names))

    try:
        return read_delimited(source, open_file, all_columns)
    except errors.CovaryError:
        raise
    except PermissionError:
        raise errors.unreadable(source, "permission denied") from None
    except Exception as error:  # gzip and Arrow raise many types for damaged files
        raise errors.damaged(source, str(error) or type(error).__name__) from None


def _text(column: Any) -> Any:
    return np.array(["" if cell is None else str(cell) for cell in column.to_pylist()], dtype=str)
