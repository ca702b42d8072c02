"""What UDS promises, whatever the table."""

from __future__ import annotations

import itertools
import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables

import covary
from covary import UDS
from covary.errors import ParameterError

both = st.sampled_from([True, False])


@given(tables(), st.integers(2, 25), both)
def test_scores_lie_between_0_and_1(table, beta, regularize):
    explanation = UDS(beta=beta, regularize=regularize).explain(table)
    assert 0.0 <= explanation.score <= 1.0
    for step in explanation.steps:
        assert 0.0 <= step.explained <= 1.0
        assert len(step.cuts) == step.bins - 1


@given(tables(columns=(2, 6)), st.randoms(), both)
def test_the_order_of_the_columns_does_not_matter_to_the_last_bit(table, random, regularize):
    order = list(range(table.shape[1]))
    random.shuffle(order)
    measure = UDS(regularize=regularize)
    assert measure.score(table[:, order]) == measure.score(table)


@given(tables(columns=(2, 6)), st.randoms(), both)
def test_the_order_of_the_rows_does_not_matter(table, random, regularize):
    order = list(range(table.shape[0]))
    random.shuffle(order)
    measure = UDS(regularize=regularize)
    assert measure.score(table[order]) == pytest.approx(measure.score(table), abs=1e-12)


def test_equal_entropies_do_not_let_the_order_of_columns_or_rows_in():
    rng = np.random.default_rng(3)
    ranks = np.arange(400)
    first = rng.permutation(ranks).astype(float)
    table = np.column_stack(
        [first, np.abs(first - 200) // 1, rng.permutation(ranks), (first * 7) % 400, ranks]
    )
    entropies = {round(naive.entropy_weight(column.tolist(), "range"), 12) for column in table.T}
    assert len(entropies) < 5
    measure = UDS(regularize=False)
    score = measure.score(table)
    for order in itertools.permutations(range(5)):
        assert measure.score(table[:, order]) == score
    for _ in range(20):
        assert measure.score(rng.permutation(table)) == pytest.approx(score, abs=1e-12)


@given(
    tables(kinds=("normal", "ties", "binary", "heavy", "dependent")),
    st.data(),
    both,
)
def test_units_do_not_matter(table, data, regularize):
    factors = st.floats(1e-6, 1e6)
    measure = UDS(regularize=regularize)
    mapped = table.copy()
    for column in range(table.shape[1]):
        factor = data.draw(factors)
        mapped[:, column] = table[:, column] * factor + data.draw(st.floats(-1, 1)) * factor
        distinct = np.unique(table[:, column]).size
        if np.unique(mapped[:, column]).size != distinct:
            mapped[:, column] = table[:, column]  # rounding made two values one
    assert measure.score(mapped) == pytest.approx(measure.score(table), abs=1e-12)


def test_without_scale_units_do_matter():
    x = np.random.default_rng(0).normal(size=(500, 2))
    table = np.column_stack([x[:, 0], x[:, 0] ** 2, x[:, 1]])
    kilo = table * [1, 1000, 1]
    assert UDS(scale=None).score(kilo) != pytest.approx(UDS(scale=None).score(table), abs=0.01)
    assert UDS().score(kilo) == pytest.approx(UDS().score(table), abs=1e-12)


@settings(max_examples=60)
@given(tables(rows=(3, 40), columns=(2, 4)), st.integers(2, 6), both)
def test_exact_order_is_the_best_of_all_and_never_below_the_practical(table, beta, regularize):
    exact = UDS(beta=beta, regularize=regularize, order="exact").score(table)
    assert exact >= UDS(beta=beta, regularize=regularize).score(table)
    columns = [column.tolist() for column in table.T]
    assert exact == pytest.approx(naive.uds_exact(columns, beta, regularize), abs=1e-9)


def test_trying_all_orders_tells_how_far_it_is():
    table = np.random.default_rng(0).random((30, 5))
    seen = []
    covary.explain(table, order="exact", on_progress=lambda *event: seen.append(event))
    assert seen == [(50, 120), (100, 120)]


def test_a_column_without_any_value_explains_nothing():
    nan = np.nan
    table = np.array([[nan, nan, 1.7], [6.1, nan, nan], [nan, nan, nan], [1.4, nan, nan]])
    assert UDS(order="exact").score(table) == 0.0


def test_exact_order_of_five_columns():
    rng = np.random.default_rng(11)
    x = rng.normal(size=60)
    table = np.column_stack([x, x**2, np.sin(x), rng.random(60), np.round(x)])
    columns = [column.tolist() for column in table.T]
    assert UDS(beta=4, order="exact").score(table) == pytest.approx(
        naive.uds_exact(columns, 4, True), abs=1e-9
    )


def test_exact_order_takes_eight_columns_and_any_number_of_constants():
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.random((30, 5)), np.ones((30, 20))])
    five = UDS(order="exact").explain(table[:, :5])
    with_constants = UDS(order="exact").explain(table)
    assert with_constants.score == five.score
    assert with_constants.order[:5] == five.order
    with pytest.raises(ParameterError, match=r"at most 8 columns that vary, not 9: use order="):
        UDS(order="exact").score(rng.random((30, 9)))


