"""Compare the kernels with their naive twins."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import naive
import numpy as np
import pytest
from example_tables import tables
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import types

from covary import UDS
from covary.kernels.shared import columns, cubes, entropy_tables, intervals, jit, partition
from covary.measures.shared.bins import EqualFrequencyBins
from covary.prepare import Prepared
from covary.prepare.sorting import sort_column
from covary.table import Column, Table

seeds = st.integers(0, 2**32 - 1)


def prepared(table: np.ndarray) -> Prepared:
    return Prepared(Table(tuple(Column(f"x{k}", v) for k, v in enumerate(table.T)), len(table)))


@given(tables(rows=(3, 300), columns=(1, 1)))
def test_cumulative_entropy(table):
    entropy = prepared(table).entropies[0]
    assert entropy == pytest.approx(naive.cumulative_entropy(table[:, 0]), rel=1e-9, abs=1e-300)


def test_cumulative_entropy_by_hand():
    # Three values, gaps 1 and 3: -(1 (1/3) log(1/3) + 3 (2/3) log(2/3)).
    by_hand = (math.log(3) + 6 * math.log(1.5)) / 3
    found = columns.cumulative_entropy(np.array([0.0, 1.0, 4.0]), entropy_tables.increments(3))
    assert found == pytest.approx(by_hand, rel=1e-15)


@given(st.integers(2, 5000))
def test_increments_of_t_log_t(t):
    exact = t * math.log(t) - (t - 1) * math.log(t - 1)
    assert entropy_tables.increments(t)[t] == pytest.approx(exact, rel=1e-10)


def test_a_larger_table_of_increments_has_the_same_values():
    small = entropy_tables.increments(10)[:11].copy()
    assert np.array_equal(entropy_tables.increments(20_000)[:11], small)
    assert entropy_tables.increments(20_000).size > 20_000


@given(tables(rows=(3, 300), columns=(1, 1)), st.integers(2, 40))
def test_initial_bins(table, beta):
    bins = prepared(table).derived(EqualFrequencyBins, beta)
    expected = naive.initial_bins(table[:, 0], beta)
    assert bins.counts[0] == len(expected)
    for code, rows in enumerate(expected):
        assert np.flatnonzero(bins.codes[0] == code).tolist() == sorted(rows)
    assert np.array_equal(bins.codes[0] == len(expected), np.isnan(table[:, 0]))


def test_initial_bins_by_hand():
    # Ten rows in three bins: the target size is 3, then (10 - 2) // 2 = 4. The value 1 occurs
    # five times.
    values = np.array([0, 0, 1, 1, 1, 1, 1, 2, 3, 4], dtype=float)
    bins = prepared(values[:, None]).derived(EqualFrequencyBins, 3)
    assert bins.codes[0].tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]


@given(tables(rows=(3, 400), columns=(1, 1)))
def test_sorting_is_stable(table):
    values = table[:, 0]
    order, ordered = sort_column(values)
    assert ordered.tolist() == sorted(values[~np.isnan(values)])
    assert order.tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, 1.0 + 2**-52, 1e300, 1.0]),
        np.array([-1.7e308, 1.7e308, 0.0]),
        np.array([5e-324, 0.0, 1e-323]),
        np.nextafter(1.0, 2.0) ** np.arange(2000)[::-1],
    ],
    ids=["close", "wide", "subnormal", "one ulp apart"],
)
def test_sorting_is_exact_if_values_differ_by_little(values):
    order, _ = sort_column(values)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()


def random_step(seed, n_rows, n_cubes, n_bins, ties):
    """Return a target, its cells as lists of rows, and the arguments of the interval kernels."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 6, n_rows).astype(float) if ties else rng.random(n_rows)
    codes = rng.integers(0, n_bins, n_rows).astype(np.uint8)
    cube = rng.integers(0, n_cubes, n_rows).astype(np.uint32)
    order = np.argsort(target, kind="stable").astype(np.uint32)
    grouped = cubes.group_by_cube(order, target[order], codes, n_bins, cube, n_cubes)
    values, sorted_codes, starts = grouped
    cells = [
        [np.flatnonzero((cube == c) & (codes == b)).tolist() for b in range(n_bins)]
        for c in range(n_cubes)
    ]
    return target, cells, (values, sorted_codes, starts[: n_cubes + 1], n_bins)


