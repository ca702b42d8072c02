"""One SQLite database per search: killed at any moment, it lacks the last moment's work only."""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors

APPLICATION = 0x636F7679  # "covy"
FORMAT = 2
BEGIN = b"SQLite format 3\0"
COMMIT_SECONDS = 0.25
PATIENCE_SECONDS = 10.0

SCHEMA = {
    "run": "CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "columns": "CREATE TABLE columns "
    "(position INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL)",
    # Tables that may stay empty come early: a file that lost its end shall lose something.
    "permutations": "CREATE TABLE permutations "
    "(number INTEGER, rank INTEGER, evidence REAL NOT NULL, PRIMARY KEY (number, rank)) "
    "WITHOUT ROWID",
    "increments": "CREATE TABLE increments "
    "(columns TEXT PRIMARY KEY, pvalue REAL NOT NULL) WITHOUT ROWID",
    "shuffled": "CREATE TABLE shuffled "
    "(number INTEGER PRIMARY KEY, scored INTEGER NOT NULL, highest REAL NOT NULL, "
    "counts TEXT NOT NULL)",
    "candidates": "CREATE TABLE candidates "
    "(number INTEGER PRIMARY KEY, columns TEXT NOT NULL, score REAL NOT NULL)",
    "subspaces": "CREATE TABLE subspaces "
    "(rank INTEGER PRIMARY KEY, columns TEXT NOT NULL, score REAL NOT NULL, evidence REAL, "
    "pvalue REAL, qvalue REAL, family_pvalue REAL, increment_pvalue REAL)",
}

KEEP = {
    "candidates": "INSERT OR REPLACE INTO candidates VALUES (?, ?, ?)",
    "permutations": "INSERT OR REPLACE INTO permutations VALUES (?, ?, ?)",
    "increments": "INSERT OR REPLACE INTO increments VALUES (?, ?)",
    "shuffled": "INSERT OR REPLACE INTO shuffled VALUES (?, ?, ?, ?)",
}


@dataclass(frozen=True)
class Description:
    """What makes two searches the same.

    Parameters
    ----------
    parameters : everything that was asked for, as JSON knows it
    rows : how many rows the table has
    columns : name and fingerprint of every column
    versions : of covary, and of what its numbers come from
    bounds : what no score is below or above; it need not be told apart
    source : where the table was read from, if it was; it need not be told apart
    left_out : columns that could not be used, and what they are; it need not be told apart
    """

    parameters: Mapping[str, Any]
    rows: int
    columns: Sequence[tuple[str, str]]
    versions: Mapping[str, str]
    bounds: tuple[float, float]
    source: str | None = None
    left_out: Sequence[tuple[str, str]] = ()


