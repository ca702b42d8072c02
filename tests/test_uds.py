"""Properties of UDS on any table."""

from __future__ import annotations

import itertools
import math

import naive
import numpy as np
import pytest
from example_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st

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
        assert len(step.cuts[step.given[-1]]) == max(step.bins - 1, 0)


@given(tables(columns=(2, 6)), st.randoms(), both)
def test_column_order_does_not_change_a_single_bit(table, random, regularize):
    order = list(range(table.shape[1]))
    random.shuffle(order)
    measure = UDS(regularize=regularize)
    assert measure.score(table[:, order]) == measure.score(table)


@given(tables(columns=(2, 6)), st.randoms(), both)
def test_row_order_does_not_matter(table, random, regularize):
    order = list(range(table.shape[0]))
    random.shuffle(order)
    measure = UDS(regularize=regularize)
    assert measure.score(table[order]) == pytest.approx(measure.score(table), abs=1e-12)


def test_column_and_row_order_do_not_matter_if_entropies_are_equal():
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
            mapped[:, column] = table[:, column]  # rounding made two values equal
    assert measure.score(mapped) == pytest.approx(measure.score(table), abs=1e-12)


def test_units_matter_without_scale():
    x = np.random.default_rng(0).normal(size=(500, 2))
    table = np.column_stack([x[:, 0], x[:, 0] ** 2, x[:, 1]])
    kilo = table * [1, 1000, 1]
    assert UDS(scale=None).score(kilo) != pytest.approx(UDS(scale=None).score(table), abs=0.01)
    assert UDS().score(kilo) == pytest.approx(UDS().score(table), abs=1e-12)


@settings(max_examples=60)
@given(tables(rows=(3, 40), columns=(2, 4)), st.integers(2, 6), both)
def test_exact_order_has_the_maximum_score_of_all_orders(table, beta, regularize):
    exact = UDS(beta=beta, regularize=regularize, order="exact").score(table)
    assert exact >= UDS(beta=beta, regularize=regularize).score(table)
    columns = [column.tolist() for column in table.T]
    assert exact == pytest.approx(naive.uds_exact(columns, beta, regularize), abs=1e-9)


def test_exact_order_reports_progress():
    table = np.random.default_rng(0).random((30, 5))
    events = []
    covary.explain(
        table, measure="uds", order="exact", on_progress=lambda *event: events.append(event)
    )
    assert events == [(50, 120), (100, 120)]


def test_empty_column_explains_nothing():
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


def test_exact_order_accepts_eight_columns_and_any_number_of_constants():
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.random((30, 5)), np.ones((30, 20))])
    five = UDS(order="exact").explain(table[:, :5])
    with_constants = UDS(order="exact").explain(table)
    assert with_constants.score == five.score
    assert with_constants.order[:5] == five.order
    with pytest.raises(ParameterError, match=r"at most 8 columns that vary, not 9: use order="):
        UDS(order="exact").score(rng.random((30, 9)))


def test_step_function_is_fully_explained():
    x = np.linspace(0, 1, 1000)
    assert UDS(order="exact").score(np.column_stack([x, x > 0.3])) == 1.0


def test_independent_columns_score_0():
    table = np.random.default_rng(0).normal(size=(4000, 3))
    assert UDS().score(table) == 0.0


def test_constant_and_empty_columns_do_not_change_the_score():
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


def test_missing_cells_form_a_separate_bin():
    # y is 1 exactly where x is missing, so the missing cells explain y fully.
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.5).astype(float)
    x = np.where(y == 1, np.nan, rng.normal(size=600))
    explanation = UDS(order="exact").explain(np.column_stack([x, y]))
    assert explanation.score == 1.0
    assert explanation.steps[0].given == ("x0",)
    assert explanation.steps[0].bins == 1


def test_a_step_skips_rows_where_the_target_is_missing():
    x = np.linspace(0, 1, 500)
    y = np.where(x > 0.5, 1.0, 0.0)
    y[::5] = np.nan
    step = UDS(order="exact").explain(np.column_stack([x, y])).steps[0]
    assert step.target == "x1"
    assert step.rows == 400
    assert step.explained == 1.0


def test_explain_reports_columns_bins_and_cuts_in_original_units():
    kelvin = np.linspace(273, 373, 1001)
    state = np.searchsorted([300.0, 350.0], kelvin)
    table = np.column_stack([kelvin, state])
    explanation = covary.explain(table, measure="uds", order="exact")
    assert explanation.order == ("x0", "x1")
    (step,) = explanation.steps
    assert (step.target, step.given, step.bins, step.rows) == ("x1", ("x0",), 3, 1001)
    # The 20 initial bins are 5 kelvin wide. Cuts are at their ends.
    cuts = step.cuts[step.given[-1]]
    assert cuts[0] == pytest.approx(300, abs=5)
    assert cuts[1] == pytest.approx(350, abs=5)
    assert all(cut in kelvin for cut in cuts)
    assert explanation.score == pytest.approx(step.explained)
    assert str(explanation).splitlines()[1].startswith("  x1: 0.")


def test_score_equals_the_score_of_the_explanation():
    table = np.random.default_rng(8).normal(size=(300, 5)) @ np.random.default_rng(9).random(
        (5, 5)
    )
    explanation = covary.explain(table, measure="uds-unregularized")
    assert covary.score(table, measure="uds-unregularized") == explanation.score
    weights = [
        naive.entropy_weight(table[:, int(s.target[1:])], "range") for s in explanation.steps
    ]
    explained = sum(w * s.explained for w, s in zip(weights, explanation.steps, strict=True))
    assert explanation.score == pytest.approx(explained / sum(weights), abs=1e-12)


