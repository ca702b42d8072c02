"""What uds-chance promises: against its slow twin, against chance, and whatever the table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables

import covary
import naive_chance
from covary import UDSChance, kernels
from covary.errors import ParameterError
from covary.measures.strengths import Condition, StrengthScorer, as_targets, explain_targets
from covary.prepare import prepare
from covary.prepare.ranked import table_sizes

one_or_two = st.sampled_from([1, 2])
nan = np.nan
untied = ("normal", "heavy")
# What columns with ties are expected to fall short by is interpolated over sizes of cells (all
# columns above 4096 rows) and, beyond 48 of them, over thresholds: as a share of h, by this much.
INTERPOLATED = 1e-4


def listed(table):
    return [column.tolist() for column in table.T]


def short_of(prepared, column, size):
    """What so many random rows fall short of the entropy of a column by, as a share of it."""
    ranked = prepared.ranked
    line = ranked.bias_lines[ranked.bias_of[column]]
    return kernels.chance.look_up(line, size) * prepared.n_present[column] / size


def with_any_other(column):
    return prepare(np.column_stack([column, np.arange(len(column))]))


def toward(table, target, max_given=2):
    """How much of a column all others explain together, by a search for that one set."""
    n_columns = table.shape[1]
    found = UDSChance(max_given=max_given).target_scorer(prepare(table), target)
    others = np.array([[c for c in range(n_columns) if c != target]], np.int32)
    (((_, scores)),) = found.score(others, in_this_thread(found.shared))
    return float(scores[0])


def in_this_thread(shared):
    return lambda task, items: ((at, task(shared, [item])) for at, item in enumerate(items))


# ---------------------------------------------------------------- what chance does


@settings(max_examples=60)
@given(tables(rows=(3, 8), columns=(1, 1)))
def test_what_chance_takes_is_the_mean_over_all_subsets(table):
    steps = naive_chance.ladder(table[:, 0].tolist())
    if steps.entropy == 0:
        return
    prepared = with_any_other(table[:, 0])
    for size in range(1, steps.n + 1):
        mean = naive_chance.expected_entropy_by_enumeration(steps, size)
        assert mean == pytest.approx(naive_chance.expected_entropy(steps, size), abs=1e-12)
        assert short_of(prepared, 0, size) == pytest.approx(1 - mean / steps.entropy, abs=1e-12)


@settings(max_examples=60)
@given(tables(rows=(3, 90), columns=(1, 1)))
def test_what_chance_takes_is_the_hypergeometric_mean(table):
    column = table[:, 0]
    steps = naive_chance.ladder(column.tolist())
    if steps.entropy == 0:
        return
    prepared = with_any_other(column)
    assert prepared.ranked.entropies[0] == pytest.approx(steps.entropy / steps.n, abs=1e-14)
    no_ties = len(steps.cuts) == steps.n - 1
    thresholds = {min(k, steps.n - k) for k in steps.below}
    for size in {*range(1, 20), *range(20, steps.n, 7), steps.n}:
        if size > steps.n:
            continue
        exact = no_ties or (len(thresholds) <= 48 and (size <= 16 or size == steps.n))
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        error = 1e-12 if exact else INTERPOLATED
        assert short_of(prepared, 0, size) == pytest.approx(expected, abs=error)


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
    ids=["1 digit", "2 digits", "cauchy", "half ties", "one tie", "rare", "one of its kind"],
)
def test_few_thresholds_and_sizes_stand_for_all(draw):
    column = draw(np.random.default_rng(0)).astype(float)
    steps = naive_chance.ladder(column.tolist())
    prepared = with_any_other(column)
    for size in (1, 2, 3, 7, 16, 17, 21, 30, 58, 117, 350, 601, 699, 700):
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        assert short_of(prepared, 0, size) == pytest.approx(expected, abs=INTERPOLATED)


@pytest.mark.parametrize("size", [2, 5, 20, 60])
def test_what_chance_takes_is_what_random_cells_lose(size):
    rng = np.random.default_rng(size)
    column = np.floor(rng.exponential(size=200) * 4)
    steps = naive_chance.ladder(column.tolist())
    drawn = [
        1 - naive_chance.entropy_of_rows(steps, rng.permutation(200)[:size]) / steps.entropy
        for _ in range(1500)
    ]
    error = np.std(drawn) / math.sqrt(len(drawn))
    assert abs(np.mean(drawn) - short_of(with_any_other(column), 0, size)) < 4 * error


def test_without_ties_it_is_the_formula_of_the_docs_at_any_size():
    """Above 4096 entries are joined by straight lines."""
    n = 20_011
    prepared = with_any_other(np.random.default_rng(0).normal(size=n))
    sizes = [1, 2, 3, 100, 4095, 4096, 4097, 4099, 5001, 8191, 8192, 8195, 12_345, 20_009, n]
    for m in sizes:
        left = (m - 1) * (m + 2) / (m * (m + 1)) * n * (n + 1) / ((n - 1) * (n + 2))
        assert short_of(prepared, 0, m) == pytest.approx(1 - left, abs=1e-10)


def test_large_cells_of_tied_columns_are_looked_up_right():
    rng = np.random.default_rng(1)
    column = rng.integers(0, 3, size=9001).astype(float)
    column[:900] = np.nan
    steps = naive_chance.ladder(column.tolist())
    prepared = with_any_other(column)
    for size in (1, 40, 4097, 8101):
        expected = 1 - naive_chance.expected_entropy(steps, size) / steps.entropy
        assert short_of(prepared, 0, size) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n_rows", [3, 100, 4095, 4096, 4097, 5000, 8192, 9001, 20_000])
def test_no_size_is_looked_up_beyond_the_table(n_rows):
    sizes = table_sizes(n_rows)
    look_up = getattr(kernels.chance.look_up, "py_func", kernels.chance.look_up)
    for size in {0, 1, n_rows // 2, n_rows - 1, n_rows}:
        assert look_up(sizes.astype(float), size) == size


@settings(max_examples=80)
@given(tables(rows=(3, 120), columns=(1, 1)))
def test_the_shape_of_chance_follows_from_the_ties(table):
    steps = naive_chance.ladder(table[:, 0].tolist())
    ranked = with_any_other(table[:, 0]).ranked
    if steps.entropy == 0:
        assert ranked.entropies[0] == 0
        return
    found = [figures[0] for figures in ranked.nulls]
    assert found == pytest.approx(naive_chance.null_shape(steps), rel=1e-10)


def test_without_ties_chance_is_anderson_and_darlings():
    """Their statistic is a sum of chi-squares with weights 1 / j (j + 1)."""
    ranked = with_any_other(np.random.default_rng(0).normal(size=5000)).ranked
    weights = 1 / (np.arange(1, 10**6) * np.arange(2, 10**6 + 1))
    variance = 2 * (weights**2).sum()
    assert ranked.units[0] == pytest.approx(1 / 5000, rel=1e-3)
    assert ranked.variances[0] == pytest.approx(variance, rel=1e-3)
    skewness = 8 * (weights**3).sum() / variance**1.5
    assert ranked.skewnesses[0] == pytest.approx(skewness, rel=1e-3)


@pytest.mark.parametrize("values", [0, 2, 9])
def test_an_independent_column_explains_nothing_on_average(values):
    """The expectation of the explained share is 0 for each grid, whatever the cells."""
    rng = np.random.default_rng(values)
    found, freedoms = [], []
    for _ in range(300):
        table = rng.normal(size=(150, 3))
        if values:
            table = np.floor(values * rng.random((150, 3)) ** 2)
        gains, chances, freedom = all_gains(prepare(table), 0, 1, 2)
        found.append(gains / (1 - chances))
        freedoms.append(freedom / (1 - chances) ** 2)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(300)
    assert (np.abs(mean) < 4 * error).all()
    shape = naive_chance.null_shape(naive_chance.ladder(table[:, 2].tolist()))
    spread = shape.unit * np.sqrt(np.mean(freedoms, axis=0) * shape.variance)
    assert np.std(found, axis=0) == pytest.approx(spread, rel=0.25)


# ---------------------------------------------------------------- grids


@given(st.lists(st.integers(0, 12), max_size=60), st.sampled_from([2, 3, 4, 6, 8, 12, 16]))
def test_cuts_are_where_the_definition_puts_them(values, size):
    ordered = np.sort(np.array(values, float))
    cuts = kernels.grids.cut_points(ordered, size).tolist()
    assert cuts == naive_chance.cut_places(values, size)
    upside_down = kernels.grids.cut_points(-ordered[::-1], size)
    assert cuts == (len(values) - upside_down)[::-1].tolist()
    assert set(cuts) <= set(kernels.grids.cut_points(ordered, 2 * size).tolist())


def test_distinct_values_are_cut_into_equal_bins():
    assert naive_chance.cut_places(range(12), 4) == [3, 6, 9]
    assert naive_chance.cut_places(range(13), 4) == [3, 6, 7, 10]  # the middle row by itself
    assert naive_chance.cut_places([0] * 9 + [1], 4) == [9]
    assert naive_chance.cut_places([0, 1, 1, 2], 2) == [1, 3]
    assert naive_chance.cut_places([], 2) == []


def all_gains(prepared, one, other, target):
    """What `gains_along` returns of one target, for the grids of both families in a row."""
    found = [
        kernels.gains.gains_along(
            (grids.codes, grids.maps, grids.n_bins),
            one,
            other,
            len(grids.sizes) if one == other else grids.n_of_two,
            np.array([target]),
            as_targets(prepared),
            *kernels.tables.whole_increments(prepared.n_rows),
        )
        for grids in prepared.grids
    ]
    return [np.concatenate([each[k][0] for each in found]) for k in range(3)]


def check_every_grid(table, error):
    prepared = prepare(table)
    columns = listed(table)
    steps = naive_chance.ladder(columns[2])
    for condition in ((0,), (1,), (0, 1)):
        gains, chances, freedoms = all_gains(prepared, condition[0], condition[-1], 2)
        sizes = naive_chance.sizes(len(table), len(condition))
        assert len(gains) == len(sizes)
        for gain, chance, freedom, size in zip(gains, chances, freedoms, sizes, strict=True):
            if steps.entropy == 0:
                assert gain == chance == freedom == 0
                continue
            binned = [naive_chance.bins(columns[c], size) for c in condition]
            expected = naive_chance.gain(steps, naive_chance.cells(columns[2], binned))
            if expected is None:
                assert freedom == 0 or chance > 1 - 1e-8
                continue
            found = (gain / (1 - chance), freedom / (1 - chance) ** 2)
            assert found == pytest.approx(expected, rel=error, abs=error)


@settings(max_examples=60)
@given(tables(rows=(3, 16), columns=(3, 3)))
def test_every_grid_explains_of_a_few_rows_what_it_should(table):
    check_every_grid(table, 1e-10)


@settings(max_examples=30)
@given(tables(rows=(17, 160), columns=(3, 3)))
def test_every_grid_explains_what_it_should(table):
    check_every_grid(table, 5e-3 if len(table) < 30 else INTERPOLATED * 10)


@settings(max_examples=25)
@given(tables(rows=(17, 200), columns=(3, 3), kinds=untied, missing=False))
def test_every_grid_explains_of_columns_without_ties_what_it_should(table):
    check_every_grid(table, 1e-10)


def test_cells_are_counted_where_the_target_is_present():
    """Bins are those of the whole column; a missing condition is one more bin."""
    nan = np.nan
    target = np.array([1, 2, 3, 4, 5, 6, nan, nan, nan, nan])
    given = np.array([0, 1, nan, 2, 3, nan, 4, 5, 6, 7.0])
    rows = naive_chance.cells(target.tolist(), [naive_chance.bins(given.tolist(), 2)])
    assert sorted(rows) == [[0, 1, 3, 4], [2, 5]]
    gains, chances, _ = all_gains(prepare(np.column_stack([given, target])), 0, 0, 1)
    steps = naive_chance.ladder(target.tolist())
    assert gains[0] / (1 - chances[0]) == pytest.approx(
        naive_chance.gain(steps, rows).explained, abs=1e-12
    )


# ---------------------------------------------------------------- strengths


@settings(max_examples=80)
@given(tables(rows=(3, 16), columns=(2, 4)), one_or_two)
def test_strengths_of_a_few_rows_are_those_of_the_definition(table, max_given):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target, max_given)
        assert toward(table, target, max_given) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(tables(rows=(17, 150), columns=(2, 4)), one_or_two)
def test_strengths_are_those_of_the_definition(table, max_given):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target, max_given)
        assert toward(table, target, max_given) == pytest.approx(expected, abs=2e-4)


@settings(max_examples=12)
@given(tables(rows=(17, 160), columns=(2, 4), kinds=(*untied, "dependent"), missing=False))
def test_strengths_without_ties_are_those_of_the_definition(table):
    for target in range(table.shape[1]):
        expected = naive_chance.explained(listed(table), target)
        assert toward(table, target) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(tables(rows=(6, 16), columns=(3, 4)))
def test_a_search_toward_a_column_ranks_sets_by_its_strength(table):
    columns = listed(table)
    steps = naive_chance.ladder(columns[0])
    others = [c for c in range(1, table.shape[1]) if naive_chance.varies(columns[c])]
    if steps.entropy == 0 or not others:
        return
    found = covary.search(table, target=0, strategy="exhaustive", max_size=4, top=10**6)
    seen = {tuple(int(name[1:]) for name in each.columns): each.score for each in found}
    for size in range(1, len(others) + 1):
        for some in itertools.combinations(others, size):
            mine = naive_chance.explained([columns[c] for c in (0, *some)], 0)
            if (0, *some) in seen:
                assert seen[0, *some] == pytest.approx(mine, abs=1e-9)
            else:  # no more than a part of it explains
                parts = [p for p in seen if set(p) < {0, *some}]
                assert max(seen[p] for p in parts) >= mine - 1e-9


@settings(max_examples=25)
@given(tables(rows=(3, 70), columns=(2, 4)), one_or_two)
def test_an_explanation_adds_up_to_the_score(table, max_given):
    measure = UDSChance(max_given=max_given)
    told = measure.explain(table)
    assert told.score == measure.score(table)
    columns = listed(table)
    at = {f"x{c}": c for c in range(len(columns))}
    assert sorted(told.order) == sorted(at)
    weights = {name: naive_chance.weight(columns[c]) for name, c in at.items()}
    vary = [c for c in range(len(columns)) if naive_chance.varies(columns[c])]
    if len(vary) < 2:
        assert told.score == 0
        return
    assert {at[name] for name in told.order[: len(vary)]} == set(vary)
    z = naive_chance.threshold(len(vary), max_given == 2)
    gains = 0.0
    for i, step in enumerate(told.steps[: len(vary) - 1], start=1):
        assert step.target == told.order[i]
        assert step.given == told.order[:i]
        given_columns = [at[name] for name in step.given]
        alone = naive_chance.strength(columns, at[step.target], given_columns, z, max_given == 2)
        assert step.explained == pytest.approx(alone, abs=2e-4)
        assert set(step.by) <= set(step.given)
        assert len(step.by) <= max_given
        gains += weights[step.target] * step.explained
    total = sum(weights[name] for name in told.order[1:])
    assert told.score == pytest.approx(gains / total if total else 0.0, abs=1e-9)


@settings(max_examples=40)
@given(tables(rows=(12, 100), columns=(2, 4)))
def test_the_bins_of_an_explanation_are_those_of_the_best_grid(table):
    columns = listed(table)
    for step in covary.explain(table).steps:
        by = [int(name[1:]) for name in step.by]
        if not by:
            assert step.bins == 0
            continue
        target = columns[int(step.target[1:])]
        steps = naive_chance.ladder(target)
        shape = naive_chance.null_shape(steps)
        values = {}
        for size in naive_chance.sizes(len(table), len(by)):
            binned = [naive_chance.bins(columns[c], size) for c in sorted(by)]
            gain = naive_chance.gain(steps, naive_chance.cells(target, binned))
            sure = -math.inf if gain is None else naive_chance.sure(shape, gain, 2.0)
            formed = max(len(set(each) - {"missing"}) for each in binned)
            values[formed] = max(values.get(formed, -math.inf), sure)
        assert values[step.bins] == pytest.approx(max(values.values()), abs=1e-3)


# ---------------------------------------------------------------- orders and scores


@settings(max_examples=100)
@given(tables(rows=(3, 16), columns=(2, 4)), one_or_two)
def test_scores_of_a_few_rows_are_the_best_over_all_orders(table, max_given):
    expected = naive_chance.score(listed(table), max_given)
    assert UDSChance(max_given=max_given).score(table) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(tables(rows=(17, 150), columns=(2, 4)), one_or_two)
def test_scores_are_the_best_over_all_orders(table, max_given):
    expected = naive_chance.score(listed(table), max_given)
    assert UDSChance(max_given=max_given).score(table) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("seed", range(2))
def test_scores_of_five_columns_are_the_best_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 90))
    table = np.column_stack([a, np.abs(a), b, a + b, np.where(rng.random(90) < 0.2, np.nan, c)])
    expected = naive_chance.score(listed(table))
    assert expected > 0.1
    assert UDSChance().score(table) == pytest.approx(expected, abs=1e-9)


def random_parts(rng, d, with_pairs, values):
    """What columns add, by the one or two that explain them: whole numbers, many of them equal."""
    weights = rng.integers(1, values, size=d) * 7
    by_one = np.zeros((d, d, 2), np.int64)
    by_two = np.zeros((d, d, d, 2) if with_pairs else (0, 0, 0, 2), np.int64)
    for t in range(d):
        others = [c for c in range(d) if c != t]
        for a in others:
            by_one[t, a] = rng.integers(0, values, size=2)
        for a, b in itertools.combinations(others, 2) if with_pairs else ():
            by_two[t, a, b] = by_two[t, b, a] = rng.integers(0, values, size=2)
    return (by_one, by_two), weights


def what_an_order_adds(parts, order):
    """The sum of what the columns add; the condition that is surest explains each."""
    by_one, by_two = parts
    total = 0
    for i, t in enumerate(order):
        ways = [tuple(by_one[t, a]) for a in order[:i]]
        if by_two.size:
            ways += [tuple(by_two[t, a, b]) for a, b in itertools.combinations(order[:i], 2)]
        total += max(ways, default=(0, 0))[1]
    return total


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 6), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_the_dynamic_program_finds_the_best_of_all_orders(seed, d, with_pairs, values):
    parts, weights = random_parts(np.random.default_rng(seed), d, with_pairs, values)
    score, order = kernels.orders.best_of_all_orders(parts, weights)
    assert sorted(order) == list(range(d))
    whole = weights.sum()
    assert score == what_an_order_adds(parts, order) / (whole - weights[order[0]])
    orders = itertools.permutations(range(d))
    assert score == max(what_an_order_adds(parts, o) / (whole - weights[o[0]]) for o in orders)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 9), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_the_quick_order_adds_what_it_says_and_no_more_than_the_best(seed, d, with_pairs, values):
    parts, weights = random_parts(np.random.default_rng(seed), d, with_pairs, values)
    score, order = kernels.orders.order_of_least_regret(parts, weights)
    assert sorted(order) == list(range(d))
    best, _ = kernels.orders.best_of_all_orders(parts, weights)
    assert score <= what_an_order_adds(parts, order) / (weights.sum() - weights[order[0]]) <= best


def parts_of_table(table):
    """What the columns of a table may add to its score."""
    prepared = prepare(table)
    scorer = StrengthScorer(prepared, 2)
    sets = np.arange(table.shape[1], dtype=np.int32)[None]
    scorer.known.learn(sets, True, in_this_thread(prepared))
    ranked = prepared.ranked
    deviations = naive_chance.threshold(table.shape[1], True)
    parts = kernels.orders.parts_of(
        sets[0].astype(np.int64),
        True,
        scorer.known.table,
        ranked.entropies,
        ranked.nulls,
        deviations,
    )
    return parts, np.rint(ranked.entropies / kernels.orders.UNIT).astype(np.int64)


def related(rng, n_rows, d):
    """Columns of which some are made of those before: chains, sums, products, rounded copies."""
    made = list(rng.normal(size=(2, n_rows)))
    while len(made) < d:
        a, b = (made[k] for k in rng.integers(len(made), size=2))
        kind = rng.integers(6)
        new = [rng.normal(size=n_rows), a + b, a * b, np.sin(2 * a), np.round(a), a > 0.5][kind]
        made.append(new + rng.choice([0.0, 0.0, 0.3, 1.0]) * rng.normal(size=n_rows))
    return np.column_stack(made)[:, rng.permutation(d)]


def scores_of_orders(parts, weights):
    """The quick order, that one improved, and the best of all."""
    orders = kernels.orders
    quick, order = orders.order_of_least_regret(parts, weights)
    improved, order = orders.improved_order(parts, weights, order, quick)
    assert improved == what_an_order_adds(parts, order) / (weights.sum() - weights[order[0]])
    return quick, improved, orders.best_of_all_orders(parts, weights)[0]


@pytest.mark.parametrize("d", [6, 7, 8, 9, 13])
def test_the_improved_order_is_nearly_the_best(d):
    for seed in range(20 if d < 10 else 3):
        parts, weights = parts_of_table(related(np.random.default_rng([d, seed]), 400, d))
        quick, improved, best = scores_of_orders(parts, weights)
        assert quick <= improved <= best
        assert improved >= best - 0.01


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 8), st.booleans(), st.sampled_from([3, 40, 10**6]))
def test_moving_columns_does_not_make_it_worse_nor_too_good(seed, d, with_pairs, values):
    parts, weights = random_parts(np.random.default_rng(seed), d, with_pairs, values)
    quick, improved, best = scores_of_orders(parts, weights)
    assert quick <= improved <= best


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(10, 16), st.booleans(), st.sampled_from([2, 40]))
def test_how_columns_are_numbered_does_not_matter(seed, d, with_pairs, values):
    rng = np.random.default_rng(seed)
    (by_one, by_two), weights = random_parts(rng, d, with_pairs, values)
    score, order = kernels.orders.best_order((by_one, by_two), weights)
    added = what_an_order_adds((by_one, by_two), order)
    assert score == added / (weights.sum() - weights[order[0]])
    to = rng.permutation(d)
    one = np.ascontiguousarray(by_one[to][:, to])
    two = np.ascontiguousarray(by_two[to][:, to][:, :, to]) if with_pairs else by_two
    assert kernels.orders.best_order((one, two), weights[to])[0] == score


@pytest.mark.parametrize("d", [3, 12, 13, 20])
def test_the_score_of_a_table_is_that_of_its_explanation(d):
    """From 13 columns on the order is a quick one."""
    table = related(np.random.default_rng(d), 300, d)
    told = covary.explain(table)
    assert told.score == covary.score(table)
    weights = {f"x{c}": naive_chance.weight(column) for c, column in enumerate(listed(table))}
    gains = sum(weights[step.target] * step.explained for step in told.steps)
    total = sum(weights[name] for name in told.order[1:])
    assert told.score == pytest.approx(gains / total, abs=1e-9)


@settings(max_examples=15)
@given(tables(rows=(5, 90), columns=(3, 6)), one_or_two)
def test_a_search_scores_every_set_as_if_alone(table, max_given):
    measure = UDSChance(max_given=max_given)
    found = covary.search(table, strategy="exhaustive", measure=measure, max_size=6, top=10**6)
    for each in found:
        assert each.score == measure.score(table, list(each.columns))


# ---------------------------------------------------------------- whatever the table


@settings(max_examples=50)
@given(tables(rows=(3, 120), columns=(2, 6)), one_or_two)
def test_scores_lie_between_0_and_1(table, max_given):
    told = UDSChance(max_given=max_given).explain(table)
    assert 0.0 <= told.score <= 1.0
    assert all(0.0 <= step.explained <= 1.0 for step in told.steps)
    assert math.isfinite(UDSChance(max_given=max_given).evidence(table))


@settings(max_examples=50)
@given(tables(columns=(2, 6)), st.randoms(), one_or_two)
def test_the_order_of_the_columns_does_not_matter_to_the_last_bit(table, random, max_given):
    order = list(range(table.shape[1]))
    random.shuffle(order)
    measure = UDSChance(max_given=max_given)
    assert measure.score(table[:, order]) == measure.score(table)
    assert measure.evidence(table[:, order]) == measure.evidence(table)


@settings(max_examples=50)
@given(tables(columns=(2, 6)), st.randoms())
def test_the_order_of_the_rows_does_not_matter_to_the_last_bit(table, random):
    order = list(range(table.shape[0]))
    random.shuffle(order)
    assert UDSChance().score(table[order]) == UDSChance().score(table)
    assert UDSChance().evidence(table[order]) == UDSChance().evidence(table)


def of_many_sizes(seed):
    """Three columns with ties and gaps, whose grids have cells of many sizes."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, k, size=500).astype(float) for k in (37, 11))
    table = np.column_stack([a, b, a % 5 + b % 3 + (rng.random(500) < 0.2)])
    table[rng.random(table.shape) < 0.1] = np.nan
    return table