class RunFile:
    """An open run file.

    Candidates are numbered in the order in which the search asks for them, which is the same
    every time.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        connection: sqlite3.Connection,
        bounds: tuple[float, float],
    ) -> None:
        self.path = path
        self.connection = connection
        self.bounds = bounds
        self.unsaved: dict[str, list[tuple[Any, ...]]] = {}
        self.saved_at = time.monotonic()

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], description: Description, *, resume: bool
    ) -> RunFile:
        """Return the run file of this search: a new one, or with ``resume`` one that is there."""
        there = _look(path)
        if there and not resume:
            raise errors.run_exists(path)
        with _told(path):
            # The absolute path: SQLite keeps files with some names in memory.
            connection = sqlite3.connect(
                os.path.abspath(path), timeout=PATIENCE_SECONDS, isolation_level=None
            )
            run = cls(path, connection, description.bounds)
            try:
                run._prepare(description)
            except BaseException:
                connection.close()
                raise
        return run

    @classmethod
    @contextmanager
    def read(cls, path: str | os.PathLike[str]) -> Iterator[RunFile]:
        """Open a copy of a run file, in memory: the file stays as it is."""
        if not os.path.isfile(path) or not _look(path):
            raise errors.no_such_run(path)
        copy = sqlite3.connect(":memory:", isolation_level=None)
        with closing(copy), _told(path):
            _copy(Path(path).absolute(), copy)
            run = cls(path, copy, (-math.inf, math.inf))
            copy.execute("PRAGMA trusted_schema = OFF")
            run._refuse_foreign()
            yield run

    def _prepare(self, description: Description) -> None:
        execute = self.connection.execute
        execute("PRAGMA trusted_schema = OFF")
        execute("PRAGMA synchronous = NORMAL")
        if not self._schema():
            with self._transaction():
                if not self._schema():  # nobody else was faster
                    self._create(description)
        self._refuse_foreign()
        self._refuse_other(description)
        self._log_ahead()

    def _schema(self) -> dict[str, str]:
        return dict(self.connection.execute("SELECT name, sql FROM sqlite_master").fetchall())

    def _log_ahead(self) -> None:
        """Switch to the write-ahead log; SQLite does not wait for others here by itself."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)

    def _create(self, description: Description) -> None:
        execute = self.connection.execute
        execute(f"PRAGMA application_id = {APPLICATION}")
        execute(f"PRAGMA user_version = {FORMAT}")
        for statement in SCHEMA.values():
            execute(statement)
        facts = {
            **description.parameters,
            "rows": description.rows,
            "versions": dict(description.versions),
            "table": description.source,
            "left_out": [list(each) for each in description.left_out],
            "started": _now(),
        }
        self.connection.executemany(
            "INSERT INTO run VALUES (?, ?)",
            [(name, json.dumps(value, sort_keys=True)) for name, value in facts.items()],
        )
        self.connection.executemany(
            "INSERT INTO columns VALUES (?, ?, ?)",
            [(at, *column) for at, column in enumerate(description.columns)],
        )

    def _refuse_foreign(self) -> None:
        execute = self.connection.execute
        if execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise errors.no_run_file(self.path)
        version = execute("PRAGMA user_version").fetchone()[0]
        if version != FORMAT:
            raise errors.run_of_other_format(self.path, version, FORMAT)
        if self._schema() != SCHEMA:
            raise errors.damaged_run(self.path, "its tables are not those of a run")
        if execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise errors.damaged_run(self.path, "its pages do not fit together")

    def _refuse_other(self, description: Description) -> None:
        if difference := self.difference(description):
            raise errors.run_differs(self.path, difference)

    def difference(self, description: Description) -> str:
        """Return in words how the search of this file differs from another, or nothing."""
        facts = self.facts()
        missing = {*description.parameters, "rows", "versions"}.difference(facts)
        if missing or not isinstance(facts["versions"], dict):
            raise errors.damaged_run(self.path, "it does not say what was searched")
        theirs, ours = facts["versions"].get("covary"), description.versions["covary"]
        if theirs != ours:
            raise errors.run_of_other_version(self.path, theirs, ours)
        difference = _different_table(facts["rows"], self.columns(), description)
        return difference or _different_parameters(facts, description.parameters)

    def columns(self) -> list[tuple[str, str]]:
        """Return name and fingerprint of every column."""
        query = "SELECT name, fingerprint FROM columns ORDER BY position"
        return [(str(name), str(print_)) for name, print_ in self._rows(query)]

    def facts(self) -> dict[str, Any]:
        """Return what the file says about itself."""
        try:
            return {
                str(name): json.loads(value)
                for name, value in self.connection.execute("SELECT name, value FROM run")
            }
        except (ValueError, TypeError, RecursionError):
            raise errors.damaged_run(self.path, "its parameters cannot be read") from None

    def known(self, first: int, sets: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return the scores of the candidates from number ``first`` on, NaN where not there."""
        scores = np.full(len(sets), np.nan)
        with _told(self.path):
            rows = self.connection.execute(
                "SELECT number, columns, score FROM candidates WHERE number >= ? AND number < ?",
                (first, first + len(sets)),
            ).fetchall()
        for number, columns, score in rows:
            if columns != str(sets[number - first].tolist()) or not self._is_score(score):
                raise errors.damaged_run(self.path, f"candidate {number} is not what it should be")
            scores[number - first] = score
        return scores

    def _is_score(self, score: Any) -> bool:
        """Return whether something is a score of the measure, but for rounding."""
        least, most = self.bounds
        return _is_number(score) and least - 1e-9 <= score <= most + 1e-9

    def save(
        self,
        numbers: npt.NDArray[np.int64],
        sets: npt.NDArray[np.int32],
        scores: npt.NDArray[np.float64],
    ) -> None:
        """Keep scores; they are on disk a quarter of a second later."""
        columns = map(str, sets.tolist())
        self._keep("candidates", zip(numbers.tolist(), columns, scores.tolist(), strict=True))

    def _keep(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if new := list(rows):
            self.unsaved.setdefault(table, []).extend(new)
        if time.monotonic() - self.saved_at > COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not written yet."""
        if self.unsaved:
            with self._transaction():
                for table, rows in self.unsaved.items():
                    self.connection.executemany(KEEP[table], rows)
            self.unsaved = {}
        self.saved_at = time.monotonic()

    def keep_found(self, found: Sequence[tuple[Sequence[int], float]]) -> None:
        """Write the sets that were found, best first; what tests told of them stays."""
        self.flush()
        with self._transaction():
            self.connection.execute("DELETE FROM subspaces WHERE rank > ?", (len(found),))
            self.connection.executemany(
                "INSERT INTO subspaces (rank, columns, score) VALUES (?, ?, ?) "
                "ON CONFLICT (rank) DO UPDATE "
                "SET columns = excluded.columns, score = excluded.score",
                [(at, str(list(c)), score) for at, (c, score) in enumerate(found, start=1)],
            )

    def finish(self, tested: Sequence[tuple[float | None, ...]] = ()) -> None:
        """Write what tests told of each set, and that all is done."""
        self.flush()
        with self._transaction():
            self.connection.executemany(
                "UPDATE subspaces SET evidence = ?, pvalue = ?, qvalue = ?, family_pvalue = ?, "
                "increment_pvalue = ? WHERE rank = ?",
                [(*line, at) for at, line in enumerate(tested, start=1)],
            )
            if tested or "tests" not in self.facts():
                self._note("finished", _now())

    def _note(self, name: str, value: Any) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO run VALUES (?, ?)", (name, json.dumps(value, sort_keys=True))
        )

    # ------------------------------------------------------------ tests

    def begin_tests(self, parameters: Mapping[str, Any]) -> None:
        """Note how the sets are tested; refuse if it was begun in another way."""
        with _told(self.path):
            theirs = self.facts().get("tests")
        if theirs is None:
            with self._transaction():
                self._note("tests", parameters)
                self.connection.execute("DELETE FROM run WHERE name = 'finished'")
        elif not isinstance(theirs, dict):
            raise errors.damaged_run(self.path, "it does not say what was tested")
        elif difference := _different_parameters(theirs, parameters):
            raise errors.run_differs(self.path, difference)

    def known_permutations(self, most: int, n_sets: int) -> npt.NDArray[np.float64]:
        """Return the evidence of sets on permuted tables, NaN where not there."""
        last = self._rows("SELECT MAX(number) FROM permutations")[0][0]
        n_known = last + 1 if _is_among(last, 0, most - 1) else 0
        evidence = np.full((n_known, n_sets), np.nan)
        with _told(self.path):
            query = "SELECT number, rank, evidence FROM permutations"
            for number, rank, value in self.connection.execute(query):
                right = _is_among(number, 0, n_known - 1) and _is_among(rank, 1, n_sets)
                if not (right and _is_number(value)):
                    raise errors.damaged_run(self.path, "a permutation is not what it should be")
                evidence[number, rank - 1] = value
        return evidence

    def save_permutations(
        self, numbers: Sequence[int], sets: Sequence[int], evidence: npt.NDArray[np.float64]
    ) -> None:
        """Keep the evidence of sets on permuted tables, one line each."""
        self._keep(
            "permutations",
            (
                (number, at + 1, value)
                for number, line in zip(numbers, evidence.tolist(), strict=True)
                for at, value in zip(sets, line, strict=True)
            ),
        )

    def known_increments(self) -> dict[tuple[int, ...], float]:
        """Return what is known of whether sets are more than their parts."""
        known = {}
        for text, value in self._rows("SELECT columns, pvalue FROM increments"):
            columns = _list_of_numbers(text)
            if columns is None or not (_is_number(value) and 0.0 <= value <= 1.0):
                raise errors.damaged_run(self.path, "an increment is not what it should be")
            known[tuple(columns)] = value
        return known

    def save_increments(self, pvalues: Mapping[tuple[int, ...], float]) -> None:
        """Keep whether sets are more than their parts."""
        self._keep("increments", [(str(list(c)), value) for c, value in pvalues.items()])

    def known_shuffled(self, n_sets: int) -> dict[int, tuple[int, float, list[int]]]:
        """Return by number what searches of shuffled tables found."""
        known = {}
        for number, scored, highest, counts in self._rows("SELECT * FROM shuffled"):
            above = _list_of_numbers(counts) or []
            right = [
                len(above) == n_sets,
                above == sorted(above, reverse=True),
                _is_among(number, 0, sys.maxsize),
                _is_among(scored, max([1, *above]), sys.maxsize),
                min([0, *above]) == 0,
                self._is_score(highest),
            ]
            if not all(right):
                raise errors.damaged_run(self.path, "a shuffled table is not what it should be")
            known[int(number)] = (int(scored), float(highest), above)
        return known

    def save_shuffled(self, number: int, scored: int, highest: float, counts: list[int]) -> None:
        """Keep what the search of a shuffled table found."""
        self._keep("shuffled", [(number, scored, highest, json.dumps(counts))])

    def _rows(self, query: str) -> list[Any]:
        with _told(self.path):
            return self.connection.execute(query).fetchall()

    def close(self) -> None:
        """Write what an interrupt has left unwritten, and close the file."""
        try:
            self.flush()
        finally:
            self.connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all of it or nothing."""
        with _told(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def _look(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a database; an empty file is none, anything else is refused."""
    if os.path.isdir(path):
        raise errors.run_not_written(path, "it is a folder")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise errors.run_not_written(path, "there is no such folder")
    try:
        with open(path, "rb") as file:
            begin = file.read(len(BEGIN))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise errors.run_not_written(path, error.strerror) from None
    if begin and begin != BEGIN:
        raise errors.no_run_file(path)
    return bool(begin)


