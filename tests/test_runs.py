"""Run files: killed, interrupted, damaged, crowded or taken for another search's."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from covary import api
from covary.cli.main import _run
from covary.errors import RunError
from covary.runs import Description, RunFile

PATIENCE = 60  # seconds after which a process that should have ended is given up


def dependent_table(path, rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, columns))
    values += 0.5 * rng.normal(size=values.shape)
    names = ",".join(f"c{k}" for k in range(columns))
    np.savetxt(path, values, delimiter=",", fmt="%.5f", header=names, comments="")
    return path


def covary(*arguments):
    """Run the command line in this process: (exit code, stdout, stderr)."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["covary", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = _run()
    return code, out.getvalue(), err.getvalue()


def start(*arguments):
    """Start the command line in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "covary", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def run_to_the_end(*arguments):
    process = start(*arguments)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


TESTED = ("permutations", "increments", "shuffled")
TABLES = ("run", "columns", "candidates", "subspaces", *TESTED)


def contents(path):
    """Return every row of a run file but the time stamps; not to be told that it was read."""
    copy = Path(path).with_name("contents-of-" + Path(path).name)
    for suffix in ("", "-wal"):
        if os.path.exists(f"{path}{suffix}"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    rows = {}
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        for table in TABLES:
            rows[table] = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
    rows["run"] = [row for row in rows["run"] if row[0] not in ("started", "finished")]
    return rows


def n_candidates(path):
    try:
        return len(contents(path)["candidates"])
    except sqlite3.Error:  # not created yet
        return 0


def change(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def traces(path):
    return [suffix for suffix in ("-wal", "-shm", "-journal") if os.path.exists(f"{path}{suffix}")]


def assert_refused(answer, *words):
    code, out, err = answer
    assert code == 1
    assert out == ""
    assert err.startswith("covary: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for word in words:
        assert word in err


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A beam search of a moment: how to run it, what it prints, its finished run file."""
    folder = tmp_path_factory.mktemp("small")
    table = dependent_table(folder / "table.csv", 150, 7)
    search = ["search", table, "--max-size", "4", "--jobs", "1", "--json", "--resume", "--run"]
    path = folder / "small.covary"
    code, out, err = covary(*search, path)
    assert (code, err) == (0, "")
    return SimpleNamespace(
        table=table, search=search, path=path, out=out, raw=path.read_bytes(), rows=contents(path)
    )


@pytest.fixture
def run(small, tmp_path):
    """A copy of the finished run file, to be spoiled."""
    return Path(shutil.copy(small.path, tmp_path / "run.covary"))


@pytest.fixture
def half(run):
    """A run file of which every second candidate is not there yet."""
    change(
        run,
        "DELETE FROM candidates WHERE number % 2 = 1",
        "DELETE FROM subspaces",
        "DELETE FROM run WHERE name = 'finished'",
    )
    return run


def assert_resumes(small, path):
    assert covary(*small.search, path) == (0, small.out, "")
    assert contents(path) == small.rows


# ---------------------------------------------------------------- killed


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A search of some seconds, and what it finds undisturbed."""
    folder = tmp_path_factory.mktemp("big")
    table = dependent_table(folder / "table.csv", 1500, 25, seed=1)
    search = [
        "search",
        table,
        "-m",
        "uds",
        "--strategy",
        "exhaustive",
        "--max-size",
        "4",
        "--json",
    ]
    path = folder / "undisturbed.covary"
    code, out, _ = covary(*search, "--jobs", "2", "--run", path)
    assert code == 0
    return SimpleNamespace(table=table, search=search, path=path, out=out, rows=contents(path))


def kill_and_resume(folder, search, moments):
    """Kill a search at moments (1 is its length), resume it, compare with the undisturbed one.

    Every other time it is killed as soon as it has written scores: clocks tell little about a
    machine that others use too. Return how many kills came before its end, and how many of them
    in the middle of the scoring.
    """
    table = dependent_table(folder / "table.csv", 1500, 25, seed=1)
    search = ["search", table, "--jobs", "1", "--json", "-m", "uds", *search, "--run"]
    begin = time.monotonic()
    code, undisturbed, _ = run_to_the_end(*search, folder / "undisturbed.covary")
    length = time.monotonic() - begin
    assert code == 0
    rows = contents(folder / "undisturbed.covary")
    path = folder / "run.covary"
    counts = [0]
    for attempt, moment in enumerate(moments):
        process = start(*search, path, "--resume")
        begin = time.monotonic()
        while process.poll() is None:
            if attempt % 2 == 0:
                due = n_candidates_seen(path) > counts[-1]
            else:
                due = time.monotonic() - begin > moment * length
            if due:
                process.kill()
            time.sleep(0.005)
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
        if process.returncode != 0:
            counts.append(n_candidates(path))
    code, out, _ = run_to_the_end(*search, path, "--resume")
    assert code == 0
    assert out == undisturbed
    assert contents(path) == rows
    assert counts == sorted(counts), "a kill lost what an earlier one had left"
    return len(counts) - 1, sum(0 < count < len(rows["candidates"]) for count in counts)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_search_that_is_killed_again_and_again_ends_as_if_undisturbed(tmp_path):
    search = ["--strategy", "exhaustive", "--max-size", "4"]
    moments = np.random.default_rng(15).uniform(0, 1, 5)
    n_kills, in_the_middle = kill_and_resume(tmp_path, search, moments)
    assert n_kills >= 2
    assert in_the_middle >= 1, "this tested nothing"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("measure", ["uds", "uds-chance"])
@pytest.mark.parametrize("strategy", ["exhaustive", "beam"])
def test_a_search_that_is_killed_thirty_times_ends_as_if_undisturbed(tmp_path, strategy, measure):
    # Many short lives: few of them come to the end.
    search = ["-m", measure, "--strategy", strategy, "--max-size", "5"]
    search += ["--beam", "2000", "--parents", "one"] if strategy == "beam" else []
    moments = np.random.default_rng(5).uniform(0, 0.35, 30)
    n_kills, in_the_middle = kill_and_resume(tmp_path, search, moments)
    assert n_kills >= 15
    assert in_the_middle >= 5, "this tested little"


KILLED_AT_EVERY_STATEMENT = """
import os, signal, sqlite3, sys
import covary
from concurrent.futures import Future
from contextlib import nullcontext
from covary.engines import Engine, Session
from covary.engines.base import timed
from covary.measures import find_measure
from covary.searching import plan_search
from covary.strategies import find_strategy

