"""Threads: the same results whatever their number, and no loose ends."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import covary
from covary.engines import Threads
from covary.errors import ParameterError


def double(shared, item):
    return shared * item


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert Threads(n_jobs).run(double, 2, range(1000)) == [2 * k for k in range(1000)]


def test_nothing_to_do():
    assert Threads(3).run(double, 2, []) == []


def test_progress_ends_at_the_total_and_never_goes_back():
    seen = []
    Threads(3).run(double, 1, range(500), on_progress=lambda *event: seen.append(event))
    done = [event[0] for event in seen]
    assert done == sorted(done)
    assert seen[-1] == (500, 500)


def test_chunks_grow_for_quick_tasks():
    seen = []
    Threads(1).run(double, 1, range(100_000), on_progress=lambda *event: seen.append(event))
    assert len(seen) < 200


def test_an_error_in_a_task_reaches_the_caller_and_stops_the_rest():
    started = []

    def fail_at_ten(shared, item):
        started.append(item)
        if item == 10:
            raise ValueError("ten")
        time.sleep(0.001)

    with pytest.raises(ValueError, match="ten"):
        Threads(2).run(fail_at_ten, None, range(100_000))
    assert len(started) < 1000


def test_an_interrupt_stops_the_workers():
    before = threading.active_count()

    def interrupted(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Threads(2).run(double, 1, range(10_000_000), on_progress=interrupted)
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True, "2"])
def test_a_wrong_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be a number of threads from 1"):
        Threads(n_jobs)


@pytest.mark.parametrize("measure", ["uds", "uds-unregularized"])
def test_a_matrix_has_the_same_bits_for_any_number_of_threads(measure):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 12)) + rng.normal(size=(300, 1))
    one = covary.matrix(table, measure=measure, n_jobs=1)
    for n_jobs in (2, 5):
        assert np.array_equal(covary.matrix(table, measure=measure, n_jobs=n_jobs), one)
