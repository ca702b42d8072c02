"""Tables from arrays and frames, and labelled matrices."""

import datetime as dt
import errno
import subprocess
import sys
import timeit
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covary.errors import ColumnError, CovaryError, CovaryWarning, ParameterError, TableError
from covary.table import (
    Column,
    Table,
    TableOptions,
    declare,
    label_matrix,
    read_table,
    write_table,
)

NAN = float("nan")


def only_column(table: Table) -> Column:
    (column,) = table.columns
    return column


def in_own_units(column: Column) -> list:
    return [column.in_own_units(float(value)) for value in column.values]


def error_line(kind: type[Exception], data, columns=None) -> str:
    with pytest.raises(kind) as caught:
        read_table(data, columns)
    assert isinstance(caught.value, CovaryError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "O"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_array_of_numbers(dtype, order):
    table = read_table(np.array([[1, 4], [2, 5], [3, 6]], dtype=dtype, order=order))
    assert table.names == ("x0", "x1")
    assert table.n_rows == 3
    assert [column.kind for column in table.columns] == ["number", "number"]
    assert [column.values.tolist() for column in table.columns] == [[1, 2, 3], [4, 5, 6]]
    assert all(column.values.dtype == np.float64 for column in table.columns)


@pytest.mark.parametrize("order", ["C", "F"])
def test_doubles_are_not_copied(order):
    array = np.ones((100, 3), order=order)
    for position, column in enumerate(read_table(array).columns):
        assert np.shares_memory(column.values, array[:, position])


@pytest.mark.filterwarnings("error::covary.errors.CovaryWarning")
def test_small_arrays_are_read_fast():
    array = np.random.default_rng(0).random((4000, 2))
    reading = min(timeit.repeat(lambda: read_table(array), number=20, repeat=20)) / 20
    one_pass = min(timeit.repeat(lambda: np.isinf(array).any(), number=20, repeat=20)) / 20
    assert reading - one_pass < 100e-6


def test_array_is_not_modified():
    array = np.array([[1.0, NAN], [2.0, 3.0], [5.0, 4.0]])
    array.flags.writeable = False
    read_table(array)
    read_table(np.ma.masked_invalid(array))


def test_array_of_booleans():
    column = only_column(read_table(np.array([[True], [False], [True]])))
    assert column.kind == "boolean"
    assert in_own_units(column) == [True, False, True]


@pytest.mark.parametrize(
    ("dtype", "first"),
    [
        ("M8[Y]", dt.date(2020, 1, 1)),
        ("M8[D]", dt.date(2020, 1, 1)),
        ("M8[s]", dt.datetime(2020, 1, 1)),
        ("M8[us]", dt.datetime(2020, 1, 1)),
        ("M8[ns]", dt.datetime(2020, 1, 1)),
    ],
)
def test_array_of_dates(dtype, first):
    array = np.array([["2020-01-01"], ["NaT"], ["2021-01-01"]], dtype=dtype)
    column = only_column(read_table(array, [0]))
    assert column.kind == "date"
    assert column.values[0] == 0
    assert np.isnan(column.values[1])
    assert in_own_units(column) == [first, None, first.replace(year=2021)]


def test_array_of_durations():
    array = np.array([[90], [30], [60]], dtype="m8[s]")
    column = only_column(read_table(array))
    assert column.values.tolist() == [60, 0, 30]
    assert column.in_own_units(60.0) == dt.timedelta(seconds=90)


def test_dates_that_python_cannot_hold_stay_numpy():
    array = np.array([["2020"], ["2021"], ["12020"]], dtype="M8[us]")
    column = only_column(read_table(array, [0]))
    assert in_own_units(column)[2] == np.datetime64("12020", "us")


def test_earliest_and_latest_dates():
    ends = np.array([[-(2**63) + 1], [0], [2**63 - 1]]).view("M8[ns]")
    column = read_table(ends).columns[0]
    assert column.values.tolist() == [0.0, 2.0**63, 2.0**64]
    assert in_own_units(column)[2].year == 2262


@pytest.mark.parametrize("first", [-(2**63), -(2**60), 2**60, 2**63 - 4])
def test_large_whole_numbers_keep_every_digit(first):
    array = np.array([[first], [first + 1], [first + 3]], dtype=np.int64)
    column = only_column(read_table(array))
    assert column.kind == "number"
    assert column.values.tolist() == [0, 1, 3]
    assert in_own_units(column) == [first, first + 1, first + 3]


def test_largest_unsigned_numbers():
    array = np.array([[2**64 - 1], [2**64 - 2], [2**64 - 3]], dtype=np.uint64)
    assert only_column(read_table(array)).values.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        ([1, None, 2.5, NAN], "number", [1, None, 2.5, None]),
        ([Decimal("1.5"), None, Fraction(1, 4), np.float32(2)], "number", [1.5, None, 0.25, 2]),
        ([Decimal("sNaN"), 1, 2, 3], "number", [None, 1, 2, 3]),
        ([True, None, False, np.True_], "boolean", [True, None, False, True]),
        ([True, 2, None, 0], "number", [1, 2, None, 0]),
        (
            [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1), pd.NaT],
            "date",
            [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1), None],
        ),
        (
            [dt.datetime(2020, 1, 2, 3), dt.date(2020, 1, 1), NAN, pd.Timestamp("2020-01-03")],
            "date",
            [dt.datetime(2020, 1, 2, 3), dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 3)],
        ),
        (
            [dt.datetime(2020, 1, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))] * 4,
            "date",
            [dt.datetime(2020, 1, 1, 0, tzinfo=dt.UTC)] * 4,
        ),
        (
            [dt.timedelta(1), None, dt.timedelta(2), pd.NaT],
            "date",
            [dt.timedelta(1), None, dt.timedelta(2), None],
        ),
        (
            [dt.time(1, 2, 3, 4), None, dt.time(0), dt.time(23, 59)],
            "date",
            [dt.time(1, 2, 3, 4), None, dt.time(0), dt.time(23, 59)],
        ),
    ],
)
def test_array_of_objects(cells, kind, expected):
    column = only_column(read_table(np.array([[cell] for cell in cells], dtype=object), ["x0"]))
    assert column.kind == kind
    assert in_own_units(column) == expected


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (
            ["a", "b", None],
            "an identifier (2 different values in 2 rows); declare it as nominal to use it",
        ),
        (
            ["it was the best of times"] * 2 + ["it was the worst of times"],
            "free text (2 different values in 3 rows); declare it as nominal to use it",
        ),
        (["a", "a", "a"], "a single level, 'a' in all rows"),
        (
            [1, 2, "two"],
            "text, because 'two' is not a number or date like most cells; replace it, or "
            "declare the column as nominal",
        ),
        ([None, None, NAN], "empty"),
        (["?", None, ""], "empty"),
        ([1j, 2, 3], "of type complex and int; convert it to numbers or text"),
        ([[1], [2], [3]], "of type list; convert it to numbers or text"),
        ([b"a", b"a", "a"], "a mix of text and bytes; convert it to numbers or text"),
        (["a", "a", "\ud800"], "text that is not valid Unicode"),
        (
            [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None],
            "a mix of dates with and without a time zone; convert them to one zone",
        ),
    ],
)
def test_objects_left_out(cells, reason):
    array = np.empty((3, 2), dtype=object)
    array[:, 0] = [1, 2, 3]
    for row, cell in enumerate(cells):
        array[row, 1] = cell
    with pytest.warns(CovaryWarning, match="^left out: 'x1'"):
        table = read_table(array)
    assert table.names == ("x0",)
    assert table.left_out == (("x1", reason),)


