"""Figures of what a search found: what is in them, and that no name can steer them."""

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
from covary.prepare import Prepared
from covary.report.cells import binned
from covary.report.fits import best_fit
from covary.report.order import clustered
from covary.report.plots import SetFigures
from covary.report.searched import Searched
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


def drawn(chart):
    """The specification, which Altair checks against the schema of Vega-Lite."""
    return chart.to_dict()


# ---------------------------------------------------------------- curves


@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3))
def test_a_polynomial_is_found_with_its_degree(degree, seed, offset, width):
    rng = np.random.default_rng(seed)
    at = rng.uniform(-1, 1, 200)
    y = np.polynomial.chebyshev.chebval(at, [0] * degree + [1])
    fit = best_fit(offset + width * at, y)
    # What rises throughout is fitted by a line as well as by anything that bends.
    assert fit.kind == ("straight line" if degree == 1 else f"polynomial of degree {degree}")
    assert fit.r2 == pytest.approx(1.0, abs=1e-6)
    assert fit.x[0] == (offset + width * at).min()


def test_a_step_is_a_monotone_curve():
    x = np.random.default_rng(0).uniform(size=400)
    fit = best_fit(x, np.floor(5 * x))
    assert fit.kind == "monotone curve"
    assert fit.r2 == pytest.approx(1.0)
    falling = best_fit(x, -np.floor(5 * x))
    assert falling.kind == "monotone curve"


def test_r2_is_the_share_of_variance_that_the_curve_leaves_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = 2 * x + rng.normal(size=2000)
    fit = best_fit(x, y)
    assert fit.kind == "straight line"
    assert fit.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)


def test_nothing_is_fitted_where_there_is_nothing_to_fit():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    assert best_fit(x, np.ones(300)) is None
    assert best_fit(np.round(x > 0), x) is None
    assert best_fit(x[:10], x[:10]) is None
    assert best_fit(np.where(x > -9, np.nan, x), x) is None
    fits = [best_fit(rng.normal(size=300), rng.normal(size=300)) for _ in range(40)]
    assert sum(fit is not None and fit.r2 > 0.05 for fit in fits) == 0


def test_rows_that_lack_a_value_are_left_out_of_a_fit():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    y = x**2
    gaps = x.copy()
    gaps[:50] = np.nan
    fit, without = best_fit(gaps, y), best_fit(x[50:], y[50:])
    assert (fit.kind, fit.r2) == (without.kind, without.r2)


# ---------------------------------------------------------------- order


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_an_order_holds_every_column_once(n, seed):
    scores = np.random.default_rng(seed).random((n, n))
    assert sorted(clustered(scores + scores.T)) == list(range(n))


def test_columns_that_belong_together_stand_together():
    groups = np.array([0, 1, 0, 2, 1, 0, 2])
    scores = (groups[:, None] == groups[None]) * 0.9
    order = groups[clustered(scores)]
    assert sum(a != b for a, b in pairwise(order)) == 2


def test_an_order_does_not_depend_on_how_the_columns_come():
    rng = np.random.default_rng(0)
    scores = rng.random((5, 5))
    scores += scores.T
    neighbours = set()
    for order in permutations(range(5)):
        found = [order[at] for at in clustered(scores[np.ix_(order, order)])]
        neighbours.add(frozenset(frozenset(p) for p in pairwise(found)))
    assert len(neighbours) == 1


# ---------------------------------------------------------------- charts


def rows_of(chart, part):
    """The data of a part of a figure: its own, or what it inherits from the whole."""
    data = part.get("data", chart.get("data"))
    return data["values"] if "values" in data else chart["datasets"][data["name"]]


def test_a_heat_map_has_every_pair_twice(found, table):
    chart = drawn(found.plot.heatmap())
    cells = rows_of(chart, chart)
    names = list(table.columns)
    assert len(cells) == len(names) * (len(names) - 1)
    scores = covary.matrix(table)
    for cell in cells:
        assert cell["score"] == round(scores.loc[cell["row"], cell["column"]], 4)
    assert "uds-chance of all pairs" in json.dumps(chart)


def relations(chart):
    """The lines of a graph: from where to where in words, and how much is explained."""
    return rows_of(chart, chart["layer"][0])