def _copy(path: Path, copy: sqlite3.Connection) -> None:
    """Copy a database without changing it or what lies beside it."""
    log = path.with_name(f"{path.name}-wal")
    if not (log.exists() and log.stat().st_size > 0):  # nobody is writing, nobody was killed
        _back_up(path, "immutable=1", copy)
        return
    try:
        _back_up(path, "mode=ro", copy)
    except sqlite3.OperationalError:  # reading a log takes a file beside it, as SQLite does it
        with tempfile.TemporaryDirectory(prefix="covary-") as folder:
            for each in (path, log):
                shutil.copy(each, folder)
            _back_up(Path(folder) / path.name, "mode=rw", copy)


def _back_up(path: Path, mode: str, copy: sqlite3.Connection) -> None:
    address = f"{path.as_uri()}?{mode}"
    with closing(sqlite3.connect(address, timeout=PATIENCE_SECONDS, uri=True)) as there:
        there.execute("PRAGMA trusted_schema = OFF")
        there.backup(copy)


# What SQLite says when a file cannot be written, and what that means to a user.
_NOT_WRITTEN = {
    "full": "the disk is full; what was written before is kept, make room and resume",
    "locked": "another program is using it",
    "unable to open": "the folder cannot be written to",
    "readonly": "it cannot be written to",
    "disk I/O": "the disk reports an error, or is full; what was written before is kept",
}


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what SQLite raises into one line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        for words, meaning in _NOT_WRITTEN.items():
            if words in str(error):
                raise errors.run_not_written(path, meaning) from None
        if "not a database" in str(error):
            raise errors.no_run_file(path) from None
        raise errors.damaged_run(path, error) from None
    except UnicodeDecodeError:
        raise errors.damaged_run(path, "some of its text is none") from None


