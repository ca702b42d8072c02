"""The option `missing`: whether missing cells of explaining columns are values of their own."""

from __future__ import annotations

import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from example_tables import tables
from hypothesis import given, settings

import covary
import naive_chance
import naive_evidence
from covary import CovaryError, CovaryWarning, UDSChance
from covary.prepare import keep_missing, prepare
from covary.significance.nulls import RandomPermutations, all_arrangements, present_rows
from covary.table import TableOptions, declare

pytestmark = pytest.mark.filterwarnings("ignore:.*rows:covary.CovaryWarning")


def listed(table):
    return [column.tolist() for column in table.T]


def with_holes(table, share, rng):
    return np.where(rng.random(table.shape) < share, np.nan, table)


# ---------------------------------------------------------------- definition


@settings(max_examples=40)
@given(tables(rows=(3, 16), columns=(2, 4)))
def test_level_follows_the_definition(table):
    with naive_chance.missing_cells("level"):
        expected = naive_chance.score(listed(table))
        evidence = naive_evidence.evidence(listed(table))
    assert covary.score(table, missing="level") == pytest.approx(expected, abs=1e-9)
    assert covary.evidence(table, missing="level") == pytest.approx(evidence, rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(tables(rows=(3, 16), columns=(2, 4)))
def test_values_follow_the_definition(table):
    expected = naive_chance.score(listed(table))
    evidence = naive_evidence.evidence(listed(table))
    assert covary.score(table) == pytest.approx(expected, abs=1e-9)
    assert covary.evidence(table) == pytest.approx(evidence, rel=1e-6, abs=1e-6)


@settings(max_examples=30)
@given(tables(rows=(3, 100), columns=(2, 4), missing=False))
def test_without_missing_cells_the_option_does_not_matter(table):
    for function in (covary.score, covary.evidence):
        assert function(table, missing="level") == function(table, missing="values")


@pytest.mark.parametrize("kind", ["normal", "ties", "binary"])
def test_a_pair_scores_as_its_complete_rows(kind):
    """The bins of a condition come from all its values, also in rows without the target.

    So the grids differ a little, and another one may be the best. This changes a single score by
    a few hundredths, but not their mean.
    """
    differences = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=2000)
        y = x**2 + rng.normal(size=2000)
        y = {"normal": y, "ties": y.round(), "binary": (y > 1).astype(float)}[kind]
        table = with_holes(np.column_stack([x, y]), 0.2, rng)
        complete = table[~np.isnan(table).any(axis=1)]
        of_y = covary.score(table, target=1) - covary.score(complete, target=1)
        of_x = covary.score(table, target=0) - covary.score(complete, target=0)
        differences.append([of_x, of_y])
    assert np.abs(differences).max() < 0.06
    assert np.abs(np.mean(differences, axis=0)).max() < 0.01


def test_if_both_are_missing_together_only_the_other_rows_count():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    complete = np.hstack([x, x + rng.normal(size=(400, 1))])
    table = np.vstack([complete, np.full((300, 2), np.nan)])
    assert covary.score(table) == pytest.approx(covary.score(complete), abs=0.005)


@settings(max_examples=30)
@given(tables(rows=(3, 80), columns=(2, 4)))
def test_order_of_rows_and_columns_and_direction_of_values_do_not_matter(table):
    rng = np.random.default_rng(0)
    score = covary.score(table)
    assert 0.0 <= score <= 1.0
    assert covary.score(table[rng.permutation(len(table))]) == score
    assert covary.score(table[:, ::-1]) == score
    assert covary.score(-table) == score
    assert covary.evidence(table[:, ::-1]) == pytest.approx(covary.evidence(table), abs=1e-9)


# ---------------------------------------------------------------- what it is for


def test_values_that_are_missing_together_and_unrelated_score_0():
    scores, of_level = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(500, 2))
        table[rng.random(500) < 0.8] = np.nan
        scores.append(covary.score(table))
        of_level.append(covary.evidence(table, missing="level"))
    assert np.mean(scores) < 0.005
    assert np.mean(np.array(scores) > 0) < 0.15
    assert np.median(of_level) > 2


@pytest.mark.parametrize("how", ["one", "both", "together"])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_independent_columns_with_missing_cells_seldom_score_above_0(how, share):
    scores = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(600, 2))
        gone = rng.random((600, 2)) < share
        gone[:, 1] = {"one": False, "both": gone[:, 1], "together": gone[:, 0]}[how]
        scores.append(covary.score(np.where(gone, np.nan, table)))
    assert np.mean(scores) < 0.01
    assert np.mean(np.array(scores) > 0) < 0.13


@pytest.mark.parametrize("kind", ["normal", "binary"])
def test_tests_of_values_that_are_missing_together_reject_at_their_level(kind):
    pvalues = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(300, 2))
        if kind == "binary":
            table[:, 1] = table[:, 1] > 1
        table[rng.random(300) < 0.8] = np.nan
        pvalues.append(covary.test(table, permutations=39, seed=seed).pvalue)
    # 5 % of 200 tests, and three standard deviations.
    assert np.mean(np.array(pvalues) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_copy_with_missing_cells_scores_1():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    copy = np.where(rng.random(1000) < 0.3, np.nan, x)
    table = np.column_stack([x, copy])
    assert covary.score(table, target=0) > 0.97
    assert covary.score(table, target=0, missing="level") < 0.75


def test_dependence_is_not_diluted_by_missing_cells():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4000))
    table = np.column_stack([a, b, a + b])
    holed = table.copy()
    holed[rng.random(4000) < 0.5, 0] = np.nan
    whole = covary.score(table, target=2)
    assert covary.score(holed, target=2) == pytest.approx(whole, abs=0.05)
    assert covary.score(holed, target=2, missing="level") < whole - 0.2


