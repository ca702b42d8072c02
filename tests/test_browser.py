"""The report in a browser: real clicks, no errors, no requests, and no code from the table."""

from __future__ import annotations

import dataclasses
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covary
from covary.plots.figures.style import shown_label
from test_figures import HOSTILE
from test_level_figures import LABELS

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
# A folder for screenshots, to look at them; none are kept without it.
SCREENSHOTS = os.environ.get("COVARY_SCREENSHOTS")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


class Page:
    """A page that collects errors, dialogs and requests as ``complaints``."""

    def __init__(self, browser, path, scheme="light"):
        self.complaints = []
        size = {"width": 1200, "height": 900}
        self.view = browser.new_page(viewport=size, color_scheme=scheme)
        self.view.on("console", lambda message: self.complaints.append(message.text))
        self.view.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.view.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.view.on("request", self._requested)
        self.view.goto(path.as_uri())
        self.name = path.stem

    def _requested(self, request):
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(request.url)

    def figure(self, name):
        """Scroll to a figure and wait until it is drawn."""
        place = self.view.locator(f'[data-figure="{name}"]')
        place.scroll_into_view_if_needed()
        self.view.locator(f'[data-figure="{name}"][data-drawn]').wait_for(timeout=10_000)
        return place

    def everything(self):
        """Scroll through the page, so that every figure is drawn."""
        for place in self.view.locator("[data-figure]").all():
            self.figure(place.get_attribute("data-figure"))

    def drag(self, figure, start, end):
        """Drag over a figure from one place in it to another."""
        box = figure.locator("canvas").bounding_box()
        self.view.mouse.move(box["x"] + start[0], box["y"] + start[1])
        self.view.mouse.down()
        self.view.mouse.move(box["x"] + end[0], box["y"] + end[1], steps=5)
        self.view.mouse.up()
        self.view.wait_for_timeout(200)

    def violations(self):
        """Accessibility problems that axe classifies as serious or critical."""
        found = axe.Axe().run(self.view).response["violations"]
        return [
            f"{each['id']}: {node['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    def shown(self):
        """The ranks in the list, in the order shown."""
        rows = self.view.locator("#list tbody tr:visible td[data-key=rank]")
        return [int(text) for text in rows.all_text_contents()]

    def keep(self, name):
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            self.view.screenshot(path=Path(SCREENSHOTS) / f"{self.name}-{name}.png")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    x, noise, more = rng.normal(size=(3, 200))
    data = {"x": x, "square": x**2 + noise / 10, "sum": x + noise, "noise": noise, "more": more}
    path = tmp_path_factory.mktemp("browser") / "out.html"
    covary.search(pd.DataFrame(data), max_size=3, top=20, permutations=19).report(path)
    return path


def test_a_page_draws_every_figure_without_errors(browser, report):
    page = Page(browser, report)
    page.everything()
    page.keep("everything")
    assert page.view.locator("[data-drawn]").count() == 2 + 2 * 20
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
    page.view.fill("#filter input[name=column]", "squ")
    names = page.view.locator("#list tbody tr:visible td.names").all_text_contents()
    assert names
    assert all("square" in each for each in names)
    page.view.fill("#filter input[name=column]", "")
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


def test_a_button_switches_to_the_dark_theme(browser, report):
    page = Page(browser, report)
    page.figure("heatmap")
    light = page.view.evaluate("getComputedStyle(document.body).backgroundColor")
    page.view.click("#theme")
    page.view.locator('[data-figure="heatmap"][data-drawn="dark"]').wait_for()
    dark = page.view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 24, 29)")
    assert page.view.get_attribute("#theme", "aria-pressed") == "true"
    page.keep("dark")
    assert page.complaints == []


def of_three(page):
    """The figure of the first set of three columns."""
    rank = next(
        rank
        for rank in range(1, 21)
        if page.view.locator(f"#set{rank} h2").text_content().count(",") == 2
    )
    return page.figure(f"set{rank}"), page.view.locator(f"#set{rank}")


