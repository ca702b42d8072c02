"""Engines give the same bits everywhere, survive lost workers, and report errors in one line."""

from __future__ import annotations

import asyncio
import gc
import http.server
import logging
import mmap
import os
import re
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import covary
from covary.engines import Processes
from covary.engines import dask as dask_engine
from covary.errors import CovaryError, EngineError, ParameterError
from covary.measures import Measure, find_measure
from covary.prepare import prepare

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

# The time after which a test counts as hanging.
SECONDS = 60
KEYS = {"run": "name", "columns": "position", "candidates": "number", "subspaces": "rank"}


def make_table(n_rows, n_columns, seed=0):
    """A table with groups of dependent columns and some missing cells."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 3))
    noise = rng.normal(size=(n_rows, n_columns)) * rng.choice([0.05, 0.3, 1.0], n_columns)
    table = hidden[:, np.arange(n_columns) % 3] + noise
    table[:, 1::4] = np.round(table[:, 1::4])
    table[rng.random(table.shape) < 0.03] = np.nan
    return table


SMALL = make_table(250, 14)
LARGE = make_table(1500, 18)  # a second or so for the search below
LONG = {"strategy": "exhaustive", "max_size": 4, "measure": "uds"}


def scores_of(result):
    return [(subspace.columns, subspace.score.hex()) for subspace in result]


def content(path):
    """Return all rows of a run file except the times."""
    connection = sqlite3.connect(path)
    try:
        rows = {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY {key}").fetchall()
            for table, key in KEYS.items()
        }
    finally:
        connection.close()
    rows["run"] = [row for row in rows["run"] if row[0] not in ("started", "finished")]
    return rows


@cache
def undisturbed():
    return scores_of(covary.search(LARGE, **LONG))


def during_search(action):
    """Return an ``on_progress`` that calls ``action`` once, during the longest stage."""
    calls = []

    def on_progress(stage, done, total):
        if stage == "sets of 4" and done > total / 5 and not calls:
            calls.append(done)
            action()

    on_progress.calls = calls
    return on_progress


# ---------------------------------------------------------------- clusters


@contextmanager
def local_cluster(n_workers, folder, **options):
    """A cluster on this machine. A nanny restarts a worker process that dies."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            host="127.0.0.1",
            local_directory=str(folder),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
            **{"threads_per_worker": 1, **options},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of a cluster of two workers that no test kills."""
    with local_cluster(2, tmp_path_factory.mktemp("two")) as client:
        yield client


@pytest.fixture(scope="module")
def client_of_one(tmp_path_factory):
    """A client of a cluster of one worker that no test kills."""
    with local_cluster(1, tmp_path_factory.mktemp("one")) as client:
        yield client


@contextmanager
def started(*command, **options):
    """A process. It and its children are killed at the end of the context."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def worker_process(address, folder, *options):
    """A worker process of the scheduler, by default without a nanny."""
    command = [sys.executable, "-W", "ignore", "-m", "distributed.cli.dask_worker", address]
    command += ["--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1"]
    command += ["--local-directory", str(folder), *(options or ["--no-nanny"])]
    with started(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield process


@contextmanager
def scheduler_process():
    """A scheduler in its own process, and its address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    command = [sys.executable, "-W", "ignore", "-m", "distributed.cli.dask_scheduler"]
    command += ["--host", "127.0.0.1", "--port", port, "--dashboard-address", "127.0.0.1:0"]
    with started(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield process, f"tcp://127.0.0.1:{port}"


def worker_pids(client):
    return list(client.run(os.getpid).values())


def kill(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


# ---------------------------------------------------------------- the command line

# With a short time limit, because some tests wait until it is over.
SHORT_TIMEOUT = "import covary.engines.dask as d; d.CONNECT_SECONDS = 2; "
RUN = "from covary.cli.main import main; main()"


def command_line(*arguments):
    return [sys.executable, "-c", SHORT_TIMEOUT + RUN, "search", "-m", "uds", *map(str, arguments)]


def covary_search(*arguments, timeout=SECONDS, **environment):
    return subprocess.run(
        command_line(*arguments),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )


def write_csv(path, table):
    names = ",".join(f"c{k}" for k in range(table.shape[1]))
    np.savetxt(path, table, delimiter=",", header=names, comments="")
    return path


@pytest.fixture(scope="module")
def small_csv(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("tables") / "small.csv", SMALL)


def script(path, text, *arguments, guard=False, timeout=SECONDS, **environment):
    """Run a script, with or without ``if __name__ == "__main__":``."""
    body = text.replace("\n", "\n    ") if guard else text
    path.write_text(f'if __name__ == "__main__":\n    {body}\n' if guard else body)
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )


# ---------------------------------------------------------------- the same results everywhere

SEARCHES = {
    f"{measure}-{strategy}{'-target' if target is not None else ''}": {
        "measure": measure,
        "strategy": strategy,
        "target": target,
        **({"max_size": 4} if strategy != "4s" else {}),
    }
    for measure in ("uds", "uds-unregularized", "uds-chance")
    for strategy, target in (
        ("beam", None),
        ("beam", 3),
        ("exhaustive", None),
        ("exhaustive", 3),
        ("4s", None),
    )
}


QUICK = [(search, where) for search in SEARCHES for where in ("threads 2", "dask 2")]
# Other engines take seconds to start, so only some of the searches run on them by default.
FEW = [
    ("uds-chance-beam", "processes 2"),
    ("uds-chance-exhaustive", "dask 1"),
    ("uds-beam", "processes 1"),
    ("uds-beam-target", "processes 2"),
    ("uds-4s", "processes 2"),
    ("uds-unregularized-exhaustive", "processes 2"),
    ("uds-unregularized-exhaustive-target", "dask 1"),
    ("uds-unregularized-beam", "dask 1"),
]
PLACES = ("processes 1", "processes 2", "dask 1")
REST = [(search, where) for where in PLACES for search in SEARCHES if (search, where) not in FEW]


@pytest.mark.parametrize(
    ("search", "where"),
    QUICK + FEW + [pytest.param(*rest, marks=pytest.mark.slow) for rest in REST],
)
def test_every_engine_gives_the_same_bits_and_the_same_run_file(
    search, where, request, tmp_path_factory
):
    name, n_workers = where.split()
    folder = tmp_path_factory.mktemp("runs")
    options = SEARCHES[search]
    one = covary.search(SMALL, n_jobs=1, run=folder / "one.covary", **options)
    if name == "dask":
        client = request.getfixturevalue("client" if n_workers == "2" else "client_of_one")
        engine = {"engine": client}
    else:
        engine = {"engine": name, "n_jobs": int(n_workers)}
    other = covary.search(SMALL, run=folder / "other.covary", **engine, **options)
    assert len(one) > 10
    assert scores_of(other) == scores_of(one)
    assert content(folder / "other.covary") == content(folder / "one.covary")


def test_a_temporary_cluster_gives_the_same_bits(tmp_path):
    text = f"""import covary, numpy as np, sys
table = np.load(sys.argv[1])
result = covary.search(table, engine="dask", n_jobs=2, **{LONG})
print([subspace.score.hex() for subspace in result])"""
    np.save(tmp_path / "table.npy", SMALL)
    ran = script(
        tmp_path / "script.py", text, str(tmp_path / "table.npy"), guard=True, TMPDIR=str(tmp_path)
    )
    assert ran.stdout == f"{[score for _, score in scores_of(covary.search(SMALL, **LONG))]}\n"


# ---------------------------------------------------------------- workers that die


@pytest.mark.parametrize(
    ("n_workers", "n_killed"), [(2, 1), (1, 1), pytest.param(2, 2, marks=pytest.mark.slow)]
)
def test_a_search_survives_a_killed_worker_that_is_restarted(n_workers, n_killed, tmp_path):
    with local_cluster(n_workers, tmp_path) as client:
        progress = during_search(lambda: kill(worker_pids(client)[:n_killed]))
        result = covary.search(LARGE, engine=client, on_progress=progress, **LONG)
        assert progress.calls
        assert scores_of(result) == undisturbed()


@pytest.mark.slow
def test_a_search_survives_a_killed_worker_with_many_threads(tmp_path):
    with local_cluster(1, tmp_path, threads_per_worker=8) as client:
        progress = during_search(lambda: kill(worker_pids(client)))
        result = covary.search(LARGE, engine=client, on_progress=progress, **LONG)
        assert scores_of(result) == undisturbed()


@pytest.mark.slow
def test_a_search_survives_a_worker_that_dies_several_times(tmp_path):
    fractions = list(np.linspace(0.1, 0.8, 8))

    def kill_several_times(stage, done, total):
        if stage == "sets of 4" and fractions and done > fractions[0] * total:
            fractions.pop(0)
            kill(worker_pids(client))

    with local_cluster(1, tmp_path) as client:
        result = covary.search(LARGE, engine=client, on_progress=kill_several_times, **LONG)
    assert scores_of(result) == undisturbed()


@pytest.mark.slow
def test_a_search_survives_a_killed_worker_that_is_not_restarted(tmp_path):
    with (
        local_cluster(0, tmp_path) as client,
        worker_process(client.scheduler.address, tmp_path) as worker,
        worker_process(client.scheduler.address, tmp_path),
    ):
        client.wait_for_workers(2, timeout=SECONDS)
        progress = during_search(worker.kill)
        result = covary.search(LARGE, engine=client, on_progress=progress, **LONG)
        assert progress.calls
        assert scores_of(result) == undisturbed()


@pytest.mark.slow
def test_a_search_survives_a_worker_killed_together_with_its_nanny(tmp_path):
    with (
        local_cluster(0, tmp_path) as client,
        worker_process(client.scheduler.address, tmp_path, "--nanny") as nanny,
        worker_process(client.scheduler.address, tmp_path),
    ):
        client.wait_for_workers(2, timeout=SECONDS)
        progress = during_search(lambda: os.killpg(nanny.pid, signal.SIGKILL))
        result = covary.search(LARGE, engine=client, on_progress=progress, **LONG)
        assert progress.calls
        assert scores_of(result) == undisturbed()


def test_a_new_worker_finishes_the_search_after_all_others_were_killed(tmp_path):
    with (
        local_cluster(0, tmp_path) as client,
        worker_process(client.scheduler.address, tmp_path) as first,
    ):
        client.wait_for_workers(1, timeout=SECONDS)
        late = worker_process(client.scheduler.address, tmp_path)
        timer = threading.Timer(2, late.__enter__)

        def replace_the_worker():
            first.kill()
            timer.start()

        progress = during_search(replace_the_worker)
        try:
            result = covary.search(LARGE, engine=client, on_progress=progress, **LONG)
        finally:
            timer.join()
            late.__exit__(None, None, None)
        assert progress.calls
        assert scores_of(result) == undisturbed()


def test_a_search_without_workers_ends_with_an_error_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 2)
    with (
        local_cluster(0, tmp_path) as client,
        worker_process(client.scheduler.address, tmp_path) as worker,
    ):
        client.wait_for_workers(1, timeout=SECONDS)
        progress = during_search(worker.kill)
        with pytest.raises(EngineError, match=r"^the Dask scheduler tcp://.* has no workers"):
            covary.search(LARGE, engine=client, on_progress=progress, **LONG)


@dataclass(frozen=True)
class Deadly(Measure):
    """Kills every worker that scores the set of the first columns."""

    def score_set(self, prepared, columns):
        if list(columns) == [0, 1, 2]:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.5


@pytest.mark.slow
def test_a_set_that_kills_every_worker_ends_the_search_with_an_error(tmp_path):
    with (
        local_cluster(2, tmp_path) as client,
        pytest.raises(EngineError, match="died repeatedly"),
    ):
        covary.search(SMALL, measure=Deadly(), engine=client)


# ---------------------------------------------------------------- addresses without a scheduler


def error_line(engine, table, *options, timeout=30):
    """Return the one line that the command line writes if it cannot use an engine."""
    ran = covary_search(table, "--engine", engine, *options, timeout=timeout)
    assert ran.returncode == 1
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert line.startswith("covary: ")
    assert "Error()" not in line, "the reason is missing"
    return line


def test_an_unreachable_scheduler_is_an_error_in_one_line(small_csv):
    line = error_line("tcp://127.0.0.1:1", small_csv)
    assert "cannot reach a Dask scheduler at tcp://127.0.0.1:1" in line


def test_a_scheduler_without_workers_is_an_error_in_one_line(small_csv, tmp_path):
    with local_cluster(0, tmp_path) as client:
        address = client.scheduler.address
        line = error_line(address, small_csv)
    assert f"the Dask scheduler {address} has no workers: start some" in line


INVALID_ADDRESSES = ["foo://bar"] + [
    pytest.param(address, marks=pytest.mark.slow)
    for address in ("tcp://", "://", "tcp://127.0.0.1", "tcp://127.0.0.1:abc", "inproc://x")
]


@pytest.mark.parametrize("address", INVALID_ADDRESSES)
def test_an_invalid_address_is_an_error_in_one_line(address, small_csv):
    assert address in error_line(address, small_csv)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "ucx://127.0.0.1:1"])
def test_an_address_that_needs_a_missing_package_is_an_error_in_one_line(address, small_csv):
    assert address in error_line(address, small_csv)


def test_a_server_that_never_answers_is_an_error_in_one_line(small_csv):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert address in error_line(address, small_csv, timeout=40)


class OtherProtocol(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        with suppress(OSError):
            while self.request.recv(1 << 16):
                pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


@contextmanager
def serving(server):
    """Run a server in a thread and yield its address."""
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_a_server_with_another_protocol_is_an_error_in_one_line(small_csv):
    with serving(Server(("127.0.0.1", 0), OtherProtocol)) as address:
        assert address in error_line(address, small_csv, timeout=40)


class NoPages(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.mark.slow
def test_an_http_server_is_an_error_in_one_line(small_csv):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), NoPages)
    with serving(server) as address:
        assert address in error_line(address, small_csv, timeout=40)


@pytest.mark.slow
def test_the_address_of_a_worker_is_an_error_in_one_line(small_csv, client):
    address = next(iter(client.nthreads()))
    assert address in error_line(address, small_csv)


# ---------------------------------------------------------------- a scheduler that dies


def wait_for_candidates(path, minimum, process):
    """Wait until a run file has a minimum number of candidates."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(sqlite3.OperationalError):
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            try:
                n_stored = connection.execute("SELECT count(*) FROM candidates").fetchone()[0]
            finally:
                connection.close()
            if n_stored >= minimum:
                return
        time.sleep(0.02)
    pytest.fail("the search did not score enough sets")


@contextmanager
def scheduler_killed_during_search(tmp_path):
    """Kill the scheduler during a search; yield the arguments and the ended process."""
    table = write_csv(tmp_path / "large.csv", LARGE)
    search = [table, "--strategy", "exhaustive", "--max-size", 4]
    with (
        scheduler_process() as (scheduler, address),
        worker_process(address, tmp_path),
        started(
            *command_line(*search, "--run", tmp_path / "run.covary", "--engine", address),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        wait_for_candidates(tmp_path / "run.covary", 1000, process)
        scheduler.kill()
        process.out, process.err = process.communicate(timeout=SECONDS)
        yield search, process


# Workers of a scheduler that is killed may be lost first.
LOST_SCHEDULER = re.compile(
    r"covary: (lost the connection to the Dask scheduler tcp://"
    r"|the Dask scheduler tcp://\S+ has no workers)"
)


def test_a_search_can_be_resumed_on_another_engine_if_its_scheduler_died(tmp_path):
    with scheduler_killed_during_search(tmp_path) as (search, process):
        assert process.returncode == 1
        assert LOST_SCHEDULER.match(process.err.splitlines()[-1])
    partial = content(tmp_path / "run.covary")
    run, other = tmp_path / "run.covary", tmp_path / "other.covary"
    resumed = covary.search(search[0], run=run, resume=True, **LONG)
    whole = covary.search(search[0], run=other, **LONG)
    assert scores_of(resumed) == scores_of(whole)
    assert content(run) == content(other)
    assert 0 < len(partial["candidates"]) < len(content(other)["candidates"])


@pytest.mark.slow
def test_a_scheduler_that_dies_is_an_error_in_one_line(tmp_path):
    with scheduler_killed_during_search(tmp_path) as (_, process):
        notice, line = process.err.splitlines()
        assert notice.endswith("sets to score")
        assert LOST_SCHEDULER.match(line)


# ---------------------------------------------------------------- the user's client


def test_a_client_can_still_be_used_after_a_search(client):
    first = covary.search(SMALL, engine=client)
    second = covary.search(SMALL, engine=client)
    assert scores_of(first) == scores_of(second) == scores_of(covary.search(SMALL))
    assert client.status == "running"
    assert client.submit(sum, [1, 2]).result(timeout=SECONDS) == 3
    assert distributed.client._get_global_client() is None


def test_no_data_remain_on_the_workers(client):
    covary.search(SMALL, engine=client)
    deadline = time.monotonic() + SECONDS
    while any(client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.has_what().values())


def test_two_threads_can_search_with_the_same_client(client):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(covary.search(SMALL, engine=client)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert [scores_of(result) for result in results] == 2 * [scores_of(covary.search(SMALL))]


def test_a_search_works_inside_a_running_event_loop(client):
    async def search():
        return covary.search(SMALL, engine=client)

    assert scores_of(asyncio.run(search())) == scores_of(covary.search(SMALL))


def error_of(engine):
    """Return the type and the text of the error of a search, and collect unfinished coroutines."""
    try:
        covary.search(SMALL, engine=engine)
    except Exception as error:
        type_and_text = type(error), str(error)
    else:
        pytest.fail("there was no error")
    gc.collect()
    return type_and_text


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_an_asynchronous_client_is_an_error(client):
    async def search():
        address = client.scheduler.address
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as own:
            return error_of(own)

    kind, line = asyncio.run(search())
    assert issubclass(kind, CovaryError)
    assert "asynchronous" in line


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_closed_client_is_an_error(client):
    with distributed.Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    kind, line = error_of(closed)
    assert issubclass(kind, EngineError)
    assert "closed" in line


def test_a_cluster_instead_of_a_client_works_or_is_an_error(client):
    try:
        result = covary.search(SMALL, engine=client.cluster)
    except ParameterError as error:
        assert "Client" in str(error)  # noqa: PT017
    else:
        assert scores_of(result) == scores_of(covary.search(SMALL))


def search_inside_a_task(table, engine):
    engine = distributed.get_client() if engine == "client" else engine
    return scores_of(covary.search(table, engine=engine))


def test_a_search_works_inside_a_dask_task(client):
    for engine in ("threads", "client", client.scheduler.address):
        inside = client.submit(search_inside_a_task, SMALL, engine, pure=False)
        assert inside.result(timeout=SECONDS) == scores_of(covary.search(SMALL))


def test_a_search_inside_a_dask_task_on_the_only_thread_does_not_hang(tmp_path):
    with local_cluster(1, tmp_path) as client:
        inside = client.submit(search_inside_a_task, SMALL, "client", pure=False)
        assert inside.result(timeout=SECONDS) == scores_of(covary.search(SMALL))


@pytest.mark.parametrize(
    "engine",
    [
        "processes",
        "dask",
    ],
)
def test_worker_processes_inside_a_dask_worker_are_an_error(engine, client):
    inside = client.submit(search_inside_a_task, SMALL, engine, pure=False)
    with pytest.raises(EngineError):
        inside.result(timeout=SECONDS)


@dataclass(frozen=True)
class Unreadable(Measure):
    """A measure that fails as if a file were missing."""

    def score_set(self, prepared, columns):
        raise OSError("there is no such disk")


def test_an_error_of_the_measure_is_not_mistaken_for_a_dead_worker(client):
    with pytest.raises(OSError, match="there is no such disk"):
        covary.search(SMALL, measure=Unreadable(), engine=client)


@contextmanager
def port_in_use(port):
    """A context in which a port is in use, by this process or another one."""
    with socket.socket() as server:
        with suppress(OSError):
            server.bind(("127.0.0.1", port))
            server.listen()
        yield


@pytest.mark.slow
def test_a_temporary_cluster_does_not_need_port_8787(small_csv, tmp_path):
    with port_in_use(8787):
        ran = covary_search(small_csv, "--engine", "dask", "--jobs", 1, TMPDIR=str(tmp_path))
    assert ran.stderr == ""


# ---------------------------------------------------------------- processes


def loky_workers():
    """Return the worker processes of this process, without resource trackers."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and "popen_loky" in " ".join(child.cmdline())
    ]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def divide_by_zero():
    raise ZeroDivisionError


ENDINGS = {
    "success": (lambda: None, None),
    "an error": (divide_by_zero, ZeroDivisionError),
    "an interrupt": (lambda: signal.raise_signal(signal.SIGINT), KeyboardInterrupt),
    "a killed worker": (lambda: loky_workers()[0].kill(), EngineError),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_process_and_no_folder_remain_after(ending, temporary):
    action, error = ENDINGS[ending]
    seen = []

    def observe_and_act():
        seen.extend([len(loky_workers()), *temporary.iterdir()])
        action()

    options = {
        "engine": "processes",
        "n_jobs": 1,
        "on_progress": during_search(observe_and_act),
        **LONG,
    }
    if error is None:
        assert scores_of(covary.search(LARGE, **options)) == undisturbed()
    else:
        with pytest.raises(error) as caught:
            covary.search(LARGE, **options)
        assert error is not EngineError or str(caught.value).startswith("a worker process died")
    n_workers, folder = seen
    assert n_workers == 1
    assert folder.name.startswith("covary-")
    assert list(temporary.iterdir()) == []
    assert loky_workers() == []


def memory_of(array):
    """Return the object that owns the memory of an array."""
    memory = array
    while True:
        owner = memory.obj if isinstance(memory, memoryview) else getattr(memory, "base", None)
        if owner is None:
            return memory
        memory = owner


def inspect_arrays(shared, items):
    _, prepared = shared
    # Workers get derived data ready made.
    (bins,) = prepared._derived.values()
    arrays = [prepared.orders, prepared.values, prepared.entropies, bins.codes]
    seen = [(isinstance(memory_of(array), mmap.mmap), array.flags.writeable) for array in arrays]
    return [seen for _ in items]


def test_processes_share_the_arrays_through_a_read_only_memory_map(temporary):
    scorer = find_measure("uds").scorer(prepare(SMALL))
    with Processes(2).session(scorer.shared) as session:
        seen = [arrays for _, part in session.run(inspect_arrays, range(8)) for arrays in part]
    assert seen == 8 * [4 * [(True, False)]]


SEARCH_IN_A_SCRIPT = """import covary, numpy as np, sys
table = np.random.default_rng(0).normal(size=(200, 6))
result = covary.search(table, engine=sys.argv[1], n_jobs=2)
print([s.score for s in result] == [s.score for s in covary.search(table)])
"""


def test_a_script_without_a_guard_works_with_processes(tmp_path):
    ran = script(tmp_path / "script.py", SEARCH_IN_A_SCRIPT, "processes", TMPDIR=str(tmp_path))
    assert (ran.stdout, ran.stderr) == ("True\n", "")


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_a_script_without_a_guard_works_with_dask(tmp_path, source):
    if source == "file":
        ran = script(tmp_path / "script.py", SEARCH_IN_A_SCRIPT, "dask", TMPDIR=str(tmp_path))
    else:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-", "dask"],
            input=SEARCH_IN_A_SCRIPT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
    assert (ran.stdout, ran.stderr) == ("True\n", "")


@pytest.mark.slow
def test_a_temporary_cluster_leaves_no_folder(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    ran = script(
        tmp_path / "script.py", SEARCH_IN_A_SCRIPT, "dask", guard=True, TMPDIR=str(folder)
    )
    assert ran.stdout == "True\n"
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_of_all_dask_processes_is_one_line(tmp_path):
    table = write_csv(tmp_path / "large.csv", LARGE)
    search = [table, "--strategy", "exhaustive", "--max-size", 4, "--engine", "dask", "--jobs", 2]
    with started(
        *command_line(*search, "--run", tmp_path / "run.covary"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        wait_for_candidates(tmp_path / "run.covary", 500, process)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert all(line.startswith("covary: ") for line in err.splitlines())


# ---------------------------------------------------------------- the user's measures


@dataclass(frozen=True)
class Mine(Measure):
    """A measure that is not registered."""

    power: float = 1.0

    def score_set(self, prepared, columns):
        entropies = prepared.entropies[list(columns)]
        return float(np.min(entropies) / np.max(entropies)) ** self.power


def measure_of_a_function():
    @dataclass(frozen=True)
    class Inner(Mine):
        """A measure that cannot be imported."""

    return Inner(2.0)


@pytest.mark.parametrize("engine", ["threads", "processes", "dask"])
def test_a_measure_of_the_users_module_works_in(engine, client):
    where = client if engine == "dask" else engine
    result = covary.search(SMALL, measure=Mine(2.0), engine=where, n_jobs=2)
    one = covary.search(SMALL, measure=Mine(2.0), n_jobs=1)
    assert result.measure == "Mine"
    assert scores_of(result) == scores_of(one)
    assert len({score for _, score in scores_of(one)}) > 10


@pytest.mark.parametrize("engine", ["threads", "processes", "dask"])
def test_a_measure_made_in_a_function_works_in(engine, client):
    where = client if engine == "dask" else engine
    result = covary.search(SMALL, measure=measure_of_a_function(), engine=where, n_jobs=2)
    assert scores_of(result) == scores_of(covary.search(SMALL, measure=Mine(2.0), n_jobs=1))


MEASURE_IN_A_SCRIPT = """from dataclasses import dataclass
import covary, numpy as np, sys
from covary.measures import Measure
@dataclass(frozen=True)
class Own(Measure):
    power: float = 1.0
    def score_set(self, prepared, columns):
        return float(np.min(prepared.entropies[list(columns)])) ** self.power
table = np.random.default_rng(0).random((200, 6))
result = covary.search(table, measure=Own(2.0), engine=sys.argv[1], n_jobs=1)
print([s.score for s in result] == [s.score for s in covary.search(table, measure=Own(2.0))])
"""


@pytest.mark.parametrize(
    "engine",
    [
        "processes",
        pytest.param("dask", marks=pytest.mark.slow),
    ],
)
def test_a_measure_of_a_script_works_in(engine, tmp_path):
    ran = script(
        tmp_path / "script.py", MEASURE_IN_A_SCRIPT, engine, guard=True, TMPDIR=str(tmp_path)
    )
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_the_tests_leave_no_dask_folder_in_the_project():
    folders = [Path.cwd(), Path(__file__).parent, Path(__file__).parents[1]]
    names = ("dask-worker-space", "dask-scratch-space")
    assert not [folder / name for folder in folders for name in names if (folder / name).exists()]
