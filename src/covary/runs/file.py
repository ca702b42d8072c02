"""The run file of a search: an SQLite database that a killed process does not damage."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Columns, ColumnSets, Floats, Integers
from covary.runs.comparison import (
    SEARCH,
    RunDescription,
    parameter_difference,
    table_difference,
)
from covary.runs.database import connect, copy_database, database_exists, use_write_ahead_log
from covary.runs.schema import (
    INSERT,
    add_later_tables,
    check_format,
    create_tables,
    lacks_later_tables,
    read_schema,
)
from covary.runs.sqlite_errors import sqlite_errors_translated

# Scores are written at most this often, when further scores arrive. A killed process loses the
# scores since the last write; the file is not damaged.
COMMIT_SECONDS = 0.25

# Files of these versions can be read, but not resumed: the scores of this version differ.
READABLE_VERSIONS = ("0.1.0",)


class RunFile:
    """An open run file.

    A candidate is a set of columns that the search scores. Candidates are numbered in the order in
    which the search proposes them. This order is the same every time.

    Parameters
    ----------
    path : the path of the file
    connection : a connection to the database
    bounds : the lowest and the highest valid score
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
        self._unwritten: dict[str, list[tuple[Any, ...]]] = {}
        self._last_write = time.monotonic()

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], description: RunDescription, *, resume: bool
    ) -> RunFile:
        """Return the run file of a search.

        Parameters
        ----------
        path : the path of the file
        description : the search
        resume : whether to use an existing file of the same search
        """
        if database_exists(path) and not resume:
            raise errors.run_exists(path)
        with sqlite_errors_translated(path):
            run = cls(path, connect(path), description.bounds)
            try:
                run._prepare(description)
            except BaseException:
                run.connection.close()
                raise
        return run

    @classmethod
    def lacks(cls, path: str | os.PathLike[str], name: str) -> bool:
        """Return whether there is a run file that does not have a parameter."""
        if not database_exists(path):
            return False
        with sqlite_errors_translated(path), closing(connect(path)) as connection:
            if "run" not in read_schema(connection):
                return False
            found = connection.execute("SELECT count(*) FROM run WHERE name = ?", (name,))
            return bool(found.fetchone()[0] == 0)

    @classmethod
    @contextmanager
    def read(cls, path: str | os.PathLike[str]) -> Iterator[RunFile]:
        """Open a copy of a run file in memory; the file is not changed."""
        if not os.path.isfile(path) or not database_exists(path):
            raise errors.no_such_run(path)
        copy = sqlite3.connect(":memory:", isolation_level=None)
        with closing(copy), sqlite_errors_translated(path):
            copy_database(Path(path).absolute(), copy)
            copy.execute("PRAGMA trusted_schema = OFF")
            check_format(path, copy)
            yield cls(path, copy, (-math.inf, math.inf))

    def _prepare(self, description: RunDescription) -> None:
        self.connection.execute("PRAGMA trusted_schema = OFF")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        if not read_schema(self.connection):
            with self._transaction():
                # Another process may have created the tables in the meantime.
                if not read_schema(self.connection):
                    create_tables(self.connection)
                    self._describe(description)
        check_format(self.path, self.connection)
        if difference := self.difference(description):
            raise errors.run_differs(self.path, difference)
        if lacks_later_tables(self.connection):
            with self._transaction():
                add_later_tables(self.connection)
        use_write_ahead_log(self.connection)

    def _describe(self, description: RunDescription) -> None:
        facts = {
            **description.parameters,
            "kind": description.kind,
            "rows": description.rows,
            "versions": dict(description.versions),
            "table": description.source,
            "left_out": [list(each) for each in description.left_out],
            "started": _now(),
        }
        for name, value in facts.items():
            self._write_fact(name, value)
        self.connection.executemany(
            "INSERT INTO columns VALUES (?, ?, ?)",
            [(position, *column) for position, column in enumerate(description.columns)],
        )

    # ------------------------------------------------------------ the search

    def difference(self, description: RunDescription, only_read: bool = False) -> str:
        """Return the first difference from another search as text; "" if there is none.

        Raises an error if the file is damaged or from another version. If it is only read, and the
        version is one whose files can be read, it warns.
        """
        facts = self.facts()
        if facts.get("kind", SEARCH) != description.kind:
            raise errors.run_of_other_kind(self.path, facts.get("kind", SEARCH), description.kind)
        required = {*description.parameters} - {*description.defaults} | {"rows", "versions"}
        if required.difference(facts) or not isinstance(facts["versions"], dict):
            raise errors.run_without_search(self.path)
        version, this_version = facts["versions"].get("covary"), description.versions["covary"]
        if version != this_version and not (only_read and version in READABLE_VERSIONS):
            raise errors.run_of_other_version(self.path, version, this_version)
        if version != this_version:
            errors.warn(errors.run_shown_by_other_version(self.path, version, this_version))
        difference = table_difference(facts["rows"], self.columns(), description)
        if only_read:  # the parameters come from the file
            return difference
        return difference or parameter_difference(
            facts, description.parameters, description.defaults
        )

    def columns(self) -> list[tuple[str, str]]:
        """Return the name and the fingerprint of every column."""
        query = "SELECT name, fingerprint FROM columns ORDER BY position"
        return [(str(name), str(fingerprint)) for name, fingerprint in self._select(query)]

    def facts(self) -> dict[str, Any]:
        """Return the parameters of the search, the number of rows, the versions and the times."""
        try:
            return {
                str(name): json.loads(value)
                for name, value in self.connection.execute("SELECT name, value FROM run")
            }
        except (ValueError, TypeError, RecursionError):
            raise errors.damaged_run(self.path, "its parameters cannot be read") from None

    def _write_fact(self, name: str, value: Any) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO run VALUES (?, ?)", (name, json.dumps(value, sort_keys=True))
        )

    # ------------------------------------------------------------ scores

    def stored_scores(self, first: int, sets: ColumnSets) -> Floats:
        """Return the scores of candidates, NaN for those without a stored score.

        Parameters
        ----------
        first : the number of the first candidate
        sets : the columns of this candidate and of those that follow
        """
        scores = np.full(len(sets), np.nan)
        query = "SELECT number, columns, score FROM candidates WHERE number >= ? AND number < ?"
        for number, columns, score in self._select(query, (first, first + len(sets))):
            if columns != str(sets[number - first].tolist()) or not self._is_score(score):
                reason = f"candidate {number} has other columns or an invalid score"
                raise errors.damaged_run(self.path, reason)
            scores[number - first] = score
        return scores

    def _is_score(self, score: object) -> bool:
        """Return whether a value lies within the bounds of the measure, up to rounding."""
        lowest, highest = self.bounds
        return _is_finite(score) and lowest - 1e-9 <= score <= highest + 1e-9  # type: ignore[operator]

    def store_scores(self, numbers: Integers, sets: ColumnSets, scores: Floats) -> None:
        """Store the scores of candidates.

        They are written at most every `COMMIT_SECONDS`, when further scores arrive.
        """
        columns = map(str, sets.tolist())
        self._insert("candidates", zip(numbers.tolist(), columns, scores.tolist(), strict=True))

    def store_best_sets(self, best: Sequence[tuple[Sequence[int], float]]) -> None:
        """Write the best sets with their scores, best first.

        Stored p-values are kept. The search and its ranking are deterministic, so a rank always
        has the same set.
        """
        self.flush()
        with self._transaction():
            self.connection.execute("DELETE FROM subspaces WHERE rank > ?", (len(best),))
            self.connection.executemany(
                "INSERT INTO subspaces (rank, columns, score) VALUES (?, ?, ?) "
                "ON CONFLICT (rank) DO UPDATE "
                "SET columns = excluded.columns, score = excluded.score",
                [(rank, str(list(c)), score) for rank, (c, score) in enumerate(best, start=1)],
            )

    # ------------------------------------------------------------ tests

    def begin_tests(self, parameters: Mapping[str, Any]) -> None:
        """Write the parameters of the tests; raise an error if the file has other ones."""
        with sqlite_errors_translated(self.path):
            stored = self.facts().get("tests")
        if stored is None:
            with self._transaction():
                self._write_fact("tests", parameters)
                self.connection.execute("DELETE FROM run WHERE name = 'finished'")
        elif not isinstance(stored, dict):
            raise errors.run_without_tests(self.path)
        elif difference := parameter_difference(stored, parameters):
            raise errors.run_differs(self.path, difference)

    def stored_permutations(self, maximum: int, n_sets: int) -> Floats:
        """Return the evidence of each set on each permuted table, NaN where none is stored.

        Parameters
        ----------
        maximum : the maximum number of permutations
        n_sets : the number of tested sets

        Returns
        -------
        An array of (permutations, sets), up to the last stored permutation.
        """
        last = self._select("SELECT MAX(number) FROM permutations")[0][0]
        n_stored = last + 1 if _is_between(last, 0, maximum - 1) else 0
        evidence = np.full((n_stored, n_sets), np.nan)
        for number, rank, value in self._iterate(
            "SELECT number, rank, evidence FROM permutations"
        ):
            valid = _is_between(number, 0, n_stored - 1) and _is_between(rank, 1, n_sets)
            if not (valid and _is_finite(value)):
                raise errors.damaged_run(self.path, "a permutation has an invalid value")
            evidence[number, rank - 1] = value
        return evidence

    def store_permutations(
        self, numbers: Sequence[int], sets: Sequence[int], evidence: Floats
    ) -> None:
        """Store the evidence of sets on permuted tables.

        Parameters
        ----------
        numbers : the numbers of the permutations
        sets : the positions of the sets, from 0
        evidence : an array of (permutations, sets)
        """
        self._insert(
            "permutations",
            (
                (number, position + 1, value)
                for number, values in zip(numbers, evidence.tolist(), strict=True)
                for position, value in zip(sets, values, strict=True)
            ),
        )

    def stored_increments(self) -> dict[Columns, float]:
        """Return the stored increment p-values of sets."""
        pvalues = {}
        for text, value in self._select("SELECT columns, pvalue FROM increments"):
            columns = _parse_integers(text)
            if columns is None or not (_is_finite(value) and 0.0 <= value <= 1.0):
                raise errors.damaged_run(self.path, "an increment has an invalid value")
            pvalues[tuple(columns)] = value
        return pvalues

    def store_increments(self, pvalues: Mapping[Columns, float]) -> None:
        """Store the increment p-values of sets."""
        self._insert("increments", [(str(list(c)), value) for c, value in pvalues.items()])

    def finished_tests(self, n_sets: int) -> list[tuple[float, float]]:
        """Return q-value and family-wise p-value of every best set; empty if unfinished."""
        query = "SELECT qvalue, family_pvalue FROM subspaces ORDER BY rank"
        rows = self._select(query) if "finished" in self.facts() else []
        known = len(rows) == n_sets and all(p is not None for row in rows for p in row)
        if not known:
            return []
        if not all(_is_finite(p) and 0.0 <= p <= 1.0 for row in rows for p in row):
            raise errors.damaged_run(self.path, "a set has an invalid p-value")
        return [(float(q), float(family)) for q, family in rows]

    # ------------------------------------------------------------ tasks

    def stored_results(self, call: int) -> list[tuple[int, str, bytes, bytes]]:
        """Return the stored results of one call, see `covary.runs.tasks`."""
        query = "SELECT first, items, sizes, results FROM tasks WHERE call = ?"
        rows = self._select(query, (call,)) if self._has_tasks() else []
        for first, items, sizes, results in rows:
            valid = _is_between(first, 0, sys.maxsize) and isinstance(items, str)
            if not (valid and isinstance(sizes, bytes) and isinstance(results, bytes)):
                raise errors.damaged_run(self.path, "a task has an invalid result")
        return rows

    def _has_tasks(self) -> bool:
        return "tasks" in read_schema(self.connection)

    def store_results(self, call: int, first: int, items: str, sizes: bytes, data: bytes) -> None:
        """Store the results of some items of a call."""
        self._insert("tasks", [(call, first, items, sizes, data)])

    def finish(self, rows: Sequence[tuple[float | None, ...]] = ()) -> None:
        """Write the results of the tests.

        Mark the search as finished, unless tests are pending.

        Parameters
        ----------
        rows : for every best set its evidence, p-value, q-value, family-wise p-value and increment
            p-value; empty if it was not tested
        """
        self.flush()
        with self._transaction():
            self.connection.executemany(
                "UPDATE subspaces SET evidence = ?, pvalue = ?, qvalue = ?, family_pvalue = ?, "
                "increment_pvalue = ? WHERE rank = ?",
                [(*row, rank) for rank, row in enumerate(rows, start=1)],
            )
            if rows or "tests" not in self.facts():
                self._write_fact("finished", _now())

    # ------------------------------------------------------------ the database

    def flush(self) -> None:
        """Write all stored values to disk."""
        if self._unwritten:
            with self._transaction():
                for table, rows in self._unwritten.items():
                    self.connection.executemany(INSERT[table], rows)
            self._unwritten = {}
        self._last_write = time.monotonic()

    def close(self) -> None:
        """Write all stored values to disk and close the file."""
        try:
            self.flush()
        finally:
            self.connection.close()

    def _insert(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table. They are written together with others, which is faster."""
        if new := list(rows):
            self._unwritten.setdefault(table, []).extend(new)
        if time.monotonic() - self._last_write > COMMIT_SECONDS:
            self.flush()

    def _select(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with sqlite_errors_translated(self.path):
            return self.connection.execute(query, values).fetchall()

    def _iterate(self, query: str) -> Iterator[Any]:
        """Yield the rows of a large table one by one, to save memory."""
        with sqlite_errors_translated(self.path):
            yield from self.connection.execute(query)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write everything or, after an exception, nothing."""
        with sqlite_errors_translated(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def _parse_integers(text: object) -> list[int] | None:
    """Return a list of integers from JSON text, None if the text is something else."""
    try:
        numbers = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(numbers, list) and all(type(number) is int for number in numbers)
    return numbers if is_list else None


def _is_between(number: object, lowest: int, highest: int) -> bool:
    return isinstance(number, int) and lowest <= number <= highest


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