class Here(Engine, Session):
    # Without threads, which do not survive a fork.

    def session(self, shared):
        self.shared = shared
        return nullcontext(self)

    def submit(self, task, items):
        future = Future()
        future.set_result(timed(task, self.shared, items))
        return future

table, folder = sys.argv[1:]
covary.score(table)
search = plan_search(
    table, measure=find_measure("uds-chance"), strategy=find_strategy("beam", max_size=4)
)

def child(most):
    connect = sqlite3.connect
    def watched(*arguments, **options):
        connection = connect(*arguments, **options)
        left = most
        def count(statement):
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        connection.set_trace_callback(count)
        return connection
    sqlite3.connect = watched
    with search.kept_in(os.path.join(folder, f"{most}.covary"), resume=True) as kept:
        search.run(Here(1), kept)

for most in [*range(30), *range(30, 500, 3)]:
    process = os.fork()
    if process == 0:
        try:
            child(most)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(process, 0)[1]
    if not os.WIFSIGNALED(status):
        sys.exit(status != 0)
    print(most)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_statement_a_run_file_can_be_resumed(tmp_path):
    table = dependent_table(tmp_path / "table.csv", 120, 4)
    script = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STATEMENT, table, tmp_path],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    killed_at = script.stdout.split()
    assert len(killed_at) > 30
    search = ["search", table, "--max-size", "4", "--jobs", "1", "--json", "--resume", "--run"]
    code, out, _ = covary(*search, tmp_path / "undisturbed.covary")
    assert code == 0
    rows = contents(tmp_path / "undisturbed.covary")
    there = set()
    for statement in killed_at:
        path = tmp_path / f"{statement}.covary"
        there.add(n_candidates(path))
        assert covary(*search, path) == (0, out, ""), f"killed at statement {statement}"
        assert contents(path) == rows, f"killed at statement {statement}"
    assert 0 in there
    assert max(there) == 11


def test_a_log_without_its_run_file_does_no_harm(small, half, tmp_path):
    with contextlib.closing(sqlite3.connect(half, isolation_level=None)) as connection:
        connection.execute("UPDATE candidates SET score = 1")
        shutil.copy(f"{half}-wal", tmp_path / "new.covary-wal")
    assert_resumes(small, tmp_path / "new.covary")


# ---------------------------------------------------------------- another search

OTHER_PARAMETERS = [
    (["--max-size", "3"], "max_size is 4 there and 3 here"),
    (["--beam", "7"], "beam is 100 there and 7 here"),
    (["--parents", "one"], "parents is all there and one here"),
    (["--measure", "uds-unregularized"], "measure is uds-chance there and uds-unregularized here"),
    (["--set", "max_given=1"], "max_given is 2 there and 1 here"),
    (["--top", "5"], "top is 100 there and 5 here"),
    (["--target", "c2"], "target is null there and c2 here"),
    (["--prune"], "prune is false there and true here"),
    (["--strategy", "4s"], "strategy is beam there and 4s here"),
    (["--columns", "c0,c1,c2"], "a column 'c3', which is not here"),
]


