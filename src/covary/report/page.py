"""One HTML page that opens offline: everything that it needs is in it."""

from __future__ import annotations

import json
import os
import tempfile
from importlib import resources
from typing import Any

from covary import errors
from covary.report.content import Content


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
        figures=_raw(json.dumps(content.figures, allow_nan=False).replace("<", "\\u003c")),
    )


def write(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page, whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=folder, suffix=".html", delete=False, encoding="utf-8"
        ) as file:
            try:
                file.write(text)
                file.close()
                os.chmod(file.name, 0o666 & ~_umask())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise errors.unwritable(path, error.strerror) from None


def _raw(code: str) -> Any:
    """Return code of our own, which no sequence in it may end early."""
    from markupsafe import Markup

    return Markup(code.replace("</script", "<\\/script"))  # noqa: S704


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
