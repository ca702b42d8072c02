"""Figures of a search: their data, and that names of columns are only text in them."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import sys
import warnings
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
from covary.engines import Threads
from covary.plots.clustered_order import clustered_order
from covary.plots.curves import best_fit
from covary.plots.figure_source import FigureSource
from covary.plots.figures.graph_layout import Label, line_geometry
from covary.plots.figures.style import shown_label
from covary.plots.round_bins import round_bins
from covary.plots.set_figures import SetFigures
from covary.prepare import Prepared
from covary.searching.record import SearchRecord
from covary.table import Column, read_table

pytest.importorskip("altair")

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "a.b[0]['c']",
    "שלום",
    "x" * 300,
    "🦊",
    "image",
    "title",
    "__proto__",
    "row",
    "",
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 300))
    return pd.DataFrame(
        {"x": x, "square": x**2 + noise / 10, "sum": x + noise, "noise": noise, "one": 1.0}
    )


@pytest.fixture(scope="module")
def found(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return covary.search(table, max_size=3)


def specification(chart):
    """The chart as a dictionary; Altair checks it against the schema of Vega-Lite."""
    return chart.to_dict()


# ---------------------------------------------------------------- curves


@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3))
def test_a_polynomial_is_found_with_its_degree(degree, seed, offset, width):
    rng = np.random.default_rng(seed)
    at = rng.uniform(-1, 1, 200)
    y = np.polynomial.chebyshev.chebval(at, [0] * degree + [1])
    fit = best_fit(offset + width * at, y)
    assert fit.kind == ("straight line" if degree == 1 else f"polynomial of degree {degree}")
    assert fit.r2 == pytest.approx(1.0, abs=1e-6)
    assert fit.x[0] == (offset + width * at).min()


def test_a_step_function_is_fitted_by_a_monotone_curve():
    x = np.random.default_rng(0).uniform(size=400)
    fit = best_fit(x, np.floor(5 * x))
    assert fit.kind == "monotone curve"
    assert fit.r2 == pytest.approx(1.0)
    falling = best_fit(x, -np.floor(5 * x))
    assert falling.kind == "monotone curve"


def test_r2_is_the_squared_correlation_for_a_straight_line():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = 2 * x + rng.normal(size=2000)
    fit = best_fit(x, y)
    assert fit.kind == "straight line"
    assert fit.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)


def test_there_is_no_fit_without_dependence_or_with_few_values():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    assert best_fit(x, np.ones(300)) is None
    assert best_fit(np.round(x > 0), x) is None
    assert best_fit(x[:10], x[:10]) is None
    assert best_fit(np.where(x > -9, np.nan, x), x) is None
    fits = [best_fit(rng.normal(size=300), rng.normal(size=300)) for _ in range(40)]
    assert sum(fit is not None and fit.r2 > 0.05 for fit in fits) == 0


def test_a_fit_ignores_rows_with_a_missing_value():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    y = x**2
    gaps = x.copy()
    gaps[:50] = np.nan
    fit, without = best_fit(gaps, y), best_fit(x[50:], y[50:])
    assert (fit.kind, fit.r2) == (without.kind, without.r2)


# ---------------------------------------------------------------- order of columns


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_an_order_contains_every_column_once(n, seed):
    scores = np.random.default_rng(seed).random((n, n))
    assert sorted(clustered_order(scores + scores.T)) == list(range(n))


def test_dependent_columns_are_neighbours():
    groups = np.array([0, 1, 0, 2, 1, 0, 2])
    scores = (groups[:, None] == groups[None]) * 0.9
    order = groups[clustered_order(scores)]
    assert sum(a != b for a, b in pairwise(order)) == 2


def test_neighbours_do_not_depend_on_the_input_order():
    rng = np.random.default_rng(0)
    scores = rng.random((5, 5))
    scores += scores.T
    neighbours = set()
    for order in permutations(range(5)):
        found = [order[at] for at in clustered_order(scores[np.ix_(order, order)])]
        neighbours.add(frozenset(frozenset(p) for p in pairwise(found)))
    assert len(neighbours) == 1


# ---------------------------------------------------------------- charts


def rows_of(chart, part):
    """The data of a part of a figure: its own, or that of the whole figure."""
    data = part.get("data", chart.get("data"))
    return data["values"] if "values" in data else chart["datasets"][data["name"]]


def test_a_heat_map_contains_every_pair_twice(found, table):
    chart = specification(found.plot.heatmap())
    cells = rows_of(chart, chart)
    names = list(table.columns)
    assert len(cells) == len(names) * (len(names) - 1)
    scores = covary.matrix(table)
    for cell in cells:
        assert cell["score"] == round(scores.loc[cell["row"], cell["column"]], 4)
    assert "uds-chance of all pairs" in json.dumps(chart)


def test_a_heat_map_of_noise_is_dark():
    noise = np.random.default_rng(0).normal(size=(1000, 4))
    chart = specification(covary.search(noise, max_size=2).plot.heatmap())
    assert max(cell["score"] for cell in rows_of(chart, chart)) < 0.02
    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == [0, 0.05]


def test_a_heat_map_ignores_given_columns(table):
    given, target = table.columns[:2]
    chart = specification(covary.search(table, target=target, given=[given]).plot.heatmap())
    scores = covary.matrix(table)
    for cell in rows_of(chart, chart):
        assert cell["score"] == round(scores.loc[cell["row"], cell["column"]], 4)


def test_missing_pairs_are_computed_on_the_engine_of_the_search(table):
    class CountingThreads(Threads):
        sessions = 0

        def session(self, shared):
            self.sessions += 1
            return super().session(shared)

    frame = table[["x", "square", "noise"]]
    engine = CountingThreads(1)
    record = SearchRecord(
        Prepared(read_table(frame)), covary.UDSChance(), engine, tuple(frame.columns)
    )
    progress = []
    scores = FigureSource(record).pair_scores(lambda *each: progress.append(each))
    assert engine.sessions == 1
    assert progress[-1] == (3, 3)
    expected = covary.matrix(frame).to_numpy() * (1 - np.eye(3))
    np.testing.assert_array_equal(scores, expected)


def relations(chart):
    """The lines of a graph, with their texts and explained fractions."""
    return rows_of(chart, chart["layer"][0])


def test_a_graph_connects_columns_by_their_strongest_pairs(found, table):
    chart = specification(found.plot.graph())
    lines = [line for line in relations(chart) if not line["together"]]
    texts = [line["text"] for line in lines]
    scores = covary.matrix(table)
    for line in lines:
        one, other = line["text"].partition(":")[0].split(" -> ")
        assert line["explained"] == pytest.approx(scores.loc[one, other], abs=1e-4)
        order = covary.explain(table, [one, other]).order
        assert order == (one, other)  # from the explaining to the explained column
    assert len(texts) == 3  # a spanning tree of four columns
    assert any(text.startswith("x -> square") for text in texts)
    points = rows_of(chart, chart["layer"][3])
    assert {point["column"] for point in points} == {"x", "square", "sum", "noise"}
    places = [(point["x"], point["y"]) for point in points]
    assert len(set(places)) == len(places)


def test_a_graph_shows_columns_that_explain_only_together():
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 1000))
    frame = pd.DataFrame({"a": a, "b": b, "product": a * b, "noise": noise})
    chart = specification(covary.search(frame, strategy="exhaustive", max_size=3).plot.graph())
    together = [line for line in relations(chart) if line["together"]]
    step = covary.explain(frame, ["a", "b", "product"]).steps[-1]
    assert len(together) == 3  # two lines to the square, one from it
    assert [line["arrow"] for line in together] == [False, False, True]
    assert {line["explained"] for line in together} == {round(step.explained, 4)}
    (square,) = rows_of(chart, chart["layer"][2])
    assert square["text"] == f"{' and '.join(step.by)} -> {step.target}: {step.explained:.4f}"


def test_projections_have_one_panel_per_pair_and_one_common_brush(found):
    triple = next(s for s in found if len(s.columns) == 3)
    chart = specification(triple.plot.projections(rows=50))
    assert len(chart["concat"]) == 3
    brush, mark = (param["name"] for param in chart["params"])
    assert brush.startswith("brush")
    assert mark == "mark"
    assert len(chart["params"][0]["views"]) == 3
    assert len(rows_of(chart, chart)) == 50


def test_projections_of_different_sets_share_no_names(found):
    """In one chart, Vega-Lite draws views with the same name from the same rows."""
    charts = [specification(each.plot.projections(rows=50)) for each in found[:3]]
    names = [
        {layer["name"] for panel in chart["concat"] for layer in panel["layer"] if "name" in layer}
        | {chart["params"][0]["name"]}
        for chart in charts
    ]
    assert len(set.union(*names)) == sum(map(len, names))


def test_the_colour_of_points_is_the_third_column():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    found = covary.search(
        pd.DataFrame({"a": a, "b": b, "product": a * b}), strategy="exhaustive", max_size=3
    )
    triple = next(s for s in found if len(s.columns) == 3)
    step = covary.explain(pd.DataFrame({"a": a, "b": b, "product": a * b})).steps[-1]
    colours = {}
    for panel in specification(triple.plot.projections())["concat"]:
        encoding = points_of(panel)["encoding"]
        pair = (encoding["x"]["title"], encoding["y"]["title"])
        colours[pair] = encoding["color"]["condition"].get("title")
    one, other = step.by
    assert colours[one, step.target] == f"colour: {other}"
    assert colours[other, step.target] == f"colour: {one}"
    assert list(colours.values()).count(None) == 1


def points_of(panel):
    return next(layer for layer in panel["layer"] if layer["mark"]["type"] == "circle")


def test_a_curve_stays_between_the_values():
    # The polynomial that fits best is far below all values where there are few rows.
    rng = np.random.default_rng(1)
    x = np.append(rng.exponential(size=500), [14.0, 18.0])
    y = np.where(x < 0.5, 3.0, np.where(x < 1.2, 2.0, 1.0))
    fit = best_fit(x, y)
    assert fit is not None
    assert fit.y.min() >= 1.0
    assert fit.y.max() <= 3.0


def test_numbers_of_a_graph_are_not_on_names():
    start, end = (0.0, 0.0), (200.0, 0.0)
    free = line_geometry(start, end)
    for at in (free["xt"], 60.0, 100.0):
        for y in (-13.0, 13.0):
            label = Label(at, y, 30.0)
            place = line_geometry(start, end, [label])
            assert abs(place["xt"] - label.x) > 30 or abs(place["yt"] - label.y) > 10
            assert abs(place["yt"]) == 13.0


def test_long_names_are_shortened():
    name = "start " + 3_000 * "x" + " end"
    assert len(shown_label(name)) <= 80
    assert shown_label(name).startswith("start ")
    assert shown_label(name).endswith(" end")
    assert shown_label("x" * 80) == "x" * 80


def test_the_explained_column_is_vertical_and_the_explaining_column_has_cuts(table):
    pair = covary.search(table[["square", "x"]])[0]
    chart = specification(pair.plot.projections())
    panel = chart["concat"][0]
    cuts, points = panel["layer"][0], panel["layer"][1]
    assert points["encoding"]["x"]["title"] == "x"
    assert points["encoding"]["y"]["title"] == "square"
    assert panel["title"]["text"][0].startswith("polynomial of degree 2, R² = 0.99")
    explained = covary.explain(table, ["square", "x"]).steps[0]
    assert [cut["cut"] for cut in rows_of(chart, cuts)] == list(explained.cuts["x"])


def test_the_same_seed_draws_the_same_rows(found):
    first, again, other = (found[0].plot.projections(rows=20, seed=s) for s in (1, 1, 2))
    assert specification(first) == specification(again)
    assert specification(first) != specification(other)


def test_rows_with_a_missing_value_are_ticks_at_the_edge(table):
    holes = table[["x", "square"]].copy()
    holes.loc[::3, "x"] = np.nan
    chart = specification(covary.search(holes)[0].plot.projections())
    rows = rows_of(chart, chart)
    assert len(rows) == 300
    assert sum(row["c0"] is None for row in rows) == 100
    layers = chart["concat"][0]["layer"]
    ticks = [layer for layer in layers if layer["mark"]["type"] == "tick"]
    assert len(ticks) == 1  # square is never missing
    test = ticks[0]["transform"][0]["filter"]
    assert test == "!isValid(datum.c0) && isValid(datum.c1)"


@given(st.integers(0, 299), st.integers(1, 80))
def test_at_most_half_of_the_drawn_rows_have_a_missing_cell(n_missing, max_rows):
    table = np.random.default_rng(n_missing).normal(size=(300, 2))
    table[:n_missing, 0] = np.nan
    prepared = Prepared(read_table(table))
    record = SearchRecord(prepared, covary.UDSChance(), Threads(1), ("x0", "x1"))
    rows = SetFigures(FigureSource(record), [0, 1]).drawn_rows(max_rows, 0)
    assert len(set(rows.tolist())) == rows.size == max_rows
    partial = int((rows < n_missing).sum())
    assert partial <= max((max_rows + 1) // 2, max_rows - (300 - n_missing))
    assert partial >= min(n_missing, int(max_rows * n_missing / 300 / 2))


def test_dates_and_categories_have_their_own_types_of_axes():
    rng = np.random.default_rng(0)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in range(200)]
    sizes = pl.Series(["small", "large"] * 100, dtype=pl.Enum(["small", "large"]))
    frame = pl.DataFrame({"day": days, "size": sizes, "y": np.arange(200) + rng.random(200)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = covary.search(frame, max_size=3, top=20)
    triple = next(s for s in best if len(s.columns) == 3)
    encodings = [
        layer["encoding"][axis]
        for panel in specification(triple.plot.projections())["concat"]
        for layer in panel.get("layer", [panel])
        for axis in ("x", "y")
        if axis in layer["encoding"] and "title" in layer["encoding"][axis]
    ]
    types = {encoding["title"]: encoding["type"] for encoding in encodings}
    types.pop("share of size", None)  # of stacked bars
    assert types == {"day": "temporal", "size": "nominal", "y": "quantitative"}


def test_figures_of_measures_that_do_not_explain(table):
    best = covary.search(table[["x", "square", "sum"]], measure="hics", max_size=3)
    triple = next(s for s in best if len(s.columns) == 3)
    assert len(specification(triple.plot.projections())["concat"]) == 3
    assert "hics" in json.dumps(specification(best.plot.heatmap()))


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_figures_are_saved_without_a_browser(found, table, tmp_path, suffix):
    pytest.importorskip("vl_convert")
    tested = covary.search(table[["x", "sum"]], permutations=19)
    for name, chart in {
        "heatmap": found.plot.heatmap(),
        "graph": found.plot.graph(),
        "projections": found[0].plot.projections(),
        "counts": found[0].plot.counts(),
        "null": tested[0].plot.null_distribution(),
    }.items():
        path = tmp_path / f"{name}.{suffix}"
        chart.save(path)
        head = path.read_bytes()[:200]
        assert head.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in head


def fields(node):
    """All names of fields in a specification."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "field" and isinstance(value, str):
                yield value
            elif key not in ("data", "datasets"):
                yield from fields(value)
    elif isinstance(node, list):
        for each in node:
            yield from fields(each)


