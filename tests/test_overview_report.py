"""The report of an overview: its content, escaped names, and no rows if they are not wanted."""

from __future__ import annotations

import copy
import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest

import covary
from covary.errors import CovaryError
from covary.report.cards import MAX_CARDS
from covary.report.content import gather_overview_content
from covary.report.presenter import SearchPresenter
from covary.results import Link, MissingTogether
from covary.results.link import COPY
from example_overviews import (
    EXAMPLE_LINKS,
    example_frame,
    example_overview,
    overview_of,
    with_table,
)
from test_figures import HOSTILE
from test_report import data_of, figures_of, leaves, without_scripts

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

NAMES = [*HOSTILE, "line\nbreak", "\u202eright", "\x07bell", "'single' & \"double\""]


def written_page(overview, path, **options):
    overview.report(path, **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("overview") / "out.html"
    return written_page(example_overview(), path, title="My <table>")


def words_of(text):
    shown = re.sub(r"<[^>]*>", " ", without_scripts(text))
    return re.sub(r"\s+", " ", shown)


def test_a_page_contains_map_groups_and_cards(written):
    shown = without_scripts(written)
    words = words_of(written)
    assert "<title>My &lt;table&gt;</title>" in shown
    assert len(re.findall(r'class="column( start)?" data-column=', shown)) == 9
    for at in range(len(EXAMPLE_LINKS)):
        assert f'<li data-link="{at}">' in shown
    assert "size 7 columns" in words
    assert "82% size and age explain price like a correlation of 0.98; q = 4.0e-04" in words
    assert "size 5% 80% age 4% 79%" in words
    assert "left and right go together like a correlation of 0.83; q = 0.0200" in words
    assert "3% of right by whether it is missing" in words
    assert "price_eur repeats price" in words
    assert "tax = 0.19 size + age" in words
    assert "Columns without links 1 free" in words
    assert "free and left are missing together in 10 rows: 100%" in words
    assert "Not examined explanations by three or more columns" in words
    assert "permutations=999, seed=0" in words
    # Copies and identities have no figure.
    assert set(re.findall(r'class="card" id="(\w+)"', shown)) == {"link1", "link2", "link6"}
    assert set(figures_of(written)) == {"link1", "link2", "link6"}
    assert set(re.findall(r'href="#(link\d+)"', shown)) == {"link1", "link2", "link6"}
    for name in re.findall(r'href="#([\w-]+)"', shown):
        assert f'id="{name}"' in shown


def test_a_page_loads_nothing(written):
    shown = without_scripts(written)
    assert not re.search(r'(src|href)="(?!#)', shown)
    assert "url(" not in shown
    assert "@import" not in written
    assert "default-src 'none'" in shown


def test_the_target_of_a_link_is_on_the_vertical_axis(written):
    figure = figures_of(written)["link1"]
    encodings = [layer["encoding"] for panel in figure["concat"] for layer in panel["layer"]]
    fields = {
        (each["x"].get("field"), each["y"].get("field"))
        for each in encodings
        if {"x", "y"} <= set(each)
    }
    size, price, age = (f"c{at}" for at in (0, 2, 3))
    assert {(size, price), (age, price)} <= fields
    assert not {(price, size), (price, age)} & fields


def test_scripts_get_the_columns_of_links(written):
    data = data_of(written)["overview"]
    names = data["columns"]
    assert names == list(example_frame().columns)
    links = {tuple(names[at] for at in link) for link in data["links"]}
    assert links == {link.columns for link in EXAMPLE_LINKS}


def test_a_page_without_rows_contains_no_value(tmp_path):
    text = written_page(example_overview(), tmp_path / "out.html", rows=False)
    numbers = {leaf for leaf in leaves(figures_of(text)) if isinstance(leaf, float)}
    values = example_frame().select_dtypes("number").to_numpy().ravel()
    assert not numbers & {float(f"{value:.6g}") for value in values}
    assert data_of(text)["points"] == {}
    assert "does not show single rows" in text


def test_names_are_never_executed(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    frame = pd.DataFrame({name: x + rng.normal(size=120) for name in NAMES})
    links = [Link(name, (NAMES[0],), 0.5, (0.5,), (0.5,)) for name in NAMES[1:5]]
    links.append(Link(NAMES[5], tuple(NAMES[:2]), 0.7, (0.1, 0.2), (0.5, 0.4)))
    links.append(Link(NAMES[6], (NAMES[1],), 1.0, kind=COPY, formula=HOSTILE[0]))
    links += [Link(name, (NAMES[2],), 0.2) for name in NAMES[12:]]
    overview = overview_of(
        NAMES,
        links,
        120,
        missing_together=(MissingTogether(tuple(NAMES[:3]), 5, 0.5),),
        not_examined=tuple(HOSTILE[:2]),
        constant=(HOSTILE[1],),
        parameters={HOSTILE[0]: HOSTILE[1]},
    )
    text = written_page(with_table(overview, frame), tmp_path / "out.html", title=HOSTILE[0])
    shown = without_scripts(text)
    for tag in ("<script", "<img", "onerror=alert(1)>", "\u202e", "\x07"):
        assert tag not in shown
    assert text.count("<script") == text.count("</script>") == 3
    assert "line\\nbreak" in shown
    assert "{{7*7}}" in shown
    assert HOSTILE[0] in json.dumps(data_of(text)["overview"])
    assert not re.search(r"[^ -~\s]*x{200}", shown)


def test_a_table_without_links_has_a_page(tmp_path):
    frame = example_frame()[["size", "free"]]
    overview = with_table(overview_of(tuple(frame.columns), [], 120), frame)
    text = written_page(overview, tmp_path / "out.html")
    assert "No columns are linked." in text
    assert "Columns without links 2 size free" in words_of(text)
    assert "table-map" not in without_scripts(text).partition("<body>")[2]


def test_an_interrupted_overview_says_so(tmp_path):
    overview = dataclasses.replace(example_overview(), complete=False)
    text = written_page(overview, tmp_path / "out.html")
    assert "or is still running: its links are not known yet." in text


def test_a_copied_overview_has_no_figures():
    sent = copy.copy(example_overview())
    for draw in (lambda: sent.plot, lambda: sent.report("out.html")):
        with pytest.raises(CovaryError, match="this result has no table"):
            draw()


def test_there_are_at_most_100_cards():
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(131)]
    frame = pd.DataFrame(rng.normal(size=(120, 131)), columns=names)
    links = [Link(name, ("x0",), at / 200) for at, name in enumerate(names[1:], start=1)]
    overview = with_table(overview_of(names, links, 120), frame)
    done = []
    content = gather_overview_content(
        overview,
        overview._presenter._source,
        "",
        with_rows=False,
        on_progress=lambda *progress: done.append(progress),
    )
    assert [card.anchor for card in content.cards] == [f"link{at}" for at in range(31, 131)]
    assert len(content.cards) == MAX_CARDS
    listed = content.overview.groups[0].links
    assert len(listed) == 130
    assert [link.anchor for link in listed[28:31]] == ["", "", "link31"]
    assert done[-1] == ("figures", 100, 100)


# ---------------------------------------------------------------- the report of a search


def test_the_report_of_a_search_begins_with_the_overview(tmp_path):
    frame = example_frame()[["size", "weight", "free", "left"]]
    found = covary.search(frame, max_size=2)
    links = [
        Link("weight", ("size",), 0.6, (0.6,), (0.6,), qvalue=0.001),
        Link("free", ("left",), 1.0, kind=COPY, formula="equal"),
    ]
    overview = overview_of(tuple(frame.columns), links, 120)
    stages = []

    def compute(on_progress):
        on_progress("overview", 1, 1)
        return overview

    presenter = SearchPresenter(found._presenter._source.record, compute)
    path = tmp_path / "out.html"
    presenter.write_report(found, path, None, True, lambda *progress: stages.append(progress[0]))
    text = path.read_text(encoding="utf-8")
    shown = without_scripts(text)
    sections = re.findall(r'<h2 id="(\w+)"', shown)
    assert sections[:6] == ["map", "groups", "findings", "settings", "sets", "pairs"]
    assert "overview" in stages
    # The line of a link leads to the card of the same set.
    rank = next(
        rank for rank, each in enumerate(found, 1) if set(each.columns) == {"size", "weight"}
    )
    assert f'<a href="#set{rank}">size explains weight</a>' in shown
    assert "link1" not in figures_of(text)
    assert 'class="card" id="link1"' not in shown
    SearchPresenter(found._presenter._source.record).write_report(found, path, None, True, None)
    plain = path.read_text(encoding="utf-8")
    assert "overview" not in data_of(plain)
    assert 'id="groups"' not in plain
    assert "#table-map" not in plain