def test_masked_arrays():
    mask = [[False, True], [False, False], [True, False]]
    for dtype in ("f8", "i8", "O"):
        table = read_table(np.ma.masked_array([[1, 2], [3, 4], [5, 6]], mask=mask, dtype=dtype))
        np.testing.assert_array_equal(table.columns[0].values, [1, 3, NAN])
        np.testing.assert_array_equal(table.columns[1].values, [NAN, 4, 6])
    truths = np.ma.masked_array([[True], [False], [True]], mask=[[False], [False], [True]])
    column = only_column(read_table(truths))
    assert column.kind == "boolean"
    assert in_own_units(column) == [True, False, None]
    dates = np.ma.masked_array(
        np.array([["1990"], ["2000"], ["2001"]], dtype="M8[D]"), mask=[[True], [False], [False]]
    )
    assert in_own_units(read_table(dates).columns[0])[:2] == [None, dt.date(2000, 1, 1)]


@pytest.mark.parametrize("dtype", ["U1", "U9", "O"])
def test_masked_cells_of_text_are_missing(dtype):
    mask = [[False], [False], [True]] * 2
    texts = np.ma.masked_array(np.array([["r"], ["b"], ["x"]] * 2, dtype), mask=mask)
    column = only_column(read_table(texts))
    assert in_own_units(column) == ["r", "b", None] * 2
    declared = only_column(read_table(declare(texts, TableOptions(nominal=["x0"]))))
    assert in_own_units(declared) == ["r", "b", None] * 2


def test_masked_cells_may_be_infinite():
    array = np.ma.masked_invalid([[1.0], [np.inf], [2.0]])
    np.testing.assert_array_equal(only_column(read_table(array)).values, [1, NAN, 2])


def test_lists_of_rows():
    table = read_table([[1, 2.5], [3, None], (5, 6)])
    assert [in_own_units(column) for column in table.columns] == [[1, 3, 5], [2.5, None, 6]]


