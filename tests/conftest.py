from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

import covary
from covary.cli.main import _run

# No deadline, because the first call of a kernel loads numba. In CI the examples are the same in
# each run; elsewhere each run draws new examples.
settings.register_profile("covary", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("covary")

KERNELS = Path(covary.__file__).parent / "kernels"


def pytest_configure(config):
    """Enable interrupts, which shells disable for background jobs, and delete stale kernels.

    Compiled kernels are stale if any kernel source is newer. Numba checks only the file of the
    kernel itself, not the files of the kernels that it calls.
    """
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return
    newest = max(source.stat().st_mtime for source in KERNELS.rglob("*.py"))
    compiled = list(KERNELS.rglob("*.nb[ic]"))
    stale = [each for each in compiled if each.stat().st_mtime < newest]
    for each in stale:
        each.unlink(missing_ok=True)
    if getattr(config.option, "numprocesses", None):
        # Two processes that compile the same kernels at the same time may crash.
        if stale or not compiled:
            subprocess.run([sys.executable, "-m", "covary.kernels"], check=True)
        _compile_dcor()


def _compile_dcor():
    """Compile dcor before workers start.

    If two processes compile it at the same time, each may load what the other has written, and
    LLVM aborts ("Symbol not found").
    """
    spec = importlib.util.find_spec("dcor")
    if spec is not None and not any(Path(spec.origin).parent.rglob("guf-*.nbc")):
        subprocess.run([sys.executable, "-W", "ignore", "-c", "import dcor"], check=True)


@pytest.fixture
def covary_command(capsys, monkeypatch):
    """Return a function that runs the command line: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["covary", *map(str, arguments)])
        code = _run()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def real_tables() -> Path:
    """Return the folder of real tables, or skip the test if COVARY_TABLES does not name one."""
    folder = os.environ.get("COVARY_TABLES", "")
    if not os.path.isdir(folder):
        pytest.skip("needs real tables: set COVARY_TABLES to the folder with NAME.csv.gz files")
    return Path(folder)
