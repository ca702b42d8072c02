"""Figures of columns with named values: levels, tiles, boxes and stacked bars."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
from covary.plots.figures.style import shown_label
from covary.plots.levels import level_texts, shown_levels
from covary.table import Column
from test_figures import every_number, fields, rows_of, specification

pytest.importorskip("altair")

LABELS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script>",
    "{{7*7}}",
    "datum.x",
    "",
    "nan",
    "None",
    "שלום",
    "\x1b[31mred",
    "\u202eevil",
    "x" * 10_000,
    "x" * 9_999 + "y",
    "Ab",
    "ab",
    "ab ",
    "a b",
    "a  b",
    "a\u00a0b",
    "__proto__",
    "constructor",
    "other",
    "http://127.0.0.1:9/x.png",
    "image",
]
DIETS = ["vegan", "vegetarian", "pescatarian", "omnivore"]


@pytest.fixture(scope="module")
def people():
    """People whose weight depends on their diet, and their drink on diet and age."""
    rng = np.random.default_rng(0)
    n = 900
    diet = rng.integers(0, 4, n)
    age = rng.integers(18, 80, n)
    drink = np.where(rng.random(n) < 0.3, "wine", np.where(age < 40, "cola", "tea"))
    frame = pd.DataFrame(
        {
            "diet": np.array(DIETS)[diet],
            "weight": 60 + 5 * diet + rng.normal(size=n) * 4,
            "age": age,
            "drink": np.where(diet == 0, "water", drink),
            "vegan": diet == 0,
        }
    )
    frame.loc[rng.random(n) < 0.1, "diet"] = None
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame


def of_pair(frame, x, y):
    """The set of two columns, of which the first one explains the second one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return covary.search(frame, [x, y], target=y)[0]


def layers_of(chart, kind):
    """The layers of the first panel with this mark, each with its data."""
    return [
        (layer, rows_of(chart, layer))
        for layer in chart["concat"][0]["layer"]
        if layer["mark"]["type"] == kind
    ]


def drawn(frame, x, y, kind, *, rows=True):
    """The first layer of the panel of two columns with this mark, and its data."""
    plot = of_pair(frame, x, y).plot
    chart = specification(plot.projections() if rows else plot.counts())
    return layers_of(chart, kind)[0]


def levels_of(layer, channel):
    return layer["encoding"][channel]["scale"]["domain"]


# ---------------------------------------------------------------- texts of levels


@given(st.lists(st.one_of(st.text(), st.integers(), st.sampled_from(LABELS)), unique_by=repr))
@settings(max_examples=200)
def test_texts_of_different_levels_differ(labels):
    extra = "other (3 levels)"
    texts = level_texts([*labels, extra], extra=extra)
    assert len(set(texts)) == len(labels) + 2
    assert texts[-1] == extra
    plain = [text.strip("\u2068\u2069") for text in texts]
    assert all(text.isprintable() and 0 < len(text) < 40 for text in plain)


def test_a_short_label_is_its_own_text():
    assert level_texts(["tea", "Tea", True, 1.5]) == ["tea", "Tea", "True", "1.5"]


def test_the_ends_of_long_labels_stay_visible():
    one, other = level_texts(
        ["Department of Botany, section A", "Department of Botany, section B"]
    )
    assert one.startswith("Department")
    assert (one[-1], other[-1]) == ("A", "B")


def nominal(codes, labels):
    return Column("x", np.asarray(codes, float), "nominal", tuple(labels))


def test_a_single_level_is_not_pooled():
    labels = [f"level {k}" for k in range(13)]
    levels = shown_levels(nominal(np.repeat(range(13), 5), labels))
    assert levels.texts == labels
    assert levels.n_pooled == 0


def test_the_least_frequent_levels_are_pooled():
    rng = np.random.default_rng(0)
    cells = rng.zipf(1.3, 20_000) % 2_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame({"x": [f"L{k}" for k in cells], "y": cells % 7 + rng.random(20_000)})
    box, boxes = drawn(frame, "x", "y", "bar")
    counts = Counter(frame["x"])
    shown = levels_of(box, "x")
    assert len(shown) == 13
    pooled = f"other ({len(counts) - 12:,} levels)"
    assert shown[-1] == pooled
    # Equally frequent levels are interchangeable.
    assert sorted(counts[text] for text in shown[:-1]) == sorted(counts.values())[-12:]
    in_boxes = {each["g0"]: each["rows"] for each in boxes}
    assert in_boxes == {
        pooled: len(frame) - sum(counts[text] for text in shown[:-1]),
        **{text: counts[text] for text in shown[:-1]},
    }


