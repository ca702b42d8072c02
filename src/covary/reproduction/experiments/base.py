"""Base class of experiments.

An experiment runs independent trials and derives findings from their results.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from covary.reproduction.experiments.findings import Findings

# The seed of the published results.
SEED = 20160505

Trial = tuple[Any, ...]
Result = dict[str, Any]


class Results:
    """The result of each trial."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = results

    def __getitem__(self, trial: Trial) -> Result:
        return self._results[trial_key(trial)]


def trial_key(trial: Trial) -> str:
    """Return a trial as text.

    The text is the same for a tuple and for the list that JSON returns.
    """
    return json.dumps(trial)


@dataclass(frozen=True)
class Experiment(ABC):
    """A table or figure of the paper.

    Parameters
    ----------
    quick : run only a few small trials, as a check
    data : the folder with the real tables; None: use the cache, or download
    seed : random seed of the whole experiment
    """

    name: ClassVar[str]
    title: ClassVar[str]
    # Experiments of one group share a trial file, so that no trial runs twice.
    trial_group: ClassVar[str]
    # Whether trials run one at a time, because their time is measured.
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
