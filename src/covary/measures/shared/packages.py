"""Optional packages that compute some of the baselines."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from functools import cache
from types import ModuleType

from covary import errors

NOTICE_AFTER_SECONDS = 2.0

# One import at a time, because threads share the warning filters.
_import_lock = threading.Lock()


def load_package(measure: str, module: str) -> ModuleType:
    """Return a module that a measure needs; its import warnings are suppressed."""
    with _import_lock:
        return _load(measure, module)


@cache
def _load(measure: str, module: str) -> ModuleType:
    package = module.partition(".")[0]
    notice = threading.Timer(NOTICE_AFTER_SECONDS, _print_notice, (package,))
    notice.daemon = True
    notice.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # The package itself, or one that it needs.
        absent = (error.name or package).partition(".")[0]
        raise errors.missing_package(measure, absent) from None
    except ImportError:
        raise errors.missing_package(measure, package) from None
    finally:
        notice.cancel()


def _print_notice(package: str) -> None:
    if sys.stderr is not None:
        print(f"covary: loading {package}, this takes a few seconds ...", file=sys.stderr)