def test_lists_of_rows_with_text():
    with pytest.warns(CovaryWarning, match="'x1'"):
        table = read_table([[1, "a"], [2, "b"], [3, "c"]])
    assert only_column(table).values.tolist() == [1, 2, 3]
    number, text = read_table([[1, "a"], [2, "b"], [3, "b"], [4, "a"], [5, "b"]]).columns
    assert (number.kind, in_own_units(number)) == ("number", [1, 2, 3, 4, 5])
    assert (text.kind, in_own_units(text)) == ("nominal", ["a", "b", "b", "a", "b"])


def test_matrix_class():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert read_table(matrix).columns[1].values.tolist() == [2, 4, 6]


# ---------------------------------------------------------------- pandas


def test_pandas_kinds():
    frame = pd.DataFrame(
        {
            "float": [1.5, NAN, 2.5],
            "float32": np.array([1.5, NAN, 2.5], dtype=np.float32),
            "int": [1, 2, 3],
            "bool": [True, False, True],
            "Int64": pd.array([1, None, 3], dtype="Int64"),
            "UInt8": pd.array([1, None, 3], dtype="UInt8"),
            "boolean": pd.array([True, None, False], dtype="boolean"),
            "Float64": pd.array([1.5, None, 2.5], dtype="Float64"),
            "arrow": pd.array([1, None, 3], dtype="int64[pyarrow]"),
            "sparse": pd.arrays.SparseArray([0.0, 0.0, 2.0]),
            "objects": pd.Series([1, None, Decimal("2.5")], dtype=object),
            "truths": pd.Series([True, None, False], dtype=object),
        }
    )
    table = read_table(frame)
    assert table.names == tuple(frame.columns)
    assert {column.name: (column.kind, in_own_units(column)) for column in table.columns} == {
        "float": ("number", [1.5, None, 2.5]),
        "float32": ("number", [1.5, None, 2.5]),
        "int": ("number", [1, 2, 3]),
        "bool": ("boolean", [True, False, True]),
        "Int64": ("number", [1, None, 3]),
        "UInt8": ("number", [1, None, 3]),
        "boolean": ("boolean", [True, None, False]),
        "Float64": ("number", [1.5, None, 2.5]),
        "arrow": ("number", [1, None, 3]),
        "sparse": ("number", [0, 0, 2]),
        "objects": ("number", [1, None, 2.5]),
        "truths": ("boolean", [True, None, False]),
    }


def test_pandas_dates():
    days = pd.Series(pd.to_datetime(["2020-01-02", None, "2020-01-01"]))
    berlin = ZoneInfo("Europe/Berlin")
    frame = pd.DataFrame(
        {
            "plain": days,
            "nanoseconds": days.astype("datetime64[ns]"),
            "zone": days.dt.tz_localize("Europe/Berlin"),
            "duration": days - dt.datetime(2020, 1, 1),
            "period": days.dt.to_period("D"),
            "arrow": days.astype(pd.ArrowDtype(pa.timestamp("us"))),
            "arrow date": days.astype(pd.ArrowDtype(pa.date32())),
        }
    )
    plain = [dt.datetime(2020, 1, 2), None, dt.datetime(2020, 1, 1)]
    table = read_table(frame)
    assert {column.kind for column in table.columns} == {"date"}
    assert {column.name: in_own_units(column) for column in table.columns} == {
        "plain": plain,
        "nanoseconds": plain,
        "zone": [
            dt.datetime(2020, 1, 2, tzinfo=berlin),
            None,
            dt.datetime(2020, 1, 1, tzinfo=berlin),
        ],
        "duration": [dt.timedelta(days=1), None, dt.timedelta(0)],
        "period": plain,
        "arrow": plain,
        "arrow date": [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)],
    }
    zone = table.columns[2]
    assert zone.in_own_units(0.0).utcoffset() == dt.timedelta(hours=1)
    np.testing.assert_array_equal(table.columns[0].values > 0, [True, False, False])


def test_pandas_categories():
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["m", None, "s"], categories=["s", "m", "l"], ordered=True),
            "band": pd.cut([1, 5, 9], [0, 4, 8, 12]),
            "colour": pd.Categorical(["red", "blue", "red"]),
            "word": ["x", "y", None],
        }
    )
    with pytest.warns(CovaryWarning, match=r"^left out: 'word' \(an identifier \(2 different"):
        table = read_table(frame)
    size, band, colour = table.columns
    assert (colour.kind, colour.categories) == ("nominal", ("red", "blue"))
    assert colour.values.tolist() == [0, 1, 0]
    assert size.kind == "category"
    assert size.categories == ("s", "m", "l")
    np.testing.assert_array_equal(size.values, [1, NAN, 0])
    assert in_own_units(size) == ["m", None, "s"]
    assert in_own_units(band) == [pd.Interval(0, 4), pd.Interval(4, 8), pd.Interval(8, 12)]


