"""Engines: the same results wherever tasks run, and no loose ends."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import covary
from covary.engines import Dask, Processes, Threads, find_engine
from covary.errors import ParameterError


def double(shared, items):
    return [shared * item for item in items]


def collect(engine, task, shared, items):
    """Return the results in the order of the items, and the chunks as they came."""
    results, chunks = {}, []
    with engine.session(shared) as session:
        for first, found in session.run(task, items):
            chunks.append((first, len(found)))
            results.update(enumerate(found, start=first))
    return [results[at] for at in range(len(items))], chunks


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
def test_every_item_is_done_once(n_jobs):
    results, chunks = collect(Threads(n_jobs), double, 2, range(1000))
    assert results == [2 * k for k in range(1000)]
    assert sum(size for _, size in chunks) == 1000


def test_nothing_to_do():
    assert collect(Threads(3), double, 2, []) == ([], [])


def test_chunks_grow_for_quick_tasks():
    _, chunks = collect(Threads(1), double, 1, range(100_000))
    assert len(chunks) < 200


def test_chunks_of_slow_tasks_are_single_items():
    def slow(shared, items):
        time.sleep(0.06 * len(items))
        return list(items)

    _, chunks = collect(Threads(2), slow, None, range(12))
    assert max(size for _, size in chunks) <= 2


def test_the_last_chunks_are_shared_among_the_workers():
    def brief(shared, items):
        time.sleep(0.0002 * len(items))
        return list(items)

    with Threads(4).session(None) as session:
        list(session.run(brief, range(8000)))
        sizes = [len(found) for _, found in session.run(brief, range(200))]
    assert max(sizes) <= 50


def test_an_error_in_a_task_reaches_the_caller_and_stops_the_rest():
    started = []

    def fail_at_ten(shared, items):
        started.extend(items)
        if 10 in items:
            raise ValueError("ten")
        time.sleep(0.001 * len(items))
        return list(items)

    with pytest.raises(ValueError, match="ten"):
        collect(Threads(2), fail_at_ten, None, range(100_000))
    assert len(started) < 1000


def test_no_thread_outlives_a_caller_who_stops_listening():
    before = threading.active_count()

    def stop_at_once(engine):
        with engine.session(1) as session:
            for _ in session.run(double, range(10_000_000)):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_at_once(Threads(2))
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("engine", [Threads, Processes, lambda n_jobs: Dask(None, n_jobs)])
def test_a_wrong_number_of_workers_is_refused(n_jobs, engine):
    with pytest.raises(ParameterError, match="n_jobs must be a number of workers from 1"):
        engine(n_jobs)


def test_engines_are_found_by_name_and_address():
    assert isinstance(find_engine("threads", 2), Threads)
    assert isinstance(find_engine("processes", 2), Processes)
    assert find_engine("dask", 2).where is None
    assert find_engine("tcp://127.0.0.1:8786").where == "tcp://127.0.0.1:8786"
    engine = Threads(1)
    assert find_engine(engine) is engine
    for nonsense in ("thread", 3, None):
        with pytest.raises(ParameterError, match=r"no engine .*: use 'threads', 'processes'"):
            find_engine(nonsense)


@pytest.mark.parametrize("measure", ["uds", "uds-unregularized"])
def test_a_matrix_has_the_same_bits_for_any_number_of_threads(measure):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 12)) + rng.normal(size=(300, 1))
    one = covary.matrix(table, measure=measure, n_jobs=1)
    for n_jobs in (2, 5):
        assert np.array_equal(covary.matrix(table, measure=measure, n_jobs=n_jobs), one)
