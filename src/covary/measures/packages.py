"""Measures that other packages compute, which need not be installed."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from functools import cache
from types import ModuleType

from covary import errors

NOTICE_AFTER_SECONDS = 2.0


# One thread at a time: filters of warnings are shared by all of them.
_loading = threading.Lock()


def load(measure: str, module: str) -> ModuleType:
    """Return a module that a measure needs; what it warns of on import is not the user's doing."""
    with _loading:
        return _load(measure, module)


@cache
def _load(measure: str, module: str) -> ModuleType:
    package = module.partition(".")[0]
    notice = threading.Timer(NOTICE_AFTER_SECONDS, _say, (package,))
    notice.daemon = True
    notice.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError:
        raise errors.missing_package(measure, package) from None
    finally:
        notice.cancel()


def _say(package: str) -> None:
    if sys.stderr is not None:
        print(f"covary: loading {package}, which takes some seconds ...", file=sys.stderr)
