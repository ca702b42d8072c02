"""uds-chance: comparison with its naive version, behaviour under independence, invariances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from example_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
import naive_chance
from covary import UDSChance, kernels
from covary.engines.inline import run_here
from covary.errors import ParameterError
from covary.measures.uds_chance.balanced_cells import balanced_cells
from covary.measures.uds_chance.evidence_views import cell_gains
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import MidRanks, target_arrays
from covary.measures.uds_chance.places import Places
from covary.measures.uds_chance.selection import Probe, examine
from covary.measures.uds_chance.set_scorer import SetScorer, as_arrays
from covary.measures.uds_chance.strengths import Conditions, explain_targets
from covary.measures.uds_chance.tie_patterns import table_sizes
from covary.prepare import prepare

numbers_given = st.sampled_from([1, 2, 3, None])
nan = np.nan
untied = ("normal", "heavy")
# Maximum error of interpolation, as a fraction of h. The expected loss of columns with ties is
# interpolated over sizes of cells (for all columns above 4096 rows), and over thresholds if there
# are more than 48.
INTERPOLATED = 1e-4


def listed(table):
    return [column.tolist() for column in table.T]


def expected_loss(prepared, column, size):
    """Return the expected loss of entropy in ``size`` random rows, as a fraction of it."""
    midranks = prepared.derived(MidRanks)
    line = midranks.bias_lines[midranks.bias_of[column]]
    bias = kernels.uds_chance.expected_entropy.look_up(line, size)
    return bias * prepared.n_present[column] / size


def prepare_with_index(column):
    return prepare(np.column_stack([column, np.arange(len(column))]))


def explained_fraction(table, target, max_given=None):
    """Return the explained fraction of a column, given all other columns."""
    n_columns = table.shape[1]
    scorer = UDSChance(max_given=max_given).scorer(prepare(table), target)
    others = np.array([[c for c in range(n_columns) if c != target]], np.int32)
    (((_, scores)),) = scorer.score(others, run_here(scorer.shared))
    return float(scores[0])


# ---------------------------------------------------------------- chance correction


@settings(max_examples=60)
@given(tables(rows=(3, 8), columns=(1, 1)))
def test_expected_loss_is_the_mean_over_all_subsets(table):
    steps = naive_chance.rank_target(table[:, 0].tolist())
    if steps.entropy == 0:
        return
    prepared = prepare_with_index(table[:, 0])
    for size in range(1, steps.n + 1):
        mean = naive_chance.expected_entropy_by_enumeration(steps, size)
        assert mean == pytest.approx(naive_chance.expected_entropy(steps, size), abs=1e-12)
        assert expected_loss(prepared, 0, size) == pytest.approx(
            1 - mean / steps.entropy, abs=1e-12
        )


@settings(max_examples=60)
@given(tables(rows=(3, 90), columns=(1, 1)))
def test_expected_loss_is_the_hypergeometric_mean(table):
    column = table[:, 0]
    steps = naive_chance.rank_target(column.tolist())
    if steps.entropy == 0:
        return
    prepared = prepare_with_index(column)
    assert prepared.derived(MidRanks).entropies[0] == pytest.approx(
        steps.entropy / steps.n, abs=1e-14
    )
    no_ties = len(steps.cuts) == steps.n - 1
    thresholds = {min(k, steps.n - k) for k in steps.below}
    for size in {*range(1, 20), *range(20, steps.n, 7), steps.n}:
        if size > steps.n:
            continue
        exact = no_ties or (len(thresholds) <= 48 and (size <= 16 or size == steps.n))
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        error = 1e-12 if exact else INTERPOLATED
        assert expected_loss(prepared, 0, size) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.round(rng.normal(size=700), 1),
        lambda rng: np.round(rng.normal(size=700), 2),
        lambda rng: np.round(rng.standard_cauchy(size=700)),
        lambda rng: np.maximum(rng.normal(size=700), 0),
        lambda rng: np.concatenate([[0.0], np.arange(699)]),
        lambda rng: np.arange(700) < 7,
        lambda rng: np.arange(700) < 1,
    ],
    ids=["1 digit", "2 digits", "cauchy", "half ties", "one tie", "rare", "one different value"],
)
def test_interpolation_over_thresholds_and_sizes_is_accurate(draw):
    column = draw(np.random.default_rng(0)).astype(float)
    steps = naive_chance.rank_target(column.tolist())
    prepared = prepare_with_index(column)
    for size in (1, 2, 3, 7, 16, 17, 21, 30, 58, 117, 350, 601, 699, 700):
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        assert expected_loss(prepared, 0, size) == pytest.approx(expected, abs=INTERPOLATED)


@pytest.mark.parametrize("size", [2, 5, 20, 60])
def test_expected_loss_is_the_mean_loss_of_random_cells(size):
    rng = np.random.default_rng(size)
    column = np.floor(rng.exponential(size=200) * 4)
    steps = naive_chance.rank_target(column.tolist())
    drawn = [
        1 - naive_chance.entropy_of_rows(steps, rng.permutation(200)[:size]) / steps.entropy
        for _ in range(1500)
    ]
    error = np.std(drawn) / math.sqrt(len(drawn))
    assert abs(np.mean(drawn) - expected_loss(prepare_with_index(column), 0, size)) < 4 * error


def test_expected_loss_without_ties_follows_the_formula_of_the_docs():
    """Above 4096 rows, the table is interpolated linearly."""
    n = 20_011
    prepared = prepare_with_index(np.random.default_rng(0).normal(size=n))
    sizes = [1, 2, 3, 100, 4095, 4096, 4097, 4099, 5001, 8191, 8192, 8195, 12_345, 20_009, n]
    for m in sizes:
        left = (m - 1) * (m + 2) / (m * (m + 1)) * n * (n + 1) / ((n - 1) * (n + 2))
        assert expected_loss(prepared, 0, m) == pytest.approx(1 - left, abs=1e-10)


def test_expected_loss_of_large_cells_with_ties():
    rng = np.random.default_rng(1)
    column = rng.integers(0, 3, size=9001).astype(float)
    column[:900] = np.nan
    steps = naive_chance.rank_target(column.tolist())
    prepared = prepare_with_index(column)
    for size in (1, 40, 4097, 8101):
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        assert expected_loss(prepared, 0, size) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n_rows", [3, 100, 4095, 4096, 4097, 5000, 8192, 9001, 20_000])
def test_all_sizes_are_within_the_table(n_rows):
    sizes = table_sizes(n_rows)
    look_up = kernels.uds_chance.expected_entropy.look_up
    look_up = getattr(look_up, "py_func", look_up)
    for size in {0, 1, n_rows // 2, n_rows - 1, n_rows}:
        assert look_up(sizes.astype(float), size) == size


@settings(max_examples=80)
@given(tables(rows=(3, 120), columns=(1, 1)))
def test_null_distribution_follows_from_the_ties(table):
    steps = naive_chance.rank_target(table[:, 0].tolist())
    midranks = prepare_with_index(table[:, 0]).derived(MidRanks)
    if steps.entropy == 0:
        assert midranks.entropies[0] == 0
        return
    found = [moment[0] for moment in midranks.null_moments]
    assert found == pytest.approx(naive_chance.null_shape(steps), rel=1e-10)


def test_null_distribution_without_ties_is_that_of_anderson_and_darling():
    """Their statistic is a sum of chi-squares with weights 1 / (j (j + 1))."""
    midranks = prepare_with_index(np.random.default_rng(0).normal(size=5000)).derived(MidRanks)
    weights = 1 / (np.arange(1, 10**6) * np.arange(2, 10**6 + 1))
    variance = 2 * (weights**2).sum()
    assert midranks.units[0] == pytest.approx(1 / 5000, rel=1e-3)
    assert midranks.variances[0] == pytest.approx(variance, rel=1e-3)
    skewness = 8 * (weights**3).sum() / variance**1.5
    assert midranks.skewnesses[0] == pytest.approx(skewness, rel=1e-3)


@pytest.mark.parametrize("values", [0, 2, 9])
def test_an_independent_column_explains_nothing_on_average(values):
    """The expected explained fraction is 0 for each grid, for any cells."""
    rng = np.random.default_rng(values)
    found, freedoms = [], []
    for _ in range(300):
        table = rng.normal(size=(150, 3))
        if values:
            table = np.floor(values * rng.random((150, 3)) ** 2)
        gains, chances, freedom = all_gains(prepare(table), (0, 1), 2)
        found.append(gains / (1 - chances))
        freedoms.append(freedom / (1 - chances) ** 2)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(300)
    assert (np.abs(mean) < 4 * error).all()
    shape = naive_chance.null_shape(naive_chance.rank_target(table[:, 2].tolist()))
    spread = shape.unit * np.sqrt(np.mean(freedoms, axis=0) * shape.variance)
    assert np.std(found, axis=0) == pytest.approx(spread, rel=0.25)


# ---------------------------------------------------------------- grids


@given(st.lists(st.integers(0, 12), max_size=60), st.sampled_from([2, 3, 4, 6, 8, 12, 16]))
def test_cuts_follow_the_definition(values, size):
    ordered = np.sort(np.array(values, float))
    cuts = kernels.uds_chance.grids.cut_points(ordered, size).tolist()
    assert cuts == naive_chance.cut_places(values, size)
    of_negated = kernels.uds_chance.grids.cut_points(-ordered[::-1], size)
    assert cuts == (len(values) - of_negated)[::-1].tolist()
    assert set(cuts) <= set(kernels.uds_chance.grids.cut_points(ordered, 2 * size).tolist())


def test_distinct_values_are_cut_into_equal_bins():
    assert naive_chance.cut_places(range(12), 4) == [3, 6, 9]
    assert naive_chance.cut_places(range(13), 4) == [3, 6, 7, 10]  # one row in the middle bin
    assert naive_chance.cut_places([0] * 9 + [1], 4) == [9]
    assert naive_chance.cut_places([0, 1, 1, 2], 2) == [1, 3]
    assert naive_chance.cut_places([], 2) == []


def all_gains(prepared, condition, target):
    """Return what `gains_along` returns for one target, for the grids of all used families."""
    grids = prepared.derived(Grids)
    found = [
        kernels.uds_chance.gains.gains_along(
            family.arrays,
            np.array(condition),
            n_grids,
            np.array([target]),
            target_arrays(prepared),
            *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
        )
        for family, n_grids in zip(grids.families, grids.n_examined(len(condition)), strict=True)
        if n_grids > 0
    ]
    return [np.concatenate([each[k][0] for each in found]) for k in range(3)]


def check_every_grid(table, error):
    prepared = prepare(table)
    columns = listed(table)
    steps = naive_chance.rank_target(columns[3])
    for condition in ((0,), (1,), (0, 1), (0, 1, 2)):
        gains, chances, freedoms = all_gains(prepared, condition, 3)
        sizes = naive_chance.sizes(len(table), len(condition))
        assert len(gains) == len(sizes)
        for gain, chance, freedom, size in zip(gains, chances, freedoms, sizes, strict=True):
            if steps.entropy == 0:
                assert gain == chance == freedom == 0
                continue
            binned = [naive_chance.bins(columns[c], size) for c in condition]
            expected = naive_chance.gain(steps, naive_chance.cells(columns[3], binned))
            if expected is None:
                assert freedom == 0 or chance > 1 - 1e-8
                continue
            found = (gain / (1 - chance), freedom / (1 - chance) ** 2)
            assert found == pytest.approx(expected, rel=error, abs=error)


@settings(max_examples=60)
@given(tables(rows=(3, 16), columns=(4, 4)))
def test_gains_of_every_grid_with_few_rows(table):
    check_every_grid(table, 1e-10)


@settings(max_examples=30)
@given(tables(rows=(17, 160), columns=(4, 4)))
def test_gains_of_every_grid(table):
    check_every_grid(table, 5e-3 if len(table) < 30 else INTERPOLATED * 10)


@settings(max_examples=25)
@given(tables(rows=(17, 200), columns=(4, 4), kinds=untied, missing=False))
def test_gains_of_every_grid_without_ties(table):
    check_every_grid(table, 1e-10)


def test_cells_contain_only_rows_where_the_target_is_present():
    """All rows define the bins. Missing cells of a condition form one more bin."""
    nan = np.nan
    target = np.array([1, 2, 3, 4, 5, 6, nan, nan, nan, nan])
    given = np.array([0, 1, nan, 2, 3, nan, 4, 5, 6, 7.0])
    rows = naive_chance.cells(target.tolist(), [naive_chance.bins(given.tolist(), 2)])
    assert sorted(rows) == [[0, 1, 3, 4], [2, 5]]
    gains, chances, _ = all_gains(prepare(np.column_stack([given, target])), (0,), 1)
    steps = naive_chance.rank_target(target.tolist())
    assert gains[0] / (1 - chances[0]) == pytest.approx(
        naive_chance.gain(steps, rows).explained, abs=1e-12
    )


# ---------------------------------------------------------------- explained fractions


@settings(max_examples=80)
@given(tables(rows=(3, 16), columns=(2, 4)), numbers_given)
def test_explained_fraction_with_few_rows_follows_the_definition(table, max_given):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target, max_given)
        assert explained_fraction(table, target, max_given) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(tables(rows=(17, 150), columns=(2, 4)), numbers_given)
def test_explained_fraction_follows_the_definition(table, max_given):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target, max_given)
        assert explained_fraction(table, target, max_given) == pytest.approx(expected, abs=2e-4)


@settings(max_examples=12)
@given(tables(rows=(17, 160), columns=(2, 4), kinds=(*untied, "dependent"), missing=False))
def test_explained_fraction_without_ties_follows_the_definition(table):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target)
        assert explained_fraction(table, target) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(tables(rows=(6, 16), columns=(3, 4)))
def test_search_for_a_target_ranks_sets_by_explained_fraction(table):
    columns = listed(table)
    steps = naive_chance.rank_target(columns[0])
    others = [c for c in range(1, table.shape[1]) if naive_chance.varies(columns[c])]
    if steps.entropy == 0 or not others:
        return
    found = covary.search(table, target=0, strategy="exhaustive", max_size=4, top=10**6)
    seen = {tuple(int(name[1:]) for name in each.columns): each.score for each in found}
    for size in range(1, len(others) + 1):
        for some in itertools.combinations(others, size):
            set_columns = [columns[c] for c in (0, *some)]
            expected = naive_chance.explained(set_columns, 0, n_candidates=len(others))
            if (0, *some) in seen:
                assert seen[0, *some] == pytest.approx(expected, abs=1e-9)
            else:  # a subset explains as much
                subsets = [s for s in seen if set(s) < {0, *some}]
                assert max(seen[s] for s in subsets) >= expected - 1e-9


@settings(max_examples=25)
@given(tables(rows=(3, 70), columns=(2, 4)), numbers_given)
def test_steps_of_an_explanation_add_up_to_the_score(table, max_given):
    measure = UDSChance(max_given=max_given)
    explanation = measure.explain(table)
    assert explanation.score == measure.score(table)
    columns = listed(table)
    at = {f"x{c}": c for c in range(len(columns))}
    assert sorted(explanation.order) == sorted(at)
    weights = {name: naive_chance.weight(columns[c]) for name, c in at.items()}
    vary = [c for c in range(len(columns)) if naive_chance.varies(columns[c])]
    if len(vary) < 2:
        assert explanation.score == 0
        return
    assert {at[name] for name in explanation.order[: len(vary)]} == set(vary)
    level = naive_chance.level_of([columns[c] for c in vary], max_given)
    gains = 0.0
    for i, step in enumerate(explanation.steps[: len(vary) - 1], start=1):
        assert step.target == explanation.order[i]
        assert step.given == explanation.order[:i]
        given_columns = [at[name] for name in step.given]
        others = [c for c in vary if c != at[step.target]]
        found = naive_chance.strength(columns, at[step.target], given_columns, others, level)
        assert step.explained == pytest.approx(found, abs=2e-4)
        assert set(step.by) <= set(step.given)
        assert max_given is None or len(step.by) <= max_given
        gains += weights[step.target] * step.explained
    total = sum(weights[name] for name in explanation.order[1:])
    assert explanation.score == pytest.approx(gains / total if total else 0.0, abs=1e-9)


@settings(max_examples=40)
@given(tables(rows=(12, 100), columns=(2, 4)))
def test_bins_of_an_explanation_are_those_of_the_best_grid(table):
    columns = listed(table)
    for step in covary.explain(table).steps:
        by = [int(name[1:]) for name in step.by]
        if len(by) != 1:
            assert step.bins == 0
            continue
        condition = [columns[by[0]]]
        target = naive_chance.as_if_missing(columns[int(step.target[1:])], condition)
        steps = naive_chance.rank_target(target)
        shape = naive_chance.null_shape(steps)
        some_missing = any(map(naive_chance.is_missing, columns[by[0]]))
        values = {}
        for size in naive_chance.sizes(steps.n if some_missing else len(table), 1):
            binned = naive_chance.bins(columns[by[0]], size)
            gain = naive_chance.gain(steps, naive_chance.cells(target, [binned]))
            sure = -math.inf if gain is None else naive_chance.lower_bound(shape, gain, 2.0)
            formed = len(set(binned) - {"missing"})
            values[formed] = max(values.get(formed, -math.inf), sure)
        assert values[step.bins] == pytest.approx(max(values.values()), abs=1e-3)


# ---------------------------------------------------------------- balanced cells


def partition(cells):
    """Return the cells as a set of sets of rows."""
    rows = {}
    for row, cell in enumerate(cells):
        rows.setdefault(int(cell), set()).add(row)
    return {frozenset(each) for each in rows.values()}


@settings(max_examples=80)
@given(tables(rows=(3, 90), columns=(1, 4)))
def test_balanced_cells_follow_the_definition(table):
    columns = listed(table)
    prepared = prepare(np.column_stack([table, np.arange(len(table))]))
    places, n_levels = prepared.derived(Places).arrays
    assert not n_levels.any()
    for c, column in enumerate(columns):
        missing = kernels.uds_chance.cells.MISSING
        expected = [missing if x != x else x for x in naive_chance.places(column)]
        assert places[c].tolist() == expected
    which = np.arange(len(columns))
    orders = kernels.uds_chance.cells.orders_of_columns((places, n_levels), which)
    expected_orders = naive_chance.preferred_orders(columns)
    assert sorted(map(tuple, orders.tolist())) == sorted(expected_orders)
    for order in orders:
        every = np.arange(len(table), dtype=np.uint32)
        found = kernels.uds_chance.cells.balanced_cells((places, n_levels), order, every)
        cells, maps, n_cells = found
        with naive_chance.missing_cells("level"):
            levels = naive_chance.balanced_levels(columns, order.tolist())
        assert len(levels) == len(n_cells)
        for line, number, parts in zip(maps, n_cells, levels, strict=True):
            assert partition(line[cells]) == {frozenset(part) for part in parts}
            assert number == len(parts)


@settings(max_examples=60)
@given(tables(rows=(8, 80), columns=(3, 4)))
def test_strengths_in_balanced_cells_follow_the_definition(table):
    columns = listed(table)
    *condition, candidate, target = range(table.shape[1])
    if naive_chance.rank_target(columns[target]).entropy == 0:
        return
    prepared = prepare(table)
    (found,) = examine(prepared, [Probe(target, tuple(condition), (candidate,))])
    given_columns = [columns[c] for c in condition]
    expected = naive_chance.best_cells(columns[target], given_columns) or (0.0, 0.0)
    assert (found.explained, found.freedom) == pytest.approx(expected, abs=2e-3)
    added = naive_chance.added_deviations(columns[target], given_columns, columns[candidate])
    assert found.added[0] == pytest.approx(added, rel=1e-2, abs=0.02)


@settings(max_examples=30)
@given(tables(rows=(8, 80), columns=(3, 4), kinds=untied, missing=False))
def test_strengths_in_balanced_cells_without_ties_follow_the_definition(table):
    columns = listed(table)
    *condition, candidate, target = range(table.shape[1])
    (found,) = examine(prepare(table), [Probe(target, tuple(condition), (candidate,))])
    given_columns = [columns[c] for c in condition]
    expected = naive_chance.best_cells(columns[target], given_columns)
    assert (found.explained, found.freedom) == pytest.approx(expected, abs=1e-9)
    added = naive_chance.added_deviations(columns[target], given_columns, columns[candidate])
    assert found.added[0] == pytest.approx(added, abs=1e-8)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("kind", ["normal", "tied", "gaps"])
def test_independent_cells_explain_nothing_on_average(n_columns, kind):
    """For every level of balanced cells, also for cells of two rows."""
    draws = DRAWS[kind]
    explained = []
    for seed in range(150):
        prepared = prepare(draws(np.random.default_rng([n_columns, seed]), (200, n_columns + 1)))
        cells, *_ = balanced_cells(prepared, range(n_columns))
        absent = prepared.absent(range(n_columns))
        explained.append(cell_gains(prepared, cells, [n_columns], absent=absent).gains[0])
    # The more rows count, the more levels there are; the finest is the last.
    explained = np.array([each[-min(map(len, explained)) :] for each in explained])
    error = explained.std(axis=0) / math.sqrt(len(explained))
    assert (np.abs(explained.mean(axis=0)) < 4 * error).all()


# ---------------------------------------------------------------- column orders and scores


@settings(max_examples=100)
@given(tables(rows=(3, 16), columns=(2, 4)), numbers_given)
def test_score_with_few_rows_is_the_maximum_over_all_orders(table, max_given):
    expected = naive_chance.score(listed(table), max_given)
    assert UDSChance(max_given=max_given).score(table) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(tables(rows=(17, 150), columns=(2, 4)), numbers_given)
def test_score_is_the_maximum_over_all_orders(table, max_given):
    expected = naive_chance.score(listed(table), max_given)
    assert UDSChance(max_given=max_given).score(table) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("seed", range(2))
def test_score_of_five_columns_is_the_maximum_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 90))
    table = np.column_stack([a, np.abs(a), b, a + b, np.where(rng.random(90) < 0.2, np.nan, c)])
    expected = naive_chance.score(listed(table))
    assert expected > 0.1
    assert UDSChance().score(table) == pytest.approx(expected, abs=1e-9)


def random_gains(rng, d, with_pairs, values):
    """Return random gains of columns by conditions: integers, many of them equal."""
    weights = rng.integers(1, values, size=d) * 7
    by_one = np.zeros((d, d, 2), np.int64)
    by_two = np.zeros((d, d, d, 2) if with_pairs else (0, 0, 0, 2), np.int64)
    starts, members, by_others = [0], [], []
    for t in range(d):
        others = [c for c in range(d) if c != t]
        for a in others:
            by_one[t, a] = rng.integers(0, values, size=2)
        for a, b in itertools.combinations(others, 2) if with_pairs else ():
            by_two[t, a, b] = by_two[t, b, a] = rng.integers(0, values, size=2)
        for _ in range(rng.integers(4)):
            some = rng.permutation(others)[: rng.integers(1, 5)]
            members.append([*some, *[-1] * (4 - len(some))])
            by_others.append(rng.integers(0, 2 * values, size=2))
        starts.append(len(members))
    members = np.array(members, np.int64).reshape(-1, 4)
    by_others = np.array(by_others, np.int64).reshape(-1, 2)
    return (by_one, by_two, np.array(starts), members, by_others), weights


def renumbered(parts, to):
    """Return the gains of the same columns in another order."""
    by_one, by_two, starts, members, by_others = parts
    numbers = np.append(np.argsort(to), -1)  # the last for fewer members
    lines = [np.arange(starts[t], starts[t + 1]) for t in to]
    every = np.concatenate([*lines, np.empty(0, np.int64)])
    return (
        np.ascontiguousarray(by_one[to][:, to]),
        np.ascontiguousarray(by_two[to][:, to][:, :, to]) if by_two.size else by_two,
        np.append(0, np.cumsum([len(each) for each in lines])),
        np.ascontiguousarray(numbers[members[every]]),
        np.ascontiguousarray(by_others[every]),
    )


def total_gain(parts, order):
    """Return the sum of the gains of an order; each column has its most certain condition."""
    by_one, by_two, starts, members, by_others = parts
    total = 0
    for i, t in enumerate(order):
        ways = [tuple(by_one[t, a]) for a in order[:i]]
        if by_two.size:
            ways += [tuple(by_two[t, a, b]) for a, b in itertools.combinations(order[:i], 2)]
        before = {-1, *order[:i]}
        lines = range(starts[t], starts[t + 1])
        ways += [tuple(by_others[k]) for k in lines if set(members[k]) <= before]
        total += max(ways, default=(0, 0))[1]
    return total


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 6), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_dynamic_program_finds_the_best_order(seed, d, with_pairs, values):
    parts, weights = random_gains(np.random.default_rng(seed), d, with_pairs, values)
    score, order = kernels.uds_chance.column_order.best_of_all_orders(parts, weights)
    assert sorted(order) == list(range(d))
    whole = weights.sum()
    assert score == total_gain(parts, order) / (whole - weights[order[0]])
    orders = itertools.permutations(range(d))
    assert score == max(total_gain(parts, o) / (whole - weights[o[0]]) for o in orders)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 9), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_greedy_order_has_its_reported_score_and_is_not_above_the_best(
    seed, d, with_pairs, values
):
    parts, weights = random_gains(np.random.default_rng(seed), d, with_pairs, values)
    score, order = kernels.uds_chance.column_order.order_of_least_regret(parts, weights)
    assert sorted(order) == list(range(d))
    best, _ = kernels.uds_chance.column_order.best_of_all_orders(parts, weights)
    assert score <= total_gain(parts, order) / (weights.sum() - weights[order[0]]) <= best


def gains_of_table(table):
    """Return the gains and weights of the columns of a table."""
    prepared = prepare(table)
    scorer = SetScorer(prepared, None)
    columns = tuple(range(table.shape[1]))
    level = scorer.level(columns)
    scorer.table.compute(np.array([columns], np.int32), level.most, run_here(prepared))
    midranks = prepared.derived(MidRanks)
    (examined,) = scorer.examine([columns], run_here(prepared))
    parts = kernels.uds_chance.contributions.contributions_of(
        np.arange(len(columns)),
        level.most,
        scorer.table.arrays,
        as_arrays(columns, examined),
        midranks.entropies,
        midranks.null_moments,
        level.deviations,
    )
    unit = kernels.uds_chance.column_order.UNIT
    return parts, np.rint(midranks.entropies / unit).astype(np.int64)


def dependent_table(rng, n_rows, d):
    """Return columns with dependences: chains, sums, products, rounded copies."""
    made = list(rng.normal(size=(2, n_rows)))
    while len(made) < d:
        a, b = (made[k] for k in rng.integers(len(made), size=2))
        kind = rng.integers(6)
        new = [rng.normal(size=n_rows), a + b, a * b, np.sin(2 * a), np.round(a), a > 0.5][kind]
        made.append(new + rng.choice([0.0, 0.0, 0.3, 1.0]) * rng.normal(size=n_rows))
    return np.column_stack(made)[:, rng.permutation(d)]


def scores_of_orders(parts, weights):
    """Return the scores of the greedy order, of the improved order, and of the best order."""
    orders = kernels.uds_chance.column_order
    greedy, order = orders.order_of_least_regret(parts, weights)
    improved, order = orders.improved_order(parts, weights, order, greedy)
    assert improved == total_gain(parts, order) / (weights.sum() - weights[order[0]])
    return greedy, improved, orders.best_of_all_orders(parts, weights)[0]


@pytest.mark.parametrize("d", [6, 7, 8, 9, 13])
def test_improved_order_is_close_to_the_best(d):
    for seed in range(20 if d < 10 else 3):
        parts, weights = gains_of_table(dependent_table(np.random.default_rng([d, seed]), 400, d))
        greedy, improved, best = scores_of_orders(parts, weights)
        assert greedy <= improved <= best
        assert improved >= best - 0.01


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 8), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_improved_order_is_between_the_greedy_and_the_best(seed, d, with_pairs, values):
    parts, weights = random_gains(np.random.default_rng(seed), d, with_pairs, values)
    greedy, improved, best = scores_of_orders(parts, weights)
    assert greedy <= improved <= best


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(12, 18), st.booleans(), st.sampled_from([2, 40]))
def test_column_numbers_do_not_matter(seed, d, with_pairs, values):
    rng = np.random.default_rng(seed)
    parts, weights = random_gains(rng, d, with_pairs, values)
    score, order = kernels.uds_chance.column_order.best_order(parts, weights)
    added = total_gain(parts, order)
    assert score == added / (weights.sum() - weights[order[0]])
    to = rng.permutation(d)
    again = kernels.uds_chance.column_order.best_order(renumbered(parts, to), weights[to])
    assert again[0] == score


@pytest.mark.parametrize("d", [3, 14, 15, 20])
def test_score_equals_the_score_of_the_explanation(d):
    """With 15 or more columns, the order is greedy."""
    table = dependent_table(np.random.default_rng(d), 300, d)
    explanation = covary.explain(table)
    assert explanation.score == covary.score(table)
    weights = {f"x{c}": naive_chance.weight(column) for c, column in enumerate(listed(table))}
    gains = sum(weights[step.target] * step.explained for step in explanation.steps)
    total = sum(weights[name] for name in explanation.order[1:])
    assert explanation.score == pytest.approx(gains / total, abs=1e-9)


@settings(max_examples=15)
@given(tables(rows=(5, 90), columns=(3, 6)), numbers_given)
def test_search_scores_every_set_like_score(table, max_given):
    measure = UDSChance(max_given=max_given)
    found = covary.search(table, strategy="exhaustive", measure=measure, max_size=6, top=10**6)
    for each in found:
        assert each.score == measure.score(table, list(each.columns))


# ---------------------------------------------------------------- properties on any table


@settings(max_examples=50)
@given(tables(rows=(3, 120), columns=(2, 6)), numbers_given)
def test_scores_lie_between_0_and_1(table, max_given):
    explanation = UDSChance(max_given=max_given).explain(table)
    assert 0.0 <= explanation.score <= 1.0
    assert all(0.0 <= step.explained <= 1.0 for step in explanation.steps)
    assert math.isfinite(UDSChance(max_given=max_given).evidence(table))


@settings(max_examples=50)
@given(tables(columns=(2, 6)), st.randoms(), numbers_given)
def test_column_order_does_not_change_a_single_bit(table, random, max_given):
    order = list(range(table.shape[1]))
    random.shuffle(order)
    measure = UDSChance(max_given=max_given)
    assert measure.score(table[:, order]) == measure.score(table)
    assert measure.evidence(table[:, order]) == measure.evidence(table)


@settings(max_examples=50)
@given(tables(columns=(2, 6)), st.randoms())
def test_row_order_does_not_change_a_single_bit(table, random):
    order = list(range(table.shape[0]))
    random.shuffle(order)
    assert UDSChance().score(table[order]) == UDSChance().score(table)
    assert UDSChance().evidence(table[order]) == UDSChance().evidence(table)


def table_with_many_cell_sizes(seed):
    """Return three columns with ties and missing cells, whose grids have cells of many sizes."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, k, size=500).astype(float) for k in (37, 11))
    table = np.column_stack([a, b, a % 5 + b % 3 + (rng.random(500) < 0.2)])
    table[rng.random(table.shape) < 0.1] = np.nan
    return table


