"""The report: its content, that it loads nothing, and that nothing of the table is executed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest

import covary
from covary.plots.round_bins import round_bins
from covary.report import page
from covary.searching.options import SearchOptions
from covary.table import read_table
from test_figures import HOSTILE, rows_of

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200))
    return pd.DataFrame({"x": x, "square": x**2 + noise / 10, "noise": noise, "who": "someone"})


@pytest.fixture(scope="module")
def written(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, permutations=19)
    found.report(path, title="My <table>")
    return path.read_text(encoding="utf-8")


def without_scripts(text):
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def figures_of(text):
    return data_of(text)["figures"]


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))


def test_a_page_contains_findings_and_settings(written):
    shown = without_scripts(written)
    assert "<title>My &lt;table&gt;</title>" in shown
    assert re.search(r"x explains \d\d% of square<", shown)
    assert "Family-wise p is at most 0.0500 for these findings: the probability" in shown
    assert "200 rows, 3 columns used" in shown
    assert "who (a single level)" in shown
    assert "uds-chance (no parameters)" in shown
    assert "up to 19 permutations per set" in shown
    assert f"by covary {covary.__version__}" in shown
    assert shown.count('<tr data-columns="') == 4
    assert shown.count('class="card"') == 4


def test_a_page_loads_nothing(written):
    assert not re.search(r'(src|href)="(?!#)', without_scripts(written))
    assert "@import" not in written
    assert "url(" not in without_scripts(written)


def test_every_figure_has_its_place_on_the_page(written):
    wanted = set(re.findall(r'data-figure="(\w+)"', without_scripts(written)))
    figures = figures_of(written)
    of_sets = {f"{kind}{rank}" for kind in ("set", "null") for rank in range(1, 5)}
    assert wanted == set(figures) == {"heatmap", "graph", *of_sets}
    assert all(figure["description"] for figure in figures.values())


def test_names_and_titles_are_never_executed(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    data = {name: x + k * rng.normal(size=120) / 9 for k, name in enumerate(HOSTILE, start=1)}
    path = tmp_path / "out.html"
    covary.search(pd.DataFrame(data), max_size=2, top=5).report(path, title=HOSTILE[0])
    text = path.read_text(encoding="utf-8")
    shown = without_scripts(text)
    for tag in ("<script", "<img", "onerror=alert(1)>"):
        assert tag not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "{{7*7}}" in shown
    assert text.count("<script") == text.count("</script>") == 3
    assert any(HOSTILE[0] in json.dumps(figure) for figure in figures_of(text).values())


def test_figures_share_one_table_of_points(written, table):
    data = data_of(written)
    points = data["points"]
    assert len(points["row"]) == 200
    names = {"c0": "x", "c1": "square", "c2": "noise"}
    assert set(points) == {"row", *names}
    for field, name in names.items():
        own = table[name].to_numpy()[np.array(points["row"]) - 1]
        assert points[field] == pytest.approx(own, rel=1e-5)
    for rank in range(1, 5):
        meta = data["figures"][f"set{rank}"]["usermeta"]
        assert sorted(meta["rows"]) == list(range(200))
        assert "data" not in data["figures"][f"set{rank}"]


@pytest.mark.parametrize("changed", [{"complete": False}, {"tests": None}])
def test_an_interrupted_search_says_so(table, tmp_path, changed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, top=2, permutations=19)
    path = tmp_path / "out.html"
    dataclasses.replace(found, **changed).report(path)
    assert "The search was interrupted" in path.read_text(encoding="utf-8")
    tests = dataclasses.replace(found.tests, complete=False)
    dataclasses.replace(found, tests=tests).report(path)
    assert "The tests were interrupted" in path.read_text(encoding="utf-8")


def test_a_search_with_a_target_says_what_explains_it(table, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, target="square")
    path = tmp_path / "out.html"
    found.report(path)
    shown = without_scripts(path.read_text(encoding="utf-8"))
    assert f"x explains {found[0].score:.0%} of square" in shown
    for rank in range(1, len(found) + 1):
        panels = figures_of(path.read_text(encoding="utf-8"))[f"set{rank}"]["concat"]
        marks = [layer for layer in panels[-1]["layer"] if layer["mark"]["type"] == "circle"]
        assert marks[0]["encoding"]["y"]["field"] == "c1"  # square, the second column
    heat = figures_of(path.read_text(encoding="utf-8"))["heatmap"]["data"]["values"]
    scores = covary.matrix(table[["x", "square", "noise"]])
    assert len(heat) == 6
    for cell in heat:
        assert cell["score"] == round(scores.loc[cell["row"], cell["column"]], 4)


def test_a_page_shows_what_several_columns_add_and_which_are_given(tmp_path):
    rng = np.random.default_rng(0)
    known, a, b, noise = rng.normal(size=(4, 500))
    table = pd.DataFrame({"a": a, "b": b, "<known>": known, "sum": known + a + b + noise / 5})
    found = covary.search(table, target="sum", given=["<known>"])
    assert found[0].columns == ("a", "b", "sum")
    path = tmp_path / "out.html"
    found.report(path)
    text = path.read_text(encoding="utf-8")
    card = text[text.index('class="card" id="set1"') :]
    first = re.search(r'<table class="contributions">(.*?)</table>', card, re.DOTALL).group(1)
    shown = re.findall(r'<td class="names">(.*?)</td>.*?(\d+)%</td>.*?(\d+)%</td>', first)
    explanation = covary.explain(table, ["a", "b"], target="sum", given=["<known>"])
    step = explanation.steps[0]
    by_label = {
        "&lt;known&gt; (given)" if name == "<known>" else name: (
            f"{100 * alone:.0f}",
            f"{100 * adds:.0f}",
        )
        for name, alone, adds in zip(step.by, step.alone, step.adds, strict=True)
    }
    assert {label: shares for label, *shares in shown} == {k: list(v) for k, v in by_label.items()}
    assert [int(adds) for *_, adds in shown] == sorted((int(x[2]) for x in shown), reverse=True)
    panels = figures_of(text)["set1"]["concat"]
    assert len(panels) == 6  # all pairs of four columns


@pytest.mark.parametrize("measure", ["mac", "pearson"])
def test_measures_that_do_not_explain_have_a_page(table, tmp_path, measure):
    path = tmp_path / "out.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        covary.search(table, measure=measure).report(path)
    assert f"depend on each other ({measure} = " in path.read_text(encoding="utf-8")


def test_a_page_must_have_an_html_name(table, tmp_path, covary_command):
    found = covary.search(table[["x", "square"]])
    for name in ("out.pdf", "out.txt", "out.csv"):
        with pytest.raises(covary.CovaryError, match=r"a report is an HTML file.*ends in \.html"):
            found.report(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_findings_are_not_repeated(tmp_path):
    rng = np.random.default_rng(0)
    x, noise, more = rng.normal(size=(3, 500))
    frame = pd.DataFrame({"x": x, "copy": x, "sum": x + noise, "other": noise + more / 3})
    path = tmp_path / "out.html"
    covary.search(frame, max_size=3).report(path)
    page = without_scripts(path.read_text(encoding="utf-8"))
    sentences = re.findall(r'<a href="#set\d+">(.*? explains? \d+% of .*?)</a>', page)
    pairs = [re.sub(r" explains? \d+% of ", " -> ", each) for each in sentences]
    assert set(pairs) == {"x -> copy", "sum and x -> other"}, "no sentence about a variant"
    assert len(pairs) == 2


def test_a_finding_mentions_missing_cells_if_they_are_the_majority(tmp_path):
    rng = np.random.default_rng(0)
    asked = rng.random(600) < 0.3
    frame = pd.DataFrame(
        {
            "answer": np.where(asked, rng.normal(size=600), np.nan),
            "paid": np.where(asked, 5 + rng.random(600), rng.random(600)),
        }
    )
    path = tmp_path / "out.html"
    covary.search(frame, missing="level").report(path)
    n_missing = int(frame["answer"].isna().sum())
    sentence = f"answer explains .*% of paid, including {n_missing:,} rows in which answer is"
    assert re.search(sentence, path.read_text("utf-8"))
    frame["paid"] = np.where(asked, frame["answer"] ** 2, np.nan)  # missing in the same rows
    covary.search(frame, missing="level").report(path)
    findings = re.search(r'<h2 id="findings">(.*?)</section>', path.read_text("utf-8"), re.DOTALL)
    assert "rows in which" not in findings.group(1)


def test_progress_is_reported(table, tmp_path):
    calls = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, target="x")
    found.report(tmp_path / "out.html", on_progress=lambda *each: calls.append(each))
    assert calls[-1] == ("figures", len(found), len(found))
    assert ("pairs", 3, 3) in calls


# ---------------------------------------------------------------- without rows


def leaves(node):
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        return [leaf for each in node for leaf in leaves(each)]
    return [node]


def test_a_page_without_rows_contains_no_value(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    x[:40] = np.nan
    frame = pd.DataFrame(
        {
            "salary": np.exp(x) * 98765.4321,
            "bonus": np.round(np.exp(x + rng.normal(size=400)) * 1234.56789, 2),
            "hired": pd.Timestamp("1999-03-04 05:06:07")
            + pd.to_timedelta(rng.integers(0, 10**8, 400), unit="s"),
        }
    )
    frame["left"] = frame["hired"] + pd.to_timedelta(rng.integers(0, 10**6, 400), unit="s")
    path = tmp_path / "out.html"
    found = covary.search(frame, strategy="exhaustive", max_size=3, permutations=19)
    found.report(path, rows=False)
    text = path.read_text(encoding="utf-8")
    data = data_of(text)
    assert data["points"] == {}
    # Positions in the map may have the digits of a cell by chance.
    page = re.sub(r' (?:[xydr]|[xy][12]|c[xy]|width|height)="[^"]*"', "", without_scripts(text))
    values = leaves(data["figures"])
    numbers = np.unique([value for value in values if isinstance(value, int | float)])
    words = {value for value in values if isinstance(value, str)}
    for name in ("salary", "bonus"):
        cells = frame[name].dropna().to_numpy()
        assert not set(numbers.tolist()) & set(cells.tolist())
        for cell in cells:
            assert f"{cell:.5g}" not in page
    for name in ("hired", "left"):
        for cell in frame[name]:
            assert cell.isoformat() not in words
            assert str(cell) not in page
    found.report(path)
    assert data_of(path.read_text(encoding="utf-8"))["points"]["c0"]


def test_a_table_of_independent_columns_has_a_page(tmp_path):
    rng = np.random.default_rng(0)
    found = covary.search(rng.normal(size=(150, 3)), permutations=19)
    path = tmp_path / "out.html"
    found.report(path)
    assert "No significant finding" in path.read_text(encoding="utf-8")


def test_a_page_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "out.html"
    path.write_text("before")
    with pytest.raises(covary.CovaryError, match=r"cannot write .*nowhere"):
        page.write_page("text", tmp_path / "nowhere" / "out.html")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "")))
    with pytest.raises(covary.CovaryError, match=r"cannot write .*No space left"):
        page.write_page("text", path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out.html"]


def test_search_writes_a_report(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "out.html"
    code, out, _ = covary_command("search", tmp_path / "t.csv", "--report", path)
    assert code == 0
    assert f"report: {path}" in out.replace("\n", "")
    assert "explains" in path.read_text(encoding="utf-8")
    code, out, _ = covary_command("search", tmp_path / "t.csv", "--report", path, "--json")
    assert code == 0
    assert json.loads(out)["rows"] == 200


def test_the_command_line_excludes_rows(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "out.html"
    code, _, _ = covary_command("search", tmp_path / "t.csv", "--report", path, "--no-rows")
    assert code == 0
    assert data_of(path.read_text(encoding="utf-8"))["points"] == {}
    code, _, err = covary_command("search", tmp_path / "t.csv", "--no-rows")
    assert code == 2
    assert "--no-rows applies to the page: add --report FILE.html" in err


# ---------------------------------------------------------------- from a run file


@pytest.fixture
def run(covary_command, table, tmp_path):
    """A finished search: its table, its run file, and the page that it wrote."""
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--permutations", 19, "--run", tmp_path / "t.covary"]
    arguments += ["--report", tmp_path / "own.html"]
    assert covary_command("search", tmp_path / "t.csv", *arguments)[0] == 0
    return tmp_path


def without_times(page):
    """A page without the times of the search and of the report."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"<dt>(Searched|Written)</dt><dd>.*?</dd>", "", text)