def test_a_level_with_the_name_of_the_pooled_ones_is_another_level():
    names = ["other (8 levels)", "other", *(f"L{k:02}" for k in range(18))]
    cells = np.repeat(names, np.arange(40, 20, -1))
    levels = shown_levels(nominal(pd.Categorical(cells, names).codes, names))
    assert levels.texts[-1] == "other (8 levels)"
    assert levels.texts[:2] == ["other (8 levels) (2)", "other"]
    rows = np.bincount(levels.codes)
    assert rows[0] == 40
    assert rows[-1] == sum(range(21, 29))
    axis = drawn(pd.DataFrame({"x": cells, "y": np.arange(cells.size)}), "x", "y", "bar")[0]
    style = axis["encoding"]["x"]["axis"]["labelFontStyle"]["condition"]
    assert style == {"test": 'datum.value === "other (8 levels)"', "value": "italic"}


def test_many_ordered_labels_are_joined_with_their_neighbours():
    labels = tuple(f"{k:03}" for k in range(200))
    values = np.random.default_rng(0).integers(0, 200, 3_000).astype(float)
    values[:7] = np.nan
    levels = shown_levels(Column("x", values, "category", labels))
    assert len(levels.texts) == 12
    assert (levels.codes[:7] == -1).all()
    for code, text in enumerate(levels.texts):
        first, last = text.split(" to ")
        inside = values[levels.codes == code]
        assert (inside.min(), inside.max()) == (int(first), int(last))
    assert np.ptp(np.bincount(levels.codes[7:])) < 100


# ---------------------------------------------------------------- tiles


@pytest.mark.parametrize("rows", [True, False])
def test_tiles_are_shares_within_the_horizontal_levels(people, rows):
    layer, cells = drawn(people, "diet", "drink", "rect", rows=rows)
    counts = pd.crosstab(people["diet"], people["drink"])
    found = {(cell["g0"], cell["g1"]): cell for cell in cells}
    assert set(found) == {pair for pair, count in counts.stack().items() if count}
    for (diet, drink), cell in found.items():
        assert cell["rows"] == counts.loc[diet, drink]
        assert cell["of"] == counts.loc[diet].sum()
        assert cell["share"] == pytest.approx(cell["rows"] / cell["of"], abs=1e-4)
    assert layer["encoding"]["x"]["title"] == "diet"
    assert layer["encoding"]["y"]["title"] == "drink"


def test_large_tiles_contain_share_and_count_and_small_ones_no_text(people):
    texts = layers_of(specification(of_pair(people, "diet", "drink").plot.counts()), "text")
    assert [layer["encoding"]["text"]["field"] for layer, _ in texts] == ["share", "rows"]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 12, 600)
    frame = pd.DataFrame({"x": [f"a{k}" for k in x], "y": [f"b{k % 7}" for k in x]})
    chart = specification(of_pair(frame, "x", "y").plot.counts())
    assert layers_of(chart, "text") == []
    ((tiles, _),) = layers_of(chart, "rect")
    assert tiles["encoding"]["color"]["legend"]["title"] == "share"


def test_pooled_levels_do_not_make_the_others_pale():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, 2_000), rng.integers(0, 60, 2_000)
    frame = pd.DataFrame({"x": [f"a{k}" for k in x], "y": [f"b{k}" for k in y]})
    layer, cells = drawn(frame, "x", "y", "rect")
    named = [cell["share"] for cell in cells if not cell["g1"].startswith("other")]
    assert layer["encoding"]["color"]["scale"]["domain"] == [0, max(named)]
    assert max(cell["share"] for cell in cells) > 3 * max(named)


def test_associated_levels_of_two_columns_form_a_diagonal():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, 3_000)
    y = np.clip(x + rng.integers(-1, 2, 3_000), 0, 5)
    names = rng.permutation([f"L{k}" for k in range(6)])
    frame = pd.DataFrame({"x": names[x], "y": names[::-1][y]})
    layer, _ = drawn(frame, "x", "y", "rect")
    horizontal = [list(names).index(text) for text in levels_of(layer, "x")]
    vertical = [list(names[::-1]).index(text) for text in levels_of(layer, "y")]
    assert horizontal == vertical
    assert horizontal in (list(range(6)), list(range(5, -1, -1)))


