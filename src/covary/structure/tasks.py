"""The tasks of an overview: progress of their stages, and their results in a run file."""

from __future__ import annotations

import numpy as np

from covary.array_types import Floats, OnStage
from covary.engines import RunTasks
from covary.engines.base import Task
from covary.measures.uds_chance.selection import Found, examine
from covary.measures.uds_chance.strengths import explain_all
from covary.runs import Codec, RunFile, StoredTasks
from covary.searching.progress import of_stage, reporting
from covary.significance.null_evidence import DRAWS_AS_NUMBERS, draw_evidence, far_evidence
from covary.structure.evidence import relations_evidence


def _lines_to_numbers(lines: Floats) -> Floats:
    """Return an array with its width first."""
    return np.append(lines.shape[1], lines)


def _lines_from_numbers(numbers: Floats) -> Floats:
    return numbers[1:].reshape(-1, int(numbers[0]))


def _found_to_numbers(found: Found) -> Floats:
    return np.array([found.explained, found.freedom, found.n_cells, *found.null, *found.added])


def _found_from_numbers(numbers: Floats) -> Found:
    explained, freedom, n_cells, *rest = numbers.tolist()
    return Found(explained, freedom, int(n_cells), tuple(rest[3:]), tuple(rest[:3]))


CODECS: dict[Task, Codec] = {
    explain_all: Codec(_lines_to_numbers, _lines_from_numbers),
    examine: Codec(_found_to_numbers, _found_from_numbers),
    relations_evidence: Codec(np.atleast_1d, lambda numbers: float(numbers[0])),
    draw_evidence: DRAWS_AS_NUMBERS,
    far_evidence: DRAWS_AS_NUMBERS,
}


class Stages:
    """Runs the tasks of all stages: uses stored results, and reports the progress of the rest.

    Parameters
    ----------
    run_file : keeps the results, if there is one
    on_progress : called with the stage, the number of items done and their total
    """

    def __init__(self, run_file: RunFile | None, on_progress: OnStage | None) -> None:
        self._stored = None if run_file is None else StoredTasks(run_file, CODECS)
        self._on_progress = on_progress

    def around(self, run: RunTasks, stage: str) -> RunTasks:
        """Return a function that runs the tasks of a stage."""
        run = reporting(run, of_stage(stage, self._on_progress))
        return run if self._stored is None else self._stored.around(run)