@pytest.mark.parametrize(("more", "difference"), OTHER_PARAMETERS)
def test_other_parameters_are_refused_and_named(small, half, more, difference):
    before = half.read_bytes()
    assert_refused(covary(*small.search, half, *more), str(half), "another search", difference)
    assert half.read_bytes() == before
    assert traces(half) == []
    assert_resumes(small, half)


def test_another_strategy_that_counts_its_sets_is_refused_in_one_line(small, half):
    before = half.read_bytes()
    answer = covary(*small.search, half, "--strategy", "exhaustive")
    assert_refused(answer, "strategy is beam there and exhaustive here")
    assert half.read_bytes() == before


def without_a_row(cells):
    return np.delete(cells, 17, axis=0)


def with_another_row(cells):
    return np.vstack([cells, cells[17]])


def without_a_column(cells):
    return np.delete(cells, 6, axis=1)


def with_another_column(cells):
    return np.hstack([cells, np.char.replace(cells[:, :1], "c0", "c7")])


def with_a_renamed_column(cells):
    return np.char.replace(cells, "c3", "fourth")


def with_another_value(cells):
    cells = cells.copy()
    cells[17, 5] = "0.12345"
    return cells


def with_a_missing_value(cells):
    cells = cells.copy()
    cells[17, 5] = ""
    return cells


def with_columns_in_another_order(cells):
    return cells[:, [1, 0, 2, 3, 4, 5, 6]]


def with_rows_in_another_order(cells):
    return np.vstack([cells[:1], cells[:0:-1]])


OTHER_TABLES = [
    (without_a_row, "150 rows and this one 149"),
    (with_another_row, "150 rows and this one 151"),
    (without_a_column, "a column 'c6', which is not here"),
    (with_another_column, "no column 'c7'"),
    (with_a_renamed_column, "no column 'fourth'"),
    (with_another_value, "column 'c5' holds other values"),
    (with_a_missing_value, "column 'c5' holds other values"),
    (with_columns_in_another_order, "columns in another order"),
    (with_rows_in_another_order, "column 'c0' holds other values"),
]


@pytest.mark.parametrize(("changed", "difference"), OTHER_TABLES)
def test_another_table_is_refused_and_named(small, half, tmp_path, changed, difference):
    cells = np.array([line.split(",") for line in small.table.read_text().split()])
    other = tmp_path / "other.csv"
    other.write_text("\n".join(map(",".join, changed(cells).tolist())) + "\n")
    before = half.read_bytes()
    search = [other if word is small.table else word for word in small.search]
    assert_refused(covary(*search, half), "another search", difference)
    assert half.read_bytes() == before
    assert traces(half) == []
    assert_resumes(small, half)


