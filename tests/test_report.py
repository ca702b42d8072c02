"""The report: one page that says what was found, opens offline, and runs nothing of the table."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import covary
from covary.report import page
from test_figures import HOSTILE

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
    return json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL).group(1))


def test_a_page_says_what_was_found_and_how(written):
    shown = without_scripts(written)
    assert "<title>My &lt;table&gt;</title>" in shown
    assert re.search(r"x explains \d\d% of square; chance alone", shown)
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
    assert wanted == set(figures) == {"heatmap", "graph", "set1", "set2", "set3", "set4"}
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


def test_an_interrupted_search_says_so(table, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(table, top=2)
    path = tmp_path / "out.html"
    dataclasses.replace(found, complete=False).report(path)
    assert "The search was interrupted" in path.read_text(encoding="utf-8")


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
