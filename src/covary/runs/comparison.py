"""Compare the search of a run file with another one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Kinds of run files. Files without a kind are those of searches.
SEARCH = "search"
OVERVIEW = "overview"


@dataclass(frozen=True)
class RunDescription:
    """The description of a search, or an overview, in its run file.

    Two searches are the same if their parameters, tables and versions of covary are the same.

    Parameters
    ----------
    parameters : the parameters of the search, as JSON values
    rows : the number of rows of the table
    columns : the name and the fingerprint of every column
    versions : the versions of covary and of the packages that affect its numbers
    bounds : the lowest and the highest score; not compared
    source : the file of the table, None if it was in memory; not compared
    left_out : the columns that could not be used, with the reasons; not compared
    defaults : the defaults of parameters that older run files do not have. A file that
        lacks a parameter without a default is invalid.
    kind : "search" or "overview"
    """

    parameters: Mapping[str, Any]
    rows: int
    columns: Sequence[tuple[str, str]]
    versions: Mapping[str, str]
    bounds: tuple[float, float]
    source: str | None = None
    left_out: Sequence[tuple[str, str]] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    kind: str = SEARCH


def table_difference(
    rows: object, columns: Sequence[tuple[str, str]], description: RunDescription
) -> str:
    """Return the first difference between two tables as text; "" if there is none.

    Parameters
    ----------
    rows : the number of rows in the file
    columns : the columns in the file, with their fingerprints
    description : the search to compare with
    """
    file_names = [name for name, _ in columns]
    names = [name for name, _ in description.columns]
    if rows != description.rows:
        return f"its table has {rows} rows and this one {description.rows}"
    if file_names != names:
        for name in names:
            if name not in file_names:
                return f"its table has no column '{name}'"
        for name in file_names:
            if name not in names:
                return f"its table has a column '{name}', which is not here"
        return "its table has the columns in another order"
    for in_file, here in zip(columns, description.columns, strict=True):
        if in_file != tuple(here):
            return f"its column '{here[0]}' holds other values"
    return ""


def parameter_difference(
    file_parameters: Mapping[str, Any],
    parameters: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
) -> str:
    """Return the first difference between parameters as text; "" if there is none.

    Parameters
    ----------
    file_parameters : the parameters in the file; others than those of ``parameters`` are ignored
    parameters : the parameters to compare with
    defaults : the values of parameters that the file does not have
    """
    for name, value in parameters.items():
        here = _as_json(value)
        default = _as_json((defaults or {}).get(name))
        in_file = file_parameters.get(name, default)
        if isinstance(here, dict) and isinstance(in_file, dict):
            in_file = {**(default if isinstance(default, dict) else {}), **in_file}
            difference = parameter_difference(in_file, here)
            if difference:
                return difference
        if in_file != here:
            return f"{name} is {_as_text(in_file)} there and {_as_text(here)} here"
    return ""


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _as_text(value: Any) -> str:
    return str(value) if isinstance(value, (str, dict)) else json.dumps(value)