def test_the_same_table_in_another_file_and_notation_resumes(small, half, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(small.table.read_text().replace(",", ";"))
    search = [other if word is small.table else word for word in small.search]
    assert covary(*search, half) == (0, small.out, "")


def test_a_killed_search_is_refused_to_another_one_and_still_resumes(small, half, tmp_path):
    killed = tmp_path / "killed.covary"
    with contextlib.closing(sqlite3.connect(half, isolation_level=None)) as connection:
        connection.execute("DELETE FROM candidates WHERE number > 30")
        for suffix in ("", "-wal"):
            shutil.copy(f"{half}{suffix}", f"{killed}{suffix}")
    before = contents(killed)
    assert 0 < len(before["candidates"]) <= 31
    assert_refused(covary(*small.search, killed, "--top", "5"), "top is 100 there and 5 here")
    assert contents(killed) == before
    assert_resumes(small, killed)


def test_a_run_of_another_version_is_refused(small, half):
    change(half, "UPDATE run SET value = '{\"covary\": \"0.0.1\"}' WHERE name = 'versions'")
    before = half.read_bytes()
    assert_refused(covary(*small.search, half), "written by covary 0.0.1")
    assert half.read_bytes() == before


# ---------------------------------------------------------------- there, or not there


def test_a_run_file_is_not_overwritten(small, run):
    search = [word for word in small.search if word != "--resume"]
    assert_refused(covary(*search, run), str(run), "is there already", "--resume")
    assert run.read_bytes() == small.raw


@pytest.mark.parametrize("empty", [False, True])
def test_resume_starts_a_run_that_is_not_there_yet(small, tmp_path, empty):
    path = tmp_path / "new.covary"
    if empty:
        path.touch()
    assert_resumes(small, path)
    assert traces(path) == []


def test_resume_without_run_is_misuse(small):
    code, out, err = covary("search", small.table, "--resume")
    assert code == 2
    assert out == ""
    assert "--resume needs --run" in err


def test_a_finished_run_is_not_computed_again(small, run, monkeypatch):
    def compute(*arguments):
        pytest.fail("computed again")

    monkeypatch.setattr("covary.measures.strengths.StrengthScorer.score", compute)
    assert_resumes(small, run)


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_a_name_that_sqlite_keeps_nothing_under_is_no_run_file(small, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, err = covary("search", small.table, "--run", name)
    assert (code != 0 and err != "") or (tmp_path / name).is_file()


# ---------------------------------------------------------------- damaged

NESTED = "[" * 900 + "]" * 900

REFUSED_DAMAGE = {
    "a dropped table": ["DROP TABLE subspaces"],
    "a renamed table": ["ALTER TABLE candidates RENAME TO candidate"],
    "an extra table": ["CREATE TABLE notes (note TEXT)"],
    "an extra column": ["ALTER TABLE candidates ADD COLUMN note"],
    "an extra index": ["CREATE INDEX by_score ON candidates (score)"],
    "a view": ["CREATE VIEW best AS SELECT max(score) FROM candidates"],
    "a trigger": [
        "CREATE TRIGGER cheat AFTER INSERT ON candidates BEGIN "
        "UPDATE candidates SET score = 1 WHERE number = new.number; END"
    ],
    "a trigger with the name of a table": [
        "CREATE TRIGGER candidates AFTER INSERT ON candidates BEGIN "
        "UPDATE candidates SET score = 1 WHERE number = new.number; END"
    ],
    "another application": ["PRAGMA application_id = 17"],
    "another format": ["PRAGMA user_version = 1"],
    "no parameters": ["DELETE FROM run"],
    "a missing parameter": ["DELETE FROM run WHERE name = 'prune'"],
    "a parameter that is not JSON": ["UPDATE run SET value = '{' WHERE name = 'top'"],
    "a parameter of another kind": [
        "UPDATE run SET value = '3' WHERE name = 'measure_parameters'"
    ],
    "versions of another kind": ["UPDATE run SET value = '[1]' WHERE name = 'versions'"],
    "a parameter in bytes": ["UPDATE run SET value = x'ff00fe' WHERE name = 'top'"],
    "a parameter in parameters": [f"UPDATE run SET value = '{NESTED}' WHERE name = 'top'"],
    "a parameter with many digits": [f"UPDATE run SET value = '{'1' * 9999}' WHERE name = 'top'"],
    "a parameter that steers a terminal": [
        "UPDATE run SET value = '\"\\u001b[31m\\n\"' WHERE name = 'measure'"
    ],
    "no columns": ["DELETE FROM columns"],
    "a column name in bytes": ["UPDATE columns SET name = x'ff' WHERE position = 1"],
    "a candidate with other columns": [
        "UPDATE candidates SET columns = '[0, 2]' WHERE number = 0"
    ],
    "candidates with other numbers": [
        "DELETE FROM candidates WHERE number = 5",
        "UPDATE candidates SET number = 5 WHERE number = 6",
    ],
    "columns in bytes": [
        "UPDATE candidates SET columns = CAST(columns AS BLOB) WHERE number = 3"
    ],
    "columns that are no text": ["UPDATE candidates SET columns = x'ff' WHERE number = 3"],
    "a score that is text": ["UPDATE candidates SET score = 'high' WHERE number = 3"],
    "a score in bytes": ["UPDATE candidates SET score = x'00' WHERE number = 3"],
    "a score that is NULL": [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'score REAL NOT NULL', 'score REAL')",
        "PRAGMA writable_schema = RESET",
        "UPDATE candidates SET score = NULL WHERE number = 3",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'score REAL', 'score REAL NOT NULL')",
    ],
    "tables in each other's place": [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT sum(rootpage) FROM sqlite_master "
        "WHERE name IN ('candidates', 'subspaces')) - rootpage "
        "WHERE name IN ('candidates', 'subspaces')",
    ],
}  # fmt: skip


@pytest.mark.parametrize("statements", REFUSED_DAMAGE.values(), ids=REFUSED_DAMAGE)
def test_a_damaged_run_file_is_refused_and_left_alone(small, run, statements):
    change(run, *statements)
    before = run.read_bytes()
    assert_refused(covary(*small.search, run), str(run))
    assert run.read_bytes() == before
    assert traces(run) == []


@pytest.mark.parametrize("score", ["9e999", "-9e999", "1e300", "4.6e18"])
@pytest.mark.parametrize("as_json", [True, False])
def test_a_score_that_no_score_can_be_is_refused(small, run, score, as_json):
    change(run, f"UPDATE candidates SET score = {score} WHERE number = 3")
    before = run.read_bytes()
    search = [word for word in small.search if as_json or word != "--json"]
    assert_refused(covary(*search, run), str(run), "candidate 3")
    assert run.read_bytes() == before