def panels_beside(figure):
    """The area to the right of the first panel."""
    box = figure.locator("canvas").bounding_box()
    return {"x": box["x"] + 260, "y": box["y"], "width": 440, "height": 220}


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("rank", [2, 11, 19])
def test_a_link_leads_to_its_card_while_figures_are_drawn(browser, report, width, rank):
    page = Page(browser, report)
    page.view.set_viewport_size({"width": width, "height": 900})
    page.view.click(f'#list a[href="#set{rank}"]')
    page.view.locator(f'[data-figure="set{rank}"][data-drawn]').wait_for()
    page.view.wait_for_timeout(700)
    top = page.view.locator(f"#set{rank}").bounding_box()["y"]
    header = page.view.locator("header").bounding_box()
    covered = header["height"] if header["y"] >= 0 else 0
    assert covered - 30 <= top <= covered + 60
    page.view.mouse.wheel(0, 500)
    page.view.wait_for_timeout(500)
    assert page.view.locator(f"#set{rank}").bounding_box()["y"] < top - 300
    assert page.complaints == []


def test_a_brush_in_one_panel_marks_rows_in_all(browser, report):
    page = Page(browser, report)
    figure, _ = of_three(page)
    beside = panels_beside(figure)
    before = page.view.screenshot(clip=beside)
    page.drag(figure, (90, 60), (150, 130))
    page.keep("brush")
    marked = page.view.screenshot(clip=beside)
    assert marked != before
    box = figure.locator("canvas").bounding_box()
    page.view.mouse.click(box["x"] + 200, box["y"] + 190)
    page.view.wait_for_timeout(200)
    page.view.mouse.move(5, 5)
    page.view.wait_for_timeout(200)
    assert page.view.screenshot(clip=beside) != marked
    assert page.complaints == []


def test_rows_are_marked_without_a_mouse(browser, report):
    page = Page(browser, report)
    figure, card = of_three(page)
    beside = panels_beside(figure)
    before = page.view.screenshot(clip=beside)
    part = card.locator("select[name=part]")
    part.focus()
    page.view.keyboard.press("ArrowDown")
    page.view.wait_for_timeout(300)
    lowest = page.view.screenshot(clip=beside)
    for _ in range(3):
        page.view.keyboard.press("ArrowDown")
    page.view.wait_for_timeout(300)
    page.keep("quarter")
    assert part.input_value() == "3"
    highest = page.view.screenshot(clip=beside)
    assert len({before, lowest, highest}) == 3
    part.select_option("")
    page.view.wait_for_timeout(300)
    assert page.view.screenshot(clip=beside) == before
    assert page.complaints == []