def test_order_of_two_conditions_does_not_change_a_single_bit():
    for seed in range(40):
        table = table_with_many_cell_sizes(seed)
        conditions = Conditions((0, 1), np.array([2]))
        found, which = explain_targets(prepare(table), conditions)
        swapped, which_swapped = explain_targets(prepare(table[:, [1, 0, 2]]), conditions)
        assert which == which_swapped
        assert found.tolist() == swapped.tolist()


def test_column_order_does_not_matter_with_many_cell_sizes():
    for seed in range(15):
        table = table_with_many_cell_sizes(seed)
        orders = list(itertools.permutations(range(3)))
        assert len({UDSChance().score(table[:, order]) for order in orders}) == 1
        assert len({UDSChance().evidence(table[:, order]) for order in orders}) == 1


@pytest.mark.parametrize("seed", range(6))
def test_column_order_does_not_matter_with_many_equal_columns(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, size=(2, 120)).astype(float)
    kinds = [a, a, b, b, (a + b) % 3, (a + b) % 2, -a, rng.integers(0, 2, 120)]
    table = np.column_stack(kinds)
    scores = {UDSChance().score(table[:, rng.permutation(8)]) for _ in range(12)}
    assert len(scores) == 1


def test_order_of_many_columns_does_not_change_a_single_bit():
    """Above 14 columns, positions must not decide between equal regrets."""
    for seed in range(25, 40):
        rng = np.random.default_rng(seed)
        base = rng.integers(0, 3, size=(int(rng.integers(100, 300)), 4))
        made = []
        for _ in range(int(rng.integers(15, 20))):
            a, b = base[:, rng.integers(4)], base[:, rng.integers(4)]
            noisy = np.where(rng.random(len(base)) < 0.9, a + b, rng.integers(0, 3, len(base)))
            made.append(a if rng.random() < 0.5 else noisy % int(rng.integers(2, 4)))
        table = np.column_stack(made).astype(float)
        orders = [rng.permutation(table.shape[1]) for _ in range(5)]
        assert len({UDSChance().score(table[:, order]) for order in orders}) == 1