def test_pandas_left_out():
    frame = pd.DataFrame(
        {
            "x": [1, 2, 3],
            "nothing": [None, None, None],
            "interval": pd.interval_range(0, 3),
            "complex": [1j, 2j, 3j],
            "mixed": pd.Series([1, "a", [2]], dtype=object),
            "almost": ["1", "2", "three"],
            "words": ["a", "b", "c"],
            "one": ["a", "a", "a"],
            "id": [3, 1, 2],
            "infinite": [1.0, np.inf, -np.inf],
        }
    )
    with pytest.warns(CovaryWarning):
        table = read_table(frame)
    assert table.names == ("x",)
    assert table.left_out == (
        ("nothing", "empty"),
        ("interval", "of type Interval; convert it to numbers or text"),
        ("complex", "complex numbers; convert it to numbers or text"),
        ("mixed", "a mix of text and int and list; convert it to numbers or text"),
        (
            "almost",
            "text, because 'three' is not a number or date like most cells; replace it, or "
            "declare the column as nominal",
        ),
        ("words", "an identifier (3 different values in 3 rows); declare it as nominal to use it"),
        ("one", "a single level, 'a' in all rows"),
        ("id", "an identifier (whole numbers that hardly repeat); name it in columns to use it"),
        ("infinite", "a column with 2 infinite values; replace them by missing cells"),
    )


def test_pandas_labels_that_are_not_text():
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    assert read_table(frame).names == ("0", "1")
    assert read_table(frame, [1]).columns[0].values.tolist() == [1, 3, 5]
    frame.columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    assert read_table(frame).names == ("('a', 'x')", "('a', 'y')")
    assert read_table(frame, [("a", "y")]).columns[0].values.tolist() == [1, 3, 5]


def test_pandas_doubles_are_not_copied():
    frame = pd.DataFrame(np.ones((100, 2)), columns=["a", "b"])
    column = read_table(frame).columns[0]
    assert np.shares_memory(column.values, frame["a"].to_numpy())


def test_pandas_index_is_not_a_column():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[7, 8, 9])
    assert read_table(frame).names == ("a",)
    assert read_table(pa.Table.from_pandas(frame)).names == ("a",)


# ---------------------------------------------------------------- polars


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "float": pl.Series([1.5, None, 2.5]),
            "int": pl.Series([1, None, 3]),
            "bool": pl.Series([True, None, False]),
            "decimal": pl.Series([Decimal("1.5"), None, Decimal("2.5")]),
            "date": pl.Series([dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)]),
            "datetime": pl.Series([dt.datetime(2020, 1, 2), None, dt.datetime(2020, 1, 1)]),
            "duration": pl.Series([dt.timedelta(2), None, dt.timedelta(1)]),
            "time": pl.Series([dt.time(2), None, dt.time(1)]),
            "enum": pl.Series(["m", None, "s"], dtype=pl.Enum(["s", "m", "l"])),
        }
    )


POLARS_IN_OWN_UNITS = {
    "float": [1.5, None, 2.5],
    "int": [1, None, 3],
    "bool": [True, None, False],
    "decimal": [1.5, None, 2.5],
    "date": [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)],
    "datetime": [dt.datetime(2020, 1, 2), None, dt.datetime(2020, 1, 1)],
    "duration": [dt.timedelta(2), None, dt.timedelta(1)],
    "time": [dt.time(2), None, dt.time(1)],
    "enum": ["m", None, "s"],
}


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_kinds(lazy):
    frame = polars_frame().lazy() if lazy else polars_frame()
    table = read_table(frame)
    assert {column.name: in_own_units(column) for column in table.columns} == POLARS_IN_OWN_UNITS
    kinds = ["number", "number", "boolean", "number", "date", "date", "date", "date", "category"]
    assert [column.kind for column in table.columns] == kinds


def test_polars_time_zone():
    frame = pl.DataFrame({"t": [dt.datetime(2020, 7, 1, 12)] * 3})
    frame = frame.with_columns(pl.col("t").dt.replace_time_zone("Europe/Berlin"))
    moment = only_column(read_table(frame)).in_own_units(0.0)
    assert moment == dt.datetime(2020, 7, 1, 10, tzinfo=dt.UTC)
    assert moment.hour == 12


def test_polars_left_out():
    frame = pl.DataFrame(
        {
            "x": [1, 2, 3],
            "category": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "text": ["a", "b", None],
            "nothing": [None, None, None],
            "list": [[1], [2], [3]],
            "bytes": [b"a", b"b", b"c"],
        }
    )
    with pytest.warns(CovaryWarning):
        table = read_table(frame)
    assert table.names == ("x", "category")
    assert table.columns[1].kind == "nominal"
    assert in_own_units(table.columns[1]) == ["a", "b", "a"]
    assert table.left_out == (
        ("text", "an identifier (2 different values in 2 rows); declare it as nominal to use it"),
        ("nothing", "empty"),
        ("list", "of type List(Int64); convert it to numbers or text"),
        ("bytes", "of type bytes; convert it to numbers or text"),
    )