@given(seeds, st.integers(3, 250), st.integers(1, 30), st.integers(1, 9), st.booleans())
@example(1, 2000, 1, 20, False)
@example(2, 2000, 3, 40, True)
@example(3, 1500, 700, 20, False)
def test_interval_costs(seed, n_rows, n_cubes, n_bins, ties):
    target, cells, grouped = random_step(seed, n_rows, n_cubes, n_bins, ties)
    found = intervals.interval_costs(*grouped, entropy_tables.increments(n_rows))
    for j in range(n_bins):
        for i in range(j, n_bins):
            union = [sorted(itertools.chain(*cube[j : i + 1])) for cube in cells]
            cost = sum(len(u) * naive.cumulative_entropy(target[u]) for u in union)
            entropy = sum(len(u) * math.log(len(u)) for u in union if u)
            assert found[j, i, 0] == pytest.approx(cost, rel=1e-9, abs=1e-9)
            assert found[j, i, 1] == pytest.approx(entropy, rel=1e-9, abs=1e-9)


@given(seeds, st.integers(3, 250), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_outer_costs_equal_interval_costs(seed, n_rows, n_cubes, n_bins, ties):
    _, _, grouped = random_step(seed, n_rows, n_cubes, n_bins, ties)
    table = entropy_tables.increments(n_rows)
    costs, entropies = np.moveaxis(intervals.interval_costs(*grouped, table), 2, 0)
    finest, splits, merges = intervals.outer_costs(*grouped, table, True)
    last = n_bins - 1
    single = [costs[k, k] for k in range(n_bins)]
    assert finest == pytest.approx(sum(single), abs=1e-9)
    for k in range(last):
        assert splits[k] == pytest.approx(entropies[0, k] + entropies[k + 1, last], abs=1e-9)
        merged = costs[k, k + 1] - single[k] - single[k + 1]
        assert merges[k] == pytest.approx(merged, abs=1e-9)
    undivided = intervals.undivided_costs(grouped[0], grouped[2], table)
    assert undivided == pytest.approx((costs[0, last], entropies[0, last]), abs=1e-9)


@given(seeds, st.integers(1, 9), st.booleans())
def test_best_partitions_have_the_minimal_cost(seed, n_bins, ties):
    rng = np.random.default_rng(seed)
    table = np.zeros((n_bins + 1, n_bins + 1, 2))
    draw = rng.integers(0, 4, table.shape) if ties else rng.random(table.shape)
    table[:] = draw
    least, start = partition.best_partitions(table, n_bins, 1.0)
    for parts in range(1, n_bins + 1):
        partitions = naive.all_partitions(n_bins, parts)
        costs = [
            sum(table[a, b, 0] for a, b in zip([0, *(e + 1 for e in ends)], ends, strict=False))
            for ends in partitions
        ]
        assert least[parts - 1, n_bins - 1] == pytest.approx(min(costs), abs=1e-9)
        ends = partition.part_ends(start, parts)
        assert partition.sum_over_parts(ends, table, 0) == pytest.approx(min(costs), abs=1e-9)
        assert ends.tolist() in partitions


@given(seeds, st.integers(3, 200), st.integers(1, 40), st.integers(1, 6))
def test_refined_cubes_are_intersections(seed, n_rows, n_cubes, n_bins):
    rng = np.random.default_rng(seed)
    cube = rng.integers(0, n_cubes, n_rows)
    code = rng.integers(0, 8, n_rows).astype(np.uint8)
    bin_of_code = np.sort(rng.integers(0, n_bins, 8)).astype(np.uint8)
    alone = np.bincount(cube, minlength=n_cubes)[cube] == 1
    refined, count = cubes.refine_cubes(
        np.where(alone, n_cubes, cube).astype(np.uint32), n_cubes, code, bin_of_code, n_bins
    )
    pairs = list(zip(cube.tolist(), bin_of_code[code].tolist(), strict=True))
    shared = sorted({pair for pair in pairs if pairs.count(pair) > 1})
    assert count == len(shared)
    for row, pair in enumerate(pairs):
        assert refined[row] == (shared.index(pair) if pair in shared else count)


def check_against_naive(table, beta, regularize):
    measure = UDS(beta=beta, regularize=regularize)
    explanation = measure.explain_set(prepared(table), range(table.shape[1]))
    in_order = [table[:, int(name[1:])].tolist() for name in explanation.order]
    weights = [naive.entropy_weight(column, "range") for column in in_order]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(weights))
    score, steps = naive.uds_of_order(in_order, beta, regularize)
    assert explanation.score == pytest.approx(score, abs=1e-9)
    for step, (explained, ends) in zip(explanation.steps, steps, strict=True):
        assert step.explained == pytest.approx(explained, abs=1e-9)
        assert step.bins == len(ends)