def test_extreme_units_do_not_change_the_score():
    x = np.random.default_rng(0).normal(size=500)
    score = UDS().score(np.column_stack([x, np.abs(x)]))
    for factor in (1e-300, 1e300):
        table = np.column_stack([x * factor, np.abs(x)])
        assert UDS().score(table) == pytest.approx(score, abs=1e-12)
    wide = np.array([-1.7e308, 1.7e308, 1.7e308] * 40)
    assert UDS().score(np.column_stack([wide, wide > 0])) == 1.0


def test_more_than_4096_rows_in_a_cell():
    # Such counts are larger than the table of logarithms.
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = np.where(x > 0, rng.random(20_000), 2.0)
    table = np.column_stack([x, y])
    low, high = y[x <= 0], y[x > 0]
    # Entropy decides the order. The step x -> y may exist only in the exact order.
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
        ({"beta": 1}, "beta must be a whole number from 2 to 254, not 1"),
        ({"beta": 255}, "beta must be a whole number from 2 to 254, not 255"),
        ({"beta": 2.5}, "beta must be a whole number from 2 to 254, not 2.5"),
        ({"beta": True}, "beta must be a whole number from 2 to 254, not True"),
        ({"scale": "minmax"}, "scale must be 'range' or None, not 'minmax'"),
        ({"order": "best"}, "order must be 'entropy' or 'exact', not 'best'"),
        ({"regularize": "yes"}, "regularize must be True or False, not 'yes'"),
    ],
)
def test_error_names_the_invalid_parameter(parameters, message):
    with pytest.raises(ParameterError, match=message):
        UDS(**parameters)


def test_column_order_does_not_matter_for_a_factor_in_two_units():
    # A balanced design: all entropies are equal, and a and b are interchangeable.
    a, b = np.array(list(itertools.product(np.arange(5.0) ** 2, repeat=2)) * 9).T
    table = np.column_stack([a, b, 10 * a, 7 * b])
    for regularize in (True, False):
        measure = UDS(regularize=regularize)
        scores = {measure.score(table[:, order]) for order in itertools.permutations(range(4))}
        assert len(scores) == 1


def test_matrix_and_score_order_equal_entropies_in_the_same_way():
    rng = np.random.default_rng(1)
    x = np.arange(300.0)
    table = np.column_stack([rng.permutation(x), np.abs(x - 150), x, (x * 7) % 300])
    matrix = covary.matrix(table, measure="uds-unregularized")
    for i, j in itertools.permutations(range(4), 2):
        assert matrix[i, j] == covary.score(table, [i, j], measure="uds-unregularized")


@pytest.mark.parametrize("m", [40, 400, 1000, 4000])
def test_without_scale_rounding_does_not_reorder_equal_entropies(m):
    # log(2) / 2 equals log(4) / 4.
    half = np.repeat([0.0, 1.0], m // 2)
    quarter = np.repeat([0.0, 1.0], [m // 4, m - m // 4])
    for table in (np.column_stack([half, quarter]), np.column_stack([quarter, half])):
        assert UDS(scale=None).explain(table).order == ("x0", "x1")


def test_one_extreme_value_does_not_hide_the_others():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    for extreme in (-1e16, -1e20, -9.96e36, -1e300):
        x[0] = extreme
        table = np.column_stack([x, x > 0])
        naive_score = naive.uds_exact([column.tolist() for column in table.T])
        assert UDS(order="exact").score(table) == pytest.approx(naive_score, abs=1e-9)
        assert naive_score > 0.9


def test_subnormal_numbers_are_distinct_values():
    tiny = np.array([0.0, 5e-324, 1e-323] * 40)
    ranks = np.array([0.0, 1.0, 2.0] * 40)
    other = (ranks > 0).astype(float)
    assert UDS(order="exact").score(np.column_stack([tiny, other])) == pytest.approx(
        UDS(order="exact").score(np.column_stack([ranks, other])), abs=1e-12
    )


@pytest.mark.parametrize("seed", range(6))
def test_empty_column_does_not_change_the_score(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    pair = np.column_stack([x, 0.7 * x + 0.7 * rng.normal(size=200)])
    with_empty = np.column_stack([pair, np.full(200, np.nan)])
    for order in ("entropy", "exact"):
        assert UDS(order=order).score(with_empty) == UDS(order=order).score(pair)


def test_rounding_errors_do_not_look_like_dependence():
    # Nearly all values are far from the minimum, so sums cancel.
    for m in (10_000, 200_000):
        rng = np.random.default_rng(m)
        table = np.column_stack(
            [rng.normal(size=m), -(rng.standard_cauchy(m) ** 2), rng.random(m) < 0.999]
        )
        scores = covary.matrix(table, measure="uds")
        assert scores[0, 2] == scores[1, 2] == 0.0
        assert scores[0, 1] == 0.0 or scores[0, 1] > 0.05


def test_row_order_does_not_matter_with_rare_values():
    rng = np.random.default_rng(0)
    m = 20_000
    x = rng.random(m)
    y = np.where(rng.random(m) < 1e-3, 0.0, 1.0)
    y[x < 0.2] = 1.0
    table = np.column_stack([x, y, rng.normal(size=m)])
    measure = UDS(regularize=False)
    expected = measure.explain(table)
    for _ in range(4):
        found = measure.explain(rng.permutation(table))
        assert [step.bins for step in found.steps] == [step.bins for step in expected.steps]
        assert found.score == pytest.approx(expected.score, abs=1e-12)
