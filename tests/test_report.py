"""The report: one page that says what was found, opens offline, and runs nothing of the table."""

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
from covary.report import page
from covary.report.cells import binned
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


def test_a_page_says_what_was_found_and_how(written):
    shown = without_scripts(written)
    assert "<title>My &lt;table&gt;</title>" in shown
    assert re.search(r"x explains \d\d% of square<", shown)
    assert "a search like this one finds as much with p = 0.0500." in shown
    assert "200 rows, 3 columns used" in shown
    assert "who (text)" in shown
    assert "uds-chance (max_given=2)" in shown
    assert "up to 19 permutations a set" in shown
    assert f"by covary {covary.__version__}" in shown
    assert shown.count('<tr data-columns="') == 4
    assert shown.count('class="card"') == 4


def test_a_page_loads_nothing(written):
    assert not re.search(r'(src|href)="(?!#)', without_scripts(written))
    assert "@import" not in written
    assert "url(" not in without_scripts(written)


def test_every_figure_on_the_page_is_there(written):
    wanted = set(re.findall(r'data-figure="(\w+)"', without_scripts(written)))
    figures = figures_of(written)
    of_sets = {f"{kind}{rank}" for kind in ("set", "null") for rank in range(1, 5)}
    assert wanted == set(figures) == {"heatmap", "graph", *of_sets}
    assert all(figure["description"] for figure in figures.values())


def test_names_and_titles_run_nothing(tmp_path):
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


def test_points_stand_once_for_all_figures(written, table):
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
    assert "Testing was interrupted" in path.read_text(encoding="utf-8")


def test_a_search_toward_a_target_says_what_explains_it(table, tmp_path):
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


@pytest.mark.parametrize("measure", ["mac", "pearson"])
def test_measures_that_explain_nothing_have_a_page(table, tmp_path, measure):
    path = tmp_path / "out.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        covary.search(table, measure=measure).report(path)
    assert f"vary together ({measure} = " in path.read_text(encoding="utf-8")


def test_a_page_is_called_html(table, tmp_path, covary_command):
    found = covary.search(table[["x", "square"]])
    for name in ("out.pdf", "out.txt", "out.csv"):
        with pytest.raises(covary.CovaryError, match=r"a page is HTML.*name it FILE\.html"):
            found.report(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_findings_do_not_repeat_themselves(tmp_path):
    rng = np.random.default_rng(0)
    x, noise, more = rng.normal(size=(3, 500))
    frame = pd.DataFrame({"x": x, "copy": x, "sum": x + noise, "other": noise + more / 3})
    path = tmp_path / "out.html"
    covary.search(frame, max_size=3).report(path)
    page = without_scripts(path.read_text(encoding="utf-8"))
    told = re.findall(r'<a href="#set\d+">(.*? explains? \d+% of .*?)</a>', page)
    pairs = [re.sub(r" explains? \d+% of ", " -> ", each) for each in told]
    assert len(pairs) == len(set(pairs)) == 5


def test_a_finding_says_that_missing_cells_make_it(tmp_path):
    rng = np.random.default_rng(0)
    asked = rng.random(600) < 0.3
    frame = pd.DataFrame(
        {
            "answer": np.where(asked, rng.normal(size=600), np.nan),
            "paid": np.where(asked, 5 + rng.random(600), rng.random(600)),
        }
    )
    path = tmp_path / "out.html"
    covary.search(frame).report(path)
    n_missing = int(frame["answer"].isna().sum())
    told = f"answer explains .*% of paid, counting {n_missing:,} rows in which answer is missing"
    assert re.search(told, path.read_text("utf-8"))
    frame["paid"] = np.where(asked, frame["answer"] ** 2, np.nan)  # missing together: no news
    covary.search(frame).report(path)
    assert "rows in which" not in path.read_text("utf-8")


def test_progress_is_told(table, tmp_path):
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, target="x")
    found.report(tmp_path / "out.html", on_progress=lambda *each: told.append(each))
    assert told[-1] == ("figures", len(found), len(found))
    assert ("pairs", 3, 3) in told


# ---------------------------------------------------------------- without rows


def texts(node):
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        return [text for each in node for text in texts(each)]
    return [node]


def test_without_rows_no_cell_is_on_the_page(tmp_path):
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
    page = without_scripts(text)
    told = texts(data["figures"])
    numbers = np.unique([n for n in told if isinstance(n, int | float)])
    words = {word for word in told if isinstance(word, str)}
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


