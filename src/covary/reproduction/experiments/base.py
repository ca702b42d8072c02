"""Base class of experiments: independent trials, and the findings from their results."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from covary.reproduction.experiments.findings import Findings

SEED = 20160505

Trial = tuple[Any, ...]
Result = dict[str, Any]


class Results:
    """Results by trial."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = results

    def __getitem__(self, trial: Trial) -> Result:
        return self._results[trial_key(trial)]


def trial_key(trial: Trial) -> str:
    """Return a trial as text. A trial that was read from a file has the same text."""
    return json.dumps(trial)


@dataclass(frozen=True)
class Experiment(ABC):
    """A table or figure of the paper.

    Parameters
    ----------
    quick : run only a few small trials, as a check
    data : the folder with the real tables; None uses the cache or a download
    seed : random seed of the whole experiment
    """

    name: ClassVar[str]
    title: ClassVar[str]
    # Experiments of one group share a trial file: no trial runs twice.
    trial_group: ClassVar[str]
    # Whether trials run one at a time, to measure time.
    sequential: ClassVar[bool] = False

    quick: bool = False
    data: Path | None = None
    seed: int = SEED

    @property
    def dataset_names(self) -> tuple[str, ...]:
        """Names of the real tables that it needs, as in `covary.reproduction.datasets`."""
        return ()

    @abstractmethod
    def trials(self) -> list[Trial]:
        """Return all trials; a trial consists of numbers, strings and sequences of them."""

    @abstractmethod
    def run(self, trial: Trial) -> Result:
        """Return the result of a trial; it depends on the trial and the seed only."""

    @abstractmethod
    def findings(self, results: Results) -> Findings:
        """Return the findings from the results of all trials."""