def test_names_of_columns_are_never_interpreted(tmp_path):
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    data = {name: x + k * rng.normal(size=150) / 9 for k, name in enumerate(HOSTILE, start=1)}
    found = covary.search(pd.DataFrame(data), max_size=3, top=40)
    triple = next(s for s in found if len(s.columns) == 3)
    charts = [found.plot.heatmap(), found.plot.graph(), triple.plot.projections(rows=20)]
    for number, chart in enumerate(charts):
        ours = {"row", "column", "score", "x", "y", "x2", "y2", "xm", "ym", "xt", "yt", "angle"}
        ours |= {"explained", "percent", "text", "cut", *(f"c{at}" for at in range(12))}
        assert set(fields(specification(chart))) <= ours
        path = tmp_path / f"{number}.svg"
        chart.save(path)
        svg = path.read_text()
        assert "<script" not in svg
        assert "<img" not in svg
    assert "(no name)" in json.dumps(specification(charts[0]))


def test_a_notebook_shows_names_only_as_text():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    found = covary.search(pd.DataFrame({HOSTILE[0]: x, HOSTILE[1]: x**3}), permutations=19)
    shown = found._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<th>p</th><th>q</th><th>family-wise p</th>" in shown


def test_a_pickled_or_copied_result_leaves_its_table_behind(found):
    sent = pickle.loads(pickle.dumps(found))
    assert sent == found
    assert len(pickle.dumps(found)) < 5000
    for draw in (
        lambda: sent.plot.graph(),
        lambda: sent[0].plot.projections(),
        lambda: copy.copy(sent).plot.heatmap(),
    ):
        with pytest.raises(covary.CovaryError, match="has no table"):
            draw()