def test_a_page_from_a_run_file_equals_that_of_the_search(covary_command, run):
    before = (run / "t.covary").read_bytes()
    code, out, _ = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 0
    assert "scored sets (uds-chance, beam, 200 rows)" in out
    assert f"report: {run / 'out.html'}" in out.replace("\n", "")
    assert without_times(run / "out.html") == without_times(run / "own.html")
    assert (run / "t.covary").read_bytes() == before
    assert sorted(os.listdir(run)) == ["out.html", "own.html", "t.covary", "t.csv"]


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "square"],
        ["--strategy", "4s"],
        ["--prune"],
        ["--sift", "--permutations", "9"],
        ["--columns", "noise,x"],
        ["--measure", "hics", "--seed", "3"],
        ["--measure", "uds-unregularized", "--set", "beta=10"],
    ],
)
def test_all_kinds_of_runs_have_a_page(covary_command, table, tmp_path, options):
    table.to_csv(tmp_path / "t.csv", index=False)
    kept = ["--run", tmp_path / "t.covary", "--report", tmp_path / "own.html"]
    assert covary_command("search", tmp_path / "t.csv", *options, *kept)[0] == 0
    code, _, _ = covary_command("report", tmp_path / "t.covary", "-o", tmp_path / "out.html")
    assert code == 0
    assert without_times(tmp_path / "out.html") == without_times(tmp_path / "own.html")


