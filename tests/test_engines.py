"""Engines: every engine gives the same results and leaves no threads behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import covary
from covary.engines import ENGINES, Engine, Session, Threads, find_engine, run_here
from covary.engines.base import CHUNK_SECONDS, is_cancelled
from covary.engines.single_blas import single_threaded_blas
from covary.errors import ParameterError


def double(shared, items):
    return [shared * item for item in items]


def collect(session, task, items):
    """Return the results in the order of the items, and (first, size) of every chunk."""
    results, chunks = {}, []
    for first, chunk_results in session.run(task, items):
        chunks.append((first, len(chunk_results)))
        results.update(enumerate(chunk_results, start=first))
    return [results[at] for at in range(len(items))], chunks


class FakeSession(Session):
    """Runs tasks at once and reports a fixed duration per item."""

    def __init__(self, n_workers, seconds_per_item):
        super().__init__(n_workers)
        self.seconds_per_item = seconds_per_item

    def submit(self, task, items):
        future = Future()
        future.set_result((self.seconds_per_item * len(items), task(1, items)))
        return future


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
def test_every_item_is_computed_once(n_jobs):
    with Threads(n_jobs).session(2) as session:
        results, chunks = collect(session, double, range(1000))
    assert results == [2 * item for item in range(1000)]
    assert sum(size for _, size in chunks) == 1000


def test_no_items_give_no_chunks():
    with Threads(3).session(2) as session:
        assert collect(session, double, []) == ([], [])


def test_chunks_of_fast_tasks_double_until_they_take_long_enough():
    _, chunks = collect(FakeSession(1, 1e-9), double, range(100_000))
    sizes = [size for _, size in chunks]
    assert sizes[:5] == [1, 1, 2, 4, 8]
    assert len(sizes) < 100


def test_chunks_of_slow_tasks_have_one_item():
    _, chunks = collect(FakeSession(2, 2 * CHUNK_SECONDS), double, range(12))
    assert [size for _, size in chunks] == 12 * [1]


def test_chunks_shrink_if_a_task_becomes_slower():
    session = FakeSession(1, 1e-9)
    collect(session, double, range(10_000))
    session.seconds_per_item = CHUNK_SECONDS
    _, chunks = collect(session, double, range(100_000))
    assert chunks[-1][1] < chunks[0][1] / 100


def test_the_last_chunks_are_shared_among_the_workers():
    session = FakeSession(4, CHUNK_SECONDS / 1000)
    collect(session, double, range(80_000))
    _, chunks = collect(session, double, range(2000))
    assert max(size for _, size in chunks) == 2000 / (2 * session.n_workers)


def test_an_error_in_a_task_reaches_the_caller_and_stops_the_other_tasks(monkeypatch):
    monkeypatch.setattr("covary.engines.base.CHUNK_SECONDS", 0.0)  # chunks of one item
    started = []

    def fail_at_ten(shared, items):
        started.extend(items)
        if 10 in items:
            raise ValueError("ten")
        return list(items)

    with Threads(2).session(None) as session, pytest.raises(ValueError, match="ten"):
        collect(session, fail_at_ten, range(100_000))
    assert len(started) < 100_000


class WorkersLostError(Exception):
    """The error of a session that has lost its workers."""


class UnreliableSession(FakeSession):
    """Loses every chunk of the first ``n_lost`` ones."""

    retryable = (WorkersLostError,)

    def __init__(self, n_lost, max_failures):
        super().__init__(2, CHUNK_SECONDS)
        self.n_lost = n_lost
        self.max_failures = max_failures
        self.failures = []

    def submit(self, task, items):
        if self.n_lost == 0:
            return super().submit(task, items)
        self.n_lost -= 1
        future = Future()
        future.set_exception(WorkersLostError())
        return future

    def recover(self, error, failures):
        self.failures.append(failures)
        if failures > self.max_failures:
            raise error


def test_lost_chunks_are_computed_again():
    session = UnreliableSession(n_lost=4, max_failures=1)
    results, _ = collect(session, double, range(20))
    assert results == list(range(20))
    assert session.failures == [1], "one recovery is enough for chunks that were lost together"


def test_a_chunk_that_is_lost_too_often_is_an_error():
    session = UnreliableSession(n_lost=100, max_failures=3)
    with pytest.raises(WorkersLostError):
        collect(session, double, range(20))
    assert max(session.failures) == 4


class InterruptedSession(FakeSession):
    """Receives Ctrl-C while it submits a chunk, for which real sessions take locks."""

    def __init__(self):
        super().__init__(1, 1e-9)
        self.n_begun = self.n_submitted = 0

    def submit(self, task, items):
        self.n_begun += 1
        signal.raise_signal(signal.SIGINT)
        future = super().submit(task, items)
        self.n_submitted += 1
        return future


def test_ctrl_c_waits_until_a_chunk_is_submitted():
    session = InterruptedSession()
    with pytest.raises(KeyboardInterrupt):
        collect(session, double, range(20))
    assert session.n_begun == session.n_submitted == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_submits_without_a_handler_of_signals():
    results = []
    thread = threading.Thread(
        target=lambda: results.extend(collect(FakeSession(2, 1e-9), double, range(20))[0])
    )
    thread.start()
    thread.join()
    assert results == list(range(20))


def test_no_thread_remains_if_the_caller_stops_iterating():
    n_before = threading.active_count()

    def stop_after_one_chunk(engine):
        with engine.session(1) as session:
            for _ in session.run(double, range(10_000_000)):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_after_one_chunk(Threads(2))
    assert threading.active_count() == n_before


def test_a_task_learns_that_its_session_has_ended():
    started, stopped = threading.Event(), threading.Event()

    def wait_for_the_end(shared, items):
        if items[0] == 0:
            return [is_cancelled()]
        started.set()
        while not is_cancelled():
            time.sleep(0.001)
        stopped.set()
        return [True]

    with Threads(2).session(None) as session:
        chunks = session.run(wait_for_the_end, range(2))
        assert next(chunks) == (0, [False])
        assert started.wait(60)
        assert not stopped.is_set()
    assert stopped.is_set()
    assert not is_cancelled()


def test_tasks_without_an_engine_run_in_the_calling_thread():
    def thread_of(shared, items):
        return [(shared, item, threading.current_thread()) for item in items]

    here = threading.current_thread()
    chunks = list(run_here("shared")(thread_of, range(3)))
    assert chunks == [(item, [("shared", item, here)]) for item in range(3)]


def test_an_interrupt_of_a_kernel_is_a_keyboard_interrupt():
    def interrupted_kernel(shared, items):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("a kernel returned a result with an exception set") from interrupt

    def broken_kernel(shared, items):
        raise SystemError("broken")

    with pytest.raises(KeyboardInterrupt):
        list(run_here(None)(interrupted_kernel, range(3)))
    with pytest.raises(SystemError, match="broken"):
        list(run_here(None)(broken_kernel, range(3)))


# ---------------------------------------------------------------- finding an engine


def blas_threads(shared=None, items=(0,)):
    """The numbers of threads that linear algebra may use now."""
    return [max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")]


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_linear_algebra_of_tasks_uses_one_thread_and_is_released_afterwards(name):
    before = blas_threads()
    with find_engine(name, 2).session(None) as session:
        found = list(session.run(blas_threads, [0]))
    assert found == [(0, [1])]
    assert blas_threads() == before


def test_users_of_single_threaded_linear_algebra_may_overlap():
    before = blas_threads()
    one, other = single_threaded_blas(), single_threaded_blas()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert blas_threads() == [1]
    other.__exit__(None, None, None)
    assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("name", ENGINES.entries())
def test_an_invalid_number_of_workers_is_an_error(name, n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be a number of workers from 1"):
        find_engine(name, n_jobs)


@pytest.mark.parametrize("name", ENGINES.entries())
def test_every_registered_engine_is_found_by_its_name(name):
    entry = ENGINES.entries()[name]
    engine = find_engine(name, 2)
    assert type(engine) is entry.cls
    assert engine.n_jobs == 2
    assert getattr(covary.engines, entry.cls.__name__) is entry.cls
    assert entry.summary


def test_an_engine_is_found_by_an_address():
    assert find_engine("dask", 2).where is None
    assert find_engine("tcp://127.0.0.1:8786").where == "tcp://127.0.0.1:8786"
    assert find_engine("tls://127.0.0.1:8786", 3).n_jobs == 3


def test_an_engine_is_used_as_it_is():
    engine = Threads(1)
    assert find_engine(engine) is engine


@pytest.mark.parametrize("unknown", ["thread", "foo://bar", 3, None])
def test_an_unknown_engine_is_an_error_that_lists_the_engines(unknown):
    with pytest.raises(ParameterError, match="there is no engine") as caught:
        find_engine(unknown)
    for name in ENGINES.entries():
        assert f"'{name}'" in str(caught.value)


def test_a_new_engine_needs_only_to_register(monkeypatch):
    monkeypatch.setattr(ENGINES, "_entries", dict(ENGINES._entries))

    @ENGINES.register("fake", "runs tasks at once")
    class Fake(Engine):
        def __init__(self, n_jobs=None, place=None):
            self.n_jobs = n_jobs
            self.place = place

        @classmethod
        def at(cls, place, n_jobs):
            return cls(n_jobs, place) if place == "fake://there" else None

        def session(self, shared):
            return nullcontext(FakeSession(2, CHUNK_SECONDS))

    assert find_engine("fake", 5).n_jobs == 5
    assert find_engine("fake://there").place == "fake://there"
    assert covary.engines.Fake is Fake


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = covary.engines.Nothing


def test_importing_the_engines_loads_no_package_that_only_one_engine_needs():
    code = "import covary.engines as e, sys; e.find_engine('threads', 1); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert loaded.isdisjoint({"joblib", "cloudpickle", "dask", "distributed"})


@pytest.mark.parametrize("measure", ["uds", "uds-unregularized"])
def test_a_matrix_has_the_same_bits_for_any_number_of_threads(measure):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 12)) + rng.normal(size=(300, 1))
    one = covary.matrix(table, measure=measure, n_jobs=1)
    for n_jobs in (2, 5):
        assert np.array_equal(covary.matrix(table, measure=measure, n_jobs=n_jobs), one)
