"""A table by its name: from a folder, from the cache, or fetched into the cache."""

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
from covary.datasets.content import content_digest
from covary.datasets.fetching import fetch
from covary.datasets.known import DATASETS, LABEL, Dataset
from covary.table import Table, as_frame, read_table, whole_file


@dataclass(frozen=True, repr=False)
class Loaded:
    """A table by its name.

    Parameters
    ----------
    name : of the table
    table : all usable columns but the class; `covary.search` and the others take it
    labels : the class of each row, if there is one
    published : whether it is the table that the published figures are of
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
        """Return a pyarrow table, the class in the last column, ``label``."""
        columns = {column.name: column.values for column in self.table.columns}
        return as_frame(columns if self.labels is None else columns | {LABEL: self.labels}, None)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Loaded:
    """Return one of the tables of the experiments.

    Without a folder it is looked for in the cache, the folder ``covary`` in scikit-learn's data
    home, and if it is not there it is downloaded from OpenML into it. Not every table is to be
    had from OpenML as it was used: the others have to be in a folder.

    Parameters
    ----------
    name : one of `DATASETS`
    folder : where ``NAME.csv.gz`` or ``NAME.csv`` is, with a header and the class in the last
        column, ``label``; nothing is downloaded then

    Raises
    ------
    CovaryError : there is no such table, or it is not to be had: one line that says what to do

    Warns
    -----
    CovaryWarning : the file holds another table than the one the published figures are of, or
        what `covary.table.read_table` warns of

    Examples
    --------
    >>> from covary.datasets import load
    >>> tumours = load("wdbc")  # which comes with scikit-learn  # doctest: +SKIP
    >>> tumours  # doctest: +SKIP
    <wdbc: 569 rows, 30 columns, 2 classes>
    >>> found = covary.search(tumours.table, max_size=2)  # doctest: +SKIP

    """
    if name not in DATASETS:
        raise errors.unknown_dataset(name, list(DATASETS))
    dataset = DATASETS[name]
    if folder is None and dataset.bundled:
        return _fetched(dataset)[0]
    path = _file(name, folder)
    if path is None:
        if folder is not None:
            raise errors.datasets_missing({name: dataset.origin}, folder)
        return _fetched_into(_cache() / f"{name}.csv.gz", dataset)
    opened = gzip.open if path.suffix == ".gz" else open
    loaded, digest = _read(name, path, partial(opened, path, "rb"))
    if digest == dataset.digest:
        return loaded
    errors.warn(errors.other_dataset(path, name))
    return replace(loaded, published=False)


def missing(names: Iterable[str], folder: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Return which of these tables are not to be had, and where they were published.

    These are neither in the folder nor, without one, to be downloaded.
    """
    return {
        name: DATASETS[name].origin
        for name in names
        if not (folder is None and DATASETS[name].can_be_fetched) and _file(name, folder) is None
    }


def _file(name: str, folder: str | os.PathLike[str] | None) -> Path | None:
    """Return where a table is, in a folder or in the cache; None if it is not there."""
    if folder is None:
        place = _cache()
    else:
        place = Path(folder).expanduser()
        if not place.is_dir():
            raise errors.no_folder(folder)
    files = (place / f"{name}{ending}" for ending in (".csv.gz", ".csv"))
    return next((file for file in files if file.is_file()), None)


def _cache() -> Path:
    """Return the folder that tables are kept in; it need not be there."""
    from sklearn.datasets import get_data_home

    try:
        return Path(get_data_home(), "covary")
    except OSError as error:
        raise errors.no_dataset_cache(error.strerror or error) from None


def _fetched(dataset: Dataset) -> tuple[Loaded, bytes]:
    """Return a table that is fetched and known to be the right one, and its text."""
    text = fetch(dataset)
    sent = f"what was sent as {dataset.name}.csv.gz"
    loaded, digest = _read(dataset.name, sent, lambda: io.BytesIO(text))
    if digest != dataset.digest:
        sender = "scikit-learn" if dataset.bundled else "OpenML"
        raise errors.not_the_dataset(dataset.name, sender)
    return loaded, text


def _fetched_into(path: Path, dataset: Dataset) -> Loaded:
    """Return a table that is fetched, and kept once it is known to be the right one."""
    loaded, text = _fetched(dataset)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.unwritable(path.parent, error.strerror or error) from None
    with whole_file(path) as file:
        file.write(gzip.compress(text, mtime=0))
    return loaded


def _read(name: str, source: object, open_file: Callable[[], Any]) -> tuple[Loaded, str]:
    """Return a table and the digest of what it holds."""
    cells = _cells(str(source), open_file)
    names = list(cells.column_names)
    labels = None
    if names[-1] == LABEL:
        labels = ["" if each is None else str(each) for each in cells[LABEL].to_pylist()]
        names.pop()
    table = read_table(cells.select(names))
    numbers = {each.name: each.values for each in table.columns if each.kind == "number"}
    columns = [numbers[each] if each in numbers else _text(cells[each]) for each in names]
    return Loaded(name, table, labels), content_digest(columns, labels)


def _cells(source: str, open_file: Callable[[], Any]) -> Any:
    """Return all columns as Arrow has them."""
    from covary.table.delimited import read_delimited

    def all_of(names: Sequence[str]) -> Sequence[int]:
        if len(set(names)) < len(names):
            raise errors.duplicate_name(names)
        return range(len(names))

    try:
        return read_delimited(source, open_file, all_of)
    except errors.CovaryError:
        raise
    except PermissionError:
        raise errors.unreadable(source, "no permission to read it") from None
    except Exception as error:  # damaged files break gzip and Arrow in many ways
        raise errors.damaged(source, str(error) or type(error).__name__) from None


def _text(column: Any) -> Any:
    return np.array(["" if cell is None else str(cell) for cell in column.to_pylist()], dtype=str)
