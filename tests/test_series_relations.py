"""Series and groups: given columns, increments, large tables, resumed searches, common cycles."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import covary
from covary.errors import CovaryError, CovaryWarning
from covary.measures import find_measure
from covary.measures.uds_chance.conditional import MAX_ROWS
from covary.prepare import prepare
from covary.searching.pvalues import SearchPvalues
from covary.significance import null_evidence
from covary.significance.cycles import common_period
from covary.significance.increments import IncrementTests
from covary.significance.row_dependence import find_row_dependence
from series_tables import ar, declared

pytestmark = pytest.mark.filterwarnings("ignore::covary.errors.CovaryWarning")


def increments(prepared):
    return IncrementTests(find_measure("uds-chance"), prepared, None, (), 0).precomputed()


# ---------------------------------------------------------------- given columns, increments


def test_the_level_of_slow_series_given_another():
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 1])
        x, y, z = (ar(rng, 300, 0.9) for _ in range(3))
        table = np.column_stack([x, x + y, z])
        found = covary.test(table, [1], target=2, given=[0], time="row", permutations=99)
        rejected += found.pvalue <= 0.05
    assert rejected <= 7  # more with probability 0.001 if the level is 5 %


def test_the_level_with_missing_cells_and_a_given_column():
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 2])
        table = rng.normal(size=(200, 3))
        table[rng.random(200) < 0.5, 2] = np.nan
        found = covary.test(table, [1], target=2, given=[0], time="row", permutations=199)
        assert not found.exact
        rejected += found.pvalue <= 0.05
    assert rejected <= 7


def test_the_level_of_increments_of_slow_series():
    needed = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 3])
        x, y, z = (ar(rng, 300, 0.9) for _ in range(3))
        table = declared(np.column_stack([x, x + 0.5 * y, z]), time="row")
        needed += increments(table).pvalue((0, 1, 2)) <= 0.05
    assert needed <= 6
    table = declared(np.column_stack([x, x + z + 0.3 * y, z]), time="row")
    assert increments(table).pvalue((0, 1, 2)) <= 0.02


@pytest.mark.parametrize("options", [{}, {"time": "row"}, {"groups": "who"}])
def test_increments_of_large_tables_keep_series_groups_and_kinds(options):
    rng = np.random.default_rng(0)
    n = MAX_ROWS + 400
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(n // 20), 20).astype(str),
            "text": rng.choice(list("abcd"), n),
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
        }
    )
    if "groups" not in options:
        frame = frame.drop(columns="who")
    whole = declared(frame, **options, missing="level")
    tests = increments(whole)
    sample = tests._sampled((0, 1, 2)).prepared
    assert sample.n_rows <= MAX_ROWS
    assert sample.n_rows > 0.9 * MAX_ROWS
    assert sample.nominal.tolist() == [True, False, False]
    assert sample.missing_is_level
    assert (sample.dependent is None) == (whole.dependent is None)
    values = set(whole.by_row(1))
    assert set(sample.by_row(1)) <= values
    if options:
        assert sample.dependent.kind == whole.dependent.kind
        assert sample.dependent.starts[-1] == sample.n_rows
    if "groups" in options:
        assert set(sample.dependent.sizes) == {20}
    if "time" in options:  # neighbours stay neighbours
        first = np.flatnonzero(whole.by_row(1) == sample.by_row(1)[0])[0]
        assert np.array_equal(whole.by_row(1)[first : first + MAX_ROWS], sample.by_row(1))


# ---------------------------------------------------------------- searches


def test_evidence_of_very_long_series_is_compared_with_that_of_equally_many_rows(monkeypatch):
    monkeypatch.setattr(null_evidence, "MAX_ROWS_IF_RARE", 400)
    compared = []
    comparable = SearchPvalues._comparable

    def recorded(self, engine):
        found = comparable(self, engine)
        scales = self.family.null.scales
        compared.extend(
            (value * scales.of_set(columns), columns) for columns, value in found.items()
        )
        return found

    monkeypatch.setattr(SearchPvalues, "_comparable", recorded)
    rng = np.random.default_rng(4)
    table = np.column_stack([ar(rng, 1000, 0.9) for _ in range(3)])
    covary.search(table, time="row", permutations=19, max_size=2)
    assert len(compared) == 3
    for evidence, columns in compared:
        middle = table[300:700][:, list(columns)]
        assert evidence == pytest.approx(covary.evidence(middle, time="row"))


@pytest.mark.parametrize("options", [{"time": "row"}, {"groups": "g"}])
def test_a_finished_search_gives_the_same_result_again(tmp_path, options):
    rng = np.random.default_rng(5)
    spread = np.exp(ar(rng, 300, 0.9))
    table = pd.DataFrame({name: spread * rng.normal(size=300) for name in "abcd"})
    table["g"] = np.repeat(np.arange(15), 20)
    settings = {**options, "columns": ["a", "b", "c", "d"], "permutations": 39, "max_size": 3}
    run = tmp_path / "run.covary"
    first = covary.search(table, run=run, **settings)
    again = covary.search(table, run=run, resume=True, **settings)
    assert again.to_json() == first.to_json()
    assert again.to_json() == covary.search(table, **settings).to_json()


def test_other_groups_are_another_table(tmp_path):
    rng = np.random.default_rng(6)
    table = pd.DataFrame({"a": rng.normal(size=240), "b": rng.normal(size=240)})
    settings = {"groups": "g", "permute": "between", "permutations": 19}
    run = tmp_path / "run.covary"
    covary.search(table.assign(g=np.repeat(np.arange(12), 20)), run=run, **settings)
    with pytest.raises(CovaryError, match="12 groups of rows"):
        covary.search(
            table.assign(g=np.repeat(np.arange(24), 10)), run=run, resume=True, **settings
        )


def test_the_pvalue_of_a_pair_is_limited_by_the_number_of_shifts():
    rng = np.random.default_rng(7)
    x = ar(rng, 200, 0.5)
    table = np.column_stack([x, x + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    found = covary.search(table, time="row", permutations=999, max_size=2)
    assert 1 / 81 - 1e-9 <= found[0].pvalue < 0.02
    assert covary.test(table, [0, 1], time="row").pvalue == pytest.approx(1 / 81)


def test_the_number_of_rows_that_are_compared_is_reported():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(200, 3))
    found = covary.test(table, [0, 1], time="row", permutations=19)
    assert found.tested == 160
    assert found.statistic == pytest.approx(covary.evidence(table, [0, 1], time="row"))
    given = covary.test(table, [0], target=1, given=[2], time="row", permutations=19)
    assert given.tested == 160


# ---------------------------------------------------------------- what is said


def cycle(rng, n, period, noise):
    return np.sin(2 * np.pi * np.arange(n) / period + rng.random()) + noise * rng.normal(size=n)


@pytest.mark.parametrize("period", [7, 24, 24.5])
def test_a_common_cycle_is_named(period):
    rng = np.random.default_rng(9)
    table = np.column_stack([cycle(rng, 600, period, 0.5) for _ in range(2)])
    noise = ar(rng, 600, 0.9)
    found = covary.test(np.column_stack([table, noise]), time="row").row_dependence
    assert found.cyclic == ("x0", "x1")
    assert found.period == pytest.approx(period, rel=0.03)
    assert "x0 and x1 have a common cycle of about" in str(found)
    other = np.column_stack([table[:, 0], cycle(rng, 600, 1.7 * period, 0.5), noise])
    assert covary.test(other, time="row").row_dependence is None


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.97])
def test_series_without_a_cycle_have_none(phi):
    for seed in range(50):
        rng = np.random.default_rng([seed, 10])
        ranks = {str(at): ar(rng, 500, phi).argsort().argsort() * 1.0 for at in range(6)}
        assert common_period(ranks) == ([], 0.0)


def test_what_is_beyond_a_common_cycle_is_tested_given_the_place_in_it():
    rejected = 0
    place = np.arange(480) % 24
    for seed in range(20):
        rng = np.random.default_rng([seed, 11])
        daily = 2 * np.sin(2 * np.pi * place / 24)
        x, y = daily + ar(rng, 480, 0.5), daily + ar(rng, 480, 0.5)
        table = np.column_stack([x, y, place])
        found = covary.test(table, [0], target=1, given=[2], time="row", permutations=99)
        rejected += found.pvalue <= 0.05
    assert rejected <= 4


def test_rows_that_are_sorted_by_many_groups_are_noticed():
    rng = np.random.default_rng(12)
    who = np.repeat([f"p{k}" for k in range(30)], 12)
    effects = np.repeat(rng.normal(size=(30, 3)), 12, axis=0)
    table = pd.DataFrame(effects + 0.3 * rng.normal(size=(360, 3)), columns=list("abc"))
    table["who"] = who
    prepared = prepare(table)
    found = find_row_dependence(prepared, range(4))
    assert found.sorted_by == "who"
    assert set(found.columns) == {"a", "b", "c"}
    assert "groups='who'" in str(found)
    # Few classes are ordinary categories, and rows in random order say nothing.
    few = table.assign(who=np.repeat(list("xyz"), 120))
    few[["a", "b", "c"]] = rng.normal(size=(360, 3)) + np.repeat(np.arange(3), 120)[:, None]
    assert find_row_dependence(prepare(few), range(4)) is None
    shuffled = table.sample(frac=1, random_state=0)
    assert find_row_dependence(prepare(shuffled), range(4)) is None


def test_columns_that_never_vary_within_groups_are_named():
    rng = np.random.default_rng(13)
    table = pd.DataFrame({"who": np.repeat(np.arange(20), 10), "x": rng.normal(size=200)})
    table["drug"] = np.where(table["who"] % 2, "yes", "no")
    table["age"] = table["who"] % 7 + 0.5
    with pytest.warns(CovaryWarning, match="'drug', 'age' never vary within a group of 'who'"):
        covary.test(table, ["x", "drug", "age"], groups="who", permutations=19)


def test_changes_are_mentioned_in_results():
    rng = np.random.default_rng(14)
    table = rng.normal(size=(200, 2)).cumsum(axis=0)
    found = covary.test(table, time="row", difference=True, permutations=19)
    assert "numbers are changes from row to row" in str(found)
    assert "changes from row to row" in json.loads(found.to_json())["null_of_rows"]


# ---------------------------------------------------------------- names


def test_frames_whose_columns_are_numbers_may_have_a_column_named_like_a_position():
    rng = np.random.default_rng(15)
    table = pd.DataFrame({0: rng.normal(size=200), 1: rng.normal(size=200)})
    table["x0"] = np.arange(200)
    assert covary.score(table, [0, 1], time="x0") == covary.score(table[[0, 1]])
    assert covary.test(table, [0, 1], time="x0", permutations=19).columns == (0, 1)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t, {"time": np.arange(200)}, "time names a column of the table"),
        (lambda t: t, {"groups": ["x"]}, "groups names a column of the table"),
        (lambda t: t.set_index("t"), {"time": "t"}, "reset_index"),
        (lambda t: t, {"time": "t", "lags": 2, "columns": ["x (5 rows before)"]}, "x .5 rows"),
    ],
)
def test_errors_name_the_remedy(change, options, message):
    rng = np.random.default_rng(16)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    table["t"] = np.arange(200.0)
    options = {"columns": ["x"], "target": "y", **options}
    with pytest.raises(CovaryError, match=message):
        covary.score(change(table), **options)


def test_a_column_named_row_is_mentioned():
    table = pd.DataFrame(
        np.random.default_rng(17).normal(size=(100, 3)), columns=["x", "y", "row"]
    )
    with pytest.warns(CovaryWarning, match="ordered by the column 'row'"):
        covary.test(table, ["x", "y"], time="row", permutations=19)


def test_a_column_of_the_table_wins_over_a_delayed_one_of_the_same_name():
    rng = np.random.default_rng(18)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    table["x (1 row before)"] = 7.0 * np.arange(200) + rng.normal(size=200)
    prepared = declared(table, time="row", lags=2)
    assert len(set(prepared.names)) == len(prepared.names) == 7 + 1
    at = prepared.names.index("x (1 row before)")
    assert prepared.by_row(at)[-1] > 1000


def test_a_constant_column_has_no_delay():
    rng = np.random.default_rng(19)
    table = pd.DataFrame({"x": np.ones(200), "y": rng.normal(size=200)})
    with pytest.warns(CovaryWarning, match="constant columns cannot depend on others: 'x'$"):
        found = covary.test(table, ["x"], target="y", time="row", lags=3)
    assert found.pvalue == 1.0


def test_identifiers_are_recognised_before_values_are_compared_with_their_group():
    rng = np.random.default_rng(20)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    table["id"] = np.arange(1000, 1200)
    table["g"] = np.repeat(np.arange(10), 20)
    assert "id" not in covary.overview(table, groups="g").columns
    table.loc[3, "x"] = np.inf
    with pytest.warns(CovaryWarning, match="1 infinite value"):
        covary.search(table.assign(z=rng.normal(size=200)), groups="g")
