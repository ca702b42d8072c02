"""Cut points, groups of levels and profiles: an explanation in words."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import covary


def step_of(data, columns, target, **options):
    return covary.explain(data, columns, target=target, **options).steps[0]


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
    assert set(low.where["cabin"].levels) == {"second", "third"}
    assert str(high.where["cabin"]) == "first"
    assert low.rows + high.rows == 900
    assert low.rows == (passengers["cabin"] != "first").sum()


def test_medians_of_the_profile(passengers):
    low, high = step_of(passengers, ["cabin"], "fare").profile
    for cell, is_first in ((low, False), (high, True)):
        fares = np.sort(passengers["fare"][(passengers["cabin"] == "first") == is_first])
        median = fares[(fares.size - 1) // 2]
        assert cell.median == median
        assert cell.tendency() == f"median {median:.5g}"
    everything = np.sort(passengers["fare"])
    assert low.overall_median == high.overall_median == everything[(900 - 1) // 2]


def test_shares_of_the_profile(passengers):
    step = step_of(passengers, ["sex", "cabin"], "survived")
    assert set(step.by) == {"sex", "cabin"}
    for cell in step.profile:
        inside = passengers["sex"].isin(cell.where["sex"].levels)
        inside &= passengers["cabin"].isin(cell.where["cabin"].levels)
        assert cell.rows == inside.sum()
        shares, overall = (
            some["survived"].value_counts(normalize=True)
            for some in (passengers[inside], passengers)
        )
        assert cell.share == pytest.approx(shares[cell.level])
        assert cell.overall_share == pytest.approx(overall[cell.level])
        assert cell.share > cell.overall_share
        words = f"{100 * shares[cell.level]:.0f} % (all rows: {100 * overall[cell.level]:.0f} %)"
        assert step.describe(cell) == f'"{cell.level}" {words}'
    assert {cell.level for cell in step.profile} == {"yes", "lost"}
    assert sum(cell.rows for cell in step.profile) == 900


def test_intervals_of_a_number_that_explains_a_category(passengers):
    step = step_of(passengers, ["fare"], "cabin")
    cuts = step.cuts["fare"]
    # Between them there may be a bin with fares of both kinds.
    assert 15.0 <= cuts[-1] < 80.0
    assert set(passengers["cabin"][passengers["fare"] <= cuts[0]]) <= {"second", "third"}
    assert set(passengers["cabin"][passengers["fare"] > cuts[-1]]) == {"first"}
    low, high = step.profile[0], step.profile[-1]
    assert str(low.where["fare"]) == f"up to {low.where['fare'].up_to:.5g}"
    assert str(high.where["fare"]) == f"above {high.where['fare'].above:.5g}"
    assert (high.level, high.share) == ("first", 1.0)


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
    assert all(cell.share == 1.0 for cell in step.profile)


def purest_groups(step, column, mapping):
    """Whether each group of levels has one level of the target, and each level one group."""
    found = [{mapping[level] for level in group} for group in step.cuts[column]]
    return all(len(each) == 1 for each in found) and len(found) == len(set(mapping.values()))


@pytest.mark.parametrize("impurity", [0.0, 0.05])
def test_many_levels_that_determine_a_category_form_pure_groups(impurity):
    rng = np.random.default_rng(0)
    states = rng.choice(5, 150, p=[0.37, 0.23, 0.21, 0.17, 0.02])
    town = rng.integers(150, size=3_000)
    state = np.where(rng.random(3_000) < impurity, rng.integers(5, size=3_000), states[town])
    data = pd.DataFrame(
        {"town": [f"t{each}" for each in town], "state": np.array(list("abcde"))[state]}
    )
    step = step_of(data, ["town"], "state")
    mapping = {f"t{each}": "abcde"[states[each]] for each in np.unique(town)}
    assert purest_groups(step, "town", mapping)
    assert len(step.profile) == 5
    for cell in step.profile:
        assert set(map(mapping.get, cell.where["town"].levels)) == {cell.level}


def test_levels_that_differ_little_are_one_group_beside_another_one():
    # The other levels are more likely for different levels of the target by chance.
    rng = np.random.default_rng(1)
    region = rng.choice(["north", "east", "south", "west"], 1_200)
    party = np.where(
        region == "south",
        rng.choice(["red", "blue", "green"], 1_200, p=[0.7, 0.2, 0.1]),
        rng.choice(["red", "blue", "green"], 1_200, p=[0.2, 0.5, 0.3]),
    )
    step = step_of(pd.DataFrame({"region": region, "party": party}), ["region"], "party")
    groups = {frozenset(group) for group in step.cuts["region"]}
    assert groups == {frozenset(["south"]), frozenset(["north", "east", "west"])}
    (other,) = (cell for cell in step.profile if len(cell.where["region"].levels) == 3)
    assert other.most_common == "blue"
    note = f'most common "blue" {100 * other.most_common_share:.0f} %'
    assert (note in step.describe(other)) == (other.level != "blue")


@pytest.mark.parametrize("columns", [["a"], ["a", "b"], ["a", "x"]])
def test_profile_depends_neither_on_the_order_of_rows_nor_on_names(columns):
    rng = np.random.default_rng(2)
    a, b = np.repeat(np.arange(8), 100), np.tile(np.arange(8), 100)
    c = rng.permutation(np.repeat(np.arange(8), 100))  # equally frequent levels
    c = np.where(rng.random(800) < 0.6, (a + b) // 2, c)
    data = pd.DataFrame({"a": a, "b": b, "c": c, "x": c + rng.normal(size=800)})
    profiles = []
    for seed in range(4):
        rename = np.random.default_rng(seed).permutation(8)
        names = {each: f"L{rename[each]}" for each in range(8)}
        renamed = data.assign(**{name: data[name].map(names) for name in "abc"})
        shuffled = renamed.sample(frac=1, random_state=seed)
        back = {name: each for each, name in names.items()}
        step = step_of(shuffled, columns, "c")
        profiles.append(
            {
                (
                    *(
                        (name, tuple(sorted(map(back.get, part.levels))), part.above, part.up_to)
                        for name, part in sorted(cell.where.items())
                    ),
                    cell.rows,
                    back[cell.level],
                )
                for cell in step.profile
            }
        )
    assert len(profiles[0]) > 1
    assert all(profile == profiles[0] for profile in profiles)


def test_two_levels_are_two_groups():
    version = np.repeat(["1.2.0", "1.3.1"], 200)
    data = pd.DataFrame({"version": version, "y": np.arange(400.0)})
    step = step_of(data, ["version"], "y")
    assert "best groups {1.2.0} {1.3.1}" in str(step)
    # Of a target with two names, each cell shows the one that is more likely there.
    cells = step_of(data, ["y"], "version").profile
    assert [(cell.level, cell.share) for cell in cells] == [("1.2.0", 1.0), ("1.3.1", 1.0)]


def test_numbers_and_booleans_with_two_values_show_the_larger_one():
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "female"], 500)
    survived = rng.random(500) < np.where(sex == "female", 0.8, 0.2)
    for values, larger in ((survived, True), (survived.astype(int), 1)):
        data = pd.DataFrame({"sex": sex, "survived": values})
        step = step_of(data, ["sex"], "survived")
        for cell in step.profile:
            (level,) = cell.where["sex"].levels
            share = survived[sex == level].mean()
            words = f"{100 * share:.0f} % (all rows: {100 * survived.mean():.0f} %)"
            assert step.describe(cell) == f"survived = {larger}: {words}"


def test_ordered_levels_are_named():
    scale = ["never", "seldom", "often", "always"]
    rng = np.random.default_rng(0)
    code = rng.integers(4, size=800)
    y = np.array([0.0, 5.0, 5.0, 9.0])[code] + rng.normal(size=800)
    data = pd.DataFrame({"how": pd.Categorical.from_codes(code, scale, ordered=True), "y": y})
    step = step_of(data, ["how"], "y")
    assert step.cuts["how"] == ("never", "often")
    assert [str(cell.where["how"]) for cell in step.profile] == [
        "never",
        "seldom to often",
        "always",
    ]


def test_single_numbers_are_named():
    rng = np.random.default_rng(0)
    size = rng.integers(1, 4, 600)
    colour = np.array(["red", "green", "blue"])[size - 1]
    step = step_of(pd.DataFrame({"size": size, "colour": colour}), ["size"], "colour")
    assert [str(cell.where["size"]) for cell in step.profile] == ["1", "2", "3"]
    assert [cell.where["size"].above for cell in step.profile] == [None, 1, 2]


def test_levels_with_commas_are_quoted():
    rng = np.random.default_rng(0)
    level = rng.integers(3, size=300)
    names = np.array(["Hong Kong, China", "India", "Chad"])
    y = np.array([1.0, 1.0, 5.0])[level] + rng.normal(size=300) / 5
    step = step_of(pd.DataFrame({"x": names[level], "y": y}), ["x"], "y")
    asian = next(cell for cell in step.profile if len(cell.where["x"].levels) == 2)
    texts = {'"Hong Kong, China" or India', 'India or "Hong Kong, China"'}
    assert str(asian.where["x"]) in texts
    assert '"Hong Kong, China"' in step.details()


def test_columns_that_form_no_cells_are_named():
    rng = np.random.default_rng(0)
    columns = {name: rng.choice([f"{name}0", f"{name}1"], 2_000) for name in "abcd"}
    y = sum(2.0**k * (columns[name] == f"{name}1") for k, name in enumerate("abcd"))
    data = pd.DataFrame({**columns, "y": y + rng.normal(size=2_000) / 9})
    explanation = covary.explain(data, list("abcd"), target="y")
    (step,) = explanation.steps
    assert set(step.by) == set("abcd")
    used = set(step.profile[0].where)
    assert len(used) == 3
    (unused,) = set("abcd") - used
    assert f"; {unused} is needed as well)" in str(explanation)


def test_many_levels_are_shortened():
    rng = np.random.default_rng(0)
    level = rng.integers(200, size=4000)
    data = pd.DataFrame({"level": [f"L{each}" for each in level], "y": level % 2 + 0.0})
    step = step_of(data, ["level"], "y")
    assert step.explained == 1.0
    assert [len(group) for group in step.cuts["level"]] == [100, 100]
    assert all(str(cell.where["level"]).endswith(" or 97 more") for cell in step.profile)
    assert "..." in str(step)


def test_missing_cells_are_a_part_of_their_own_if_they_are_a_level(passengers):
    holed = passengers.copy()
    holed.loc[holed.index[:200], "cabin"] = None
    step = step_of(holed, ["cabin"], "fare", missing="level")
    missing = [cell for cell in step.profile if cell.where["cabin"].missing]
    assert [cell.rows for cell in missing] == [200]
    assert (step.rows, step.note_on_missing()) == (900, ["200 missing cells as a bin"])


def test_rows_without_a_value_are_in_no_cell(passengers):
    holed = passengers.copy()
    holed.loc[holed.index[:200], "cabin"] = None
    step = step_of(holed, ["cabin"], "fare")
    complete = step_of(holed.iloc[200:], ["cabin"], "fare")
    assert step.profile == complete.profile
    assert step.cuts == complete.cuts
    assert (step.rows, step.note_on_missing()) == (700, ["200 missing cells do not count"])


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
    (named,) = {tuple(cell) for cell in fields}
    assert named == ("where", "rows", "level", "share", "overall_share")
    assert fields[0]["where"]["sex"]["levels"][0] in {"male", "female"}
    json.dumps(fields)
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
