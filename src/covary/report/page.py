"""One HTML page that opens offline: everything that it needs is in it."""

from __future__ import annotations

import importlib.util
import json
import os
from importlib import resources
from typing import Any

from covary import errors
from covary.report.content import Content
from covary.table import whole_file


def check_page(path: str | os.PathLike[str], *sources: str | os.PathLike[str] | None) -> None:
    """Refuse a page that cannot be written, or that would take the place of what it is about.

    Before anything is computed: the page comes last.
    """
    if any(importlib.util.find_spec(name) is None for name in ("jinja2", "vl_convert")):
        raise errors.no_report()
    whole = os.path.realpath(path)
    if os.path.isdir(whole):
        raise errors.unwritable(path, "it is a folder")
    if not os.path.isdir(os.path.dirname(whole)):
        raise errors.unwritable(path, "there is no such folder")
    for source in sources:
        if source is not None and os.path.realpath(source) == whole:
            raise errors.would_overwrite(path)
    if os.path.splitext(path)[1].lower() not in ("", ".html", ".htm"):
        raise errors.no_html_name(path)


def render(content: Content) -> str:
    """Return the page."""
    try:
        import jinja2
        import vl_convert
    except ImportError:
        raise errors.no_report() from None
    here = resources.files("covary.report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    return template.render(
        content=content,
        style=_raw((here / "page.css").read_text(encoding="utf-8")),
        script=_raw((here / "page.js").read_text(encoding="utf-8")),
        library=_raw(vl_convert.javascript_bundle()),  # type: ignore[call-arg]
        data=_raw(_json({"figures": content.figures, "points": content.points})),
    )


def _json(data: Any) -> str:
    """Return data that no text in it can end early."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def write(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())


def _raw(code: str) -> Any:
    """Return code of our own, which no sequence in it may end early."""
    from markupsafe import Markup

    return Markup(code.replace("</script", "<\\/script"))  # noqa: S704