def test_groups_of_levels_are_blocks_on_the_diagonal():
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 12, 1_000)
    frame = pd.DataFrame({"town": [f"T{k}" for k in towns], "land": [f"L{k % 4}" for k in towns]})
    layer, cells = drawn(frame, "town", "land", "rect")
    land = {cell["g0"]: cell["g1"] for cell in cells}
    assert [land[town] for town in levels_of(layer, "x")] == [
        each for each in levels_of(layer, "y") for _ in range(3)
    ]


def test_levels_are_in_the_order_of_the_mean_rank_of_a_number(people):
    layer, _ = drawn(people, "diet", "weight", "bar")
    means = people["weight"].rank().groupby(people["diet"]).mean()
    assert levels_of(layer, "x") == means.sort_values().index.tolist() == DIETS


def test_booleans_have_their_natural_order(people):
    layer, _ = drawn(people, "vegan", "drink", "rect")
    assert levels_of(layer, "x") == ["False", "True"]
    layer, _ = drawn(people, "drink", "vegan", "rect")
    assert levels_of(layer, "y") == ["True", "False"]  # from the top


# ---------------------------------------------------------------- boxes


def test_boxes_are_quantiles_of_all_rows(people):
    _, boxes = drawn(people, "diet", "weight", "bar")
    assert [box["g0"] for box in boxes] == people["diet"].value_counts().index.tolist()
    for box in boxes:
        values = people.loc[people["diet"] == box["g0"], "weight"]
        wanted = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf")
        found = [box[name] for name in ("low", "q1", "median", "q3", "high")]
        assert found == pytest.approx(wanted, abs=1e-3)
        assert box["rows"] == values.size


def test_boxes_of_counts_are_close_to_quantiles_and_no_values(people):
    _, boxes = drawn(people, "diet", "weight", "bar", rows=False)
    width = np.ptp(people["weight"]) / 15
    for box in boxes:
        values = people.loc[people["diet"] == box["g0"], "weight"]
        wanted = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
        found = [box[name] for name in ("low", "q1", "median", "q3", "high")]
        assert found == pytest.approx(wanted, abs=width)
    numbers = np.unique(list(every_number(boxes)))
    assert not set(numbers.tolist()) & set(people["weight"].round(3).tolist())


def test_very_few_rows_have_no_box():
    x = ["a"] * 60 + ["b"] * 40 + ["c"] * 3
    frame = pd.DataFrame({"x": x, "y": np.arange(103) % 60 + np.repeat([0, 9], [60, 43])})
    for rows in (True, False):
        _, boxes = drawn(frame, "x", "y", "bar", rows=rows)
        by_level = {box["g0"]: box for box in boxes}
        few = by_level["c" if rows else "other (1 level)"]
        assert few["low"] is None
        assert few["median"] is not None
        assert by_level["b"]["low"] is not None


def test_boxes_of_dates_and_durations_have_values_of_charts():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 300)
    start = pd.Timestamp("2020-03-01")
    frame = pd.DataFrame(
        {
            "x": np.array(["a", "b", "c"])[x],
            "day": start + pd.to_timedelta(x * 10 + rng.integers(0, 5, 300), unit="D"),
            "wait": pd.to_timedelta(x * 3 + rng.integers(0, 2, 300), unit="h"),
        }
    )
    for rows in (True, False):
        _, boxes = drawn(frame, "x", "day", "bar", rows=rows)
        days = [pd.Timestamp(box["median"]) for box in sorted(boxes, key=lambda box: box["g0"])]
        for level, day in enumerate(days):
            assert start + pd.Timedelta(days=10 * level) <= day
            assert day <= start + pd.Timedelta(days=10 * level + 6)
        _, boxes = drawn(frame, "x", "wait", "bar", rows=rows)
        hours = [box["median"] for box in sorted(boxes, key=lambda box: box["g0"])]
        assert all(3 * level <= hour <= 3 * level + 2 for level, hour in enumerate(hours))


# ---------------------------------------------------------------- stacked bars


def stacks(frame, x, y, *, rows=True):
    """The chart of stacked bars, the segments of its bars, and those of missing numbers."""
    plot = of_pair(frame, x, y).plot
    chart = specification(plot.projections() if rows else plot.counts())
    data = [segments for _, segments in layers_of(chart, "rect")]
    return chart, data[0], data[1] if len(data) > 1 else []


