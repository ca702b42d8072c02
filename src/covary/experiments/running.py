"""Runs the trials of an experiment, and keeps what each gave: what is done is never done again."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from covary import __version__, errors
from covary.engines import Processes
from covary.experiments.base import Experiment, Result, Results, Trial, key_of
from covary.experiments.machine import machine

OnProgress = Callable[[int, int], None]


class Done(NamedTuple):
    """What a trial gave, in how many seconds of a processor, when and where."""

    result: Result
    seconds: float
    date: str
    machine: str


class Ran(NamedTuple):
    """What all trials of an experiment gave."""

    results: Results
    seconds: float
    dates: list[str]
    machines: list[str]


class TrialFile:
    """Results of trials in an SQLite database: what was written once is never lost.

    Several runs may use it at the same time.

    Parameters
    ----------
    path : of the file; made if it is not there
    seed : of the trials; a file of another seed, or of another version of covary, is refused
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        with self._open() as file:
            file.execute("CREATE TABLE IF NOT EXISTS facts (covary TEXT, seed INTEGER)")
            file.execute(
                "CREATE TABLE IF NOT EXISTS trials (trial TEXT PRIMARY KEY, result TEXT NOT NULL, "
                "seconds REAL NOT NULL, date TEXT NOT NULL, machine TEXT NOT NULL)"
            )
            file.execute(
                "INSERT INTO facts SELECT ?, ? WHERE NOT EXISTS (SELECT * FROM facts)",
                (__version__, seed),
            )
            made_by = file.execute("SELECT covary, seed FROM facts").fetchone()
            if made_by != (__version__, seed):
                raise errors.other_trials(path, *made_by)

    def read(self) -> dict[str, Done]:
        """Return what is known, by trial."""
        with self._open() as file:
            lines = file.execute("SELECT trial, result, seconds, date, machine FROM trials")
            return {trial: Done(json.loads(result), *rest) for trial, result, *rest in lines}

    def write(self, done: Mapping[str, Done]) -> None:
        """Keep what some trials gave."""
        lines = [
            (trial, json.dumps(each.result, allow_nan=False), *each[1:])
            for trial, each in done.items()
        ]
        with self._open() as file:
            file.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?)", lines)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as file, file:
                yield file
        except sqlite3.OperationalError as error:  # a full disk, a folder that is not there
            raise errors.unwritable(self.path, error) from None
        except (sqlite3.DatabaseError, ValueError):
            raise errors.no_trials(self.path) from None


def run_trials(
    experiment: Experiment, path: Path, n_jobs: int | None, on_progress: OnProgress | None = None
) -> Ran:
    """Run all trials that the file does not have yet, and return the results of all."""
    trials = experiment.trials()
    file = TrialFile(path, experiment.seed)
    known = file.read()
    left = [trial for trial in trials if key_of(trial) not in known]
    # In any order, so that the time that is left can be told from the time so far; in another
    # than that of a run which works on the same trials.
    left = [left[at] for at in np.random.default_rng(os.getpid()).permutation(len(left))]
    if left:
        on_progress = on_progress or (lambda done, total: None)
        n_done = len(trials) - len(left)
        with Processes(1 if experiment.alone else n_jobs).session(experiment) as session:
            on_progress(n_done, len(trials))
            for first, found in session.run(_run_some, left):
                new = {key_of(left[first + at]): each for at, each in enumerate(found)}
                file.write(new)
                known |= new
                n_done += len(new)
                on_progress(n_done, len(trials))
    done = {key_of(trial): known[key_of(trial)] for trial in trials}
    return Ran(
        Results({key: each.result for key, each in done.items()}),
        sum(each.seconds for each in done.values()),
        sorted({each.date for each in done.values()}),
        sorted({each.machine for each in done.values()}),
    )


def _run_some(experiment: Experiment, trials: Sequence[Trial]) -> list[Done]:
    """Run some trials: a task."""
    found = []
    here = machine()
    for trial in trials:
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: Any = experiment.run(trial)
        seconds = time.process_time() - begin
        found.append(Done(result, seconds, datetime.now(UTC).date().isoformat(), here))
    return found
