"""Calendar columns: hour, weekday and month of a date."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import covary
from covary.errors import ColumnError, ParameterError
from covary.measures import find_measure
from covary.prepare import prepare
from covary.table import TableOptions, declare, read_table
from covary.table.calendar import MONTHS, WEEKDAYS


def frame(n=200, step=timedelta(hours=7), start=datetime(2020, 1, 31, 22, 30), **more):
    dates = [start + at * step for at in range(n)]
    return pd.DataFrame({"when": dates, "other": np.arange(n) % 11 + 0.5, **more})


def columns_of(data, columns=None, **options):
    table = read_table(declare(data, TableOptions(**options)), columns)
    return {column.name: column for column in table.columns}


def in_own_units(column):
    return [column.in_own_units(value) for value in column.values.tolist()]


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_parts_are_those_of_python(kind, tmp_path):
    data = frame(step=timedelta(hours=53))
    dates = data["when"].dt.to_pydatetime()
    if kind == "polars":
        data = pl.from_pandas(data)
    if kind == "csv":
        data.to_csv(tmp_path / "t.csv", index=False)
        data = tmp_path / "t.csv"
    found = columns_of(data, dates=["hour", "weekday", "month"])
    assert list(found) == ["when (hour)", "when (weekday)", "when (month)", "other"]
    assert in_own_units(found["when (hour)"]) == [each.hour for each in dates]
    weekdays = [WEEKDAYS[each.weekday()] for each in dates]
    assert in_own_units(found["when (weekday)"]) == weekdays
    assert in_own_units(found["when (month)"]) == [MONTHS[each.month - 1] for each in dates]


def test_dates_before_1970_and_missing_ones():
    dates = [datetime(1969, 12, 31, 23, 59), datetime(1812, 6, 24, 5), None, datetime(1970, 1, 1)]
    data = pd.DataFrame({"when": pd.to_datetime(dates), "other": [1.0, 2.0, 3.0, 5.0]})
    found = columns_of(data, dates=["hour", "weekday", "month"])
    assert in_own_units(found["when (hour)"]) == [23, 5, None, 0]
    assert in_own_units(found["when (weekday)"]) == ["Wednesday", "Wednesday", None, "Thursday"]
    assert in_own_units(found["when (month)"]) == ["December", "June", None, "January"]


def test_dates_with_a_zone_use_local_time():
    data = frame()
    data["when"] = data["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Kathmandu")
    hours = in_own_units(columns_of(data, dates=["hour"])["when (hour)"])
    assert hours == data["when"].dt.hour.tolist()


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (timedelta(minutes=5), []),  # less than a day
        (timedelta(minutes=20), ["hour"]),
        (timedelta(hours=7), ["hour", "weekday"]),
        (timedelta(days=1), ["weekday"]),
        (timedelta(days=3), ["weekday", "month"]),
        (timedelta(hours=73), ["hour", "weekday", "month"]),
    ],
)
def test_parts_are_candidates_if_dates_vary_on_their_scale(step, expected):
    found = columns_of(frame(step=step))
    assert list(found) == ["when", *(f"when ({part})" for part in expected), "other"]


def test_weekdays_of_monthly_dates_do_not_count():
    data = frame().assign(when=pd.date_range("2001-01-01", periods=200, freq="MS"))
    assert list(columns_of(data)) == ["when", "when (month)", "other"]


def test_only_dates_have_a_calendar():
    data = frame().assign(
        duration=pd.to_timedelta(np.arange(200), unit="D"),
        clock=[datetime(2020, 1, 1).time()] * 200,
    )
    names = list(columns_of(data, dates=["time", "hour"]))
    assert names == ["when", "when (hour)", "other", "duration", "clock"]


def test_named_calendar_columns():
    data = frame()
    assert list(columns_of(data, ["other", "when (hour)"])) == ["other", "when (hour)"]
    assert list(columns_of(data, ["when", "other"])) == ["when", "other"]
    assert list(columns_of(data, ["when", "when (month)"])) == ["when", "when (month)"]
    with pytest.raises(ColumnError, match=r"there is no column 'other \(hour\)'"):
        columns_of(data, ["other (hour)", "when"])
    with pytest.raises(ColumnError, match=r"there is no column 'when \(year\)'"):
        columns_of(data, ["when (year)", "other"])


def test_a_column_of_the_same_name_is_not_replaced():
    data = frame().assign(**{"when (hour)": np.arange(200.0) ** 2})
    found = columns_of(data)
    assert list(found) == ["when", "when (weekday)", "other", "when (hour)"]
    assert found["when (hour)"].values[3] == 9.0


def test_wrong_choices():
    with pytest.raises(ParameterError, match="dates must be a list of 'time', 'hour'"):
        covary.score(frame(), dates=["minute"])
    with pytest.raises(ParameterError, match="dates must be a list"):
        covary.score(frame(), dates="hour")


def test_a_date_does_not_explain_its_own_calendar():
    """Without this rule, the hour of a date is known exactly from the date."""
    data = frame(n=400, step=timedelta(minutes=10))
    names = ["when", "when (hour)", "when (weekday)"]
    assert covary.score(data, names) == 0.0
    assert covary.score(data, ["when", "when (weekday)"], target="when (hour)") == 0.0
    assert covary.evidence(data, ["when", "when (hour)"]) == 0.0
    assert covary.test(data, names, permutations=99).pvalue == 1.0
    copy = data.assign(copy=data["when"].dt.hour.astype(float))
    assert covary.score(copy, ["when", "copy"]) > 0.0
    assert covary.score(copy, ["when (hour)", "copy"]) == 1.0
    found = covary.search(copy.drop(columns="other"), max_size=3, top=50)
    for subspace in found:
        if subspace.score > 0.0:
            assert "copy" in subspace.columns


def test_date_and_hour_explain_together():
    rng = np.random.default_rng(0)
    data = frame(n=3000, step=timedelta(hours=1))
    hour = data["when"].dt.hour.to_numpy()
    data["load"] = (hour > 11) * 2.0 + np.arange(3000) / 1000 + rng.normal(size=3000) / 3
    step = covary.explain(data, target="load").steps[0]
    assert {"when", "when (hour)"} <= set(step.by)


def test_other_measures_get_calendar_columns_only_if_asked():
    data = frame(step=timedelta(hours=73))
    measure = find_measure("spearman")
    assert measure.prepared(data, size=2).names == ("when", "other")
    asked = declare(data, TableOptions(dates=["time", "hour"]))
    assert measure.prepared(asked, size=2).names == ("when", "when (hour)", "other")
    assert "when (month)" in prepare(data).names


def test_search_with_calendar_columns_is_stored_and_resumed(tmp_path):
    data = frame(n=300)
    data.to_csv(tmp_path / "t.csv", index=False)
    first = covary.search(tmp_path / "t.csv", run=tmp_path / "r.covary", dates=["hour"], top=3)
    again = covary.search(
        tmp_path / "t.csv", run=tmp_path / "r.covary", resume=True, dates=["hour"], top=3
    )
    assert [each.columns for each in first] == [each.columns for each in again]
    assert {name for each in first for name in each.columns} == {"when (hour)", "other"}