def test_without_altair_there_is_a_clear_error(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(covary.CovaryError, match=r"the package altair: pip install 'covary\["):
        found.plot.heatmap()
    with pytest.raises(covary.CovaryError, match="need the package altair"):
        found[0].plot.projections()


def test_an_invalid_number_of_rows_is_refused(found):
    with pytest.raises(covary.CovaryError, match="rows must be a whole number of at least 1"):
        found[0].plot.projections(rows=0)


def test_a_heat_map_shows_at_most_60_columns():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(100, 70))
    wide[:, 69] = wide[:, 0]
    found = covary.search(wide, max_size=2, top=1)
    chart = specification(found.plot.heatmap())
    labels = {cell["row"] for cell in rows_of(chart, chart)}
    assert len(labels) == 60
    assert {"x0", "x69"} <= labels


# ---------------------------------------------------------------- null distribution


def test_a_null_distribution_contains_every_permutation(table):
    found = covary.search(table[["x", "square", "noise"]], permutations=99)
    for subspace in found:
        chart = specification(subspace.plot.null_distribution())
        bars, line = (rows_of(chart, layer) for layer in chart["layer"])
        tested = covary.test(table, list(subspace.columns), permutations=99)
        assert line[0]["at"] == pytest.approx(tested.statistic, rel=1e-4)
        assert 19 <= sum(bar["count"] for bar in bars) <= 99
        assert f"p = {subspace.pvalue:.4f}" in chart["title"]["text"]


