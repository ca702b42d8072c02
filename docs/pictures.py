"""Draw the pictures of README and docs: `make pictures`, or `python docs/pictures.py`.

It runs the Python code of tutorial.rst and gallery.rst, and keeps the pictures that it saves.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import shutil
import struct
import tempfile
import textwrap
import zlib
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path

from covary.cli import demo

HERE = Path(__file__).parent
STATIC = HERE / "_static"
# Larger pictures are too large for a web page and a repository.
MAX_BYTES = 250_000
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# The rank of the set of three columns in the tutorial.
CARD = 5


def keep(name: str, picture: bytes) -> None:
    """Write a picture and print its size."""
    if name.endswith(".png"):
        picture = recompressed(picture)
    (STATIC / name).write_bytes(picture)
    note = "" if len(picture) <= MAX_BYTES else ", too large"
    print(f"{name}: {len(picture) / 1000:.0f} kB{note}")


def recompressed(picture: bytes) -> bytes:
    """Return the same PNG with the strongest zlib compression; pixels do not change."""
    chunks = list(_chunks(picture))
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    *others, end = (chunk for chunk in chunks if chunk[0] != b"IDAT")
    packed = picture[:8]
    for kind, data in (*others, (b"IDAT", zlib.compress(pixels, 9)), end):
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        packed += struct.pack(">I", len(data)) + kind + data + checksum
    return min(packed, picture, key=len)


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG: kind and data."""
    at = 8
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += length + 12


def draw_demo() -> None:
    """Keep the picture that `covary demo` draws."""
    with redirect_stdout(io.StringIO()):
        demo.command.callback(page="covary-demo.html", open_page=False)
    keep("demo.png", Path("covary-demo.png").read_bytes())


def run(page: str) -> None:
    """Run the Python code of a page of these docs, and keep the pictures that it saves."""
    text = (HERE / f"{page}.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?: +.*\n|\n)+)", text, re.MULTILINE)
    code = Path(f"{page}.py")
    code.write_text("\n".join(map(textwrap.dedent, blocks)), encoding="utf-8")
    with redirect_stdout(io.StringIO()):
        runpy.run_path(os.fspath(code))
    for picture in sorted(Path().glob("*.png")) + sorted(Path().glob("*.svg")):
        keep(f"{page}-{picture.name}", picture.read_bytes())


class Page:
    """A report in a browser."""

    def __init__(self, browser, file: str, scheme: str, scale: float = 1.25) -> None:
        size = {"width": 960, "height": 860}
        self.view = browser.new_page(
            viewport=size, color_scheme=scheme, reduced_motion="reduce", device_scale_factor=scale
        )
        self.view.goto(Path(file).absolute().as_uri())

    def drawn(self, figure: str):
        """Scroll to a figure and wait for it: the page draws only figures near the window."""
        place = self.view.locator(f'[data-figure="{figure}"]')
        place.scroll_into_view_if_needed()
        self.view.locator(f'[data-figure="{figure}"][data-drawn]').wait_for()
        return place

    def drag(self, figure, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag over a figure from one place in it to another."""
        box = figure.locator("canvas").bounding_box()
        self.view.mouse.move(box["x"] + start[0], box["y"] + start[1])
        self.view.mouse.down()
        self.view.mouse.move(box["x"] + end[0], box["y"] + end[1], steps=8)
        self.view.mouse.up()
        self.view.wait_for_timeout(300)

    def top(self) -> bytes:
        """Return a picture of the top of the page."""
        return self.view.screenshot()

    def card(self, rank: int = CARD, width: int = 860) -> bytes:
        """Return a picture of the card of one set."""
        for figure in (f"set{rank}", f"null{rank}"):
            if self.view.locator(f'[data-figure="{figure}"]').count():
                self.drawn(figure)
        self.view.set_viewport_size({"width": width, "height": 1000})
        self.view.evaluate(f"location.hash = 'set{rank}'")
        self.view.wait_for_timeout(300)
        box = self.view.locator(f"#set{rank}").bounding_box()
        self.view.set_viewport_size({"width": width, "height": int(box["height"]) + 120})
        self.view.wait_for_timeout(300)
        box = self.view.locator(f"#set{rank}").bounding_box()
        clip = {"x": 0, "y": box["y"] + 20, "width": width, "height": box["height"] - 10}
        return self.view.screenshot(clip=clip)


@contextmanager
def chromium() -> Iterator:
    """Start the installed Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


def draw_pages(file: str) -> None:
    """Draw a report as a browser shows it."""
    if CHROMIUM is None:
        print("Chromium is not installed: no pictures of the page")
        return
    with chromium() as browser:
        light = Page(browser, file, "light")
        keep("page-top.png", light.top())
        keep("page-light.png", light.card())
        panels = light.drawn(f"set{CARD}")
        light.drag(panels, (46, 26), (100, 150))
        keep("page-brush.png", panels.screenshot())
        keep("page-dark.png", Page(browser, file, "dark").card())


def draw_level_page(file: str) -> None:
    """Draw a card of a table with names, in which the rows of one level are marked."""
    if CHROMIUM is None:
        return
    with chromium() as browser:
        page = Page(browser, file, "light", scale=1.0)
        page.drawn("set1")
        form = page.view.locator("#set1 form.mark")
        form.locator("select[name=field]").select_option(label="guest")
        form.locator("select[name=part]").select_option(label="tourist")
        keep("page-levels.png", page.card(1, width=920))


def main() -> None:
    """Draw all pictures in temporary folders."""
    STATIC.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        draw_demo()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        run("gallery")
        draw_level_page("orders.html")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        run("tutorial")
        draw_pages("wine.html")


if __name__ == "__main__":
    main()
