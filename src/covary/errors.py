"""Everything covary raises on purpose, and the words it does so with.

An error says in one line what is wrong, what there is instead and what to do. Warnings use the
same voice. Nothing else in the package composes such a message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class CovaryError(Exception):
    """Anything covary refuses to do; the message is one line meant for the user."""


class TableError(CovaryError, ValueError):
    """The data cannot be used as a table."""


class ColumnError(CovaryError, LookupError):
    """A column that was asked for is not there or cannot be used."""


class ParameterError(CovaryError, ValueError):
    """A parameter has a value that it cannot have."""


class CovaryWarning(UserWarning):
    """Something the user should know about the result: columns left out, few rows."""


def _listed(names: Iterable[str], most: int = 8) -> str:
    """Return names in quotes, comma-separated, cut off after a few."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    return ", ".join(quoted)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest match, or nothing."""
    known = list(known)
    by_lower = {other.lower(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    return f" Did you mean '{by_lower[close[0]]}'?" if close else ""


def _one_line(text: object, most: int = 200) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 3] + "..."


# ---------------------------------------------------------------- the table


def not_a_table(data: object) -> TableError:
    return TableError(
        f"cannot use a {type(data).__module__}.{type(data).__qualname__} as a table: pass a "
        "two-dimensional NumPy array, a pandas, polars or pyarrow table, or the path of a CSV, "
        "Parquet or Arrow file"
    )


def wrong_dimensions(n_dimensions: int) -> TableError:
    return TableError(
        f"the array has {n_dimensions} dimension{'s' if n_dimensions != 1 else ''}: a table has "
        "two, one row per observation and one column per variable"
    )


def not_numeric(dtype: object) -> TableError:
    return TableError(
        f"an array of dtype {dtype} has no numbers to compare: convert it to float, or pass a "
        "data frame"
    )


def too_few_rows(n_rows: int) -> TableError:
    return TableError(f"the table has {n_rows} row{'s' if n_rows != 1 else ''}: at least 3 needed")


def duplicate_name(name: str, positions: Sequence[int]) -> TableError:
    where = " and ".join(str(position + 1) for position in positions[:2])
    return TableError(
        f"the name '{name}' stands for more than one column (number {where}): give each its own"
    )


def infinite_values(name: str, count: int) -> TableError:
    return TableError(
        f"column '{name}' holds {count} infinite value{'s' if count != 1 else ''}: replace by a "
        "finite number, or by a missing cell"
    )


def no_usable_column(left_out: Sequence[tuple[str, str]]) -> TableError:
    if not left_out:
        return TableError("the table has no columns")
    return TableError(
        "no column can be used: "
        + ", ".join(f"'{name}' is {reason}" for name, reason in left_out[:5])
        + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "")
        + "; numbers, booleans, dates and ordered categories can"
    )


# ---------------------------------------------------------------- columns


def unknown_column(name: object, known: Sequence[str]) -> ColumnError:
    there = f" The columns are {_listed(known)}." if known else ""
    return ColumnError(f"there is no column '{name}'.{_nearest(str(name), known)}{there}")


def position_out_of_range(position: int, n_columns: int) -> ColumnError:
    return ColumnError(
        f"there is no column number {position}: the {n_columns} columns are numbered "
        f"0 to {n_columns - 1}"
    )


def unusable_column(name: str, reason: str) -> ColumnError:
    return ColumnError(
        f"column '{name}' cannot be used: it is {reason}; numbers, booleans, dates and ordered "
        "categories can"
    )


def repeated_column(name: str) -> ColumnError:
    return ColumnError(f"column '{name}' is asked for twice: a set holds each column once")


def columns_is_text(columns: str) -> ColumnError:
    return ColumnError(f"columns is the text '{columns}': pass a list of names, such as ['a', 'b']")


def too_few_columns(names: Sequence[str]) -> ColumnError:
    if not names:
        return ColumnError("dependence needs at least two columns, none were named")
    return ColumnError(
        f"dependence needs at least two columns, there is only '{names[0]}' to use"
    )


# ---------------------------------------------------------------- files


def unreadable(path: object, reason: object) -> TableError:
    return TableError(f"cannot read {path}: {_one_line(reason)}")


def unwritable(path: object, reason: object) -> CovaryError:
    return CovaryError(f"cannot write {path}: {_one_line(reason)}")


def unknown_output(path: object, suffixes: Sequence[str]) -> ParameterError:
    return ParameterError(f"cannot tell the format of {path}: end it in {' or '.join(suffixes)}")


# ---------------------------------------------------------------- measures and parameters


def unknown_measure(name: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no measure '{name}'.{_nearest(str(name), known)} "
        f"The measures are {_listed(known, most=20)}."
    )


def unknown_parameter(measure: str, name: str, known: Sequence[str]) -> ParameterError:
    has = f"its parameters are {_listed(known)}" if known else "it has none"
    return ParameterError(
        f"measure '{measure}' has no parameter '{name}': {has}.{_nearest(name, known)}"
    )


def invalid_parameter(name: str, must_be: str, value: object) -> ParameterError:
    return ParameterError(f"{name} must be {must_be}, not {_one_line(repr(value), 60)}")


def too_many_orders(n_columns: int, most: int) -> ParameterError:
    return ParameterError(
        f"order='exact' tries every order and takes at most {most} columns that vary, not "
        f"{n_columns}: use order='entropy'"
    )


def no_explanation(measure: str) -> ParameterError:
    return ParameterError(f"measure '{measure}' gives a score only, it cannot explain it")


# ---------------------------------------------------------------- warnings


def left_out(names_and_reasons: Sequence[tuple[str, str]]) -> CovaryWarning:
    by_reason: dict[str, list[str]] = {}
    for name, reason in names_and_reasons:
        by_reason.setdefault(reason, []).append(name)
    parts = [f"{_listed(names)} ({reason})" for reason, names in by_reason.items()]
    return CovaryWarning(f"left out: {'; '.join(parts)}")


def few_rows(n_rows: int) -> CovaryWarning:
    return CovaryWarning(
        f"only {n_rows} rows: below 100, scores are high by chance alone; do not rely on them"
    )