def test_which_of_two_columns_comes_first_does_not_matter_to_the_last_bit():
    for seed in range(40):
        table = of_many_sizes(seed)
        condition = Condition(0, 1, np.array([2]))
        found, which = explain_targets(prepare(table), condition)
        swapped, which_swapped = explain_targets(prepare(table[:, [1, 0, 2]]), condition)
        assert which == which_swapped
        assert found.tolist() == swapped.tolist()


def test_cells_of_many_sizes_do_not_let_the_order_of_columns_in():
    for seed in range(15):
        table = of_many_sizes(seed)
        orders = list(itertools.permutations(range(3)))
        assert len({UDSChance().score(table[:, order]) for order in orders}) == 1
        assert len({UDSChance().evidence(table[:, order]) for order in orders}) == 1


@pytest.mark.parametrize("seed", range(6))
def test_many_equal_columns_do_not_let_the_order_of_columns_in(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, size=(2, 120)).astype(float)
    kinds = [a, a, b, b, (a + b) % 3, (a + b) % 2, -a, rng.integers(0, 2, 120)]
    table = np.column_stack(kinds)
    scores = {UDSChance().score(table[:, rng.permutation(8)]) for _ in range(12)}
    assert len(scores) == 1


def test_the_order_of_many_columns_does_not_matter_to_the_last_bit():
    """Beyond 12 columns: equal losses by not waiting must not be resolved by position."""
    for seed in range(25, 40):
        rng = np.random.default_rng(seed)
        base = rng.integers(0, 3, size=(int(rng.integers(100, 300)), 4))
        made = []
        for _ in range(int(rng.integers(13, 20))):
            a, b = base[:, rng.integers(4)], base[:, rng.integers(4)]
            made.append(a if rng.random() < 0.5 else (a + b) % int(rng.integers(2, 4)))
        table = np.column_stack(made).astype(float)
        orders = [rng.permutation(table.shape[1]) for _ in range(5)]
        assert len({UDSChance().score(table[:, order]) for order in orders}) == 1


