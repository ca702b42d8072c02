"""Significance tests: comparison with naive versions, engines, run files, and level on noise."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import math
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from example_tables import tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import covary
import naive_chance
import naive_conditional
import naive_evidence
import naive_significance as naive
from covary import UDSChance
from covary.correlation_scale import reading
from covary.engines import Threads
from covary.errors import ColumnError, ParameterError, RunError, TableError
from covary.measures import Measure, all_measures, find_measure
from covary.measures.shared.bins import EqualFrequencyBins
from covary.measures.uds_chance import conditional, increments
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import FoldedColumns, MidRanks
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.prepare import Ranks, prepare
from covary.report.presenter import search_result
from covary.searching.options import SearchOptions
from covary.searching.plan import plan_search
from covary.searching.run import Search
from covary.searching.strategies import find_strategy
from covary.seeds import Purpose
from covary.significance import increments as increment_tests
from covary.significance import nulls, permutation
from covary.significance.increments import IncrementTests
from covary.significance.null_evidence import NullEvidence, false_discovery_rates
from covary.significance.nulls import RandomPermutations, all_arrangements, present_rows
from covary.significance.stopping import Stopping
from covary.tail_probability import tail_probability as tail_probability_of
from covary.tolerance import at_least
from stored_tasks import items_of

# Our own measures. They have their own kernels for permutations; baselines use the default.
MEASURES = [name for name in sorted(all_measures()) if name.startswith("uds")]
KINDS = ("normal", "ties", "binary", "heavy", "dependent", "offset")
nan = np.nan


def listed(table):
    return [column.tolist() for column in np.asarray(table).T]


def as_table(columns):
    return np.array(columns, float).T


def moved(table, moves):
    """Return the table with the value of row i of a column in row moves[column][i]."""
    table = table.copy()
    for column, rows in moves.items():
        table[rows, column] = table[:, column].copy()
    return table


def random_moves(rng, n_rows, columns):
    return {column: rng.permutation(n_rows).astype(np.uint32) for column in columns}


def checked(table, *arguments, **options):
    return covary.test(table, *arguments, **{"permutations": 39, "n_jobs": 1, **options})


def searched(table, **options):
    return covary.search(table, **{"permutations": 39, "n_jobs": 1, **options})


@pytest.fixture(scope="module")
def table():
    """Return five columns: a pair, a product of two others, and noise; ties, missing cells."""
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(120, 5))
    cells[:, 1] = cells[:, 0] + 0.5 * rng.normal(size=120)
    cells[:, 4] = np.round(np.sign(cells[:, 2]) * np.sign(cells[:, 3]) * rng.random(120), 1)
    cells[:, 2] = np.round(cells[:, 2], 1)
    cells[rng.random(120) < 0.1, 3] = nan
    return cells


# ---------------------------------------------------------------- all arrangements

few_cells = st.sampled_from([0.0, 1.0, 2.5, -3.0, nan])


@st.composite
def small_tables(draw, rows=(3, 5), columns=(2, 3)):
    """Draw a table with few rows, many ties and missing cells; a column may be constant."""
    n_rows = draw(st.integers(*rows))
    column = st.lists(few_cells, min_size=n_rows, max_size=n_rows)
    return as_table(draw(st.lists(column, min_size=columns[0], max_size=columns[1])))


@settings(max_examples=60)
@given(st.lists(few_cells, min_size=3, max_size=6))
def test_all_arrangements_of_a_column_are_the_naive_ones(column):
    table = np.column_stack([column, np.arange(len(column))])
    found = nulls._arrangements(prepare(table).derived(Ranks).by_row[0])
    assert found[0].tolist() == list(range(len(column)))
    columns = [tuple(moved(table, {0: rows})[:, 0].tolist()) for rows in found]
    columns = [tuple(None if x != x else x for x in each) for each in columns]
    assert len(set(columns)) == len(columns)
    assert set(columns) == naive.arrangements(column)


@settings(max_examples=60)
@given(small_tables(), st.booleans())
def test_every_table_is_listed_once_unless_there_are_too_many(table, with_target):
    n_columns = table.shape[1]
    target = n_columns - 1 if with_target else None
    counts = [len(naive.arrangements(column)) for column in listed(table)]
    total = counts[target] if with_target else math.prod(counts) // max(counts)
    prepared = prepare(table)
    assert all_arrangements(prepared, range(n_columns), target, total - 2) is None
    every = all_arrangements(prepared, range(n_columns), target, total - 1)
    assert every.number == total - 1
    if with_target:
        assert every.columns == (target,)
    else:
        (fixed,) = set(range(n_columns)) - set(every.columns)
        assert counts[fixed] == max(counts)
    seen = {repr(moved(table, every.moves(number)).tolist()) for number in range(total - 1)}
    assert len(seen) == total - 1
    assert repr(table.tolist()) not in seen


def test_arrangements_with_too_many_cells_are_not_listed(monkeypatch):
    table = np.column_stack([np.arange(50.0), np.arange(50) < 1])
    prepared = prepare(table)
    assert all_arrangements(prepared, (0, 1), None, 49).number == 49
    monkeypatch.setattr(nulls, "MAX_LISTED_CELLS", 50 * 50 + 1)
    assert all_arrangements(prepared, (0, 1), None, 49).number == 49
    monkeypatch.setattr(nulls, "MAX_LISTED_CELLS", 50 * 50 - 1)
    assert all_arrangements(prepared, (0, 1), None, 49) is None


def evidence_of_columns(measure, target=None):
    def statistic(columns):
        every = tuple(range(len(columns)))
        return measure.evidence_sets(prepare(as_table(columns)), [every], target)[0]

    return statistic


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=10)
@given(small_tables(rows=(3, 4)), st.booleans())
def test_exact_pvalues_are_those_over_all_tables(name, table, with_target):
    measure = find_measure(name)
    target = 1 if with_target else None
    columns = listed(table)
    # Constant columns have their own test below.
    assume(all(naive_chance.varies(column) for column in columns))
    result = checked(table, measure=measure, target=target, permutations=10_000)
    assert result.exact
    missing_stay = measure.keeps_missing(prepare(table))
    assert missing_stay == (name == "uds-chance")
    every = naive.all_tables(columns, target, missing_stay)
    assert result.permutations == len(result.null) == len(every) - 1
    statistic = evidence_of_columns(measure, target)
    expected = naive.exact_pvalue(columns, statistic, target, missing_stay)
    assert result.pvalue == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("target", [None, 1])
def test_exact_pvalues_of_naive_evidence(target):
    """The expected p-values use neither arrangements nor evidence of the package."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(6):
        x = rng.normal(size=5)
        cells = np.column_stack([x, x + rng.choice([0.0, 1.0]) * rng.normal(size=5)])
        result = checked(cells, target=target, permutations=119)
        expected = naive.exact_pvalue(
            listed(cells), lambda columns: naive_evidence.evidence(columns, target), target
        )
        assert (result.exact, result.permutations) == (True, 119)
        assert result.pvalue == float(expected)
        seen.add(expected)
    assert len(seen) > 1
    assert not checked(cells, target=target, permutations=118).exact


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("target", [None, 0, 1])
@pytest.mark.parametrize("constant", [7.0, nan])
def test_a_constant_column_gives_p_1_and_score_0(name, target, constant):
    table = np.column_stack([np.random.default_rng(0).normal(size=12), np.full(12, constant)])
    result = checked(table, measure=name, target=target)
    assert (result.pvalue, result.score) == (1.0, 0.0)


def test_a_table_of_constant_columns_gives_p_1():
    assert checked(np.ones((9, 3))).pvalue == 1.0


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_an_additional_constant_column_does_not_change_the_pvalue(seed):
    """The tables under the null hypothesis are the same, in another order."""
    x = np.random.default_rng(seed).integers(0, 3, size=(4, 2)).astype(float)
    assume(all(naive_chance.varies(column) for column in listed(x)))
    with_constant = np.column_stack([x, np.ones(4)])
    one, other = (checked(each, permutations=1000) for each in (x, with_constant))
    assert one.exact
    assert other.exact
    assert one.pvalue == other.pvalue


# ---------------------------------------------------------------- random permutations


def test_each_seed_purpose_number_and_column_has_its_own_permutation():
    permutations = RandomPermutations(40, (1, 3), seed=5)
    drawn = {}
    for seed, purpose, number in itertools.product(
        (5, 6), (Purpose.SET_TESTS, Purpose.NULL_SEARCHES), range(4)
    ):
        moves = RandomPermutations(40, (1, 3), seed, purpose).moves(number)
        assert list(moves) == [1, 3]
        for column, rows in moves.items():
            assert sorted(rows.tolist()) == list(range(40))
            drawn[seed, purpose, number, column] = tuple(rows.tolist())
    assert len(set(drawn.values())) == len(drawn)
    assert tuple(permutations.moves(2)[3].tolist()) == drawn[5, Purpose.SET_TESTS, 2, 3]
    fewer = RandomPermutations(40, (3,), seed=5)
    assert fewer.moves(2)[3].tolist() == permutations.moves(2)[3].tolist()


def test_every_permutation_is_equally_likely():
    permutations = RandomPermutations(4, (0,), seed=1)
    counts = dict.fromkeys(itertools.permutations(range(4)), 0)
    for number in range(4800):
        counts[tuple(permutations.moves(number)[0].tolist())] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


# ---------------------------------------------------------------- early stopping

STOPPINGS = [
    (maximum, level, continue_below)
    for maximum in (1, 31, 32, 33, 100)
    for level in (0.05, 0.01, 0.3)
    for continue_below in (False, True)
]


def complete_stopping(maximum, level, continue_below):
    """Return a stopping rule with all boundaries computed."""
    stop = Stopping(maximum, level, continue_below=continue_below)
    stop.stops(np.zeros(maximum, np.int64))
    return stop


@pytest.mark.parametrize(("maximum", "level", "continue_below"), [*STOPPINGS, (190, 0.05, False)])
def test_boundaries_and_pvalues_are_the_naive_ones(maximum, level, continue_below):
    stop = complete_stopping(maximum, level, continue_below)
    limits = naive.boundaries(maximum, level, continue_below)
    assert list(zip(stop.lower, stop.upper, strict=True))[1:] == list(limits[1:])
    expected = naive.stopping_pvalues(maximum, limits)
    assert set(stop.pvalues) == set(expected)
    for place, pvalue in expected.items():
        assert stop.pvalue(*place) == pytest.approx(float(pvalue), rel=1e-11)
    assert max(stop.pvalues.values()) <= 1


