"""Cut points, groups of levels and profiles: an explanation in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import covary


def step_of(data, columns, target):
    return covary.explain(data, columns, target=target).steps[0]


@pytest.fixture
def passengers():
    rng = np.random.default_rng(3)
    n = 900
    sex = rng.choice(["male", "female"], n)
    cabin = rng.choice(["first", "second", "third"], n)
    chance = 0.1 + 0.6 * (sex == "female") + 0.25 * (cabin == "first")
    fare = np.where(cabin == "first", 80.0, 12.0) * rng.uniform(0.8, 1.25, n)
    survived = np.where(rng.random(n) < chance, "yes", "lost")
    return pd.DataFrame({"sex": sex, "cabin": cabin, "fare": fare, "survived": survived})


def test_groups_of_levels_are_those_with_similar_targets(passengers):
    step = step_of(passengers, ["cabin"], "fare")
    groups = step.cuts["cabin"]
    assert [set(group) for group in groups] == [{"second", "third"}, {"first"}]
    assert "best groups {" in str(step)
    low, high = step.profile
    assert set(low.where["cabin"].split(" or ")) == {"second", "third"}
    assert low.rows + high.rows == 900
    assert low.rows == (passengers["cabin"] != "first").sum()


def test_medians_of_the_profile(passengers):
    low, high = step_of(passengers, ["cabin"], "fare").profile
    for cell, is_first in ((low, False), (high, True)):
        fares = np.sort(passengers["fare"][(passengers["cabin"] == "first") == is_first])
        median = fares[(fares.size - 1) // 2]
        assert cell.target.startswith(f"median {median:.5g} ")


def test_shares_of_the_profile(passengers):
    step = step_of(passengers, ["sex", "cabin"], "survived")
    assert set(step.by) == {"sex", "cabin"}
    for cell in step.profile:
        inside = passengers["sex"] == cell.where["sex"]
        inside &= passengers["cabin"].isin(cell.where["cabin"].split(" or "))
        assert cell.rows == inside.sum()
        # The second value in the order of frequency.
        rare = passengers["survived"].value_counts().index[1]
        share, overall = (
            100 * (some["survived"] == rare).mean() for some in (passengers[inside], passengers)
        )
        assert cell.target == f'"{rare}" {share:.0f} % (all rows: {overall:.0f} %)'
    assert sum(cell.rows for cell in step.profile) == 900


def test_intervals_of_a_number_that_explains_a_category(passengers):
    step = step_of(passengers, ["fare"], "cabin")
    cuts = step.cuts["fare"]
    # Between them there may be a bin with fares of both kinds.
    assert 15.0 <= cuts[-1] < 80.0
    assert set(passengers["cabin"][passengers["fare"] <= cuts[0]]) <= {"second", "third"}
    assert set(passengers["cabin"][passengers["fare"] > cuts[-1]]) == {"first"}
    low, high = step.profile[0], step.profile[-1]
    assert low.where["fare"].startswith("up to ")
    assert high.where["fare"].startswith("above ")
    assert high.target.startswith('"first" 100 % (all rows: ')


def test_levels_of_two_categories():
    rng = np.random.default_rng(0)
    town = rng.choice(list("abcdef"), 600)
    state = np.select([np.isin(town, ["a", "b"]), np.isin(town, ["c"])], ["x", "y"], "z")
    data = pd.DataFrame({"town": town, "state": state})
    step = step_of(data, ["town"], "state")
    assert step.explained == 1.0
    assert {frozenset(group) for group in step.cuts["town"]} == {
        frozenset("ab"),
        frozenset("c"),
        frozenset("def"),
    }
    assert all(" 100 % (all rows: " in cell.target for cell in step.profile)


def test_many_levels_are_shortened():
    rng = np.random.default_rng(0)
    level = rng.integers(200, size=4000)
    data = pd.DataFrame({"level": [f"L{each}" for each in level], "y": level % 2 + 0.0})
    step = step_of(data, ["level"], "y")
    assert step.explained == 1.0
    assert [len(group) for group in step.cuts["level"]] == [100, 100]
    assert all(cell.where["level"].endswith(" or 97 more") for cell in step.profile)
    assert "..." in str(step)


def test_missing_cells_are_a_part_of_their_own(passengers):
    holed = passengers.copy()
    holed.loc[holed.index[:200], "cabin"] = None
    step = step_of(holed, ["cabin"], "fare")
    missing = [cell for cell in step.profile if cell.where["cabin"] == "missing"]
    assert [cell.rows for cell in missing] == [200]


def test_numbers_have_no_profile():
    x = np.random.default_rng(0).normal(size=300)
    step = step_of(pd.DataFrame({"x": x, "y": x**2}), ["x"], "y")
    assert step.by == ("x",)
    assert step.profile == ()


def test_profile_follows_renamed_columns_and_json(passengers):
    explanation = covary.explain(passengers, ["sex", "cabin"], target="survived")
    renamed = explanation.relabelled({"sex": "s", "cabin": "c"}).steps[0]
    assert set(renamed.profile[0].where) == {"s", "c"}
    fields = explanation.to_dict()["steps"][0]["profile"]
    assert fields[0].keys() == {"where", "rows", "target"}
    assert sum(cell["rows"] for cell in fields) == 900


def test_hostile_labels_are_printed_as_text():
    rng = np.random.default_rng(0)
    labels = np.array(["\x1b[31mred", "<script>", "a\nb"])
    level = rng.integers(3, size=300)
    data = pd.DataFrame({"level": labels[level], "y": level + rng.normal(size=300) / 5})
    text = str(covary.explain(data, ["level"], target="y"))
    assert "\x1b" not in text
    assert "<script>" in text
    assert "a\\nb" in text