def test_the_order_of_more_columns_than_are_tried_first_does_not_matter():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = np.column_stack([rng.random((200, 70)) < 0.02, rng.normal(size=200), x, x**2])
    assert UDSChance().score(table[:, ::-1]) == UDSChance().score(table)


def maps(column):
    """The same column in other units: increasing maps, and decreasing ones."""
    ranks = np.full(len(column), np.nan)
    present = ~np.isnan(column)
    ranks[present] = np.unique(column[present], return_inverse=True)[1]
    small = ranks / 50
    return [ranks, -column, np.exp(small), -np.exp(small), small**3, 1e300 * (small + 1)]


@settings(max_examples=50)
@given(tables(), st.data())
def test_units_do_not_matter_nor_which_end_is_up(table, data):
    mapped = table.copy()
    for column in range(table.shape[1]):
        choices = maps(table[:, column])
        mapped[:, column] = choices[data.draw(st.integers(0, len(choices) - 1))]
    assert UDSChance().score(mapped) == pytest.approx(UDSChance().score(table), abs=1e-12)
    evidence = UDSChance().evidence(table)
    assert UDSChance().evidence(mapped) == pytest.approx(evidence, rel=1e-9, abs=1e-9)


def test_neighbouring_numbers_are_different_values():
    x = np.arange(40.0)
    for low in (1.0, 0.1, 5e-324, -1e300, 0.0):
        step = np.where(x > 20, low, np.nextafter(low, np.inf))
        table = np.column_stack([x, step])
        assert UDSChance().score(table) == UDSChance().score(np.column_stack([x, x > 20])) > 0.8


