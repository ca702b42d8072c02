"""Run files and JSON of the first release can still be used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covary
from covary.engines import Session
from covary.runs import RunFile

DATA = Path(__file__).parent / "data"
FINISHED = DATA / "search-0.1.0.covary"
INTERRUPTED = DATA / "interrupted-0.1.0.covary"
OPTIONS = {"max_size": 3, "top": 8, "permutations": 19}
TARGET_OPTIONS = {**OPTIONS, "target": "0", "sift": True}


@pytest.fixture(scope="module")
def table():
    values = np.loadtxt(DATA / "a_1000x5.csv", delimiter=",")
    return pd.DataFrame(values, columns=list("01234"))


def approximately(value):
    """Return a JSON value that compares numbers with a tolerance."""
    if isinstance(value, dict):
        return {name: approximately(each) for name, each in value.items()}
    if isinstance(value, list):
        return [approximately(each) for each in value]
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


def document(result):
    """Return the JSON of a result, without parameters that the first release did not have."""
    found = json.loads(result.to_json())
    first = json.loads((DATA / "search-0.1.0.json").read_text())["parameters"]
    found["parameters"] = {k: v for k, v in found["parameters"].items() if k in first}
    return found


@pytest.mark.parametrize("path", [FINISHED, INTERRUPTED])
def test_a_run_file_can_be_read(path):
    before = path.read_bytes()
    with RunFile.read(path) as run:
        facts = run.facts()
        columns = run.columns()
        permutations = run.stored_permutations(19, 8)
        null_searches = run.stored_null_searches(8 if path == FINISHED else 7)
    assert facts["versions"]["covary"] == "0.1.0"
    assert facts["rows"] == 1000
    assert facts["tests"] == {"permutations": 19, "seed": 0}
    assert facts["strategy_parameters"] == {"max_size": 3, "beam": 100, "parents": "all"}
    assert ("finished" in facts) == (path == FINISHED)
    assert [name for name, _ in columns] == list("01234")
    assert permutations.shape == (19, 8)
    assert len(null_searches) == (19 if path == FINISHED else 6)
    assert path.read_bytes() == before


def test_an_interrupted_search_can_be_resumed(table, tmp_path):
    run = Path(shutil.copy(INTERRUPTED, tmp_path / "run.covary"))
    result = covary.search(table, run=run, resume=True, **TARGET_OPTIONS)
    assert result.complete
    assert result.tests.complete
    expected = document(covary.search(table, **TARGET_OPTIONS))
    assert document(result) == approximately(expected)


def test_a_finished_search_is_not_computed_again(table, tmp_path, monkeypatch):
    def run_tasks(self, task, items):
        assert len(items) == 0, "the engine ran a task"
        return iter(())

    run = Path(shutil.copy(FINISHED, tmp_path / "run.covary"))
    with monkeypatch.context() as patch:
        patch.setattr(Session, "run", run_tasks)
        result = covary.search(table, run=run, resume=True, **OPTIONS)
    assert result.complete
    assert document(result) == json.loads((DATA / "search-0.1.0.json").read_text())


@pytest.mark.parametrize(
    ("path", "options"), [(FINISHED, {**OPTIONS, "top": 7}), (INTERRUPTED, OPTIONS)]
)
def test_another_search_cannot_resume_the_file(table, tmp_path, path, options):
    run = Path(shutil.copy(path, tmp_path / "run.covary"))
    with pytest.raises(covary.errors.RunError, match="belongs to another search"):
        covary.search(table, run=run, resume=True, **options)
    assert run.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", [FINISHED, INTERRUPTED])
def test_a_report_can_be_written(table, tmp_path, path, covary_command):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    # Not a CSV file: a first line of numbers would not count as a header.
    table.to_parquet(tmp_path / "table.parquet")
    run = Path(shutil.copy(path, tmp_path / "run.covary"))
    page = tmp_path / "page.html"
    code, out, _ = covary_command("report", run, "--table", tmp_path / "table.parquet", "-o", page)
    assert code == 0
    assert out
    assert page.stat().st_size > 1000
    assert run.read_bytes() == path.read_bytes()


def test_the_json_has_the_same_keys_and_values(table):
    expected = json.loads((DATA / "search-0.1.0.json").read_text())
    assert document(covary.search(table, **OPTIONS)) == approximately(expected)
