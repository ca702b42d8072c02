"""Text is read alike in a file and in a frame, and columns of text decide about each other."""

import csv
import dataclasses
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covary.errors import CovaryWarning
from covary.table import TableOptions, declare, read_table


def cells(table):
    return {
        column.name: [column.in_own_units(float(value)) for value in column.values]
        for column in table.columns
    }


CELLS = {
    "decimal commas": st.integers(-(10**6), 10**6).map(
        lambda n: f"{n / 100:.2f}".replace(".", ",")
    ),
    "thousands": st.integers(0, 10**7).map(lambda n: f"{n:,}"),
    "days": st.dates().map(lambda day: f"{day:%d.%m.}{day.year:04}"),
    "ISO dates": st.dates(dt.date(1000, 1, 1)).map(str),
    "moments": st.datetimes(dt.datetime(1000, 1, 1)).map(str),
    "zoned": st.datetimes(dt.datetime(1000, 1, 2)).map(lambda each: each.isoformat() + "+02:00"),
    "clock": st.times().map(str),
    "truths": st.sampled_from(["true", "false", "True"]),
    "signs": st.sampled_from(["+", "-"]),
    "words": st.sampled_from(["red", "green", "NA", "-", "None", "x, y"]),
    "hexadecimals": st.integers(0, 300).map(hex),
    "amounts": st.integers(0, 10**6).map(lambda n: f"{n / 100:.2f} \u20ac"),
}


@given(
    st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3),
    st.lists(st.sampled_from(["", "NA", "?", "n/a"]), max_size=2),
    st.sampled_from([";", ",", "\t"]),
    st.data(),
)
def test_a_file_is_read_like_a_frame_of_its_text(
    tmp_path_factory, kinds, markers, delimiter, data
):
    path = tmp_path_factory.mktemp("texts") / "table.csv"
    n_rows = data.draw(st.integers(3, 30))
    texts = {"number": [str(row % 3) for row in range(n_rows)]}
    for position, kind in enumerate(kinds):
        column = data.draw(st.lists(CELLS[kind], min_size=n_rows, max_size=n_rows))
        column[: len(markers)] = markers
        texts[f"{kind} {position}"] = column
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(texts)
        writer.writerows(zip(*texts.values(), strict=True))
    frame = pl.DataFrame(
        {name: [cell or None for cell in column] for name, column in texts.items()}
    ).with_columns(pl.col("number").cast(int))
    from_file, from_frame = read_table(str(path)), read_table(frame)
    assert from_file.left_out == from_frame.left_out
    for ours, theirs in zip(from_file.columns, from_frame.columns, strict=True):
        if theirs.read_as == "numbers":  # in a file, plain numbers are not text
            theirs = dataclasses.replace(theirs, read_as="")
        assert dataclasses.replace(ours, values=theirs.values) == theirs
        np.testing.assert_array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("source", ["path", "pandas", "polars", "array"])
@pytest.mark.parametrize(
    ("certain", "doubtful", "expected"),
    [
        (["12,5", "7,25", "1"], ["1,234", "2,500", "12,000"], [1.234, 2.5, 12]),
        (["12,5", "7,25", "1"], ["1,234", "1234", "12,000"], [1.234, 1234, 12]),
        (["1,234.5", "7.25", "1"], ["1,234", "2,500", "12,000"], [1234, 2500, 12000]),
        (
            ["12,5", "7,25", "1"],
            ["2.500 \u20ac", "1.000 \u20ac", "12.000 \u20ac"],
            [2500, 1000, 12000],
        ),
    ],
)
def test_other_columns_decide_what_a_comma_is(tmp_path, source, certain, doubtful, expected):
    rows = list(zip(certain, doubtful, strict=True))
    data = pd.DataFrame(rows, columns=["a", "x1"])
    if source == "path":
        data.to_csv(tmp_path / "t.csv", sep=";", index=False)
        data = tmp_path / "t.csv"
    elif source == "polars":
        data = pl.from_pandas(data)
    elif source == "array":
        data = data.to_numpy(dtype=object)
    with pytest.warns(CovaryWarning, match=r"'x1' \(.* \(as in other columns\), such as"):
        table = read_table(data)
    assert table.columns[1].values.tolist() == expected


def test_points_before_thousands_beside_decimal_commas(tmp_path):
    """2.500 is 2500 in a file; a frame has lost the zeros, so that only a warning is possible."""
    content = "a;b;c\n12,5;500;1\n7,25;2.500;2\n1,5;12.000;3\n2,5;7.000;2\n"
    (tmp_path / "t.csv").write_text(content)
    with pytest.warns(CovaryWarning, match=r"'b' \(numbers with a thousands separator \(as in"):
        table = read_table(tmp_path / "t.csv")
    assert cells(table)["b"] == [500, 2500, 12000, 7000]
    assert cells(table)["c"] == [1, 2, 3, 2]
    frame = pd.read_csv(tmp_path / "t.csv", sep=";")
    with pytest.warns(CovaryWarning, match="^'b' may be 1000 times too small: other columns"):
        assert cells(read_table(frame))["b"] == [500, 2.5, 12, 7]
    frame["a"] = [1.5, 2.5, 3.5, 4.5]  # without decimal commas, three decimals are usual
    with pytest.warns(CovaryWarning) as caught:
        read_table(frame)
    assert [str(each.message)[:11] for each in caught] == ["only 4 rows"]