def test_order_of_more_columns_than_the_first_trials_does_not_matter():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = np.column_stack([rng.random((200, 70)) < 0.02, rng.normal(size=200), x, x**2])
    assert UDSChance().score(table[:, ::-1]) == UDSChance().score(table)


def monotone_maps(column):
    """Return the column in other units, by increasing and decreasing maps."""
    ranks = np.full(len(column), np.nan)
    present = ~np.isnan(column)
    ranks[present] = np.unique(column[present], return_inverse=True)[1]
    small = ranks / 50
    return [ranks, -column, np.exp(small), -np.exp(small), small**3, 1e300 * (small + 1)]


@settings(max_examples=50)
@given(tables(), st.data())
def test_units_and_signs_do_not_matter(table, data):
    mapped = table.copy()
    for column in range(table.shape[1]):
        choices = monotone_maps(table[:, column])
        mapped[:, column] = choices[data.draw(st.integers(0, len(choices) - 1))]
    assert UDSChance().score(mapped) == UDSChance().score(table)
    evidence = UDSChance().evidence(table)
    assert UDSChance().evidence(mapped) == pytest.approx(evidence, rel=1e-9, abs=1e-9)


def test_adjacent_floats_are_distinct_values():
    x = np.arange(40.0)
    for low in (1.0, 0.1, 5e-324, -1e300, 0.0):
        step = np.where(x > 20, low, np.nextafter(low, np.inf))
        table = np.column_stack([x, step])
        assert UDSChance().score(table) == UDSChance().score(np.column_stack([x, x > 20])) > 0.8


