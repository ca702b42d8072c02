"""Fetches tables from OpenML or scikit-learn, as comma-separated text."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np

from covary import errors
from covary.reproduction.datasets.catalogue import LABEL, Dataset


def fetch(dataset: Dataset) -> bytes:
    """Return a table as comma-separated text with a header, the class in the last column.

    The table comes from OpenML or scikit-learn. The caller must check its digest.

    Raises
    ------
    CovaryError : the table is not available
    """
    if dataset.bundled:
        return _bundled(dataset)
    if dataset.openml is None:
        raise errors.no_download(dataset.name, dataset.origin)
    response = _request_openml(dataset)
    columns = _columns(response)
    if len(columns) != len(dataset.names):
        raise errors.not_the_dataset(dataset.name, "OpenML")
    if set(columns) == set(dataset.names):
        columns = {name: columns[name] for name in dataset.names}
    labels = None if response.target is None else _as_strings(response.target)
    return _as_csv(dataset.names, list(columns.values()), labels)


def _bundled(dataset: Dataset) -> bytes:
    import sklearn.datasets

    data = getattr(sklearn.datasets, dataset.bundled)()
    columns = [_as_strings(values) for values in data.data.T]
    return _as_csv(dataset.names, columns, data.target_names[data.target].tolist())


def _request_openml(dataset: Dataset) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # It warns before every retry. The last failure becomes an error below.
            warnings.simplefilter("ignore")
            return fetch_openml(
                data_id=dataset.openml,
                target_column=dataset.target,
                as_frame=False,  # works without pandas
                parser="liac-arff",
                cache=False,
            )
    except Exception as error:  # for example no network, an unknown table or a broken file
        raise errors.not_downloaded(dataset.name, _reason(error)) from None


def _reason(error: Exception) -> object:
    """Return the reason of an error without the brackets that urllib adds."""
    if isinstance(error, URLError) and not isinstance(error, HTTPError):
        reason = error.reason
        return getattr(reason, "strerror", None) or reason
    return str(error) or type(error).__name__


def _columns(response: Any) -> dict[str, list[str]]:
    """Return the cells of every column except the class, with category names for codes."""
    columns = {}
    for name, values in zip(response.feature_names, response.data.T, strict=True):
        categories = (response.categories or {}).get(name)
        if categories is None:
            columns[name] = _as_strings(values)
        else:
            columns[name] = [
                "" if np.isnan(code) else str(categories[int(code)]) for code in values
            ]
    return columns


def _as_strings(values: Iterable[Any]) -> list[str]:
    """Return values as text; numbers can be read back exactly."""
    return [_as_string(value) for value in values]


def _as_string(value: Any) -> str:
    if not isinstance(value, (float, np.floating)):
        return "" if value is None else str(value)
    number = float(value)
    if np.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def _as_csv(
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
