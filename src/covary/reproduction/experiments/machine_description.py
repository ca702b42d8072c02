"""A short description of the machine, without its name or its user."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version


def machine_description() -> str:
    """Return processor, number of cores, operating system and versions."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1] for line in file if line.startswith("model name")]
        model = models[0].strip() if models else model
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(
        f"{package} {version(package)}" for package in ("numpy", "numba", "scikit-learn")
    )
    python = f"Python {platform.python_version()}"
    return f"{model}, {cores} cores, {platform.system()}; {python}, {versions}"