@settings(max_examples=50)
@given(tables(), numbers_given, st.integers(0, 3))
def test_constant_columns_do_not_change_the_score(table, max_given, n_constants):
    measure = UDSChance(max_given=max_given)
    constants = np.full((len(table), n_constants), 3.25)
    if n_constants > 1:
        constants[:, 0] = np.nan
    more = np.column_stack([constants, table])
    assert measure.score(more) == measure.score(table)
    assert measure.evidence(more) == measure.evidence(table)


@settings(max_examples=50)
@given(tables(columns=(2, 2)))
def test_max_given_does_not_matter_for_two_columns(table):
    assert UDSChance(max_given=1).score(table) == UDSChance().score(table)


def test_interaction_needs_two_conditions():
    rng = np.random.default_rng(0)
    a, b, e = rng.normal(size=(3, 1000))
    table = np.column_stack([a, b, np.sign(a * b) * np.abs(e)])
    assert UDSChance(max_given=1).score(table) < 0.01
    assert UDSChance(max_given=2).score(table) > 0.2


@pytest.mark.parametrize("max_given", [0, -1, True, 1.5, "2"])
def test_max_given_must_be_a_positive_whole_number(max_given):
    with pytest.raises(ParameterError, match="max_given"):
        UDSChance(max_given=max_given)