@pytest.mark.parametrize("level", [0.05, 0.01, 0.2])
def test_pvalue_at_a_boundary_is_on_its_side_of_the_level(level):
    """At the lower boundary the p-value is at most the level, at the upper one it is higher."""
    stop = complete_stopping(1500, level, continue_below=False)
    sides = {True: 0, False: 0}
    for (n, count), pvalue in stop.pvalues.items():
        if count <= stop.lower[n] or count >= stop.upper[n]:
            below = count <= stop.lower[n]
            sides[below] += 1
            assert (pvalue <= level) == below
    assert min(sides.values()) > 2


def test_the_smallest_pvalue_is_the_one_in_the_docs():
    assert (
        0.0057 < min(complete_stopping(1000, 0.05, continue_below=False).pvalues.values()) < 0.0058
    )


@pytest.mark.parametrize("maximum", [19, 39, 59, 99, 199, 999])
def test_pvalues_of_tests_without_lower_boundary_are_not_rounded_up(maximum):
    """1 / 20 must be at most 0.05: it is the smallest p-value of 19 permutations."""
    stop = complete_stopping(maximum, 0.05, continue_below=True)
    for count in range((maximum + 1) // 20):
        assert stop.pvalue(maximum, count) <= (count + 1) / (maximum + 1)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from(STOPPINGS), st.integers(1, 100))
def test_a_test_stops_where_the_naive_one_does(seed, which, n_first):
    maximum, level, continue_below = which
    rng = np.random.default_rng(seed)
    reached = rng.random(maximum) < rng.choice([0.0, 0.01, 0.05, 0.1, 0.5, 1.0])
    counts = np.cumsum(reached)
    end, count = naive.run_until_stopped(
        reached, maximum, naive.boundaries(maximum, level, continue_below)
    )
    stop = Stopping(maximum, level, continue_below=continue_below)
    n_first = min(n_first, maximum)
    assert stop.stops(counts[:n_first]) == (end if end <= n_first else None)
    assert stop.stops(counts) == end
    assert counts[end - 1] == count


def test_early_decisions_agree_with_those_of_all_permutations_unless_they_are_close():
    rng = np.random.default_rng(0)
    maximum, level = 999, 0.05
    stop = complete_stopping(maximum, level, continue_below=False)
    early = 0
    for chance in np.concatenate([rng.random(500), 0.1 * rng.random(500)]):
        counts = np.cumsum(rng.random(maximum) < chance)
        end = stop.stops(counts)
        fixed = (1 + counts[-1]) / (1 + maximum)
        if not 0.03 < fixed < 0.075:
            assert (stop.pvalue(end, counts[end - 1]) <= level) == (fixed <= level)
        early += end < maximum
    assert early > 600


# ---------------------------------------------------------------- null distributions


def fake_run(values, seed, computed):
    """Return a function like `Session.run` that returns given values in chunks, in any order."""
    rng = np.random.default_rng(seed)

    def run(task, items):
        assert task is permutation.evidence_permuted
        starts = [0, *sorted(rng.integers(0, len(items) + 1, size=3).tolist()), len(items)]
        chunks = [chunk for chunk in itertools.pairwise(starts) if chunk[0] < chunk[1]]
        rng.shuffle(chunks)
        for first, last in chunks:
            some = items[int(first) : int(last)]
            computed.extend((each.number, at) for each in some for at in each.sets)
            yield int(first), np.array([values[each.number, list(each.sets)] for each in some])

    return run


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    maximum=st.sampled_from([1, 20, 33, 100]),
    sequential=st.booleans(),
    share_stored=st.sampled_from([None, 0.0, 0.5, 1.0]),
)
def test_a_null_distribution_is_the_naive_one(seed, maximum, sequential, share_stored):
    rng = np.random.default_rng(seed)
    n_sets = int(rng.integers(1, 5))
    values = rng.integers(0, 6, size=(maximum, n_sets)) * rng.choice([1.0, 1e-3, 1e9])
    observed = values[0] * rng.choice([0.5, 1.0, 1.0 + 1e-12, 2.0], n_sets)
    stored = None
    if share_stored is not None:
        stored = np.where(rng.random((maximum, 1)) < share_stored, values, nan)
    computed, saved, events = [], {}, []
    before = None if stored is None else stored.copy()
    stop = Stopping(maximum, 0.05, continue_below=True) if sequential else None
    null = permutation.NullDistribution(observed, maximum, stop, stored)
    assert all(null.result(at) is None for at in range(n_sets))

    def save(numbers, sets, lines):
        for number, line in zip(numbers, lines, strict=True):
            saved.update({(number, at): x for at, x in zip(sets, line, strict=True)})

    null.grow(fake_run(values, seed, computed), save, lambda *event: events.append(event))
    assert null.undecided == ()
    limits = naive.boundaries(maximum, 0.05, True) if sequential else None
    for at in range(n_sets):
        result = null.result(at)
        reached = [naive.at_least(value, observed[at]) for value in values[:, at]]
        if sequential:
            end, count = naive.run_until_stopped(reached, maximum, limits)
            expected = naive.stopping_pvalues(maximum, limits)[end, count]
        else:
            end, expected = maximum, naive.pvalue(observed[at], values[:, at].tolist())
        assert result.pvalue == pytest.approx(float(expected), rel=1e-11)
        assert result.null.tolist() == values[:end, at].tolist()
    assert len(set(computed)) == len(computed)
    assert saved == {(number, at): values[number, at] for number, at in computed}
    if before is not None:
        assert all(np.isnan(before[number]).any() for number, _ in computed)
    # The total is an estimate, because it is unknown when sets stop.
    done = [event[0] for event in events]
    assert done == sorted(done)
    assert all(event[0] <= event[1] for event in events)
    if stored is None:
        assert events[-1][0] >= sum(len(null.result(at).null) for at in range(n_sets))


@settings(max_examples=100)
@given(
    st.floats(-1e6, 1e6),
    st.floats(-5, 5),
    st.sampled_from([0.0, 1e-13, 1e-10, 1e-7, 1e-3]),
)
def test_values_that_differ_by_rounding_count_as_equal(observed, sign, difference):
    value = observed + math.copysign(difference, sign) * max(abs(observed), 1.0)
    assert at_least(np.array([value]), observed)[0] == naive.at_least(value, observed)


# ---------------------------------------------------------------- corrections

pvalue_lists = st.lists(st.integers(1, 20).map(lambda k: k / 20), min_size=1, max_size=12)


@given(pvalue_lists, st.integers(0, 30))
def test_false_discovery_rates_are_those_of_benjamini_and_hochberg(pvalues, more):
    """The lowest p-values are given. The others can only increase the rates."""
    pvalues = np.sort(pvalues)
    every = np.append(pvalues, np.ones(more))
    found = false_discovery_rates(pvalues * every.size)
    expected = stats.false_discovery_control(every)[: pvalues.size]
    assert found == pytest.approx(expected)


# ---------------------------------------------------------------- evidence of moved values


@settings(max_examples=40)
@given(tables(rows=(3, 20), columns=(2, 4)), st.booleans(), st.sampled_from([1, 2]))
def test_evidence_of_few_rows_is_the_naive_one(table, with_target, max_given):
    target = 0 if with_target else None
    every = tuple(range(table.shape[1]))
    found = UDSChance(max_given=max_given).evidence_sets(prepare(table), [every], target)[0]
    expected = naive_evidence.evidence(listed(table), target, max_given)
    # The expected entropies of columns with ties are interpolated between cell sizes.
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)


@settings(max_examples=15)
@given(tables(rows=(60, 160), columns=(2, 3)), st.booleans())
def test_evidence_is_the_naive_one(table, with_target):
    target = 1 if with_target else None
    every = tuple(range(table.shape[1]))
    found = UDSChance().evidence_sets(prepare(table), [every], target)[0]
    assume(found < 500)  # the naive version computes exp of it
    assert found == pytest.approx(
        naive_evidence.evidence(listed(table), target), rel=1e-2, abs=1e-2
    )


def test_evidence_with_a_target_ignores_dependence_among_the_others():
    rng = np.random.default_rng(0)
    a, b, t = rng.normal(size=(3, 300))
    table = np.column_stack([a, a + 0.01 * b, t])
    of_all, of_target = (
        UDSChance().evidence_sets(prepare(table), [(0, 1, 2)], target)[0] for target in (None, 2)
    )
    assert of_all > 50
    assert of_target < 5


def ordered_as(values, orders):
    return [line[order].tolist() for line, order in zip(values, orders, strict=True)]


@settings(max_examples=40)
@given(tables(rows=(3, 60), columns=(2, 4)), st.integers(0, 2**32 - 1), st.data())
def test_moved_columns_are_those_of_the_moved_table(table, seed, data):
    columns = data.draw(st.sets(st.integers(0, table.shape[1] - 1)))
    moves = random_moves(np.random.default_rng(seed), len(table), sorted(columns))
    source = prepare(table)
    if data.draw(st.booleans()):  # derived data may be computed before or after the move
        for kind in (Grids, FoldedColumns, MidRanks, Ranks):
            source.derived(kind)
        source.derived(EqualFrequencyBins, 5)
    found, expected = source.moved(moves), prepare(moved(table, moves))
    assert found.names == expected.names
    assert found.n_rows == expected.n_rows
    for name in ("n_present", "entropies", "widths", "exponents", "varies"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    ranks = expected.derived(Ranks).by_row
    assert found.derived(Ranks).by_row.tolist() == ranks.tolist()
    for at, n in enumerate(expected.n_present):
        assert found.values[at, :n].tolist() == expected.values[at, :n].tolist()
        assert found.has_missing(at) == expected.has_missing(at)
    # Rows of equal value may come in any order.
    assert np.sort(found.orders).tolist() == np.sort(expected.orders).tolist()
    assert ordered_as(ranks, found.orders) == ordered_as(ranks, expected.orders)
    distances = np.full(table.shape[::-1], nan)
    for line, column in zip(distances, listed(moved(table, moves)), strict=True):
        line[:] = naive_evidence.folded(column)
    distances[np.isnan(distances)] = np.inf
    one, other = found.derived(FoldedColumns), expected.derived(FoldedColumns)
    assert ordered_as(distances, one.orders) == ordered_as(distances, other.orders)
    assert same_attributes(one.midranks, other.midranks)
    assert same_attributes(found.derived(MidRanks), expected.derived(MidRanks))
    families = found.derived(Grids).families, expected.derived(Grids).families
    for one, other in zip(*families, strict=True):
        assert one.codes.tolist() == other.codes.tolist()
        assert one.maps.tolist() == other.maps.tolist()
        assert one.starts.tolist() == other.starts.tolist()
        assert one.n_bins.tolist() == other.n_bins.tolist()
        assert one[4:] == other[4:]
    for beta in (2, 5, 20):
        one, other = (each.derived(EqualFrequencyBins, beta) for each in (found, expected))
        assert one.codes.tolist() == other.codes.tolist()
        assert one.counts.tolist() == other.counts.tolist()
        assert [e.tolist() for e in one.ends] == [e.tolist() for e in other.ends]


def same_attributes(one, other):
    assert vars(one).keys() == vars(other).keys()
    assert len(vars(one)) > 5
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=25)
@given(
    table=tables(rows=(5, 60), columns=(3, 4)),
    seed=st.integers(0, 2**32 - 1),
    target=st.sampled_from([None, 0, 2]),
)
def test_evidence_of_moved_columns_is_exactly_that_of_the_moved_tables(name, table, seed, target):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = table.shape
    measure, prepared = find_measure(name), prepare(table)
    sets = [
        columns
        for size in (2, 3, 4)
        for columns in itertools.combinations(range(n_columns), size)
        if target is None or target in columns
    ]
    moving = range(1, n_columns) if target is None else [target]
    moves = [random_moves(rng, n_rows, moving) for _ in range(3)]
    found = measure.evidence_moved(prepared, sets, moves, target)
    assert found.shape == (3, len(sets))
    scores = measure.score_sets(prepared.moved(moves[0]), sets, target)
    other = prepare(moved(table, moves[0]))
    assert scores.tolist() == measure.score_sets(other, sets, target).tolist()
    for line, rows in zip(found, moves, strict=True):
        other = prepare(moved(table, rows))
        assert line.tolist() == measure.evidence_sets(other, sets, target).tolist()


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=25)
@given(tables(rows=(5, 80), columns=(2, 2)), st.integers(0, 2**32 - 1), st.sampled_from([0, 1]))
def test_evidence_of_a_pair_with_one_moved_column_is_exact(name, table, seed, moving):
    rng = np.random.default_rng(seed)
    measure, prepared = find_measure(name), prepare(table)
    moves = [random_moves(rng, len(table), [moving]) for _ in range(4)]
    for target in (None, moving):
        found = measure.evidence_moved(prepared, [(0, 1)], moves, target)
        expected = [
            measure.evidence_sets(prepare(moved(table, rows)), [(0, 1)], target) for rows in moves
        ]
        assert found.tolist() == np.array(expected).tolist()