def test_a_graph_connects_columns_by_their_strongest_pairs(found, table):
    chart = drawn(found.plot.graph())
    lines = [line for line in relations(chart) if not line["together"]]
    told = [line["words"] for line in lines]
    scores = covary.matrix(table)
    for line in lines:
        one, other = line["words"].partition(":")[0].split(" -> ")
        assert line["explained"] == pytest.approx(scores.loc[one, other], abs=1e-4)
        order = covary.explain(table, [one, other]).order
        assert order == (one, other)  # from what explains to what is explained
    # A tree that is as strong as any: what is left out connects nothing that is not connected.
    assert len(told) == 3
    assert any(words.startswith("x -> square") for words in told)
    points = rows_of(chart, chart["layer"][3])
    assert {point["column"] for point in points} == {"x", "square", "sum", "noise"}
    places = [(point["x"], point["y"]) for point in points]
    assert len(set(places)) == len(places)


def test_a_graph_shows_what_takes_two_columns_to_explain():
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 1000))
    frame = pd.DataFrame({"a": a, "b": b, "product": a * b, "noise": noise})
    chart = drawn(covary.search(frame, strategy="exhaustive", max_size=3).plot.graph())
    together = [line for line in relations(chart) if line["together"]]
    step = covary.explain(frame, ["a", "b", "product"]).steps[-1]
    assert len(together) == 3  # two to the square, one from it
    assert [line["arrow"] for line in together] == [False, False, True]
    assert {line["explained"] for line in together} == {round(step.explained, 4)}
    (square,) = rows_of(chart, chart["layer"][2])
    assert square["words"] == f"{' and '.join(step.by)} -> {step.target}: {step.explained:.4f}"


def test_projections_have_one_panel_per_pair_and_one_brush(found):
    triple = next(s for s in found if len(s.columns) == 3)
    chart = drawn(triple.plot.projections(rows=50))
    assert len(chart["concat"]) == 3
    brush, mark = (param["name"] for param in chart["params"])
    assert brush.startswith("brush")
    assert mark == "mark"
    assert len(chart["params"][0]["views"]) == 3
    assert len(rows_of(chart, chart)) == 50


def test_projections_of_different_sets_stay_apart_in_one_chart(found):
    """Vega-Lite draws what has the same name with the same rows."""
    charts = [drawn(each.plot.projections(rows=50)) for each in found[:3]]
    names = [
        {layer["name"] for panel in chart["concat"] for layer in panel["layer"] if "name" in layer}
        | {chart["params"][0]["name"]}
        for chart in charts
    ]
    assert len(set.union(*names)) == sum(map(len, names))


def test_the_third_column_is_the_colour_of_the_points():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    found = covary.search(
        pd.DataFrame({"a": a, "b": b, "product": a * b}), strategy="exhaustive", max_size=3
    )
    triple = next(s for s in found if len(s.columns) == 3)
    step = covary.explain(pd.DataFrame({"a": a, "b": b, "product": a * b})).steps[-1]
    colours = {}
    for panel in drawn(triple.plot.projections())["concat"]:
        encoding = points_of(panel)["encoding"]
        pair = (encoding["x"]["title"], encoding["y"]["title"])
        colours[pair] = encoding["color"]["condition"].get("title")
    one, other = step.by
    assert colours[one, step.target] == f"colour: {other}"
    assert colours[other, step.target] == f"colour: {one}"
    assert list(colours.values()).count(None) == 1


def points_of(panel):
    return next(layer for layer in panel["layer"] if layer["mark"]["type"] == "circle")


def test_the_explained_column_is_drawn_upwards_and_its_explanation_is_cut(table):
    pair = covary.search(table[["square", "x"]])[0]
    chart = drawn(pair.plot.projections())
    panel = chart["concat"][0]
    cuts, points = panel["layer"][0], panel["layer"][1]
    assert points["encoding"]["x"]["title"] == "x"
    assert points["encoding"]["y"]["title"] == "square"
    assert panel["title"]["text"].startswith("polynomial of degree 2, R² = 0.99")
    explained = covary.explain(table, ["square", "x"]).steps[0]
    assert [cut["cut"] for cut in rows_of(chart, cuts)] == list(explained.cuts["x"])