@pytest.mark.parametrize("rows", [True, False])
def test_stacked_bars_are_shares_in_bins(people, rows):
    _, segments, missing = stacks(people, "age", "drink", rows=rows)
    bins = {}
    for each in segments:
        bins.setdefault((each["c0"], each["x2"]), []).append(each)
    assert sum(each["rows"] for each in segments) == people["age"].notna().sum()
    for (low, high), parts in bins.items():
        inside = people.loc[people["age"].between(low, high), "drink"].value_counts()
        assert {part["level"]: part["rows"] for part in parts} == inside.to_dict()
        assert inside.sum() >= 0.05 * people["age"].notna().sum()
        parts.sort(key=lambda part: part["s0_1"])
        ends = [0.0, *(part["y2"] for part in parts)]
        assert ends[-1] == pytest.approx(1.0, abs=1e-3)
        for part, start in zip(parts, ends, strict=False):
            assert part["s0_1"] == pytest.approx(start, abs=1e-3)
            assert part["share"] == pytest.approx(part["rows"] / inside.sum(), abs=1e-3)
    counts = people.loc[people["age"].isna(), "drink"].value_counts()
    assert {each["level"]: each["rows"] for each in missing} == counts.to_dict()


def test_rows_are_in_the_segment_of_their_level(people):
    chart, segments, missing = stacks(people, "age", "drink")
    rows = rows_of(chart, chart)
    assert len(rows) == 500
    for row in rows:
        level = people["drink"].iloc[row["row"] - 1]
        if row["c0"] is None:
            (part,) = [each for each in missing if each["level"] == level]
        else:
            (part,) = [
                each
                for each in segments
                if each["level"] == level and each["c0"] < row["c0"] < each["x2"]
            ]
        assert part["s0_1"] < row["s0_1"] < part["y2"]


def test_levels_of_stacked_bars_start_with_that_of_the_lowest_numbers(people):
    layer, _ = drawn(people[people["drink"] != "water"], "age", "drink", "rect")
    ranks = people["age"].rank()[people["drink"] != "water"].groupby(people["drink"]).mean()
    assert layer["encoding"]["color"]["scale"]["domain"] == ranks.sort_values().index.tolist()


def test_a_level_has_the_same_colour_in_all_figures(people):
    colours = []
    for x in ("age", "weight"):
        layer, _ = drawn(people, x, "drink", "rect")
        scale = layer["encoding"]["color"]["scale"]
        colours.append(dict(zip(scale["domain"], scale["range"], strict=True)))
    assert colours[0] == colours[1]
    assert len(set(colours[0].values())) == 4


def test_stacked_bars_have_at_most_eight_levels():
    rng = np.random.default_rng(0)
    codes = rng.zipf(1.2, 3_000) % 30
    frame = pd.DataFrame({"x": codes + rng.random(3_000), "y": [f"L{k}" for k in codes]})
    layer, segments = drawn(frame, "x", "y", "rect")
    scale = layer["encoding"]["color"]["scale"]
    assert len(scale["domain"]) == len(set(scale["range"])) == 8
    assert scale["domain"][-1].startswith("other (")
    assert sum(each["rows"] for each in segments) == 3_000


def test_a_third_column_with_levels_gives_points_their_colour():
    rng = np.random.default_rng(0)
    sign = rng.choice([-1, 0, 1], 900)
    x = rng.normal(size=900)
    names = np.array(["up", "flat", "down"])[1 - sign]
    frame = pd.DataFrame({"x": x, "kind": names, "y": sign * x + rng.normal(size=900) / 9})
    chart = specification(covary.search(frame, target="y")[0].plot.projections())
    colours = [
        layer["encoding"]["color"]["condition"]
        for panel in chart["concat"]
        for layer in panel["layer"]
        if layer["mark"]["type"] == "circle" and "color" in layer["encoding"]
    ]
    (colour,) = (each for each in colours if each.get("type") == "nominal")
    assert colour["title"] == "colour: kind"
    assert sorted(colour["scale"]["domain"]) == ["down", "flat", "up"]
    for row in rows_of(chart, chart):
        assert row[colour["field"]] == names[row["row"] - 1]


# ---------------------------------------------------------------- rows


def test_marked_rows_are_at_the_place_of_their_levels(people):
    chart = specification(of_pair(people, "diet", "drink").plot.projections())
    assert chart["params"][0]["views"] == [chart["concat"][0]["layer"][0]["name"]]
    ((points, rows),) = layers_of(chart, "circle")
    encoding = points["encoding"]
    assert (encoding["x"]["field"], encoding["y"]["field"]) == ("g0", "g1")
    assert encoding["size"]["value"] == encoding["opacity"]["value"] == 0
    for row in rows:
        own = people.iloc[row["row"] - 1]
        assert row["g0"] == (None if pd.isna(own["diet"]) else own["diet"])
        assert row["g1"] == own["drink"]


