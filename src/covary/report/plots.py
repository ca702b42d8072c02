"""Former name of `covary.plots.accessors`."""

import warnings
from typing import Any

from covary.plots import accessors


def __getattr__(name: str) -> Any:
    found = getattr(accessors, name)
    message = f"covary.report.plots.{name} is now covary.plots.accessors.{name}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return found
