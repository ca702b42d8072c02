"""The report in a browser: real clicks, no errors, no requests, nothing of the table runs."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covary
from test_figures import HOSTILE

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
# Where to keep pictures of the pages, if anyone wants to look at them.
SCREENSHOTS = os.environ.get("COVARY_SCREENSHOTS")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


class Page:
    """A page, and what it should not do."""

    def __init__(self, browser, path):
        self.complaints = []
        self.view = browser.new_page(viewport={"width": 1200, "height": 900})
        self.view.on("console", lambda message: self.complaints.append(message.text))
        self.view.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.view.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.view.on("request", self._requested)
        self.view.goto(path.as_uri())

    def _requested(self, request):
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(request.url)

    def figure(self, name):
        """Scroll to a figure and wait until it is drawn."""
        place = self.view.locator(f'[data-figure="{name}"]')
        place.scroll_into_view_if_needed()
        place.locator("canvas").wait_for(timeout=10_000)
        return place

    def shown(self):
        """The ranks in the list, in their order."""
        rows = self.view.locator("#list tbody tr:visible td[data-key=rank]")
        return [int(text) for text in rows.all_text_contents()]

    def keep(self, name):
        if SCREENSHOTS:
            self.view.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    x, noise, more = rng.normal(size=(3, 200))
    data = {"x": x, "square": x**2 + noise / 10, "sum": x + noise, "noise": noise, "more": more}
    path = tmp_path_factory.mktemp("browser") / "out.html"
    covary.search(pd.DataFrame(data), max_size=3, top=20, permutations=19).report(path)
    return path


def test_a_page_draws_everything_without_a_word(browser, report):
    page = Page(browser, report)
    page.figure("heatmap")
    page.figure("graph")
    for rank in range(1, 21):
        page.figure(f"set{rank}")
    page.keep("everything")
    assert page.complaints == []


def test_the_list_is_sorted_by_clicks(browser, report):
    page = Page(browser, report)
    ranks = list(range(1, 21))
    assert page.shown() == ranks
    page.view.click("#list button[data-key=rank]")
    assert page.shown() == ranks[::-1]
    page.view.click("#list button[data-key=score]")
    assert page.shown()[-1] == 1
    page.view.click("#list button[data-key=score]")
    assert page.shown() == ranks
    head = page.view.locator("#list th", has=page.view.locator("button[data-key=score]"))
    assert head.get_attribute("aria-sort") == "descending"
    assert page.complaints == []


def test_the_list_is_filtered(browser, report):
    page = Page(browser, report)
    page.view.fill("input[name=column]", "squ")
    names = page.view.locator("#list tbody tr:visible td.names").all_text_contents()
    assert names
    assert all("square" in each for each in names)
    page.view.fill("input[name=column]", "")
    page.view.fill("input[name=size]", "2")
    sizes = page.view.locator("#list tbody tr:visible td[data-key=size]").all_text_contents()
    assert set(sizes) == {"2"}
    assert page.view.text_content("#count") == f"{len(sizes)} of 20 sets"
    page.view.fill("input[name=size]", "")
    page.view.fill("input[name=p]", "0.05")
    pvalues = page.view.locator("#list tbody tr:visible td[data-key=p]").all_text_contents()
    assert 0 < len(pvalues) < 20
    assert all(float(p) <= 0.05 for p in pvalues)
    assert page.complaints == []


def test_the_dark_theme_is_a_click_away(browser, report):
    page = Page(browser, report)
    page.figure("heatmap")
    light = page.view.evaluate("getComputedStyle(document.body).backgroundColor")
    page.view.click("#theme")
    page.figure("heatmap")
    dark = page.view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 24, 29)")
    assert page.view.get_attribute("#theme", "aria-pressed") == "true"
    page.keep("dark")
    assert page.complaints == []


def test_a_brush_in_one_panel_marks_rows_in_all(browser, report):
    page = Page(browser, report)
    rank = next(
        rank
        for rank in range(1, 21)
        if page.view.locator(f"#set{rank} h2").text_content().count(",") == 2
    )
    figure = page.figure(f"set{rank}")
    page.view.wait_for_timeout(300)
    canvas = figure.locator("canvas")
    before = canvas.screenshot()
    box = canvas.bounding_box()
    page.view.mouse.move(box["x"] + 90, box["y"] + 60)
    page.view.mouse.down()
    page.view.mouse.move(box["x"] + 150, box["y"] + 130, steps=5)
    page.view.mouse.up()
    page.view.wait_for_timeout(300)
    after = canvas.screenshot()
    assert before != after
    # The panels to the right of the brushed one have changed as well.
    clip = {"x": box["x"] + 260, "y": box["y"], "width": 220, "height": box["height"]}
    marked = page.view.screenshot(clip=clip)
    page.view.mouse.dblclick(box["x"] + 120, box["y"] + 190)
    page.view.wait_for_timeout(300)
    assert page.view.screenshot(clip=clip) != marked
    page.keep("brush")
    assert page.complaints == []


def test_names_are_shown_as_text_and_nothing_runs(browser, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    data = {name: x + k * rng.normal(size=120) / 9 for k, name in enumerate(HOSTILE, start=1)}
    path = tmp_path / "out.html"
    covary.search(pd.DataFrame(data), max_size=2, top=28).report(path, title=HOSTILE[1])
    page = Page(browser, path)
    for figure in ("heatmap", "graph", "set1", "set2", "set3"):
        page.figure(figure)
    page.view.wait_for_timeout(300)
    text = page.view.inner_text("body")
    for name in HOSTILE[:-1]:
        assert name in text
    assert page.view.locator("img").count() == 0
    assert page.view.title() == HOSTILE[1]
    page.keep("hostile")
    assert page.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wdbc", "communities", "appliances_energy"])
def test_pages_of_real_tables(browser, real_tables, tmp_path, name):
    path = tmp_path / f"{name}.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = covary.search(real_tables / f"{name}.csv.gz", max_size=3, top=20, permutations=19)
    found.report(path, title=name)
    assert path.stat().st_size < 5e6
    page = Page(browser, path)
    for figure in ("heatmap", "graph", *(f"set{rank}" for rank in range(1, 21))):
        page.figure(figure)
    page.keep(name)
    page.view.click("#theme")
    page.view.fill("input[name=size]", "2")
    assert page.complaints == []
