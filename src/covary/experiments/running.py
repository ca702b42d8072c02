"""Runs the trials of an experiment, and keeps what each gave: what is done is never done again."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from covary import __version__, errors
from covary.engines import Processes
from covary.experiments.base import Experiment, Result, Results, Trial, key_of

OnProgress = Callable[[int, int], None]


class Ran(NamedTuple):
    """What all trials of an experiment gave, and how many seconds of a processor they took."""

    results: Results
    seconds: float


class TrialFile:
    """Results of trials, one on each line, which is written when the trial is done.

    Parameters
    ----------
    path : of the file; made if it is not there
    seed : of the trials; a file of another seed, or of another version, is refused
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self._made_by = {"covary": __version__, "seed": seed}

    def read(self) -> dict[str, tuple[float, Result]]:
        """Return seconds and result by trial; a line that a kill cut short is not there."""
        if not self.path.exists():
            return {}
        found: dict[str, tuple[float, Result]] = {}
        lines = self.path.read_bytes().split(b"\n")
        for at, line in enumerate(lines):
            try:
                each = json.loads(line)
                if at == 0:
                    if each != self._made_by:
                        raise errors.other_trials(self.path)
                    continue
                found[json.dumps(each["trial"])] = (each["seconds"], each["result"])
            except (ValueError, KeyError, TypeError):
                if at == 0:
                    raise errors.other_trials(self.path) from None
        return found

    def append(self, done: Sequence[tuple[Trial, float, Result]]) -> None:
        """Write results at the end, at once."""
        lines = [
            json.dumps({"trial": trial, "seconds": round(seconds, 4), "result": result})
            for trial, seconds, result in done
        ]
        begun = self.path.exists() and self.path.stat().st_size > 0
        # A new line first: the last one may have been cut short.
        text = "\n".join([*([""] if begun else [json.dumps(self._made_by)]), *lines])
        try:
            with open(self.path, "ab") as file:  # written by one call, or refused
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise errors.unwritable(self.path, error.strerror) from None


def run_trials(
    experiment: Experiment, path: Path, n_jobs: int | None, on_progress: OnProgress | None = None
) -> Ran:
    """Run all trials that the file does not have yet, and return the results of all."""
    trials = experiment.trials()
    file = TrialFile(path, experiment.seed)
    known = file.read()
    left = [trial for trial in trials if key_of(trial) not in known]
    # In any order, so that the time that is left can be told from the time so far.
    left = [left[at] for at in np.random.default_rng(0).permutation(len(left))]
    n_done = len(trials) - len(left)
    if left:
        with Processes(1 if experiment.alone else n_jobs).session(experiment) as session:
            if on_progress is not None:
                on_progress(n_done, len(trials))
            for first, done in session.run(_run_some, left):
                file.append([(left[first + at], *each) for at, each in enumerate(done)])
                n_done += len(done)
                if on_progress is not None:
                    on_progress(n_done, len(trials))
        known = file.read()
    keys = [key_of(trial) for trial in trials]
    return Ran(Results({key: known[key][1] for key in keys}), sum(known[key][0] for key in keys))


def _run_some(experiment: Experiment, trials: Sequence[Trial]) -> list[tuple[float, Any]]:
    """Return seconds and result of some trials: a task."""
    found = []
    for trial in trials:
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = experiment.run(trial)
        found.append((time.process_time() - begin, result))
    return found