def test_missing_levels_are_ticks_at_the_edge(people):
    chart = specification(of_pair(people, "diet", "weight").plot.projections())
    ticks = [layer for layer, _ in layers_of(chart, "tick") if "transform" in layer]
    tests = [layer["transform"][-1]["filter"] for layer in ticks]
    assert tests == ["!isValid(datum.c0) && isValid(datum.c1)"]


def test_counts_contain_no_rows(people):
    for x, y in (("diet", "weight"), ("age", "drink"), ("diet", "drink")):
        chart = specification(of_pair(people, x, y).plot.counts())
        assert "params" not in chart
        assert "data" not in chart
        assert "row" not in set(fields(chart))
        weights = set(people["weight"].tolist())
        assert not weights & set(every_number(chart))


# ---------------------------------------------------------------- numbers beside levels


@pytest.mark.parametrize("rows", [True, False])
def test_numbers_with_two_values_are_tiles_beside_levels(rows):
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "female"], 400)
    survived = (rng.random(400) < np.where(sex == "female", 0.8, 0.2)).astype(int)
    frame = pd.DataFrame({"sex": sex, "survived": survived})
    layer, tiles = drawn(frame, "sex", "survived", "rect", rows=rows)
    assert levels_of(layer, "y") == ["1", "0"]
    shares = {(tile["g0"], tile["g1"]): tile["share"] for tile in tiles}
    for level in ("male", "female"):
        assert shares[level, "1"] == pytest.approx(survived[sex == level].mean(), abs=1e-4)


@pytest.mark.parametrize("whole", [True, False])
def test_stacked_bars_of_skewed_numbers_have_a_logarithmic_axis(whole):
    rng = np.random.default_rng(0)
    price = np.append(np.exp(rng.normal(3, 1.5, 1_900)), np.zeros(100))
    price = np.round(price) if whole else price
    kind = np.where(rng.random(2_000) < 0.8, np.where(price > 20, "high", "low"), "other kind")
    frame = pd.DataFrame({"price": price, "kind": kind})
    layer, segments = drawn(frame, "price", "kind", "rect")
    assert layer["encoding"]["x"]["scale"]["type"] == "symlog"
    bars = {(segment["c0"], segment["x2"]): segment["of"] for segment in segments}
    assert sum(bars.values()) == 2_000
    assert len(bars) >= 5
    assert max(bars.values()) < 600
    for (low, high), rows in bars.items():
        assert rows == ((price >= low) & (price < high)).sum()
    frame["price"] = rng.random(2_000)
    assert "type" not in drawn(frame, "price", "kind", "rect")[0]["encoding"]["x"]["scale"]


def test_the_bar_of_missing_cells_is_labelled(people):
    frame = people[["age", "drink"]].astype({"age": float})
    frame.loc[frame.index[::5], "age"] = np.nan
    chart = specification(of_pair(frame, "age", "drink").plot.projections())
    ((_, text),) = layers_of(chart, "text")
    assert text == [{"text": "missing age"}]
    chart = specification(of_pair(frame.dropna(), "age", "drink").plot.projections())
    assert layers_of(chart, "text") == []


def test_of_equally_frequent_levels_the_most_associated_ones_are_drawn():
    level = np.repeat(np.arange(40), 20)
    unusual = {3, 17, 26, 39}
    y = np.random.default_rng(0).normal(size=800) + 8 * np.isin(level, list(unusual))
    colour = np.where(np.isin(level, list(unusual)), "red", np.where(y > 0, "blue", "green"))
    frame = pd.DataFrame({"x": [f"L{each}" for each in level], "y": y, "colour": colour})
    for other, kind in (("y", "bar"), ("colour", "rect")):
        layer, _ = drawn(frame, "x", other, kind)
        assert {f"L{each}" for each in unusual} <= set(levels_of(layer, "x"))


def test_right_to_left_labels_do_not_reorder_their_neighbours():
    name = next(label for label in LABELS if unicodedata.bidirectional(label[:1] or " ") == "R")
    assert level_texts([name, "Ab"]) == [f"\u2068{name}\u2069", "Ab"]
    assert shown_label(name) == f"\u2068{name}\u2069"