def test_block_size_does_not_change_the_evidence(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(50, 3)).round(1)
    prepared, measure = prepare(table), UDSChance()
    moves = [random_moves(rng, 50, [2]) for _ in range(11)]
    whole = measure.evidence_moved(prepared, [(0, 1, 2)], moves, 2)
    monkeypatch.setattr("covary.measures.uds_chance.evidence.CELLS_PER_BLOCK", 150)
    assert measure.evidence_moved(prepared, [(0, 1, 2)], moves, 2).tolist() == whole.tolist()


def test_sets_without_the_moved_column_keep_their_evidence():
    rng = np.random.default_rng(0)
    prepared = prepare(rng.normal(size=(60, 4)))
    moves, sets = [random_moves(rng, 60, [1])], [(0, 1), (2, 3)]
    found = UDSChance().evidence_moved(prepared, sets, moves)
    assert found[0].tolist() == UDSChance().evidence_sets(prepared.moved(moves[0]), sets).tolist()


# ---------------------------------------------------------------- increments


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.booleans())
def test_the_increment_pvalue_is_the_largest_over_the_naive_pairs(seed, size, with_target):
    """The results of pairs are drawn at random."""
    rng = np.random.default_rng(seed)
    columns = tuple(sorted(rng.choice(9, size, replace=False).tolist()))
    target = int(rng.choice(columns)) if with_target else None
    pairs = [frozenset(pair) for pair in itertools.combinations(columns, 2)]
    evidence = dict(zip(pairs, rng.permutation(len(pairs)).tolist(), strict=True))
    pvalues = dict(zip(pairs, rng.choice([0.001, 0.1, 0.2, 0.21, 0.9], len(pairs)), strict=True))
    dependent = {pair for pair in pairs if rng.random() < 0.4}
    fractions = dict(zip(columns, rng.choice([0.0, 0.3, 0.4, 0.5], size).tolist(), strict=True))
    used = []

    class Pair:
        def __init__(self, prepared, pair, every, given_columns, seed):
            assert (prepared, every, given_columns, seed) == ("table", columns, (20,), 3)
            self.pair = frozenset(pair)

        def depends(self):
            return self.pair in dependent

        def pvalue(self):
            used.append(self.pair)
            return pvalues[self.pair]

    explained = fractions if target is None else {target: fractions[target]}

    def weakest_first(prepared, some):
        return sorted(some, key=lambda pair: evidence[frozenset(pair)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(increments, "_PairTest", Pair)
        patch.setattr(increments, "_weakest_first", weakest_first)
        found = increments.increment_pvalue("table", columns, explained, (20,), 3)
    first, then = naive_conditional.pairs_to_test(columns, fractions, dependent, target)
    assert found == naive_conditional.increment_pvalue(first, then, evidence, pvalues)
    assert set(used) <= first | then
    if found <= 0.2:
        assert set(used) == first | then


@pytest.fixture
def few_permutations(monkeypatch):
    """Use few permutations, which the naive version can follow; return all that were drawn."""
    used = []
    original = increments._PairTest._rows

    def watched(pair):
        draw = original(pair)

        def watched_draw(number):
            used.append(draw(number))
            assert len(used[-1]) == number
            return used[-1]

        return watched_draw

    monkeypatch.setattr(increments, "FEW_PERMUTATIONS", 5)
    monkeypatch.setattr(increments, "PERMUTATIONS", 9)
    monkeypatch.setattr(increments, "MANY_PERMUTATIONS", 20)
    monkeypatch.setattr(conditional, "N_REFERENCE", 4)
    monkeypatch.setattr(increments._PairTest, "_rows", watched)
    return used


def three_columns(kind, seed, n_rows=120):
    rng = np.random.default_rng(seed)
    a, b, e = rng.normal(size=(3, n_rows))
    made = {
        "noise": e,
        "sum": a + b + e,
        "xor": np.sign(a * b) * np.abs(e),
        "of one": a + 0.3 * e,
    }[kind]
    return np.column_stack([a, b, made])


def reference_numbers(test):
    """Return the random numbers of the reference copies of a conditional test."""
    numbers = []
    original = conditional.ConditionalEvidence._copies

    def watched(self, some):
        numbers.append(some.tolist())
        return original(self, some)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditional.ConditionalEvidence, "_copies", watched)
        conditional.ConditionalEvidence(test.prepared, *test.roles)
    return numbers[0]


def tail_probability(observed, null):
    """Return the p-value, as tested below."""
    return tail_probability_of(observed, np.array(null))


@pytest.mark.parametrize("kind", ["noise", "sum", "xor", "of one"])
@pytest.mark.parametrize("tied", [False, True])
def test_pvalues_of_pairs_given_the_others_are_the_naive_ones(kind, tied, few_permutations):
    table = np.column_stack([three_columns(kind, 1, 36), three_columns("sum", 2, 36)[:, 2]])
    if tied:
        table[:, :3] = table[:, :3].round()
        table[::9, 1] = nan
    columns, prepared = listed(table), prepare(table)
    for chosen in itertools.combinations((0, 1, 2), 2):
        few_permutations.clear()
        pair = increments._PairTest(prepared, chosen, (0, 1, 2), (3,), seed=0)
        tested, target, rest = naive_conditional.roles(chosen, (0, 1, 2), (3,), columns)
        assert pair.conditional.roles == (target, (tested,), rest)
        found = pair.pvalue()
        observed, *null = naive_conditional.evidence(
            columns[target],
            [columns[tested]],
            [columns[c] for c in rest],
            reference_numbers(pair.conditional),
            np.vstack(few_permutations).tolist(),
        )
        assert pair.conditional.observed == pytest.approx(observed, rel=1e-5)
        pvalues = [tail_probability(observed, null[:number]) for number in (5, 9, 20)]
        used = 5 if pvalues[0] > 0.2 else 20 if 1e-5 <= pvalues[1] <= 0.05 else 9
        assert len(null) == used
        assert found == pytest.approx(tail_probability(observed, null), rel=1e-3)


@pytest.mark.parametrize("tied", [False, True])
def test_pairs_depend_on_each_other_if_the_naive_pvalue_is_small(tied, few_permutations):
    """Nothing is given."""
    rng = np.random.default_rng(0)
    seen = set()
    for slope in (0.0, 0.0, 0.5, 3.0):
        x, noise, other = rng.normal(size=(3, 30))
        table = np.column_stack([x, slope * x + noise, other])
        table = table.round() if tied else table
        few_permutations.clear()
        pair = increments._PairTest(prepare(table), (0, 1), (0, 1, 2), (), seed=0)
        found = pair.depends()
        columns = listed(table)
        tested, target, _ = naive_conditional.roles((0, 1), (0, 1, 2), (), columns)
        observed = naive_evidence.evidence([columns[tested], columns[target]])
        null = [
            naive_evidence.evidence([columns[tested], moved(table, {target: rows})[:, target]])
            for rows in np.vstack(few_permutations)
        ]
        assert len(null) == 9
        assert found == (tail_probability(observed, null) <= 0.1)
        seen.add(found)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("reached", "total"), [([True] * 6, 31), ([True] * 5, 999), ([True] * 20, 31), ([], 199)]
)
def test_small_pvalues_get_more_permutations(reached, total):
    """The first permutations have at least the observed evidence, all others have much less."""
    reached = np.array(reached + [False] * (999 - len(reached)))
    spread = np.random.default_rng(0).random(999)
    drawn = [0]

    def draw(number):
        drawn.append(drawn[-1] + number)
        return slice(drawn[-2], drawn[-1])

    found = increments._pvalue(100.0, lambda rows: np.where(reached, 101.0, spread)[rows], draw)
    assert drawn[-1] == total
    if reached.any():
        assert found == pytest.approx((1 + reached.sum()) / (1 + total))
    else:
        assert found == 1e-6, "far beyond all permutations"


def test_the_pair_of_a_set_has_the_same_permutations_in_any_order_of_columns():
    table = three_columns("sum", 0)
    one, other = (
        increments._PairTest(prepare(table), pair, columns, (), seed=4)
        for pair, columns in (((0, 2), (0, 1, 2)), ((2, 0), (2, 1, 0)))
    )
    assert one.pvalue() == other.pvalue()


