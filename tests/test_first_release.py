"""Run files and JSON of the first release can still be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covary
from covary.report.presenter import search_result
from covary.runs import RunFile
from covary.searching.resume import restore_search

DATA = Path(__file__).parent / "data"
FINISHED = DATA / "search-0.1.0.covary"
INTERRUPTED = DATA / "interrupted-0.1.0.covary"
OPTIONS = {"max_size": 3, "top": 8, "permutations": 19}
TARGET_OPTIONS = {**OPTIONS, "target": "0", "sift": True}
# What the first release did not have: in the JSON of a result, and in that of a set.
LATER_KEYS = ("examined", "relations")
LATER_KEYS_OF_SETS = ("variant_of", "variants", "variant_columns")


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
    """Return the JSON of a result, without what the first release did not have."""
    found = json.loads(result.to_json())
    first = json.loads((DATA / "search-0.1.0.json").read_text())["parameters"]
    found["parameters"] = {k: v for k, v in found["parameters"].items() if k in first}
    strategy = found["parameters"]["strategy_parameters"]
    assert strategy.pop("every") in (0, None)
    for key in LATER_KEYS:
        del found[key]
    for subspace in found["subspaces"]:
        for key in LATER_KEYS_OF_SETS:
            del subspace[key]
    # The number of sets that are compared replaces the number of repeated searches.
    found["tests"]["searches"] = OPTIONS["permutations"]
    assert found["tests"].pop("compared") == found["scored"]
    assert found["tests"].pop("null_of_rows") == ""
    assert found["tests"].pop("row_dependence") is None
    return found


@pytest.mark.parametrize("path", [FINISHED, INTERRUPTED])
def test_a_run_file_can_be_read(path):
    before = path.read_bytes()
    with RunFile.read(path) as run:
        facts = run.facts()
        columns = run.columns()
        permutations = run.stored_permutations(19, 8)
        tests = run.finished_tests(8)
    assert facts["versions"]["covary"] == "0.1.0"
    assert facts["rows"] == 1000
    assert facts["tests"] == {"permutations": 19, "seed": 0}
    assert facts["strategy_parameters"] == {"max_size": 3, "beam": 100, "parents": "all"}
    assert ("finished" in facts) == (path == FINISHED)
    assert [name for name, _ in columns] == list("01234")
    assert permutations.shape == (19, 8)
    assert len(tests) == (8 if path == FINISHED else 0)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("path", "options"), [(FINISHED, OPTIONS), (INTERRUPTED, TARGET_OPTIONS)])
def test_a_search_is_not_resumed_because_scores_differ(table, tmp_path, path, options):
    run = Path(shutil.copy(path, tmp_path / "run.covary"))
    with pytest.raises(covary.errors.RunError, match=r"written by covary 0\.1\.0"):
        covary.search(table, run=run, resume=True, **options)
    assert run.read_bytes() == path.read_bytes()


def test_a_finished_search_has_its_stored_scores(table, tmp_path):
    table.to_parquet(tmp_path / "table.parquet")
    run = Path(shutil.copy(FINISHED, tmp_path / "run.covary"))
    with pytest.warns(covary.errors.CovaryWarning, match=r"written by covary 0\.1\.0"):
        search = restore_search(run, tmp_path / "table.parquet")
    expected = json.loads((DATA / "search-0.1.0.json").read_text())
    result = search_result(search)
    assert document(result) == approximately(expected)
    # Only the best sets have stored p-values.
    assert {each.columns for each in result.relations} <= {each.columns for each in result}


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


def test_the_json_has_the_same_keys(table):
    expected = json.loads((DATA / "search-0.1.0.json").read_text())
    found = document(covary.search(table, **OPTIONS))
    assert set(expected) == set(found)
    assert set(expected["subspaces"][0]) == set(found["subspaces"][0])
