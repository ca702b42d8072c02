"""Run files: searches that are killed or interrupted, damaged files, files of other searches."""

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
import pandas as pd
import pytest

from covary import api
from covary.cli.main import _run
from covary.engines import Session
from covary.errors import RunError
from covary.runs import RunDescription, RunFile
from stored_tasks import items_of

TIMEOUT = 60  # seconds after which a process counts as hanging


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
    """Start the command line in its own process group."""
    return subprocess.Popen(
        [sys.executable, "-m", "covary", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def run_to_the_end(*arguments):
    process = start(*arguments)
    out, err = process.communicate(timeout=10 * TIMEOUT)
    return process.returncode, out, err


TEST_TABLES = ("permutations", "increments", "tasks")
TABLES = ("run", "columns", "candidates", "subspaces", *TEST_TABLES)


def contents(path):
    """Return every row of a run file except the times. The file is copied, not opened."""
    copy = Path(path).with_name("contents-of-" + Path(path).name)
    for suffix in ("", "-wal"):
        if os.path.exists(f"{path}{suffix}"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    rows = {}
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        for table in TABLES:
            rows[table] = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    rows["tasks"] = [item for row in rows["tasks"] for item in items_of(*row)]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
    rows["run"] = [row for row in rows["run"] if row[0] not in ("started", "finished")]
    return rows


def contents_without_source(path):
    """Return `contents` without the path of the table."""
    rows = contents(path)
    return {**rows, "run": [row for row in rows["run"] if row[0] != "table"]}


def n_candidates(path):
    try:
        return len(contents(path)["candidates"])
    except sqlite3.Error:  # not created yet
        return 0


def execute(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def auxiliary_files(path):
    return [suffix for suffix in ("-wal", "-shm", "-journal") if os.path.exists(f"{path}{suffix}")]


def assert_error(answer, *words):
    code, out, err = answer
    assert code == 1
    assert out == ""
    assert err.startswith("covary: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for word in words:
        assert word in err


def describe(parameters=None, **options):
    """Return the description of a search of a table with one column."""
    parameters = {"measure": "uds"} if parameters is None else parameters
    return RunDescription(parameters, 3, [("a", "0")], {"covary": "0"}, (0.0, 1.0), **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A short beam search: its command, its output and its finished run file."""
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
    """A copy of the finished run file that a test may damage."""
    return Path(shutil.copy(small.path, tmp_path / "run.covary"))


@pytest.fixture
def half(run):
    """A run file without every second candidate."""
    execute(
        run,
        "DELETE FROM candidates WHERE number % 2 = 1",
        "DELETE FROM subspaces",
        "DELETE FROM run WHERE name = 'finished'",
    )
    return run


def assert_resumes(small, path):
    assert covary(*small.search, path) == (0, small.out, "")
    assert contents(path) == small.rows


# ---------------------------------------------------------------- killed searches


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A search of some seconds: its command and its output if nothing disturbs it."""
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


def kill_and_resume(folder, search, fractions):
    """Kill a search several times, resume it and compare it with an undisturbed one.

    Every other time it is killed as soon as it has written scores. The other kills come after a
    fraction of its duration, which can also be before the first score.

    Parameters
    ----------
    folder : a folder for the files
    search : the options of the search
    fractions : when to kill it, as fractions of the duration of the search

    Returns
    -------
    The number of kills before the end, and the number of kills while sets were scored.
    """
    table = dependent_table(folder / "table.csv", 1500, 25, seed=1)
    search = ["search", table, "--jobs", "1", "--json", "-m", "uds", *search, "--run"]
    begin = time.monotonic()
    code, undisturbed, _ = run_to_the_end(*search, folder / "undisturbed.covary")
    duration = time.monotonic() - begin
    assert code == 0
    rows = contents(folder / "undisturbed.covary")
    path = folder / "run.covary"
    counts = [0]
    for attempt, fraction in enumerate(fractions):
        process = start(*search, path, "--resume")
        begin = time.monotonic()
        while process.poll() is None:
            if attempt % 2 == 0:
                due = n_rows_on_disk(path) > counts[-1]
            else:
                due = time.monotonic() - begin > fraction * duration
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
    assert counts == sorted(counts), "a kill lost scores that had been written"
    return len(counts) - 1, sum(0 < count < len(rows["candidates"]) for count in counts)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_search_that_is_killed_several_times_gives_the_same_result(tmp_path):
    search = ["--strategy", "exhaustive", "--max-size", "4"]
    fractions = np.random.default_rng(15).uniform(0, 1, 5)
    n_kills, n_while_scoring = kill_and_resume(tmp_path, search, fractions)
    assert n_kills >= 2
    assert n_while_scoring >= 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("measure", ["uds", "uds-chance"])
@pytest.mark.parametrize("strategy", ["exhaustive", "beam"])
def test_a_search_that_is_killed_thirty_times_gives_the_same_result(tmp_path, strategy, measure):
    search = ["-m", measure, "--strategy", strategy, "--max-size", "5"]
    search += ["--beam", "2000", "--parents", "one"] if strategy == "beam" else []
    fractions = np.random.default_rng(5).uniform(0, 0.35, 30)
    n_kills, n_while_scoring = kill_and_resume(tmp_path, search, fractions)
    assert n_kills >= 15
    assert n_while_scoring >= 5


KILLED_AT_EVERY_STATEMENT = """
import os, signal, sqlite3, sys
import covary, numpy as np, pandas as pd
from concurrent.futures import Future
from contextlib import nullcontext
from covary.engines import Engine, Session
from covary.engines.base import run_timed

class ThisThread(Engine, Session):
    # Threads do not survive a fork.

    def session(self, shared):
        self.shared = shared
        return nullcontext(self)

    def submit(self, task, items):
        future = Future()
        future.set_result(run_timed(task, self.shared, items))
        return future

path, folder = sys.argv[1:]
values = np.loadtxt(path, delimiter=",", skiprows=1)
table = pd.DataFrame(values, columns=[f"c{k}" for k in range(values.shape[1])])

def search(run=None):
    covary.search(table, max_size=4, engine=ThisThread(1), run=run, resume=run is not None)

def search_and_kill(n_statements):
    connect = sqlite3.connect
    def watched(*arguments, **options):
        connection = connect(*arguments, **options)
        left = n_statements
        def count(statement):
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        connection.set_trace_callback(count)
        return connection
    sqlite3.connect = watched
    search(os.path.join(folder, f"{n_statements}.covary"))

search()
for n_statements in [*range(30), *range(30, 500, 3)]:
    process = os.fork()
    if process == 0:
        try:
            search_and_kill(n_statements)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(process, 0)[1]
    if not os.WIFSIGNALED(status):
        sys.exit(status != 0)
    print(n_statements)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_search_that_is_killed_at_any_statement_can_be_resumed(tmp_path):
    table = dependent_table(tmp_path / "table.csv", 120, 4)
    script = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STATEMENT, table, tmp_path],
        capture_output=True, text=True, check=True, timeout=TIMEOUT,
    )  # fmt: skip
    killed_at = script.stdout.split()
    assert len(killed_at) > 30
    search = ["search", table, "--max-size", "4", "--jobs", "1", "--json", "--resume", "--run"]
    code, out, _ = covary(*search, tmp_path / "undisturbed.covary")
    assert code == 0
    rows = contents_without_source(tmp_path / "undisturbed.covary")
    numbers_of_candidates = set()
    for statement in killed_at:
        path = tmp_path / f"{statement}.covary"
        numbers_of_candidates.add(n_candidates(path))
        assert covary(*search, path) == (0, out, ""), f"killed at statement {statement}"
        assert contents_without_source(path) == rows, f"killed at statement {statement}"
    assert 0 in numbers_of_candidates
    assert max(numbers_of_candidates) == 11


def test_a_write_ahead_log_without_its_run_file_is_harmless(small, half, tmp_path):
    with contextlib.closing(sqlite3.connect(half, isolation_level=None)) as connection:
        connection.execute("UPDATE candidates SET score = 1")
        shutil.copy(f"{half}-wal", tmp_path / "new.covary-wal")
    assert_resumes(small, tmp_path / "new.covary")


# ---------------------------------------------------------------- files of another search

OTHER_PARAMETERS = [
    (["--max-size", "3"], "max_size is 4 there and 3 here"),
    (["--beam", "7"], "beam is 100 there and 7 here"),
    (["--parents", "one"], "parents is null there and one here"),
    (["--measure", "uds-unregularized"], "measure is uds-chance there and uds-unregularized here"),
    (["--set", "max_given=1"], "max_given is null there and 1 here"),
    (["--top", "5"], "top is 100 there and 5 here"),
    (["--target", "c2"], "target is null there and c2 here"),
    (["--prune"], "prune is false there and true here"),
    (["--strategy", "4s"], "strategy is beam there and 4s here"),
    (["--columns", "c0,c1,c2"], "a column 'c3', which is not here"),
]


@pytest.mark.parametrize(("more", "difference"), OTHER_PARAMETERS)
def test_other_parameters_are_an_error_that_names_them(small, half, more, difference):
    before = half.read_bytes()
    assert_error(covary(*small.search, half, *more), str(half), "another search", difference)
    assert half.read_bytes() == before
    assert auxiliary_files(half) == []
    assert_resumes(small, half)


def test_another_strategy_is_an_error_in_one_line(small, half):
    before = half.read_bytes()
    answer = covary(*small.search, half, "--strategy", "exhaustive")
    assert_error(answer, "strategy is beam there and exhaustive here")
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
def test_another_table_is_an_error_that_names_the_difference(
    small, half, tmp_path, changed, difference
):
    cells = np.array([line.split(",") for line in small.table.read_text().split()])
    other = tmp_path / "other.csv"
    other.write_text("\n".join(map(",".join, changed(cells).tolist())) + "\n")
    before = half.read_bytes()
    search = [other if word is small.table else word for word in small.search]
    assert_error(covary(*search, half), "another search", difference)
    assert half.read_bytes() == before
    assert auxiliary_files(half) == []
    assert_resumes(small, half)


def test_the_same_table_in_another_file_format_can_resume(small, half, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(small.table.read_text().replace(",", ";"))
    search = [other if word is small.table else word for word in small.search]
    assert covary(*search, half) == (0, small.out, "")


def test_another_search_cannot_change_the_file_of_a_killed_search(small, half, tmp_path):
    killed = tmp_path / "killed.covary"
    with contextlib.closing(sqlite3.connect(half, isolation_level=None)) as connection:
        connection.execute("DELETE FROM candidates WHERE number > 30")
        for suffix in ("", "-wal"):
            shutil.copy(f"{half}{suffix}", f"{killed}{suffix}")
    before = contents(killed)
    assert 0 < len(before["candidates"]) <= 31
    assert_error(covary(*small.search, killed, "--top", "5"), "top is 100 there and 5 here")
    assert contents(killed) == before
    assert_resumes(small, killed)


def test_a_file_of_another_version_is_an_error(small, half):
    execute(half, "UPDATE run SET value = '{\"covary\": \"0.0.1\"}' WHERE name = 'versions'")
    before = half.read_bytes()
    assert_error(covary(*small.search, half), "written by covary 0.0.1")
    assert half.read_bytes() == before


OLD_PARAMETERS = {"measure": "uds", "strategy_parameters": {"beam": 100}}


@pytest.mark.parametrize(
    ("parameters", "defaults", "difference"),
    [
        ({**OLD_PARAMETERS, "new": 3}, {"new": 3}, ""),
        ({**OLD_PARAMETERS, "new": 4}, {"new": 3}, "new is 3 there and 4 here"),
        ({**OLD_PARAMETERS, "new": None}, {"new": None}, ""),
        ({**OLD_PARAMETERS, "new": (1, 2)}, {"new": (1, 2)}, ""),
        ({**OLD_PARAMETERS, "measure": "mac"}, {"measure": "mac"}, "measure is uds there and mac"),
        (
            {"measure": "uds", "strategy_parameters": {"beam": 100, "new": 3}},
            {"strategy_parameters": {"new": 3}},
            "",
        ),
        (
            {"measure": "uds", "strategy_parameters": {"beam": 100, "new": 4}},
            {"strategy_parameters": {"new": 3}},
            "new is 3 there and 4 here",
        ),
    ],
)
def test_a_parameter_that_an_old_file_does_not_have_is_compared_with_its_default(
    tmp_path, parameters, defaults, difference
):
    path = tmp_path / "run.covary"
    RunFile.open(path, describe(OLD_PARAMETERS), resume=False).close()
    new = describe(parameters, defaults=defaults)
    with RunFile.read(path) as run:
        assert run.difference(new).startswith(difference)
        assert bool(run.difference(new)) == bool(difference)
    if difference:
        with pytest.raises(RunError, match=difference):
            RunFile.open(path, new, resume=True)
    else:
        RunFile.open(path, new, resume=True).close()


def test_an_option_that_an_old_file_does_not_have_is_compared_with_its_default(small, half):
    execute(half, "DELETE FROM run WHERE name = 'prune'")
    answer = covary(*small.search, half, "--prune")
    assert_error(answer, "another search", "prune is false there and true here")
    assert covary(*small.search, half) == (0, small.out, "")


def test_an_old_file_does_not_declare_columns(small, half):
    execute(half, "DELETE FROM run WHERE name IN ('nominal', 'ordered', 'dates')")
    answer = covary(*small.search, half, "--nominal", "c0")
    assert_error(answer, "another search", "its column 'c0' holds other values")
    answer = covary(*small.search, half, "--dates", "time")
    assert_error(answer, "another search", 'dates is null there and ["time"] here')
    assert covary(*small.search, half) == (0, small.out, "")


def test_a_missing_parameter_without_a_default_is_damage(tmp_path):
    path = tmp_path / "run.covary"
    RunFile.open(path, describe(OLD_PARAMETERS), resume=False).close()
    new = describe({**OLD_PARAMETERS, "new": 3}, defaults={"other": 3})
    with pytest.raises(RunError, match="is damaged: it does not describe a search"):
        RunFile.open(path, new, resume=True)


# ---------------------------------------------------------------- existing and missing files


def test_a_run_file_is_not_overwritten(small, run):
    search = [word for word in small.search if word != "--resume"]
    assert_error(covary(*search, run), str(run), "exists", "--resume")
    assert run.read_bytes() == small.raw


@pytest.mark.parametrize("empty", [False, True])
def test_resume_creates_a_missing_run_file(small, tmp_path, empty):
    path = tmp_path / "new.covary"
    if empty:
        path.touch()
    assert_resumes(small, path)
    assert auxiliary_files(path) == []


def test_resume_without_run_is_a_usage_error(small):
    code, out, err = covary("search", small.table, "--resume")
    assert code == 2
    assert out == ""
    assert "--resume needs --run" in err


def forbid_tasks(monkeypatch):
    """Make every task of an engine an error."""

    def run(self, task, items):
        pytest.fail("the engine ran a task")

    monkeypatch.setattr(Session, "run", run)


def test_a_finished_run_is_not_computed_again(small, run, monkeypatch):
    forbid_tasks(monkeypatch)
    assert_resumes(small, run)


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_a_special_name_of_sqlite_is_an_error_or_a_file(small, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, err = covary("search", small.table, "--run", name)
    assert (code != 0 and err != "") or (tmp_path / name).is_file()


# ---------------------------------------------------------------- damaged files

NESTED = "[" * 900 + "]" * 900

DETECTED_DAMAGE = {
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
    "a missing parameter": ["DELETE FROM run WHERE name = 'measure_parameters'"],
    "a parameter that is not JSON": ["UPDATE run SET value = '{' WHERE name = 'top'"],
    "a parameter of another kind": [
        "UPDATE run SET value = '3' WHERE name = 'measure_parameters'"
    ],
    "versions of another kind": ["UPDATE run SET value = '[1]' WHERE name = 'versions'"],
    "a parameter in bytes": ["UPDATE run SET value = x'ff00fe' WHERE name = 'top'"],
    "a deeply nested parameter": [f"UPDATE run SET value = '{NESTED}' WHERE name = 'top'"],
    "a parameter with many digits": [f"UPDATE run SET value = '{'1' * 9999}' WHERE name = 'top'"],
    "a parameter with control characters": [
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
    "two swapped tables": [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT sum(rootpage) FROM sqlite_master "
        "WHERE name IN ('candidates', 'subspaces')) - rootpage "
        "WHERE name IN ('candidates', 'subspaces')",
    ],
}  # fmt: skip


@pytest.mark.parametrize("statements", DETECTED_DAMAGE.values(), ids=DETECTED_DAMAGE)
def test_a_damaged_run_file_is_an_error_and_is_not_changed(small, run, statements):
    execute(run, *statements)
    before = run.read_bytes()
    assert_error(covary(*small.search, run), str(run))
    assert run.read_bytes() == before
    assert auxiliary_files(run) == []


@pytest.mark.parametrize("score", ["9e999", "-9e999", "1e300", "4.6e18"])
@pytest.mark.parametrize("as_json", [True, False])
def test_an_impossible_score_is_an_error(small, run, score, as_json):
    execute(run, f"UPDATE candidates SET score = {score} WHERE number = 3")
    before = run.read_bytes()
    search = [word for word in small.search if as_json or word != "--json"]
    assert_error(covary(*search, run), str(run), "candidate 3")
    assert run.read_bytes() == before


HARMLESS_DAMAGE = {
    "every third candidate deleted": ["DELETE FROM candidates WHERE number % 3 = 1"],
    "candidates deleted in the middle": ["DELETE FROM candidates WHERE number BETWEEN 9 AND 40"],
    "no candidates": ["DELETE FROM candidates"],
    "a result that is wrong": ["UPDATE subspaces SET score = 2"],
    "a result with an extra row": [
        "INSERT INTO subspaces (rank, columns, score) VALUES (999, 'nothing', 'high')"
    ],
    "no result": ["DELETE FROM subspaces"],
    "another journal": ["PRAGMA journal_mode = DELETE"],
    "pages in another order": ["VACUUM"],
}


@pytest.mark.parametrize("statements", HARMLESS_DAMAGE.values(), ids=HARMLESS_DAMAGE)
def test_harmless_damage_is_repaired(small, run, statements):
    execute(run, *statements)
    assert_resumes(small, run)


@pytest.mark.parametrize("number", [-1, -(2**63), 10**6, 2**63 - 1])
def test_candidates_with_numbers_out_of_range_are_ignored(small, run, number):
    execute(run, f"INSERT INTO candidates VALUES ({number}, '[0, 1]', 0.999)")
    assert covary(*small.search, run) == (0, small.out, "")


def text_file(path, small):
    path.write_text("this is not a run file\n" * 100)


def copy_of_the_table(path, small):
    shutil.copy(small.table, path)


def random_bytes(path, small):
    path.write_bytes(np.random.default_rng(0).bytes(5000))


def zeros(path, small):
    path.write_bytes(b"\0" * 5000)


def two_bytes(path, small):
    path.write_bytes(b"x\n")


def first_bytes_of_sqlite(path, small):
    path.write_bytes(b"SQLite format 3\0")


def database_of_something_else(path, small):
    execute(path, "CREATE TABLE friends (name)", "INSERT INTO friends VALUES ('Ada')")


def other_database_with_a_log(path, small):
    execute(path, "PRAGMA journal_mode = WAL", "CREATE TABLE friends (name)")


OTHER_FILES = [
    text_file,
    copy_of_the_table,
    random_bytes,
    zeros,
    two_bytes,
    first_bytes_of_sqlite,
    database_of_something_else,
    other_database_with_a_log,
]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("make", OTHER_FILES)
def test_another_kind_of_file_is_an_error_and_is_not_changed(small, tmp_path, make, resume):
    path = tmp_path / "other.covary"
    make(path, small)
    before = path.read_bytes()
    search = [word for word in small.search if resume or word != "--resume"]
    answer = covary(*search, path)
    assert_error(answer, str(path))
    assert "is not a run file of covary" in answer[2] or "exists" in answer[2]
    assert path.read_bytes() == before
    assert auxiliary_files(path) == []


def test_a_file_of_one_byte_is_not_changed(small, tmp_path):
    path = tmp_path / "other.covary"
    path.write_bytes(b"x")
    assert_error(covary(*small.search, path), "is not a run file of covary")
    assert path.read_bytes() == b"x"


def test_an_empty_database_becomes_a_run_file(small, tmp_path):
    path = tmp_path / "empty.covary"
    execute(path, "VACUUM")
    assert path.stat().st_size > 0
    assert_resumes(small, path)


def test_the_table_cannot_be_the_run_file(small, tmp_path):
    table = Path(shutil.copy(small.table, tmp_path))
    before = table.read_bytes()
    assert_error(covary("search", table, "--run", table, "--resume"), "is not a run file")
    assert_error(covary("search", table, "--run", table), str(table))
    assert table.read_bytes() == before


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("name", ["", "nowhere/run.covary", "file/run.covary", "x" * 300])
def test_a_path_that_cannot_be_a_file_is_an_error(small, tmp_path, name, resume):
    (tmp_path / "file").write_text("in the way")
    search = [word for word in small.search if resume or word != "--resume"]
    assert_error(covary(*search, tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_error_for_a_folder_does_not_suggest_to_resume(small, tmp_path):
    search = [word for word in small.search if word != "--resume"]
    _, _, err = covary(*search, tmp_path)
    assert "resume it" not in err


def test_a_truncated_run_file_is_an_error(small, run):
    for length in [*range(2, 100, 9), 100, 512, 1024, *range(4000, len(small.raw), 991)]:
        run.write_bytes(small.raw[:length])
        assert_error(covary(*small.search, run), str(run))
        assert run.read_bytes() == small.raw[:length], length
        assert auxiliary_files(run) == []


def score_positions(small):
    """Return the positions in the file of the scores and of their type bytes."""
    positions = set()
    for _, columns, score in small.rows["candidates"]:
        stored = columns.encode() + struct.pack(">d", score)
        at = small.raw.find(stored)
        while at >= 0:
            positions.update(range(at + len(columns), at + len(stored)), [at - 1])
            at = small.raw.find(stored, at + 1)
        if score in (0.0, 1.0):  # stored as the type byte only
            positions.update(
                at - 1
                for at in range(len(small.raw))
                if small.raw.startswith(columns.encode(), at)
            )
    return positions


def assert_flips_are_harmless(small, run, positions, seed):
    """Flip one bit at each position: an error and an unchanged file, or the right result."""
    rng = np.random.default_rng(seed)
    scores = score_positions(small)
    n_errors = 0
    for position in positions:
        flipped = bytearray(small.raw)
        flipped[position] ^= 1 << int(rng.integers(8))
        if position in scores:
            continue  # a wrong score cannot be detected
        run.write_bytes(flipped)
        answer = covary(*small.search, run)
        if answer[0] == 0:
            assert answer == (0, small.out, ""), f"byte {position}"
        else:
            assert_error(answer, str(run))
            assert run.read_bytes() == flipped, f"byte {position}"
            n_errors += 1
        assert auxiliary_files(run) == []
    return n_errors


def test_a_bit_flipped_in_the_header_is_harmless(small, run):
    assert assert_flips_are_harmless(small, run, range(100), seed=0) > 10


def test_a_bit_flipped_anywhere_is_harmless(small, run):
    filled = np.flatnonzero(np.frombuffer(small.raw, np.uint8)[4096:]) + 4096
    positions = np.random.default_rng(1).choice(filled, 200, replace=False).tolist()
    assert assert_flips_are_harmless(small, run, positions, seed=1) > 40


def test_a_byte_of_the_schema_that_is_not_utf8_is_an_error_in_one_line(small, run):
    for position in range(small.raw.index(b"CREATE"), 4096, 7):
        flipped = bytearray(small.raw)
        flipped[position] ^= 0x80
        run.write_bytes(flipped)
        assert_error(covary(*small.search, run), str(run))
        assert run.read_bytes() == flipped


def test_many_wrong_bytes_at_once_are_harmless(small, run):
    rng = np.random.default_rng(2)
    scores = score_positions(small)
    for _ in range(60):
        damaged = bytearray(small.raw)
        for position in rng.integers(4096, len(damaged), 20).tolist():
            if position not in scores:
                damaged[position] = int(rng.integers(256))
        run.write_bytes(damaged)
        answer = covary(*small.search, run)
        if answer != (0, small.out, ""):
            assert_error(answer, str(run))
            assert run.read_bytes() == damaged


# ---------------------------------------------------------------- full and read-only disks


def mounted(folder, *options):
    folder.mkdir(exist_ok=True)
    if not shutil.which("mount"):
        pytest.skip("needs the mount command")
    mount = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"needs the right to mount: {mount.stderr.strip()}")
    return folder


def unmount(folder):
    subprocess.run(["umount", folder], check=True, capture_output=True)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a small disk, or change its size."""
    folder = tmp_path / "disk"
    is_mounted = False

    def mount(kilobytes):
        nonlocal is_mounted
        options = ["-o", f"{'remount,' if is_mounted else ''}size={kilobytes}k"]
        mounted(folder, "-t", "tmpfs", *options, *([] if is_mounted else ["covary-test"]))
        is_mounted = True
        return folder

    yield mount
    if is_mounted:
        unmount(folder)


@pytest.fixture
def medium(tmp_path):
    table = dependent_table(tmp_path / "medium.csv", 200, 20)
    return ["search", table, "--max-size", "4", "--jobs", "1", "--json", "--resume", "--run"]


@pytest.mark.parametrize("kilobytes", [4, 40, 90])
def test_a_full_disk_is_an_error_and_the_run_can_be_resumed(
    small_disk, medium, tmp_path, kilobytes
):
    code, out, _ = covary(*medium, tmp_path / "undisturbed.covary")
    assert code == 0
    path = small_disk(kilobytes) / "run.covary"
    assert_error(covary(*medium, path), str(path))
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
def test_a_full_disk_is_not_reported_as_a_damaged_file(small_disk, medium, kilobytes):
    path = small_disk(kilobytes) / "run.covary"
    assert_error(covary(*medium, path), "cannot write")
    assert_error(covary(*medium, path), "cannot write")


def test_a_read_only_folder_is_an_error_in_one_line(small, half, tmp_path):
    before = half.read_bytes()
    folder = tmp_path / "read_only"
    folder.mkdir()
    shutil.copy(half, folder / "run.covary")
    mounted(folder, "--bind", folder)
    try:
        mounted(folder, "-o", "remount,ro,bind")
        for name in ("run.covary", "new.covary"):
            assert_error(covary(*small.search, folder / name), "cannot write", name)
        assert [path.name for path in folder.iterdir()] == ["run.covary"]
    finally:
        unmount(folder)
    assert (folder / "run.covary").read_bytes() == before
    assert_resumes(small, folder / "run.covary")


# ---------------------------------------------------------------- two searches at the same time


def test_two_searches_can_create_a_run_file_at_the_same_time(tmp_path):
    errors = []

    def create(path, barrier):
        barrier.wait()
        try:
            RunFile.open(path, describe(), resume=True).close()
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


def test_two_searches_can_share_a_run_file(big, tmp_path):
    path = tmp_path / "run.covary"
    search = [*big.search, "--jobs", "1", "--run", path, "--resume"]
    first = start(*search)
    wait_until(lambda: n_rows_on_disk(path) > 0, first)
    second = start(*search)
    for process in (first, second):
        out, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0
        assert out == big.out
        assert err.count("\n") == 1, err
    assert contents(path) == big.rows
    assert auxiliary_files(path) == []


# ---------------------------------------------------------------- interrupted searches


def n_rows_on_disk(path, table="candidates"):
    """Return the number of rows of a table in a run file that another process is writing."""
    log = Path(f"{path}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return 0  # being created: a reader would lock it
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def wait_until(condition, process):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the process hangs"
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_tests_that_are_killed_at_every_stage_give_the_same_result(tmp_path, engine):
    # The last stage takes much longer than the time between two writes.
    csv = dependent_table(tmp_path / "table.csv", 200, 12)
    search = ["search", csv, "--max-size", "3", "-n", "400", "--json", "--top", "10"]
    code, undisturbed, _ = covary(*search, "--jobs", "2")
    assert code == 0
    path = tmp_path / "run.covary"
    search += ["--engine", engine, "--jobs", "1", "--run", path, "--resume"]
    seen = {}
    for table in TEST_TABLES:
        process = start(*search)
        wait_until(lambda table=table: n_rows_on_disk(path, table) > 0, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)
        seen[table] = len(contents(path)[table])
    code, out, _ = run_to_the_end(*search)
    assert (code, out) == (0, undisturbed)
    whole = contents(path)
    assert 0 < seen["permutations"] <= len(whole["permutations"])
    assert 0 < seen["tasks"] <= len(whole["tasks"])


def running_processes(group):
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


def interrupt(process, group):
    """Send Ctrl-C, wait until no process of the group is left, and return stdout and stderr."""
    if group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    deadline = time.monotonic() + TIMEOUT
    while running_processes(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_processes(process.pid) == []
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
def test_ctrl_c_reports_the_best_sets_so_far_and_the_run_can_be_resumed(
    big, tmp_path, engine, group
):
    path = tmp_path / "run.covary"
    process = start(*big.search, "--engine", engine, "--jobs", "1", "--run", path)
    wait_until(lambda: n_rows_on_disk(path) > 0, process)
    out, err = interrupt(process, group)
    found = json.loads(out)
    whole = len(big.rows["candidates"])
    assert found["complete"] is False
    # On a busy machine, all sets may be scored before the signal arrives.
    assert 0 < found["scored"] <= whole
    assert found["scored"] == n_candidates(path)
    assert len(found["subspaces"]) == min(100, found["scored"])
    first, last = [line for line in err.splitlines() if "UserWarning: Port" not in line]
    assert first == f"covary: {whole:,} sets to score"
    assert last.startswith("covary: interrupted")
    assert str(path) in last
    assert "--resume" in last
    code, out, _ = covary(*big.search, "--jobs", "2", "--run", path, "--resume")
    assert (code, out) == (0, big.out)
    assert contents(path) == big.rows


def test_an_interrupt_while_scores_are_written_loses_no_score(tmp_path, monkeypatch):
    table = np.random.default_rng(5).normal(size=(60, 6))
    path, whole = tmp_path / "run.covary", tmp_path / "whole.covary"
    api.search(table, run=whole, max_size=2)
    transaction, interrupts = RunFile._transaction, []

    @contextlib.contextmanager
    def interrupted_once(self):
        with transaction(self):
            yield
            if self._unwritten and not interrupts:
                interrupts.append(True)
                raise KeyboardInterrupt

    monkeypatch.setattr(RunFile, "_transaction", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        api.search(table, run=path, max_size=2)
    assert interrupts
    assert contents(path)["candidates"] == contents(whole)["candidates"]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_ctrl_c_while_workers_start_gives_no_traceback(big, engine):
    for seconds in np.linspace(0, 1, 7):
        process = start(*big.search, "--engine", engine, "--jobs", "2")
        wait_until(lambda process=process: len(running_processes(process.pid)) > 2, process)
        time.sleep(seconds)
        out, err = interrupt(process, group=True)
        assert '"complete": false' in out
        assert all(line.startswith("covary: ") for line in err.splitlines()), err


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_without_a_run_file_prints_the_best_sets_so_far(big, as_json, monkeypatch):
    run = Session.run

    def interrupted_run(self, task, items):
        for number, chunk in enumerate(run(self, task, items)):
            yield chunk
            if number == 3:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Session, "run", interrupted_run)
    search = [word for word in big.search if as_json or word != "--json"]
    code, out, err = covary(*search, "--jobs", "1")
    assert code == 130
    first, last = err.splitlines()
    assert first == f"covary: {len(big.rows['candidates']):,} sets to score"
    assert last.startswith("covary: interrupted")
    assert "--resume" not in last
    if as_json:
        assert json.loads(out)["complete"] is False
        assert 0 < json.loads(out)["scored"] < len(big.rows["candidates"])
    else:
        assert "c0" in out
        assert "interrupted" in out.splitlines()[0]


# ---------------------------------------------------------------- content


def test_scores_are_on_disk_before_their_batch_is_finished(small, tmp_path, monkeypatch):
    monkeypatch.setattr("covary.runs.file.COMMIT_SECONDS", -1)
    run = RunFile.open(tmp_path / "run.covary", describe(), resume=False)
    run.store_scores(np.array([4]), np.array([[0, 1]], np.int32), np.array([0.5]))
    assert n_candidates_in_place(tmp_path / "run.covary") == 1
    run.close()


def test_stored_values_are_read_back(tmp_path):
    path = tmp_path / "run.covary"
    sets = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    run = RunFile.open(path, describe(), resume=False)
    run.store_scores(np.array([5, 7]), sets[[0, 2]], np.array([0.5, 0.25]))
    run.begin_tests({"permutations": 9})
    run.store_permutations([0, 2], [0, 1], np.array([[0.1, 0.2], [0.3, 0.4]]))
    run.store_increments({(0, 1, 2): 0.125})
    run.store_results(0, 3, "items", b"sizes", b"results")
    run.store_best_sets([((0, 1), 0.5), ((1, 2), 0.25)])
    run.finish([(0.5, 0.1, 0.2, 0.3, None), (0.25, 0.4, 0.4, 0.6, 0.7)])
    run.close()
    nan = np.nan
    with RunFile.read(path) as run:
        assert run.facts()["tests"] == {"permutations": 9}
        assert "finished" in run.facts()
        assert np.array_equal(run.stored_scores(5, sets), [0.5, nan, 0.25], equal_nan=True)
        assert np.array_equal(
            run.stored_permutations(9, 2), [[0.1, 0.2], [nan, nan], [0.3, 0.4]], equal_nan=True
        )
        assert run.stored_increments() == {(0, 1, 2): 0.125}
        assert run.stored_results(0) == [(3, "items", b"sizes", b"results")]
        assert run.stored_results(1) == []
        assert run.finished_tests(2) == [(0.2, 0.3), (0.4, 0.6)]
        assert run.finished_tests(3) == []
    with contextlib.closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT * FROM subspaces ORDER BY rank").fetchall()
    assert stored == [
        (1, "[0, 1]", 0.5, 0.5, 0.1, 0.2, 0.3, None),
        (2, "[1, 2]", 0.25, 0.25, 0.4, 0.4, 0.6, 0.7),
    ]


def test_a_search_is_finished_only_after_its_tests(tmp_path):
    path = tmp_path / "run.covary"
    run = RunFile.open(path, describe(), resume=False)
    run.begin_tests({"permutations": 9})
    run.finish()
    assert "finished" not in run.facts()
    run.finish([(0.5, 0.1, 0.2, 0.3, None)])
    assert "finished" in run.facts()
    with pytest.raises(RunError, match="permutations is 9 there and 19 here"):
        run.begin_tests({"permutations": 19})
    run.close()


def test_levels_cannot_resume_a_search_of_ordered_values_with_the_same_numbers(tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.choice(3, 200, p=[0.5, 0.3, 0.2])
    x = numbers % 2 + rng.normal(size=200)
    labels = np.array(["low", "middle", "high"])
    run = tmp_path / "run.covary"

    def search(ordered):
        sizes = pd.Categorical(labels[numbers], labels, ordered=ordered)
        return api.search(pd.DataFrame({"size": sizes, "x": x}), run=run, resume=True)

    search(ordered=True)
    with pytest.raises(RunError, match="size"):
        search(ordered=False)


def test_equal_values_of_other_types_can_resume(tmp_path):
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
    "options",
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
        ["--permutations", "70", "--max-size", "3", "--top", "8"],
        ["--permutations", "70", "--target", "c2", "--max-size", "4"],
        [
            "--permutations",
            "70",
            "--measure",
            "uds",
            "--max-size",
            "3",
            "--top",
            "5",
            "--seed",
            "4",
        ],
    ],
)
def test_every_search_stores_all_scores_and_resumes_from_any_part(small, tmp_path, options):
    path = tmp_path / "run.covary"
    search = ["search", small.table, *options, "--jobs", "2", "--json", "--run", path]
    code, out, _ = covary(*search)
    assert code == 0
    whole = contents(path)
    found = json.loads(out)
    assert found["complete"] is True
    assert found["scored"] == len(whole["candidates"])
    assert [number for number, _, _ in whole["candidates"]] == list(range(found["scored"]))
    assert all(math.isfinite(score) for _, _, score in whole["candidates"])
    names = [name for _, name, _ in whole["columns"]]
    best = found["subspaces"]
    reported = [*best, *(each for each in found["relations"] if each not in best)]
    assert [
        ([names[column] for column in json.loads(columns)], score)
        for _, columns, score, *_ in whole["subspaces"]
    ] == [(subspace["columns"], subspace["score"]) for subspace in reported]
    rng = np.random.default_rng(0)
    for share in (0.1, 0.5, 0.9):
        numbers = np.flatnonzero(rng.random(found["scored"]) < share).tolist()
        execute(path, f"DELETE FROM candidates WHERE number IN ({', '.join(map(str, numbers))})")
        assert n_candidates(path) == found["scored"] - len(numbers)
        for table in TEST_TABLES:
            column = {"permutations": "number", "increments": "columns", "tasks": "first"}[table]
            stored = {row[1 if table == "tasks" else 0] for row in whole[table]}
            deleted = [repr(each) for each in sorted(stored) if rng.random() < share]
            execute(path, f"DELETE FROM {table} WHERE {column} IN ({', '.join(deleted)})")
        execute(path, "UPDATE subspaces SET qvalue = NULL")  # Otherwise, tasks are not needed.
        code, again, _ = covary(*search, "--resume")
        assert (code, again) == (0, out)
        assert contents(path) == whole
