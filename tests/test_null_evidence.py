"""P-values after a search: the fitted tail, and corrections over all sets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covary
from covary.engines import run_here
from covary.measures import find_measure
from covary.prepare import prepare
from covary.significance.null_evidence import (
    FamilyPvalues,
    NullEvidence,
    draw_evidence,
    false_discovery_rates,
    family_pvalues,
    sampled_rows,
    too_rare,
)
from covary.significance.tails import Tail
from covary.tail_probability import SMALLEST_PVALUE


@pytest.mark.parametrize("seed", range(5))
def test_the_tail_of_an_exponential_sample_is_extrapolated(seed):
    sample = np.random.default_rng(seed).exponential(size=10_000)
    tail = Tail(sample)
    for value in (1.0, 5.0, 9.0, 14.0):
        assert 0.3 < tail.probability(value) / math.exp(-value) < 30


@pytest.mark.parametrize("seed", range(5))
def test_a_heavy_tail_is_not_taken_for_a_light_one(seed):
    """A Pareto variable with index 2: P(X > x) = x^-2."""
    sample = np.random.default_rng(seed).pareto(2, size=10_000) + 1
    probability = Tail(sample).probability(1000.0)
    assert 1e-7 < probability < 1e-5


def mixture(seed, n=4000):
    """One value in a hundred is much larger: no generalised Pareto distribution fits both."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.01, rng.uniform(10, 40, n), rng.exponential(size=n))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["exponential", "mixture", "Pareto"])