@settings(max_examples=50)
@given(tables(), one_or_two, st.integers(0, 3))
def test_a_constant_column_changes_nothing(table, max_given, n_constants):
    measure = UDSChance(max_given=max_given)
    constants = np.full((len(table), n_constants), 3.25)
    if n_constants > 1:
        constants[:, 0] = np.nan
    more = np.column_stack([constants, table])
    assert measure.score(more) == measure.score(table)
    assert measure.evidence(more) == measure.evidence(table)


@settings(max_examples=50)
@given(tables(columns=(2, 2)))
def test_two_columns_have_no_use_for_two_given(table):
    assert UDSChance(max_given=1).score(table) == UDSChance(max_given=2).score(table)


def test_what_takes_two_columns_is_missed_with_one():
    rng = np.random.default_rng(0)
    a, b, e = rng.normal(size=(3, 1000))
    table = np.column_stack([a, b, np.sign(a * b) * np.abs(e)])
    assert UDSChance(max_given=1).score(table) < 0.01
    assert UDSChance(max_given=2).score(table) > 0.2


@pytest.mark.parametrize("max_given", [0, 3, True, 1.5, "2", None])
def test_one_or_two_columns_explain_another(max_given):
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
def test_odd_little_tables_have_a_score(columns, expected):
    table = np.array(columns, float).T
    if np.isinf(table).any():
        table = np.nan_to_num(table)
    for max_given in (1, 2):
        score = UDSChance(max_given=max_given).score(table)
        assert score == pytest.approx(naive_chance.score(listed(table), max_given), abs=1e-9)
        assert expected is None or score == expected
        assert math.isfinite(UDSChance(max_given=max_given).evidence(table))


