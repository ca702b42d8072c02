"""Every error and warning that covary raises on purpose, with its message.

A message is one line. It says what is wrong, what exists, and what to do. No other module writes
such messages.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence

# Tables with fewer rows cause a warning.
FEW_ROWS = 100

USABLE_KINDS = "covary uses numbers, booleans, dates, categories and texts that repeat"


class CovaryError(Exception):
    """Base class of all errors that covary raises on purpose; the message is one line."""


class TableError(CovaryError, ValueError):
    """The data cannot be used as a table."""


class ColumnError(CovaryError, LookupError):
    """A column does not exist or cannot be used."""


class ParameterError(CovaryError, ValueError):
    """A parameter has an invalid value."""


class RunError(CovaryError):
    """A run file cannot be used."""


class EngineError(CovaryError, RuntimeError):
    """The workers of an engine cannot start, or they are lost."""


class CovaryWarning(UserWarning):
    """A fact that affects the result, such as columns that are left out or few rows."""


def _one_line(text: object, max_length: int = 200) -> str:
    """Return text on one line, without control characters."""
    line = " ".join(str(text).split())
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    return line if len(line) <= max_length else line[: max_length - 3] + "..."


def _quoted(name: object) -> str:
    return f"'{_one_line(name, max_length=60)}'"


def _quoted_list(names: Iterable[str], max_names: int = 8) -> str:
    """Return quoted names, separated by commas; names beyond ``max_names`` are only counted."""
    quoted = [_quoted(name) for name in names]
    if len(quoted) > max_names:
        return f"{', '.join(quoted[:max_names])} and {len(quoted) - max_names} more"
    return ", ".join(quoted)


def _did_you_mean(name: str, known: Iterable[str], similarity: float = 0.5) -> str:
    """Return a hint with the most similar name, or an empty text."""
    known = list(known)
    by_lower = {other.lower(): other for other in reversed(known)}
    similar = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=similarity)
    return f" Did you mean {_quoted(by_lower[similar[0]])}?" if similar else ""


# ---------------------------------------------------------------- tables


def not_a_table(data: object) -> TableError:
    kind = type(data)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    return TableError(
        f"data of type {name} is not a table: pass a two-dimensional NumPy array, a pandas, "
        "polars or pyarrow table, or the path of a CSV, Parquet or Arrow file"
    )


def wrong_dimensions(n_dimensions: int) -> TableError:
    return TableError(
        f"the array has {n_dimensions} dimension{'s' if n_dimensions != 1 else ''}: pass an array "
        "with two, one row per observation and one column per variable"
    )


def not_numeric(dtype: object) -> TableError:
    if "complex" in str(dtype):
        return TableError(
            f"values of dtype {dtype} have no order: pass their real and imaginary parts as "
            "separate columns"
        )
    return TableError(
        f"an array of dtype {dtype} does not contain numbers: convert it to float, or pass a "
        "data frame"
    )


def not_computed(error: object) -> TableError:
    return TableError(f"cannot compute the lazy frame: {_one_line(error)}")


def too_few_rows(n_rows: int) -> TableError:
    return TableError(
        f"the table has {n_rows} row{'s' if n_rows != 1 else ''}: at least 3 are needed"
    )


def duplicate_name(names: Sequence[str]) -> TableError:
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(name, []).append(position)
    name, same = next(item for item in positions.items() if len(item[1]) > 1)
    return TableError(
        f"columns {same[0] + 1} and {same[1] + 1} have the same name {_quoted(name)}: give every "
        "column its own name"
    )


def infinite_values(name: str, count: int) -> TableError:
    return TableError(
        f"column {_quoted(name)} has {count} infinite value{'s' if count != 1 else ''}: use a "
        "finite number or a missing cell instead"
    )


def no_usable_column(left_out: Sequence[tuple[str, str]]) -> TableError:
    if not left_out:
        return TableError("the table has no columns")
    return TableError(
        "no column can be used: "
        + ", ".join(f"{_quoted(name)} is {_one_line(why, 120)}" for name, why in left_out[:5])
        + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "")
        + f"; {USABLE_KINDS}"
    )


def not_a_number_reason(cell: object) -> str:
    """Return why a column that consists mostly of numbers or dates is text."""
    return (
        f"text, because {_quoted(cell)} is not a number or date like most cells; replace it, or "
        "declare the column as nominal"
    )


def separator_reason(cell: object) -> str:
    return (
        f"ambiguous, because {_quoted(cell)} may have thousands or decimals; write the numbers "
        "without a thousands separator, or declare the column as nominal"
    )


def short_dates_reason() -> str:
    return (
        "ambiguous (dates with years of two digits); write years with four digits, or declare "
        "the column as nominal"
    )


def unit_reason(unit: str) -> str:
    return (
        f"text (numbers with {_quoted(unit)}); remove {_quoted(unit)}, or declare the column as "
        "nominal"
    )


def other_type_reason(what: str) -> str:
    return f"{what}; convert it to numbers or text"


def lost_digits_reason() -> str:
    return "a column of large numbers whose digits would be lost; declare it as nominal"


def kept_as_levels(reason: str) -> str:
    """Return a note on a column whose texts are levels, although most of them are numbers."""
    return f"levels, although it is {reason.partition(';')[0]}"


def single_level_reason(label: object) -> str:
    return f"a single level, {_quoted(label)} in all rows"


def identifier_reason(n_levels: int, n_rows: int, is_free_text: bool, max_levels: int) -> str:
    what = "free text" if is_free_text else "an identifier"
    remedy = "declare it as nominal to use it"
    if n_levels > max_levels:
        remedy = f"group the values to use it, at most {max_levels:,} are possible"
    return f"{what} ({n_levels} different values in {n_rows} rows); {remedy}"


def identifier_number_reason() -> str:
    return "an identifier (whole numbers that hardly repeat); name it in columns to use it"


def row_number_reason() -> str:
    return "the numbers of the rows; name it in columns to use it"


def too_many_levels_reason(n_levels: int, maximum: int) -> str:
    return f"a category of {n_levels:,} levels; group rare ones, at most {maximum:,} are possible"


def infinite_reason(count: int) -> str:
    values = f"{count} infinite value{'s' if count != 1 else ''}"
    return f"a column with {values}; replace them by missing cells"


def missing_markers(markers: Iterable[str]) -> str:
    markers = list(dict.fromkeys(markers))
    verb = "is" if len(markers) == 1 else "are"
    return f"{_quoted_list(markers)} {verb} treated as missing"


def missing_levels(markers: Iterable[str]) -> str:
    return f"{missing_markers(markers)}; declare the column as nominal to keep such levels"


def label_without_order(
    name: str, labels: Sequence[object], order: Sequence[object]
) -> ParameterError:
    return ParameterError(
        f"ordered does not list {_quoted_list(map(str, labels))} of column {_quoted(name)}: it "
        f"lists {_quoted_list(map(str, order))}; add what is missing to the list"
    )


def declared_column_missing(option: str, name: object, known: Sequence[str]) -> ColumnError:
    hint = _did_you_mean(str(name), known)
    return ColumnError(f"{option} names {_quoted(name)}, which is not a column.{hint}")


def declared_twice(name: object) -> ParameterError:
    return ParameterError(
        f"column {_quoted(name)} is declared as nominal and as ordered: choose one"
    )


# ---------------------------------------------------------------- dependent rows


def needs_time(option: str) -> ParameterError:
    return ParameterError(f"{option} needs a time: name the column of the date, or time='row'")


def needs_groups() -> ParameterError:
    return ParameterError("permute='between' needs groups: name the column of the groups")


def time_and_between() -> ParameterError:
    return ParameterError(
        "permute='between' cannot be combined with a time: whole groups have no common time"
    )


def missing_in_role(option: str, name: str, number: int) -> TableError:
    cells = "1 row has" if number == 1 else f"{number:,} rows have"
    return TableError(
        f"{cells} no value in the column {_quoted(name)} ({option}): remove these rows"
    )


def no_groups(name: str, number: int) -> TableError:
    how = "only one value" if number < 2 else "a different value in every row"
    return TableError(
        f"groups names {_quoted(name)}, which has {how}: groups need two or more rows each"
    )


def time_without_order(name: str) -> TableError:
    return TableError(
        f"time names {_quoted(name)}, whose values are names without an order: use a date or a "
        "number, or time='row'"
    )


def equal_times(name: str, number: int, grouped: bool) -> TableError:
    repeat = "1 row repeats" if number == 1 else f"{number:,} rows repeat"
    where = " within a group" if grouped else ""
    remedy = "remove or average repeated rows"
    if not grouped:
        remedy = (
            "if the table has several series, name their column with groups; if not, remove or "
            "average repeated rows, or sort the table and use time='row'"
        )
    return TableError(f"{repeat} the {_quoted(name)} of another row{where}: {remedy}")


def too_short_series(rows: int) -> TableError:
    return TableError(
        f"the series has {rows} rows: it is too short for shifts in time, which need at least 24"
    )


def too_few_groups(name: str, number: int) -> TableError:
    return TableError(
        f"only groups of equal size can be exchanged, and {_quoted(name)} has too few of them "
        f"({number:,} groups in all): at least 4 of one size are needed, or permute='within'"
    )


def _rows(number: int) -> str:
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


def lags_too_long(lags: int, rows: int, most: int) -> TableError:
    return TableError(
        f"lags is {lags}, but the shortest series has {_rows(rows)}, enough for delays of up to "
        f"{_rows(most)}: use fewer lags, or remove short series"
    )


def lags_with_given() -> ParameterError:
    return ParameterError("lags cannot be combined with given in a test: leave one of them out")


def lags_of_measure(measure: str) -> ParameterError:
    return ParameterError(f"lags in a test need the measure uds-chance, not {measure}")


def not_between_groups(option: str) -> ParameterError:
    return ParameterError(
        f"{option} cannot be combined with permute='between': it compares single rows"
    )


def not_a_column_name(option: str, value: object) -> ParameterError:
    return ParameterError(
        f"{option} names a column of the table, and {_one_line(repr(value), 60)} is no name: add "
        "these values to the table as a column"
    )


def name_of_index(option: str, name: str) -> ColumnError:
    return ColumnError(
        f"{option} names {_quoted(name)}, which is the index of the frame: make it a column with "
        "reset_index()"
    )


def lags_need_target() -> ParameterError:
    return ParameterError("lags needs a target: the column that others explain later")


# ---------------------------------------------------------------- columns


def unknown_column(name: object, known: Sequence[str]) -> ColumnError:
    existing = f" The columns are {_quoted_list(known)}." if known else ""
    hint = _did_you_mean(str(name), known)
    return ColumnError(f"there is no column {_quoted(name)}.{hint}{existing}")


def position_out_of_range(position: int, n_columns: int) -> ColumnError:
    if n_columns == 0:
        return ColumnError(f"there is no column number {position}: the table has no columns")
    return ColumnError(
        f"there is no column number {position}: the {n_columns} columns are numbered "
        f"0 to {n_columns - 1}"
    )


def unusable_column(name: str, reason: str) -> ColumnError:
    return ColumnError(
        f"column {_quoted(name)} cannot be used: it is {_one_line(reason, 160)}; {USABLE_KINDS}"
    )


def repeated_column(name: str) -> ColumnError:
    return ColumnError(f"column {_quoted(name)} is named twice: name each column once")


def columns_is_text(columns: str | bytes) -> ColumnError:
    return ColumnError(
        f"columns is the text {_quoted(columns)}: pass a list of names, such as ['a', 'b']"
    )


def columns_is_no_list(columns: object) -> ColumnError:
    return ColumnError(
        f"columns is {_one_line(repr(columns), 60)}: pass a list of names, such as ['a', 'b']"
    )


def too_few_columns(names: Sequence[str]) -> ColumnError:
    if not names:
        return ColumnError("dependence needs at least two columns: none is named")
    return ColumnError(f"dependence needs at least two columns: there is only {_quoted(names[0])}")


# ---------------------------------------------------------------- files


def unreadable(path: object, reason: object) -> TableError:
    return TableError(f"cannot read {_one_line(path)}: {_one_line(reason)}")


def no_such_file(path: object, others: Iterable[str]) -> TableError:
    # Files often have the same extension.
    hint = _did_you_mean(os.path.basename(str(path)), others, similarity=0.75)
    return TableError(f"cannot read {_one_line(path)}: there is no such file.{hint}")


def damaged(path: object, reason: object) -> TableError:
    return unreadable(path, f"it is damaged, or its format is not supported: {reason}")


def ragged_row(
    path: object,
    line: int,
    n_cells: int,
    n_columns: int,
    delimiter: str,
    has_spaced_quote: bool = False,
) -> TableError:
    cells = f"{n_cells} cell{'s' if n_cells != 1 else ''}"
    return unreadable(
        path,
        f"line {line} has {cells}, but the first row has {n_columns} (delimiter {delimiter!r}): "
        + (
            "remove the space before its quotation mark"
            if has_spaced_quote
            else "give every row the same number of cells"
        ),
    )


def open_quote(path: object, line: int) -> TableError:
    return unreadable(
        path, f"the quotation mark in line {line} is never closed: close it or remove it"
    )


def unwritable(path: object, reason: object) -> CovaryError:
    return CovaryError(f"cannot write {_one_line(path)}: {_one_line(reason)}")


def unknown_output(path: object, suffixes: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"the file format of {_one_line(path)} is unknown: use a name that ends in "
        f"{' or '.join(suffixes)}"
    )


# ---------------------------------------------------------------- run files


def run_exists(path: object) -> RunError:
    return RunError(
        f"{_one_line(path)} already exists: resume it (--resume, or resume=True), or choose "
        "another file"
    )


def no_such_run(path: object) -> RunError:
    return RunError(f"cannot read {_one_line(path)}: there is no such run file")


def table_of_run_is_gone(path: object, table: object) -> RunError:
    why = "the table was in memory"
    if table is not None:
        why = f"{_one_line(table)} does not exist"
    return RunError(
        f"{_one_line(path)} contains scores but not the table, and {why}: pass the file of the "
        "table with --table FILE"
    )


def not_the_table_of_run(table: object, path: object, difference: str) -> RunError:
    return RunError(
        f"{_one_line(table)} is not the table of {_one_line(path)}: {_one_line(difference)}; pass "
        "the right file with --table FILE"
    )


def not_a_run_file(path: object) -> RunError:
    return RunError(f"{_one_line(path)} is not a run file of covary: choose another file")


def run_of_other_format(path: object, theirs: object, ours: object) -> RunError:
    return RunError(
        f"{_one_line(path)} has format {_one_line(theirs, 20)}, but this version of covary uses "
        f"format {ours}: use the version that wrote it, or start a new run file"
    )


def run_of_other_version(path: object, theirs: object, ours: object) -> RunError:
    return RunError(
        f"{_one_line(path)} was written by covary {_one_line(theirs, 40)}, and the scores of this "
        f"version, {ours}, may differ: use the version that wrote it, or start a new run file"
    )


def run_shown_by_other_version(path: object, theirs: object, ours: object) -> CovaryWarning:
    return CovaryWarning(
        f"{_one_line(path)} was written by covary {_one_line(theirs, 40)}: scores and p-values "
        f"are those of that version, figures and explanations those of this version, {ours}"
    )


def resumed_with_missing_level(path: object) -> CovaryWarning:
    return CovaryWarning(
        f"{_one_line(path)} was written before the option 'missing' existed: the search continues "
        "with missing='level'; start a new run file to use missing='values'"
    )


def damaged_run(path: object, reason: object) -> RunError:
    return RunError(f"the run file {_one_line(path)} is damaged: {_one_line(reason)}")


def run_of_other_kind(path: object, theirs: object, ours: str) -> RunError:
    return RunError(
        f"{_one_line(path)} is the run file of a `covary {_one_line(theirs, 20)}`, not of a "
        f"`covary {ours}`: choose another file"
    )


def run_without_search(path: object) -> RunError:
    return damaged_run(path, "it does not describe a search")


def run_without_tests(path: object) -> RunError:
    return damaged_run(path, "it does not describe the tests")


def run_differs(path: object, difference: str) -> RunError:
    return RunError(
        f"{_one_line(path)} belongs to another search: {_one_line(difference)}; choose another "
        "file"
    )


def run_not_written(path: object, reason: object) -> RunError:
    return RunError(f"cannot write the run file {_one_line(path)}: {_one_line(reason)}")


# ---------------------------------------------------------------- experiments and data sets


def other_trials(path: object, version: object, seed: object) -> CovaryError:
    return CovaryError(
        f"{_one_line(path)} contains trials of covary {_one_line(version)} with seed "
        f"{_one_line(seed)}: choose another folder with --output, or move the file"
    )


def no_trials(path: object) -> CovaryError:
    return CovaryError(
        f"{_one_line(path)} contains no trials, or it is damaged: choose another folder with "
        "--output, or move the file"
    )


def no_classes(name: str) -> TableError:
    return TableError(
        f"table {_quoted(name)} has fewer than two classes: its last column must be named "
        "'label' and contain the classes"
    )


def too_few_to_compare(name: str, n_rows: int, minimum: int) -> TableError:
    return TableError(
        f"table {_quoted(name)} has {n_rows} rows without missing cells: at least {minimum} are "
        "needed"
    )


_INTO_FOLDER = "into a folder and pass it with --data DIR (in Python folder='DIR')"


def datasets_missing(origins: Mapping[str, str], folder: object | None) -> CovaryError:
    files = ", ".join(f"{name}.csv.gz" for name in origins)
    published = "; ".join(f"{name}: {origin}" for name, origin in origins.items())
    if folder is not None:
        them = "it" if len(origins) == 1 else "them"
        return CovaryError(
            f"the folder {_one_line(folder)} has no {files}: put {them} there ({published})"
        )
    return CovaryError(
        f"covary cannot download {', '.join(origins)} ({published}): put {files} {_INTO_FOLDER}"
    )


def no_folder(folder: object) -> CovaryError:
    return CovaryError(
        f"there is no folder {_one_line(folder)}: pass the folder that contains the tables"
    )


def no_dataset_cache(reason: object) -> CovaryError:
    return CovaryError(
        f"there is no folder for downloaded data sets ({_one_line(reason, 80)}): set "
        "SCIKIT_LEARN_DATA to a folder, or pass a folder that contains the data sets with "
        "--data DIR (in Python folder='DIR')"
    )


def no_download(name: str, origin: str) -> CovaryError:
    return CovaryError(
        f"covary cannot download {name} ({origin}): put {name}.csv.gz {_INTO_FOLDER}"
    )


def not_downloaded(name: str, reason: object) -> CovaryError:
    return CovaryError(
        f"the download of {name} failed ({_one_line(reason, 80)}): put {name}.csv.gz "
        f"{_INTO_FOLDER}"
    )


def not_the_dataset(name: str, sender: str) -> CovaryError:
    return CovaryError(
        f"the {name} that {sender} sent differs from the table of the experiments: put "
        f"{name}.csv.gz {_INTO_FOLDER}"
    )


# ---------------------------------------------------------------- names and parameters


def unknown_name(kind: str, name: object, known: Sequence[str]) -> ParameterError:
    """Return the error for a name that is not registered.

    Parameters
    ----------
    kind : what the name stands for, such as "measure"
    name : the name that the user gave
    known : all names that exist
    """
    kinds = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    return ParameterError(
        f"there is no {kind} {_quoted(name)}.{_did_you_mean(str(name), known)} "
        f"The {kinds} are {_quoted_list(known, max_names=30)}."
    )


def is_misspelt(name: str, known: Sequence[str]) -> bool:
    """Return whether a name is very similar to one of the known names."""
    return bool(difflib.get_close_matches(name, known, n=1, cutoff=0.75))


def unknown_keyword(function: str, name: str, known: Sequence[str]) -> ParameterError:
    return ParameterError(f"{function} has no parameter '{name}'.{_did_you_mean(name, known)}")


def unknown_parameter(
    kind: str, owner: str, name: str, known: Sequence[str], others: Sequence[str] = ()
) -> ParameterError:
    """Return the error for a parameter that a measure or strategy does not have.

    Parameters
    ----------
    kind : what the owner is, such as "measure"
    owner : the name of the measure or strategy
    name : the parameter that the user gave
    known : the parameters of the owner
    others : measures or strategies that have the parameter
    """
    existing = f"its parameters are {_quoted_list(known)}" if known else "it has none"
    hint = _did_you_mean(name, known)
    if others:
        have = "s {} have" if len(others) > 1 else " {} has"
        hint = f" {kind.capitalize()}{have.format(_quoted_list(others))} it."
    return ParameterError(f"{kind} '{owner}' has no parameter '{name}': {existing}.{hint}")


def invalid_parameter(name: str, must_be: str, value: object) -> ParameterError:
    return ParameterError(f"{name} must be {must_be}, not {_one_line(repr(value), 60)}")


# ---------------------------------------------------------------- measures


def too_many_orders(n_columns: int, maximum: int) -> ParameterError:
    return ParameterError(
        f"order='exact' tries every order and accepts at most {maximum} columns that vary, not "
        f"{n_columns}: use order='entropy'"
    )


def too_many_columns(n_columns: int, maximum: int) -> TableError:
    return TableError(
        f"the table has {n_columns:,} columns: this measure accepts at most {maximum:,}"
    )


def only_pairs(measure: str, n_columns: int) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' scores two columns, not {n_columns:,}: pass two (in a search "
        "max_size=2), or combine the scores of all pairs (aggregate='mean', 'max' or 'min')"
    )


def too_many_rows(measure: str, n_rows: int, maximum: int) -> TableError:
    return TableError(
        f"measure '{measure}' compares all pairs of rows and accepts at most {maximum:,} rows, "
        f"not {n_rows:,}: use a random sample of the rows, or another measure"
    )


def missing_package(measure: str, package: str) -> CovaryError:
    return CovaryError(
        f"measure '{measure}' needs the package {package}: pip install 'covary[baselines]'"
    )


def no_explanation(measure: str) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' gives a score but no explanation: use another measure"
    )


def no_target(measure: str) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' cannot compute the explained fraction of a target: omit the target, "
        "or use another measure"
    )


def no_target_explanation(measure: str) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' explains columns by each other only: omit the target, or use "
        "measure 'uds-chance'"
    )


def no_given(measure: str) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' cannot compute what columns explain beyond given ones: omit given, "
        "or use measure 'uds-chance'"
    )


_FOR_NOMINAL = (
    "use 'uds-chance', 'total-correlation' with bins, 'mutual-information', 'cramers-v', "
    "'theils-u' or 'phik', or declare the order of their levels (ordered)"
)


def nominal_columns(measure: str, names: Sequence[str]) -> ColumnError:
    return ColumnError(
        f"measure '{measure}' cannot use nominal columns: {_quoted_list(names)}; {_FOR_NOMINAL}"
    )


def without_nominal(measure: str, names: Sequence[str]) -> CovaryWarning:
    return CovaryWarning(
        f"left out, because measure '{measure}' cannot use nominal columns: "
        f"{_quoted_list(names)}; {_FOR_NOMINAL}"
    )


def given_without_target() -> ParameterError:
    return ParameterError("given columns need a target: name the column to be explained as target")


def two_roles(name: str, one: str, other: str) -> ColumnError:
    return ColumnError(f"column {_quoted(name)} is in both {one} and {other}: name it once")


def all_given(target: str) -> ColumnError:
    return ColumnError(f"no column is left to explain {_quoted(target)}: all others are given")


# ---------------------------------------------------------------- searches and tests


def constant_target(name: str) -> ColumnError:
    return ColumnError(
        f"column {_quoted(name)} is constant: there is nothing to explain, choose another target"
    )


def too_many_sets(n_sets: int, maximum: int) -> ParameterError:
    return ParameterError(
        f"an exhaustive search would score {n_sets:.1e} sets, and the limit is {maximum:.0e}: "
        "lower max_size, name fewer columns, or use the beam search"
    )


def strategy_without_target(name: str) -> ParameterError:
    return ParameterError(
        f"strategy '{name}' does not support a target: use another strategy, such as 'beam'"
    )


def too_few_permutations(permutations: int, level: float) -> ParameterError:
    return ParameterError(
        f"with permutations={permutations} no p-value can be as low as level={level:g}: use at "
        f"least {math.ceil(1.0 / level) - 1:,} permutations"
    )


def prune_and_sift() -> ParameterError:
    return ParameterError(
        "prune and sift cannot be combined: prune removes subsets of better sets, sift removes "
        "sets that may add nothing beyond a subset; choose one of them"
    )


# ---------------------------------------------------------------- figures and reports


def no_figure_package(package: str) -> CovaryError:
    return CovaryError(f"figures need the package {package}: pip install 'covary[report]'")


def no_figures() -> CovaryError:
    return CovaryError("figures need the package altair: pip install 'covary[report]'")


def no_report() -> CovaryError:
    return CovaryError(
        "a report needs the packages jinja2 and vl-convert-python: pip install 'covary[report]'"
    )


def not_tested() -> CovaryError:
    return CovaryError("this set was not tested: search with permutations=999")


def no_html_name(path: object) -> CovaryError:
    return CovaryError(
        f"a report is an HTML file, but {_one_line(path)} has another suffix: use a name that "
        "ends in .html"
    )


def would_overwrite(path: object) -> CovaryError:
    return CovaryError(f"the report would overwrite {_one_line(path)}: choose another file")


def nothing_to_draw() -> CovaryError:
    return CovaryError("there is nothing to draw: no pair of columns has a score above 0")


def no_delays() -> CovaryError:
    return CovaryError(
        "there are no delays to draw: search with a target and lags=, and let the search finish"
    )


def no_links() -> CovaryError:
    return CovaryError("there is nothing to draw: no column explains another")


def no_table_to_draw() -> CovaryError:
    return CovaryError(
        "this result has no table, because it was copied or sent: search again to draw figures"
    )


# ---------------------------------------------------------------- engines


def unknown_engine(engine: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no engine {_quoted(engine)}: use {_quoted_list(known)}, the address of a Dask "
        "scheduler such as tcp://host:8786, or a distributed.Client"
    )


def not_installed(package: str, purpose: str, extra: str) -> EngineError:
    return EngineError(f"{purpose} needs {package}: pip install '{extra}'")


def no_local_cluster(reason: object) -> EngineError:
    return EngineError(
        f"cannot start a local Dask cluster ({_one_line(reason, 80)}): in a script, put the code "
        "under if __name__ == '__main__':, because the workers import the script"
    )


def no_scheduler(address: str, reason: object) -> EngineError:
    return EngineError(
        f"cannot reach a Dask scheduler at {_one_line(address)} ({_one_line(reason, 80)}): check "
        "the address, and that the scheduler is running"
    )


def asynchronous_client() -> EngineError:
    return EngineError(
        "an asynchronous Dask client cannot be used: pass the address of its scheduler"
    )


def closed_client() -> EngineError:
    return EngineError(
        "the Dask client is closed: pass an open client, or the address of its scheduler"
    )


def no_dask_workers(address: str) -> EngineError:
    return EngineError(
        f"the Dask scheduler {_one_line(address)} has no workers: start some with dask worker "
        "ADDRESS"
    )


def lost_scheduler(address: str) -> EngineError:
    return EngineError(
        f"lost the connection to the Dask scheduler {_one_line(address)}: check that it is running"
    )


def lost_workers(reason: object) -> EngineError:
    return EngineError(
        f"Dask workers died repeatedly ({_one_line(reason, 120)}): check that they have enough "
        "memory"
    )


def no_processes(reason: object) -> EngineError:
    return EngineError(
        f"cannot start worker processes ({_one_line(reason, 80)}): use the threads engine"
    )


def worker_died() -> EngineError:
    return EngineError(
        "a worker process died, perhaps because there is too little memory: use fewer workers "
        "(n_jobs), or the threads engine"
    )


# ---------------------------------------------------------------- warnings


def left_out(names_and_reasons: Sequence[tuple[str, str]]) -> CovaryWarning:
    by_reason: dict[str, list[str]] = {}
    for name, reason in names_and_reasons:
        by_reason.setdefault(reason, []).append(name)
    parts = [f"{_quoted_list(names)} ({_one_line(why, 160)})" for why, names in by_reason.items()]
    return CovaryWarning(f"left out: {'; '.join(parts)}")


def read_as(names_and_formats: Sequence[tuple[str, str]]) -> CovaryWarning:
    by_format: dict[str, list[str]] = {}
    for name, what in names_and_formats:
        by_format.setdefault(what, []).append(name)
    parts = [
        f"{_quoted_list(names, len(names))} ({_one_line(what)})"
        for what, names in by_format.items()
    ]
    return CovaryWarning(f"text was read as values: {'; '.join(parts)}")


def may_have_thousands(names: Sequence[str]) -> CovaryWarning:
    return CovaryWarning(
        f"{_quoted_list(names, len(names))} may be 1000 times too small: other columns have "
        "decimal commas, and here all numbers have three decimals; if the points are thousands "
        "separators, read the file with thousands='.' and decimal=','"
    )


def never_varies(names: Sequence[str]) -> CovaryWarning:
    return CovaryWarning(f"constant columns cannot depend on others: {_quoted_list(names)}")


def cannot_test(reason: str) -> CovaryWarning:
    return CovaryWarning(f"there is nothing to test, so that p = 1: {reason}")


def incomplete_rows(measure: str, n_complete: int, n_rows: int) -> CovaryWarning:
    return CovaryWarning(
        f"measure '{measure}' ignores, for each set, the rows with a missing cell in its columns: "
        f"{n_complete:,} of {n_rows:,} rows have no missing cell"
    )


def units_matter(measure: str, scale: str, smallest: float, largest: float) -> CovaryWarning:
    return CovaryWarning(
        f"measure '{measure}' depends on the units of the columns, and their spread is between "
        f"{smallest:.2g} and {largest:.2g}: use scale='{scale}' to make them comparable"
    )


def no_header(path: str | os.PathLike[str]) -> CovaryWarning:
    return CovaryWarning(
        f"the first line of {_one_line(path)} contains only numbers, so the file has no header: "
        "the columns are named x0, x1, ..."
    )


def other_dataset(path: object, name: str) -> CovaryWarning:
    return CovaryWarning(
        f"{_one_line(path)} is not the table {name} of the published results: its cells or "
        "classes differ"
    )


def dependent_rows(text: str) -> CovaryWarning:
    return CovaryWarning(_one_line(text, 1000))


def constant_within_groups(names: Sequence[str], groups: str, kind: str) -> CovaryWarning:
    remedy = "" if kind == "series" else ": permute='between' compares whole groups"
    never = "never varies" if len(names) == 1 else "never vary"
    return CovaryWarning(
        f"{_quoted_list(names)} {never} within a group of {_quoted(groups)}, so that nothing can "
        f"be said beyond the groups{remedy}"
    )


def row_is_a_column() -> CovaryWarning:
    return CovaryWarning(
        "rows are ordered by the column 'row'; rename it to use the order of the table"
    )


def irregular_steps(name: str, share: float) -> CovaryWarning:
    return CovaryWarning(
        f"{100 * share:.0f} % of the steps of {_quoted(name)} differ from the usual one by more "
        "than a factor of two: shifts move rows by a number of rows, not by a time, so p-values "
        "are valid only if the similarity of neighbouring rows does not depend on the step"
    )


def gaps_in_time(name: str, number: int) -> CovaryWarning:
    gaps, are = ("1 step", "is") if number == 1 else (f"{number:,} steps", "are")
    return CovaryWarning(
        f"{gaps} of {_quoted(name)} {are} irregular (gaps, for example): the rows before and "
        "after are treated as neighbours"
    )


def few_rows(n_rows: int) -> CovaryWarning:
    return CovaryWarning(
        f"only {n_rows} rows: with fewer than {FEW_ROWS} rows it is hard to distinguish "
        "dependence from chance; do not rely on the scores"
    )


def warn(warning: CovaryWarning) -> None:
    """Issue a warning that points to the first caller outside covary."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("covary"):
        frame = frame.f_back
        level += 1
    warnings.warn(warning, stacklevel=level)