def test_lazy_frame_loads_only_the_named_columns():
    frame = pl.LazyFrame({"a": [1, 2, 1000], "b": [4, 5, 6]})
    frame = frame.with_columns(pl.col("a").cast(pl.Int8))
    assert only_column(read_table(frame, ["b"])).values.tolist() == [4, 5, 6]
    assert "lazy frame" in error_line(TableError, frame, ["a"])


def test_lazy_frame_over_a_missing_file(tmp_path):
    frame = pl.scan_parquet(tmp_path / "missing.parquet")
    assert "lazy frame" in error_line(TableError, frame)


# ---------------------------------------------------------------- pyarrow


def test_arrow_kinds():
    berlin = ZoneInfo("Europe/Berlin")
    size = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["s", "m"], ordered=True)
    table = read_table(
        pa.table(
            {
                "float": pa.array([1.5, None, 2.5]),
                "half": pa.array(np.array([1.5, 2, 2.5], dtype=np.float16)),
                "int": pa.array([1, None, 3]),
                "bool": pa.array([True, None, False]),
                "decimal": pa.array([Decimal("1.5"), None, Decimal("2.5")]),
                "decimal256": pa.array(
                    [Decimal("1.5"), None, Decimal("2.5")], pa.decimal256(50, 1)
                ),
                "date": pa.array([dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)]),
                "date64": pa.array([dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)], pa.date64()),
                "timestamp": pa.array([86400, None, 0], pa.timestamp("s")),
                "zone": pa.array([86400, None, 0], pa.timestamp("s", "Europe/Berlin")),
                "offset": pa.array([86400, None, 0], pa.timestamp("s", "+01:00")),
                "duration": pa.array([86400, None, 0], pa.duration("s")),
                "time": pa.array([60, None, 0], pa.time32("s")),
                "nanoseconds": pa.array([60_000_001_001, None, 0], pa.time64("ns")),
                "size": size,
            }
        )
    )
    day = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)
    first = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert {column.name: in_own_units(column) for column in table.columns} == {
        "float": [1.5, None, 2.5],
        "half": [1.5, 2, 2.5],
        "int": [1, None, 3],
        "bool": [True, None, False],
        "decimal": [1.5, None, 2.5],
        "decimal256": [1.5, None, 2.5],
        "date": [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)],
        "date64": [dt.datetime(2020, 1, 2), None, dt.datetime(2020, 1, 1)],
        "timestamp": [dt.datetime(1970, 1, 2), None, dt.datetime(1970, 1, 1)],
        "zone": [day.astimezone(berlin), None, first.astimezone(berlin)],
        "offset": [day, None, first],
        "duration": [dt.timedelta(1), None, dt.timedelta(0)],
        "time": [dt.time(0, 1), None, dt.time(0)],
        "nanoseconds": [dt.time(0, 1, 0, 1), None, dt.time(0)],
        "size": ["m", None, "s"],
    }


def test_arrow_chunks():
    numbers = pa.chunked_array([[1.0, 2.0], [], [None, 4.0]])
    first = pa.DictionaryArray.from_arrays([0, 1], ["low", "high"], ordered=True)
    second = pa.DictionaryArray.from_arrays([0, None], ["high"], ordered=True)
    table = read_table(pa.table({"n": numbers, "o": pa.chunked_array([first, second])}))
    np.testing.assert_array_equal(table.columns[0].values, [1, 2, NAN, 4])
    assert in_own_units(table.columns[1]) == ["low", "high", "high", None]


def test_arrow_left_out():
    single = pa.DictionaryArray.from_arrays([1, 1, 1], ["a", "b"])
    message = r"^left out: 's' \(a single level, 'b' in all rows\); 'n' \(empty\); 'l' \(of type L"
    with pytest.warns(CovaryWarning, match=message):
        read_table(pa.table({"x": [1, 2, 3], "s": single, "n": pa.nulls(3), "l": [[1]] * 3}))


def test_arrow_dictionaries():
    unordered = pa.DictionaryArray.from_arrays([0, 1, None, 1], ["a", "b"])
    repeated = pa.DictionaryArray.from_arrays([0, 1, 2, 3], ["a", "b", "a", None])
    numbers = pa.DictionaryArray.from_arrays([1, 0, 1, None], [10, 20])
    table = read_table(pa.table({"unordered": unordered, "repeated": repeated, "n": numbers}))
    assert {column.kind for column in table.columns} == {"nominal"}
    assert [column.categories for column in table.columns] == [("b", "a"), ("a", "b"), (20, 10)]
    assert [in_own_units(column) for column in table.columns] == [
        ["a", "b", None, "b"],
        ["a", "b", "a", None],
        [20, 10, 20, None],
    ]