@pytest.mark.slow
def test_as_many_columns_as_you_like():
    """Twenty rows and 2000 columns: nothing may grow with the cube of the columns."""
    table = np.random.default_rng(0).normal(size=(20, 2000))
    assert 0 <= UDSChance(max_given=1).score(table) <= 0.1


def test_a_column_that_is_missing_where_another_is_low_is_not_a_constant():
    x = np.random.default_rng(0).normal(size=500)
    table = np.column_stack([np.where(x < 0, np.nan, 7.0), x])
    assert naive_chance.score(listed(table)) == pytest.approx(UDSChance().score(table), abs=1e-9)
    assert UDSChance().score(table) > 0.4


def test_sets_of_more_than_64_columns_are_explained_by_one_column_each():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    table = np.column_stack([a, b, a * b, rng.normal(size=(200, 62))])
    alone = UDSChance(max_given=1)
    assert UDSChance().score(table) == alone.score(table)
    assert UDSChance().score(table[:, :64]) > alone.score(table[:, :64])


def test_the_target_counts_among_the_64_columns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    table = np.column_stack([a, b, a * b, rng.normal(size=(200, 62))])
    assert toward(table[:, :64], 2) > toward(table[:, :64], 2, max_given=1)
    assert toward(table, 2) == toward(table, 2, max_given=1)