@pytest.mark.parametrize("given_columns", [(), (3,)])
@pytest.mark.parametrize("target", [None, 2])
def test_the_columns_that_the_others_explain_best_are_those_with_the_best_scores(
    given_columns, target, monkeypatch
):
    calls = []

    def watched(*arguments):
        calls.append(arguments)
        return 0.5

    monkeypatch.setattr("covary.measures.uds_chance.uds_chance.increment_pvalue", watched)
    table = np.column_stack([three_columns("sum", 0), np.random.default_rng(0).normal(size=120)])
    prepared = prepare(table)
    tests = IncrementTests(UDSChance(), prepared, target, given_columns, 5)
    assert tests.pvalue((0, 1, 2)) == 0.5
    ((found, columns, explained, rest, seed),) = calls
    assert (found, columns, rest, seed) == (prepared, (0, 1, 2), given_columns, 5)
    assert set(explained) == ({2} if target == 2 else {0, 1, 2})
    measure = UDSChance().beyond(given_columns) if given_columns else UDSChance()
    for column, fraction in explained.items():
        others = [c for c in (0, 1, 2) if c != column]
        assert fraction == measure.score_set(prepared, others, column)
    if target is None:
        assert len(set(explained.values())) == 3


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(-2, 8))
def test_the_tail_beyond_all_permutations_is_that_of_a_gamma_distribution(seed, observed):
    null = np.random.default_rng(seed).gamma(3.0, size=199)
    observed *= null.std()
    found = tail_probability_of(observed, null)
    count = sum(naive.at_least(value, observed) for value in null)
    if count:
        assert found == pytest.approx((1 + count) / 200, rel=1e-12)
        return
    skew = max(stats.skew(null), 0.01)
    tail = stats.pearson3.sf((observed - null.mean()) / null.std(), skew)
    assert 0 < found <= 1 / 200
    assert math.log(found) == pytest.approx(math.log(min(tail, 1 / 200)), rel=0.1)


def test_tail_probability_of_equal_permutations_depends_only_on_their_number():
    assert tail_probability_of(2.0, np.ones(199)) == 1 / 200
    assert tail_probability_of(1.0, np.ones(199)) == 1


def increment(table, seed=0, target=None, measure="uds-chance", given_columns=()):
    """Return the increment p-value of all columns of a table that are not given."""
    tests = IncrementTests(find_measure(measure), prepare(table), target, given_columns, seed)
    return tests.pvalue(tuple(c for c in range(table.shape[1]) if c not in given_columns))


@pytest.mark.parametrize("target", [None, 2])
def test_a_relation_of_three_columns_has_an_increment(target):
    for seed in range(3):
        assert increment(three_columns("xor", seed, 600), target=target) < 0.001


@pytest.mark.parametrize("target", [None, 2])
def test_a_pair_with_noise_has_no_increment(target):
    marked = [
        increment(three_columns("of one", seed, 300), target=target) > 0.05 for seed in range(20)
    ]
    assert sum(marked) >= 17


@pytest.mark.parametrize("target", [None, 2])
def test_a_chain_has_no_increment(target):
    """Each column depends on the one before: given the second, the first explains nothing."""
    marked = []
    for seed in range(12):
        a, b, c = np.random.default_rng(seed).normal(size=(3, 400))
        chain = np.column_stack([a, a + 0.5 * b, a + 0.5 * b + 0.5 * c])
        marked.append(increment(chain, target=target) > 0.05)
    assert sum(marked) >= 9


def test_a_copy_of_a_column_has_no_increment():
    for seed in range(3):
        a, e = np.random.default_rng(seed).normal(size=(2, 200))
        for target in (None, 2):
            assert increment(np.column_stack([a, np.exp(a), a + e]), target=target) == 1.0


@pytest.mark.parametrize("given_columns", [(), (2, 3, 4)])
def test_columns_with_three_common_causes_have_no_increment(given_columns):
    rejected = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        causes, (a, b) = rng.normal(size=(3, 300)), rng.normal(size=(2, 300))
        total = causes.sum(axis=0)
        table = np.column_stack([total + a, total + b, *causes])
        p = increment(table, seed=seed, target=0, given_columns=given_columns)
        rejected += p <= 0.05
    assert rejected <= 3


def test_a_weak_sum_of_two_columns_has_an_increment():
    """The columns explain 20 % of the variance of the target."""
    kept = 0
    for seed in range(20):
        a, b, noise = np.random.default_rng(seed).normal(size=(3, 300))
        table = np.column_stack([a, b, a + b + math.sqrt(8) * noise])
        kept += increment(table, seed=seed, target=2) <= 0.05
    assert kept >= 15


def test_a_partial_correlation_has_an_increment():
    rejected = 0
    for seed in range(20):
        z, x, noise = np.random.default_rng(seed).normal(size=(3, 300))
        table = np.column_stack([z, z + x, z + 0.53 * x + math.sqrt(1 - 0.53**2) * noise])
        rejected += increment(table, seed=seed, target=2) <= 0.05
    assert rejected >= 17


@dataclass(frozen=True)
class MeanCorrelation(Measure):
    """A measure of sets without an increment test."""

    def score_set(self, prepared, columns, target=None):
        ranks = prepared.derived(Ranks).by_row[list(columns)].astype(float)
        return float(np.abs(np.corrcoef(ranks)[np.triu_indices(len(ranks), 1)]).mean())


@dataclass(frozen=True)
class WithIncrementTest(MeanCorrelation):
    """The same with its own increment test: every set needs column 0."""

    calls: ClassVar[list] = []

    def increment_pvalue(self, prepared, columns, target, given, seed):
        self.calls.append((columns, target, given, seed))
        return 1e-6 if 0 in columns else 1.0


@pytest.mark.parametrize("permutations", [0, 19])
def test_the_increment_test_of_a_measure_is_used(permutations, table, monkeypatch):
    measure = WithIncrementTest()
    assert measure.tests_increments
    monkeypatch.setattr(UDSChance, "increment_pvalue", fail)
    measure.calls.clear()
    options = {"max_size": 3, "top": 1000, "seed": 4, "n_jobs": 1, "permutations": permutations}
    found = covary.search(table, measure=measure, sift=True, **options)
    sets = list(itertools.combinations(range(5), 3))
    assert sorted(measure.calls) == sorted((each, None, (), 4) for each in sets)
    kept = {positions(each) for each in found}
    assert kept == {*itertools.combinations(range(5), 2), *(each for each in sets if 0 in each)}
    if permutations:
        pvalues = {each.increment_pvalue for each in found if len(each.columns) == 3}
        assert pvalues == {3e-6}, "corrected for the three columns that could have been added"


def test_the_increment_test_of_a_measure_gets_target_and_given_columns(table):
    measure = WithIncrementTest()
    measure.calls.clear()
    tests = IncrementTests(measure, prepare(table), 1, (3,), 8)
    assert (tests.pvalue((0, 1, 4)), tests.pvalue((1, 2, 4))) == (1e-6, 1.0)
    assert measure.calls == [((0, 1, 4), 1, (3,), 8), ((1, 2, 4), 1, (3,), 8)]


def test_a_measure_without_an_increment_test_uses_that_of_uds_chance(table, monkeypatch):
    assert not MeanCorrelation().tests_increments
    assert UDSChance().tests_increments
    calls = []

    def watched(self, prepared, columns, target, given, seed):
        calls.append((columns, target, given, seed))
        return 0.001 * sum(columns)

    monkeypatch.setattr(UDSChance, "increment_pvalue", watched)
    sets = list(itertools.combinations(range(5), 3))
    for measure in (MeanCorrelation(), covary.UDS()):
        calls.clear()
        options = {"max_size": 3, "top": 1000, "seed": 4, "sift": True, "n_jobs": 1}
        found = covary.search(table, measure=measure, permutations=9, **options)
        assert sorted(calls) == sorted((each, None, (), 4) for each in sets)
        for each in found:
            if len(each.columns) == 3:
                expected = naive.largest_of([0.001 * sum(positions(each))], 5, 3)
                assert each.increment_pvalue == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- covary.test


def test_result_of_a_test(table):
    result = checked(table, [0, 1, 2], seed=4)
    prepared = prepare(table[:, :3])
    measure = UDSChance()
    assert result.columns == ("x0", "x1", "x2")
    assert result.target is None
    assert result.score == covary.score(table, [0, 1, 2])
    assert result.statistic == covary.evidence(table, [0, 1, 2])
    assert (result.permutations, result.exact) == (39, False)
    assert (result.measure, result.rows, result.seed) == ("uds-chance", 120, 4)
    permutations = RandomPermutations(120, (1, 2), 4)
    null = [
        measure.evidence_sets(prepared.moved(permutations.moves(number)), [(0, 1, 2)])[0]
        for number in range(39)
    ]
    assert result.null.tolist() == null
    assert result.pvalue == float(naive.pvalue(result.statistic, null)) == 1 / 40


@pytest.mark.parametrize("name", MEASURES)
def test_only_the_target_is_permuted(name, table):
    result = checked(table, [0, 1, 4], target="x4", measure=name, seed=2)
    own = table[:, [0, 1, 4]]
    measure = find_measure(name)
    permutations = RandomPermutations(120, (2,), 2)
    null = [
        measure.evidence_sets(prepare(moved(own, permutations.moves(n))), [(0, 1, 2)], 2)[0]
        for n in range(39)
    ]
    assert (result.target, result.columns) == ("x4", ("x0", "x1", "x4"))
    assert result.null.tolist() == null
    assert result.pvalue == float(naive.pvalue(result.statistic, null))
    assert result.score == measure.score_sets(prepare(own), [(0, 1, 2)], 2)[0]


def test_the_target_need_not_be_among_the_columns(table):
    for columns, target in ((["x0", "x1"], "x4"), (["x0", "x1", "x4"], 4), ([0, 1], 4)):
        result = checked(table, columns, target=target)
        assert result == checked(table, [0, 1, 4], target="x4")


def test_labels_are_those_of_the_frame(table):
    frame = pd.DataFrame(table[:, :3], columns=[("a", 1), ("b", 2), "c"])
    assert checked(frame, target="c").columns == (("a", 1), ("b", 2), "c")
    numbered = pd.DataFrame(table[:, :3], columns=[7, 8, 9])
    result = checked(numbered, target=8)
    assert (result.columns, result.target) == ((7, 8, 9), 8)


def test_dependence_among_the_others_does_not_count_with_a_target():
    rng = np.random.default_rng(2)
    a, b, t = rng.normal(size=(3, 200))
    cells = np.column_stack([a, a + 0.1 * b, t])
    assert checked(cells).pvalue == 1 / 40
    assert checked(cells, target=2).pvalue > 0.05
    assert checked(cells, target=0).pvalue == 1 / 40