HARMLESS_DAMAGE = {
    "candidates deleted here and there": ["DELETE FROM candidates WHERE number % 3 = 1"],
    "candidates deleted in the middle": ["DELETE FROM candidates WHERE number BETWEEN 9 AND 40"],
    "no candidates": ["DELETE FROM candidates"],
    "a result that is wrong": ["UPDATE subspaces SET score = 2"],
    "a result that is too long": [
        "INSERT INTO subspaces (rank, columns, score) VALUES (999, 'nothing', 'high')"
    ],
    "no result": ["DELETE FROM subspaces"],
    "another journal": ["PRAGMA journal_mode = DELETE"],
    "pages in another order": ["VACUUM"],
}


@pytest.mark.parametrize("statements", HARMLESS_DAMAGE.values(), ids=HARMLESS_DAMAGE)
def test_damage_that_does_not_matter_is_made_good(small, run, statements):
    change(run, *statements)
    assert_resumes(small, run)


@pytest.mark.parametrize("number", [-1, -(2**63), 10**6, 2**63 - 1])
def test_candidates_with_numbers_out_of_range_change_nothing(small, run, number):
    change(run, f"INSERT INTO candidates VALUES ({number}, '[0, 1]', 0.999)")
    assert covary(*small.search, run) == (0, small.out, "")


def text_file(path, small):
    path.write_text("this is no run file\n" * 100)


def copy_of_the_table(path, small):
    shutil.copy(small.table, path)


def random_bytes(path, small):
    path.write_bytes(np.random.default_rng(0).bytes(5000))


def zeros(path, small):
    path.write_bytes(b"\0" * 5000)


def two_bytes(path, small):
    path.write_bytes(b"x\n")


def first_words_of_sqlite(path, small):
    path.write_bytes(b"SQLite format 3\0")


def database_of_something_else(path, small):
    change(path, "CREATE TABLE friends (name)", "INSERT INTO friends VALUES ('Ada')")


def other_database_with_a_log(path, small):
    change(path, "PRAGMA journal_mode = WAL", "CREATE TABLE friends (name)")


FOREIGN = [
    text_file,
    copy_of_the_table,
    random_bytes,
    zeros,
    two_bytes,
    first_words_of_sqlite,
    database_of_something_else,
    other_database_with_a_log,
]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("make", FOREIGN)
def test_another_kind_of_file_is_refused_and_left_alone(small, tmp_path, make, resume):
    path = tmp_path / "other.covary"
    make(path, small)
    before = path.read_bytes()
    search = [word for word in small.search if resume or word != "--resume"]
    answer = covary(*search, path)
    assert_refused(answer, str(path))
    assert "is not a run file of covary" in answer[2] or "is there already" in answer[2]
    assert path.read_bytes() == before
    assert traces(path) == []


def test_a_file_of_one_byte_is_left_alone(small, tmp_path):
    path = tmp_path / "other.covary"
    path.write_bytes(b"x")
    assert_refused(covary(*small.search, path), "is not a run file of covary")
    assert path.read_bytes() == b"x"


def test_an_empty_database_is_a_run_that_is_not_there_yet(small, tmp_path):
    path = tmp_path / "empty.covary"
    change(path, "VACUUM")
    assert path.stat().st_size > 0
    assert_resumes(small, path)