def _different_table(rows: Any, columns: list[tuple[str, str]], description: Description) -> str:
    """Return in words how the tables differ, or nothing."""
    names = [name for name, _ in columns]
    here = [name for name, _ in description.columns]
    if rows != description.rows:
        return f"its table has {rows} rows and this one {description.rows}"
    if names != here:
        for name in here:
            if name not in names:
                return f"its table has no column '{name}'"
        for name in names:
            if name not in here:
                return f"its table has a column '{name}', which is not here"
        return "its table has the columns in another order"
    for theirs, ours in zip(columns, description.columns, strict=True):
        if theirs != tuple(ours):
            return f"its column '{ours[0]}' holds other values"
    return ""


def _different_parameters(facts: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """Return in words how the parameters differ, or nothing."""
    for name, value in parameters.items():
        ours = json.loads(json.dumps(value))
        theirs = facts.get(name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            inner = _different_parameters(theirs, ours)
            if inner:
                return inner
        if theirs != ours:
            return f"{name} is {_shown(theirs)} there and {_shown(ours)} here"
    return ""


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, (str, dict)) else json.dumps(value)


def _list_of_numbers(text: object) -> list[int] | None:
    """Return a list of whole numbers that was written as text, or None if it is none."""
    try:
        numbers = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(numbers, list) and all(type(number) is int for number in numbers)
    return numbers if is_list else None


def _is_among(number: object, least: int, most: int) -> bool:
    return isinstance(number, int) and least <= number <= most


def _is_number(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