def test_an_untested_set_has_no_null_distribution(found):
    with pytest.raises(covary.CovaryError, match="was not tested: search with permutations=999"):
        found[0].plot.null_distribution()


# ---------------------------------------------------------------- figures without rows


def every_number(node):
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from every_number(each)
    elif isinstance(node, float):
        yield node


@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1.0, 1e9]), st.floats(-1e6, 1e6))
@settings(max_examples=20)
def test_counts_contain_no_value_of_the_table(seed, unit, offset):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200) * unit + offset * unit
    frame = pd.DataFrame({"x": x, "y": x**3 / unit**2 + rng.normal(size=200) * unit})
    chart = specification(covary.search(frame)[0].plot.counts())
    numbers = np.unique(list(every_number(chart)))
    for column in frame.to_numpy().T:
        distances = np.abs(numbers[:, None] - column[None]).min(axis=0)
        # Round numbers may be close to some values by chance, but not equal to them.
        assert np.count_nonzero(distances < np.ptp(column) * 1e-9) == 0


def test_counts_contain_every_row_once(table):
    chart = specification(covary.search(table[["x", "square"]])[0].plot.counts())
    cells = next(
        rows_of(chart, layer)
        for layer in chart["concat"][0]["layer"]
        if layer["mark"]["type"] == "rect"
    )
    assert sum(cell["rows"] for cell in cells) == 300
    for cell in cells:
        inside = table["x"].between(cell["x"], cell["x2"], inclusive="left")
        inside &= table["square"].between(cell["y"], cell["y2"], inclusive="left")
        assert inside.sum() == cell["rows"]


