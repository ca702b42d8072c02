"""The HTML page of a report: one file that opens without a network."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from importlib import resources
from typing import Any

from covary import errors
from covary.plots.figures.map_geometry import path_text
from covary.report.content import ReportContent
from covary.table import atomic_file


def check_page(path: str | os.PathLike[str], *sources: str | os.PathLike[str] | None) -> None:
    """Raise an error if the page cannot be written, or would overwrite one of its sources.

    Call it before the search: the page is written last.

    Parameters
    ----------
    path : the page
    sources : files that the report is made from, such as the table and the run file
    """
    if any(importlib.util.find_spec(name) is None for name in ("jinja2", "vl_convert")):
        raise errors.no_report()
    real_path = os.path.realpath(path)
    if os.path.isdir(real_path):
        raise errors.unwritable(path, "it is a folder")
    if not os.path.isdir(os.path.dirname(real_path)):
        raise errors.unwritable(path, "there is no such folder")
    if os.path.isfile(real_path) or not os.path.exists(real_path):
        try:
            tempfile.TemporaryFile(dir=os.path.dirname(real_path)).close()
        except OSError as error:
            raise errors.unwritable(path, error.strerror or str(error)) from None
    for source in sources:
        if source is not None and os.path.realpath(source) == real_path:
            raise errors.would_overwrite(path)
    if os.path.splitext(path)[1].lower() not in ("", ".html", ".htm"):
        raise errors.no_html_name(path)


def render_page(content: ReportContent) -> str:
    """Return the page as HTML."""
    try:
        import jinja2
        import vl_convert
    except ImportError:
        raise errors.no_report() from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_own_file),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["path_text"] = path_text
    names = ["page", "map"] if content.overview else ["page"]
    return environment.get_template("page.html").render(
        content=content,
        style=_trusted("".join(_own_file(f"{name}.css") for name in names)),
        script=_trusted("".join(_own_file(f"{name}.js") for name in names)),
        library=_trusted(vl_convert.javascript_bundle()),  # type: ignore[call-arg]
        data=_trusted(_json(_data(content))),
    )


def _own_file(name: str) -> str:
    return (resources.files("covary.report") / name).read_text(encoding="utf-8")


def _data(content: ReportContent) -> dict[str, Any]:
    """Return what the scripts of the page need."""
    data: dict[str, Any] = {"figures": content.figures, "points": content.points}
    if content.overview:
        data["overview"] = {"columns": content.overview.columns, "links": content.overview.links}
    return data


def _json(data: Any) -> str:
    """Return data as JSON without "<": no text in it can end the script element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def write_page(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page completely or not at all."""
    with atomic_file(path) as file:
        file.write(text.encode())


def _trusted(code: str) -> Any:
    """Return our own code unescaped; nothing in it can end the script element."""
    from markupsafe import Markup

    return Markup(code.replace("</script", "<\\/script"))  # noqa: S704
