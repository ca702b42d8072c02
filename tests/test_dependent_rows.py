"""Time series and groups: reading, shifts, exchanges, delays, warnings, level and power."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import covary
import naive_time
from covary.errors import ColumnError, CovaryError, CovaryWarning, ParameterError, TableError
from covary.measures import find_measure
from covary.prepare import Prepared, prepare
from covary.significance.null_evidence import FamilyPvalues, NullEvidence
from covary.significance.nulls import RandomPermutations
from covary.significance.row_dependence import find_row_dependence, moments_of_runs
from covary.significance.time_scales import EvidenceScales
from covary.significance.time_shifts import TimeShifts, time_shifts
from covary.table import Column, Table, TableOptions, declare, read_table
from covary.table.dependent_rows import (
    SERIES,
    DependentRows,
    all_shifts,
    random_shifts,
    spaced_shift,
)
from series_tables import ar, declared

pytestmark = pytest.mark.filterwarnings("ignore::covary.errors.CovaryWarning")


def season(rng, n, period=24):
    return np.sin(2 * np.pi * (np.arange(n) / period + rng.random())) + 0.5 * rng.normal(size=n)


def series_of(n):
    return DependentRows(SERIES, np.array([0, n]))


# ---------------------------------------------------------------- reading


def test_rows_are_ordered_by_series_and_time():
    frame = pd.DataFrame(
        {
            "day": np.tile(pd.date_range("2020-01-01", periods=50), 2),
            "place": np.repeat(["b", "a"], 50),
            "x": np.arange(100.0),
        }
    )
    shuffled = frame.sample(frac=1, random_state=1)
    table = read_table(declare(shuffled, TableOptions(time="day", groups="place")), ["x"])
    # Numbers are differences from the mean of their series.
    assert table.columns[0].values.tolist() == [*(np.arange(50) - 24.5)] * 2
    assert table.dependent.starts.tolist() == [0, 50, 100]


def test_the_time_and_the_groups_are_no_columns_unless_they_are_named():
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=120, freq="h"),
            "who": np.repeat(list("abcd"), 30),
            "x": np.random.default_rng(0).normal(size=120),
        }
    )
    names = read_table(declare(frame, TableOptions(time="when", groups="who"))).names
    assert names == ("x",)
    hours = TableOptions(time="when", dates=["hour"])
    assert read_table(declare(frame, hours)).names == ("when (hour)", "who", "x")
    assert read_table(declare(frame, TableOptions(time="row"))).names[0] == "when"
    named = read_table(declare(frame, TableOptions(time="when")), ["x", "when"]).names
    assert named == ("x", "when")


def test_differences_are_changes_within_each_series():
    frame = pd.DataFrame(
        {
            "t": [0, 1, 2, 3] * 15,
            "g": np.repeat([f"g{k}" for k in range(15)], 4),
            "x": np.tile([1.0, 4.0, 9.0, 16.0], 15),
            "b": np.tile([True, False, False, True], 15),
        }
    )
    options = TableOptions(time="t", groups="g", difference=True)
    table = read_table(declare(frame, options))
    x, b = table.columns
    # 3, 5, 7, minus the mean of the series
    assert x.values.tolist() == [-2.0, 0.0, 2.0] * 15
    assert b.values.tolist() == [0.0, 0.0, 1.0] * 15


def test_delayed_columns_hold_earlier_values():
    frame = pd.DataFrame({"x": np.arange(60.0) ** 2, "y": np.arange(60.0)[::-1] ** 3})
    table = read_table(declare(frame, TableOptions(time="row", lags=2)))
    assert table.names[:3] == ("x", "x (1 row before)", "x (2 rows before)")
    x, one, two = (table.columns[at].values for at in range(3))
    assert x.tolist() == (np.arange(2, 60.0) ** 2).tolist()
    assert one.tolist() == (np.arange(1, 59.0) ** 2).tolist()
    assert two.tolist() == (np.arange(58.0) ** 2).tolist()


def test_columns_of_arrays_are_named_by_position():
    rng = np.random.default_rng(0)
    array = np.column_stack([rng.permutation(100), rng.normal(size=(100, 2))])
    ordered = array[np.argsort(array[:, 0])]
    found = declared(array, time=0)
    assert found.names == ("x1", "x2")
    assert found.by_row(0).tolist() == ordered[:, 1].tolist()
    assert covary.test(array, [1, 2], time=0).pvalue == (
        covary.test(ordered[:, 1:], time="row").pvalue
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"time": "tme"}, ColumnError, "Did you mean 'time'"),
        ({"time": "name"}, TableError, "without an order"),
        ({"time": "gaps"}, TableError, "2 rows have no value in the column 'gaps'"),
        ({"time": "twice"}, TableError, "name their column with groups"),
        ({"groups": "time"}, TableError, "a different value in every row"),
        ({"groups": "gaps"}, TableError, "have no value"),
        ({"difference": True}, ParameterError, "difference needs a time"),
        ({"lags": 3}, ParameterError, "lags needs a time"),
        ({"permute": "between"}, ParameterError, "needs groups"),
        ({"permute": "between", "groups": "name", "time": "row"}, ParameterError, "combined"),
        ({"time": "row", "lags": 30}, TableError, "enough for delays of up to 12 rows"),
        ({"groups": "three", "permute": "between"}, TableError, "at least 4"),
    ],
)
def test_errors_say_what_to_do(options, error, message):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "time": np.arange(120),
            "name": np.repeat(list("abcdef"), 20),
            "gaps": np.where(np.arange(120) < 2, np.nan, np.arange(120) // 2),
            "twice": np.arange(120) // 2,
            "three": np.repeat(list("abc"), 40),
            "x": rng.normal(size=120),
            "y": rng.normal(size=120),
        }
    )
    with pytest.raises(error, match=message):
        covary.test(frame, ["x"], target="y", **options)


def test_lags_need_a_target_and_a_short_series_is_refused():
    array = np.random.default_rng(0).normal(size=(100, 2))
    for function in (covary.score, covary.test, covary.search, covary.overview, covary.matrix):
        with pytest.raises(ParameterError, match="lags needs a target"):
            function(array, time="row", lags=3)
    for function in (covary.test, covary.overview):
        with pytest.raises(TableError, match="too short for shifts"):
            function(array[:12], time="row")
    assert 0 <= covary.score(array[:12], time="row") <= 1
    groups = np.column_stack([np.repeat(np.arange(10), 10), array])
    settings = {"groups": 0, "permute": "between"}
    with pytest.raises(ParameterError, match="given cannot be combined"):
        covary.test(np.column_stack([groups, array]), [1], target=2, given=[3], **settings)
    with pytest.raises(ParameterError, match="sift cannot be combined"):
        covary.search(groups, sift=True, **settings)
    assert covary.search(groups, permutations=19, **settings).complete


def test_gaps_and_irregular_steps_are_named():
    rng = np.random.default_rng(0)
    day = np.arange(100)
    frame = pd.DataFrame({"t": np.where(day > 50, day + 30, day), "x": rng.normal(size=100)})
    frame["y"] = rng.normal(size=100)
    with pytest.warns(CovaryWarning, match="1 step of 't' is irregular"):
        covary.score(frame, ["x", "y"], time="t")
    frame["t"] = np.cumsum(rng.exponential(size=100))
    with pytest.warns(CovaryWarning, match="differ from the usual one"):
        covary.score(frame, ["x", "y"], time="t")


# ---------------------------------------------------------------- shifts


@pytest.mark.parametrize("n", [24, 37, 99, 100, 101, 250])
def test_windows_are_those_of_the_naive_version(n):
    values = np.random.default_rng(n).normal(size=n)
    dependent = series_of(n)
    assert dependent.reaches.tolist() == [naive_time.reach(n)]
    for shift in (-naive_time.reach(n), -1, 0, 3, naive_time.reach(n)):
        rows = dependent.shifted(np.array([shift]))
        assert values[rows].tolist() == naive_time.window(values, shift)
    shifts, is_exact = time_shifts(dependent, (0, 1), ((0,), (1,)), 0, 10**6)
    assert is_exact
    found = [shifts.shifts(at) for at in range(len(shifts.relative))]
    assert [(int(s[0][0]), int(s[1][0])) for s in found] == naive_time.relative_shifts(n)


def test_the_test_compares_the_evidence_of_all_shifted_windows():
    rng = np.random.default_rng(3)
    x, y = ar(rng, 60, 0.5), ar(rng, 60, 0.5)
    found = covary.test(np.column_stack([x, y]), time="row")
    null = [
        covary.evidence(
            np.column_stack([naive_time.window(x, first), naive_time.window(y, second)])
        )
        for first, second in naive_time.relative_shifts(60)
    ]
    observed = covary.evidence(np.column_stack([naive_time.window(c, 0) for c in (x, y)]))
    assert found.statistic == pytest.approx(observed)
    assert found.null == pytest.approx(np.array(null))
    larger = sum(each >= observed - 1e-9 for each in null)
    assert found.pvalue == (1 + larger) / (1 + len(null))
    assert found.exact


def test_random_shifts_of_one_series_are_all_different():
    for number in (5, 12, 100):
        found = [int(s[0]) for s in random_shifts(series_of(60), number, np.random.default_rng(0))]
        assert len(found) == len(set(found)) == min(number, 20)
        assert 0 not in found
        assert max(map(abs, found)) <= naive_time.reach(60)
    every = [int(s[0]) for s in all_shifts(series_of(60), 64, np.random.default_rng(0))]
    assert every == list(range(-10, 11))
    some = [int(s[0]) for s in all_shifts(series_of(1000), 5, np.random.default_rng(0))]
    assert some == [-100, -50, 0, 50, 100]


def test_shifts_of_several_series_stay_within_them():
    dependent = DependentRows(SERIES, np.array([0, 30, 100, 140]))
    rng = np.random.default_rng(0)
    for shifts in [np.array([7, -10, 10]), *random_shifts(dependent, 20, rng)]:
        rows = dependent.shifted(shifts)
        assert rows.size == dependent.of_centre().starts[-1]
        assert np.array_equal(dependent.of_row[rows], dependent.of_row[dependent.centre])
        assert np.array_equal(np.sort(dependent.rotated(shifts)), np.arange(140))
        # Rotation moves the compared rows as a shift does.
        assert np.array_equal(dependent.rotated(shifts)[dependent.centre], rows)
    for shifts in random_shifts(dependent, 20, rng):
        assert np.all(np.abs(shifts) <= dependent.reaches)
    for number in range(3):
        spaced = spaced_shift(dependent, number, 3, rng)
        assert np.all(np.abs(spaced) <= dependent.reaches)
        assert np.all(np.sign(np.rint(spaced / dependent.reaches)) == number - 1)


@pytest.mark.parametrize("kind", ["within", "between"])
def test_exchanges_keep_groups_together(kind):
    starts = np.array([0, 5, 10, 13, 18, 21])
    dependent = DependentRows(kind, starts)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(50):
        rows = dependent.exchanged(rng)
        assert np.array_equal(np.sort(rows), np.arange(21))
        if kind == "within":
            assert np.array_equal(dependent.of_row[rows], dependent.of_row)
        else:
            for first, end in pairwise(starts):
                moved = rows[first:end]
                assert np.array_equal(moved, moved[0] + np.arange(end - first))
                assert moved[0] in starts
        seen.add(rows.tobytes())
    assert len(seen) > 5


@pytest.mark.parametrize("kind", ["within", "between"])
def test_every_exchange_is_equally_likely(kind):
    dependent = DependentRows(kind, np.array([0, 3, 5, 6] if kind == "within" else [0, 2, 4, 6]))
    permutations = RandomPermutations(6, (0,), seed=1, dependent=dependent)
    counts = {}
    for number in range(1200):
        rows = tuple(permutations.moves(number)[0].tolist())
        counts[rows] = counts.get(rows, 0) + 1
    assert len(counts) == (12 if kind == "within" else 6)
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_the_order_of_the_rows_does_not_matter_if_there_is_a_time():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"t": np.arange(150), "x": ar(rng, 150, 0.7), "y": ar(rng, 150, 0.7)})
    frame["z"] = frame["x"] + frame["y"] + ar(rng, 150, 0.3)
    one, other = (
        covary.search(table, time="t", permutations=39, max_size=3).to_dict()["subspaces"]
        for table in (frame, frame.sample(frac=1, random_state=0))
    )
    assert one == other


def test_both_columns_of_a_pair_are_treated_alike():
    rng = np.random.default_rng(5)
    x, y = ar(rng, 120, 0.8), ar(rng, 120, 0.8)
    one = covary.test(np.column_stack([x, y]), time="row")
    other = covary.test(np.column_stack([y, x]), time="row")
    assert one.pvalue == other.pvalue
    assert np.sort(one.null) == pytest.approx(np.sort(other.null))


def test_evidence_scales_are_those_of_the_naive_version():
    rng = np.random.default_rng(6)
    values = np.column_stack([ar(rng, 80, 0.8), season(rng, 80), rng.integers(0, 4, 80)])
    scales = EvidenceScales(declared(values, time="row"))
    for one in range(3):
        for other in range(3):
            expected = naive_time.evidence_scale(values[:, one], values[:, other])
            assert scales.factors[one, other] == pytest.approx(expected)
    pairs = [scales.of_set(pair) for pair in ((0, 1), (0, 2), (1, 2))]
    assert scales.of_set((0, 1, 2)) == max(pairs)
    assert scales.of_set((0, 1, 2), 2) == max(pairs[1:])
    assert EvidenceScales(prepare(values)).of_set((0, 1)) == 1.0


def test_scales_agree_with_the_mean_evidence_of_pairs_that_are_far_apart():
    rng = np.random.default_rng(8)
    n, far = 60, naive_time.far_shifts(60)
    values = np.column_stack([ar(rng, n, phi) for phi in (0.9, 0.5, 0.0)])
    null = NullEvidence.of(
        find_measure("uds-chance"), declared(values, time="row"), [0, 1, 2], None, 0
    )
    drawn = np.array([null.far_evidence(number).reshape(3, 3) for number in range(40)])
    family = FamilyPvalues(null, [2])
    family.compute_scales(lambda task, numbers: [(0, task(null, numbers))])
    for one, other in combinations(null.columns, 2):  # in the order of their content
        found = drawn[:, one, other][~np.isnan(drawn[:, one, other])]
        possible = [
            covary.evidence(
                np.column_stack(
                    [
                        naive_time.window(values[:, one], shift),
                        naive_time.window(values[:, other], -other_shift),
                    ]
                )
            )
            for shift in far
            for other_shift in far
        ]
        # In each draw, two of the three columns are far apart if they are on different sides.
        assert 5 <= found.size <= 35
        assert all(min(abs(each - own) for own in possible) < 1e-9 for each in found)
        bartlett = naive_time.evidence_scale(values[:, one], values[:, other])
        expected = max(bartlett, np.mean(found) / naive_time.MEAN_EVIDENCE_OF_INDEPENDENT_ROWS)
        assert family.null.scales.of_set((one, other)) == pytest.approx(expected)


def test_the_mean_evidence_of_independent_rows():
    rng = np.random.default_rng(9)
    evidence = [covary.evidence(rng.normal(size=(200, 2))) for _ in range(2000)]
    error = np.std(evidence) / np.sqrt(len(evidence))
    assert abs(np.mean(evidence) - naive_time.MEAN_EVIDENCE_OF_INDEPENDENT_ROWS) < 5 * error + 0.05


def test_every_measure_can_be_tested_with_shifts():
    rng = np.random.default_rng(7)
    x = ar(rng, 100, 0.5)
    values = np.column_stack([x, x + 0.3 * rng.normal(size=100)])
    for name in ("uds", "spearman", "mutual-information", "xi"):
        found = covary.test(values, time="row", measure=name)
        assert found.pvalue <= 0.05
        expected = [
            find_measure(name).evidence(
                np.column_stack(
                    [naive_time.window(values[:, 0], a), naive_time.window(values[:, 1], b)]
                )
            )
            for a, b in naive_time.relative_shifts(100)[:3]
        ]
        assert found.null[:3] == pytest.approx(np.array(expected))


# ---------------------------------------------------------------- groups


def grouped(rng, n_groups=20, size=25, within=0.0):
    """Two columns with unrelated effects of their groups, and a relation within groups."""
    who = np.repeat(np.arange(n_groups), size)
    effects = 1.5 * rng.normal(size=(2, n_groups))[:, who]
    common = rng.normal(size=who.size)
    a, b = effects + within * common + rng.normal(size=(2, who.size))
    return pd.DataFrame({"who": [f"w{k}" for k in who], "a": a, "b": b})


def test_exchanges_within_groups_have_the_right_level_and_the_plain_test_does_not():
    plain = within = 0
    for seed in range(60):
        table = grouped(np.random.default_rng(seed))
        plain += covary.test(table, ["a", "b"], permutations=99).pvalue <= 0.05
        within += covary.test(table, ["a", "b"], groups="who", permutations=99).pvalue <= 0.05
    assert plain > 30
    assert within <= 8  # more with probability 0.003 if the level is 5 %


def test_a_relation_within_groups_is_found():
    table = grouped(np.random.default_rng(0), within=1.0)
    assert covary.test(table, ["a", "b"], groups="who").pvalue == 0.001
    assert covary.score(table, ["a", "b"], groups="who") > 0.05


def test_whole_groups_are_exchanged():
    """What depends on the group only, as a treatment, is related to it in few groups."""
    significant = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = grouped(rng, 12, 20)
        treated = rng.permutation(np.arange(12) % 2 == 0)
        table["treated"] = np.repeat(treated, 20)
        found = covary.test(
            table, ["treated"], target="a", groups="who", permute="between", permutations=99
        )
        significant += found.pvalue <= 0.05
    assert significant <= 6  # more with probability 0.003 if the level is 5 %
    table["a"] += 10.0 * table["treated"]
    found = covary.test(table, ["treated"], target="a", groups="who", permute="between")
    assert found.pvalue <= 0.05


def test_missing_cells_stay_in_their_rows_within_groups():
    rng = np.random.default_rng(1)
    table = grouped(rng, 8, 12, within=1.0)
    table.loc[rng.random(len(table)) < 0.2, "a"] = np.nan
    prepared = declared(table, groups="who")
    assert covary.test(table, ["a", "b"], groups="who", permutations=99).pvalue == 0.01
    assert prepared.n_present[0] == table["a"].notna().sum()
    between = covary.test(table, ["a", "b"], groups="who", permute="between", permutations=19)
    assert 0 < between.pvalue <= 1


# ---------------------------------------------------------------- warnings


def test_moments_of_runs_are_those_of_all_orders():
    for levels in ([0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 3, 3]):
        expected = naive_time.moments_of_runs(levels)
        assert moments_of_runs(np.bincount(levels)) == pytest.approx(expected)


def test_series_are_noticed_and_shuffled_rows_are_not():
    alarms = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values = np.column_stack([ar(rng, 300, 0.5), ar(rng, 300, 0.5), rng.random(300) < 0.1])
        found = find_row_dependence(prepare(values), range(3))
        assert found.columns[:2] == ("x0", "x1")
        assert 0.2 < found.similarity < 0.8
        alarms += find_row_dependence(prepare(rng.permutation(values)), range(3)) is not None
    assert alarms == 0


def test_one_similar_column_and_sorted_rows_are_no_reason_for_a_warning():
    rng = np.random.default_rng(8)
    values = np.column_stack([ar(rng, 300, 0.9), rng.normal(size=(300, 2))])
    assert find_row_dependence(prepare(values), range(3)) is None
    kind = np.repeat([0, 1, 2], 100)
    by_kind = pd.DataFrame(rng.normal(size=(300, 3)) + kind[:, None]).assign(kind=kind)
    by_kind.columns = map(str, by_kind.columns)
    assert find_row_dependence(prepare(by_kind), range(4)) is None
    by_name = by_kind.assign(kind=np.repeat(["x", "y", "z"], 100))
    assert find_row_dependence(prepare(by_name), range(4)) is None


def test_rows_in_the_order_of_a_date_are_examined():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=300)})
    frame["x"], frame["y"] = ar(rng, 300, 0.8), ar(rng, 300, 0.8)
    with pytest.warns(CovaryWarning, match="in the order of 'day' are similar in 2 of 2"):
        found = covary.test(frame.sample(frac=1, random_state=0), ["x", "y", "day"])
    assert found.row_dependence.order == "day"
    assert "--time day" in str(found)
    assert json.loads(found.to_json())["row_dependence"]["columns"] == ["x", "y"]


def test_random_walks_are_named_and_differences_are_not():
    named = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        walks = np.cumsum(rng.normal(size=(200, 2)), axis=0)
        assert find_row_dependence(prepare(walks), range(2)) is not None
        found = find_row_dependence(declared(walks, time="row"), range(2))
        named += found is not None
        changes = declared(walks, time="row", difference=True)
        assert find_row_dependence(changes, range(2)) is None
    assert named == 30


# ---------------------------------------------------------------- level and power


@pytest.mark.parametrize(
    ("series", "most"),
    [
        (lambda rng: rng.normal(size=200), 10),
        (lambda rng: ar(rng, 200, 0.9), 10),
        (lambda rng: season(rng, 200), 10),
        (lambda rng: np.cumsum(rng.normal(size=200)), 10),
    ],
    ids=["independent", "ar", "season", "walk"],
)
def test_the_level_of_shifts(series, most):
    significant = 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 1])
        values = np.column_stack([series(rng), series(rng)])
        significant += covary.test(values, time="row", n_jobs=1).pvalue <= 0.05
    assert significant <= most  # more with probability 0.003 if the level is 5 %


def test_a_relation_of_two_slow_series_is_found():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = ar(rng, 300, 0.9)
        values = np.column_stack([x, x**2 / 2 + ar(rng, 300, 0.9)])
        found += covary.test(values, time="row").pvalue <= 0.05
    assert found >= 15


def test_the_level_of_a_search_of_slow_series():
    significant = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = np.column_stack([ar(rng, 200, 0.9) for _ in range(8)])
        found = covary.search(values, time="row", permutations=39, max_size=2)
        significant += any(each.family_pvalue <= 0.05 for each in found)
    assert significant <= 3  # more with probability 0.0004 if the level is 5 %


def test_an_overview_of_series_finds_relations_among_unrelated_ones():
    rng = np.random.default_rng(10)
    x = ar(rng, 500, 0.9)
    frame = pd.DataFrame({"x": x, "y": x**2 + ar(rng, 500, 0.5)})
    frame["walk"] = np.cumsum(rng.normal(size=500))
    for k in range(3):
        frame[f"other{k}"] = ar(rng, 500, 0.9)
    found = covary.overview(frame, time="row")
    assert [set(link.columns) for link in found.links] == [{"x", "y"}]
    assert found.row_dependence.drifting[:1] == ("walk",)
    assert "shifted in time" in found.null_of_rows
    assert "shifted in time" in str(found)


def test_independence_given_a_series():
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(20):
        z = ar(rng, 300, 0.7)
        values = np.column_stack([z, z + ar(rng, 300, 0.7), z + ar(rng, 300, 0.7)])
        rejected += covary.test(values, [1], target=2, given=[0], time="row").pvalue <= 0.05
    assert rejected <= 4  # more with probability 0.003 if the level is 5 %
    values[:, 2] += 2 * values[:, 1]
    assert covary.test(values, [1], target=2, given=[0], time="row").pvalue <= 0.05


# ---------------------------------------------------------------- delays


def delayed(rng, lag, n=500, noise=1.0):
    x = ar(rng, n + lag, 0.5)
    y = x[:n] + noise * rng.normal(size=n)
    return pd.DataFrame({"x": x[lag:], "y": y, "z": ar(rng, n, 0.5)})


@pytest.mark.parametrize("seed", range(3))
def test_the_delay_of_a_relation_is_named(seed):
    table = delayed(np.random.default_rng(seed), 7)
    found = covary.test(table, ["x", "z"], target="y", time="row", lags=30)
    assert (found.best_lag.column, found.best_lag.rows) == ("x", 7)
    assert found.pvalue < 0.001
    assert len(found.lags) == 62
    assert "y explained by x 7 rows before" in str(found)
    assert "corrected for 62 columns and delays" in str(found)
    document = json.loads(found.to_json())
    assert document["best_lag"]["rows"] == 7
    (step,) = covary.explain(table, ["x", "z"], target="y", time="row", lags=30).steps
    assert step.by == ("x (7 rows before)",)
    assert covary.score(table, ["x"], target="y", time="row", lags=10) > 0.2
    best = covary.search(table, target="y", time="row", lags=10, max_size=2)[0]
    assert best.columns == ("x (7 rows before)", "y")


def test_delays_are_drawn():
    table = delayed(np.random.default_rng(0), 7)
    found = covary.search(table, target="y", time="row", lags=10, max_size=2)
    chart = found.plot.delays().to_dict(validate=False)
    points = chart["layer"][0]["data"]["values"]
    tested = covary.test(table, ["x", "z"], target="y", time="row", lags=10)
    expected = {(lag.column, lag.rows): round(lag.explained, 4) for lag in tested.lags}
    drawn = {(point["column"], point["delay"]): point["score"] for point in points}
    of_x = {key: score for key, score in drawn.items() if key[0] == "x"}
    assert len(of_x) == 11
    assert all(expected[key] == score for key, score in of_x.items())
    best = {point["column"]: point["text"] for point in chart["layer"][2]["data"]["values"]}
    assert best["x"] == "7 rows"
    shown = set(found.plot.heatmap().to_dict(validate=False)["encoding"]["x"]["sort"])
    assert {"x", "y", "z", "x (7 rows before)"} <= shown


def test_delays_need_a_search_with_delays():
    table = delayed(np.random.default_rng(0), 7)
    found = covary.search(table, target="y", time="row", max_size=2)
    with pytest.raises(covary.CovaryError, match="no delays to draw"):
        found.plot.delays()


def test_a_page_of_a_search_with_delays(tmp_path):
    table = delayed(np.random.default_rng(0), 7)
    found = covary.search(table, target="y", time="row", lags=10, max_size=2)
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '<h2 id="delays">Delays</h2>' in page
    overview = page[page.index('<h2 id="map">') : page.index('<h2 id="findings">')]
    assert re.findall(r"<li[^>]*>(.*?)</li>", overview) == ["x", "y", "z"]
    assert "before" not in overview, "the overview does not use earlier values"


def test_the_level_of_the_best_of_all_delays():
    significant = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({"x": ar(rng, 300, 0.7), "y": ar(rng, 300, 0.7)})
        pvalue = covary.test(table, ["x"], target="y", time="row", lags=20).pvalue
        significant += pvalue <= 0.05
    assert significant <= 5  # more with probability 0.003 if the level is 5 %


# ---------------------------------------------------------------- engines and run files


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(12)
    x = ar(rng, 200, 0.8)
    frame = pd.DataFrame({"t": np.arange(200), "x": x, "y": x + ar(rng, 200, 0.8)})
    frame["z"], frame["who"] = ar(rng, 200, 0.8), np.repeat(list("abcdefghij"), 20)
    path = tmp_path / "table.csv"
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("engine", ["processes", "dask"])
@pytest.mark.parametrize("options", [{"time": "t"}, {"groups": "who"}], ids=["time", "groups"])
def test_every_engine_gives_the_same_pvalues(file, engine, options):
    columns = ["x", "y", "z"]
    settings = {"permutations": 19, "max_size": 3, **options}
    expected = covary.search(file, columns, n_jobs=1, **settings).to_json()
    assert covary.search(file, columns, engine=engine, n_jobs=2, **settings).to_json() == expected


def test_a_killed_search_is_resumed(file, tmp_path):
    run = tmp_path / "run.covary"
    settings = {"time": "t", "groups": "who", "permutations": 39, "max_size": 3}
    expected = covary.search(file, ["x", "y", "z"], **settings).to_json()
    code = (
        f"import covary; covary.search({str(file)!r}, ['x', 'y', 'z'], run={str(run)!r}, "
        f"resume=True, **{settings!r})"
    )
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
        deadline = time.monotonic() + 60
        while not run.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.poll() is None, "it must not have ended"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    resumed = covary.search(file, ["x", "y", "z"], run=run, resume=True, **settings)
    assert resumed.to_json() == expected
    with pytest.raises(CovaryError, match="another search"):
        covary.search(file, ["x", "y", "z"], run=run, resume=True, permutations=39, max_size=3)


def test_reports_say_how_p_values_were_computed(file, tmp_path, covary_command):
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    page, run = tmp_path / "page.html", tmp_path / "run.covary"
    code, _, _ = covary_command("overview", file, "--time", "t", "--run", run, "--report", page)
    assert code == 0
    text = page.read_text()
    assert "columns are shifted in time" in text
    again = tmp_path / "again.html"
    assert covary_command("report", run, "-o", again)[0] == 0
    assert "columns are shifted in time" in again.read_text()
    code, out, _ = covary_command("test", file, "-c", "x,y", "--groups", "who")
    assert code == 0
    assert "exchanged within 10 groups" in out


def test_the_default_is_the_same_without_series():
    """The evidence of a table without options does not know of series."""
    values = np.random.default_rng(13).normal(size=(100, 3))
    assert prepare(values).dependent is None
    table = Table((Column("a", values[:, 0].copy()), Column("b", values[:, 1].copy())), 100)
    assert Prepared(table).dependent is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = covary.test(values)
    assert found.null_of_rows == ""
    assert found.row_dependence is None
    assert TimeShifts(series_of(100), (0, 1), 0).shifts(3).keys() == {0, 1}
