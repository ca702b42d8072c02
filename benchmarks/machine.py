"""Description of the machine that runs the benchmarks, without host or user names."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Return processor, number of cores, load and versions."""
    return {
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "numba", "covary")},
    }


def one_line(machine: dict[str, Any]) -> str:
    """Return the description of a machine as one line of text."""
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy", "numba"))
    cores = f"{machine['cores']} core{'s' * (machine['cores'] != 1)}"
    load = "" if machine["load"] is None else f", load {machine['load']} before the run"
    return f"{machine['cpu']}, {cores}{load}; {versions}, covary {machine['covary']}"


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
