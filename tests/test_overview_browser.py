"""The map of a report in a browser: clicks, keys, zoom, search, themes, print, small windows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import covary
from covary.plots.figures.style import shown_label
from covary.report.presenter import SearchPresenter
from covary.results import Link
from example_overviews import example_frame, example_overview, overview_of, with_table
from test_browser import CHROMIUM, Page, browser, playwright  # noqa: F401
from test_overview_report import NAMES

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")


@pytest.fixture(scope="module")
def overview_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "overview.html"
    example_overview().report(path)
    return path


@pytest.fixture
def page(browser, overview_page):  # noqa: F811
    shown = Page(browser, overview_page)
    yield shown
    assert shown.complaints == []
    shown.view.close()


def column(page, name):
    """The box of a column."""
    at = list(example_frame().columns).index(name)
    return page.view.locator(f'#table-map .column[data-column="{at}"]')


def related(page):
    """The names of the columns that are not dimmed."""
    texts = page.view.locator("#table-map .column.related text:not(.number)")
    return set(texts.all_text_contents())


def map_width(page):
    return page.view.locator("#table-map").bounding_box()["width"]


def test_a_click_shows_the_links_of_a_column(page):
    assert not page.view.locator("#chosen").is_visible()
    column(page, "weight").click()
    assert related(page) == {"size", "weight"}
    assert column(page, "weight").get_attribute("aria-pressed") == "true"
    assert "size explains weight" in page.view.inner_text("#chosen")
    assert page.view.locator("#chosen li").count() == 1
    page.keep("chosen")
    column(page, "size").click()
    assert related(page) == {"size", "weight", "price", "kind", "tax", "age"}
    assert page.view.locator("#chosen li").count() == 4
    opacity = (
        "getComputedStyle(document.querySelector('#table-map .column:not(.related)')).opacity"
    )
    assert float(page.view.evaluate(opacity)) < 0.5
    page.view.click("#chosen a >> nth=0")
    assert page.view.evaluate("location.hash").startswith("#link")
    column(page, "size").click()
    assert not page.view.locator("#chosen").is_visible()
    assert page.view.locator("#table-map.narrowed").count() == 0


def test_the_keyboard_moves_and_chooses(page):
    first = page.view.locator('#table-map .column[tabindex="0"]')
    assert first.count() == 1
    page.view.focus('#find button[name="restart"]')
    for _ in range(2):  # the frame, which scrolls; then one column
        page.view.keyboard.press("Tab")
    assert page.view.evaluate("document.activeElement.classList.contains('column')")
    focused = "document.activeElement.querySelector('text').textContent"
    reached = [page.view.evaluate(focused)]
    for key in ["ArrowLeft", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp"]:
        page.view.keyboard.press(key)
        reached.append(page.view.evaluate(focused))
    assert reached == ["kind", "size", "age", "tax", "price", "price_eur", "tax"]
    page.view.keyboard.press("Enter")
    assert page.view.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.view.locator("#chosen").is_visible()
    before = map_width(page)
    page.view.keyboard.press("+")
    assert map_width(page) > 1.2 * before
    page.view.keyboard.press("Escape")
    assert map_width(page) == pytest.approx(before)
    assert not page.view.locator("#chosen").is_visible()
    page.view.keyboard.press("Tab")
    assert not page.view.evaluate("document.activeElement.classList.contains('column')")


def test_zooming_does_not_move_the_page(page):
    frame = page.view.locator("#frame")
    top = page.view.locator("#groups").bounding_box()["y"]
    before = map_width(page)
    for _ in range(5):
        page.view.click('button[name="closer"]')
    assert map_width(page) > 2.5 * before
    assert page.view.locator("#groups").bounding_box()["y"] == pytest.approx(top, abs=1)
    box = frame.bounding_box()
    scrolled = "document.getElementById('frame').scrollLeft"
    left = page.view.evaluate(scrolled)
    free = page.view.evaluate(
        """([left, top]) => {
      for (let x = left + 200; ; x += 7)
        if (!document.elementFromPoint(x, top).closest(".column")) return x;
    }""",
        [box["x"], box["y"] + 60],
    )
    page.view.mouse.move(free, box["y"] + 60)
    page.view.mouse.down()
    page.view.mouse.move(free - 100, box["y"] + 60, steps=3)
    page.view.mouse.up()
    assert page.view.evaluate(scrolled) == pytest.approx(left + 100, abs=2)
    page.view.mouse.move(box["x"] + 100, box["y"] + 50)
    page.view.keyboard.down("Control")
    page.view.mouse.wheel(0, 200)
    page.view.keyboard.up("Control")
    page.view.wait_for_timeout(100)
    assert map_width(page) < 2.5 * before
    page.view.click('button[name="restart"]')
    assert map_width(page) == pytest.approx(before)
    page.view.click('button[name="farther"]')
    assert map_width(page) < before


def test_a_column_is_found_by_its_name(page):
    page.view.fill("#find input", "PRICE")
    assert page.view.locator("#table-map .column.found").count() == 2
    assert page.view.inner_text("#found") == "2 columns; press Enter"
    page.view.press("#find input", "Enter")
    assert page.view.inner_text("#chosen h3") == "price"
    page.view.press("#find input", "Enter")
    assert page.view.inner_text("#chosen h3") == "price_eur"
    page.view.fill("#find input", "free")
    assert page.view.inner_text("#found") == "1 column; press Enter"
    page.view.press("#find input", "Enter")
    assert "This column has no links." in page.view.inner_text("#chosen")
    page.view.fill("#find input", "nothing like this")
    assert page.view.inner_text("#found") == "0 columns"
    page.view.press("#find input", "Enter")
    page.view.click('button[name="restart"]')
    assert page.view.input_value("#find input") == ""
    assert page.view.inner_text("#found") == ""
    assert page.view.locator("#table-map .column.found").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_themes_and_widths(browser, overview_page, scheme, width):  # noqa: F811
    page = Page(browser, overview_page, scheme)
    page.view.set_viewport_size({"width": width, "height": 900})
    page.everything()
    column(page, "size").click()
    page.keep(f"{scheme}-{width}")
    assert page.view.evaluate("document.documentElement.scrollWidth") <= width
    fill = page.view.evaluate(
        "getComputedStyle(document.querySelector('.column:not(.start) rect')).fill"
    )
    assert fill == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
    # Letters on the map are never too small to read.
    scale = page.view.evaluate("document.getElementById('table-map').getScreenCTM().a")
    assert 12.5 * scale > 9
    assert page.complaints == []
    assert page.violations() == []
    page.view.close()


def test_no_text_leaves_its_box(page):
    outside = page.view.evaluate("""() =>
      [...document.querySelectorAll("#table-map .column")].filter((box) => {
        const [outer, ...texts] = [box.querySelector("rect"), ...box.querySelectorAll("text")]
          .map((part) => part.getBBox());
        return texts.some((text) =>
          text.x < outer.x || text.x + text.width > outer.x + outer.width + 0.5) ||
          (texts.length === 2 && texts[0].x + texts[0].width > texts[1].x);
      }).map((box) => box.textContent)""")
    assert outside == []


def test_a_printed_page_has_the_map_without_its_controls(browser, overview_page, tmp_path):  # noqa: F811
    page = Page(browser, overview_page, "dark")
    column(page, "weight").click()
    page.view.click('button[name="closer"]')
    page.view.emulate_media(media="print", color_scheme="dark")
    page.view.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.view.wait_for_function("document.querySelectorAll('[data-drawn=light]').length === 3")
    assert page.view.locator("#table-map").is_visible()
    for name in ("#find", "#chosen", "#theme"):
        assert not page.view.locator(name).is_visible()
    frame = page.view.locator("main").bounding_box()
    drawn = page.view.locator("#table-map").bounding_box()
    assert drawn["x"] >= frame["x"] - 1
    assert drawn["width"] <= frame["width"] + 1
    dimmed = "getComputedStyle(document.querySelector('#table-map .column:not(.related)')).opacity"
    assert page.view.evaluate(dimmed) == "1"
    page.keep("print")
    page.view.pdf(path=tmp_path / "print.pdf", format="A4")
    assert page.complaints == []
    page.view.close()


def test_names_are_text_on_the_map(browser, tmp_path):  # noqa: F811
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    frame = pd.DataFrame({name: x + rng.normal(size=120) for name in NAMES})
    links = [Link(name, (NAMES[0],), 0.4) for name in NAMES[1:-1]]
    links.append(Link(NAMES[-1], tuple(NAMES[1:6]), 0.7, (0.1,) * 5, (0.2,) * 5))
    path = tmp_path / "hostile.html"
    with_table(overview_of(NAMES, links, 120), frame).report(path, title=NAMES[1])
    page = Page(browser, path)
    for at in range(len(NAMES)):
        page.view.locator(f'#table-map .column[data-column="{at}"]').click(
            position={"x": 4, "y": 4}
        )
        assert page.view.locator("#chosen h3").text_content() == shown_label(NAMES[at])
    page.view.fill("#find input", "<script>")
    page.view.press("#find input", "Enter")
    page.keep("hostile")
    page.everything()
    assert page.view.locator("img").count() == 0
    assert page.complaints == []
    assert page.violations() == []
    page.view.set_viewport_size({"width": 400, "height": 900})
    page.view.wait_for_timeout(300)
    assert page.view.evaluate("document.documentElement.scrollWidth") <= 400
    page.view.close()


def test_the_map_is_there_without_scripts(browser, overview_page):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    view = context.new_page()
    view.goto(overview_page.as_uri())
    assert view.locator("#table-map .column").count() == 9
    assert view.locator("#table-map").is_visible()
    context.close()


def test_a_search_with_an_overview_has_one_page(browser, tmp_path):  # noqa: F811
    frame = example_frame()[["size", "weight", "price", "age"]]
    found = covary.search(frame, max_size=2, top=3)
    links = [Link("weight", ("size",), 0.6), Link("price", ("size", "age"), 0.8)]
    overview = overview_of(tuple(frame.columns), links, 120)
    path = tmp_path / "both.html"
    record = found._presenter._source.record
    SearchPresenter(record, lambda _: overview).write_report(found, path, None, True, None)
    page = Page(browser, path)
    page.everything()
    page.view.locator("#table-map .column").nth(1).click()
    assert page.view.locator("#chosen").is_visible()
    page.view.fill("#filter input[name=column]", "weight")
    assert page.view.inner_text("#count") == f"{len(page.shown())} of 3 sets"
    assert page.complaints == []
    assert page.violations() == []
    page.view.close()