def test_arrow_doubles_are_not_copied():
    values = pa.array(np.ones(100))
    column = only_column(read_table(pa.table({"a": values})))
    assert column.values.ctypes.data == values.buffers()[1].address


def test_objects_that_export_arrow_data():
    batch = pa.record_batch({"a": [1, 2, 3]})
    assert only_column(read_table(batch)).values.tolist() == [1, 2, 3]
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    assert only_column(read_table(reader)).values.tolist() == [1, 2, 3]


# ---------------------------------------------------------------- named columns


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "w": list("xyz")}),
        pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "w": list("xyz")}),
        pl.LazyFrame({"a": [1, 2, 3], "b": [4, 5, 6], "w": list("xyz")}),
        pa.table({"a": [1, 2, 3], "b": [4, 5, 6], "w": list("xyz")}),
    ],
    ids=["pandas", "polars", "lazy", "pyarrow"],
)
class TestColumns:
    def test_have_the_order_of_the_names(self, data):
        table = read_table(data, (name for name in ["b", "a"]))
        assert table.names == ("b", "a")
        assert table.columns[0].values.tolist() == [4, 5, 6]

    def test_unknown(self, data):
        assert error_line(ColumnError, data, ["a", "B"]) == (
            "there is no column 'B'. Did you mean 'b'? The columns are 'a', 'b', 'w'."
        )

    def test_twice(self, data):
        assert "'a' is named twice" in error_line(ColumnError, data, ["a", "b", "a"])

    def test_identifier(self, data):
        assert error_line(ColumnError, data, ["a", "w"]) == (
            "column 'w' cannot be used: it is an identifier (3 different values in 3 rows); "
            "declare it as nominal to use it; covary uses numbers, booleans, dates, categories "
            "and texts that repeat"
        )

    def test_given_as_text(self, data):
        assert "pass a list of names" in error_line(ColumnError, data, "ab")

    def test_given_as_anything_else(self, data):
        assert error_line(ColumnError, data, 3) == (
            "columns is 3: pass a list of names, such as ['a', 'b']"
        )

    def test_none_named(self, data):
        assert "at least two columns: none is named" in error_line(ColumnError, data, [])


def test_array_columns_by_name_or_number():
    array = np.arange(9.0).reshape(3, 3)
    assert read_table(array, ["x2", np.int64(0)]).names == ("x2", "x0")
    assert "numbered 0 to 2" in error_line(ColumnError, array, [3])
    assert "numbered 0 to 2" in error_line(ColumnError, array, [-1])
    assert "'x1' is named twice" in error_line(ColumnError, array, [1, "x1"])
    assert "there is no column 'True'" in error_line(ColumnError, array, [True])


def test_columns_of_a_table():
    with pytest.warns(CovaryWarning):
        table = read_table(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "w": list("xyz")}))
    assert read_table(table) is table
    assert read_table(table, ["b"]).names == ("b",)
    assert "'w' cannot be used: it is an identifier" in error_line(ColumnError, table, ["w"])
    assert "no column 'c'" in error_line(ColumnError, table, ["c"])


