"""Tables of others, written as covary's own files are."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np

from covary import errors
from covary.datasets.known import LABEL, Dataset


def fetch(dataset: Dataset) -> bytes:
    """Return a table as comma-separated text with a header, the class in the last column.

    It comes from OpenML, or with scikit-learn. Whether it is the right one is not looked at.

    Raises
    ------
    CovaryError : it cannot be had: one line that says what to do
    """
    if dataset.bundled:
        return _bundled(dataset)
    if dataset.openml is None:
        raise errors.no_download(dataset.name, dataset.origin)
    sent = _ask_openml(dataset)
    columns = _columns(sent)
    if len(columns) != len(dataset.names):
        raise errors.not_the_dataset(dataset.name, "OpenML")
    if set(columns) == set(dataset.names):
        columns = {name: columns[name] for name in dataset.names}
    labels = None if sent.target is None else _written(sent.target)
    return _as_text(dataset.names, list(columns.values()), labels)


def _bundled(dataset: Dataset) -> bytes:
    import sklearn.datasets

    data = getattr(sklearn.datasets, dataset.bundled)()
    columns = [_written(values) for values in data.data.T]
    return _as_text(dataset.names, columns, data.target_names[data.target].tolist())


def _ask_openml(dataset: Dataset) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # It warns before every new try; the last failure is told below.
            warnings.simplefilter("ignore")
            return fetch_openml(
                data_id=dataset.openml,
                target_column=dataset.target,
                as_frame=False,  # pandas need not be installed
                parser="liac-arff",
                cache=False,
            )
    except Exception as error:  # no network, no such table, a file cut off, a page in its place
        raise errors.not_downloaded(dataset.name, _reason(error)) from None


def _reason(error: Exception) -> object:
    """Return what went wrong without the brackets that urllib puts around it."""
    if isinstance(error, URLError) and not isinstance(error, HTTPError):
        reason = error.reason
        return getattr(reason, "strerror", None) or reason
    return str(error) or type(error).__name__


def _columns(sent: Any) -> dict[str, list[str]]:
    """Return the cells of every column but the class; what OpenML has as codes, in words."""
    columns = {}
    for name, values in zip(sent.feature_names, sent.data.T, strict=True):
        words = (sent.categories or {}).get(name)
        if words is None:
            columns[name] = _written(values)
        else:
            columns[name] = ["" if np.isnan(code) else str(words[int(code)]) for code in values]
    return columns


def _written(values: Iterable[Any]) -> list[str]:
    """Return numbers as text that reads back to the same double; other values as they are."""
    return [_written_cell(value) for value in values]


def _written_cell(value: Any) -> str:
    if not isinstance(value, (float, np.floating)):
        return "" if value is None else str(value)
    number = float(value)
    if np.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def _as_text(
    names: Sequence[str], columns: Sequence[Sequence[str]], labels: Sequence[str] | None
) -> bytes:
    header, cells = [*names], [*columns]
    if labels is not None:
        header.append(LABEL)
        cells.append(labels)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue().encode()
