"""Everything covary raises on purpose, and the words it does so with.

An error says in one line what is wrong, what there is instead and what to do. Warnings use the
same voice. Nothing else in the package composes such a message.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real

# Below so many rows there is a warning.
FEW_ROWS = 100


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


def _one_line(text: object, most: int = 200) -> str:
    """Return text that fits on one line and cannot steer a terminal."""
    line = " ".join(str(text).split())
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    return line if len(line) <= most else line[: most - 3] + "..."


def _quoted(name: object) -> str:
    return f"'{_one_line(name, most=60)}'"


def _listed(names: Iterable[str], most: int = 8) -> str:
    """Return names in quotes, comma-separated, cut off after a few."""
    quoted = [_quoted(name) for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    return ", ".join(quoted)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest match, or nothing."""
    known = list(known)
    by_lower = {other.lower(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    return f" Did you mean {_quoted(by_lower[close[0]])}?" if close else ""


# ---------------------------------------------------------------- the table


def not_a_table(data: object) -> TableError:
    kind = type(data)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    return TableError(
        f"data of type {name} is not a table: pass a two-dimensional NumPy array, a pandas, "
        "polars or pyarrow table, or the path of a CSV, Parquet or Arrow file"
    )


def wrong_dimensions(n_dimensions: int) -> TableError:
    return TableError(
        f"the array has {n_dimensions} dimension{'s' if n_dimensions != 1 else ''}: a table has "
        "two, one row per observation and one column per variable"
    )


def not_numeric(dtype: object) -> TableError:
    if "complex" in str(dtype):
        return TableError(
            f"an array of dtype {dtype} has no order: pass its real and imaginary parts as "
            "columns of their own"
        )
    return TableError(
        f"an array of dtype {dtype} is not one of numbers: convert it to float, or pass a data "
        "frame"
    )


def not_computed(error: object) -> TableError:
    return TableError(f"the lazy frame could not be computed: {_one_line(error)}")


def too_few_rows(n_rows: int) -> TableError:
    return TableError(f"the table has {n_rows} row{'s' if n_rows != 1 else ''}: at least 3 needed")


def duplicate_name(names: Sequence[str]) -> TableError:
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(name, []).append(position)
    name, where = next(item for item in places.items() if len(item[1]) > 1)
    return TableError(
        f"the name {_quoted(name)} stands for more than one column (number {where[0] + 1} and "
        f"{where[1] + 1}): give each its own"
    )


def infinite_values(name: str, count: int) -> TableError:
    return TableError(
        f"column {_quoted(name)} holds {count} infinite value{'s' if count != 1 else ''}: replace "
        "by a finite number, or by a missing cell"
    )


def no_usable_column(left_out: Sequence[tuple[str, str]]) -> TableError:
    if not left_out:
        return TableError("the table has no columns")
    return TableError(
        "no column can be used: "
        + ", ".join(f"{_quoted(name)} is {_one_line(reason, 80)}" for name, reason in left_out[:5])
        + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "")
        + "; numbers, booleans, dates and ordered categories can"
    )


def reason_word_among_numbers(word: object) -> str:
    if word is None:
        return "numbers written as text, convert them"
    return f"text, since {_quoted(word)} is not a number"


# ---------------------------------------------------------------- columns


def unknown_column(name: object, known: Sequence[str]) -> ColumnError:
    there = f" The columns are {_listed(known)}." if known else ""
    return ColumnError(f"there is no column {_quoted(name)}.{_nearest(str(name), known)}{there}")


def position_out_of_range(position: int, n_columns: int) -> ColumnError:
    if n_columns == 0:
        return ColumnError(f"there is no column number {position}: the table has no columns")
    return ColumnError(
        f"there is no column number {position}: the {n_columns} columns are numbered "
        f"0 to {n_columns - 1}"
    )


def unusable_column(name: str, reason: str) -> ColumnError:
    return ColumnError(
        f"column {_quoted(name)} cannot be used: it is {_one_line(reason, 80)}; numbers, "
        "booleans, dates and ordered categories can"
    )


def repeated_column(name: str) -> ColumnError:
    return ColumnError(f"column {_quoted(name)} is asked for twice: a set holds each column once")


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
        return ColumnError("dependence needs at least two columns, none were named")
    return ColumnError(
        f"dependence needs at least two columns, there is only {_quoted(names[0])} to use"
    )


# ---------------------------------------------------------------- files


def unreadable(path: object, reason: object) -> TableError:
    return TableError(f"cannot read {_one_line(path)}: {_one_line(reason)}")


def no_such_file(path: object, others: Iterable[str]) -> TableError:
    hint = _nearest(os.path.basename(str(path)), others)
    return TableError(f"cannot read {_one_line(path)}: there is no such file.{hint}")


def damaged(path: object, reason: object) -> TableError:
    return unreadable(path, f"it is damaged, or in a form that is not supported: {reason}")


def ragged_row(
    path: object, line: int, n_cells: int, n_columns: int, delimiter: str
) -> TableError:
    cells = f"{n_cells} cell{'s' if n_cells != 1 else ''}"
    return unreadable(
        path,
        f"line {line} has {cells} and the first row has {n_columns}, separated by {delimiter!r}: "
        "give every row as many",
    )


def open_quote(path: object, line: int) -> TableError:
    return unreadable(path, f"line {line} opens a quotation mark that no line closes")


class RunError(CovaryError):
    """A run file cannot be used."""


def run_exists(path: object) -> RunError:
    return RunError(
        f"{_one_line(path)} is there already: resume it (--resume, or resume=True), or name "
        "another file"
    )


def no_such_run(path: object) -> RunError:
    return RunError(f"cannot read {_one_line(path)}: there is no run file of that name")


def table_of_run_is_gone(path: object, table: object) -> RunError:
    where = "a table in memory"
    if table is not None:
        where = f"{_one_line(table)}, which is not there"
    return RunError(
        f"{_one_line(path)} holds scores, not the table: it was {where}; say which file has it: "
        "--table FILE"
    )


def not_the_table_of_run(table: object, path: object, difference: str) -> RunError:
    return RunError(
        f"{_one_line(table)} is not what {_one_line(path)} was made from: "
        f"{_one_line(difference)}; say which file is: --table FILE"
    )


def no_run_file(path: object) -> RunError:
    return RunError(f"{_one_line(path)} is not a run file of covary: name another file")


def run_of_other_format(path: object, theirs: object, ours: object) -> RunError:
    return RunError(
        f"{_one_line(path)} was written by another version of covary, in format "
        f"{_one_line(theirs, 20)} instead of {ours}: use that version, or start a new run file"
    )


def run_of_other_version(path: object, theirs: object, ours: object) -> RunError:
    return RunError(
        f"{_one_line(path)} was written by covary {_one_line(theirs, 40)} and this is {ours}, "
        "which may score otherwise: use that version, or start a new run file"
    )


def damaged_run(path: object, reason: object) -> RunError:
    return RunError(f"the run file {_one_line(path)} is damaged: {_one_line(reason)}")


def run_differs(path: object, difference: str) -> RunError:
    return RunError(
        f"{_one_line(path)} belongs to another search: {_one_line(difference)}; name another file"
    )


def run_not_written(path: object, reason: object) -> RunError:
    return RunError(f"cannot write the run file {_one_line(path)}: {_one_line(reason)}")


def unknown_experiment(name: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no experiment {_quoted(name)}.{_nearest(str(name), known)} "
        f"The experiments are {_listed(known)}."
    )


def other_trials(path: object, version: object, seed: object) -> CovaryError:
    return CovaryError(
        f"{_one_line(path)} holds trials of covary {_one_line(version)} with seed "
        f"{_one_line(seed)}: name another folder with --output, or move that file away"
    )


def no_trials(path: object) -> CovaryError:
    return CovaryError(
        f"{_one_line(path)} is no file of trials, or it is damaged: name another folder with "
        "--output, or move that file away"
    )


def no_classes(name: str) -> TableError:
    return TableError(
        f"table {_quoted(name)} has no classes, or only one: its last column is to be 'label'"
    )


def too_few_to_compare(name: str, n_rows: int, least: int) -> TableError:
    return TableError(
        f"table {_quoted(name)} has {n_rows} rows without missing cells, and this takes {least}"
    )


def unwritable(path: object, reason: object) -> CovaryError:
    return CovaryError(f"cannot write {_one_line(path)}: {_one_line(reason)}")


def unknown_output(path: object, suffixes: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"cannot tell the format of {_one_line(path)}: end it in {' or '.join(suffixes)}"
    )


# ---------------------------------------------------------------- data sets


def unknown_dataset(name: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no data set {_quoted(name)}.{_nearest(str(name), known)} "
        f"The data sets are {_listed(known, most=30)}."
    )


def _bring(name: str) -> str:
    return f"put {name}.csv.gz into a folder and name it with --data DIR (in Python folder='DIR')"


def datasets_missing(origins: Mapping[str, str], folder: object | None) -> CovaryError:
    files = ", ".join(f"{name}.csv.gz" for name in origins)
    published = "; ".join(f"{name}: {origin}" for name, origin in origins.items())
    if folder is not None:
        what = "it" if len(origins) == 1 else "them"
        return CovaryError(
            f"in {_one_line(folder)} there is no {files}: put {what} there ({published})"
        )
    return CovaryError(
        f"there is no download of {', '.join(origins)} as used here ({published}): put {files} "
        "into a folder and name it with --data DIR (in Python folder='DIR')"
    )


def no_folder(folder: object) -> CovaryError:
    return CovaryError(f"there is no folder {_one_line(folder)}: name the one with the tables")


def no_dataset_cache(reason: object) -> CovaryError:
    return CovaryError(
        f"there is no place to keep data sets ({_one_line(reason, 80)}): set SCIKIT_LEARN_DATA to "
        "a folder, or name one that has them with --data DIR (in Python folder='DIR')"
    )


def no_download(name: str, origin: str) -> CovaryError:
    return CovaryError(f"{name} cannot be downloaded ({origin}): {_bring(name)}")


def not_downloaded(name: str, reason: object) -> CovaryError:
    return CovaryError(f"cannot download {name} ({_one_line(reason, 80)}): {_bring(name)}")


def not_the_dataset(name: str, sender: str) -> CovaryError:
    return CovaryError(
        f"what {sender} sent as {name} is not the table of the experiments: {_bring(name)}"
    )


# ---------------------------------------------------------------- measures and parameters


def unknown_measure(name: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no measure '{name}'.{_nearest(str(name), known)} "
        f"The measures are {_listed(known, most=20)}."
    )


def is_misspelt(name: str, known: Sequence[str]) -> bool:
    """Return whether a name is nearly one of those that are known."""
    return bool(difflib.get_close_matches(name, known, n=1, cutoff=0.75))


def unknown_keyword(function: str, name: str, known: Sequence[str]) -> ParameterError:
    return ParameterError(f"{function} has no parameter '{name}'.{_nearest(name, known)}")


def unknown_parameter(
    kind: str, of: str, name: str, known: Sequence[str], others: Sequence[str] = ()
) -> ParameterError:
    has = f"its parameters are {_listed(known)}" if known else "it has none"
    hint = _nearest(name, known)
    if others:
        have = "s {} have" if len(others) > 1 else " {} has"
        hint = f" {kind.capitalize()}{have.format(_listed(others))} it."
    return ParameterError(f"{kind} '{of}' has no parameter '{name}': {has}.{hint}")


def too_few_permutations(permutations: int, level: float) -> ParameterError:
    return ParameterError(
        f"with permutations={permutations} no p-value can be as low as level={level:g}: take at "
        f"least {math.ceil(1.0 / level) - 1:,} permutations"
    )


def prune_and_sift() -> ParameterError:
    return ParameterError(
        "prune leaves out the parts of a set, sift the sets that add nothing to their parts: "
        "choose one of them"
    )


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a parameter that has to be a whole number, from ``least`` to ``most``."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        to = "" if most is None else f" to {most}"
        raise invalid_parameter(name, f"a whole number from {least}{to}", value)
    return int(value)  # type: ignore[call-overload, no-any-return]


def share(name: str, value: object) -> None:
    """Refuse a parameter that is not between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise invalid_parameter(name, "a number above 0 and below 1", value)


def invalid_parameter(name: str, must_be: str, value: object) -> ParameterError:
    return ParameterError(f"{name} must be {must_be}, not {_one_line(repr(value), 60)}")


def too_many_orders(n_columns: int, most: int) -> ParameterError:
    return ParameterError(
        f"order='exact' tries every order and takes at most {most} columns that vary, not "
        f"{n_columns}: use order='entropy'"
    )


def too_many_columns(n_columns: int, most: int) -> TableError:
    return TableError(
        f"the table has {n_columns:,} columns, more than the {most:,} this measure can tell apart"
    )


def only_pairs(measure: str, n_columns: int) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' looks at two columns, not {n_columns:,}: take two (in a search "
        "max_size=2), or say how to make one score of all pairs (aggregate='mean', 'max' or 'min')"
    )


def too_many_rows(measure: str, n_rows: int, most: int) -> TableError:
    return TableError(
        f"measure '{measure}' compares every row with every other, and takes at most {most:,} "
        f"rows, not {n_rows:,}: draw some of them, or take another measure"
    )


def missing_package(measure: str, package: str) -> CovaryError:
    return CovaryError(
        f"measure '{measure}' needs the package {package}: pip install 'covary[rivals]'"
    )


def no_explanation(measure: str) -> ParameterError:
    return ParameterError(f"measure '{measure}' gives a score only, it cannot explain it")


def no_target(measure: str) -> ParameterError:
    return ParameterError(
        f"measure '{measure}' cannot say how much of one column others explain: leave the target "
        "out, or take another measure"
    )


# ---------------------------------------------------------------- search


def unknown_strategy(name: object, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"there is no strategy {_quoted(name)}.{_nearest(str(name), known)} "
        f"The strategies are {_listed(known)}."
    )


def constant_target(name: str) -> ColumnError:
    return ColumnError(f"column {_quoted(name)} never varies: there is nothing to explain")


def too_many_sets(n_sets: int, most: int) -> ParameterError:
    return ParameterError(
        f"an exhaustive search would score {n_sets:.1e} sets and ends at {most:.0e}: lower "
        "max_size, name fewer columns, or use the beam search"
    )


def strategy_without_target(name: str) -> ParameterError:
    return ParameterError(f"strategy '{name}' takes no target: use another, such as 'beam'")


# ---------------------------------------------------------------- figures


def no_pictures(package: str) -> CovaryError:
    return CovaryError(f"pictures need the package {package}: pip install 'covary[report]'")


def no_figures() -> CovaryError:
    return CovaryError("figures need the package altair: pip install 'covary[report]'")


def no_report() -> CovaryError:
    return CovaryError(
        "a report needs the packages jinja2 and vl-convert-python: pip install 'covary[report]'"
    )


def not_tested() -> CovaryError:
    return CovaryError("this set was not tested: search with permutations=999")


def no_html_name(path: object) -> CovaryError:
    return CovaryError(f"a page is HTML, which {_one_line(path)} does not say: name it FILE.html")


def would_overwrite(path: object) -> CovaryError:
    return CovaryError(f"the page would overwrite {_one_line(path)}: name another file for it")


def nothing_to_draw() -> CovaryError:
    return CovaryError("there is nothing to draw: no pair of columns scores above 0")


def no_table_to_draw() -> CovaryError:
    return CovaryError(
        "this result has left its table behind (it was copied or sent): search again to draw it"
    )


# ---------------------------------------------------------------- engines


class EngineError(CovaryError, RuntimeError):
    """The workers cannot be had, or are gone."""


def unknown_engine(engine: object) -> ParameterError:
    return ParameterError(
        f"there is no engine {_quoted(engine)}: use 'threads', 'processes', 'dask', or the "
        "address of a Dask scheduler such as tcp://host:8786, or a distributed.Client"
    )


def not_installed(package: str, purpose: str, extra: str) -> EngineError:
    return EngineError(f"{purpose} needs {package}: pip install '{extra}'")


def no_local_cluster(reason: object) -> EngineError:
    return EngineError(
        f"no Dask cluster could be started here ({_one_line(reason, 80)}): in a script, put what "
        "it does under if __name__ == '__main__':, since the workers import it"
    )


def no_scheduler(address: str, reason: object) -> EngineError:
    return EngineError(
        f"cannot reach a Dask scheduler at {_one_line(address)}: is it running, and is the "
        f"address right? ({_one_line(reason, 80)})"
    )


def asynchronous_client() -> EngineError:
    return EngineError("an asynchronous Dask client cannot be used: pass its scheduler's address")


def closed_client() -> EngineError:
    return EngineError("the Dask client is closed: pass an open one, or its scheduler's address")


def no_dask_workers(address: str) -> EngineError:
    return EngineError(
        f"the Dask scheduler {_one_line(address)} has no workers: start some (dask worker ADDRESS)"
    )


def lost_scheduler(address: str) -> EngineError:
    return EngineError(f"lost the Dask scheduler {_one_line(address)}")


def lost_workers(reason: object) -> EngineError:
    return EngineError(
        f"Dask workers died again and again ({_one_line(reason, 120)}): have they enough memory?"
    )


def no_processes(reason: object) -> EngineError:
    return EngineError(
        f"no worker processes could be started here ({_one_line(reason, 80)}): use the threads "
        "engine"
    )


def worker_died() -> EngineError:
    return EngineError(
        "a worker process died: there may be too little memory for so many; try fewer (n_jobs), "
        "or the threads engine"
    )


# ---------------------------------------------------------------- warnings


def left_out(names_and_reasons: Sequence[tuple[str, str]]) -> CovaryWarning:
    by_reason: dict[str, list[str]] = {}
    for name, reason in names_and_reasons:
        by_reason.setdefault(reason, []).append(name)
    parts = [f"{_listed(names)} ({_one_line(why, 80)})" for why, names in by_reason.items()]
    return CovaryWarning(f"left out: {'; '.join(parts)}")


def never_varies(names: Sequence[str]) -> CovaryWarning:
    return CovaryWarning(f"never varies, so that nothing can depend on it: {_listed(names)}")


def incomplete_rows(measure: str, n_complete: int, n_rows: int) -> CovaryWarning:
    return CovaryWarning(
        f"measure '{measure}' leaves out, set by set, rows that lack one of its columns: "
        f"{n_complete:,} of {n_rows:,} rows lack none"
    )


def units_matter(measure: str, scale: str, least: float, most: float) -> CovaryWarning:
    return CovaryWarning(
        f"to measure '{measure}' units matter, and the spread of the columns is from {least:.2g} "
        f"to {most:.2g}: scale='{scale}' makes them alike"
    )


def no_header(path: str | os.PathLike[str]) -> CovaryWarning:
    return CovaryWarning(
        f"the first line of {_one_line(path)} is all numbers, so there is no header: the columns "
        "are called x0, x1, ..."
    )


def other_dataset(path: object, name: str) -> CovaryWarning:
    return CovaryWarning(
        f"{_one_line(path)} is not the table {name} that the published figures are of: its cells "
        "or classes differ"
    )


def few_rows(n_rows: int) -> CovaryWarning:
    return CovaryWarning(
        f"only {n_rows} rows: below {FEW_ROWS} little can be told from chance; do not rely on "
        "the scores"
    )


def warn(warning: CovaryWarning) -> None:
    """Warn as if the first caller outside covary did."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("covary"):
        frame = frame.f_back
        level += 1
    warnings.warn(warning, stacklevel=level)