def test_commas_without_evidence_are_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;1,234\n2;2,500\n3;12,000\n")
    with pytest.warns(CovaryWarning, match=r"thousands separator \(assumed\), such as \"1,234\""):
        assert cells(read_table(path))["b"] == [1234, 2500, 12000]


@pytest.mark.parametrize(
    "column", [["12345678901234567890", "12345678901234567891"], ["0", "98765432109876543210"]]
)
def test_numbers_of_too_many_digits(tmp_path, column):
    """Numbers are exact, or they are left out; declared as nominal they keep every digit."""
    path = tmp_path / "t.csv"
    rows = "".join(f"{row % 3},{cell}\n" for row, cell in enumerate(column * 3))
    path.write_text(f"a,b\n{rows}")
    with pytest.warns(CovaryWarning, match=r"left out: 'b' \(a column of large numbers whose"):
        assert read_table(path).names == ("a",)
    table = read_table(declare(path, TableOptions(nominal=["b"])))
    assert cells(table)["b"] == column * 3


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20),
    st.sampled_from(["1,5", "2.5", "7", "NA"]),
)
def test_numbers_beside_text_are_not_read_as_text(numbers, text):
    frame = pd.DataFrame({"v": pd.Series([*numbers, text], dtype=object), "k": 1.5})
    value = {"1,5": 1.5, "2.5": 2.5, "7": 7.0, "NA": None}[text]
    assert cells(read_table(frame, ["v"]))["v"] == [*numbers, value]


INTEGERS = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=8) | st.tuples(
    st.integers(-(2**63), 2**63 - 100), st.lists(st.integers(0, 99), min_size=3, max_size=8)
).map(lambda drawn: [drawn[0] + each for each in drawn[1]])


@given(INTEGERS, st.booleans())
def test_large_integers_stay_different(tmp_path_factory, integers, has_missing):
    numbers = [*integers, *([None] if has_missing else [])]
    path = tmp_path_factory.mktemp("integers") / "t.parquet"
    polars = pl.DataFrame({"v": pl.Series(numbers, dtype=pl.Int64), "k": 1.5})
    polars.write_parquet(path)
    sources = [
        polars,
        polars.to_arrow(),
        path,
        polars.with_columns(pl.col("v").cast(pl.Int128)),
        pd.DataFrame({"v": pd.array(numbers, dtype="Int64"), "k": 1.5}),
        pd.DataFrame({"v": pd.Series(numbers, dtype=object), "k": 1.5}),
    ]
    for data in sources:
        nominal = read_table(declare(data, TableOptions(nominal=["v"])))
        if "v" in nominal.names:  # not a single level
            assert cells(nominal)["v"] == numbers
        table = read_table(data)
        span = max(integers) - min(integers)
        if "v" not in table.names:
            assert span > 2**53
            assert "digits would be lost" in dict(table.left_out)["v"]
            continue
        found = cells(table)["v"]
        if span <= 2**53:
            assert found == numbers
        assert len(set(found)) == len(set(numbers))
        assert [value is None for value in found] == [number is None for number in numbers]


@given(st.lists(st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2080, 1, 1)), min_size=3))
def test_moments_are_exact_over_long_spans(moments):
    texts = [moment.isoformat(sep=" ", timespec="microseconds") for moment in moments]
    frame = pd.DataFrame({"text": texts, "ns": pd.to_datetime(moments).as_unit("ns"), "k": 1.5})
    for name in ("text", "ns"):
        assert cells(read_table(frame, [name]))[name] == moments


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Kathmandu", "UTC"])
def test_a_common_zone_is_kept(zone):
    moments = pd.date_range("2020-03-01", periods=60, freq="31h", tz=zone)
    frame = pd.DataFrame({"v": moments.to_pydatetime(), "k": 1.5}).astype({"v": object})
    table = read_table(declare(frame, TableOptions(dates=["time", "hour"])))
    assert table.columns[0].zone == zone
    assert cells(table)["v (hour)"] == [moment.hour for moment in moments]


def test_hours_are_those_of_the_written_offset():
    moments = [f"2020-09-{day:02}T{day % 24:02}:30:00+05:30" for day in range(1, 29)]
    table = read_table(
        declare(pd.DataFrame({"v": moments, "k": 1.5}), TableOptions(dates=["time", "hour"]))
    )
    assert cells(table)["v (hour)"] == [day % 24 for day in range(1, 29)]
    assert [each.isoformat() for each in cells(table)["v"]] == moments


def test_times_in_different_zones_are_left_out():
    zones = [dt.timezone(dt.timedelta(hours=hours)) for hours in (0, 2)]
    times = [dt.time(12, tzinfo=zones[row % 2]) for row in range(6)]
    frame = pd.DataFrame({"v": times, "k": range(6)})
    assert dict(read_table(frame).left_out)["v"].startswith("times of day in different time zones")
    assert cells(read_table(frame[::2]))["v"] == [dt.time(12)] * 3


