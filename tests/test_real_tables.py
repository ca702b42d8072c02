"""Real tables with many ties, constants and missing cells, if their folder exists."""

from __future__ import annotations

import naive
import numpy as np
import pandas as pd
import pytest

import covary
from covary import UDS
from covary.prepare import Prepared
from covary.table import Column, Table, read_table

TABLES = ["ann_thyroid", "communities", "energy_efficiency", "letter", "optdigits", "wbc"]


@pytest.fixture(params=TABLES)
def table(request, real_tables):
    """Return twelve random columns and 200 random rows of a table."""
    whole = read_table(real_tables / f"{request.param}.csv.gz")
    rng = np.random.default_rng(len(request.param))
    columns = rng.choice(len(whole.columns), size=min(12, len(whole.columns)), replace=False)
    rows = rng.choice(whole.n_rows, size=200, replace=False)
    return np.column_stack([whole.columns[c].values[rows] for c in columns])


def prepared(table):
    columns = tuple(Column(f"x{k}", values) for k, values in enumerate(table.T))
    return Prepared(Table(columns, len(table)))


def test_a_column_that_repeats_others_is_not_named(real_tables):
    """The length of a diamond, x, says little beyond its weight, but the best triple has it."""
    frame = pd.read_csv(real_tables / "diamonds.csv.gz").sample(2000, random_state=0)
    for name, levels in {
        "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        "color": list("JIHGFED"),
        "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    }.items():
        frame[name] = pd.Categorical(frame[name], levels, ordered=True)
    for columns in (["carat", "color", "clarity", "x"], None):
        (step,) = covary.explain(frame, columns, target="price").steps
        assert set(step.by) == {"carat", "clarity", "color"}
    best = covary.search(frame, target="price", given=["carat"])[0]
    assert set(best.columns) == {"color", "clarity", "price"}
    explained = covary.explain(frame, target="price", given=["carat"]).score
    assert explained == pytest.approx(best.score, abs=1e-9)


@pytest.mark.parametrize("regularize", [True, False])
def test_score_equals_the_naive_definition(table, regularize):
    score = UDS(scale=None, regularize=regularize).score_set(
        prepared(table), range(table.shape[1])
    )
    columns = [column.tolist() for column in table.T]
    assert score == pytest.approx(naive.uds(columns, regularize=regularize), abs=1e-9)


@pytest.mark.parametrize("regularize", [True, False])
def test_order_and_units_do_not_matter(table, regularize):
    measure = UDS(regularize=regularize)
    score = measure.score(table)
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert measure.score(table[:, rng.permutation(table.shape[1])]) == score
    factors = 10.0 ** rng.integers(-6, 7, table.shape[1])
    assert measure.score(table * factors + factors) == pytest.approx(score, abs=1e-12)