def test_a_moved_table_is_found_beside_the_run_file_or_given(covary_command, run):
    there = run / "elsewhere"
    there.mkdir()
    for name in ("t.csv", "t.covary"):
        (run / name).rename(there / name)
    assert covary_command("report", there / "t.covary", "-o", run / "out.html")[0] == 0
    assert without_times(run / "out.html") == without_times(run / "own.html")
    (there / "t.csv").rename(run / "renamed.csv")
    code, _, err = covary_command("report", there / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "contains scores but not the table" in err
    assert "--table FILE" in err
    named = ["--table", run / "renamed.csv", "--title", "Dependent columns in t.csv"]
    assert covary_command("report", there / "t.covary", "-o", run / "out.html", *named)[0] == 0
    assert without_times(run / "out.html") == without_times(run / "own.html")


def test_another_table_is_refused(covary_command, table, run):
    table.assign(x=0.5 - table["x"]).to_csv(run / "t.csv", index=False)
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "t.csv is not the table of" in err
    assert "its column 'x' holds other values; pass the right file with --table FILE" in err
    table.drop(columns="noise").to_csv(run / "t.csv", index=False)
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "there is no column 'noise'" in err
    assert not (run / "out.html").exists()


def test_a_run_of_a_table_in_memory_needs_a_file(covary_command, table, tmp_path):
    path = tmp_path / "t.covary"
    covary.search(table[["x", "square"]], run=path)
    code, _, err = covary_command("report", path)
    assert code == 1
    assert "the table was in memory: pass the file of the table with --table FILE" in err
    table.to_parquet(tmp_path / "t.parquet")
    page = ["-o", tmp_path / "out.html", "--table", tmp_path / "t.parquet"]
    assert covary_command("report", path, *page)[0] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such run file"),
        (b"", "there is no such run file"),
        (b"x,y\n1,2\n", "is not a run file of covary"),
        (b"SQLite format 3\0" + bytes(5000), "is not a run file of covary"),
    ],
)
def test_other_files_are_not_accepted_as_run_files(covary_command, tmp_path, content, message):
    path = tmp_path / "t.covary"
    if content is not None:
        path.write_bytes(content)
    code, _, err = covary_command("report", path, "-o", tmp_path / "out.html")
    assert code == 1
    assert message in err
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("measure", '"udz"', "no measure"),
        ("measure", "7", "does not describe a search"),
        ("measure_parameters", "[]", "does not describe a search"),
        ("strategy_parameters", '{"beam": "x"}', "beam must be"),
        ("target", '"nowhere"', "there is no column 'nowhere'"),
        ("tests", "[]", "does not describe the tests"),
        ("top", '"many"', "does not describe a search"),
        ("top", "-1", "does not describe a search"),
        ("left_out", '[[1], "x", {"a": 1}]', ""),
        ("versions", '{"covary": "9.9"}', "was written by covary 9.9"),
        ("started", '"yesterday"', ""),
        ("table", "[1]", "contains scores but not the table"),
    ],
)
def test_changed_run_files(covary_command, run, name, value, message):
    with closing(sqlite3.connect(run / "t.covary")) as connection:
        connection.execute("UPDATE run SET value = ? WHERE name = ?", (value, name))
        connection.commit()
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == (1 if message else 0)
    assert message in err.replace("\n", " ")