def test_long_durations():
    durations = [dt.timedelta(days=999_999_999), dt.timedelta(hours=1), dt.timedelta(days=-5)]
    frame = pd.DataFrame({"v": pd.Series(durations, dtype=object)})
    assert cells(read_table(frame))["v"] == durations


def interval_frame():
    return pd.DataFrame({"v": pd.cut(np.arange(12), 3), "k": np.arange(12) % 5})


def test_intervals_as_categories():
    frame = interval_frame()
    for data in (frame, pa.Table.from_pandas(frame)):
        column = read_table(data).columns[0]
        assert column.kind == "category"
        assert [str(each) for each in cells(read_table(data))["v"]] == frame["v"].astype(
            str
        ).tolist()


def dictionary(values):
    codes = pa.array([row % 2 for row in range(12)], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, values)


@pytest.mark.parametrize(
    "column",
    [
        pl.from_pandas(interval_frame())["v"],
        pa.Table.from_pandas(
            pd.DataFrame({"v": pd.period_range("2020-01", periods=12, freq="M")})
        )["v"],
        dictionary(pa.array([[1], [2]])),
        dictionary(pa.array([{"a": 1}, {"a": 2}])),
        dictionary(pa.array([b"a", b"b"])),
    ],
    ids=["polars extension", "periods", "lists", "structs", "bytes"],
)
def test_types_without_values_are_left_out(column):
    numbers = [row % 5 for row in range(12)]
    make = pl.DataFrame if isinstance(column, pl.Series) else pa.table
    table = read_table(make({"v": column, "k": numbers}))
    assert table.names == ("k",)
    assert dict(table.left_out)["v"].endswith("; convert it to numbers or text")


@pytest.mark.parametrize("ordered", [False, True])
def test_dictionaries_of_pandas_with_arrow_types(tmp_path, ordered):
    labels = ["b", "a", "c", "a"] * 3
    frame = pd.DataFrame({"v": pd.Categorical(labels, ["c", "a", "b"], ordered=ordered), "k": 1.5})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(pd.read_parquet(tmp_path / "t.parquet", dtype_backend="pyarrow"))
    assert table.columns[0].kind == ("category" if ordered else "nominal")
    assert cells(table)["v"] == labels


@pytest.mark.parametrize(
    "cells_of",
    [["+", "-"], ["None", "Brick"], ["-", "?"], ["EU", "NA"], ["yes", "N/A", None]],
)
def test_markers_are_levels_if_hardly_another_level_remains(cells_of):
    frame = pl.DataFrame({"v": cells_of * 20, "k": [row % 7 for row in range(20 * len(cells_of))]})
    table = read_table(frame)
    assert table.columns[0].kind == "nominal"
    assert cells(table)["v"] == cells_of * 20
    three = frame.vstack(frame.with_columns(pl.lit("third").alias("v")))
    three = three.vstack(frame.with_columns(pl.lit("fourth").alias("v")))
    expected = {
        None if each in (None, "-", "?", "None", "NA", "N/A") else each for each in cells_of
    }
    assert set(cells(read_table(three))["v"]) == {*expected, "third", "fourth"}


def test_levels_with_an_odd_cell_are_named():
    texts = ["13/06/2020", "14/06/2020", "06/15/2020"] * 20
    frame = pd.DataFrame({"v": texts, "k": np.arange(60) % 7})
    with pytest.warns(
        CovaryWarning, match="'v' .levels, although it is text, because '06/15/2020'"
    ):
        assert cells(read_table(frame))["v"] == texts


@pytest.mark.parametrize("dtype", ["float64", "Int64", "boolean", "M8[ns]", "object", "category"])
def test_columns_without_a_cell_are_empty(dtype):
    frame = pd.DataFrame({"v": pd.Series([None] * 12, dtype=dtype), "k": np.arange(12) % 5})
    assert read_table(frame).left_out == (("v", "empty"),)


@pytest.mark.parametrize("unit", ["kg", " km", "B", "th"])
def test_numbers_with_a_unit_are_levels_if_they_repeat(unit):
    rng = np.random.default_rng(0)
    texts = [f"{number}{unit}" for number in rng.integers(0, 40, 400)]
    with pytest.warns(
        CovaryWarning, match=f"levels, although it is text .numbers with '{unit.strip()}'"
    ):
        table = read_table(pd.DataFrame({"x": texts, "y": rng.normal(size=400)}))
    (column, _) = table.columns
    assert column.kind == "nominal"
    assert [column.categories[int(code)] for code in column.values] == texts


def test_numbers_with_a_unit_that_hardly_repeat_are_left_out():
    texts = [f"{number} kg" for number in range(100, 200)]
    with pytest.warns(CovaryWarning, match="remove 'kg'"):
        table = read_table(pd.DataFrame({"x": texts, "y": np.arange(100.0) ** 2}))
    assert table.names == ("y",)