def test_every_row_is_in_one_quarter(browser, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "quarters.html"
    frame = pd.DataFrame({"x": np.arange(101) / 4, "few": np.repeat([0.0, 1.0], [71, 30])})
    frame["y"] = frame["x"] + rng.normal(size=101)
    covary.search(frame, max_size=2).report(path)
    page = Page(browser, path)
    for rank in (1, 2, 3):
        page.figure(f"set{rank}")
        card = page.view.locator(f"#set{rank}")
        fields = card.locator("select[name=field] option").all()
        for field in fields:
            card.locator("select[name=field]").select_option(field.get_attribute("value"))
            sizes = []
            for part in "0123":
                card.locator("select[name=part]").select_option(part)
                count = card.locator("form.mark output").text_content()
                sizes.append(int(count.removesuffix(" of 101 drawn rows")))
            name = field.text_content()
            assert sum(sizes) == 101
            assert sizes == ([71, 0, 30, 0] if name == "few" else [26, 25, 25, 25])


def test_the_keyboard_reaches_every_control(browser, report):
    page = Page(browser, report)
    controls = "a[href], button, input, select, [tabindex]"
    wanted = page.view.locator(controls).count()
    script = f"""() => {{
      const all = [...document.querySelectorAll("{controls}")];
      return all.indexOf(document.activeElement);
    }}"""
    reached = set()
    for _ in range(wanted + 5):
        page.view.keyboard.press("Tab")
        reached.add(page.view.evaluate(script))
    # Of the columns on the map, the key Tab reaches one, and arrows reach the others.
    page.view.focus('#table-map .column[tabindex="0"]')
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"):
        for _ in range(page.view.locator("#table-map .column").count()):
            page.view.keyboard.press(key)
            reached.add(page.view.evaluate(script))
    assert reached - {-1} == set(range(wanted))
    page.view.focus("#list button[data-key=rank]")
    page.view.keyboard.press("Enter")
    assert page.shown() == list(range(20, 0, -1))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_there_are_no_serious_accessibility_problems(browser, report, scheme):
    page = Page(browser, report, scheme)
    page.everything()
    assert page.violations() == []


def test_a_printed_page_has_all_figures_on_white(browser, report, tmp_path):
    page = Page(browser, report, "dark")
    page.view.emulate_media(media="print", color_scheme="dark")
    page.view.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.view.wait_for_function(
        "document.querySelectorAll('[data-drawn=light]').length === 2 + 2 * 20"
    )
    assert page.view.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert not page.view.locator("#theme").is_visible()
    assert not page.view.locator("#filter").is_visible()
    path = Path(SCREENSHOTS or tmp_path) / "print.pdf"
    page.view.pdf(path=path, format="A4")
    assert path.read_bytes().startswith(b"%PDF")
    page.view.evaluate("dispatchEvent(new Event('afterprint'))")
    page.view.wait_for_function("document.querySelectorAll('[data-drawn=light]').length === 0")
    assert page.complaints == []


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_wider_than_the_window(browser, report, tmp_path, width):
    wide = np.random.default_rng(0).normal(size=(100, 70))
    path = tmp_path / "wide.html"
    covary.search(wide, max_size=2, top=3).report(path)
    for each in (report, path):
        page = Page(browser, each)
        page.view.set_viewport_size({"width": width, "height": 900})
        page.everything()
        assert page.view.evaluate("document.documentElement.scrollWidth") <= width
        page.keep(f"wide-{width}")


def test_a_page_without_rows_draws_every_figure(browser, tmp_path):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200))
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(50 * x + 200), unit="D")
    kinds = pd.Categorical.from_codes((x > 0).astype(int), ["<b>", "b"], ordered=True)
    frame = pd.DataFrame({"x": x, "y": x**2 + noise / 9, "day": days, "kind": kinds})
    path = tmp_path / "counts.html"
    covary.search(frame, max_size=3, top=20).report(path, rows=False)
    page = Page(browser, path)
    page.everything()
    page.keep("everything")
    assert page.complaints == []
    assert page.violations() == []