def test_many_columns_are_found_fast():
    array = np.ones((3, 20_000))
    names = [f"x{position}" for position in reversed(range(20_000))]
    assert read_table(array, names).names == tuple(names)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (None, "NoneType"),
        (3, "int"),
        ({"a": [1, 2, 3]}, "dict"),
        (b"a,b", "bytes"),
        ((row for row in [[1, 2]]), "generator"),
        (pl.Series([1, 2, 3]), r"polars\..*Series"),
        (pd.Series([1, 2, 3]), r"pandas\..*Series"),
        (pa.array([1, 2, 3]), r"pyarrow\..*Array"),
        ([[1, 2], [3]], "list"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_not_a_table(data, name):
    with pytest.raises(TableError, match=rf"^data of type {name} is not a table: pass a two-dim"):
        read_table(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array(1.0), "the array has 0 dimensions"),
        (np.ones(5), "the array has 1 dimension:"),
        (np.ones((3, 3, 3)), "the array has 3 dimensions"),
        ([1, 2, 3], "the array has 1 dimension:"),
        (
            np.ones((3, 2), dtype=complex),
            "complex128 have no order: pass their real and imaginary",
        ),
        (
            np.array([["a"], ["b"], ["c"]]),
            r"no column can be used: 'x0' is an identifier \(3 different values in 3 rows\)",
        ),
        (
            np.array([[b"a"], [b"b"], [b"c"]]),
            r"dtype \|S1 does not contain numbers: convert it to float",
        ),
        (np.ones((2, 2)), "the table has 2 rows: at least 3 are needed"),
        (np.ones((1, 2)), "the table has 1 row: at least 3 are needed"),
        (np.ones((0, 2)), "the table has 0 rows: at least 3 are needed"),
        (np.ones((5, 0)), "the table has no columns"),
        (pd.DataFrame(index=range(5)), "the table has no columns"),
        (pd.DataFrame(), "the table has 0 rows"),
        (pl.DataFrame(), "the table has 0 rows"),
        (
            np.array([[1.0], [np.inf], [-np.inf]]),
            "no column can be used: 'x0' is a column with 2 infinite values; replace them by miss",
        ),
        (
            np.array([[1], [10**400], [2]], dtype=object),
            "no column can be used: 'x0' is a column with 1 infinite value; replace",
        ),
        (
            pl.DataFrame({"b": [1.0, float("inf"), None]}),
            "no column can be used: 'b' is a column with 1 infinite value; replace",
        ),
        (
            pd.DataFrame({"id": [1, 2, 3]}),
            r"no column can be used: 'id' is an identifier \(whole numbers that hardly repeat\);",
        ),
        (
            pd.DataFrame({"a": list("xyz"), "b": [None] * 3}),
            r"no column can be used: 'a' is an identifier \(3 different values in 3 rows\); "
            "declare it as nominal to use it, 'b' is empty; covary uses numbers, booleans",
        ),
        (
            pd.DataFrame(np.ones((3, 4)), columns=["a", "b", "c", "b"]),
            "columns 2 and 4 have the same name 'b': give every column its own name",
        ),
        (
            pd.DataFrame(np.ones((3, 2)), columns=[1, "1"]),
            "columns 1 and 2 have the same name '1'",
        ),
        (
            pa.table([pa.array([1.0, 2.0, 3.0])] * 2, names=["a", "a"]),
            "columns 1 and 2 have the same name 'a'",
        ),
    ],
)
def test_unusable_table(data, message):
    with pytest.raises(TableError, match=message) as caught:
        read_table(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([[1.0, 2], [np.inf, 3], [-np.inf, 4]]), "'x0' has 2 infinite values: use a fin"),
        (np.array([[1.0, 2], [np.inf, 3], [NAN, 4]]), "'x0' has 1 infinite value: use a finite"),
        (np.array([[1, 2], [10**400, 3], [2, 4]], dtype=object), "'x0' has 1 infinite value"),
        (pd.DataFrame({"x0": [1, np.inf, 2], "x1": [1, 2, 3]}), "'x0' has 1 infinite value"),
        (pl.DataFrame({"x1": [1, 2, 3], "x0": [1.0, float("inf"), None]}), "'x0' has 1 infinite"),
        (pd.DataFrame({"x0": ["1", "2", "-Inf"], "x1": [1, 2, 3]}), "'x0' has 1 infinite value"),
    ],
)
def test_infinite_values(data, message):
    """They are an error in a column that is named. Otherwise the column is left out."""
    with pytest.raises(TableError, match=f"^column {message}"):
        read_table(data, ["x0", "x1"])
    reason = r"a column with \d infinite values?; replace them by missing cells"
    with pytest.warns(CovaryWarning, match=rf"^left out: 'x0' \({reason}\)$"):
        table = read_table(data)
    assert only_column(table).name == "x1"
    assert read_table(data, ["x1"]).left_out == ()


def test_names_in_messages_have_no_control_characters():
    evil = "a\nb\x1b[31m\u2028" + "c" * 100
    frame = pd.DataFrame({evil: [1, np.inf, 3], "other": [1, 2, 3]})
    lines = [
        error_line(TableError, frame[[evil]]),
        error_line(TableError, frame, [evil, "other"]),
        error_line(ColumnError, frame, [evil, evil]),
        error_line(ColumnError, frame, [evil + "d"]),
        error_line(TableError, frame[[evil, evil]]),
        error_line(TableError, frame[[evil]].astype(str).replace("1.0", evil)),
        error_line(ColumnError, declare(frame, TableOptions(nominal=[evil + "d"]))),
        error_line(ParameterError, declare(frame, TableOptions([evil], {evil: [1]}))),
        error_line(ParameterError, declare(frame, TableOptions(ordered={evil: [1]}))),
    ]
    texts = pd.DataFrame({evil: ["1 ", "2", "3"], "other": [1, 2, 3]})
    for data, start in ((frame, "left out: "), (texts, "text was read as values: ")):
        with pytest.warns(CovaryWarning, match=f"^{start}") as caught:
            read_table(data)
        lines.append(str(caught[0].message))
    for line in lines:
        assert line.isprintable()
        assert r"'a b\x1b[31m" in line
        assert len(line) < 300


def test_reasons_in_messages_are_short():
    frame = pl.DataFrame({"s": [{"a\nb" * 50: 1}] * 3})
    assert len(error_line(TableError, frame)) < 300


def test_few_rows_give_a_warning():
    with pytest.warns(CovaryWarning, match="only 99 rows"):
        read_table(np.ones((99, 2)))


@pytest.mark.filterwarnings("error::covary.errors.CovaryWarning")
def test_a_good_table_gives_no_warning():
    read_table(np.ones((100, 2)))


