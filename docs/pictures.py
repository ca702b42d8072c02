"""Draw the pictures of README and docs: `python docs/pictures.py`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from covary.cli import demo, output

STATIC = Path(__file__).parent / "_static"


def terminal(command) -> str:
    """Return what a command prints as an SVG picture of a terminal, without outside fonts."""
    console = Console(
        record=True, width=96, force_terminal=True, highlight=False, file=io.StringIO()
    )
    output.console = lambda: console
    command.callback()
    picture = console.export_svg(title="covary demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


if __name__ == "__main__":
    STATIC.mkdir(exist_ok=True)
    (STATIC / "demo.svg").write_text(terminal(demo.command))
