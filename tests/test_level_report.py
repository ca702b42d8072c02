"""The report of a table with named values: profiles, groups, settings, and what it reveals."""

from __future__ import annotations

import html
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import covary
from test_figures import fields, rows_of, specification
from test_level_figures import DIETS, LABELS, drawn, layers_of, levels_of, of_pair
from test_report import data_of, figures_of, leaves, without_scripts

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


def written(frame, path, *, rows=True, **options):
    """The report of a search: its text, and the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(frame, **options)
    found.report(path / "out.html", rows=rows)
    return (path / "out.html").read_text(encoding="utf-8"), found


def profiles(text):
    """The profiles of a page: headings and lines."""
    tables = []
    for table in re.findall(r'<table class="profile">(.*?)</table>', text, re.DOTALL):
        headings = re.findall(r"<th scope.*?>(.*?)</th>", table)
        lines = [
            [
                html.unescape(re.sub(r"</?bdi>", "", cell))
                for cell in re.findall(r"<td.*?>(.*?)</td>", line)
            ]
            for line in re.findall(r"<tr><td.*?</tr>", table, re.DOTALL)
        ]
        tables.append(([html.unescape(each) for each in headings], lines))
    return tables


def settings_of(text):
    listed = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text)
    return {name: html.unescape(value) for name, value in listed}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    diet = rng.integers(0, 4, 800)
    weight = 60 + 5 * diet + rng.normal(size=800) * 4
    drink = np.where(rng.random(800) < 0.7, np.array(["tea", "cola"])[(diet > 1) * 1], "water")
    return pd.DataFrame({"diet": np.array(DIETS)[diet], "weight": weight, "drink": drink})


# ---------------------------------------------------------------- profiles


def test_a_page_shows_how_a_number_differs_between_levels(people, tmp_path):
    text, _ = written(people, tmp_path, columns=["diet"], target="weight")
    ((headings, lines),) = profiles(text)
    cells = covary.explain(people, ["diet"], target="weight").steps[0].profile
    median = np.quantile(people["weight"], 0.5, method="inverted_cdf")
    assert headings == ["diet", f"weight (all rows: {median:.5g})", "rows"]
    assert [line[0] for line in lines] == [str(cell.where["diet"]) for cell in cells] == DIETS
    for diet, words, rows in lines:
        own = people.loc[people["diet"] == diet, "weight"]
        assert words == f"median {np.quantile(own, 0.5, method='inverted_cdf'):.5g}"
        assert int(rows) == own.size


def test_a_page_shows_how_levels_differ_between_levels(people, tmp_path):
    for rows in (True, False):
        text, _ = written(people, tmp_path, rows=rows, columns=["diet"], target="drink")
        ((headings, lines),) = profiles(text)
        assert headings == ["diet", "drink", "rows"]
        by_place = {line[0]: line[1] for line in lines}
        part = people["diet"].isin(DIETS[:2])
        (place,) = (place for place in by_place if "vegan" in place.split(" or "))
        share = 100 * (people.loc[part, "drink"] == "tea").mean()
        overall = 100 * (people["drink"] == "tea").mean()
        assert sorted(place.split(" or ")) == DIETS[:2]
        assert by_place[place] == f'"tea" {share:.0f} % (all rows: {overall:.0f} %)'


def test_given_columns_are_marked_in_a_profile(people, tmp_path):
    size = np.random.default_rng(2).integers(0, 2, 800)
    frame = people.assign(
        size=np.array(["<small>", "tall"])[size], weight=people["weight"] + 20 * size
    )
    text, _ = written(frame, tmp_path, columns=["diet"], target="weight", given=["size"])
    headings, lines = profiles(text)[0]
    assert sorted(headings[:2]) == ["diet", "size (given)"]
    places = {line[headings.index("size (given)")] for line in lines}
    assert places == {"<small>", "tall"}


def test_a_profile_of_numbers_is_not_shown(tmp_path):
    x = np.random.default_rng(0).normal(size=300)
    text, _ = written(pd.DataFrame({"x": x, "y": x**2}), tmp_path)
    assert profiles(text) == []


def test_a_page_without_rows_has_no_medians_that_are_values(people, tmp_path):
    rng = np.random.default_rng(1)
    frame = people.assign(income=1000 * people["weight"].round(3) + rng.integers(0, 9, 800))
    text, _ = written(frame, tmp_path, rows=False, columns=["diet"], target="income")
    ((headings, lines),) = profiles(text)
    step = np.ptp(frame["income"]) / 500
    for diet, words, _ in lines:
        median = float(words.removeprefix("median "))
        assert median not in set(frame["income"].tolist())
        assert median == pytest.approx(
            np.median(frame.loc[frame["diet"] == diet, "income"]), abs=5 * step
        )
    everything = float(re.search(r"all rows: (.*)\)", headings[1]).group(1))
    assert everything not in set(frame["income"].tolist())
    exact, _ = written(frame, tmp_path, columns=["diet"], target="income")
    assert {line[1] for line in lines}.isdisjoint(line[1] for line in profiles(exact)[0][1])


def test_a_page_without_rows_says_nothing_about_very_small_groups(tmp_path):
    x = np.repeat(np.array(["many", "more", None]), [200, 197, 3])
    y = np.concatenate([np.arange(200) % 20, 40 + np.arange(197) % 20, [90, 91, 92]])
    frame = pd.DataFrame({"x": x, "y": y + 0.25})
    words = {}
    for rows in (True, False):
        options = {"columns": ["x"], "target": "y", "missing": "level"}
        text, _ = written(frame, tmp_path, rows=rows, **options)
        words[rows] = {line[0]: line[1] for line in profiles(text)[0][1]}
    assert words[True]["missing"] == "median 91.25"
    assert words[False]["missing"] == "(too few rows)"
    assert words[False]["many"].startswith("median ")


def test_a_page_without_rows_names_no_level_of_very_few_rows(tmp_path):
    rng = np.random.default_rng(0)
    x = np.repeat(["many", "more", "rare", "lonely"], [200, 196, 4, 1])
    y = np.repeat(["often", "usual", "seldom"], [200, 199, 2])
    frame = pd.DataFrame({"x": x, "y": y, "z": np.arange(401) + rng.random(401)})
    for columns in (["x", "y"], ["x", "z"], ["z", "y"], ["x", "y", "z"]):
        for target in columns:
            texts = {
                rows: written(frame, tmp_path, rows=rows, columns=columns, target=target)[0]
                for rows in (True, False)
            }
            shown = {
                rows: without_scripts(text) + json.dumps(data_of(text))
                for rows, text in texts.items()
            }
            for label in ("rare", "lonely", "seldom"):
                assert label not in shown[False]
            assert any(label in shown[True] for label in ("rare", "seldom"))
            assert any(label in shown[False] for label in ("many", "usual"))


def test_a_page_without_rows_has_no_dates_of_the_table(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 300)
    days = pd.Timestamp("2020-01-01 01:02:03") + pd.to_timedelta(
        x * 9 + rng.integers(0, 5, 300), "D"
    )
    frame = pd.DataFrame({"x": np.array(["a", "b", "c"])[x], "day": days})
    text, _ = written(frame, tmp_path, rows=False, columns=["x"], target="day")
    assert profiles(text) == []
    assert "01:02:03" not in text
    text, _ = written(frame, tmp_path, columns=["x"], target="day")
    assert "01:02:03" in str(profiles(text))


def test_a_page_without_rows_has_no_value_of_a_target_with_two_values(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"x": np.array(["a", "b"])[x], "y": np.array([1.234567, 7.654321])[x]})
    text, _ = written(frame, tmp_path, rows=False, columns=["x"], target="y")
    assert "7.65" not in without_scripts(text)
    assert "1.23" not in without_scripts(text)


# ---------------------------------------------------------------- groups of levels


def test_groups_of_levels_are_named(people, tmp_path):
    for rows in (True, False):
        text, _ = written(people, tmp_path, rows=rows, columns=["diet"], target="weight")
        assert "best groups {vegan} {vegetarian} {pescatarian} {omnivore}" in text


def test_long_levels_are_shortened_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    labels = np.array(["a" * 9_000, "b" * 9_000, "a" * 8_999 + "c"], dtype=object)
    frame = pd.DataFrame(
        {"x": labels[codes], "y": codes + rng.random(300), "z": labels[::-1][codes]}
    )
    for rows in (True, False):
        text, _ = written(frame, tmp_path, rows=rows, max_size=3)
        assert "a" * 150 not in text
        assert "b" * 150 not in text
        assert profiles(text)


# ---------------------------------------------------------------- settings


@pytest.fixture
def shop(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 200),
            "price": [f"{k:,}" for k in rng.integers(1_000_000, 9_000_000, 200)],
            "note": [f"written by number {k} on a very nice day" for k in range(200)],
            "stock": rng.normal(size=200),
        }
    ).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_settings_list_nominal_converted_and_unused_columns(shop, tmp_path):
    prices = pd.read_csv(shop)["price"]
    with_rows = settings_of(written(shop, tmp_path)[0])
    text = written(shop, tmp_path, rows=False)[0]
    without = settings_of(text)
    assert with_rows["Nominal"].startswith("colour (3 levels)")
    assert without["Nominal"] == with_rows["Nominal"]
    example = re.search(
        r'price \(numbers with a thousands separator, such as "(.*)"\)', with_rows["Text read as"]
    )
    assert example.group(1) in set(prices)
    assert without["Text read as"] == "price (numbers with a thousands separator)"
    assert with_rows["Not used"].startswith("note (free text")
    shown = without_scripts(text)
    assert not any(price in shown for price in prices)
    assert "written by" not in shown


def test_settings_of_numbers_do_not_mention_levels(tmp_path):
    text, _ = written(np.random.default_rng(0).normal(size=(150, 3)), tmp_path)
    assert not {"Nominal", "Text read as", "Not used"} & set(settings_of(text))


# ---------------------------------------------------------------- rows and marks


def test_levels_can_be_marked(people, tmp_path):
    text, _ = written(people, tmp_path, columns=["diet"], target="weight")
    options = re.findall(r'<option value="(\w+)" data-levels="(.*?)">(.*?)</option>', text)
    levels = {name: json.loads(html.unescape(each)) for _, each, name in options}
    assert sorted(levels["diet"]) == sorted(DIETS)
    assert levels["weight"] == []
    field = {name: field for field, _, name in options}["diet"]
    points = data_of(text)["points"]
    own = people["diet"].to_numpy()[np.array(points["row"]) - 1]
    assert points[field] == own.tolist()


def test_a_page_without_rows_contains_no_rows_of_levels(people, tmp_path):
    text, _ = written(people, tmp_path, rows=False, max_size=3)
    data = data_of(text)
    assert data["points"] == {}
    assert 'class="mark"' not in text
    numbers = {value for value in leaves(data["figures"]) if isinstance(value, float)}
    assert not numbers & set(people["weight"].round(4).tolist())
    for number in people["weight"]:
        assert f"{number:.5g}" not in without_scripts(text)


def test_notes_name_only_the_marks_of_the_panels(people, tmp_path):
    text, _ = written(people, tmp_path, columns=["diet"], target="weight")
    assert "Boxes: the middle half" in text
    assert "Tiles:" not in text
    assert "Orange curve" not in text
    text, _ = written(people, tmp_path, columns=["diet"], target="drink")
    assert "Tiles: the rows" in text
    assert "rows are drawn" not in text, "there are no points"
    assert "Boxes: the middle half" not in text


# ---------------------------------------------------------------- hostile labels in figures


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(LABELS), 3_000)
    return pd.DataFrame(
        {
            "h": pd.Categorical.from_codes(codes, LABELS),
            "few": pd.Categorical.from_codes(codes % 12, [LABELS[0], *LABELS[5:16]]),
            "y": codes + rng.normal(size=3_000),
        }
    )


def test_labels_are_only_text_and_all_different(hostile, tmp_path):
    pairs = [("few", "y"), ("y", "few"), ("h", "few"), ("h", "y")]
    for number, (x, y) in enumerate(pairs):
        plot = of_pair(hostile, x, y).plot
        for chart in (plot.projections(), plot.counts()):
            names = {"row", "share", "rows", "of", "level", "low", "q1", "median", "q3", "high"}
            names |= {"x2", "y2", "cut", "xOffset", "yOffset", "c0", "c1", "g0", "g1", "s0_1"}
            found = specification(chart)
            assert set(fields(found)) <= names
            assert "x" * 100 not in json.dumps(found)
            path = tmp_path / f"{number}.svg"
            chart.save(path)
            svg = path.read_text()
            assert "<script" not in svg
            assert "<img" not in svg
    layer, boxes = drawn(hostile, "few", "y", "bar")
    assert len(set(levels_of(layer, "x"))) == 12
    counts = hostile["few"].value_counts()
    assert sorted(box["rows"] for box in boxes) == sorted(counts.tolist())


@pytest.mark.parametrize("measure", ["cramers-v", "mutual-information"])
def test_measures_that_do_not_explain_have_figures_of_levels(people, measure):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(people, ["diet", "drink"], measure=measure)
    for subspace in found:
        chart = specification(subspace.plot.projections())
        assert layers_of(chart, "rect")
    assert specification(found.plot.heatmap())["title"].startswith(measure)


def test_all_figures_of_a_search_exist_with_levels(people):
    found = covary.search(people, max_size=3, permutations=19)
    assert {cell["row"] for cell in rows_of_heatmap(found)} == set(people.columns)
    texts = json.dumps(specification(found.plot.graph()))
    assert "diet" in texts
    for subspace in found[:3]:
        n = len(subspace.columns)
        assert len(specification(subspace.plot.projections())["concat"]) == n * (n - 1) / 2
        assert specification(subspace.plot.null_distribution())["title"]


def rows_of_heatmap(found):
    chart = specification(found.plot.heatmap())
    return rows_of(chart, chart)


# ---------------------------------------------------------------- hostile labels


@pytest.mark.parametrize("rows", [True, False])
def test_labels_are_never_executed(hostile, tmp_path, rows):
    text, _ = written(hostile, tmp_path, rows=rows, max_size=3)
    shown = without_scripts(text)
    for tag in ("<script", "<img", "onerror=alert(1)>", "\x1b", "\u202e"):
        assert tag not in shown
    assert text.count("<script") == text.count("</script>") == 3
    assert "&lt;script&gt;" in shown
    assert '""' in leaves(figures_of(text))
    assert "<script" in json.dumps(figures_of(text))


def test_a_csv_file_with_text_has_a_page_without_rows(covary_command, people, tmp_path):
    people.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--target", "weight", "--report", tmp_path / "out.html", "--no-rows"]
    code, _, _ = covary_command("search", tmp_path / "t.csv", *arguments)
    assert code == 0
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert data_of(text)["points"] == {}
    assert re.search(r"diet explains \d\d% of weight<", text)
    assert "diet (4 levels)" in settings_of(text)["Nominal"]


def test_a_page_from_a_run_file_has_the_same_levels(covary_command, people, tmp_path):
    people.to_csv(tmp_path / "t.csv", index=False)
    kept = ["--run", tmp_path / "t.covary", "--report", tmp_path / "own.html"]
    assert covary_command("search", tmp_path / "t.csv", *kept)[0] == 0
    assert covary_command("report", tmp_path / "t.covary", "-o", tmp_path / "out.html")[0] == 0
    texts = [(tmp_path / name).read_text("utf-8") for name in ("own.html", "out.html")]
    assert data_of(texts[0]) == data_of(texts[1])
    assert profiles(texts[0]) == profiles(texts[1]) != []
