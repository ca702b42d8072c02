from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

import covary
from covary.cli.main import _run

# The first call of a kernel loads numba: no single example tells anything about time. What has to
# pass before anything lands draws the same examples every time; at a desk, new ones are tried.
settings.register_profile("covary", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("covary")

KERNELS = Path(covary.__file__).parent / "kernels"


def pytest_configure(config):
    """See interrupts, which shells switch off for what runs in the background; drop old kernels.

    Compiled kernels are old if any kernel source is newer: numba looks at one file at a time.
    """
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    newest = max(source.stat().st_mtime for source in KERNELS.glob("*.py"))
    for compiled in (KERNELS / "__pycache__").glob("*.nb[ic]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink(missing_ok=True)


@pytest.fixture
def covary_command(capsys, monkeypatch):
    """Run the command line in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["covary", *map(str, arguments)])
        code = _run()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def real_tables() -> Path:
    """The folder of real tables, or a skip where it is not there."""
    folder = Path(__file__).parents[2] / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip("the real tables are not on this machine")
    return folder
