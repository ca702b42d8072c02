"""What columns explain beyond given ones: scores, explanations, searches and commands."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from example_tables import tables
from hypothesis import given, settings

import covary
import naive_chance as naive
from covary.engines import run_here
from covary.errors import ColumnError, CovaryWarning, ParameterError
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.prepare import prepare


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    age, height = rng.normal(size=(2, 1500))
    sex = rng.integers(0, 2, 1500)
    weight = 0.5 * age + sex + rng.normal(size=1500)
    fat = age + 0.7 * sex + weight + 0.5 * rng.normal(size=1500)
    copy = age**3
    columns = {"age": age, "sex": sex, "weight": weight, "height": height, "copy": copy}
    return pd.DataFrame({**columns, "fat": fat})


def test_columns_that_explain_the_same_add_nothing(people):
    assert covary.score(people, ["copy"], target="fat") > 0.2
    assert covary.score(people, ["copy"], target="fat", given=["age"]) == 0.0
    assert covary.score(people, ["height"], target="fat", given=["age", "sex"]) == 0.0


def test_columns_that_explain_more_add_it(people):
    beyond = covary.score(people, ["weight"], target="fat", given=["age", "sex"])
    alone = covary.score(people, ["weight"], target="fat")
    assert 0.4 < beyond < 0.7
    assert beyond != alone


def test_fractions_multiply_along_a_chain(people):
    """What is left after all columns is what each one leaves of the rest."""
    options = {"target": "fat"}
    table = people[["age", "sex", "weight", "fat"]]
    every = covary.score(table, **options)
    # The noise level depends on the columns of the table, so all calls have the same columns.
    by_given = covary.explain(table, ["weight"], given=["age", "sex"], **options)
    beyond = by_given.score
    prepared = prepare(table)
    scorer = SetScorer(prepared, None, target=3, given=(0, 1))
    given_only = scorer.explained_by_given(run_here(prepared))
    assert 1 - every == pytest.approx((1 - given_only) * (1 - beyond), abs=1e-12)
    assert by_given.steps[0].explained == pytest.approx(every, abs=1e-12)
    assert 0.3 < given_only < every


@pytest.mark.parametrize("kind", ["copy", "noisy copy", "sum", "product", "ties", "sign"])
@pytest.mark.parametrize("max_given", [None, 1])
def test_scores_beyond_given_columns_are_the_naive_ones(kind, max_given):
    rng = np.random.default_rng(len(kind))
    z, x, v, e = rng.normal(size=(4, 60))
    if "copy" in kind:
        x = z**3 if kind == "copy" else z + 0.1 * x
    y = {"sum": x + v, "product": z * v, "sign": np.sign(z * v)}.get(kind, z + v) + 0.2 * e
    table = np.column_stack([x, v, y, z, z + x + e])
    table = table.round() if kind == "ties" else table
    measure = covary.UDSChance(max_given=max_given)
    for given_columns in ([3], [3, 4]):
        which = [0, 1, 2, *given_columns]
        found = measure.score(table[:, which], [0, 1], target=2, given=[*range(3, len(which))])
        known = list(range(3, len(which)))
        expected = naive.explained_beyond(table[:, which].T.tolist(), 2, known, max_given)
        assert found == pytest.approx(expected, abs=1e-6)


def test_a_column_in_the_place_of_a_given_one_is_not_named():
    rng = np.random.default_rng(0)
    age, weight, e = rng.normal(size=(3, 1000))
    table = pd.DataFrame({"months": 12 * age, "weight": weight, "years": age.round(2), "age": age})
    table["fat"] = age * weight + 0.3 * e
    explanation = covary.explain(table, target="fat", given=["age"])
    assert "(weight explains" in str(explanation)
    assert set(explanation.steps[0].by) == {"age", "weight"}
    found = covary.search(table, target="fat", given=["age"])
    assert found[0].columns == ("weight", "fat")


@pytest.mark.parametrize("seed", range(12))
def test_a_copy_of_a_given_column_is_never_named(seed):
    """Also if the given column explains nothing alone."""
    z, v, e = np.random.default_rng(seed).normal(size=(3, 300))
    y = np.sign(z * v) + 0.3 * e
    table = pd.DataFrame({"months": 12 * z, "v": v, "z": z, "y": y})
    step = covary.explain(table, target="y", given=["z"]).steps[0]
    assert set(step.by) == {"v", "z"}


@pytest.mark.parametrize("seed", range(60, 72))
def test_all_columns_explain_at_least_as_much_as_the_given_ones(seed):
    rng = np.random.default_rng(seed)
    z0, z1, z2, e = rng.normal(size=(4, 150))
    others = rng.normal(size=(3, 150)) + np.array([z0, z1, z2])
    table = pd.DataFrame(others.T, columns=["o0", "o1", "o2"])
    table[["z0", "z1", "z2"]] = np.column_stack([z0, z1, z2])
    table["y"] = z0 * z1 + z2 + 0.3 * e
    known = ["z0", "z1", "z2"]
    explanation = covary.explain(table, target="y", given=known)
    alone = SetScorer(prepare(table), None, target=6, given=(3, 4, 5))
    by_given = alone.explained_by_given(run_here(alone.prepared))
    explained = explanation.steps[0].explained
    assert explained >= by_given - 1e-9
    beyond = (explained - by_given) / (1 - by_given)
    assert explanation.score == pytest.approx(beyond, abs=1e-9)


def test_the_explanation_names_the_columns(people):
    explanation = covary.explain(people, ["weight"], target="fat", given=["age", "sex"])
    percent = round(100 * explanation.score)
    assert f"weight explains {percent} % of fat beyond age and sex" in str(explanation)
    assert "age (given) alone" in str(explanation)
    assert "weight alone" in str(explanation)
    assert explanation.target == "fat"
    assert explanation.given == ("age", "sex")
    assert explanation.order == ("weight", "age", "sex", "fat")
    assert set(explanation.steps[0].by) == {"age", "sex", "weight"}
    nothing = covary.explain(people, ["height"], target="fat", given=["age"])
    assert "(nothing explains fat beyond age)" in str(nothing)
    together = covary.explain(people, ["age", "sex", "weight"], target="fat")
    assert "weight, age and sex explain" in str(together)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"given": ["age"]}, ParameterError, "given columns need a target"),
        ({"target": "fat", "given": ["fat"]}, ColumnError, "'fat' is in both target and given"),
        (
            {"columns": ["age"], "target": "fat", "given": ["age"]},
            ColumnError,
            "'age' is in both columns and given",
        ),
        ({"target": "fat", "given": ["ages"]}, ColumnError, "no column 'ages'"),
        ({"target": "fat", "given": "age"}, ParameterError, "given must be a list"),
        ({"target": "fat", "given": 3}, ParameterError, "given must be a list"),
        ({"columns": ["fat"], "target": "fat"}, ColumnError, "two columns"),
        ({"target": "fat", "given": ["age"], "measure": "uds"}, ParameterError, "beyond given"),
        ({"target": "fat", "measure": "dhsic"}, ParameterError, "target"),
    ],
)
def test_errors_say_what_to_do(people, arguments, error, message):
    for function in (covary.score, covary.evidence):
        with pytest.raises(error, match=message):
            function(people, **arguments)


def test_a_target_of_uds_has_no_explanation(people):
    assert covary.score(people, target="fat", measure="uds") > 0
    with pytest.raises(ParameterError, match="omit the target"):
        covary.explain(people, target="fat", measure="uds")


def test_a_search_ranks_sets_by_what_they_explain_beyond(people):
    found = covary.search(people, target="fat", given=["age", "sex"], top=5)
    assert found[0].columns == ("weight", "fat")
    assert found[0].score > 0.4
    assert found.parameters["given"] == ["age", "sex"]
    assert "beyond age and sex" in found.summary()
    assert not any({"age", "sex"} & set(each.columns) for each in found)
    every = covary.search(people, target="fat", top=5)
    assert "age" in every[0].columns


@settings(max_examples=25)
@given(tables(rows=(10, 80), columns=(3, 5)))
def test_the_score_beyond_given_columns_is_a_fraction(table):
    score = covary.score(table, [1], target=0, given=list(range(2, table.shape[1])))
    assert 0.0 <= score <= 1.0
    explanation = covary.explain(table, [1], target=0, given=list(range(2, table.shape[1])))
    assert explanation.score == score


def test_commands_accept_target_and_given(people, tmp_path, covary_command):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    options = ("-c", "weight", "--target", "fat", "--given", "age,sex")
    expected = covary.score(path, ["weight"], target="fat", given=["age", "sex"])
    code, out, _ = covary_command("score", path, *options, "--json")
    assert code == 0
    assert json.loads(out)["score"] == expected
    assert json.loads(out)["given"] == ["age", "sex"]
    code, out, _ = covary_command("score", path, *options)
    assert "1 column for fat beyond age and sex" in out
    code, out, _ = covary_command("explain", path, *options)
    words = " ".join(out.split())
    assert f"weight explains {100 * expected:.0f} % of fat beyond age and sex" in words
    step = covary.explain(path, ["weight"], target="fat", given=["age", "sex"]).steps[0]
    rows = {line.split()[0]: line.split() for line in out.splitlines() if "0." in line}
    for column, alone, adds in zip(step.by, step.alone, step.adds, strict=True):
        assert f"{alone:.4f}" in rows[column]
        assert f"{adds:.4f}" in rows[column]
        assert ("(given)" in rows[column]) == (column != "weight")
    assert f"together, given columns included: {step.explained:.4f} of fat in 1,500 rows" in out
    code, out, _ = covary_command("explain", path, *options, "--json")
    assert json.loads(out)["target"] == "fat"
    code, out, _ = covary_command("search", path, "--target", "fat", "--given", "age", "--json")
    assert json.loads(out)["parameters"]["given"] == ["age"]
    code, _, err = covary_command("score", path, "--given", "age")
    assert code != 0
    assert "given columns need a target" in err


def test_a_command_names_the_smallest_p_of_sets_that_score_0(tmp_path, covary_command):
    rng = np.random.default_rng(0)
    z, e, own = rng.normal(size=(3, 400))
    noise = pd.DataFrame(rng.normal(size=(400, 12))).add_prefix("noise")
    table = noise.assign(x=z + e, y=z + 0.25 * e + own, z=z)
    path = tmp_path / "weak.csv"
    table.to_csv(path, index=False)
    options = ("--target", "y", "--given", "z", "--permutations", "199", "--max-size", "2")
    assert covary.score(table, ["x"], target="y", given=["z"]) == 0
    code, out, _ = covary_command("search", path, *options)
    assert code == 0
    assert "No set scores above 0; p = 0.0050 for x, the smallest of 13." in out


@pytest.mark.parametrize("target", [None, "fat"])
def test_an_explanation_reports_its_progress(people, target):
    calls = []
    explanation = covary.explain(
        people, target=target, on_progress=lambda *call: calls.append(call)
    )
    assert explanation == covary.explain(people, target=target)
    assert calls
    assert calls[-1][0] == calls[-1][1]


def test_errors_say_what_is_wrong_with_given_columns():
    table = np.random.default_rng(0).normal(size=(50, 3))
    for function in (covary.score, covary.explain, covary.evidence, covary.test):
        with pytest.raises(ColumnError, match="no column is left to explain 'x2': all others are"):
            function(table, target=2, given=[0, 1])
    for function in (covary.score, covary.test, covary.search):
        with pytest.raises(ColumnError, match="'x1' is named twice"):
            function(table, target=2, given=[1, 1])
    with pytest.raises(ColumnError, match="no column is left to explain 'x2'"):
        covary.search(table, target=2, given=[0, 1])


def test_a_search_says_why_nothing_can_be_tested():
    table = np.random.default_rng(0).normal(size=(100, 4))
    table[:, 3] = table[:, 2] ** 3
    with pytest.warns(CovaryWarning, match="nothing to test, .* determine the target"):
        covary.search(table, target=3, given=[2], permutations=19)


def test_missing_cells_are_counted_in_the_rows_that_have_the_target():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = np.column_stack([x, x + 0.1 * rng.normal(size=200)])
    table[:30] = np.nan  # both columns
    table[30:40, 0] = np.nan
    (step,) = covary.explain(table, target=1).steps
    assert (step.by, step.missing, step.rows) == (("x0",), 10, 160)