def test_missing_cells_that_depend_on_the_target_explain_nothing():
    scores = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 500))
        rare = (y > 1).astype(float)
        gone = (y < 1) & (rng.random(500) < 0.9)
        scores.append(covary.score(np.column_stack([np.where(gone, np.nan, x), rare]), target=1))
    assert np.mean(scores) < 0.01


# ---------------------------------------------------------------- permutations


def test_permutations_leave_missing_cells_in_their_rows():
    rng = np.random.default_rng(0)
    table = with_holes(rng.normal(size=(50, 2)), 0.4, rng)
    prepared = prepare(table)
    assert UDSChance().keeps_missing(prepared)
    permutations = RandomPermutations(50, (0, 1), 3, present=present_rows(prepared, (0, 1)))
    for number in range(5):
        moved = prepared.moved(permutations.moves(number))
        assert moved.missing_is_level == prepared.missing_is_level
        for column in range(2):
            before, after = prepared.by_row(column), moved.by_row(column)
            np.testing.assert_array_equal(np.isnan(before), np.isnan(after))
            assert sorted(before[~np.isnan(before)]) == sorted(after[~np.isnan(after)])
            assert (before[~np.isnan(before)] != after[~np.isnan(after)]).any()


def test_permutations_of_some_rows_are_equally_likely():
    rng = np.random.default_rng(0)
    present = np.array([1, 2, 4], np.uint32)
    found = [
        tuple(keep_missing(rng.permutation(6).astype(np.uint32), present).tolist())
        for _ in range(1200)
    ]
    counts = pd.Series(found).value_counts()
    assert len(counts) == 6
    assert counts.min() > 130
    assert all(each[row] == row for each in counts.index for row in (0, 3, 5))


def test_all_arrangements_without_missing_cells():
    table = np.array([[1.0, 1], [2, np.nan], [3, 5], [4, 5], [5, np.nan]])
    every = all_arrangements(prepare(table), (0, 1), None, 100, missing_stay=True)
    assert every.columns == (1,)
    assert every.number == 2
    for number in range(2):
        rows = every.moves(number)[1]
        assert rows[[1, 4]].tolist() == [1, 4]
        assert sorted(rows.tolist()) == list(range(5))


# ---------------------------------------------------------------- the option itself


def test_prepared_columns_keep_the_option():
    table = np.array([[1.0, np.nan], [2, 3], [3, 4], [4, 5]])
    for missing in ("values", "level"):
        prepared = prepare(declare(table, TableOptions(missing=missing)))
        for same in (prepared, prepared.without([0]), pickle.loads(pickle.dumps(prepared))):
            assert same.missing_is_level == (missing == "level")
    values = prepare(table)
    assert values.absent([0]) is None
    assert values.absent([0, 1]).tolist() == [True, False, False, False]
    assert values.with_missing("level").absent([0, 1]) is None


def test_another_value_is_an_error():
    with pytest.raises(CovaryError, match=r"^missing .*'values' or 'level'"):
        covary.score(np.random.default_rng(0).random((200, 2)), missing="bin")


def test_all_commands_have_the_option(covary_command, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"a": np.where(x > 0, np.nan, rng.normal(size=300)), "b": x})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for command in ("score", "explain", "matrix", "test", "search"):
        texts = set()
        for missing in ("values", "level"):
            code, text, error = covary_command(command, path, "--missing", missing)
            assert code == 0, error
            texts.add(text)
        assert len(texts) == 2


def test_a_run_file_records_the_option(tmp_path):
    rng = np.random.default_rng(0)
    table = with_holes(rng.normal(size=(200, 3)), 0.3, rng)
    run = tmp_path / "r.covary"
    level = covary.search(table, run=run, missing="level")
    assert level.parameters["missing"] == "level"
    with pytest.raises(CovaryError, match="missing is level there and values here"):
        covary.search(table, run=run, resume=True)
    resumed = covary.search(table, run=run, resume=True, missing="level")
    assert [s.score for s in resumed.subspaces] == [s.score for s in level.subspaces]


def test_a_run_file_without_the_option_continues_as_before(tmp_path):
    rng = np.random.default_rng(0)
    table = with_holes(rng.normal(size=(200, 3)), 0.3, rng)
    run = tmp_path / "r.covary"
    level = covary.search(table, run=run, missing="level")
    with sqlite3.connect(run) as connection:
        connection.execute("DELETE FROM run WHERE name = 'missing'")
    connection.close()
    with pytest.warns(CovaryWarning, match="continues with missing='level'"):
        resumed = covary.search(table, run=run, resume=True)
    assert resumed.parameters["missing"] == "level"
    assert [s.score for s in resumed.subspaces] == [s.score for s in level.subspaces]
