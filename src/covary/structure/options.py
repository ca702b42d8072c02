"""The options of an overview, used by the Python function and the command."""

from __future__ import annotations

from dataclasses import dataclass

from covary.options import Options, option


@dataclass(frozen=True)
class OverviewOptions(Options):
    """Options of `covary.overview`, except the engine."""

    seed: int = option(0, "Random seed for the null distribution of the evidence.")