@pytest.mark.parametrize("name", MEASURES)
def test_the_same_seed_gives_the_same_pvalue(name, table):
    one, again, other = (checked(table, [2, 3], measure=name, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.null.tolist() == again.null.tolist()
    assert one.null.tolist() != other.null.tolist()
    assert one.statistic == other.statistic


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            local_directory=str(tmp_path_factory.mktemp("dask")),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_engine(where, request):
    if where == "dask":
        return {"engine": request.getfixturevalue("client"), "n_jobs": None}
    return {"engine": where.split()[0], "n_jobs": int(where.split()[1])}


@pytest.mark.parametrize("where", ["threads 2", "processes 2", "dask"])
def test_pvalues_are_the_same_on_every_engine(where, table, request):
    how = on_engine(where, request)
    many = ({"level": 0.05, "permutations": 300}, {}, {"target": 4}, {"measure": "uds"})
    # Processes take seconds to start, so they run only the first case.
    for options in many[:1] if where == "processes 2" else many:
        one = checked(table, **options)
        other = checked(table, **options, **how)
        assert other == one
        assert other.null.tolist() == one.null.tolist()


@pytest.mark.parametrize(
    "where", ["threads 2", "dask", pytest.param("processes 2", marks=pytest.mark.slow)]
)
def test_a_tested_search_is_the_same_on_every_engine(where, table, request):
    how = on_engine(where, request)
    for options in ({"max_size": 3}, {"target": 4, "measure": "uds", "max_size": 3}):
        assert searched(table, **options, **how) == searched(table, **options)


MONOTONE = (np.exp, lambda x: -(x**3), lambda x: 5 * x - 1e3, np.arctan)


@settings(max_examples=15)
@given(tables(rows=(8, 60), columns=(2, 3), kinds=KINDS), st.integers(0, 3), st.booleans())
def test_monotone_transformations_do_not_change_the_pvalue(table, which, with_target):
    assume(all(naive_chance.varies(column) for column in listed(table)))
    ranks = np.array([stats.rankdata(column, nan_policy="omit") for column in table.T]).T
    other = ranks.copy()
    other[:, 0] = MONOTONE[which](ranks[:, 0] / len(table))
    other[:, -1] = MONOTONE[which - 1](ranks[:, -1] / len(table))
    target = 0 if with_target else None
    one, same = (checked(each, target=target, permutations=19) for each in (table, other))
    assert one.pvalue == same.pvalue
    assert one.statistic == pytest.approx(same.statistic, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=10)
@given(tables(rows=(8, 60), columns=(2, 3), kinds=KINDS))
def test_units_do_not_change_the_pvalue(name, table):
    assume(all(naive_chance.varies(column) for column in listed(table)))
    one, same = (checked(each, measure=name, permutations=19) for each in (table, table * 4 + 0.0))
    assert (one.pvalue, one.statistic) == (same.pvalue, same.statistic)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15)
@given(tables(rows=(5, 60), columns=(2, 3)), st.integers(0, 2**32 - 1), st.booleans())
def test_the_order_of_rows_does_not_change_the_statistic(name, table, seed, with_target):
    order = np.random.default_rng(seed).permutation(len(table))
    target = 0 if with_target else None
    assume(all(naive_chance.varies(column) for column in listed(table)))
    one, other = (
        checked(each, measure=name, target=target, permutations=1)
        for each in (table, table[order])
    )
    assert one.statistic == pytest.approx(other.statistic, rel=1e-12, abs=1e-12)
    assert one.score == pytest.approx(other.score, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15)
@given(
    table=tables(rows=(4, 60), columns=(2, 4), kinds=KINDS),
    permutations=st.sampled_from([1, 5, 33]),
    level=st.sampled_from([None, 0.05, 0.4]),
    target=st.sampled_from([None, 0]),
)
def test_pvalue_is_valid_and_matches_the_null_statistics(name, table, permutations, level, target):
    assume(all(naive_chance.varies(column) for column in listed(table)))
    assume(level is None or level * (permutations + 1) >= 1)
    options = {"permutations": permutations, "level": level, "target": target, "measure": name}
    result = checked(table, **options)
    assert 0 < result.pvalue <= 1
    assert result.pvalue >= 1 / (1 + len(result.null)) - 1e-12
    assert result.permutations == len(result.null) <= permutations
    assert math.isfinite(result.statistic)
    assert np.isfinite(result.null).all()
    assert -1e-12 <= result.score <= 1 + 1e-12
    if level is None:
        assert result.pvalue == float(naive.pvalue(result.statistic, result.null.tolist()))


@pytest.mark.parametrize("level", [0.05, 0.01, 0.5])
def test_early_stopping_uses_the_first_permutations(level):
    ends = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x, e = rng.normal(size=(2, 60))
        cells = np.column_stack([x, 0.1 * seed * x + e])
        fixed = checked(cells, permutations=190, seed=seed)
        early = checked(cells, permutations=190, seed=seed, level=level)
        end = early.permutations
        ends.add(end)
        assert early.null.tolist() == fixed.null[:end].tolist()
        assert (early.score, early.statistic) == (fixed.score, fixed.statistic)
        reached = [naive.at_least(value, fixed.statistic) for value in fixed.null.tolist()]
        limits = naive.boundaries(190, level) if level == 0.05 else None
        if limits is not None:
            place = naive.run_until_stopped(reached, 190, limits)
            assert place[0] == end
            expected = naive.stopping_pvalues(190, limits)[place]
            assert early.pvalue == pytest.approx(float(expected), rel=1e-11)
    assert len(ends) > 1
    assert min(ends) < 190


def test_an_exact_test_does_not_stop_early():
    x = np.arange(5.0)
    cells = np.column_stack([x, x])
    exact = checked(cells, permutations=500)
    assert checked(cells, permutations=500, level=0.05) == exact
    assert (exact.exact, exact.permutations) == (True, 119)


def test_progress_of_a_test_goes_to_the_end(table):
    events = []
    checked(table, [0, 2], on_progress=lambda *event: events.append(event))
    done = [event[0] for event in events]
    assert done == sorted(done)
    assert {event[1] for event in events} == {39}
    assert done[-1] == 39


def test_a_result_as_text_and_as_a_dictionary(table):
    result = checked(table, [0, 1], seed=3)
    assert str(result).splitlines() == [
        f"uds-chance = {result.score:.4f}, p = 0.0250 for x0, x1",
        "  p: probability of evidence at least this large if the columns were independent",
        "  39 permutations of each column (120 rows, seed 3)",
    ]
    document = result.to_dict()
    assert json.loads(json.dumps(document)) == document
    assert set(document) == {
        "columns", "target", "score", "statistic", "pvalue", "permutations", "exact", "measure",
        "rows", "seed", "level", "given", "tested", "null_of_rows", "row_dependence", "lags",
        "best_lag",
    }  # fmt: skip
    assert json.loads(result.to_json()) == document
    assert document["columns"] == ["x0", "x1"]
    with_target = str(checked(table, [0, 1], target=1))
    assert "for x1 explained by x0\n" in with_target
    assert "if x1 were independent of the others\n" in with_target
    assert "39 permutations of x1 (" in with_target
    exact = str(checked(np.column_stack([np.arange(5.0), np.arange(5.0)]), permutations=119))
    assert "exact: all 119 other arrangements of the values (5 rows)" in exact
    strange = pd.DataFrame(table[:, :2], columns=["\x1b[31mred", "two\nlines"])
    assert "\x1b" not in str(checked(strange))
    assert "\x1b" not in str(checked(strange, target="\x1b[31mred"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"permutations": 0}, "permutations must be a whole number of at least 1, not 0"),
        ({"permutations": 9.5}, "permutations must be a whole number of at least 1, not 9.5"),
        ({"permutations": True}, "permutations must be a whole number of at least 1, not True"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"seed": None}, "seed must be a whole number of at least 0, not None"),
        ({"level": 0}, "level must be a number above 0 and below 1, not 0"),
        ({"level": 1.0}, "level must be a number above 0 and below 1, not 1.0"),
        ({"level": nan}, "level must be a number above 0 and below 1, not nan"),
        ({"level": "0.05"}, "level must be a number above 0 and below 1, not '0.05'"),
        ({"level": True}, "level must be a number above 0 and below 1, not True"),
        ({"measure": "usd"}, "no measure 'usd'. Did you mean 'uds'"),
        ({"permutation": 9}, "test has no parameter 'permutation'. Did you mean 'permutations'"),
        ({"beta": 3}, "'uds-chance' has no parameter 'beta'.* Measures 'mac'.*'uds'.* have it"),
        ({"engine": "thread"}, "no engine"),
        ({"n_jobs": 0}, "n_jobs must be a number of workers from 1"),
        ({"measure": "uds", "order": "exact", "target": 0}, "order must be 'entropy' if there"),
    ],
)
def test_invalid_parameters_of_a_test_are_errors(table, parameters, message):
    with pytest.raises(ParameterError, match=message):
        covary.test(table, **parameters)


@pytest.mark.parametrize("parameter", ["permutations", "seed"])
def test_invalid_test_parameters_of_a_search_are_errors(table, parameter):
    message = f"{parameter} must be a whole number of at least 0, not"
    with pytest.raises(ParameterError, match=f"{message} -1"):
        covary.search(table, **{parameter: -1})
    with pytest.raises(ParameterError, match=rf"{message} 1\.5"):
        covary.search(table, **{parameter: 1.5})


def test_invalid_tables_and_columns_are_errors(table):
    with pytest.raises(ColumnError, match="at least two columns: there is only 'x0'"):
        covary.test(table, ["x0"])
    with pytest.raises(ColumnError, match="at least two columns: there is only 'x0'"):
        covary.test(table[:, :1], target="x0")
    with pytest.raises(TableError, match="the table has 2 rows: at least 3 are needed"):
        covary.test(table[:2])
    with pytest.raises(ColumnError, match="no column 'x9'"):
        covary.test(table, target="x9")
    with pytest.raises(ColumnError, match="no column 'x9'"):
        covary.test(table, ["x0", "x9"])
    frame = pd.DataFrame(table[:, :2], columns=["a", "b"]).assign(label="yes")
    with pytest.raises(ColumnError, match="column 'label' cannot be used: it is a single level"):
        covary.test(frame, target="label")


class OnlyScores(Measure):
    """A measure that implements only the abstract method."""

    def score_set(self, prepared, columns):
        ranks = prepared.derived(Ranks).by_row[list(columns)].astype(float)
        return float(abs(np.corrcoef(ranks)[0, 1]))


def test_a_measure_with_only_a_score_can_be_tested():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(40, 3))
    cells[:, 1] += 2 * cells[:, 0]
    result = checked(cells, [0, 1], measure=OnlyScores())
    assert result.measure == "OnlyScores"
    assert result.statistic == result.score == covary.score(cells, [0, 1], measure=OnlyScores())
    assert result.pvalue == 1 / 40
    with pytest.raises(ParameterError, match="'OnlyScores' cannot compute the explained fraction"):
        checked(cells, target=0, measure=OnlyScores())
    found = searched(cells, measure=OnlyScores())
    assert all(0 < each.pvalue <= 1 for each in found)


# ---------------------------------------------------------------- tests of a search