@settings(max_examples=50)
@given(tables())
def test_the_same_table_has_the_same_score(table):
    assert UDSChance().score(table) == UDSChance().score(table.copy())
    assert UDSChance().evidence(table) == UDSChance().evidence(np.asfortranarray(table))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([[1, 2, 3], [1, 2, 3]], None),
        ([[1, 2, 2], [nan, nan, 1]], None),
        ([[nan] * 4, [1, 2, 3, 4]], 0.0),
        ([[nan] * 4, [nan] * 4], 0.0),
        ([[5, nan, nan, nan], [1, 2, 3, 4]], None),
        ([[5, nan, nan, nan], [nan, 5, nan, nan]], 0.0),
        ([[5] * 6, [1, 2, 3, 4, 5, 6]], 0.0),
        ([[1, 2, nan, nan], [nan, nan, 1, 2]], 0.0),
        ([[1, 2] * 3, [2, 1] * 3, [1, 1, 2] * 2], None),
        ([np.repeat(np.arange(5), 2), np.tile(np.arange(5), 2)], None),
        ([[0] * 11 + [1], [0] * 11 + [1]], None),
        ([[np.inf, -np.inf, 0.0, 1.0], [1, 2, 3, 4]], None),
    ],
)
def test_unusual_small_tables_have_a_score(columns, expected):
    table = np.array(columns, float).T
    if np.isinf(table).any():
        table = np.nan_to_num(table)
    for max_given in (1, 2, None):
        score = UDSChance(max_given=max_given).score(table)
        assert score == pytest.approx(naive_chance.score(listed(table), max_given), abs=1e-9)
        assert expected is None or score == expected
        assert math.isfinite(UDSChance(max_given=max_given).evidence(table))


