"""The evidence statistic of uds-chance: its views, compared with naive versions, and its power."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest
from example_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import covary
import naive_chance
import naive_evidence
from covary import UDSChance, kernels
from covary.measures.uds_chance import evidence_views as views
from covary.measures.uds_chance.evidence_views import GRID_VIEWS, PAIR_VIEWS
from covary.prepare import prepare
from covary.table import TableOptions, declare

N_GRID_VIEWS = len(GRID_VIEWS)
TWO_SIDED = kernels.uds_chance.associations.TWO_SIDED
TWO_SIDED_OF_TWO = kernels.uds_chance.associations.TWO_SIDED_OF_TWO
needs_compiled_kernels = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes minutes without compiled kernels"
)


MISSING = st.sampled_from(["values", "level"])


def listed(table):
    return [column.tolist() for column in table.T]


def ranks_of(column, folded):
    return naive_evidence.folded(column) if folded else naive_chance.mid_ranks(column)


def test_weights_of_pairs_and_triples_add_up_to_1():
    of_pairs = sum(2 * view.one_way + view.both_ways for view in PAIR_VIEWS)
    assert of_pairs + sum(views.CORRELATION_WEIGHTS) == pytest.approx(1)
    assert sum(view.one_way for view in views.TRIPLE_VIEWS) == pytest.approx(1)


def prepared_as(table, missing):
    return prepare(declare(table, TableOptions(missing=missing)))


def counted(table, missing):
    """Return the rows that count for a pair of columns."""
    return table if missing == "level" else table[~np.isnan(table).any(axis=1)]


# ---------------------------------------------------------------- views


@settings(max_examples=60)
@given(tables(rows=(3, 110), columns=(2, 2)), MISSING)
def test_neighbours_are_the_naive_ones(table, missing):
    target, condition = listed(counted(table, missing))
    found, _ = views.pair_gains(prepared_as(table, missing), 1, [0])
    for at, (size, folded, *_) in enumerate(naive_evidence.NEIGHBOURS, start=N_GRID_VIEWS):
        expected = naive_evidence.neighbour_gain(ranks_of(target, folded), condition, size)
        assert found.gains[0, at] == pytest.approx(expected.gain, rel=1e-7, abs=1e-7)
        if expected.gain > -math.inf:
            assert found.skewnesses[0, at] == pytest.approx(expected.skewness, rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(tables(rows=(3, 60), columns=(2, 2)), MISSING)
def test_correlations_are_the_naive_ones(table, missing):
    _, ((found,), (kinds,)) = views.pair_gains(prepared_as(table, missing), 1, [0])
    table = counted(table, missing)
    target, condition = listed(table)
    two_valued = any(np.unique(each[~np.isnan(each)]).size == 2 for each in table.T)
    two_valued = two_valued and len(table) > 2
    assert kinds.tolist() == [TWO_SIDED_OF_TWO if two_valued else TWO_SIDED] * 4
    folds = [(False, False), (True, True), (True, False), (False, True)]
    for value, (fold_target, fold_condition) in zip(found, folds, strict=True):
        expected = naive_evidence.correlation(
            ranks_of(target, fold_target), ranks_of(condition, fold_condition)
        )
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=15)
@given(tables(rows=(30, 200), columns=(2, 2), kinds=("normal", "heavy", "dependent")), MISSING)
def test_gains_of_grids_are_the_naive_ones(table, missing):
    target, condition = listed(table)
    found, _ = views.pair_gains(prepared_as(table, missing), 1, [0])
    with naive_chance.missing_cells(missing):
        target = naive_chance.as_if_missing(target, [condition])
    for at, (sizes, folded, *_) in enumerate(naive_evidence.GRIDS_OF_PAIRS):
        expected = naive_evidence.grid_gain(ranks_of(target, folded), [condition], sizes)
        # Folding makes ties, for which expected entropies are interpolated.
        tolerance = 1e-2 if folded else 1e-6
        assert found.gains[0, at] == pytest.approx(expected.gain, rel=tolerance, abs=tolerance)
        if expected.gain > -math.inf:
            assert found.skewnesses[0, at] == pytest.approx(expected.skewness, rel=1e-6)


@pytest.mark.parametrize("kind", ["normal", "rounded", "integers", "gaps"])
def test_gains_have_mean_0_variance_1_and_their_skewness_under_independence(kind):
    rng = np.random.default_rng(0)
    lines, skewnesses = [], []
    for _ in range(1500):
        table = rng.normal(size=(120, 2))
        if kind == "rounded":
            table = table.round(1)
        elif kind == "integers":
            table = rng.integers(30, size=(120, 2)).astype(float)
        elif kind == "gaps":
            table[rng.random(table.shape) < 0.2] = np.nan
        found, correlations = views.pair_gains(prepare(table), 0, [1])
        lines.append([*found.gains[0], *correlations.gains[0]])
        skewnesses.append([*found.skewnesses[0], 0, 0, 0, 0])
    gains, skewness = np.array(lines), np.mean(skewnesses, axis=0)
    available = np.isfinite(gains).all(axis=0)
    assert available.sum() >= 10  # all but the fine grids, at most
    gains, skewness = gains[:, available], skewness[available]
    assert np.abs(gains.mean(axis=0)).max() < 0.12
    assert gains.std(axis=0) == pytest.approx(1, abs=0.18)
    assert stats.skew(gains) == pytest.approx(skewness, abs=0.45)


def with_count(n, count):
    return (np.arange(n) < count).astype(float)


def moved_gains(table, n_permutations):
    """Return the gains of both directions, and the correlations, of permutations of a pair."""
    rng = np.random.default_rng(0)
    prepared = prepare(table)
    rows = np.array([rng.permutation(len(table)) for _ in range(n_permutations)], np.uint32)
    moved = views.Moved(rows, kernels.shared.shuffling.invert(rows))
    there, correlations = views.pair_gains(prepared, 0, [1], moved)
    back, _ = views.pair_gains(prepared, 1, [0], moved.reversed(), n_correlated=0)
    return there, back, correlations


@needs_compiled_kernels
@pytest.mark.parametrize("kind", ["6 ones", "30 ones", "150 ones", "zeros", "5 values"])
def test_neighbours_of_a_target_with_ties_have_their_skewness(kind):
    rng = np.random.default_rng(0)
    n = 300
    target = {
        "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
        "5 values": rng.integers(5, size=n).astype(float),
    }.get(kind)
    if target is None:
        target = with_count(n, int(kind.split()[0]))
    found, *_ = moved_gains(np.column_stack([rng.normal(size=n), target]), 8000)
    gains = found.gains[:, N_GRID_VIEWS:]
    available = np.isfinite(gains).all(axis=0)
    assert available[:3].all()
    skewnesses = found.skewnesses[0, N_GRID_VIEWS:][available]
    assert stats.skew(gains[:, available]) == pytest.approx(skewnesses, rel=0.2, abs=0.1)


@needs_compiled_kernels
@pytest.mark.parametrize("other", ["normal", "zeros", "4 ones", "counts"])
def test_evidence_of_rare_values_is_calibrated(other):
    """P(E >= x) is about exp(-x), or smaller, also for a column with 4 ones in 200 rows."""
    rng = np.random.default_rng(0)
    n = 200
    drawn = {
        "normal": rng.normal(size=n),
        "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
        "4 ones": with_count(n, 4),
        "counts": rng.poisson(0.5, n).astype(float),
    }[other]
    table = np.column_stack([drawn, with_count(n, 4)])
    evidence = views.pair_evidence(*moved_gains(table, 20_000))
    assert np.mean(evidence >= 6.9) < 0.003
    assert evidence.max() < 16


@needs_compiled_kernels
def test_neighbours_in_many_rows():
    """Sums of distances are rounded so that they do not overflow."""
    n = 70_000
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    table = np.column_stack([np.arange(n), order + 20 * rng.normal(size=n)])
    found, _ = views.pair_gains(prepare(table), 0, [1])
    u = (np.argsort(np.argsort(table[:, 1])) + 0.5) / n
    to_all = u**2 - u + 0.5  # the mean distance of u from a uniform variable
    gain = np.sum(to_all[1:] + to_all[:-1] - 1 / 3 - np.abs(np.diff(u)))
    at = [view.sizes for view in PAIR_VIEWS].index((2,))
    assert found.gains[0, at] == pytest.approx(gain / math.sqrt(2 / 45 * (n - 1)), abs=1e-2)


@needs_compiled_kernels
def test_correlations_of_very_many_rows():
    n = 2_000_000
    rng = np.random.default_rng(0)
    order = rng.permutation(n).astype(np.uint32)
    places = np.arange(1 - n, n, 2, dtype=np.int32)
    *_, found, kinds = kernels.uds_chance.neighbours.neighbour_views(
        order[None],
        np.zeros(1, np.int64),
        np.array([1]),
        0,
        np.array([np.arange(n, dtype=float)] * 2),
        np.array([n, n]),
        (np.array([places] * 2), np.zeros(2, np.int64)),
        (np.array([2]), np.array([0]), 1),
    )
    expected = np.corrcoef(places, places[order])[0, 1] * math.sqrt(n - 1)
    assert found[0, 0] == pytest.approx(expected, abs=1e-3)
    assert kinds[0, 0] == TWO_SIDED


@pytest.mark.parametrize("skewness", [0.0, 0.3, 2.0])
def test_probabilities_are_those_of_gamma_variables(skewness):
    gains = np.array([-1.0, 0.0, 1.0, 2.0, 4.0, 8.0])
    arrays = gains[:, None].copy(), np.full((gains.size, 1), skewness)
    found = kernels.uds_chance.tails.evidence_of_views(arrays, np.ones(1))
    variable = stats.pearson3(skewness) if skewness > 0 else stats.norm()
    assert found == pytest.approx(-variable.logsf(gains), rel=0.04, abs=0.04)


@pytest.mark.parametrize("skewness", [4.0, 10.0, 50.0])
def test_probabilities_of_rare_events_are_at_least_those_of_poisson_variables(skewness):
    expected = skewness**-2
    counts = np.array([0, 1, 2, 3, 6])
    gains = (counts - expected) * skewness
    arrays = gains[:, None].copy(), np.full((gains.size, 1), skewness)
    found = kernels.uds_chance.tails.evidence_of_views(arrays, np.ones(1))
    assert found[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(found) > 1).all()
    assert (found <= -stats.poisson.logsf(counts - 1, expected) + 0.05).all()


def test_skewness_of_correlations_is_exact():
    one, other = [3.0, 1, 1, 1, 9, 1, 1], [0.0, 0, 0, 1, 0, 2, 0]
    every = itertools.permutations(other)
    correlations = [naive_evidence.correlation_and_skewness(one, each)[0] for each in every]
    assert np.var(correlations) == pytest.approx(1)
    _, skewness = naive_evidence.correlation_and_skewness(one, other)
    assert stats.skew(correlations) == pytest.approx(skewness)


def test_tails_of_normal_variables():
    values = np.array([0.0, 1.0, 10.0, 24.9, 25.0, 25.1, 100.0, 1e4])[:, None].copy()
    no_views = (np.empty((values.size, 0)), np.empty((values.size, 0)))
    weights = (*[np.empty(0)] * 3, np.ones(1))
    for sign in (1, -1):
        found = kernels.uds_chance.tails.evidence_of_pairs(
            no_views, no_views, (sign * values, np.full(values.shape, TWO_SIDED)), weights
        )
        expected = -stats.norm.logsf(values[:, 0]) - math.log(2)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


# ---------------------------------------------------------------- power


def oscillating(rng, n):
    x = rng.random(n)
    return x, np.sin(2 * np.pi * 25 * x) + 0.2 * rng.normal(size=n)


def spiral(rng, n):
    t = rng.random(n)
    angle, noise = 14 * t, 0.03 * rng.normal(size=(2, n))
    return t * np.cos(angle) + noise[0], t * np.sin(angle) + noise[1]


def alternating_levels(rng, n):
    x = np.arange(n) // 3
    return x, x % 2 + 0.4 * rng.normal(size=n)


@pytest.mark.parametrize("shape", [oscillating, spiral, alternating_levels])
def test_evidence_detects_what_coarse_grids_miss(shape):
    rng = np.random.default_rng(0)
    x, y = shape(rng, 240)
    null = [covary.evidence(np.column_stack([x, rng.permutation(y)])) for _ in range(40)]
    assert covary.evidence(np.column_stack([x, y])) > max(null) + 3


@pytest.mark.parametrize("shape", [oscillating, spiral])
def test_evidence_of_oscillations_does_not_need_distinct_values(shape):
    rng = np.random.default_rng(0)
    x, y = shape(rng, 240)
    x = np.repeat(np.sort(x)[::2], 2)[np.argsort(np.argsort(x))]
    null = [covary.evidence(np.column_stack([x, rng.permutation(y)])) for _ in range(40)]
    assert covary.evidence(np.column_stack([x, y])) > max(null)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_evidence_of_a_strong_relation_does_not_hide_a_weak_one(seed):
    """Permuting only the last column preserves the strong relation."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, 200))
    a_and_copy = [a, a + 0.01 * b]
    weak = 0.6 * a + noise
    of_null = [
        covary.evidence(np.column_stack([*a_and_copy, rng.permutation(weak)])) for _ in range(5)
    ]
    found = covary.evidence(np.column_stack([*a_and_copy, weak]))
    assert min(of_null) > 50
    assert found > max(of_null) + 1


def test_evidence_of_independent_columns_hardly_depends_on_their_number():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = np.column_stack([x, 0.5 * x + rng.normal(size=200), *rng.normal(size=(8, 200))])
    pair, all_columns = covary.evidence(table, [0, 1]), covary.evidence(table)
    assert pair > 8
    assert pair / 2 < all_columns < pair + 4


def test_evidence_of_a_pair_is_the_same_with_a_target():
    rng = np.random.default_rng(0)
    prepared = prepare(rng.normal(size=(90, 2)).round(1))
    found = {UDSChance().evidence_sets(prepared, [(0, 1)], target)[0] for target in (None, 0, 1)}
    assert len(found) == 1