def reported(found):
    """Return all sets that a search tests: the best sets, and relations that come later."""
    return [*found, *(each for each in found.relations if each not in found.subspaces)]


def recomputed(table, found, *, measure, target, permutations, seed, options):
    """Return the p-values of sets from the same permutations, applied to the tables themselves."""
    sets = [positions(each) for each in reported(found)]
    n_rows, n_columns = table.shape
    every = [c for c in range(n_columns) if c != target]
    moving = sorted({c for columns in sets for c in columns})[1:] if target is None else [target]
    stays = measure.keeps_missing(prepare(table))
    present = present_rows(prepare(table), range(n_columns)) if stays else {}
    random = RandomPermutations(n_rows, tuple(moving), seed, present=present)
    prepared = [prepare(moved(table, random.moves(k))) for k in range(permutations)]
    null = np.array([measure.evidence_sets(each, sets, target) for each in prepared])
    observed = measure.evidence_sets(prepare(table), sets, target)
    limits = naive.boundaries(permutations, 0.05, True)
    places = [
        naive.run_until_stopped(
            [naive.at_least(value, observed[at]) for value in null[:, at].tolist()],
            permutations,
            limits,
        )
        for at in range(len(sets))
    ]
    table_of_pvalues = naive.stopping_pvalues(permutations, limits)
    pvalues = [table_of_pvalues[place] for place in places]
    drawn = NullEvidence.of(measure, prepare(table), every, target, seed)
    largest = min(options.get("max_size", n_columns), n_columns)
    n_fixed = 0 if target is None else 1
    samples = {
        size: np.concatenate([drawn.draw(each) for each in drawn.draws([size])])
        for size in {len(columns) for columns in sets}
    }
    own = {
        columns: naive.tail_probability(samples[len(columns)].tolist(), value)
        * math.comb(len(every), len(columns) - n_fixed)
        * (largest - 1)
        for columns, value in zip(sets, observed.tolist(), strict=True)
    }
    by_set = naive.with_subsets(own, 0.05)
    expected = [by_set[columns] for columns in sets]
    listed = {each.columns for each in found.relations}
    nothing = [each.columns not in listed or bool(each.adds_nothing) for each in reported(found)]
    return SimpleNamespace(
        pvalues=[float(p) for p in pvalues],
        family=naive.family_pvalues(expected, pvalues),
        qvalues=naive.qvalues(expected, pvalues, nothing),
        compared=sum(math.comb(len(every), k - n_fixed) for k in range(2, largest + 1)),
    )


def planned(data, measure, strategy, **options):
    """Return the plan of a search of all columns."""
    return plan_search(data, None, measure, strategy, SearchOptions(**options))


def positions(subspace):
    return tuple(int(name[1:]) for name in subspace.columns)


BEAM = {"strategy": "beam", "max_size": 3}
SEARCHES = [
    *((name, target, BEAM, False) for name in MEASURES for target in (None, 4)),
    ("uds-chance", None, {"strategy": "exhaustive", "max_size": 4}, False),
    ("uds-chance", None, {"strategy": "4s"}, False),
    *((name, None, BEAM, True) for name in MEASURES),
    ("uds-chance", 3, BEAM, True),
]


@pytest.mark.parametrize(("name", "target", "options", "noise"), SEARCHES)
def test_a_tested_search_is_the_naive_one(name, target, options, noise, table):
    measure = find_measure(name)
    cells = table if not noise else np.random.default_rng(9).normal(size=(50, 4)).round(1)
    asked = {"measure": measure, "target": target, **options}
    found = searched(cells, permutations=45, seed=3, top=12, **asked)
    plain = covary.search(cells, top=12, n_jobs=1, **asked)
    assert [(each.columns, each.score) for each in found] == [
        (each.columns, each.score) for each in plain
    ]
    expected = recomputed(
        cells, found,
        measure=measure, target=target, permutations=45, seed=3, options=options,
    )  # fmt: skip
    tested = reported(found)
    assert [each.pvalue for each in tested] == pytest.approx(expected.pvalues, rel=1e-11)
    assert [each.family_pvalue for each in tested] == pytest.approx(expected.family, rel=1e-11)
    assert [each.qvalue for each in tested] == pytest.approx(expected.qvalues, rel=1e-9)
    assert found.tests.compared == expected.compared
    n_columns = cells.shape[1]
    for each in tested:
        columns = positions(each)
        if len(columns) == 2 or each not in found.relations:
            assert each.increment_pvalue is each.adds_nothing is None
            continue
        alone = IncrementTests(measure, prepare(cells), target, (), 3).pvalue(columns)
        corrected = naive.largest_of([alone], n_columns, len(columns))
        assert each.increment_pvalue == pytest.approx(corrected, rel=1e-12)
        assert each.adds_nothing == (corrected > 0.05)


@pytest.fixture(scope="module")
def found(table):
    return searched(table, max_size=3, permutations=60, seed=2)


def test_result_of_a_tested_search(found):
    assert found.complete
    assert (found.tests.permutations, found.tests.seed, found.tests.level) == (60, 2, 0.05)
    assert found.tests.complete
    assert found.tests.compared == 20  # 10 pairs and 10 sets of three
    assert (found.parameters["permutations"], found.parameters["seed"]) == (60, 2)
    for each in found:
        assert 0 < each.pvalue <= each.qvalue <= each.family_pvalue <= 1
        # Variants of better sets are not tested.
        untested = len(each.columns) == 2 or each not in found.relations
        assert (each.adds_nothing is None) == untested
    assert any(each.adds_nothing is not None for each in reported(found))
    best = found[0]
    assert best.columns == ("x0", "x1")
    assert best.family_pvalue == 1 / 61
    assert best.pvalue == pytest.approx(1 / 61)


def test_planted_sets_have_an_increment_and_padded_pairs_have_none():
    rng = np.random.default_rng(5)
    cells = rng.normal(size=(400, 5))
    cells[:, 1] += 3 * cells[:, 0]
    cells[:, 4] = np.sign(cells[:, 2] * cells[:, 3]) * rng.random(400)
    found = searched(cells, max_size=3, permutations=39)
    by_columns = {positions(each): each for each in found}
    assert by_columns[2, 3, 4].adds_nothing is False
    for columns in ((0, 1, 2), (0, 1, 3)):
        assert by_columns[columns].variant_of == ("x0", "x1")
        assert by_columns[columns].adds_nothing is None
    for columns in ((0, 1), (2, 3, 4)):
        assert by_columns[columns].family_pvalue == 1 / 40
        assert by_columns[columns].qvalue <= 0.05
    assert by_columns[2, 3].family_pvalue > 0.05


def test_a_tested_search_as_json_and_frame(found, table):
    document = json.loads(found.to_json())
    assert document["tests"] == {
        "permutations": 60, "compared": found.tests.compared, "seed": 2, "level": 0.05,
        "complete": True, "null_of_rows": "", "row_dependence": None,
    }  # fmt: skip
    for line, each in zip(document["subspaces"], found, strict=True):
        assert line["columns"] == list(each.columns)
        for name in ("pvalue", "qvalue", "family_pvalue", "increment_pvalue", "adds_nothing"):
            assert line[name] == getattr(each, name)
    frame = found.to_frame()
    assert isinstance(frame, pa.Table)
    assert frame["pvalue"].to_pylist() == [each.pvalue for each in found]
    assert frame["adds_nothing"].to_pylist() == [each.adds_nothing for each in found]
    for make in (pd.DataFrame, pl.DataFrame):
        names = [f"x{at}" for at in range(5)]
        mine = make(dict(zip(names, table.T, strict=True)))
        result = searched(mine, max_size=3, permutations=60, seed=2)
        assert result.subspaces == found.subspaces
        assert isinstance(result.to_frame(), make)
        assert result.to_frame()["qvalue"].to_list() == [each.qvalue for each in found]
        assert len(result.to_frame()["increment_pvalue"]) == len(found)


def test_a_tested_search_as_text(table):
    found = searched(table, max_size=3, permutations=60, seed=2, sift=False)
    some = dataclasses.replace(found[-1], adds_nothing=True)
    found = dataclasses.replace(found, subspaces=(*found.subspaces[:-1], some))
    lines = str(found).splitlines()
    assert len(lines) == 1 + len(found) + 4
    assert f"p = {found[0].pvalue:.4f}, q = {found[0].qvalue:.4f}" in lines[1]
    assert f"family-wise p = {found[0].family_pvalue:.4f}" in lines[1]
    for line, each in zip(lines[1:], found, strict=False):
        assert ("may add nothing beyond a subset" in line) == bool(each.adds_nothing)
    explained = found.tests.explained(found.target)
    assert lines[-4:] == explained
    assert explained[0].startswith("p: ")
    assert "if its columns were independent" in explained[0]
    assert "not corrected for the search (up to 60 permutations)" in explained[0]
    assert explained[1].startswith("q: ")
    assert "(Benjamini-Hochberg over 20 possible sets)" in explained[1]
    assert explained[2].startswith("family-wise p: ")
    assert "(Bonferroni, with the null distribution of sets of its size)" in explained[2]
    assert explained[3].startswith("may add nothing beyond a subset: ")
    with_target = found.tests.explained("y\x1b")
    assert "if y\\x1b were independent of the other columns; for" in with_target[0]
    assert "if y\\x1b were independent of the other columns (Bonferroni" in with_target[2]


def test_text_uses_the_singular_for_one_set_and_one_table():
    cells = np.random.default_rng(1).normal(size=(60, 2))
    text = str(searched(cells, permutations=9))
    assert "1 scored set" in text
    assert "1 scored sets" not in text
    assert "1 possible sets" not in text


def test_a_sifted_search_returns_only_sets_with_an_increment(table, tmp_path):
    whole = searched(table, max_size=3, seed=1, top=10**6)
    tests = IncrementTests(UDSChance(), prepare(table), None, (), 1)
    kept = [
        each.columns
        for each in whole
        if len(each.columns) == 2
        or naive.largest_of([tests.pvalue(positions(each))], 5, len(each.columns)) <= 0.05
    ]
    assert len(kept) < len(whole)
    sifted = searched(table, max_size=3, seed=1, sift=True, top=4)
    assert [each.columns for each in sifted] == kept[:4]
    assert not any(each.adds_nothing for each in sifted)
    # The result is the same without other tests, and from a run file.
    options = {"max_size": 3, "seed": 1, "sift": True, "top": 4, "run": tmp_path / "r.covary"}
    plain = covary.search(table, **options)
    assert [each.columns for each in plain] == kept[:4]
    assert covary.search(table, **options, resume=True) == plain
    with pytest.raises(RunError, match="seed is 1 there and 2 here"):
        covary.search(table, **{**options, "seed": 2}, resume=True)
    with pytest.raises(ParameterError, match="choose one of them"):
        covary.search(table, sift=True, prune=True)