@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(1e-3, 1e6))
def test_bins_cover_a_column_with_at_most_23_bins(seed, size, width):
    values = np.random.default_rng(seed).normal(size=size) * width
    for column in (values, np.round(values)):
        bins = round_bins(Column("x", column))
        assert len(bins.ends) <= 23
        for code, value in zip(bins.codes.tolist(), column.tolist(), strict=True):
            low, high = bins.ends[code]
            assert low <= value <= high


def test_whole_numbers_are_in_the_middle_of_their_bins():
    bins = round_bins(Column("x", np.array([1.0, 2.0, 2.0, np.nan, 5.0])))
    assert bins.ends == [(k - 0.5, k + 0.5) for k in range(1, 6)]
    assert bins.codes.tolist() == [0, 1, 1, -1, 4]


@given(st.integers(0, 10**6), st.sampled_from(["s", "ms", "us", "ns"]), st.integers(0, 15))
def test_bins_of_dates_have_round_ends(seed, unit, magnitude):
    rng = np.random.default_rng(seed)
    start = np.datetime64("1999-03-04T05:06:07", unit)
    counts = rng.integers(0, min(10**magnitude, 2**40), 50)
    days = start + counts.astype(f"timedelta64[{unit}]")
    column = read_table(pd.DataFrame({"day": days})).columns[0]
    bins = round_bins(column)
    assert 1 <= len(bins.ends) <= 23
    for code, day in zip(bins.codes.tolist(), days, strict=True):
        low, high = (np.datetime64(end) for end in bins.ends[code])  # rounded to microseconds
        one = np.timedelta64(1, "us")
        assert low - one <= day.astype("datetime64[us]") <= high + one
    ends = {np.datetime64(end).astype("datetime64[s]") for pair in bins.ends for end in pair}
    if np.ptp(days) > np.timedelta64(7200, "s"):
        assert all(end.astype(int) % 300 == 0 for end in ends)  # multiples of five minutes