def test_the_page_of_a_killed_run_says_so(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.covary"
    covary_command("search", tmp_path / "t.csv", "--max-size", 3, "--run", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM candidates WHERE number >= 2")
        connection.execute("DELETE FROM subspaces")
        connection.commit()
    page = tmp_path / "out.html"
    code, out, _ = covary_command("report", path, "-o", page)
    assert code == 0
    assert "interrupted" in out
    text = page.read_text(encoding="utf-8")
    assert "The search was interrupted or is still running" in text
    assert without_scripts(text).count("<tr data-columns=") == 2
    assert len(figures_of(text)["heatmap"]["data"]["values"]) == 4  # two pairs, each twice


def test_a_run_without_a_single_score_has_a_page(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.covary"
    covary_command("search", tmp_path / "t.csv", "--run", path)
    with closing(sqlite3.connect(path)) as connection:
        for each in ("candidates", "subspaces"):
            connection.execute(f"DELETE FROM {each}")
        connection.commit()
    code, _, _ = covary_command("report", path, "-o", tmp_path / "out.html")
    assert code == 0
    assert "The search was interrupted" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_the_page_of_a_run_with_incomplete_tests_says_so(covary_command, run):
    with closing(sqlite3.connect(run / "t.covary")) as connection:
        connection.execute("DELETE FROM tasks")
        connection.execute("DELETE FROM run WHERE name = 'finished'")
        connection.commit()
    assert covary_command("report", run / "t.covary", "-o", run / "out.html")[0] == 0
    text = (run / "out.html").read_text(encoding="utf-8")
    assert "The tests were interrupted" in text
    assert "The tests are incomplete" in text
    assert "<dt>Correction</dt><dd>not yet computed</dd>" in text
    assert "null1" in figures_of(text)


def test_the_default_page_is_in_the_working_directory(covary_command, run, monkeypatch):
    monkeypatch.chdir(run)
    code, out, _ = covary_command("report", run / "t.covary")
    assert code == 0
    assert "report: t.html" in out
    assert (run / "t.html").exists()


# ---------------------------------------------------------------- kinds of tables


@pytest.mark.parametrize("unit", [1e300, 1e-300, 2.0**60])
@pytest.mark.parametrize("rows", [True, False])
def test_large_and_small_numbers_have_a_page(tmp_path, unit, rows):
    x = np.random.default_rng(0).normal(size=150)
    found = covary.search(pd.DataFrame({"a": x * unit, "b": x**2 * unit}))
    found.report(tmp_path / "out.html", rows=rows)
    figure = figures_of((tmp_path / "out.html").read_text(encoding="utf-8"))["set1"]
    assert figure["concat"][0]["title"]["text"] == ["polynomial of degree 2, R² = 1.000"]


def test_categories_keep_their_order(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    words = ["none", "low", "medium", "high"]
    codes = np.digitize(x, [-1, 0, 1])
    frame = pd.DataFrame({"x": x, "much": pd.Categorical.from_codes(codes, words, ordered=True)})
    for rows in (True, False):
        covary.search(frame).report(tmp_path / "out.html", rows=rows)
        figures = figures_of((tmp_path / "out.html").read_text(encoding="utf-8"))
        orders = [
            encoding["scale"]["domain"]
            for layer in figures["set1"]["concat"][0]["layer"]
            for encoding in layer["encoding"].values()
            if isinstance(encoding, dict) and encoding.get("type") == "nominal"
        ]
        assert orders
        # Horizontal levels start at the left, levels of stacked bars at the top.
        assert all(order in (words, words[::-1]) for order in orders)


def test_a_curve_has_the_range_of_its_points():
    x = np.arange(200, dtype=np.int64)
    frame = pd.DataFrame({"a": 2**60 + x * 1000, "b": 1.7e9 + x})
    for columns in (["a", "b"], ["b", "a"]):
        figure = covary.search(frame[columns])[0].plot.projections().to_dict()
        (curve,) = (
            rows_of(figure, layer)
            for layer in figure["concat"][0]["layer"]
            if layer["mark"]["type"] == "line"
        )
        for axis in ("x", "y"):
            titles = [layer["encoding"].get(axis, {}) for layer in figure["concat"][0]["layer"]]
            field = next(title["field"] for title in titles if "title" in title)
            points = [row[field] for row in rows_of(figure, figure)]
            along = [point[axis] for point in curve]
            tolerance = (max(points) - min(points)) / 100
            assert min(along) == pytest.approx(min(points), abs=tolerance)
            assert max(along) == pytest.approx(max(points), abs=tolerance)
            assert len(set(along)) > 90


def test_dates_without_a_time_are_local_midnight():
    days = pd.date_range("2020-01-01", periods=200).date
    frame = pd.DataFrame({"day": pd.array(days, dtype="object"), "n": np.arange(200.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = covary.search(pl.from_pandas(frame))[0].plot.projections().to_dict()
    cells = [row["c0"] for row in rows_of(figure, figure)]
    assert min(cells) == "2020-01-01T00:00:00"


def test_times_are_shown_in_their_own_time_zone():
    moments = pd.date_range("2020-01-01 12:00", periods=200, freq="D", tz="America/Los_Angeles")
    frame = pd.DataFrame({"when": moments, "n": np.arange(200.0)})
    figure = covary.search(frame)[0].plot.projections().to_dict()
    cells = [row["c0"] for row in rows_of(figure, figure)]
    assert min(cells) == "2020-01-01T12:00:00"


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_short_durations_have_bins(unit):
    waits = pd.Series(np.arange(700)).astype(f"timedelta64[{unit}]")
    (column,) = read_table(pd.DataFrame({"wait": waits})).columns
    assert 10 <= len(round_bins(column).ends) <= 23


def test_the_colours_of_negative_scores_start_at_zero():
    x = np.random.default_rng(0).normal(size=(100, 3))
    figure = covary.search(x, measure="xi").plot.heatmap().to_dict()
    low, high = figure["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert low == 0
    assert high > 0


# ---------------------------------------------------------------- more without rows


def test_a_page_without_rows_contains_no_text_and_no_whole_numbers(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 95, 300)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": age * 1000 + rng.integers(0, 30_000, 300),
            "id": 2**60 + rng.permutation(300) * 1_000_003,
            "phone": [*map(str, range(299)), "Dr. Meier"],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "out.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(tmp_path / "t.csv", max_size=3, strategy="exhaustive")
    found.report(path, rows=False)
    text = path.read_text(encoding="utf-8")
    assert "Dr. Meier" not in text
    assert "phone (text)" in text
    values = leaves(data_of(text)["figures"])
    numbers = {value for value in values if isinstance(value, int | float)}
    assert not numbers & set(frame["income"].tolist())
    assert not numbers & {float(each) for each in frame["id"].tolist()}
    for cuts in re.findall(r"best cuts? at ([^<;]*)", text):
        for cut in cuts.split(", "):
            assert cut == "..." or not float(cut).is_integer()


# ---------------------------------------------------------------- writing files


def test_a_page_does_not_overwrite_its_sources(covary_command, run, monkeypatch):
    monkeypatch.chdir(run)
    before = {name: (run / name).read_bytes() for name in ("t.covary", "t.csv")}
    os.symlink(run / "t.covary", run / "link.html")
    os.rename(run / "own.html", run / "page.html")
    attempts = [
        ["report", "t.covary", "-o", "t.covary"],
        ["report", "t.covary", "-o", "t.csv"],
        ["report", "t.covary", "-o", "link.html"],
        ["search", "t.csv", "--report", "t.csv"],
        ["search", "t.csv", "--run", "t.covary", "--resume", "--report", "t.covary"],
    ]
    for arguments in attempts:
        code, _, err = covary_command(*arguments)
        assert code == 1
        assert "the report would overwrite" in err or "ends in .html" in err
    assert {name: (run / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("page", ["nowhere/out.html", "."])
def test_a_page_that_cannot_be_written_is_refused_before_the_search(
    covary_command, table, tmp_path, monkeypatch, page
):
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    monkeypatch.setattr(
        "covary.searching.run.Search.run", lambda *_: pytest.fail("searched first")
    )
    code, _, err = covary_command("search", "t.csv", "--report", page)
    assert code == 1
    assert "cannot write" in err


def test_an_interrupt_during_writing_loses_only_the_page(
    covary_command, table, tmp_path, monkeypatch
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("covary.results.search.SearchResult.report", interrupted)
    table.to_csv(tmp_path / "t.csv", index=False)
    kept = ["--run", tmp_path / "t.covary", "--report", tmp_path / "out.html"]
    code, out, err = covary_command("search", tmp_path / "t.csv", *kept)
    assert code == 130
    assert "x, square" in out
    assert "interrupted before the page was written; `covary report" in err


def test_a_page_can_be_written_to_a_link_or_a_device(table, tmp_path):
    found = covary.search(table[["x", "square"]])
    (tmp_path / "real.html").write_text("before")
    os.symlink(tmp_path / "real.html", tmp_path / "link.html")
    found.report(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert "explains" in (tmp_path / "real.html").read_text(encoding="utf-8")
    found.report("/dev/null")
    assert not os.path.isfile("/dev/null")
    with pytest.raises(covary.CovaryError, match=r"cannot write /dev/full: No space left"):
        found.report("/dev/full")


KILLED = """
import os, sys, covary, numpy as np, signal
def stop(stage, done, total):
    if stage == "sets of 3":
        os.kill(os.getpid(), signal.SIGKILL)
covary.search(sys.argv[1], max_size=3, run=sys.argv[2], on_progress=stop)
"""


@pytest.mark.parametrize("writable", [True, False])
def test_a_report_does_not_change_a_killed_run(covary_command, tmp_path, writable):
    rng = np.random.default_rng(0)
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "t.covary"
    np.savetxt(
        folder / "t.csv",
        rng.normal(size=(300, 12)),
        delimiter=",",
        header="a,b,c,d,e,f,g,h,i,j,k,l",
        comments="",
    )
    subprocess.run([sys.executable, "-c", KILLED, folder / "t.csv", path], check=False)
    before = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    assert "t.covary-wal" in before
    if not writable:
        folder.chmod(0o500)
    code, out, _ = covary_command("report", path, "-o", tmp_path / "out.html")
    folder.chmod(0o700)
    assert code == 0
    assert "interrupted" in out
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "The search was interrupted or is still running" in text
    assert len(figures_of(text)["heatmap"]["data"]["values"]) == 12 * 11
    left = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    same = set(before) - {"t.covary-shm"}  # SQLite keeps its readers there
    assert {name: left[name] for name in same} == {name: before[name] for name in same}


def test_the_page_of_a_run_killed_while_sifting_says_so(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.covary"
    covary_command("search", tmp_path / "t.csv", "--sift", "--run", path)
    with closing(sqlite3.connect(path)) as connection:
        for each in ("increments", "subspaces"):
            connection.execute(f"DELETE FROM {each}")
        connection.execute("DELETE FROM run WHERE name = 'finished'")
        connection.commit()
    assert covary_command("report", path, "-o", tmp_path / "out.html")[0] == 0
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "The search was interrupted or is still running" in text
    assert re.search(r"<dt>Searched</dt><dd>[-0-9]+ [:0-9]+ UTC</dd>", text)


def test_columns_that_were_not_searched_are_not_checked(covary_command, table, tmp_path):
    table.assign(more=np.inf).to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.covary"
    columns = ["--columns", "x,square"]
    assert covary_command("search", tmp_path / "t.csv", *columns, "--run", path)[0] == 0
    assert covary_command("report", path, "-o", tmp_path / "out.html")[0] == 0


def test_a_title_may_contain_any_characters(table, tmp_path):
    covary.search(table[["x", "square"]]).report(tmp_path / "out.html", title="t\udcff\x1b")
    assert "<title>t\\udcff\\x1b</title>" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_options_that_differ_from_their_default_are_settings(tmp_path):
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(120, 3))
    cells[:, 1] += cells[:, 0]
    path = tmp_path / "page.html"
    covary.search(cells, max_size=3, prune=True).report(path)
    text = path.read_text(encoding="utf-8")
    assert "Option prune" in text
    assert SearchOptions.allowed()["prune"].help in text
    assert "Option sift" not in text