@pytest.mark.slow
def test_2000_columns():
    """Time and memory must not grow with the cube of the number of columns."""
    table = np.random.default_rng(0).normal(size=(20, 2000))
    assert 0 <= UDSChance(max_given=1).score(table) <= 0.1


def test_missing_cells_can_depend_on_another_column():
    x = np.random.default_rng(0).normal(size=500)
    table = np.column_stack([np.where(x < 0, np.nan, 7.0), x])
    found = covary.score(table, missing="level")
    with naive_chance.missing_cells("level"):
        assert found == pytest.approx(naive_chance.score(listed(table)), abs=1e-9)
    assert found > 0.4
    assert covary.score(table) == 0.0


def test_above_64_columns_conditions_grow_from_one_column():
    """Not all pairs are examined. A column that explains something alone gets a partner."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    table = np.column_stack([a, b, a + b, rng.normal(size=(1000, 62))])
    (best,) = [step for step in covary.explain(table).steps if step.explained > 0.5]
    assert {best.target, *best.by} == {"x0", "x1", "x2"}
    assert len(best.by) == 2


def test_constants_are_not_among_the_64_columns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    table = np.column_stack([a, b, a * b, rng.normal(size=(200, 61))])
    with_constant = np.column_stack([table, np.ones(200)])
    assert UDSChance().score(with_constant) == UDSChance().score(table)


# ---------------------------------------------------------------- statistical properties

DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "tied": lambda rng, shape: rng.integers(0, 7, shape).astype(float),
    "rounded": lambda rng, shape: np.round(rng.normal(size=shape), 1),
    "binary": lambda rng, shape: (rng.random(shape) < 0.5).astype(float),
    "rare": lambda rng, shape: (rng.random(shape) < 0.03).astype(float),
    "gaps": lambda rng, shape: np.where(rng.random(shape) < 0.3, np.nan, rng.normal(size=shape)),
}


def mean_score(kind, n_rows, d, n_tables):
    rng = np.random.default_rng([n_rows, d, 11])
    return np.mean([covary.score(DRAWS[kind](rng, (n_rows, d))) for _ in range(n_tables)])


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize(("n_rows", "most"), [(100, 0.01), (1000, 0.002)])
def test_independent_columns_have_small_mean_scores(kind, n_rows, most):
    # Rare values sometimes coincide by chance, so their mean needs more tables.
    more = 5 if kind == "rare" else 1
    for d, n_tables in ((2, 40), (3, 20), (5, 10), (10, 4)):
        assert mean_score(kind, n_rows, d, more * n_tables) <= most


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize(("n_rows", "most"), [(30, 0.02), (100, 0.006), (1000, 0.0015)])
@pytest.mark.parametrize(("d", "n_tables"), [(2, 800), (3, 500), (5, 200), (20, 10), (50, 2)])
def test_independent_columns_have_small_mean_scores_over_many_tables(
    kind, n_rows, most, d, n_tables
):
    if kind == "rare" and n_rows == 30:
        pytest.skip("one or two rare values often coincide by chance")
    assert mean_score(kind, n_rows, d, n_tables) <= most


@pytest.mark.slow
def test_noise_level_is_rarely_exceeded_under_independence():
    """z = 2 for two columns: 2.3 % per grid, for several grids and both directions."""
    for kind in ("normal", "rounded", "gaps"):
        rng = np.random.default_rng(5)
        scores = [covary.score(DRAWS[kind](rng, (300, 2))) for _ in range(1000)]
        assert np.mean(np.array(scores) > 0) < 0.15


@pytest.mark.parametrize("n_columns", [2, 3, 5])
def test_evidence_is_near_0_for_independent_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    for kind in ("normal", "tied", "gaps"):
        shape = (150, n_columns)
        found = np.array([covary.evidence(DRAWS[kind](rng, shape)) for _ in range(60)])
        assert -0.5 < np.median(found) < 2
        assert 0.4 < np.std(found) < 2
        assert np.quantile(found, 0.95) < 5
        assert np.max(found) < 12


def test_evidence_is_large_for_a_growing_spread():
    """The score is small, but no permutation has as much evidence."""
    rng = np.random.default_rng(4)
    x = rng.random(300)
    y = (0.1 + x) * rng.normal(size=300)
    table = np.column_stack([x, y])
    null = [covary.evidence(np.column_stack([x, rng.permutation(y)])) for _ in range(60)]
    assert covary.score(table) < 0.2
    assert covary.evidence(table) > np.max(null) + 5


FUNCTIONS = {
    "copy": lambda x: x,
    "square": np.square,
    "exp": np.exp,
    "abs": np.abs,
    "sine": lambda x: np.sin(np.pi * x),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("n_rows", "least"), [(500, 0.88), (4000, 0.95)])
def test_function_of_a_column_scores_high_in_any_column_order(function, n_rows, least):
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, n_rows)
        y = FUNCTIONS[function](x)
        score = covary.score(np.column_stack([x, y]))
        assert least <= score <= 1
        assert covary.score(np.column_stack([y, x])) == score


def test_score_of_normal_pairs_increases_with_correlation():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(2, 6, 2000))
    scores = []
    for rho in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99):
        tables = [
            np.column_stack([x, rho * x + math.sqrt(1 - rho**2) * e])
            for x, e in pairs.transpose(1, 0, 2)
        ]
        scores.append(np.mean([covary.score(table) for table in tables]))
    assert scores == sorted(scores)
    assert scores[0] < 0.002
    assert scores[1] > 0
    assert 0.25 < scores[7] < 0.35  # as the docs say
    assert scores[-1] > 0.8


OF_TWO = {
    "sum": (lambda a, b, e: a + b, 0.85),
    "product": (lambda a, b, e: a * b, 0.8),
    "ring": (lambda a, b, e: a**2 + b**2, 0.85),
    "xor": (lambda a, b, e: np.sign(a * b) * np.abs(e), 0.45),
}


@pytest.mark.parametrize("kind", OF_TWO)
@pytest.mark.parametrize("n_noise", [0, 4])
def test_two_columns_explain_a_third_among_noise(kind, n_noise):
    function, least = OF_TWO[kind]
    rng = np.random.default_rng(n_noise)
    a, b, e = rng.normal(size=(3, 4000))
    table = np.column_stack([a, b, function(a, b, e), rng.normal(size=(4000, n_noise))])
    assert explained_fraction(table, 2) >= least
    assert explained_fraction(table, 2, max_given=1) < 0.4


def test_explanation_finds_dependent_pairs_among_twenty_columns():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(1000, 20))
    table[:, 13] = table[:, 2] ** 2 + 0.1 * table[:, 13]
    table[:, 5] = np.sin(2 * table[:, 17]) + 0.1 * table[:, 5]
    explanation = covary.explain(table)
    named = {(step.target, step.by): step.explained for step in explanation.steps}
    strong = {frozenset((t, *by)) for (t, by), explained in named.items() if explained > 0.01}
    assert strong == {frozenset(("x13", "x2")), frozenset(("x5", "x17"))}
    assert explanation.score == pytest.approx(sum(named.values()) / 19, abs=1e-3)


def test_independent_columns_dilute_the_score():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    noise = rng.normal(size=(1000, 6))
    scores = [covary.score(np.column_stack([x, x**3, noise[:, :k]])) for k in range(7)]
    for k, score in enumerate(scores):
        assert score == pytest.approx(scores[0] / (k + 1), abs=0.01)


def test_gains_of_large_tables_follow_the_definition():
    """The target has few values because the naive version is slow."""
    n_rows = 5000
    rng = np.random.default_rng(n_rows)
    x = rng.normal(size=n_rows)
    y = np.round(x + rng.normal(size=n_rows)).clip(-2, 2)
    x[rng.random(n_rows) < 0.3] = np.nan
    table = np.column_stack([np.round(x), y])
    prepared = prepare(table)
    gains, chances, freedoms = all_gains(prepared, (0,), 1)
    columns = listed(table)
    steps = naive_chance.rank_target(columns[1])
    for at in (0, 2):
        size = naive_chance.FAMILIES[0][at]
        binned = naive_chance.bins(columns[0], size)
        expected = naive_chance.gain(steps, naive_chance.cells(columns[1], [binned]))
        found = (gains[at] / (1 - chances[at]), freedoms[at] / (1 - chances[at]) ** 2)
        assert found == pytest.approx(expected, abs=1e-6)


def test_best_grid_follows_the_definition():
    """For noisy waves, the best grid depends on the penalties for noise and small cells."""
    chosen = set()
    for seed in range(24):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 200))
        wave = np.sin((1 + seed % 6) * a) + b * (seed % 4 > 1) + 0.4 * rng.normal(size=200)
        table = np.column_stack([a, b, wave])
        columns = listed(table)
        for given_numbers, given_columns in (((0,), columns[:1]), ((0, 1), columns[:2])):
            found, which = explain_targets(
                prepare(table), Conditions(given_numbers, np.array([2]))
            )
            expected = naive_chance.best_grid(columns[2], given_columns)
            assert found[0, :2] == pytest.approx(expected, abs=1e-9)
            chosen.add((given_numbers, int(which[0])))
    assert len(chosen) > 6


def test_interrupt_inside_a_kernel_is_raised(monkeypatch):
    """The interrupt is the cause of the cause of another error."""

    def interrupted(*_):
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as interrupt:
                raise SystemError("swallowed") from interrupt
        except SystemError as error:
            raise SystemError("again") from error

    monkeypatch.setattr("covary.measures.uds_chance.strengths.explain_targets", interrupted)
    with pytest.raises(KeyboardInterrupt):
        UDSChance().score(np.random.default_rng(0).random((100, 2)))
