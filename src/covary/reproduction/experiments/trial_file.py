"""SQLite file with the results of trials."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from covary import __version__, errors
from covary.reproduction.experiments.base import Result


class TrialRecord(NamedTuple):
    """Result of a trial, with its processor time in seconds, date and machine."""

    result: Result
    seconds: float
    date: str
    machine: str


class TrialFile:
    """SQLite file with the results of trials. Several runs can use it at the same time.

    Parameters
    ----------
    path : of the file; a missing file is created
    seed : of the trials; a file with another seed or of another version of covary is an error
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        with self._open() as file:
            file.execute("CREATE TABLE IF NOT EXISTS facts (covary TEXT, seed INTEGER)")
            file.execute(
                "CREATE TABLE IF NOT EXISTS trials (trial TEXT PRIMARY KEY, result TEXT NOT NULL, "
                "seconds REAL NOT NULL, date TEXT NOT NULL, machine TEXT NOT NULL)"
            )
            file.execute(
                "INSERT INTO facts SELECT ?, ? WHERE NOT EXISTS (SELECT * FROM facts)",
                (__version__, seed),
            )
            version_and_seed = file.execute("SELECT covary, seed FROM facts").fetchone()
            if version_and_seed != (__version__, seed):
                raise errors.other_trials(path, *version_and_seed)

    def read(self) -> dict[str, TrialRecord]:
        """Return all records by trial."""
        with self._open() as file:
            rows = file.execute("SELECT trial, result, seconds, date, machine FROM trials")
            return {trial: TrialRecord(json.loads(result), *rest) for trial, result, *rest in rows}

    def write(self, records: Mapping[str, TrialRecord]) -> None:
        """Save the records of some trials."""
        rows = [
            (trial, json.dumps(record.result, allow_nan=False), *record[1:])
            for trial, record in records.items()
        ]
        with self._open() as file:
            file.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as file, file:
                yield file
        except sqlite3.OperationalError as error:  # a full disk or a missing folder
            raise errors.unwritable(self.path, error) from None
        except (sqlite3.DatabaseError, ValueError):
            raise errors.no_trials(self.path) from None
