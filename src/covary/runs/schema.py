"""The tables of a run file. Files of the first release have the same format, without `tasks`."""

from __future__ import annotations

import os
import sqlite3

from covary import errors

APPLICATION_ID = 0x636F7679  # "covy"
FORMAT = 2

# The tables that can stay empty come first. A truncated file then always lacks some data, so that
# the damage is detected.
SCHEMA = {
    "run": "CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "columns": "CREATE TABLE columns "
    "(position INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL)",
    "permutations": "CREATE TABLE permutations "
    "(number INTEGER, rank INTEGER, evidence REAL NOT NULL, PRIMARY KEY (number, rank)) "
    "WITHOUT ROWID",
    "increments": "CREATE TABLE increments "
    "(columns TEXT PRIMARY KEY, pvalue REAL NOT NULL) WITHOUT ROWID",
    # Only in files of version 0.2.0 and older.
    "shuffled": "CREATE TABLE shuffled "
    "(number INTEGER PRIMARY KEY, scored INTEGER NOT NULL, highest REAL NOT NULL, "
    "counts TEXT NOT NULL)",
    "tasks": "CREATE TABLE tasks "
    "(call INTEGER, first INTEGER, items TEXT NOT NULL, sizes BLOB NOT NULL, "
    "results BLOB NOT NULL, PRIMARY KEY (call, first)) WITHOUT ROWID",
    "candidates": "CREATE TABLE candidates "
    "(number INTEGER PRIMARY KEY, columns TEXT NOT NULL, score REAL NOT NULL)",
    "subspaces": "CREATE TABLE subspaces "
    "(rank INTEGER PRIMARY KEY, columns TEXT NOT NULL, score REAL NOT NULL, evidence REAL, "
    "pvalue REAL, qvalue REAL, family_pvalue REAL, increment_pvalue REAL)",
}

# Tables that older files do not have.
LATER_TABLES = ("tasks",)

INSERT = {
    "tasks": "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)",
    "candidates": "INSERT OR REPLACE INTO candidates VALUES (?, ?, ?)",
    "permutations": "INSERT OR REPLACE INTO permutations VALUES (?, ?, ?)",
    "increments": "INSERT OR REPLACE INTO increments VALUES (?, ?)",
}


def read_schema(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the SQL statement of every table, index, view and trigger."""
    return dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())


def create_tables(connection: sqlite3.Connection) -> None:
    """Create empty tables and mark the database as a run file."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in SCHEMA.values():
        connection.execute(statement)


def lacks_later_tables(connection: sqlite3.Connection) -> bool:
    """Return whether a file is older than some of the tables."""
    return not set(LATER_TABLES) <= set(read_schema(connection))


def add_later_tables(connection: sqlite3.Connection) -> None:
    """Create the tables that an older file does not have."""
    found = read_schema(connection)
    for name in LATER_TABLES:
        if name not in found:
            connection.execute(SCHEMA[name])


def check_format(path: str | os.PathLike[str], connection: sqlite3.Connection) -> None:
    """Raise an error if a database is not an intact run file of this format."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise errors.not_a_run_file(path)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        raise errors.run_of_other_format(path, version, FORMAT)
    found = read_schema(connection)
    required = {name: text for name, text in SCHEMA.items() if name not in LATER_TABLES}
    if not (required.items() <= found.items() <= SCHEMA.items()):
        raise errors.damaged_run(path, "its tables are not those of a run file")
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise errors.damaged_run(path, "its pages are inconsistent")