def test_increment_tests_use_a_sample_of_many_rows(monkeypatch):
    rng = np.random.default_rng(3)
    a, b, noise = rng.normal(size=(3, 900))
    table = np.column_stack([noise, a, b, a + b])
    monkeypatch.setattr(increment_tests, "MAX_ROWS", 300)
    for columns, target in (((1, 2, 3), None), ((1, 2, 3), 3), ((0, 1, 3), 3)):
        tests = IncrementTests(UDSChance(), prepare(table), target, (), 5)
        p = [tests.pvalue(columns) for _ in range(2)]
        assert p[0] == p[1]
        assert (p[0] < 0.001) == (0 not in columns)


def test_a_level_below_the_smallest_pvalue_is_an_error(table):
    with pytest.raises(ParameterError, match=r"as low as level=0.01: use at least 99 perm"):
        covary.test(table, permutations=98, level=0.01)
    covary.test(table, [0, 1], permutations=99, level=0.01)


def test_text_names_the_side_of_the_level_if_a_test_stops_early(table):
    text = str(covary.test(table, [0, 1], permutations=999, level=0.05))
    assert text.endswith("; stopped early because p is at most 0.05")
    noise = np.random.default_rng(0).normal(size=(120, 2))
    assert "; stopped early because p is above 0.05" in str(covary.test(noise, level=0.05))
    assert "stopped early" not in str(covary.test(table, [0, 1], permutations=39))


def test_a_search_with_a_target_tests_the_target(table):
    found = searched(table, target=4, max_size=3)
    assert found.target == "x4"
    assert all("x4" in each.columns for each in found)
    assert "if x4 were independent of the other columns" in str(found)
    by_columns = {positions(each): each for each in found}
    assert by_columns[2, 3, 4].pvalue <= 0.05 + 1e-9
    # That x0 and x1 depend on each other does not count.
    for columns, each in by_columns.items():
        if not {2, 3} & set(columns):
            assert each.pvalue > 0.05


def test_pruning_does_not_change_the_scores_and_tests_of_the_other_sets(table):
    pruned = searched(table, max_size=3, prune=True, seed=1)
    whole = searched(table, max_size=3, seed=1, top=10**6)
    assert 0 < len(pruned) < len(whole)
    by_columns = {each.columns: each for each in whole}
    for each in pruned:
        other = by_columns[each.columns]
        assert each.score == other.score
        assert each.increment_pvalue == other.increment_pvalue
        assert each.pvalue <= each.qvalue
    assert pruned[0].family_pvalue == by_columns[pruned[0].columns].family_pvalue


@pytest.mark.parametrize("top", [1, 3])
def test_top_does_not_change_family_wise_pvalues(table, top):
    some = searched(table, max_size=3, top=top)
    whole = searched(table, max_size=3, top=1000)
    assert [e.family_pvalue for e in some] == [e.family_pvalue for e in whole[:top]]
    assert [e.increment_pvalue for e in some] == [e.increment_pvalue for e in whole[:top]]


def test_constant_columns_are_left_out_of_the_tests(table):
    more = np.column_stack([np.ones(120), table, np.full(120, nan)])
    with pytest.warns(covary.CovaryWarning, match="constant columns"):
        found = searched(more, max_size=3)
    assert len(found) == len(searched(table, max_size=3))
    assert all(0 < each.pvalue <= 1 for each in found)
    with pytest.warns(covary.CovaryWarning, match="constant columns"):
        nothing = searched(more[:, :2])
    assert (len(nothing), nothing.scored) == (0, 0)
    json.loads(nothing.to_json())


def test_few_rows_and_many_ties_are_searched_and_tested():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        cells = rng.integers(0, 3, size=(int(rng.integers(3, 12)), 4)).astype(float)
        cells[rng.random(cells.shape) < 0.2] = nan
        for options in ({}, {"measure": "uds"}):
            found = searched(cells, permutations=9, **options)
            for each in found:
                assert 0 < each.pvalue <= each.qvalue <= 1
                assert 0 < each.family_pvalue <= 1


def test_progress_of_tests_is_reported_by_stage(table):
    events = {}
    searched(
        table,
        max_size=3,
        on_progress=lambda stage, *event: events.setdefault(stage, []).append(event),
    )
    assert list(events) == [
        "pairs",
        "sets of 3",
        "evidence of sets",
        "permutations",
        "null distribution, pairs",
        "null distribution, sets of 3",
        "sets against their subsets",
    ]
    for stage in list(events)[2:]:
        done = [event[0] for event in events[stage]]
        assert done == sorted(done)
        assert all(0 < event[0] <= event[1] for event in events[stage])


def test_a_strong_pair_is_significant_with_19_permutations(table):
    """The smallest p-value of 19 permutations or shuffled tables is 1 / 20."""
    best = searched(table[:, :3], permutations=19)[0]
    assert best.family_pvalue <= 0.05
    assert best.pvalue <= 0.05


# ---------------------------------------------------------------- tests in a run file

SEARCH = {"max_size": 3, "permutations": 45, "seed": 3, "n_jobs": 1, "top": 8}


def contents(path):
    """Return all rows of a run file except the times."""
    tables = ("run", "columns", "candidates", "subspaces", "permutations", "increments")
    with closing(sqlite3.connect(path)) as connection:
        rows = {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in tables
        }
        tasks = connection.execute("SELECT * FROM tasks").fetchall()
    rows["tasks"] = sorted(item for row in tasks for item in items_of(*row))
    rows["run"] = [row for row in rows["run"] if row[0] not in ("started", "finished")]
    return rows


@pytest.fixture(scope="module")
def uninterrupted(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "uninterrupted.covary"
    result = covary.search(table, run=path, **SEARCH)
    return SimpleNamespace(path=path, result=result, rows=contents(path))


def test_a_run_file_changes_no_pvalue(table, uninterrupted):
    assert covary.search(table, **SEARCH) == uninterrupted.result
    assert len(uninterrupted.rows["permutations"]) >= 8 * 32
    for line, each in zip(uninterrupted.rows["subspaces"], uninterrupted.result, strict=True):
        assert line[2] == each.score
        assert line[4:] == (
            each.pvalue, each.qvalue, each.family_pvalue, each.increment_pvalue,
        )  # fmt: skip


SCORE = SetScorer.score


def fail_unless_shuffled(self, *arguments):
    """Score sets of a shuffled table; fail for the table itself.

    Increment tests compute how much of single columns is explained.
    """
    assert self.shared._unmoved is not None or self.target >= 0, "scored again"
    return SCORE(self, *arguments)


def test_a_finished_search_can_be_tested_later(table, uninterrupted, tmp_path, monkeypatch):
    path = tmp_path / "run.covary"
    plain = covary.search(table, run=path, **{**SEARCH, "permutations": 0})
    assert plain.tests is None
    # Nothing is scored again.
    monkeypatch.setattr(SetScorer, "score", fail_unless_shuffled)
    assert covary.search(table, run=path, resume=True, **SEARCH) == uninterrupted.result
    assert contents(path) == uninterrupted.rows


def fail(*arguments, **options):
    raise AssertionError("computed again")


def test_a_tested_run_is_not_computed_again(table, uninterrupted, monkeypatch):
    monkeypatch.setattr(permutation, "evidence_permuted", fail)
    monkeypatch.setattr("covary.searching.set_increments.increment_pvalues", fail)
    monkeypatch.setattr(NullEvidence, "draw", fail)
    again = covary.search(table, run=uninterrupted.path, resume=True, **SEARCH)
    assert again == uninterrupted.result
    assert contents(uninterrupted.path) == uninterrupted.rows


def copy_of(uninterrupted, folder):
    path = folder / "run.covary"
    path.write_bytes(uninterrupted.path.read_bytes())
    return path


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 4}, "belongs to another search: seed is 3 there and 4 here; choose another"),
        ({"permutations": 46}, "another search: permutations is 45 there and 46 here"),
    ],
)
def test_other_test_options_are_errors_and_change_no_row(
    table, uninterrupted, tmp_path, other, message
):
    path = copy_of(uninterrupted, tmp_path)
    with pytest.raises(RunError, match=message):
        covary.search(table, run=path, resume=True, **{**SEARCH, **other})
    # All results stay in the file.
    assert contents(path) == uninterrupted.rows
    assert covary.search(table, run=path, resume=True, **SEARCH) == uninterrupted.result


def test_resuming_without_tests_keeps_the_p_values(table, uninterrupted, tmp_path):
    path = copy_of(uninterrupted, tmp_path)
    plain = covary.search(table, run=path, resume=True, **{**SEARCH, "permutations": 0})
    assert plain.tests is None
    assert contents(path) == uninterrupted.rows


STAGES = ("permutations", "null distribution, pairs", "sets against their subsets")