def test_the_table_is_not_its_own_run_file(small, tmp_path):
    table = Path(shutil.copy(small.table, tmp_path))
    before = table.read_bytes()
    assert_refused(covary("search", table, "--run", table, "--resume"), "is not a run file")
    assert_refused(covary("search", table, "--run", table), str(table))
    assert table.read_bytes() == before


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("name", ["", "nowhere/run.covary", "file/run.covary", "x" * 300])
def test_a_path_that_cannot_be_a_file_is_refused(small, tmp_path, name, resume):
    (tmp_path / "file").write_text("in the way")
    search = [word for word in small.search if resume or word != "--resume"]
    assert_refused(covary(*search, tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_is_not_told_to_be_resumed(small, tmp_path):
    search = [word for word in small.search if word != "--resume"]
    _, _, err = covary(*search, tmp_path)
    assert "resume it" not in err


def test_a_truncated_run_file_is_refused(small, run):
    for length in [*range(2, 100, 9), 100, 512, 1024, *range(4000, len(small.raw), 991)]:
        run.write_bytes(small.raw[:length])
        assert_refused(covary(*small.search, run), str(run))
        assert run.read_bytes() == small.raw[:length], length
        assert traces(run) == []


def bytes_of_scores(small):
    """Return the places in the file of the scores themselves and of the kind each is stored as."""
    places = set()
    for _, columns, score in small.rows["candidates"]:
        stored = columns.encode() + struct.pack(">d", score)
        at = small.raw.find(stored)
        while at >= 0:
            places.update(range(at + len(columns), at + len(stored)), [at - 1])
            at = small.raw.find(stored, at + 1)
        if score in (0.0, 1.0):  # stored as nothing but their kind
            places.update(
                at - 1
                for at in range(len(small.raw))
                if small.raw.startswith(columns.encode(), at)
            )
    return places


def assert_flips_do_no_harm(small, run, places, seed):
    """Flip one bit in each of the places: refused and left alone, or the right result."""
    rng = np.random.default_rng(seed)
    scores = bytes_of_scores(small)
    refused = 0
    for place in places:
        flipped = bytearray(small.raw)
        flipped[place] ^= 1 << int(rng.integers(8))
        if place in scores:
            continue  # nobody can tell a score from another
        run.write_bytes(flipped)
        answer = covary(*small.search, run)
        if answer[0] == 0:
            assert answer == (0, small.out, ""), f"byte {place}"
        else:
            assert_refused(answer, str(run))
            assert run.read_bytes() == flipped, f"byte {place}"
            refused += 1
        assert traces(run) == []
    return refused


def test_a_bit_flipped_in_the_header_does_no_harm(small, run):
    assert assert_flips_do_no_harm(small, run, range(100), seed=0) > 10


def test_a_bit_flipped_anywhere_does_no_harm(small, run):
    filled = np.flatnonzero(np.frombuffer(small.raw, np.uint8)[4096:]) + 4096
    places = np.random.default_rng(1).choice(filled, 200, replace=False).tolist()
    assert assert_flips_do_no_harm(small, run, places, seed=1) > 40


def test_a_byte_of_the_schema_that_is_no_text_is_refused_in_one_line(small, run):
    for place in range(small.raw.index(b"CREATE"), 4096, 7):
        flipped = bytearray(small.raw)
        flipped[place] ^= 0x80
        run.write_bytes(flipped)
        assert_refused(covary(*small.search, run), str(run))
        assert run.read_bytes() == flipped


def test_many_wrong_bytes_at_once_do_no_harm(small, run):
    rng = np.random.default_rng(2)
    scores = bytes_of_scores(small)
    for _ in range(60):
        spoiled = bytearray(small.raw)
        for place in rng.integers(4096, len(spoiled), 20).tolist():
            if place not in scores:
                spoiled[place] = int(rng.integers(256))
        run.write_bytes(spoiled)
        answer = covary(*small.search, run)
        if answer != (0, small.out, ""):
            assert_refused(answer, str(run))
            assert run.read_bytes() == spoiled


# ---------------------------------------------------------------- no room, no right


def mounted(folder, *options):
    folder.mkdir(exist_ok=True)
    if not shutil.which("mount"):
        pytest.skip("there is no mount here")
    mount = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {mount.stderr.strip()}")
    return folder


def unmount(folder):
    subprocess.run(["umount", folder], check=True, capture_output=True)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of so many kilobytes, or make it larger."""
    folder = tmp_path / "disk"
    there = []

    def mount(kilobytes):
        again = ["-o", f"{'remount,' if there else ''}size={kilobytes}k"]
        there.append(mounted(folder, "-t", "tmpfs", *again, *([] if there else ["covary-test"])))
        return folder

    yield mount
    if there:
        unmount(folder)


@pytest.fixture
def medium(tmp_path):
    table = dependent_table(tmp_path / "medium.csv", 200, 20)
    return ["search", table, "--max-size", "4", "--jobs", "1", "--json", "--resume", "--run"]


@pytest.mark.parametrize("kilobytes", [4, 40, 90])
def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(
    small_disk, medium, tmp_path, kilobytes
):
    code, out, _ = covary(*medium, tmp_path / "undisturbed.covary")
    assert code == 0
    path = small_disk(kilobytes) / "run.covary"
    assert_refused(covary(*medium, path), str(path))
    if kilobytes >= 90:
        assert n_candidates_in_place(path) > 0
    small_disk(4096)
    assert covary(*medium, path) == (0, out, "")
    assert contents(path) == contents(tmp_path / "undisturbed.covary")


def n_candidates_in_place(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return connection.execute("SELECT count(*) FROM candidates").fetchone()[0]


@pytest.mark.parametrize("kilobytes", [8, 40])
def test_a_full_disk_is_not_called_a_damaged_file(small_disk, medium, kilobytes):
    path = small_disk(kilobytes) / "run.covary"
    assert_refused(covary(*medium, path), "cannot write")
    assert_refused(covary(*medium, path), "cannot write")


def test_a_read_only_folder_is_one_line(small, half, tmp_path):
    before = half.read_bytes()
    there = tmp_path / "there"
    there.mkdir()
    shutil.copy(half, there / "run.covary")
    mounted(there, "--bind", there)
    try:
        mounted(there, "-o", "remount,ro,bind")
        for name in ("run.covary", "new.covary"):
            assert_refused(covary(*small.search, there / name), "cannot write", name)
        assert [path.name for path in there.iterdir()] == ["run.covary"]
    finally:
        unmount(there)
    assert (there / "run.covary").read_bytes() == before
    assert_resumes(small, there / "run.covary")


# ---------------------------------------------------------------- two at a time


def test_two_searches_may_create_a_run_file_at_the_same_time(tmp_path):
    description = Description({"measure": "uds"}, 3, [("a", "0")], {"covary": "0"}, (0.0, 1.0))
    errors = []

    def create(path, barrier):
        barrier.wait()
        try:
            RunFile.open(path, description, resume=True).close()
        except RunError as error:
            errors.append(str(error))

    for attempt in range(40):
        path, barrier = tmp_path / f"{attempt}.covary", threading.Barrier(2)
        both = [threading.Thread(target=create, args=(path, barrier)) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert contents(path)["columns"] == [(0, "a", "0")]
    assert errors == []


def test_two_searches_may_share_a_run_file(big, tmp_path):
    path = tmp_path / "run.covary"
    search = [*big.search, "--jobs", "1", "--run", path, "--resume"]
    first = start(*search)
    wait_until(lambda: n_candidates_seen(path) > 0, first)
    second = start(*search)
    for process in (first, second):
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert out == big.out
        assert err.count("\n") == 1, err
    assert contents(path) == big.rows
    assert traces(path) == []


# ---------------------------------------------------------------- interrupted


def n_candidates_seen(path, table="candidates"):
    """Return how many candidates a run file holds that is being written."""
    log = Path(f"{path}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return 0  # being created: a reader would be in the way
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def wait_until(true, process):
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_tests_that_are_killed_at_every_stage_end_as_if_undisturbed(small, tmp_path, engine):
    search = ["search", small.table, "--max-size", "3", "-n", "400", "--json", "--top", "40"]
    code, undisturbed, _ = covary(*search, "--jobs", "2")
    assert code == 0
    path = tmp_path / "run.covary"
    search += ["--engine", engine, "--jobs", "1", "--run", path, "--resume"]
    seen = {}
    for table in TESTED:
        process = start(*search)
        wait_until(lambda table=table: n_candidates_seen(path, table) > 0, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        seen[table] = len(contents(path)[table])
    code, out, _ = run_to_the_end(*search)
    assert (code, out) == (0, undisturbed)
    whole = contents(path)
    assert 0 < seen["permutations"] < len(whole["permutations"])
    assert 0 < seen["shuffled"] < len(whole["shuffled"])


def living(group):
    """Return the processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(int(stat.parent.name))
    return found


def interrupt(process, group, within=5):
    """Press Ctrl-C: (what it printed, its notices); nothing of it may be left a moment later."""
    sent = time.monotonic()
    if group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - sent < within
    assert process.returncode == 130
    while living(process.pid) and time.monotonic() - sent < within + 5:
        time.sleep(0.05)
    assert living(process.pid) == []
    return out, err


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize(
    ("engine", "group"),
    [
        ("threads", False),
        ("threads", True),
        ("processes", False),
        ("processes", True),
        ("dask", False),
        ("dask", True),
    ],
)
def test_ctrl_c_keeps_what_is_found_and_the_run_goes_on(big, tmp_path, engine, group):
    path = tmp_path / "run.covary"
    process = start(*big.search, "--engine", engine, "--jobs", "1", "--run", path)
    wait_until(lambda: n_candidates_seen(path) > 0, process)
    out, err = interrupt(process, group)
    found = json.loads(out)
    whole = len(big.rows["candidates"])
    assert found["complete"] is False
    assert 0 < found["scored"] < whole
    assert found["scored"] == n_candidates(path)
    assert len(found["subspaces"]) == min(100, found["scored"])
    notices = [line for line in err.splitlines() if "UserWarning: Port" not in line]
    assert notices == [
        f"covary: {whole:,} sets to score",
        f"covary: interrupted, this is the best so far; {path} keeps it, --resume goes on",
    ]
    code, out, _ = covary(*big.search, "--jobs", "2", "--run", path, "--resume")
    assert (code, out) == (0, big.out)
    assert contents(path) == big.rows


def test_an_interrupt_while_scores_are_written_loses_none(tmp_path, monkeypatch):
    table = np.random.default_rng(5).normal(size=(60, 6))
    path, whole = tmp_path / "run.covary", tmp_path / "whole.covary"
    api.search(table, run=whole, max_size=2)
    write, came = RunFile._transaction, []

    @contextlib.contextmanager
    def interrupted_once(self):
        with write(self):
            yield
            if self.unsaved and not came:
                came.append(True)
                raise KeyboardInterrupt

    monkeypatch.setattr(RunFile, "_transaction", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        api.search(table, run=path, max_size=2)
    assert came
    assert contents(path)["candidates"] == contents(whole)["candidates"]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_ctrl_c_while_workers_start_is_no_traceback(big, engine):
    for seconds in np.linspace(0, 1, 7):
        process = start(*big.search, "--engine", engine, "--jobs", "2")
        wait_until(lambda process=process: len(living(process.pid)) > 2, process)
        time.sleep(seconds)
        out, err = interrupt(process, group=True, within=20)
        assert '"complete": false' in out
        assert all(line.startswith("covary: ") for line in err.splitlines()), err


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_without_a_run_file_prints_the_best_so_far(big, as_json):
    search = [word for word in big.search if as_json or word != "--json"]
    process = start(*search, "--jobs", "1")
    notice = process.stderr.readline()
    time.sleep(0.7)
    assert process.poll() is None
    out, err = interrupt(process, group=True)
    assert notice == f"covary: {len(big.rows['candidates']):,} sets to score\n"
    assert err == "covary: interrupted, this is the best so far\n"
    if as_json:
        assert json.loads(out)["complete"] is False
    else:
        assert "c0" in out
        assert "interrupted" in out.splitlines()[0]


# ---------------------------------------------------------------- what it holds


def test_scores_are_on_disk_before_their_batch_is_done(small, tmp_path, monkeypatch):
    monkeypatch.setattr("covary.runs.file.COMMIT_SECONDS", -1)
    description = Description({"measure": "uds"}, 3, [("a", "0")], {"covary": "0"}, (0.0, 1.0))
    run = RunFile.open(tmp_path / "run.covary", description, resume=False)
    run.save(np.array([4]), np.array([[0, 1]], np.int32), np.array([0.5]))
    assert n_candidates_in_place(tmp_path / "run.covary") == 1
    run.close()


def test_other_ways_to_write_the_same_search_resume_it(tmp_path):
    cells = np.random.default_rng(0).normal(size=(200, 3))
    cells[0] = 0.0
    cells[1, 0] = np.nan
    whole = api.search(cells, run=tmp_path / "run.covary", max_given=np.int64(1))
    cells[0] = -0.0
    cells[1, 0] = np.array([0x7FF8000000000123], np.uint64).view(float)[0]
    again = api.search(cells, run=tmp_path / "run.covary", max_given=1, resume=True)
    assert again == whole
    assert again.parameters["measure_parameters"]["max_given"] == 1


@pytest.mark.parametrize(
    "how",
    [
        ["--strategy", "beam", "--beam", "9"],
        ["--strategy", "beam", "--beam", "9", "--parents", "one"],
        ["--strategy", "exhaustive", "--max-size", "3"],
        ["--strategy", "4s"],
        ["--target", "c2", "--max-size", "4"],
        ["--target", "c2", "--strategy", "exhaustive", "--max-size", "3"],
        ["--prune", "--top", "4"],
        ["--measure", "uds-unregularized", "--set", "order=exact", "--max-size", "3"],
        ["--measure", "uds", "--beam", "9", "--max-size", "4"],
        ["--measure", "uds", "--target", "c2", "--max-size", "4"],
        ["--permutations", "70", "--max-size", "3", "--top", "30"],
        ["--permutations", "70", "--target", "c2", "--max-size", "4"],
        ["--permutations", "70", "--measure", "uds", "--max-size", "3", "--seed", "4"],
    ],
)
def test_every_search_keeps_all_it_scores_and_resumes_from_any_part_of_it(small, tmp_path, how):
    path = tmp_path / "run.covary"
    search = ["search", small.table, *how, "--jobs", "2", "--json", "--run", path]
    code, out, _ = covary(*search)
    assert code == 0
    whole = contents(path)
    found = json.loads(out)
    assert found["complete"] is True
    assert found["scored"] == len(whole["candidates"])
    assert [number for number, _, _ in whole["candidates"]] == list(range(found["scored"]))
    assert all(math.isfinite(score) for _, _, score in whole["candidates"])
    names = [name for _, name, _ in whole["columns"]]
    assert [
        ([names[column] for column in json.loads(columns)], score)
        for _, columns, score, *_ in whole["subspaces"]
    ] == [(subspace["columns"], subspace["score"]) for subspace in found["subspaces"]]
    rng = np.random.default_rng(0)
    for share in (0.1, 0.5, 0.9):
        numbers = np.flatnonzero(rng.random(found["scored"]) < share).tolist()
        change(path, f"DELETE FROM candidates WHERE number IN ({', '.join(map(str, numbers))})")
        assert n_candidates(path) == found["scored"] - len(numbers)
        for table in TESTED:
            column = "number" if table != "increments" else "columns"
            lost = {repr(row[0]) for row in whole[table] if rng.random() < share}
            change(path, f"DELETE FROM {table} WHERE {column} IN ({', '.join(lost)})")
        code, again, _ = covary(*search, "--resume")
        assert (code, again) == (0, out)
        assert contents(path) == whole