def test_a_table_with_nothing_to_find_is_a_page(tmp_path):
    rng = np.random.default_rng(0)
    found = covary.search(rng.normal(size=(150, 3)), permutations=19)
    path = tmp_path / "out.html"
    found.report(path)
    assert "Nothing was found that chance alone" in path.read_text(encoding="utf-8")


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "out.html"
    path.write_text("before")
    with pytest.raises(covary.CovaryError, match=r"cannot write .*nowhere"):
        page.write("text", tmp_path / "nowhere" / "out.html")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "")))
    with pytest.raises(covary.CovaryError, match=r"cannot write .*No space left"):
        page.write("text", path)
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


def test_rows_stay_out_of_a_page_from_the_command_line(covary_command, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "out.html"
    code, _, _ = covary_command("search", tmp_path / "t.csv", "--report", path, "--no-rows")
    assert code == 0
    assert data_of(path.read_text(encoding="utf-8"))["points"] == {}
    code, _, err = covary_command("search", tmp_path / "t.csv", "--no-rows")
    assert code == 2
    assert "--no-rows is about the page: add --report FILE.html" in err


# ---------------------------------------------------------------- from a run file


@pytest.fixture
def run(covary_command, table, tmp_path):
    """A finished search: its table, its run file, and the page it wrote itself."""
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--permutations", 19, "--run", tmp_path / "t.covary"]
    arguments += ["--report", tmp_path / "own.html"]
    assert covary_command("search", tmp_path / "t.csv", *arguments)[0] == 0
    return tmp_path


def told(page):
    """What is on a page, but for when it was searched and written."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"<dt>(Searched|Written)</dt><dd>.*?</dd>", "", text)


def test_a_page_from_a_run_file_is_the_one_of_the_search(covary_command, run):
    before = (run / "t.covary").read_bytes()
    code, out, _ = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 0
    assert "scored sets (uds-chance, beam, 200 rows)" in out
    assert f"report: {run / 'out.html'}" in out.replace("\n", "")
    assert told(run / "out.html") == told(run / "own.html")
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
    assert told(tmp_path / "out.html") == told(tmp_path / "own.html")


def test_a_table_that_has_moved_is_found_beside_the_run_file_or_named(covary_command, run):
    there = run / "elsewhere"
    there.mkdir()
    for name in ("t.csv", "t.covary"):
        (run / name).rename(there / name)
    assert covary_command("report", there / "t.covary", "-o", run / "out.html")[0] == 0
    assert told(run / "out.html") == told(run / "own.html")
    (there / "t.csv").rename(run / "renamed.csv")
    code, _, err = covary_command("report", there / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "holds scores, not the table" in err
    assert "--table FILE" in err
    named = ["--table", run / "renamed.csv", "--title", "What varies together in t.csv"]
    assert covary_command("report", there / "t.covary", "-o", run / "out.html", *named)[0] == 0
    assert told(run / "out.html") == told(run / "own.html")


def test_another_table_is_refused(covary_command, table, run):
    table.assign(x=0.5 - table["x"]).to_csv(run / "t.csv", index=False)
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "t.csv is not what" in err
    assert "its column 'x' holds other values; say which file is: --table FILE" in err
    table.drop(columns="noise").to_csv(run / "t.csv", index=False)
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == 1
    assert "there is no column 'noise'" in err
    assert not (run / "out.html").exists()


def test_a_run_of_a_table_in_memory_asks_for_the_file(covary_command, table, tmp_path):
    path = tmp_path / "t.covary"
    covary.search(table[["x", "square"]], run=path)
    code, _, err = covary_command("report", path)
    assert code == 1
    assert "it was a table in memory; say which file has it: --table FILE" in err
    table.to_parquet(tmp_path / "t.parquet")
    page = ["-o", tmp_path / "out.html", "--table", tmp_path / "t.parquet"]
    assert covary_command("report", path, *page)[0] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no run file of that name"),
        (b"", "there is no run file of that name"),
        (b"x,y\n1,2\n", "is not a run file of covary"),
        (b"SQLite format 3\0" + bytes(5000), "is not a run file of covary"),
    ],
)
def test_what_is_no_run_file_is_refused(covary_command, tmp_path, content, message):
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
        ("measure", "7", "does not say what was searched"),
        ("measure_parameters", "[]", "does not say what was searched"),
        ("strategy_parameters", '{"beam": "x"}', "beam must be"),
        ("target", '"nowhere"', "there is no column 'nowhere'"),
        ("tests", "[]", "does not say what was tested"),
        ("top", '"many"', "does not say what was searched"),
        ("top", "-1", "top must be"),
        ("left_out", '[[1], "x", {"a": 1}]', ""),
        ("versions", '{"covary": "9.9"}', "was written by covary 9.9"),
        ("started", '"yesterday"', ""),
        ("table", "[1]", "holds scores, not the table"),
    ],
)
def test_runs_that_somebody_changed(covary_command, run, name, value, message):
    with closing(sqlite3.connect(run / "t.covary")) as connection:
        connection.execute("UPDATE run SET value = ? WHERE name = ?", (value, name))
        connection.commit()
    code, _, err = covary_command("report", run / "t.covary", "-o", run / "out.html")
    assert code == (1 if message else 0)
    assert message in err.replace("\n", " ")


def test_a_run_that_was_killed_half_way_has_a_page_that_says_so(covary_command, table, tmp_path):
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
    assert "The search was interrupted, or is still under way" in text
    assert without_scripts(text).count("<tr data-columns=") == 2
    assert len(figures_of(text)["heatmap"]["data"]["values"]) == 4  # two pairs, both ways


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


def test_a_run_whose_tests_were_killed_has_a_page_that_says_so(covary_command, run):
    with closing(sqlite3.connect(run / "t.covary")) as connection:
        connection.execute("DELETE FROM shuffled WHERE number > 3")
        connection.execute("DELETE FROM run WHERE name = 'finished'")
        connection.commit()
    assert covary_command("report", run / "t.covary", "-o", run / "out.html")[0] == 0
    text = (run / "out.html").read_text(encoding="utf-8")
    assert "Testing was interrupted" in text
    assert "Not tested to the end" in text
    assert "<dt>Corrected</dt><dd>not yet</dd>" in text
    assert "null1" in figures_of(text)


def test_the_page_goes_where_one_is_unless_told(covary_command, run, monkeypatch):
    monkeypatch.chdir(run)
    code, out, _ = covary_command("report", run / "t.covary")
    assert code == 0
    assert "report: t.html" in out
    assert (run / "t.html").exists()


# ---------------------------------------------------------------- tables of all kinds


@pytest.mark.parametrize("unit", [1e300, 1e-300, 2.0**60])
@pytest.mark.parametrize("rows", [True, False])
def test_large_and_small_numbers_have_a_page(tmp_path, unit, rows):
    x = np.random.default_rng(0).normal(size=150)
    found = covary.search(pd.DataFrame({"a": x * unit, "b": x**2 * unit}))
    found.report(tmp_path / "out.html", rows=rows)
    figure = figures_of((tmp_path / "out.html").read_text(encoding="utf-8"))["set1"]
    assert figure["concat"][0]["title"]["text"].startswith("polynomial of degree 2, R² = 1.000")


def test_categories_keep_their_order(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    words = ["none", "low", "medium", "high"]
    codes = np.digitize(x, [-1, 0, 1])
    frame = pd.DataFrame({"x": x, "much": pd.Categorical.from_codes(codes, words, ordered=True)})
    for rows in (True, False):
        covary.search(frame).report(tmp_path / "out.html", rows=rows)
        figures = figures_of((tmp_path / "out.html").read_text(encoding="utf-8"))
        sorts = [
            encoding["sort"]
            for layer in figures["set1"]["concat"][0]["layer"]
            for encoding in layer["encoding"].values()
            if isinstance(encoding, dict) and encoding.get("type") == "ordinal"
        ]
        assert sorts in ([words], [words[::-1]])  # across, or upwards


def test_a_curve_goes_through_its_points_wherever_they_are():
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
            reach = max(points) - min(points)
            assert min(along) == pytest.approx(min(points), abs=reach / 100)
            assert max(along) == pytest.approx(max(points), abs=reach / 100)
            assert len(set(along)) > 90


def test_plain_dates_are_midnight_where_one_is():
    days = pd.date_range("2020-01-01", periods=200).date
    frame = pd.DataFrame({"day": pd.array(days, dtype="object"), "n": np.arange(200.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = covary.search(pl.from_pandas(frame))[0].plot.projections().to_dict()
    cells = [row["c0"] for row in rows_of(figure, figure)]
    assert min(cells) == "2020-01-01T00:00:00"


def test_what_a_clock_showed_is_what_is_shown():
    moments = pd.date_range("2020-01-01 12:00", periods=200, freq="D", tz="America/Los_Angeles")
    frame = pd.DataFrame({"when": moments, "n": np.arange(200.0)})
    figure = covary.search(frame)[0].plot.projections().to_dict()
    cells = [row["c0"] for row in rows_of(figure, figure)]
    assert min(cells) == "2020-01-01T12:00:00"


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_short_durations_have_bins(unit):
    waits = pd.Series(np.arange(700)).astype(f"timedelta64[{unit}]")
    (column,) = read_table(pd.DataFrame({"wait": waits})).columns
    assert 10 <= len(binned(column).ends) <= 23


def test_a_measure_below_zero_has_shades_from_zero():
    x = np.random.default_rng(0).normal(size=(100, 3))
    figure = covary.search(x, measure="xi").plot.heatmap().to_dict()
    low, high = figure["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert low == 0
    assert high > 0


# ---------------------------------------------------------------- more without rows


def test_neither_words_nor_whole_numbers_are_told_without_rows(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 95, 300)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": age * 1000 + rng.integers(0, 30_000, 300),
            "id": 2**60 + rng.permutation(300) * 1_000_003,
            "phone": ["12"] * 299 + ["Dr. Meier"],
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
    told = texts(data_of(text)["figures"])
    numbers = {number for number in told if isinstance(number, int | float)}
    assert not numbers & set(frame["income"].tolist())
    assert not numbers & {float(each) for each in frame["id"].tolist()}
    for cuts in re.findall(r"best cut at ([^<;]*)", text):
        for cut in cuts.split(", "):
            assert cut == "..." or not float(cut).is_integer()


# ---------------------------------------------------------------- nothing is lost


def test_a_page_takes_the_place_of_nothing_it_is_about(covary_command, run, monkeypatch):
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
        assert "name another file for it" in err or "name it FILE.html" in err
    assert {name: (run / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("page", ["nowhere/out.html", "."])
def test_a_page_that_cannot_be_written_is_refused_before_the_search(
    covary_command, table, tmp_path, monkeypatch, page
):
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    monkeypatch.setattr("covary.searching.Search.run", lambda *_: pytest.fail("searched first"))
    code, _, err = covary_command("search", "t.csv", "--report", page)
    assert code == 1
    assert "cannot write" in err


def test_an_interrupt_while_the_page_is_written_loses_only_the_page(
    covary_command, table, tmp_path, monkeypatch
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("covary.results.SearchResult.report", interrupted)
    table.to_csv(tmp_path / "t.csv", index=False)
    kept = ["--run", tmp_path / "t.covary", "--report", tmp_path / "out.html"]
    code, out, err = covary_command("search", tmp_path / "t.csv", *kept)
    assert code == 130
    assert "x, square" in out
    assert "interrupted before the page was written; covary report" in err


def test_a_page_goes_through_a_link_and_into_a_pipe(table, tmp_path):
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
    if stage == "sets of 3" and done > 0:
        os.kill(os.getpid(), signal.SIGKILL)
covary.search(sys.argv[1], max_size=3, run=sys.argv[2], on_progress=stop)
"""


@pytest.mark.parametrize("writable", [True, False])
def test_a_killed_run_is_read_as_it_is(covary_command, tmp_path, writable):
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
    assert "The search was interrupted, or is still under way" in text
    assert len(figures_of(text)["heatmap"]["data"]["values"]) == 12 * 11
    left = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    same = set(before) - {"t.covary-shm"}  # where SQLite notes who is reading
    assert {name: left[name] for name in same} == {name: before[name] for name in same}


def test_a_run_killed_while_sifting_says_so(covary_command, table, tmp_path):
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
    assert "The search was interrupted, or is still under way" in text
    assert re.search(r"<dt>Searched</dt><dd>[-0-9]+ [:0-9]+ UTC</dd>", text)


def test_a_column_that_was_not_searched_may_hold_anything(covary_command, table, tmp_path):
    table.assign(more=np.inf).to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.covary"
    columns = ["--columns", "x,square"]
    assert covary_command("search", tmp_path / "t.csv", *columns, "--run", path)[0] == 0
    assert covary_command("report", path, "-o", tmp_path / "out.html")[0] == 0


def test_a_title_is_text_of_any_kind(table, tmp_path):
    covary.search(table[["x", "square"]]).report(tmp_path / "out.html", title="t\udcff\x1b")
    assert "<title>t\\udcff\\x1b</title>" in (tmp_path / "out.html").read_text(encoding="utf-8")