def test_constants_do_not_count_among_the_64_columns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    table = np.column_stack([a, b, a * b, rng.normal(size=(200, 61))])
    with_constant = np.column_stack([table, np.ones(200)])
    assert UDSChance().score(with_constant) == UDSChance().score(table)


# ---------------------------------------------------------------- statistics

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
def test_independent_columns_score_nothing(kind, n_rows, most):
    # Now and then, the few rows of a kind fall together: such a mean takes more tables.
    more = 5 if kind == "rare" else 1
    for d, n_tables in ((2, 40), (3, 20), (5, 10), (10, 4)):
        assert mean_score(kind, n_rows, d, more * n_tables) <= most


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize(("n_rows", "most"), [(30, 0.02), (100, 0.006), (1000, 0.0015)])
@pytest.mark.parametrize(("d", "n_tables"), [(2, 800), (3, 500), (5, 200), (20, 10), (50, 2)])
def test_independent_columns_score_nothing_on_average_over_many_tables(
    kind, n_rows, most, d, n_tables
):
    if kind == "rare" and n_rows == 30:
        pytest.skip("one or two rows of a kind: chance has them fall together")
    assert mean_score(kind, n_rows, d, n_tables) <= most


@pytest.mark.slow
def test_the_noise_level_is_exceeded_as_rarely_as_it_says():
    """z = 2 for two columns: 2.3 % per grid, and several grids, both ways, to choose from."""
    for kind in ("normal", "rounded", "gaps"):
        rng = np.random.default_rng(5)
        scores = [covary.score(DRAWS[kind](rng, (300, 2))) for _ in range(1000)]
        assert np.mean(np.array(scores) > 0) < 0.15