def test_the_same_seed_draws_the_same_rows(found):
    first, again, other = (found[0].plot.projections(rows=20, seed=s) for s in (1, 1, 2))
    assert drawn(first) == drawn(again)
    assert drawn(first) != drawn(other)


def test_rows_with_a_gap_are_ticks_at_the_edge(table):
    holes = table[["x", "square"]].copy()
    holes.loc[::3, "x"] = np.nan
    chart = drawn(covary.search(holes)[0].plot.projections())
    rows = rows_of(chart, chart)
    assert len(rows) == 300
    assert sum(row["c0"] is None for row in rows) == 100
    layers = chart["concat"][0]["layer"]
    ticks = [layer for layer in layers if layer["mark"]["type"] == "tick"]
    assert len(ticks) == 1  # square is never missing
    test = ticks[0]["transform"][0]["filter"]
    assert test == "!isValid(datum.c0) && isValid(datum.c1)"


@given(st.integers(0, 300), st.integers(1, 80))
def test_at_most_half_of_what_is_drawn_lacks_a_cell(gaps, most):
    table = np.random.default_rng(gaps).normal(size=(300, 2))
    table[:gaps, 0] = np.nan
    prepared = Prepared(read_table(table))
    drawn = SetFigures(Searched(prepared, covary.UDSChance(), ("x0", "x1")), [0, 1]).rows(most, 0)
    assert len(set(drawn.tolist())) == drawn.size == most
    lacking = int((drawn < gaps).sum())
    assert lacking <= max((most + 1) // 2, most - (300 - gaps))
    assert lacking >= min(gaps, int(most * gaps / 300 / 2))


def test_dates_and_categories_have_axes_of_their_own():
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
        for panel in drawn(triple.plot.projections())["concat"]
        for layer in panel.get("layer", [panel])
        for axis in ("x", "y")
        if axis in layer["encoding"] and "title" in layer["encoding"][axis]
    ]
    types = {encoding["title"]: encoding["type"] for encoding in encodings}
    assert types == {"day": "temporal", "size": "ordinal", "y": "quantitative"}