def test_names_are_shown_as_text_and_never_executed(browser, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    data = {name: x + k * rng.normal(size=120) / 9 for k, name in enumerate(HOSTILE, start=1)}
    words = ["http://127.0.0.1:9/x.png", *HOSTILE[:3], "</script>"]
    codes = np.digitize(x, [-1, -0.3, 0.3, 1])
    data["image"] = pd.Categorical.from_codes(codes, words, ordered=True)
    data["</script>"] = np.arange(120) / 4
    path = tmp_path / "hostile.html"
    found = covary.search(pd.DataFrame(data), max_size=2, top=40, permutations=19)
    found.report(path, title=HOSTILE[1])
    page = Page(browser, path)
    page.everything()
    text = page.view.inner_text("body")
    for name in HOSTILE[:-1]:
        assert shown_label(name) in text
    assert page.view.locator("img").count() == 0
    assert page.view.title() == HOSTILE[1]
    page.keep("cards")
    # Tooltips contain only text, too.
    with_image = next(at for at, each in enumerate(found, start=1) if "image" in each.columns)
    for figure in ("heatmap", "graph", f"set{with_image}"):
        place = page.figure(figure).locator("canvas")
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        for step in range(1, 12):
            page.view.mouse.move(box["x"] + step * box["width"] / 12, box["y"] + box["height"] / 2)
            page.view.wait_for_timeout(40)
    assert page.view.locator("#vg-tooltip-element").count() == 1
    assert page.view.locator("#vg-tooltip-element img, #vg-tooltip-element script").count() == 0
    assert page.complaints == []
    assert page.violations() == []


def test_a_page_of_an_interrupted_search_says_so(browser, tmp_path):
    rng = np.random.default_rng(0)
    found = covary.search(rng.normal(size=(100, 4)), max_size=2)
    path = tmp_path / "interrupted.html"
    dataclasses.replace(found, complete=False).report(path)
    page = Page(browser, path)
    assert "The search was interrupted" in page.view.inner_text("[role=status]")
    page.everything()
    dataclasses.replace(found, subspaces=(), complete=False).report(path)
    page = Page(browser, path)
    page.everything()
    assert "0 of 0 sets" in page.view.inner_text("#count")
    assert page.complaints == []


# ---------------------------------------------------------------- columns with levels


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    diet = rng.integers(0, 3, 400)
    drinks_water = rng.random(400) < 0.3
    frame = pd.DataFrame(
        {
            "diet": np.array(["vegan", "keto", "all"])[diet],
            "weight": 60 + 6 * diet - 8 * drinks_water + rng.normal(size=400) * 4,
            "drink": np.where(drinks_water, "water", np.array(["tea", "cola", "milk"])[diet]),
            "smoker": rng.random(400) < 0.1 + 0.3 * diet,
        }
    )
    frame.loc[rng.random(400) < 0.1, "diet"] = None
    frame.loc[rng.random(400) < 0.1, "weight"] = np.nan
    return frame


@pytest.fixture(scope="module")
def level_page(people, tmp_path_factory):
    """A page whose first set is diet, drink and weight, the latter explained by the others."""
    path = tmp_path_factory.mktemp("levels") / "levels.html"
    found = covary.search(people, ["diet", "drink", "smoker"], target="weight", max_size=4, top=20)
    found.report(path)
    return path, [set(each.columns) for each in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_pages_with_levels_have_no_errors(browser, level_page, scheme, width):
    page = Page(browser, level_page[0], scheme)
    page.view.set_viewport_size({"width": width, "height": 900})
    page.everything()
    page.keep(f"{scheme}-{width}")
    assert page.view.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    assert page.violations() == []


def card_of(page, level_page, *columns):
    """The figure and the card of a set."""
    rank = level_page[1].index(set(columns)) + 1
    return page.figure(f"set{rank}"), page.view.locator(f"#set{rank}")


def test_a_level_marks_its_rows_in_all_panels(browser, level_page, people):
    page = Page(browser, level_page[0])
    figure, card = card_of(page, level_page, "diet", "drink", "weight")
    before = figure.locator("canvas").screenshot()
    card.locator("select[name=field]").select_option(label="diet")
    part = card.locator("select[name=part]")
    pictures = {before}
    for level in ("vegan", "keto", "all"):
        part.select_option(label=level)
        page.view.wait_for_timeout(300)
        count = card.locator("form.mark output").text_content()
        assert count == f"{(people['diet'] == level).sum()} of 400 drawn rows"
        pictures.add(figure.locator("canvas").screenshot())
    page.keep("level")
    assert len(pictures) == 4
    card.locator("select[name=field]").select_option(label="weight")
    assert part.input_value() == ""
    assert part.locator("option").count() == 5  # quarters
    page.view.wait_for_timeout(300)
    assert figure.locator("canvas").screenshot() == before
    assert page.complaints == []


def test_a_brush_over_tiles_marks_rows_in_other_panels(browser, level_page):
    page = Page(browser, level_page[0])
    figure, _ = card_of(page, level_page, "diet", "drink", "weight")
    box = figure.locator("canvas").bounding_box()
    beside = {"x": box["x"] + 270, "y": box["y"], "width": box["width"] - 270, "height": 230}
    page.view.mouse.move(5, 5)
    before = page.view.screenshot(clip=beside)
    page.drag(figure, (110, 60), (130, 70))
    page.view.mouse.move(5, 5)
    page.view.wait_for_timeout(300)
    page.keep("tiles")
    one_tile = page.view.screenshot(clip=beside)
    page.drag(figure, (90, 40), (200, 180))
    page.view.mouse.move(5, 5)
    page.view.wait_for_timeout(300)
    many_tiles = page.view.screenshot(clip=beside)
    assert len({before, one_tile, many_tiles}) == 3
    assert page.complaints == []


def test_a_brush_over_stacked_bars_marks_rows_in_other_panels(browser, people, tmp_path):
    path = tmp_path / "stacks.html"
    found = covary.search(people, ["weight", "drink"], target="diet", max_size=3)
    found.report(path)
    rank = next(at for at, each in enumerate(found, 1) if len(each.columns) == 3)
    page = Page(browser, path)
    figure = page.figure(f"set{rank}")
    names = page.view.evaluate(
        "JSON.parse(document.getElementById('data').textContent).figures"
        f".set{rank}.concat.map((panel) => panel.layer[0].mark.type)"
    )
    assert "rect" in names
    before = figure.locator("canvas").screenshot()
    page.drag(figure, (100, 40), (150, 120))
    page.view.mouse.move(5, 5)
    page.view.wait_for_timeout(300)
    page.keep("brush")
    assert figure.locator("canvas").screenshot() != before
    assert page.complaints == []


@pytest.mark.parametrize("rows", [True, False])
def test_labels_are_shown_as_text_and_never_executed(browser, tmp_path, rows):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(LABELS), 2_000)
    frame = pd.DataFrame(
        {
            "h": pd.Categorical.from_codes(codes, LABELS),
            "image": pd.Categorical.from_codes(codes % 12, LABELS[:12]),
            "y": codes + rng.normal(size=2_000),
        }
    )
    path = tmp_path / "labels.html"
    found = covary.search(frame, max_size=3)
    found.report(path, rows=rows)
    page = Page(browser, path)
    page.everything()
    page.keep("cards")
    for rank in range(1, len(found) + 1):
        box = page.figure(f"set{rank}").locator("canvas").bounding_box()
        for step in range(1, 8):
            page.view.mouse.move(box["x"] + step * box["width"] / 8, box["y"] + 100)
            page.view.wait_for_timeout(40)
    assert page.view.locator("#vg-tooltip-element").count() == 1
    assert page.view.locator("img, #vg-tooltip-element script").count() == 0
    if rows:
        card = page.view.locator("#set1")
        options = card.locator("select[name=field] option").all_text_contents()
        card.locator("select[name=field]").select_option(label=options[0])
        assert card.locator("select[name=part] option").count() > 1
    assert page.complaints == []
    assert page.violations() == []


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
    page.keep("top")
    page.everything()
    figure = page.figure("heatmap")
    page.keep("heatmap")
    page.figure("graph")
    page.keep("graph")
    figure = page.figure("set1")
    page.keep("set")
    before = figure.locator("canvas").screenshot()
    page.drag(figure, (80, 80), (200, 200))
    page.keep("brush")
    assert figure.locator("canvas").screenshot() != before
    page.view.click("#list button[data-key=size]")
    page.view.click("#list button[data-key=size]")
    sizes = page.view.locator("#list td[data-key=size]").all_text_contents()
    assert sizes == sorted(sizes, reverse=True)
    page.view.fill("input[name=size]", "2")
    assert set(page.view.locator("#list tr:visible td[data-key=size]").all_text_contents()) == {
        "2"
    }
    page.view.fill("#filter input[name=column]", found[0].columns[0])
    assert found[0].columns[0] in page.view.inner_text("#list tbody tr:visible td.names")
    page.keep("filtered")
    page.view.click("#theme")
    page.figure("graph")
    page.keep("dark")
    assert page.complaints == []
    assert page.violations() == []
