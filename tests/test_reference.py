"""Scores of the program of the paper's authors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from covary import UDS

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "authors_scores.json").read_text())["cases"]


def test_there_are_21_cases():
    assert len(CASES) == 21


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}-{case['columns']}")
def test_score_order_bins_and_gains_equal_those_of_the_authors(case):
    table = np.loadtxt(DATA / case["file"], delimiter=",")[:, case["columns"]]
    explanation = UDS(scale=None).explain(table)
    assert explanation.score == pytest.approx(case["uds"], abs=1e-9)
    order = [case["columns"][int(name[1:])] for name in explanation.order]
    assert order == case["order"]
    entropy = dict(zip(case["columns"], case["ce_log2"], strict=True))
    for step, theirs in zip(explanation.steps, case["steps"], strict=True):
        target = case["columns"][int(step.target[1:])]
        condition = case["columns"][int(step.given[-1][1:])]
        assert (condition, target) == (theirs["x"], theirs["y"])
        assert step.bins == len(theirs["bin_sizes"])
        assert step.explained * entropy[target] == pytest.approx(theirs["gain"], abs=1e-9)
        x = np.sort(np.loadtxt(DATA / case["file"], delimiter=",")[:, condition])
        edges = np.searchsorted(x, [*step.cuts[step.given[-1]], np.inf], side="right")
        assert np.diff(edges, prepend=0).tolist() == theirs["bin_sizes"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}-{case['columns']}")
def test_unregularized_score_equals_that_of_the_authors(case):
    table = np.loadtxt(DATA / case["file"], delimiter=",")[:, case["columns"]]
    score = UDS(scale=None, regularize=False).score(table)
    assert score == pytest.approx(case["uds_unregularized"], abs=1e-9)