def interrupting(stage, number):
    """Return a callback that interrupts after this many calls for a stage."""
    left = [number]

    def on_progress(which, done, total):
        left[0] -= which == stage
        if left[0] < 0:
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.parametrize(
    ("stage", "number"),
    [(STAGES[0], 0), (STAGES[0], 1), (STAGES[1], 0), (STAGES[1], 1), (STAGES[2], 0)],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_tests_are_resumed(stage, number, n_jobs, table, uninterrupted, tmp_path):
    path = tmp_path / "run.covary"
    options = {**SEARCH, "n_jobs": n_jobs}
    with pytest.raises(KeyboardInterrupt):
        covary.search(table, run=path, on_progress=interrupting(stage, number), **options)
    kept = contents(path)
    assert kept["candidates"] == uninterrupted.rows["candidates"]
    started = STAGES[: STAGES.index(stage) + 1]
    names = dict(zip(STAGES, ("permutations", "tasks", "increments"), strict=True))
    for each in started:
        assert kept[names[each]]
        assert set(kept[names[each]]) <= set(uninterrupted.rows[names[each]])
    assert covary.search(table, run=path, resume=True, **options) == uninterrupted.result
    assert contents(path) == uninterrupted.rows


@pytest.mark.parametrize("stage", STAGES)
def test_interrupted_tests_give_a_partial_result(stage, table):
    strategy = find_strategy("beam", max_size=3)
    search = Search(planned(table, UDSChance(), strategy, permutations=45))
    with pytest.raises(KeyboardInterrupt):
        search.run(Threads(1), None, interrupting(stage, 0))
    result = search_result(search, table)
    assert result.complete
    assert not result.tests.complete
    assert all(each.qvalue is each.family_pvalue is None for each in result)
    assert any(each.pvalue is None for each in result) == (stage == "permutations")
    assert "the tests were interrupted: p is rough, q and family-wise p missing" in str(result)
    assert json.loads(result.to_json())["tests"]["complete"] is False


def test_damaged_test_results_are_errors(table, uninterrupted, tmp_path):
    for at, statement in enumerate(
        (
            "UPDATE permutations SET evidence = 'much' WHERE number = 3",
            "UPDATE permutations SET rank = 900 WHERE number = 3 AND rank = 1",
            "UPDATE increments SET pvalue = 2.0",
            "UPDATE subspaces SET qvalue = NULL; UPDATE tasks SET results = x'00'",
        )
    ):
        (tmp_path / str(at)).mkdir()
        path = copy_of(uninterrupted, tmp_path / str(at))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript(statement)
        with pytest.raises(RunError, match=r"is damaged: .* has an invalid (value|result)"):
            covary.search(table, run=path, resume=True, **SEARCH)


# ---------------------------------------------------------------- the command line


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "table.csv"
    names = ["a", "[bold]b[/bold]", "c", "d", "e"]
    pd.DataFrame(table, columns=names).to_csv(path, index=False)
    return path


def unwrapped(text):
    return " ".join(text.split())


def test_the_test_command_prints_the_result(covary_command, csv):
    code, out, err = covary_command("test", csv, "-c", "a,[bold]b[/bold]", "-n", 39, "--seed", 5)
    result = covary.test(csv, ["a", "[bold]b[/bold]"], permutations=39, seed=5)
    assert code == 0
    shown = [result.summary(), f"score: {reading(result.score)}", *result.explained()]
    assert unwrapped(out) == unwrapped(" ".join(shown))
    assert "[bold]b[/bold]" in out, "names are not markup"
    assert all(line.startswith("covary: ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {}),
        (("--target", "e"), {"target": "e"}),
        (("--level", "0.05"), {"level": 0.05}),
        (("--measure", "uds", "--set", "beta=5"), {"measure": "uds", "beta": 5}),
        (("-c", "a,c", "--target", "d"), {"columns": ["a", "c"], "target": "d"}),
        (("--jobs", "2"), {}),
    ],
)
def test_the_test_command_prints_json(covary_command, csv, arguments, options):
    code, out, _ = covary_command("test", csv, "-n", 45, "--json", *arguments)
    assert code == 0
    assert json.loads(out) == covary.test(csv, permutations=45, **options).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "f"), "no column 'f'"),
        (("-c", "a"), "at least two columns"),
        (("--set", "beta=3"), "'uds-chance' has no parameter 'beta'"),
        (("--engine", "nowhere"), "no engine 'nowhere'"),
    ],
)
def test_errors_of_the_test_command_are_one_line(covary_command, csv, arguments, message):
    code, out, err = covary_command("test", csv, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("covary: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "arguments",
    [("--level", "0"), ("--level", "1"), ("-n", "0"), ("--seed", "-1"), ("--target",)],
)
def test_usage_errors_of_the_test_command_exit_2(covary_command, csv, arguments):
    code, out, err = covary_command("test", csv, *arguments)
    assert (code, out) == (2, "")
    assert "Error" in err


def test_the_error_of_a_missing_file_is_one_line(covary_command, tmp_path):
    code, out, err = covary_command("test", tmp_path / "none.csv")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1


def test_the_search_command_prints_pvalues(covary_command, csv):
    search = ("search", csv, "--max-size", 3, "--permutations", 39, "--jobs", 1)
    code, out, _ = covary_command(*search)
    result = covary.search(csv, max_size=3, permutations=39)
    assert code == 0
    flat = unwrapped(out)
    for line in result.tests.explained(result.target)[:3]:
        assert unwrapped(line) in flat
    assert "may add nothing" not in flat, "every listed set needs all of its columns"
    for heading in (" p ", " q ", " family-", " wise p "):
        assert heading in out
    code, out, _ = covary_command(*search, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(result.to_json())
    assert json.loads(out)["tests"]["permutations"] == 39


def test_the_search_command_resumes_with_tests(covary_command, csv, tmp_path):
    run = tmp_path / "run.covary"
    search = ("search", csv, "--max-size", 2, "--jobs", 1, "--json", "--run", run)
    assert covary_command(*search)[0] == 0
    code, out, _ = covary_command(*search, "--resume", "--permutations", 19, "--seed", 8)
    assert code == 0
    expected = covary.search(csv, max_size=2, permutations=19, seed=8)
    assert json.loads(out) == json.loads(expected.to_json())
    code, out, err = covary_command(*search, "--resume", "--permutations", 19, "--seed", 9)
    assert (code, out) == (1, "")
    assert "seed is 8 there and 9 here" in err
    assert err.count("\n") == 1


# ---------------------------------------------------------------- level on noise

DRAWS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "heavy": lambda rng, m: rng.standard_cauchy(size=m),
    "tied": lambda rng, m: rng.integers(0, rng.integers(2, 8), size=m).astype(float),
    "missing": lambda rng, m: np.where(rng.random(m) < 0.2, nan, rng.normal(size=m)),
}


def independent(rng, kind, m, d):
    """Return a table of independent columns of one kind, or of several if ``mixed``."""
    kinds = rng.choice(list(DRAWS), size=d) if kind == "mixed" else [kind] * d
    return np.column_stack([DRAWS[each](rng, m) for each in kinds])


def max_rejections(n, level, confidence):
    """Return the maximum number of rejections of n at a level, with two-sided confidence."""
    return int(stats.binom.ppf(1 - (1 - confidence) / 2, n, level))


def min_rejections(n, level, confidence):
    """Return the minimum number of rejections."""
    return int(stats.binom.ppf((1 - confidence) / 2, n, level))


@pytest.mark.parametrize("name", MEASURES)
def test_noise_is_rejected_at_the_level(name):
    rng = np.random.default_rng(11)
    n_tables = 120
    rejected = 0
    for number in range(n_tables):
        kind = ("normal", "heavy", "tied", "missing", "mixed")[number % 5]
        cells = independent(rng, kind, int(rng.integers(12, 50)), int(rng.integers(2, 4)))
        target = (None, 0)[number % 2]
        result = checked(cells, measure=name, target=target, permutations=19, seed=number)
        rejected += result.pvalue <= 0.05
    assert rejected <= max_rejections(n_tables, 0.05, 0.999)


def test_noise_without_ties_is_not_rejected_less_often_than_the_level():
    rng = np.random.default_rng(4)
    pvalues = [
        checked(independent(rng, "normal", 40, 2), permutations=19, seed=k).pvalue
        for k in range(200)
    ]
    rejected = sum(p <= 0.05 for p in pvalues)
    assert min_rejections(200, 0.05, 0.999) <= rejected <= max_rejections(200, 0.05, 0.999)
    assert stats.kstest(np.array(pvalues) - rng.random(200) / 20, "uniform").pvalue > 0.001


def test_searches_of_noise_have_few_significant_sets():
    rng = np.random.default_rng(8)
    n_tables = 40
    by_family = by_q = 0
    for number in range(n_tables):
        cells = independent(rng, "mixed", 40, 4)
        found = searched(cells, permutations=19, max_size=3, seed=number)
        by_family += any(each.family_pvalue <= 0.05 for each in found)
        by_q += any(each.qvalue <= 0.05 for each in found)
    assert by_family <= max_rejections(n_tables, 0.05, 0.999)
    assert by_q <= max_rejections(n_tables, 0.05, 0.999)


SIZES = list(itertools.product((50, 200, 1000), (2, 3, 4, 5, 6)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("how", ["fixed", "sequential", "target"])
def test_noise_of_any_size_and_distribution_is_rejected_at_the_level(name, how):
    rng = np.random.default_rng([ord(letter) for letter in name + how])
    rejected = n_tables = 0
    for kind, (m, d), _ in itertools.product(
        ("normal", "heavy", "tied", "mixed"), SIZES, range(9 if how == "fixed" else 3)
    ):
        cells = independent(rng, kind, m, d)
        options = {"target": 0} if how == "target" else {}
        if how == "target" and d > 2:
            cells[:, 2] = cells[:, 1] + 0.1 * cells[:, 2]  # The others may depend on each other.
        if how == "sequential":
            options |= {"level": 0.05, "permutations": 199}
        p = checked(cells, measure=name, seed=n_tables, **options).pvalue
        rejected += p <= 0.05
        n_tables += 1
    assert n_tables >= (500 if how == "fixed" else 150)
    assert rejected <= max_rejections(n_tables, 0.05, 0.99)
    if name == "uds-chance":
        assert rejected >= min_rejections(n_tables, 0.05, 0.999)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("target", [None, 0])
def test_searches_of_noise_control_the_family_wise_error_rate(name, target):
    rng = np.random.default_rng(5)
    n_tables = 200
    by_family = by_q = 0
    for number in range(n_tables):
        cells = independent(rng, ("normal", "heavy", "tied", "mixed")[number % 4], 60, 6)
        assert all(naive_chance.varies(column) for column in listed(cells))
        found = searched(cells, measure=name, target=target, max_size=3, top=20, seed=number)
        by_family += any(each.family_pvalue <= 0.05 for each in found)
        by_q += any(each.qvalue <= 0.05 for each in found)
    assert by_family <= max_rejections(n_tables, 0.05, 0.99)
    assert by_q <= max_rejections(n_tables, 0.05, 0.99)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "heavy", "tied"])
def test_the_increment_test_keeps_its_level_for_a_pair_with_noise(kind):
    """The noise is the target or a condition; it adds nothing in both cases."""
    rng = np.random.default_rng(0)
    n_tables, rejected = 200, [0, 0]
    for number in range(n_tables):
        cells = independent(rng, kind, 300, 3)
        cells[:, 1] = cells[:, 0] + 0.5 * cells[:, 1]
        for at, target in enumerate((1, 2)):
            rejected[at] += increment(cells, seed=number, target=target) <= 0.05
    assert max(rejected) <= max_rejections(n_tables, 0.05, 0.99)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_the_increment_test_detects_relations_of_three_columns(name):
    for seed in range(50):
        for kind in ("xor", "sum"):
            assert increment(three_columns(kind, seed, 600), seed=seed, measure=name) <= 0.01


@pytest.mark.slow
def test_sequential_decisions_agree_with_those_of_all_permutations():
    rng = np.random.default_rng(1)
    fewer = disagree = 0
    for number in range(300):
        x, e = rng.normal(size=(2, 80))
        cells = np.column_stack([x, rng.choice([0.0, 0.1, 0.2, 0.3]) * x + e])
        fixed = checked(cells, permutations=499, seed=number)
        early = checked(cells, permutations=499, seed=number, level=0.05)
        assert early.null.tolist() == fixed.null[: early.permutations].tolist()
        fewer += early.permutations < 499
        if (early.pvalue <= 0.05) != (fixed.pvalue <= 0.05):
            disagree += 1
            assert 0.02 < fixed.pvalue < 0.09
    assert fewer > 200
    assert disagree <= 6