def test_figures_of_measures_that_explain_nothing(table):
    best = covary.search(table[["x", "square", "sum"]], measure="hics", max_size=3)
    triple = next(s for s in best if len(s.columns) == 3)
    assert len(drawn(triple.plot.projections())["concat"]) == 3
    assert "hics" in json.dumps(drawn(best.plot.heatmap()))


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
    """Every name of a field in a specification."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "field" and isinstance(value, str):
                yield value
            elif key not in ("data", "datasets"):
                yield from fields(value)
    elif isinstance(node, list):
        for each in node:
            yield from fields(each)


def test_names_of_columns_are_text_and_nothing_else(tmp_path):
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    data = {name: x + k * rng.normal(size=150) / 9 for k, name in enumerate(HOSTILE, start=1)}
    found = covary.search(pd.DataFrame(data), max_size=3, top=40)
    triple = next(s for s in found if len(s.columns) == 3)
    charts = [found.plot.heatmap(), found.plot.graph(), triple.plot.projections(rows=20)]
    for number, chart in enumerate(charts):
        ours = {"row", "column", "score", "x", "y", "x2", "y2", "xm", "ym", "xt", "yt", "angle"}
        ours |= {"explained", "percent", "words", "cut", *(f"c{at}" for at in range(12))}
        assert set(fields(drawn(chart))) <= ours
        path = tmp_path / f"{number}.svg"
        chart.save(path)
        svg = path.read_text()
        assert "<script" not in svg
        assert "<img" not in svg
    assert "(no name)" in json.dumps(drawn(charts[0]))


def test_a_result_in_a_notebook_is_a_table_of_text():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    found = covary.search(pd.DataFrame({HOSTILE[0]: x, HOSTILE[1]: x**3}), permutations=19)
    shown = found._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<th>p</th><th>q</th><th>family</th>" in shown


def test_a_result_is_small_wherever_it_goes(found):
    sent = pickle.loads(pickle.dumps(found))
    assert sent == found
    assert len(pickle.dumps(found)) < 5000
    for left_behind in (
        lambda: sent.plot.graph(),
        lambda: sent[0].plot.projections(),
        lambda: copy.copy(sent).plot.heatmap(),
    ):
        with pytest.raises(covary.CovaryError, match="has left its table behind"):
            left_behind()


def test_without_altair_there_is_one_clear_line(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(covary.CovaryError, match=r"the package altair: pip install 'covary\["):
        found.plot.heatmap()
    with pytest.raises(covary.CovaryError, match="need the package altair"):
        found[0].plot.projections()


def test_wrong_numbers_of_rows_are_refused(found):
    with pytest.raises(covary.CovaryError, match="rows must be a whole number from 1"):
        found[0].plot.projections(rows=0)


def test_many_columns_are_too_many_to_show():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(100, 70))
    wide[:, 69] = wide[:, 0]
    found = covary.search(wide, max_size=2, top=1)
    chart = drawn(found.plot.heatmap())
    labels = {cell["row"] for cell in rows_of(chart, chart)}
    assert len(labels) == 60
    assert {"x0", "x69"} <= labels


# ---------------------------------------------------------------- chance


def test_a_null_distribution_counts_every_permutation(table):
    found = covary.search(table[["x", "square", "noise"]], permutations=99)
    for subspace in found:
        chart = drawn(subspace.plot.null_distribution())
        bars, line = (rows_of(chart, layer) for layer in chart["layer"])
        tested = covary.test(table, list(subspace.columns), permutations=99)
        assert line[0]["at"] == pytest.approx(tested.statistic, rel=1e-4)
        assert 19 <= sum(bar["count"] for bar in bars) <= 99
        assert f"p = {subspace.pvalue:.4f}" in chart["title"]["text"]


def test_what_was_not_tested_has_no_null_distribution(found):
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
def test_counts_tell_no_cell_of_the_table(seed, unit, offset):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200) * unit + offset * unit
    frame = pd.DataFrame({"x": x, "y": x**3 / unit**2 + rng.normal(size=200) * unit})
    chart = drawn(covary.search(frame)[0].plot.counts())
    told = np.unique(list(every_number(chart)))
    for column in frame.to_numpy().T:
        reach = np.ptp(column)
        near = np.abs(told[:, None] - column[None]).min(axis=0)
        # Round numbers come near some cells, but not nearer than they would to any other values.
        assert np.count_nonzero(near < reach * 1e-9) == 0


def test_counts_hold_every_row_once(table):
    chart = drawn(covary.search(table[["x", "square"]])[0].plot.counts())
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
def test_bins_cover_a_column_and_are_few(seed, size, width):
    values = np.random.default_rng(seed).normal(size=size) * width
    for kind in (values, np.round(values)):
        bins = binned(Column("x", kind))
        assert len(bins.ends) <= 23
        for code, value in zip(bins.codes.tolist(), kind.tolist(), strict=True):
            low, high = bins.ends[code]
            assert low <= value <= high


def test_whole_numbers_lie_in_the_middle_of_their_bins():
    bins = binned(Column("x", np.array([1.0, 2.0, 2.0, np.nan, 5.0])))
    assert bins.ends == [(k - 0.5, k + 0.5) for k in range(1, 6)]
    assert bins.codes.tolist() == [0, 1, 1, -1, 4]


@given(st.integers(0, 10**6), st.sampled_from(["s", "ms", "us", "ns"]), st.integers(0, 15))
def test_dates_lie_between_round_ones(seed, unit, magnitude):
    rng = np.random.default_rng(seed)
    reach = 10**magnitude
    start = np.datetime64("1999-03-04T05:06:07", unit)
    counts = rng.integers(0, min(reach, 2**40), 50)
    days = start + counts.astype(f"timedelta64[{unit}]")
    (column,) = read_table(pd.DataFrame({"day": days})).columns
    bins = binned(column)
    assert 1 <= len(bins.ends) <= 23
    for code, day in zip(bins.codes.tolist(), days, strict=True):
        low, high = (np.datetime64(end) for end in bins.ends[code])
        assert low <= day.astype("datetime64[us]") <= high
    ends = {np.datetime64(end).astype("datetime64[s]") for pair in bins.ends for end in pair}
    if np.ptp(days) > np.timedelta64(7200, "s"):
        assert all(end.astype(int) % 300 == 0 for end in ends)  # whole five minutes at least
