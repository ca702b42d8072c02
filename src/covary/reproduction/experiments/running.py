"""Runs the trials of an experiment; finished trials are read from the trial file."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import OnProgress
from covary.engines import Processes
from covary.reproduction.experiments.base import Experiment, Results, Trial, trial_key
from covary.reproduction.experiments.machine_description import machine_description
from covary.reproduction.experiments.trial_file import TrialFile, TrialRecord


class ExperimentRun(NamedTuple):
    """Results of all trials of an experiment, with total processor time, dates and machines."""

    results: Results
    seconds: float
    dates: list[str]
    machines: list[str]


def run_trials(
    experiment: Experiment, path: Path, n_jobs: int | None, on_progress: OnProgress | None = None
) -> ExperimentRun:
    """Run all trials that are not yet in the file, and return the results of all trials."""
    trials = experiment.trials()
    file = TrialFile(path, experiment.seed)
    records = file.read()
    remaining = [trial for trial in trials if trial_key(trial) not in records]
    # A random order makes the estimate of the remaining time meaningful. Its seed is the process
    # ID, so that two runs on the same file work on different trials.
    order = np.random.default_rng(os.getpid()).permutation(len(remaining))
    remaining = [remaining[at] for at in order]
    if remaining:
        on_progress = on_progress or (lambda done, total: None)
        n_done = len(trials) - len(remaining)
        with Processes(1 if experiment.sequential else n_jobs).session(experiment) as session:
            on_progress(n_done, len(trials))
            for first, chunk in session.run(_run_chunk, remaining):
                new = {trial_key(remaining[first + at]): each for at, each in enumerate(chunk)}
                file.write(new)
                records |= new
                n_done += len(new)
                on_progress(n_done, len(trials))
    used = {trial_key(trial): records[trial_key(trial)] for trial in trials}
    return ExperimentRun(
        Results({key: each.result for key, each in used.items()}),
        sum(each.seconds for each in used.values()),
        sorted({each.date for each in used.values()}),
        sorted({each.machine for each in used.values()}),
    )


def _run_chunk(experiment: Experiment, trials: Sequence[Trial]) -> list[TrialRecord]:
    """Return the records of some trials; this is the task of the workers."""
    records = []
    machine = machine_description()
    for trial in trials:
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: Any = experiment.run(trial)
        seconds = time.process_time() - begin
        records.append(TrialRecord(result, seconds, datetime.now(UTC).date().isoformat(), machine))
    return records