@settings(max_examples=150)
@given(tables(rows=(3, 90), columns=(2, 5)), st.integers(2, 12), st.booleans())
def test_scores_and_bins_equal_the_naive_ones(table, beta, regularize):
    check_against_naive(table, beta, regularize)


@settings(max_examples=12)
@given(tables(rows=(100, 300), columns=(2, 8)), st.integers(13, 40), st.booleans())
def test_scores_and_bins_equal_the_naive_ones_with_many_bins(table, beta, regularize):
    check_against_naive(table, beta, regularize)


@pytest.mark.parametrize("regularize", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_scores_and_bins_equal_the_naive_ones_with_many_rows(regularize, missing):
    rng = np.random.default_rng(5)
    x = rng.normal(size=2000)
    table = np.column_stack([x, np.round(x**2, 1), rng.integers(0, 9, 2000), x + rng.random(2000)])
    table[rng.random(table.shape) < missing] = np.nan
    check_against_naive(table, 20, regularize)


@given(seeds, st.integers(2, 400), st.integers(1, 60))
def test_sorting_is_exact_if_many_values_share_a_key(seed, n_rows, n_close):
    # One distant value leaves few or no bits of the key for the differences between the others.
    rng = np.random.default_rng(seed)
    values = 1.0 + rng.integers(0, n_close, n_rows) * 2.0**-52
    values[0] = 1e9
    order, ordered = sort_column(values)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
    assert ordered.tolist() == sorted(values)


def test_costs_of_cells_with_more_rows_than_the_logarithm_table():
    rng = np.random.default_rng(0)
    n = 12_000
    target = np.sort(rng.random(n))
    codes = (np.arange(n) % 3 == 0).astype(np.uint8)
    starts = np.array([0, n], np.uint64)
    found = intervals.interval_costs(target, codes, starts, 2, entropy_tables.increments(n))
    for (j, i), rows in {(0, 0): codes == 0, (1, 1): codes == 1, (0, 1): codes >= 0}.items():
        x = target[rows]
        t = np.arange(1, x.size) / x.size
        entropy = -np.sum(np.diff(x) * t * np.log(t))
        assert found[j, i, 0] == pytest.approx(x.size * entropy, rel=1e-11)
        assert found[j, i, 1] == pytest.approx(x.size * math.log(x.size), rel=1e-14)


def test_the_leftmost_of_equal_splits_wins_despite_rounding():
    # All cuts in two have the same cost, up to rounding.
    table = np.zeros((5, 5, 2))
    table[:4, :4, 0] = np.add.outer(-np.arange(4), np.arange(4)) + 1.0
    table[2, 3, 0] -= 1e-15
    table[3, 3, 0] -= 2e-15
    _, start = partition.best_partitions(table, 4, 4.0)
    assert partition.part_ends(start, 2).tolist() == [0, 3]
    assert partition.part_ends(start, 3).tolist() == [0, 1, 3]


# ---------------------------------------------------------------- compilation


def test_kernels_are_compiled_when_they_are_first_called():
    code = (
        "import covary, sys, numpy as np; from covary.kernels.shared.jit import Kernel\n"
        "covary.score(np.random.default_rng(0).normal(size=(200, 2)))\n"
        "modules = [m for name, m in sys.modules.items() if name.startswith('covary.kernels')]\n"
        "every = [k for m in modules for k in vars(m).values() if isinstance(k, Kernel)]\n"
        "print(len([k for k in every if 'compiled' in vars(k)]), len(every))"
    )
    output = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    n_compiled, n_loaded = map(int, output.stdout.split())
    assert 0 < n_compiled < n_loaded / 2


def test_threads_that_call_a_kernel_first_compile_it_once(monkeypatch):
    calls = []

    def slow_njit(*arguments, **options):
        def compiled(function):
            calls.append(function)
            time.sleep(0.2)
            return function

        return compiled

    monkeypatch.setattr(jit, "njit", slow_njit)
    twice = jit.kernel(types.float64(types.float64))(lambda x: 2 * x)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(twice, range(8))) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert len(calls) == 1