def test_warnings_point_to_the_caller():
    with pytest.warns(CovaryWarning) as caught:
        read_table(np.ones((5, 2)))
    assert caught[0].filename == __file__


def test_import_is_light():
    code = (
        "import sys, covary.table; "
        "print(sorted({'pyarrow', 'narwhals', 'pandas', 'polars'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# ---------------------------------------------------------------- labelled matrices

SCORES = np.array([[1.0, 0.25], [0.25, 1.0]])


def test_matrix_like_an_array():
    assert label_matrix(SCORES, ["x0", "x1"], np.ones((3, 2))) is SCORES
    assert label_matrix(SCORES, ["x0", "x1"], [[1, 2]]) is SCORES


def test_matrix_like_pandas():
    frame = pd.DataFrame({"b": [1], "w": ["x"], "a": [2]})
    expected = pd.DataFrame(SCORES, index=["a", "b"], columns=["a", "b"])
    pd.testing.assert_frame_equal(label_matrix(SCORES, ["a", "b"], frame), expected)


def test_matrix_like_pandas_keeps_labels_that_are_not_text():
    frame = pd.DataFrame(np.ones((3, 3)), columns=[10, 20, 30])
    matrix = label_matrix(SCORES, ["30", "10"], frame)
    assert list(matrix.columns) == [30, 10]
    assert matrix.loc[30, 10] == 0.25
    frame.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    matrix = label_matrix(SCORES, ["('a', 2)", "('b', 1)"], frame)
    assert matrix.loc[("a", 2), ("b", 1)] == 0.25


@pytest.mark.parametrize(
    "like", [pl.DataFrame({"a": [1], "b": [2]}), pl.LazyFrame({"a": [1], "b": [2]})]
)
def test_matrix_like_polars(like):
    matrix = label_matrix(SCORES, ["a", "b"], like)
    assert isinstance(matrix, pl.DataFrame)
    assert matrix.to_dict(as_series=False) == {
        "column": ["a", "b"],
        "a": [1.0, 0.25],
        "b": [0.25, 1.0],
    }


def test_matrix_like_arrow_or_a_file(tmp_path):
    expected = pa.table({"column": ["a", "b"], "a": [1.0, 0.25], "b": [0.25, 1.0]})
    likes = [
        pa.table({"a": [1], "b": [2]}),
        pa.record_batch({"a": [1], "b": [2]}),
        "some/file.csv",
        tmp_path / "file.csv",
        Table((), 3),
    ]
    for like in likes:
        assert label_matrix(SCORES, ["a", "b"], like).equals(expected)


def test_matrix_of_a_column_called_column():
    matrix = label_matrix(SCORES, ["column", "b"], "file.csv")
    assert matrix.column_names == ["column_", "column", "b"]
    assert matrix["column"].to_pylist() == [1.0, 0.25]


# ---------------------------------------------------------------- written files


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_written_matrix_can_be_read(tmp_path, suffix):
    path = tmp_path / f"scores{suffix}"
    path.write_text("what was there before")
    names = ["plain", 'with "quotes", commas\nand lines']
    write_table(label_matrix(SCORES, names, "x.csv"), str(path))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with pytest.raises(TableError, match="2 rows"):
        read_table(path)
    write_table(pa.table({name: [1.5, 2.5, 3.5] for name in names}), path)
    table = read_table(path)
    assert table.names[0] == "plain"
    assert table.columns[1].values.tolist() == [1.5, 2.5, 3.5]
    assert table.names[1] == names[1]


def test_write_needs_a_known_suffix(tmp_path):
    with pytest.raises(
        ParameterError, match=r"out.xlsx is unknown: use a name that ends in .csv or .parquet$"
    ):
        write_table(pa.table({"a": [1]}), tmp_path / "out.xlsx")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_write_to_a_missing_directory(tmp_path, suffix):
    path = tmp_path / "missing" / f"out{suffix}"
    with pytest.raises(CovaryError, match=rf"^cannot write {path}: No such file or directory$"):
        write_table(pa.table({"a": [1]}), path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CovaryError, match=r"Not a directory$"):
        write_table(pa.table({"a": [1]}), tmp_path / "file" / f"out{suffix}")


def test_write_over_a_directory(tmp_path):
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(CovaryError, match=r"Is a directory$"):
        write_table(pa.table({"a": [1]}), tmp_path / "out.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize(
    ("suffix", "writer"), [(".csv", "csv.write_csv"), (".parquet", "parquet.write_table")]
)
def test_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, suffix, writer):
    def write_half(_, file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"pyarrow.{writer}", write_half)
    path = tmp_path / f"out{suffix}"
    path.write_text("before")
    with pytest.raises(CovaryError, match=rf"^cannot write {path}: No space left on device$"):
        write_table(pa.table({"a": [1]}), path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "before"
