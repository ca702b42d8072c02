"""Repeated rows: counted if they are unlikely by chance."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covary
from covary.prepare import prepare
from covary.structure.repeats import count_repeated_rows
from planted_tables import awkward


def with_copies(values, n_copies, seed=0):
    """The rows and copies of some of them, in random order."""
    rng = np.random.default_rng(seed)
    copies = values[rng.choice(len(values), n_copies, replace=False)]
    return rng.permutation(np.concatenate([values, copies]))


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_rows_are_counted(seed):
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [rng.normal(size=(500, 3)).round(3), rng.integers(0, 3, 500), np.zeros(500)]
    )
    values[rng.random(500) < 0.3, 1] = np.nan
    values[:50, 4] = -0.0  # equal to 0
    table = with_copies(values, 40, seed)
    expected = pd.DataFrame(table).duplicated().sum()
    assert count_repeated_rows(prepare(table)) == expected >= 40
    assert count_repeated_rows(prepare(values)) == 0


@pytest.mark.parametrize("n_rows", [500, 900, 2500])
def test_many_copies_are_counted(n_rows):
    """A sample with replacement, and a table that is repeated as a whole and in part."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(1000, 4)).round(2)
    sampled = rows[rng.integers(0, 1000, n_rows)]
    for table in (sampled, np.concatenate([rows, sampled])):
        expected = pd.DataFrame(table).duplicated().sum()
        assert count_repeated_rows(prepare(table)) == expected > 0


@pytest.mark.parametrize("times", [2, 3])
def test_a_table_that_is_repeated_as_a_whole(times):
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.normal(size=(200, 2)).round(2), rng.integers(0, 3, 200)])
    table = rng.permutation(np.concatenate([rows] * times))
    assert count_repeated_rows(prepare(table)) == (times - 1) * 200
    levels = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), axis=-1).reshape(-1, 3)
    assert count_repeated_rows(prepare(np.concatenate([levels] * times))) == 0


@pytest.mark.parametrize("n_values", [2, 5, 30])
def test_equal_rows_of_coarse_columns_are_chance(n_values):
    rng = np.random.default_rng(1)
    for n_columns in (1, 2, 3, 5):
        values = rng.integers(0, n_values, (1000, n_columns))
        assert count_repeated_rows(prepare(np.column_stack([values, values]))) == 0
        assert count_repeated_rows(prepare(np.column_stack([values, values[:, 0] ** 2]))) == 0


def test_equal_rows_of_columns_that_determine_each_other_are_chance():
    rng = np.random.default_rng(5)
    code = rng.integers(0, 400, 1000)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(code, unit="D")
    rare = rng.random(1000) < 0.1
    for table in (
        {"code": code, "inch": 2.54 * code, "rare": rare},
        {"code": code, "other": -code, "log": np.log(code + 1.0), "rare": rare},
        {"day": day, "rare": rare},
    ):
        assert count_repeated_rows(prepare(pd.DataFrame(table))) == 0


def test_independent_columns_of_awkward_kinds_are_not_repeated():
    for seed in range(5):
        table = awkward(seed, 300, 10)
        assert covary.overview(table.iloc[:, :6]).repeated_rows == 0


def test_an_overview_says_that_rows_are_repeated(tmp_path):
    table = with_copies(np.random.default_rng(2).normal(size=(300, 3)), 30)
    found = covary.overview(table)
    assert found.repeated_rows == 30
    assert "30 of 330 rows repeat another row" in str(found)
    assert found.to_dict()["repeated_rows"] == 30
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    found.report(tmp_path / "out.html")
    assert "30 of 330 rows repeat another row" in (tmp_path / "out.html").read_text()


@pytest.mark.skipif("COVARY_TABLES" not in os.environ, reason="no folder of real tables")
@pytest.mark.parametrize(("name", "expected"), [("wine_quality", 1177), ("abalone", 0)])
def test_real_tables(name, expected):
    path = Path(os.environ["COVARY_TABLES"]) / f"{name}.csv.gz"
    frame = pd.read_csv(path)
    assert frame.duplicated().sum() == expected
    numbers = frame.select_dtypes("number")
    expected = 0 if name == "abalone" else numbers.duplicated().sum()
    assert count_repeated_rows(prepare(numbers.to_numpy(float))) == expected