@pytest.mark.parametrize("n_columns", [2, 3, 5])
def test_evidence_is_around_0_for_independent_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    for kind in ("normal", "tied", "gaps"):
        shape = (150, n_columns)
        found = np.array([covary.evidence(DRAWS[kind](rng, shape)) for _ in range(60)])
        assert -0.5 < np.median(found) < 1
        assert 0.4 < np.std(found) < 2
        assert np.quantile(found, 0.95) < 4
        assert np.max(found) < 12


def test_evidence_is_far_out_for_a_growing_spread():
    """The score is small; permuted columns are never as far out."""
    rng = np.random.default_rng(4)
    x = rng.random(300)
    y = (0.1 + x) * rng.normal(size=300)
    table = np.column_stack([x, y])
    chance = [covary.evidence(np.column_stack([x, rng.permutation(y)])) for _ in range(60)]
    assert covary.score(table) < 0.2
    assert covary.evidence(table) > np.max(chance) + 5


FUNCTIONS = {
    "copy": lambda x: x,
    "square": np.square,
    "exp": np.exp,
    "abs": np.abs,
    "sine": lambda x: np.sin(np.pi * x),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("n_rows", "least"), [(500, 0.88), (4000, 0.95)])
def test_a_function_explains_in_whatever_order_the_columns_come(function, n_rows, least):
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, n_rows)
        y = FUNCTIONS[function](x)
        score = covary.score(np.column_stack([x, y]))
        assert least <= score <= 1
        assert covary.score(np.column_stack([y, x])) == score