def test_a_step_function_is_explained_in_full():
    x = np.linspace(0, 1, 1000)
    assert UDS(order="exact").score(np.column_stack([x, x > 0.3])) == 1.0


def test_independent_columns_score_nothing():
    table = np.random.default_rng(0).normal(size=(4000, 3))
    assert UDS().score(table) == 0.0


def test_constants_and_empty_columns_add_nothing():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    pair = np.column_stack([x, np.abs(x)])
    score = UDS().score(pair)
    assert score > 0.4
    for extra in (np.full(300, 7.0), np.full(300, np.nan)):
        assert UDS().score(np.column_stack([pair, extra])) == score
    assert UDS().score(np.ones((300, 2))) == 0.0
    assert UDS().score(np.full((300, 2), np.nan)) == 0.0
    lone = np.full((300, 2), np.nan)
    lone[5] = 1.0
    assert UDS().score(lone) == 0.0


def test_missing_cells_are_a_bin_of_their_own():
    # y is 1 exactly where x is missing: the gaps explain y, and nothing else is needed.
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.5).astype(float)
    x = np.where(y == 1, np.nan, rng.normal(size=600))
    explanation = UDS(order="exact").explain(np.column_stack([x, y]))
    assert explanation.score == 1.0
    assert explanation.steps[0].given == ("x0",)
    assert explanation.steps[0].bins == 1


def test_rows_without_a_target_are_left_out_of_its_step():
    x = np.linspace(0, 1, 500)
    y = np.where(x > 0.5, 1.0, 0.0)
    y[::5] = np.nan
    step = UDS(order="exact").explain(np.column_stack([x, y])).steps[0]
    assert step.target == "x1"
    assert step.rows == 400
    assert step.explained == 1.0


def test_explain_names_columns_bins_and_cuts_in_their_own_units():
    kelvin = np.linspace(273, 373, 1001)
    state = np.searchsorted([300.0, 350.0], kelvin)
    table = np.column_stack([kelvin, state])
    explanation = covary.explain(table, order="exact")
    assert explanation.order == ("x0", "x1")
    (step,) = explanation.steps
    assert (step.target, step.given, step.bins, step.rows) == ("x1", ("x0",), 3, 1001)
    # Twenty initial bins are 5 kelvin wide: the cuts are ends of such.
    assert step.cuts[0] == pytest.approx(300, abs=5)
    assert step.cuts[1] == pytest.approx(350, abs=5)
    assert all(cut in kelvin for cut in step.cuts)
    assert explanation.score == pytest.approx(step.explained)
    assert str(explanation).splitlines()[1].startswith("  x1: 0.")


def test_the_score_is_that_of_the_explanation():
    table = np.random.default_rng(8).normal(size=(300, 5)) @ np.random.default_rng(9).random(
        (5, 5)
    )
    explanation = covary.explain(table, measure="uds-unregularized")
    assert covary.score(table, measure="uds-unregularized") == explanation.score
    weights = [
        naive.entropy_weight(table[:, int(s.target[1:])], "range") for s in explanation.steps
    ]
    gained = sum(w * s.explained for w, s in zip(weights, explanation.steps, strict=True))
    assert explanation.score == pytest.approx(gained / sum(weights), abs=1e-12)


def test_extreme_units_do_no_harm():
    x = np.random.default_rng(0).normal(size=500)
    score = UDS().score(np.column_stack([x, np.abs(x)]))
    for factor in (1e-300, 1e300):
        table = np.column_stack([x * factor, np.abs(x)])
        assert UDS().score(table) == pytest.approx(score, abs=1e-12)
    wide = np.array([-1.7e308, 1.7e308, 1.7e308] * 40)
    assert UDS().score(np.column_stack([wide, wide > 0])) == 1.0


def test_more_than_4096_rows_in_a_cell():
    # Counts beyond the table of logarithms.
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = np.where(x > 0, rng.random(20_000), 2.0)
    table = np.column_stack([x, y])
    low, high = y[x <= 0], y[x > 0]
    # The order is by entropy; take the step x -> y from the exact order if it is the better.
    by_hand = 1 - (
        len(high) / 20_000 * naive.cumulative_entropy(high)
        + len(low) / 20_000 * naive.cumulative_entropy(low)
    ) / naive.cumulative_entropy(y)
    steps = [
        UDS(beta=2, regularize=False).explain(table),
        UDS(beta=2, regularize=False, order="exact").explain(table),
    ]
    forward = [s for e in steps for s in e.steps if s.target == "x1"]
    assert forward
    assert forward[0].explained == pytest.approx(by_hand, abs=0.02)
    assert math.isclose(UDS(beta=2).score(table), UDS(beta=2).score(table[::-1]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": 1}, "beta must be from 2 to 254, not 1"),
        ({"beta": 255}, "beta must be from 2 to 254, not 255"),
        ({"beta": 2.5}, "beta must be a whole number, not 2.5"),
        ({"beta": True}, "beta must be a whole number, not True"),
        ({"scale": "minmax"}, "scale must be 'range' or None, not 'minmax'"),
        ({"order": "best"}, "order must be 'entropy' or 'exact', not 'best'"),
        ({"regularize": "yes"}, "regularize must be True or False, not 'yes'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        UDS(**parameters)