def test_the_probability_falls_and_is_at_least_as_careful_as_the_sample(kind, seed):
    rng = np.random.default_rng(seed)
    sample = {
        "exponential": rng.exponential(size=1000),
        "mixture": mixture(seed),
        "Pareto": rng.pareto(0.5, 1000),
    }[kind]
    tail = Tail(sample)
    values = np.concatenate([np.linspace(-1, 60, 600), np.sort(sample)])
    values.sort()
    probabilities = [tail.probability(value) for value in values]
    assert all(a >= b for a, b in itertools.pairwise(probabilities))
    assert probabilities[0] == 1.0
    for value, probability in zip(values, probabilities, strict=True):
        assert probability >= np.count_nonzero(sample >= value) / (sample.size + 1) - 1e-12
    assert tail.probability(np.sort(sample)[500]) == pytest.approx(
        (sample.size - 499) / (sample.size + 1)
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_rare_heavy_part_of_a_sample_is_not_overlooked_beyond_it(seed):
    """P(X > 38.5) = 0.01 * 1.5 / 30 = 0.0005, a value that few samples contain."""
    probability = Tail(mixture(seed, 1000)).probability(38.5)
    assert probability > 0.0005 / 20


@pytest.mark.parametrize("seed", range(5))
def test_the_probability_of_a_very_large_value_is_very_small(seed):
    sample = np.random.default_rng(seed).exponential(size=2_000)
    assert Tail(sample).probability(100.0) < 1e-7
    assert Tail(sample).probability(5_000.0) < 1e-9


def test_a_constant_sample_has_no_tail():
    tail = Tail(np.zeros(100))
    assert tail.probability(0.0) == 1.0
    assert tail.probability(1.0) == pytest.approx(1 / 101)


def naive_rates(expected, counted):
    """The smallest rate of all limits that include the set: expected false / counted found."""
    rates = []
    for own in expected:
        candidates = []
        for limit in expected:
            if limit >= own:
                found = sum(c for e, c in zip(expected, counted, strict=True) if e <= limit)
                candidates.append(limit / max(found, 1))
        rates.append(min(max(min(candidates), SMALLEST_PVALUE), 1.0))
    return rates


@given(st.lists(st.tuples(st.floats(0, 10), st.booleans()), min_size=1, max_size=12))
def test_false_discovery_rates_equal_their_definition(pairs):
    expected = [value for value, _ in pairs]
    counted = [count for _, count in pairs]
    found = false_discovery_rates(np.array(expected), counted)
    if len(set(expected)) == len(expected):  # equal ones are counted in some order
        assert found.tolist() == pytest.approx(naive_rates(expected, counted))
    assert np.all(found <= family_pvalues(np.array(expected)) + 1e-12)


@pytest.fixture(scope="module")
def null():
    rng = np.random.default_rng(0)
    prepared = prepare(np.column_stack([rng.normal(size=(300, 8)), rng.integers(0, 2, (300, 2))]))
    return NullEvidence.of(find_measure("uds-chance"), prepared, range(10), None, 0)


def test_draws_are_reproducible_and_differ(null):
    draws = null.draws([2, 3])
    one, same = (draw_evidence(null, draws[:2]) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not np.array_equal(one[0], one[1])
    assert {draw.size for draw in draws} == {2, 3}


def test_evidence_of_pairs_is_about_minus_the_log_of_its_probability(null):
    family = FamilyPvalues(null, [2, 3])
    family.compute([2], run_here(null))
    for evidence in (3.0, 5.0):
        assert 0.3 < family.single(2, evidence) / math.exp(-evidence) < 3
    assert family.expected(2, 5.0) == family.single(2, 5.0) * 45 * 2


def test_relations_with_each_target_are_counted_and_drawn(null):
    directed = null._replace(each_target=True)
    assert [directed.n_sets(size) for size in (2, 3, 4)] == [45, 3 * 120, 4 * 210]
    assert [null.n_sets(size) for size in (2, 3, 4)] == [45, 120, 210]
    draws = directed.draws([3])
    values = np.concatenate(draw_evidence(directed, draws))
    assert 3 * math.comb(10, 3) * len(draws) == values.size >= 2000
    assert null.draw(null.draws([3])[0]).size == math.comb(10, 3)
    pairs = [np.concatenate(draw_evidence(each, each.draws([2])[:3])) for each in (null, directed)]
    assert np.array_equal(*pairs)
    for evidence in (3.0, 5.0):
        assert np.mean(values >= evidence) < 3 * math.exp(-evidence)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("n_columns", [4, 10, 40])
def test_with_a_target_as_many_values_are_drawn_as_without(size, n_columns):
    rng = np.random.default_rng(3)
    prepared = prepare(rng.normal(size=(30, n_columns + 1)))
    null = NullEvidence.of(find_measure("uds-chance"), prepared, range(n_columns), n_columns, 0)
    draws = null.draws([size])
    values = null.draw(draws[0]).size * len(draws)
    assert min(2_000, 400 * null.draw(draws[0]).size) <= values
    assert values <= 2 * 16_000


def test_the_sample_of_a_large_table_keeps_rare_values():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(30_000, 2))
    rare = np.zeros(30_000)
    rare[:100] = 1.0
    prepared = prepare(np.column_stack([values, rare]))
    assert sampled_rows(prepared, [0, 1]) == 2_000
    assert sampled_rows(prepared, [0, 1, 2]) == 15_000  # 50 of the 100 ones, on average
    assert too_rare(prepared, [0, 1, 2]) == []
    rare[20:] = 0.0
    prepared = prepare(np.column_stack([values, rare]))
    assert sampled_rows(prepared, [0, 1, 2]) == 20_000
    assert too_rare(prepared, [0, 1, 2]) == [2]
    small = prepare(np.column_stack([values, rare])[:5_000])
    assert sampled_rows(small, [0, 1, 2]) == 5_000
    assert too_rare(small, [0, 1, 2]) == []


def test_rare_values_of_a_large_table_have_few_certain_relations():
    """Ten cells that are not 0, in 6,000 rows: two of them coincide in one table of 30."""
    false = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        columns = np.zeros((6_000, 8))
        for column in columns.T:
            column[rng.choice(6_000, 10, replace=False)] = rng.normal(size=10)
        links = covary.overview(columns).links
        false += any(link.family_pvalue <= 0.05 for link in links)
    assert false <= 1


def test_a_large_table_is_sampled():
    rng = np.random.default_rng(1)
    prepared = prepare(rng.normal(size=(10_000, 3)))
    null = NullEvidence.of(find_measure("uds-chance"), prepared, range(3), None, 0)
    assert null.prepared.n_rows == 2_000
    assert prepared.n_rows == 10_000


def test_with_a_target_only_the_target_is_shuffled():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    prepared = prepare(np.column_stack([x, x + 0.01 * rng.normal(size=200), rng.normal(size=200)]))
    null = NullEvidence.of(find_measure("uds-chance"), prepared, (0, 1), 2, 0)
    values = np.concatenate(draw_evidence(null, null.draws([3])))
    assert values.max() < 20  # the dependence of the other two columns does not count
    assert null.n_sets(3) == 1
    assert null.n_sets(2) == 2