def test_scores_of_normal_pairs_rise_with_their_correlation():
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
def test_two_columns_explain_a_third_also_beside_noise(kind, n_noise):
    function, least = OF_TWO[kind]
    rng = np.random.default_rng(n_noise)
    a, b, e = rng.normal(size=(3, 4000))
    table = np.column_stack([a, b, function(a, b, e), rng.normal(size=(4000, n_noise))])
    assert toward(table, 2) >= least
    assert toward(table, 2, max_given=1) < 0.4


def test_hidden_pairs_among_twenty_columns_are_named():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(1000, 20))
    table[:, 13] = table[:, 2] ** 2 + 0.1 * table[:, 13]
    table[:, 5] = np.sin(2 * table[:, 17]) + 0.1 * table[:, 5]
    told = covary.explain(table)
    named = {(step.target, step.by): step.explained for step in told.steps}
    strong = {frozenset((t, *by)) for (t, by), explained in named.items() if explained > 0.01}
    assert strong == {frozenset(("x13", "x2")), frozenset(("x5", "x17"))}
    assert told.score == pytest.approx(sum(named.values()) / 19, abs=1e-3)


def test_a_relation_counts_the_less_the_more_columns_have_none():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    noise = rng.normal(size=(1000, 6))
    scores = [covary.score(np.column_stack([x, x**3, noise[:, :k]])) for k in range(7)]
    for k, score in enumerate(scores):
        assert score == pytest.approx(scores[0] / (k + 1), abs=0.01)


def test_large_tables_are_scored_as_the_definition_says():
    """Of a target with few values, so that the twin is done before we are."""
    n_rows = 5000
    rng = np.random.default_rng(n_rows)
    x = rng.normal(size=n_rows)
    y = np.round(x + rng.normal(size=n_rows)).clip(-2, 2)
    x[rng.random(n_rows) < 0.3] = np.nan
    table = np.column_stack([np.round(x), y])
    prepared = prepare(table)
    gains, chances, freedoms = all_gains(prepared, 0, 0, 1)
    columns = listed(table)
    steps = naive_chance.ladder(columns[1])
    for at in (0, 2):
        size = naive_chance.FAMILIES[0][at]
        binned = naive_chance.bins(columns[0], size)
        expected = naive_chance.gain(steps, naive_chance.cells(columns[1], [binned]))
        found = (gains[at] / (1 - chances[at]), freedoms[at] / (1 - chances[at]) ** 2)
        assert found == pytest.approx(expected, abs=1e-6)


def test_the_best_grid_is_that_of_the_definition():
    """Waves with noise: which grid is best hangs on what is taken off for noise and thin cells."""
    chosen = set()
    for seed in range(24):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 200))
        wave = np.sin((1 + seed % 6) * a) + b * (seed % 4 > 1) + 0.4 * rng.normal(size=200)
        table = np.column_stack([a, b, wave])
        columns = listed(table)
        for other, given_columns in ((0, columns[:1]), (1, columns[:2])):
            found, which = explain_targets(prepare(table), Condition(0, other, np.array([2])))
            expected = naive_chance.best_grid(columns[2], given_columns)
            assert found[0] == pytest.approx(expected, abs=1e-10)
            chosen.add((other, int(which[0])))
    assert len(chosen) > 6


def test_an_interrupt_that_a_kernel_swallowed_is_still_one(monkeypatch):
    """It comes back as the cause of a cause of another error."""

    def interrupted(*_):
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as interrupt:
                raise SystemError("swallowed") from interrupt
        except SystemError as error:
            raise SystemError("again") from error

    monkeypatch.setattr("covary.measures.strengths.explain_targets", interrupted)
    with pytest.raises(KeyboardInterrupt):
        UDSChance().score(np.random.default_rng(0).random((100, 2)))
