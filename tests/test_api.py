"""The public functions with all supported kinds of tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import covary
from covary.errors import ColumnError, CovaryError, CovaryWarning, TableError


@pytest.fixture(scope="module")
def array():
    rng = np.random.default_rng(0)
    height = rng.normal(1.7, 0.1, 400)
    return np.column_stack([height, np.round(height, 1), rng.random(400), np.ones(400)])


NAMES = ["height", "rounded", "noise", "constant"]


def as_pandas(array):
    return pd.DataFrame(array, columns=NAMES)


def as_polars(array):
    return pl.DataFrame(dict(zip(NAMES, array.T, strict=True)))


def as_arrow(array):
    return pa.table(dict(zip(NAMES, array.T, strict=True)))


@pytest.mark.parametrize("make", [as_pandas, as_polars, as_arrow])
def test_every_kind_of_table_gives_the_same_score(array, make):
    frame = make(array)
    assert covary.score(frame, ["height", "rounded"]) == covary.score(array, [0, 1])
    assert covary.score(frame) == covary.score(array)


def test_file_gives_the_same_score(array, tmp_path):
    as_pandas(array).to_csv(tmp_path / "t.csv", index=False)
    as_polars(array).write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        path = tmp_path / name
        assert covary.score(path, ["height", "rounded"]) == covary.score(array, [0, 1])
        assert covary.score(str(path)) == covary.score(array)


def test_matrix_contains_the_score_of_every_pair(array):
    scores = covary.matrix(array)
    for i in range(4):
        for j in range(4):
            expected = covary.score(array, [i, j]) if i != j else float(i != 3)
            assert scores[i, j] == expected


def test_matrix_returns_the_same_kind_of_table_as_its_input(array):
    expected = covary.matrix(array)
    frame = covary.matrix(as_pandas(array))
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == list(frame.columns) == NAMES
    assert np.array_equal(frame.to_numpy(), expected)
    frame = covary.matrix(as_polars(array))
    assert isinstance(frame, pl.DataFrame)
    assert frame["column"].to_list() == NAMES
    assert np.array_equal(frame.select(NAMES).to_numpy(), expected)
    frame = covary.matrix(as_arrow(array))
    assert isinstance(frame, pa.Table)
    assert frame.column_names == ["column", *NAMES]


def test_matrix_of_selected_columns(array):
    frame = covary.matrix(as_pandas(array), ["noise", "height"])
    assert list(frame.columns) == ["noise", "height"]


@pytest.mark.parametrize("function", [covary.score, covary.explain, covary.matrix])
def test_one_column_is_an_error(function, array):
    with pytest.raises(ColumnError, match="at least two columns: there is only 'noise'"):
        function(as_pandas(array), ["noise"])
    with pytest.raises(CovaryError, match="at least two columns: none is named"):
        function(as_pandas(array), [])


def test_identifiers_are_left_out_with_a_warning(array):
    frame = as_pandas(array).assign(who=[f"person {row}" for row in range(len(array))])
    with pytest.warns(CovaryWarning, match=r"left out: 'who' \(an identifier \(") as caught:
        score = covary.score(frame)
    assert caught[0].filename == __file__
    assert score == covary.score(array)
    with pytest.raises(ColumnError, match="column 'who' cannot be used: it is an identifier"):
        covary.score(frame, ["height", "who"])


def test_warnings_about_text_point_to_the_caller(array):
    frame = as_pandas(array).assign(price=[f"${row % 9}" for row in range(len(array))])
    with pytest.warns(CovaryWarning, match="^text was read as values: 'price'") as caught:
        covary.score(frame)
    assert [each.filename for each in caught] == [__file__]


def test_few_rows_give_a_warning(array):
    with pytest.warns(CovaryWarning, match="only 99 rows"):
        covary.score(array[:99])


def test_unknown_column_error_suggests_the_closest_name(array):
    with pytest.raises(ColumnError, match=r"no column 'heigth'. Did you mean 'height'\?"):
        covary.score(as_pandas(array), ["heigth", "noise"])


def test_too_few_rows_are_an_error(array):
    with pytest.raises(TableError, match="the table has 2 rows: at least 3 are needed"):
        covary.score(array[:2])


def test_dates_and_categories_are_used_and_cut_in_original_units():
    days = pd.date_range("2024-01-01", periods=300)
    size = pd.Categorical(
        np.repeat(["small", "medium", "large"], 100),
        categories=["small", "medium", "large"],
        ordered=True,
    )
    frame = pd.DataFrame({"day": days, "size": size, "late": np.arange(300) >= 100})
    step = covary.explain(frame, ["day", "late"]).steps[0]
    assert step.target == "late"
    assert str(step.cuts["day"][0])[:7] in ("2024-03", "2024-04")
    explanation = covary.explain(frame, ["size", "late"])
    step = explanation.steps[0]
    assert (step.target, step.cuts) == ("late", {"size": ("small",)})
    assert explanation.score == pytest.approx(1.0, abs=0.001)


def test_cuts_of_columns_that_matter_only_together_are_found():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 4))
    table[:, 3] = np.sign(table[:, 0] * table[:, 1] * table[:, 2])
    (step,) = covary.explain(table, target=3).steps
    assert len(step.cuts) == 3
    for cuts in step.cuts.values():
        assert min(abs(cut) for cut in cuts) < 0.1


def test_input_is_not_changed(array):
    before = array.copy()
    frame = as_pandas(array)
    covary.score(array)
    covary.matrix(frame, measure="uds", beta=7)
    assert np.array_equal(array, before)
    assert np.array_equal(frame.to_numpy(), before)


def test_read_only_and_sliced_arrays_give_the_same_score(array):
    frozen = array.copy()
    frozen.flags.writeable = False
    assert covary.score(frozen) == covary.score(array)
    doubled = np.repeat(array, 2, axis=0)
    assert covary.score(doubled[::2]) == covary.score(array)
    assert covary.score(np.asfortranarray(array)) == covary.score(array)
