"""Nominal columns: text and categories, in every kind of data, and how columns are declared."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
import json
import sqlite3
import unicodedata
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
from covary.errors import ColumnError, CovaryWarning, ParameterError, TableError
from covary.searching.resume import restore_search
from covary.table import Column, Table, TableOptions, declare, read_table
from covary.table.levels import nominal_column

NAN = float("nan")


def read(data, columns=None, **options) -> Table:
    return read_table(declare(data, TableOptions(**options)), columns)


def first_column(data, **options) -> Column:
    return read(data, **options).columns[0]


def in_own_units(column: Column) -> list:
    return [column.in_own_units(float(value)) for value in column.values]


def assert_same_columns(table: Table, other: Table, names: bool = True) -> None:
    assert not names or table.names == other.names
    assert [column.kind for column in table.columns] == [column.kind for column in other.columns]
    for one, two in zip(table.columns, other.columns, strict=True):
        np.testing.assert_array_equal(one.values, two.values, err_msg=one.name)
        assert [*map(str, one.categories)] == [*map(str, two.categories)]


def notices(data, columns=None, **options) -> list[str]:
    """Return the warnings of reading a table, except that it has few rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CovaryWarning)
        read(data, columns, **options)
    messages = [str(each.message) for each in caught if "hard to distinguish" not in str(each)]
    assert all("\n" not in message for message in messages)
    return messages


def as_csv(rows: list[list], path):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def as_object_array(cells: list) -> np.ndarray:
    array = np.empty((len(cells), 1), dtype=object)
    array[:, 0] = cells
    return array


def dictionary(cells: list) -> pa.DictionaryArray:
    return pa.array(cells, pa.string()).dictionary_encode()


# Columns of text, in every kind of data. Missing cells are None.
TEXTS = {
    "pandas objects": lambda cells: pd.DataFrame({"c": pd.Series(cells, dtype=object)}),
    "pandas text": lambda cells: pd.DataFrame({"c": pd.array(cells, dtype="string")}),
    "pandas Arrow": lambda cells: pd.DataFrame(
        {"c": pd.Series(cells, dtype=pd.ArrowDtype(pa.string()))}
    ),
    "polars": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.String)}),
    "lazy": lambda cells: pl.LazyFrame({"c": pl.Series(cells, dtype=pl.String)}),
    "Arrow": lambda cells: pa.table({"c": pa.array(cells, pa.string())}),
    "Arrow chunks": lambda cells: pa.table(
        {"c": pa.chunked_array([cells[:2], [], cells[2:]], pa.large_string())}
    ),
    "array of objects": as_object_array,
    "rows": lambda cells: [[cell] for cell in cells],
}
# Columns whose type says that they are nominal.
CATEGORIES = {
    "pandas category": lambda cells: pd.DataFrame({"c": pd.Categorical(cells)}),
    "polars category": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.Categorical)}),
    "dictionary": lambda cells: pa.table({"c": dictionary(cells)}),
    "dictionary in chunks": lambda cells: pa.table(
        {"c": pa.chunked_array([dictionary(cells[:2]), dictionary(cells[2:])])}
    ),
}
# All columns of which every text is a level: by their type, or because they are declared.
DECLARED = {
    **{name: (make, {}) for name, make in CATEGORIES.items()},
    **{name: (make, {"nominal": ["c"]}) for name, make in TEXTS.items()},
    "array of objects": (as_object_array, {"nominal": [0]}),
    "rows": (TEXTS["rows"], {"nominal": ["x0"]}),
}


def parametrize_with(name: str, makers: dict):
    return pytest.mark.parametrize(name, makers.values(), ids=makers)


# ---------------------------------------------------------------- levels


@parametrize_with("make", TEXTS | CATEGORIES)
def test_text_and_categories_are_nominal(make):
    cells = ["red", "blue", None, "green", "blue", "green", "blue", None]
    column = first_column(make(cells))
    assert column.kind == "nominal"
    assert column.categories == ("blue", "green", "red")
    np.testing.assert_array_equal(column.values, [2, 0, NAN, 1, 0, 1, 0, NAN])
    assert in_own_units(column) == cells


@pytest.mark.parametrize("dtype", ["U5", "U9"])
def test_array_of_text(dtype):
    table = read(np.array([["red", "1"], ["blue", "2"], ["red", "3"], ["red", "3"]], dtype))
    assert [column.kind for column in table.columns] == ["nominal", "number"]
    assert in_own_units(table.columns[0]) == ["red", "blue", "red", "red"]
    assert table.columns[1].values.tolist() == [1, 2, 3, 3]


@parametrize_with("make", TEXTS | CATEGORIES)
def test_equally_frequent_levels_have_the_order_of_the_rows(make):
    cells = ["z", "b", "m", "a", "b", "a", "m", "z", "a"]
    assert first_column(make(cells)).categories == ("a", "z", "b", "m")
    assert first_column(make(cells[::-1])).categories == ("a", "z", "m", "b")


def test_the_order_of_the_categories_does_not_matter():
    cells = ["b", "c", "a", "c", None, "a"]
    expected = [2, 0, 1, 0, NAN, 1]  # c and a are equally frequent, and c comes first
    for categories in (["a", "b", "c"], ["c", "b", "a"], ["unused", "b", "more", "c", "a"]):
        pandas = pd.DataFrame({"c": pd.Categorical(cells, categories=categories)})
        codes = pa.array([None if cell is None else categories.index(cell) for cell in cells])
        arrow = pa.table({"c": pa.DictionaryArray.from_arrays(codes, categories)})
        for frame in (pandas, arrow):
            column = first_column(frame)
            assert column.categories == ("c", "a", "b")
            np.testing.assert_array_equal(column.values, expected)


def test_types_with_an_order_are_ordered():
    cells = ["m", None, "s", "m"]
    order = ["s", "m", "l"]
    codes = pa.array([1, None, 0, 1])
    for frame in (
        pd.DataFrame({"c": pd.Categorical(cells, order, ordered=True)}),
        pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(order))}),
        pa.table({"c": pa.DictionaryArray.from_arrays(codes, order, ordered=True)}),
    ):
        column = first_column(frame)
        assert (column.kind, column.categories) == ("category", ("s", "m", "l"))
        np.testing.assert_array_equal(column.values, [1, NAN, 0, 1])


CODES = st.lists(st.integers(0, 5) | st.none(), min_size=3, max_size=30)
LABELS = st.lists(st.text(max_size=8), min_size=6, max_size=6, unique=True)


@settings(max_examples=50)
@given(codes=CODES.filter(lambda codes: len(set(codes) - {None}) > 1), labels=LABELS)
@pytest.mark.parametrize("source", DECLARED)
def test_labels_are_only_names(source, codes, labels):
    """Any labels give the values of the labels a to f, and every cell can be read back."""
    make, options = DECLARED[source]
    cells = [None if code is None else labels[code] for code in codes]
    column = first_column(make(cells), **options)
    assert column.kind == "nominal"
    assert in_own_units(column) == cells
    plain = first_column(
        CATEGORIES["pandas category"]([None if c is None else "abcdef"[c] for c in codes])
    )
    np.testing.assert_array_equal(column.values, plain.values)
    assert column.categories == tuple(labels["abcdef".index(name)] for name in plain.categories)


@settings(max_examples=100)
@given(codes=CODES.filter(lambda codes: len(set(codes) - {None}) > 1), data=st.data())
def test_levels_are_numbered_by_their_frequency(codes, data):
    cells = [None if code is None else "abcdef"[code] for code in codes]
    column = first_column(CATEGORIES["pandas category"](cells))
    counts = [cells.count(label) for label in column.categories]
    assert counts == sorted(counts, reverse=True)
    rows = data.draw(st.permutations(range(len(cells))))
    moved = first_column(CATEGORIES["pandas category"]([cells[row] for row in rows]))
    assert in_own_units(moved) == [cells[row] for row in rows]
    assert [cells.count(label) for label in moved.categories] == counts
    if len(set(counts)) == len(counts):
        np.testing.assert_array_equal(moved.values, column.values[list(rows)])


def test_renaming_levels_does_not_change_any_score():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 300)
    x = np.sin(codes) + 0.3 * rng.normal(size=300)
    scores = set()
    for labels in (list("abcde"), list("edcba"), ["x" * k for k in range(5)], [5, 3, 1, 2, 4]):
        category = pd.Categorical.from_codes(codes, labels)
        frame = pd.DataFrame({"c": category, "x": x})
        scores.add((covary.score(frame), covary.evidence(frame), *covary.matrix(frame).iloc[0]))
    assert len(scores) == 1
    assert scores.pop()[0] > 0.5


# ---------------------------------------------------------------- text that contains values

N_ROWS = 120


def messy_rows() -> tuple[list[list[str]], dict[str, tuple[str, list]]]:
    """Return the rows of a file with 15 columns, and the kind and cells of each column."""
    rng = np.random.default_rng(5)

    def numbers(low, high):
        return rng.integers(low, high, N_ROWS).tolist()

    truths = {name: rng.random(N_ROWS) < 0.4 for name in ("subscribed", "member", "active")}
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=day) for day in numbers(0, 366)]
    months = [day.replace(day=1) for day in days]
    income, visits, distance = numbers(10**5, 10**6), numbers(1000, 10**5), numbers(1000, 9999)
    share, weight, age = numbers(0, 1000), numbers(100, 999), numbers(18, 90)
    height = [None if row % 5 == 0 else number for row, number in enumerate(numbers(150, 200))]
    colours = [[None, "red", "green", "blue"][number] for number in numbers(0, 4)]
    markers = ["n/a", "?", "-"]
    columns = {
        "subscribed": ["yes" if each else "no" for each in truths["subscribed"]],
        "member": ["Y" if each else "N" for each in truths["member"]],
        "active": ["T" if each else "F" for each in truths["active"]],
        "income": [f"${number / 100:,.2f}" for number in income],
        "visits": [f"{number:,}" for number in visits],
        "share": [f"{number / 10}%" for number in share],
        "us date": [day.strftime("%m/%d/%Y") for day in days],
        "eu date": [day.strftime("%d.%m.%Y") for day in days],
        "month": [day.strftime("%b-%Y") for day in days],
        "iso date": [day.isoformat() for day in days],
        "weight": [f"{number / 10}".replace(".", ",") for number in weight],
        "distance": [f"{number:,}".replace(",", " ") for number in distance],
        "height": [
            markers[row // 5 % 3] if number is None else str(number)
            for row, number in enumerate(height)
        ],
        "colour": ["" if colour is None else colour for colour in colours],
        "age": [str(number) for number in age],
    }
    expected = {
        "subscribed": ("boolean", truths["subscribed"].tolist()),
        "member": ("boolean", truths["member"].tolist()),
        "active": ("boolean", truths["active"].tolist()),
        "income": ("number", [number / 100 for number in income]),
        "visits": ("number", visits),
        "share": ("number", [number / 10 for number in share]),
        "us date": ("date", days),
        "eu date": ("date", days),
        "month": ("date", months),
        "iso date": ("date", days),
        "weight": ("number", [number / 10 for number in weight]),
        "distance": ("number", distance),
        "height": ("number", height),
        "colour": ("nominal", colours),
        "age": ("number", age),
    }
    return [list(columns), *map(list, zip(*columns.values(), strict=True))], expected


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """Return the path of a file with 15 columns in many formats."""
    return as_csv(messy_rows()[0], tmp_path_factory.mktemp("messy") / "messy.csv")


# A file as each library reads it.
READERS = {
    "path": str,
    "pandas": pd.read_csv,
    "pandas with Arrow": lambda path: pd.read_csv(path, dtype_backend="pyarrow"),
    "pandas as text": lambda path: pd.read_csv(path, dtype=str, keep_default_na=False),
    "polars": pl.read_csv,
    "polars as text": lambda path: pl.read_csv(path, infer_schema=False),
    "lazy": pl.scan_csv,
    "Arrow": pyarrow.csv.read_csv,
}


@parametrize_with("reader", READERS)
def test_every_column_of_a_messy_file_is_used(messy, reader):
    _, expected = messy_rows()
    table = read(reader(messy), dates=["time"])
    assert table.left_out == ()
    assert table.names == tuple(expected)
    assert len(table.names) == 15
    found = {column.name: (column.kind, in_own_units(column)) for column in table.columns}
    assert found == expected


@parametrize_with("reader", READERS)
def test_a_messy_file_gives_the_same_columns_through_every_library(messy, reader):
    assert_same_columns(read(reader(messy)), read(str(messy)))


def test_a_messy_array_gives_the_same_columns_as_its_file(messy):
    table = read(str(messy), dates=["time"])
    frame = pd.read_csv(messy)
    assert_same_columns(read(frame.to_numpy(object), dates=["time"]), table, names=False)
    texts = np.array(messy_rows()[0][1:])
    assert texts.dtype.kind == "U"
    assert_same_columns(read(texts, dates=["time"]), table, names=False)
    assert_same_columns(read(texts.tolist(), dates=["time"]), table, names=False)


def test_one_warning_lists_every_conversion(messy):
    frame = pd.read_csv(messy)
    (message,) = notices(frame, dates=["time"])
    start, _, conversions = message.partition(": ")
    assert start == "text was read as values"
    assert conversions.split("; ") == [
        "'subscribed' (yes/no as true/false)",
        "'member' (y/n as true/false)",
        "'active' (t/f as true/false)",
        f"'income' (amounts in $ with a thousands separator, such as \"{frame['income'][0]}\")",
        "'visits' (numbers with a thousands separator (assumed), such as "
        f'"{frame["visits"][0]}")',
        f"'share' (percentages, such as \"{frame['share'][0]}\")",
        *(
            f"'{name}' (dates as {order}, such as \"{example}\")"
            for name, order, example in (
                ("us date", "month/day/year", first_above_12(frame["us date"], slice(3, 5))),
                ("eu date", "day.month.year", first_above_12(frame["eu date"], slice(0, 2))),
            )
        ),
        f"'month' (months as name and year, such as \"{frame['month'][0]}\")",
        f"'iso date' (dates as year-month-day, such as \"{frame['iso date'][0]}\")",
        f"'weight' (numbers with a decimal comma, such as \"{frame['weight'][0]}\")",
        f"'distance' (numbers with a thousands separator, such as \"{frame['distance'][0]}\")",
        *("'height' (numbers", "'?', '-' are treated as missing)"),
    ]
    assert notices(frame, ["colour", "age"]) == []
    (message,) = notices(frame, ["colour", "share"])
    assert message.startswith("text was read as values: 'share' (percentages")


def first_above_12(dates: pd.Series, part: slice) -> str:
    return next(date for date in dates if int(date[part]) > 12)


OTHER_FILES = {
    "text and truths": ["red,True,x", "blue,False,x", "red,,y", "red,True,", "blue,True,y"],
    "times of day": ["10:30,10:30:05,9:30", "23:00,00:00:00,10:05", ",12:00:01,11:15"],
    "moments": [
        "2020-01-01 10:00,2020-01-01T10:00:00.25,2020-01-01T10:00:00Z",
        "2020-01-01 11:30,2020-01-01T10:00:01.5,2020-01-01T10:00:00+02:00",
        ",2021-01-01T10:00:02.125,2020-01-02T10:00:00-02:00",
    ],
    "years that nanoseconds cannot count": [
        "1500-01-01T10:00:00.25,1,2",
        "9999-12-31T10:00:01.5,2,1",
        "2021-01-01T10:00:02.125,3,1",
    ],
    "missing": ["NA,1,x", "None,?,y", "x,-,NA", "y,2,", "x,3.5,x", "?,n/a,y", "y,4,null"],
    "spaces": [" red, 1,1 ", "red, 2,2 ", "blue ,3,3", "blue, 4,4", " red,5,5", "red,6,6"],
    "mixed": ["1,1,2020-01-01", "2,two,2020-01-02", "3,3,soon", "4,4,2020-01-03"],
    "large numbers": ["9007199254740993,1e300,7", "9007199254740992,1,8", "1,-1e-300,9"],
    "codes": ["00123,A1,1.5.2", "00124,A2,1.6.0", "00123,A1,1.5.2", "00124,A2,1.6.0"],
    "infinite": ["1,inf,Infinity", "2,1,-1", "3,2,2", "3,2,5"],
    "numbers of Arrow only": ["0x1f,00123,1", "0x20,?,2", "0x1f,00124,3", "0x20,00123,4"],
    "dates of Arrow only": [
        "2020-09-13 10-15,2020-09-13 10,1",
        "2020-09-14 10-16,2020-09-14 11,2",
    ],
    "dates and moments": ["2020-09-13,1,1", "2020-09-13 12:30,2,1", "2020-09-14,3,2"],
    "nanoseconds": ["2020-09-13 10:00:00.123456789,1,1", "2020-09-13 10:00:00.5,2,1"],
    "one truth": ["false,True,1", "-,True,2", "false,True,3"],
    "levels that look like missing cells": ["+,-,1", "-,?,2", "+,-,3", "+,?,4"],
    "one time zone": ["2020-09-13T00:00:00+02:00,1,2", "2020-09-15T23:30:00+02:00,2,1"],
    "UTC": ["2020-09-13T00:00:00Z,1,2", "2020-09-15T23:30:00Z,2,1"],
}


@parametrize_with("lines", OTHER_FILES)
def test_a_file_gives_the_same_columns_through_every_library(tmp_path, lines):
    path = tmp_path / "table.csv"
    # With two copies of each row, text repeats.
    path.write_text("\n".join(["a,b,c", *lines, *lines]) + "\n")
    table = read(path)
    assert table.columns
    assert_same_columns(read(pd.read_csv(path)), table)
    assert_same_columns(read(pl.read_csv(path, infer_schema_length=None)), table)


def test_times_of_day_that_are_text():
    frame = pd.DataFrame({"t": ["10:30", None, "9:05 PM", "00:00", "n/a"]})
    with pytest.raises(TableError, match="'t' is text, because '9:05 PM' is not a number or date"):
        read(frame)
    column = first_column(frame.replace("9:05 PM", "21:05"))
    assert column.kind == "date"
    assert in_own_units(column) == [dt.time(10, 30), None, dt.time(21, 5), dt.time(0), None]


# ---------------------------------------------------------------- missing cells

MARKERS = ["", "?", "NA", "n/a", "None", "nan", "-", "null", " NA "]


@parametrize_with("make", TEXTS)
def test_texts_for_missing_cells_are_missing_in_text(make):
    cells = ["red", *MARKERS, "blue", None, "red", "blue"]
    data = make(cells)
    column = first_column(data)
    expected = ["red", *[None] * len(MARKERS), "blue", None, "red", "blue"]
    assert in_own_units(column) == expected
    (message,) = notices(data)
    assert message == (
        f"text was read as values: '{read(data).names[0]}' ('?', 'NA', 'n/a', 'None', 'nan', '-', "
        "'null' are treated as missing; declare the column as nominal to keep such levels)"
    )


def test_the_warning_names_the_text_that_means_missing():
    frame = pd.DataFrame({"c": ["a", "b", "NA", "a", "b"], "d": ["x", "x", "y", "y", "x"]})
    assert notices(frame) == [
        "text was read as values: 'c' ('NA' is treated as missing; declare the column as nominal "
        "to keep such levels)",
    ]


@pytest.mark.parametrize("source", DECLARED)
def test_texts_for_missing_cells_are_levels_in_declared_columns(source):
    make, options = DECLARED[source]
    cells = ["red", *MARKERS, "blue", None, "red", "blue"]
    data = make(cells)
    column = first_column(data, **options)
    assert in_own_units(column) == cells
    assert column.categories == ("red", "blue", *MARKERS)
    assert notices(data, **options) == []


def test_texts_for_missing_cells_in_a_declared_column_of_a_file(tmp_path):
    cells = ["EU", "NA", "EU", "", "None", "?", "US"]
    rows = [["number", "region"], *([row % 7, cell] for row, cell in enumerate(cells * 2))]
    path = as_csv(rows, tmp_path / "table.csv")
    assert in_own_units(read(path).columns[1]) == [
        cell if cell in ("EU", "US") else None for cell in cells * 2
    ]
    for data in (path, pl.read_csv(path)):
        number, region = read(data, nominal=["region"]).columns
        assert number.values.tolist() == [*range(7)] * 2
        assert in_own_units(region) == [cell or None for cell in cells * 2]
        assert read(data, ["region", "number"], nominal=["region"]).names == ("region", "number")


def test_texts_for_missing_cells_in_an_ordered_column(tmp_path):
    cells = ["L", "NA", "S", "", "M", "?"]
    path = as_csv([["size", "x"], *([cell, 1] for cell in cells * 2)], tmp_path / "table.csv")
    for data in (path, pl.read_csv(path)):
        column = first_column(data, ordered={"size": ["S", "M", "L"]})
        assert in_own_units(column) == ["L", None, "S", None, "M", None] * 2
        assert notices(data, ordered={"size": ["S", "M", "L"]}) == [
            "text was read as values: 'size' ('NA', '?' are treated as missing)"
        ]
        column = first_column(data, ordered={"size": ["?", "NA", "S", "M", "L"]})
        assert in_own_units(column) == ["L", "NA", "S", None, "M", "?"] * 2


# ---------------------------------------------------------------- columns that are left out

MESSAGES = {
    "identifier": (
        [f"person {row}" for row in range(60)],
        "an identifier (60 different values in 60 rows); declare it as nominal to use it",
    ),
    "fewer than two rows per level": (
        [f"u{row // 2}" if row < 58 else f"v{row}" for row in range(60)],
        "an identifier (31 different values in 60 rows); declare it as nominal to use it",
    ),
    "free text": (
        [f"the customer says that number {row} is the best" for row in range(60)],
        "free text (60 different values in 60 rows); declare it as nominal to use it",
    ),
    "single level": (["yes"] * 60, "a single level, 'yes' in all rows"),
    "mostly numbers": (
        [*map(str, range(59)), "many"],
        "text, because 'many' is not a number or date like most cells; replace it, or "
        "declare the column as nominal",
    ),
    "mostly dates": (
        [*(f"2020-01-{1 + row % 28:02}" for row in range(59)), "2020-02-30"],
        "text, because '2020-02-30' is not a number or date like most cells; replace it, or "
        "declare the column as nominal",
    ),
    "empty": (["?", None, ""] * 20, "empty"),
}


@parametrize_with("make", TEXTS)
@pytest.mark.parametrize(("cells", "reason"), MESSAGES.values(), ids=MESSAGES)
def test_text_that_is_left_out(make, cells, reason):
    with pytest.raises(TableError) as caught:
        read(make(cells))
    name = "x0" if isinstance(make(cells), (np.ndarray, list)) else "c"
    assert str(caught.value) == (
        f"no column can be used: '{name}' is {reason}; covary uses numbers, booleans, dates, "
        "categories and texts that repeat"
    )


def test_two_rows_per_level_are_enough():
    cells = [f"u{row // 2}" for row in range(60)]
    column = first_column(pd.DataFrame({"c": cells}))
    assert (column.kind, len(column.categories)) == ("nominal", 30)
    assert in_own_units(column) == cells
    # Missing cells are not rows of a level.
    with pytest.raises(TableError, match=r"an identifier \(30 different values in 59 rows\)"):
        read(pd.DataFrame({"c": [*cells[:-1], None]}))


@pytest.mark.parametrize("source", DECLARED)
def test_identifiers_can_be_declared(source):
    make, options = DECLARED[source]
    cells = [f"person {row}" for row in range(60)]
    column = first_column(make(cells), **options)
    assert (column.kind, column.categories) == ("nominal", tuple(cells))


def test_a_single_level_with_missing_cells_is_used():
    for cells in (["yes", None, "yes", None], ["yes", "", "yes", " "]):
        column = first_column(pd.DataFrame({"c": cells}))
        assert in_own_units(column) == ["yes", None, "yes", None]
    category = pd.DataFrame({"c": pd.Categorical(["yes"] * 4, ["yes", "no"])})
    with pytest.raises(TableError, match="'c' is a single level, 'yes' in all rows;"):
        read(category)
    with pytest.raises(TableError, match="'c' is a single level, '5' in all rows;"):
        read(pd.DataFrame({"c": [5] * 4}), nominal=["c"])


ROW_NUMBERS = [
    *("id", "ID", "Id", "row", "row_number", "rownum", "row id", "index", "level_0"),
    *("Unnamed: 0", "customer_id", "customer id", "order.id", "user-id", "CustomerID", "uuid"),
    *("observation id", "#", "no", "nr.", "uid", "pk", "id_student", "account_number"),
    *("order_number", "customer_no", "Unnamed: 0.1"),
]
OTHER_NAMES = ["grid", "video", "idle", "width", "identity", "rows", "number", "amount", "Unnamed"]


@pytest.mark.parametrize("name", ROW_NUMBERS)
def test_row_numbers_are_left_out(name, tmp_path):
    numbers = np.random.default_rng(0).permutation(50)
    frame = pd.DataFrame({name: numbers, "x": numbers % 7})
    reason = "an identifier (whole numbers that hardly repeat); name it in columns to use it"
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    for data in (frame, frame.astype(float), pl.from_pandas(frame), pa.table(frame), path):
        table = read(data)
        assert (table.names, table.left_out) == (("x",), ((name, reason),))
        assert notices(data) == [f"left out: '{name}' ({reason})"]
        assert read(data, [name, "x"]).names == (name, "x")
        assert read(data, nominal=[name]).columns[0].kind == "nominal"
    with pytest.raises(ColumnError, match=r"it is an identifier .*; name it in columns to use it"):
        covary.score(frame, target=name)
    assert covary.score(frame, ["x"], target=name) >= 0


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_whole_numbers_are_used(name):
    numbers = np.random.default_rng(0).permutation(50)
    assert read(pd.DataFrame({name: numbers, "x": 1.5})).names == (name, "x")


@pytest.mark.parametrize(
    "numbers",
    [
        [*range(44), *range(6)],
        [*range(1, 50), 0.5],
        [*range(1, 45), *[None] * 6],
        [True, False] * 25,
        pd.date_range("2020-01-01", periods=50, freq="s"),
    ],
    ids=["twice", "fraction", "missing", "booleans", "dates"],
)
def test_other_columns_with_the_name_of_an_identifier_are_used(numbers):
    assert read(pd.DataFrame({"id": numbers, "x": 1.5}), dates=["time"]).names == ("id", "x")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["a", "case nr of the study", "x"])
def test_numbers_in_the_order_of_the_rows_are_left_out(name, first, tmp_path):
    numbers = np.arange(first, first + 50)
    frame = pd.DataFrame({name: numbers, "v": numbers % 7, "w": numbers % 5})
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    for data in (frame, frame.astype(float), pl.from_pandas(frame), path):
        assert notices(data) == [
            f"left out: '{name}' (the numbers of the rows; name it in columns to use it)"
        ]
        assert read(data, [name, "v"]).names == (name, "v")
    for other in (numbers + 2, numbers[::-1], np.append(numbers[:-1], 99), numbers * 2):
        assert read(frame.assign(**{name: other})).left_out == ()
    assert read(frame.rename(columns={name: "day of trial"})).left_out == ()
    assert read(frame[[name, "v"]]).left_out == ()  # no column to spare


def test_arrays_have_no_row_numbers():
    numbers = np.arange(50.0)
    assert read(np.column_stack([numbers, numbers % 7])).left_out == ()
    assert read([[row, row % 7] for row in range(50)]).left_out == ()


def test_infinite_values():
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0, -np.inf], "b": [1, 2, 3, 4], "c": list("xyxy")})
    reason = "a column with 2 infinite values; replace them by missing cells"
    assert notices(frame) == [f"left out: 'a' ({reason})"]
    assert read(frame).names == ("b", "c")
    with pytest.raises(
        TableError, match=r"^column 'a' has 2 infinite values: use a finite number"
    ):
        read(frame, ["a", "b"])
    with pytest.raises(TableError, match=rf"^no column can be used: 'a' is {reason};"):
        read(frame[["a"]])
    with pytest.raises(ColumnError, match=rf"^column 'a' cannot be used: it is {reason};"):
        covary.score(frame, target="a")


def many_levels(n_levels: int) -> pa.DictionaryArray:
    labels = pa.array([f"u{level}" for level in range(n_levels)])
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(n_levels, dtype=np.int32)), labels)


def test_an_identifier_with_too_many_values_cannot_be_declared_as_nominal():
    codes = np.arange(100_000)
    reason = nominal_column("user", codes, [f"u{i}" for i in codes])
    assert reason == (
        "an identifier (100000 different values in 100000 rows); "
        "group the values to use it, at most 65,535 are possible"
    )


def test_a_million_levels_give_one_message():
    levels = many_levels(1_000_000)
    numbers = np.arange(len(levels))
    reason = "a category of 1,000,000 levels; group rare ones, at most 65,535 are possible"
    frame = pa.table({"c": levels, "x": numbers % 7})
    assert notices(frame) == [f"left out: 'c' ({reason})"]
    assert notices(frame.to_pandas()) == [f"left out: 'c' ({reason})"]
    frame = pa.table({"c": numbers, "x": numbers % 7})
    assert notices(frame, nominal=["c"]) == [f"left out: 'c' ({reason})"]
    with pytest.raises(ColumnError, match=f"^column 'c' cannot be used: it is {reason}; "):
        read(frame, ["c", "x"], nominal=["c"])


def test_the_largest_number_of_levels():
    for n_levels in (65_535, 65_536):
        twice = pa.chunked_array([many_levels(n_levels), many_levels(n_levels).slice(0, 9)])
        table = read(pa.table({"c": twice, "x": np.arange(n_levels + 9) % 7}))
        assert table.names == (("c", "x") if n_levels == 65_535 else ("x",))
        if n_levels == 65_535:
            assert len(table.columns[0].categories) == n_levels
            assert set(table.columns[0].values.tolist()) == set(range(n_levels))


def test_one_warning_names_every_column_that_is_left_out():
    frame = pd.DataFrame(
        {
            "id": range(60),
            "one": "yes",
            "infinite": [np.inf, *range(59)],
            "list": [[1]] * 60,
            "nothing": None,
            "x": np.arange(60) % 7,
        }
    )
    assert notices(frame) == [
        "left out: 'one' (a single level, 'yes' in all rows); 'list' (of type list; convert it to "
        "numbers or text); 'nothing' (empty); 'id' (an identifier (whole numbers that hardly "
        "repeat); name it in columns to use it); 'infinite' (a column with 1 infinite value; "
        "replace them by missing cells)"
    ]


# ---------------------------------------------------------------- declared columns


def test_numbers_that_are_declared_as_nominal():
    frame = pd.DataFrame({"zip": [20095, 10115, 20095, 80331, 10115, 20095], "x": range(6)})
    column = first_column(frame, nominal=["zip"])
    assert (column.kind, column.categories) == ("nominal", (20095, 10115, 80331))
    assert column.values.tolist() == [0, 1, 0, 2, 1, 0]
    assert first_column(frame).kind == "number"


@pytest.mark.parametrize(
    "cells",
    [
        [2.5, 0.25, None, 2.5],
        [True, False, None, False],
        [dt.date(2020, 1, 2), dt.date(2020, 1, 1), None, dt.date(2020, 1, 2)],
        [dt.time(12), dt.time(10), None, dt.time(12)],
        ["1", "01", None, "1"],
        ["yes", "no", None, "yes"],
        [2**60 + 1, 2**60, 2**60, 2**60 + 1],
    ],
    ids=["numbers", "booleans", "dates", "times", "codes", "text", "large"],
)
def test_any_column_can_be_declared(cells):
    frame = pl.DataFrame({"c": cells, "x": range(4)}, strict=False)
    present = sorted({str(cell) for cell in cells if cell is not None}, reverse=True)
    nominal = first_column(frame, nominal=["c"])
    assert nominal.kind == "nominal"
    assert in_own_units(nominal) == cells
    ordered = first_column(frame, ordered={"c": present})
    assert ordered.kind == "category"
    expected = [None if cell is None else str(cell) for cell in cells]
    assert in_own_units(ordered) == expected
    np.testing.assert_array_equal(
        ordered.values, [NAN if each is None else present.index(each) for each in expected]
    )


def test_whole_floats_can_be_ordered():
    frame = pd.DataFrame({"c": [0.5, 1.0, 2.0, 1.0], "x": range(4)})
    for order in ([2.0, 1.0, 0.5], ["2", "1", "0.5"], np.array([2.0, 1.0, 0.5])):
        column = first_column(frame, ordered={"c": order})
        assert column.values.tolist() == [2, 1, 0, 1]
    facts = TableOptions(ordered={"c": [2.0, 0.5, 1]}).to_facts()
    assert facts["ordered"] == {"c": ["2", "0.5", "1"]}


def test_an_order_may_list_labels_that_do_not_occur():
    frame = pd.DataFrame({"size": ["M", "S", "M", "S"], "x": range(4)})
    column = first_column(frame, ordered={"size": ["XS", "S", "M", "L"]})
    assert column.categories == ("XS", "S", "M", "L")
    assert column.values.tolist() == [2, 1, 2, 1]


def test_a_type_with_an_order_can_be_declared():
    size = pd.Categorical(["m", "l", "m", "s"], ["s", "m", "l"], ordered=True)
    frame = pd.DataFrame({"size": size, "x": range(4)})
    nominal = first_column(frame, nominal=["size"])
    assert (nominal.kind, nominal.categories) == ("nominal", ("m", "l", "s"))
    ordered = first_column(frame, ordered={"size": ["l", "s", "m"]})
    assert (ordered.kind, ordered.values.tolist()) == ("category", [2, 0, 2, 1])


def test_columns_of_an_array_are_declared_by_position_or_name():
    array = np.array([[3, 10], [1, 20], [3, 10], [2, 20]])
    for zero, one in ((0, 1), ("x0", "x1"), (np.int64(0), "x1")):
        table = read(array, nominal=[zero], ordered={one: [20, 10]})
        assert [column.kind for column in table.columns] == ["nominal", "category"]
        assert table.columns[0].categories == (3, 1, 2)
        assert table.columns[1].values.tolist() == [1, 0, 1, 0]
        assert table.options.to_facts() == {
            "nominal": ["x0"],
            "ordered": {"x1": ["20", "10"]},
            "dates": None,
            "time": None,
            "groups": None,
            "difference": False,
            "lags": 0,
            "permute": "within",
            "missing": "values",
        }
    with pytest.raises(ColumnError, match="no column number 2: the 2 columns are numbered 0 to 1"):
        read(array, nominal=[2])
    with pytest.raises(ColumnError, match="there is no column 'x2'"):
        read(array, ordered={"x2": [1]})


def test_labels_of_a_frame_that_are_not_text_can_be_declared():
    frame = pd.DataFrame({7: [1, 2, 1, 2], "x": range(4)})
    assert first_column(frame, nominal=[7]).kind == "nominal"
    assert first_column(frame, ordered={7: [2, 1]}).values.tolist() == [1, 0, 1, 0]


def test_a_table_can_be_declared():
    table = read(pd.DataFrame({"a": [3, 1, 3], "b": [5, 5, 5], "w": list("xyz")}))
    declared = read(table, nominal=["a"])
    assert [column.kind for column in declared.columns] == ["nominal", "number"]
    assert declared.left_out == table.left_out
    assert [name for name, _ in read(table, nominal=["b"]).left_out] == ["w", "b"]
    with pytest.raises(ColumnError, match="'b' cannot be used: it is a single level, '5' in all"):
        read(table, ["a", "b"], nominal=["b"])


def test_leading_zeros_of_declared_columns_in_a_file(tmp_path):
    rows = [["zip", "size", "x"]]
    rows += [["00123", "1.0", "1"], ["123", "1.00", "2"], ["0123", "1.0", "3"]] * 2
    path = as_csv(rows, tmp_path / "table.csv")
    assert [column.kind for column in read(path).columns] == ["number"] * 3
    zipped, size, x = read(path, nominal=["zip"], ordered={"size": ["1.0", "1.00"]}).columns
    assert zipped.categories == ("00123", "123", "0123")
    assert size.values.tolist() == [0, 1, 0] * 2
    assert x.values.tolist() == [1, 2, 3] * 2


def test_a_declared_column_need_not_be_named():
    frame = pd.DataFrame({"a": [1, 2, 1, 2], "b": range(4), "c": range(4)})
    assert read(frame, ["b", "c"], nominal=["a"]).names == ("b", "c")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"nominal": ["sise"]},
            ColumnError,
            r"^nominal names 'sise', which is not a column. Did you mean 'size'\?$",
        ),
        (
            {"ordered": {"sise": ["S"]}},
            ColumnError,
            r"^ordered names 'sise', which is not a column. Did you mean 'size'\?$",
        ),
        (
            {"nominal": ["x", "size"], "ordered": {"size": ["S", "M", "L"]}},
            ParameterError,
            "^column 'size' is declared as nominal and as ordered: choose one$",
        ),
        (
            {"ordered": {"size": ["S", "L"]}},
            ParameterError,
            "^ordered does not list 'M' of column 'size': it lists 'S', 'L'; add what is missing",
        ),
        (
            {"ordered": {"x": ["S", "L"]}},
            ParameterError,
            "^ordered does not list '0', '1', '2', '3' of column 'x': it lists 'S', 'L'; add what",
        ),
        (
            {"nominal": "size"},
            ParameterError,
            r"^nominal must be a list of names, such as \['a', 'b'\], not 'size'$",
        ),
        (
            {"ordered": ["S", "M", "L"]},
            ParameterError,
            r"^ordered must be a dictionary of lists, such as \{'size': \['S', 'M', 'L'\]\}, not ",
        ),
        (
            {"ordered": {"size": "SML"}},
            ParameterError,
            r"^ordered\['size'\] must be a list of values in their order, not 'SML'$",
        ),
        (
            {"ordered": {"size": ["S", "M", "S"]}},
            ParameterError,
            r"^ordered\['size'\] must be different values, not \['S', 'M', 'S'\]$",
        ),
    ],
)
@pytest.mark.parametrize(
    "function",
    [covary.score, covary.evidence, covary.explain, covary.matrix, covary.test, covary.search],
)
def test_wrong_declarations(function, options, error, message):
    frame = pd.DataFrame({"size": ["S", "M", "L", "S"], "x": range(4)})
    with pytest.raises(error, match=message):
        function(frame, **options)


# ---------------------------------------------------------------- functions and commands

SIZES = ["S", "M", "L"]


def shop_columns() -> dict[str, list]:
    """Return a table in which the zip code says much about sales, but not its number."""
    rng = np.random.default_rng(1)
    region, size = rng.integers(0, 8, 300), rng.integers(0, 3, 300)
    sales = np.sin(2.3 * region) + 0.2 * rng.normal(size=300)
    weight = size + 0.3 * rng.normal(size=300)
    return {
        "zip": [f"0{each}1" for each in region],
        "size": [SIZES[each] for each in size],
        "weight": weight.round(4).tolist(),
        "sales": sales.round(4).tolist(),
    }


OPTIONS = {"nominal": ["zip"], "ordered": {"size": SIZES}}
WRITTEN = ["--nominal", "zip", "--ordered", "size=S,M,L"]


@pytest.fixture
def shop(tmp_path):
    columns = shop_columns()
    rows = zip(*columns.values(), strict=True)
    return as_csv([list(columns), *rows], tmp_path / "shop.csv")


@pytest.fixture
def shop_frame():
    """Return the table with the types that the options declare."""
    columns = shop_columns()
    columns["zip"] = pd.Categorical(columns["zip"])
    columns["size"] = pd.Categorical(columns["size"], SIZES, ordered=True)
    return pd.DataFrame(columns)


def test_every_function_declares_columns(shop, shop_frame):
    for function in (covary.score, covary.evidence, covary.explain):
        assert function(shop, **OPTIONS) == function(shop_frame)
        assert function(shop, **OPTIONS) != function(shop)
    assert covary.explain(shop, **OPTIONS, target="sales") == covary.explain(
        shop_frame, target="sales"
    )
    tested = covary.test(shop, ["zip", "sales"], permutations=19, **OPTIONS)
    assert tested == covary.test(shop_frame, ["zip", "sales"], permutations=19)
    matrix = covary.matrix(shop, **OPTIONS)
    expected = covary.matrix(shop_frame)
    np.testing.assert_array_equal(matrix.to_pandas().iloc[:, 1:], expected)
    assert expected.loc["zip", "sales"] > 0.6
    found, same = covary.search(shop, **OPTIONS), covary.search(shop_frame)
    assert found.subspaces == same.subspaces
    assert found.parameters["nominal"] == ["zip"]
    assert found.parameters["ordered"] == {"size": SIZES}
    assert (same.parameters["nominal"], same.parameters["ordered"]) == (None, None)


def test_other_measures_declare_columns(shop, shop_frame):
    for measure in ("uds", "mutual-information"):
        options = {"measure": measure, "columns": ["size", "weight"]}
        assert covary.score(shop, **options, **OPTIONS) == covary.score(shop_frame, **options)


def test_every_command_declares_columns(covary_command, shop, shop_frame):
    def result(*arguments):
        code, out, err = covary_command(*arguments, *WRITTEN, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    assert result("score", shop)["score"] == covary.score(shop_frame)
    explained = result("explain", shop, "--target", "sales")
    expected = covary.explain(shop_frame, target="sales")
    assert explained == json.loads(json.dumps(expected.to_dict()))
    tested = result("test", shop, "-c", "zip,sales", "--permutations", 19)
    assert tested["statistic"] == covary.evidence(shop_frame, ["zip", "sales"])
    found = result("search", shop)
    assert found == json.loads(covary.search(shop, **OPTIONS).to_json())
    assert found["parameters"]["nominal"] == ["zip"]
    assert found["parameters"]["ordered"] == {"size": SIZES}
    pairs = result("matrix", shop)
    scores = np.array(pairs["scores"], float)
    np.testing.assert_array_equal(scores, covary.matrix(shop_frame).to_numpy())
    assert pairs["columns"] == list(shop_frame.columns)


def test_columns_of_an_array_are_declared_in_every_function(shop_frame):
    array = shop_frame.assign(
        zip=shop_frame["zip"].astype(str), size=shop_frame["size"].cat.codes
    ).to_numpy(object)
    order = {1: [0, 1, 2]}
    assert covary.score(array, nominal=[0], ordered=order) == covary.score(shop_frame)
    assert covary.score(array, nominal=["x0"], ordered=order) == covary.score(shop_frame)
    found = covary.search(array, nominal=[0], ordered=order)
    assert [each.score for each in found] == [each.score for each in covary.search(shop_frame)]
    assert found.parameters["nominal"] == ["x0"]
    assert found.parameters["ordered"] == {"x1": ["0", "1", "2"]}


def test_the_command_line_notes_conversions_in_one_line(covary_command, messy):
    code, _, err = covary_command("score", messy, "-c", "income,share,colour")
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith("covary: note: text was read as values: 'income' (amounts in $ with a")
    assert "; 'share' (percentages, such as " in err
    code, _, err = covary_command("score", messy, "-c", "colour,age")
    assert (code, err) == (0, "")


def test_orders_on_the_command_line(covary_command, tmp_path):
    rows = [["a, b", "c=d", "x"]]
    rows += [[["lo, w", "high"][row % 2], ["p", "q", "r"][row % 3], row % 6] for row in range(120)]
    path = as_csv(rows, tmp_path / "table.csv")
    written = ["--ordered", 'a, b="lo, w",high', "--ordered", "c=r,q", "--json"]
    code, _, err = covary_command("search", path, *written)
    assert code == 1
    assert err == "covary: ordered names 'c', which is not a column. Did you mean 'c=d'?\n"
    code, out, _ = covary_command("search", path, *written[:2], "--nominal", '"c=d",x', "--json")
    assert code == 0
    parameters = json.loads(out)["parameters"]
    assert parameters["ordered"] == {"a, b": ["lo, w", "high"]}
    assert parameters["nominal"] == ["c=d", "x"]


def test_explain_shows_the_levels(covary_command, shop):
    columns = ["--target", "sales", "-c", "zip"]
    code, out, _ = covary_command("explain", shop, *columns, "--nominal", "zip")
    assert code == 0
    assert "best groups {" in out
    lines = [line.split() for line in out.splitlines() if line.lstrip().startswith("zip 0")]
    groups = [line[1 : line.index("median")] for line in lines]
    shown = [label for group in groups for label in group if label != "or"]
    assert sorted(shown) == sorted(set(shop_columns()["zip"]))
    assert sum(int(line[-1]) for line in lines) == 300
    text = str(covary.explain(shop, ["zip"], target="sales", nominal=["zip"]))
    assert len([line for line in text.splitlines() if line.startswith("    zip 0")]) == len(lines)
    code, out, _ = covary_command("explain", shop, *columns)
    assert "groups" not in out


def test_a_profile_is_part_of_the_json(covary_command, shop):
    columns = ["--target", "sales", "-c", "zip", "--json"]
    _, out, _ = covary_command("explain", shop, *columns, "--nominal", "zip")
    (step,) = json.loads(out)["steps"]
    assert sum(cell["rows"] for cell in step["profile"]) == 300
    assert {*step["profile"][0]} == {"where", "rows", "median", "overall_median"}
    assert all(list(cell["where"]) == ["zip"] for cell in step["profile"])
    labels = [label for group in step["cuts"]["zip"] for label in group]
    assert sorted(labels) == sorted(set(shop_columns()["zip"]))
    _, out, _ = covary_command("explain", shop, *columns)
    assert json.loads(out)["steps"][0]["profile"] == []


# ---------------------------------------------------------------- run files


def facts_of(path) -> dict:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, value FROM run").fetchall()
    return {name: json.loads(value) for name, value in rows}


def execute(path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_run_file_contains_the_declared_columns(covary_command, shop, tmp_path):
    path = tmp_path / "run.covary"
    code, out, _ = covary_command("search", shop, *WRITTEN, "--run", path, "--json")
    assert code == 0
    facts = facts_of(path)
    assert (facts["nominal"], facts["ordered"]) == (["zip"], {"size": SIZES})
    execute(path, "DELETE FROM candidates WHERE number % 2 = 1")
    code, again, _ = covary_command("search", shop, *WRITTEN, "--run", path, "--json", "--resume")
    assert (code, again) == (0, out)


@pytest.mark.parametrize(
    ("written", "difference"),
    [
        ([], "its column 'zip' holds other values"),
        (["--nominal", "zip"], "its column 'size' holds other values"),
        (["--nominal", "zip,size"], "its column 'size' holds other values"),
        (["--nominal", "zip", "--ordered", "size=L,M,S"], "its column 'size' holds other values"),
        (
            ["--nominal", "zip", "--ordered", "size=S,M,L,XL"],
            'size is ["S", "M", "L"] there and ["S", "M", "L", "XL"] here',
        ),
        (
            ["--nominal", "zip", "--ordered", "size=S,M,L", "--dates", "time"],
            'dates is null there and ["time"] here',
        ),
    ],
)
def test_a_run_file_is_not_resumed_with_other_declarations(
    covary_command, shop, tmp_path, written, difference
):
    path = tmp_path / "run.covary"
    covary_command("search", shop, *WRITTEN, "--run", path)
    before = path.read_bytes()
    code, out, err = covary_command("search", shop, *written, "--run", path, "--resume")
    assert (code, out) == (1, "")
    assert err == f"covary: {path} belongs to another search: {difference}; choose another file\n"
    assert path.read_bytes() == before


def test_a_text_column_that_is_declared_later_is_another_search(covary_command, shop, tmp_path):
    """The values are the same, so only the option differs."""
    path = tmp_path / "run.covary"
    covary_command("search", shop, "-c", "size,weight", "--run", path)
    code, _, err = covary_command(
        "search", shop, "-c", "size,weight", "--nominal", "size", "--run", path, "--resume"
    )
    assert code == 1
    assert 'nominal is null there and ["size"] here' in err


def test_a_stored_search_reads_its_table_with_the_declared_columns(shop, shop_frame, tmp_path):
    path = tmp_path / "run.covary"
    found = covary.search(shop, run=path, **OPTIONS)
    restored = restore_search(path)
    table = restored.plan.prepared.table
    assert [column.kind for column in table.columns] == ["nominal", "category", "number", "number"]
    assert_same_columns(table, read(shop_frame))
    parameters = restored.plan.parameters()
    assert parameters == {name: found.parameters[name] for name in parameters}
    # A file from before there were declarations.
    execute(path, "DELETE FROM run WHERE name IN ('nominal', 'ordered', 'dates')")
    with pytest.raises(covary.CovaryError, match="'zip'"):
        restore_search(path)


def test_a_run_file_without_declarations_can_be_read(shop, tmp_path):
    path = tmp_path / "run.covary"
    found = covary.search(shop, run=path)
    execute(path, "DELETE FROM run WHERE name IN ('nominal', 'ordered', 'dates')")
    assert restore_search(path).plan.prepared.table.options == TableOptions()
    assert covary.search(shop, run=path, resume=True) == found


def test_report_reads_the_table_with_the_declared_columns(covary_command, shop, tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    path, page = tmp_path / "run.covary", tmp_path / "page.html"
    covary_command("search", shop, *WRITTEN, "--run", path)
    code, _, err = covary_command("report", path, "-o", page)
    assert (code, err) == (0, "")
    assert "071" in page.read_text(encoding="utf-8")
    # Another name of a level is the same table, a level without order is not.
    shop.write_text(shop.read_text().replace("\n071,", "\nseven,"))
    assert covary_command("report", path, "-o", page)[0] == 0
    assert "seven" in page.read_text(encoding="utf-8")
    shop.write_text(shop.read_text().replace(",S,", ",XS,"))
    code, _, err = covary_command("report", path, "-o", page)
    assert (code, err.count("\n")) == (1, 1)
    assert "ordered does not list 'XS' of column 'size'" in err


# ---------------------------------------------------------------- two values


def two_valued(truths: np.ndarray, missing: np.ndarray) -> dict[str, list]:
    """Return a column with two values in many forms."""

    def cells(true, false):
        return [
            None if is_missing else true if truth else false
            for truth, is_missing in zip(truths, missing, strict=True)
        ]

    return {
        "boolean": pd.array(cells(True, False), dtype="boolean"),
        "0/1": pd.array(cells(1, 0), dtype="Int64"),
        "numbers": pd.array(cells(-7.5, 1e9), dtype="Float64"),
        "text": pd.Series(cells("apple", "pear"), dtype=object),
        "text in another order": pd.Series(cells("zebra", "ant"), dtype=object),
        "yes/no": pd.Series(cells("yes", "no"), dtype=object),
        "category": pd.Categorical(cells("b", "a"), ["a", "b"]),
        "ordered category": pd.Categorical(cells("b", "a"), ["b", "a"], ordered=True),
    }


def all_results(frame: pd.DataFrame) -> dict:
    """Return scores, evidence, p-values and explained fractions, with all of their bits."""
    tested = covary.test(frame, ["b", "x"], permutations=39, n_jobs=1)
    with_target = covary.test(frame, ["x", "k"], target="b", permutations=39, n_jobs=1)
    return {
        "score": covary.score(frame),
        "pair": covary.score(frame, ["b", "x"]),
        "target": covary.score(frame, target="b"),
        "evidence": covary.evidence(frame),
        "evidence of the target": covary.evidence(frame, ["x", "k"], target="b"),
        "test": (tested.statistic, tested.pvalue),
        "test of the target": (with_target.statistic, with_target.pvalue),
        "explained": [
            (step.target, step.by, step.explained, step.alone, step.adds, step.bins, step.rows)
            for target in (None, "b", "x", "k")
            for step in covary.explain(frame, target=target).steps
        ],
        "search": [(found.columns, found.score) for found in covary.search(frame)],
    }


def frames_with_two_values(share: float, with_missing: bool) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(round(100 * share))
    truths = rng.permutation(200) < 200 * share
    missing = (rng.random(200) < 0.1) & with_missing
    others = {
        "x": rng.normal(size=200) + 1.2 * truths,
        "k": rng.integers(0, 4, 200) + 2 * truths,
        "c": np.array(["red", "green", "blue"])[rng.integers(0, 3, 200)],
    }
    forms = two_valued(truths, missing)
    return {name: pd.DataFrame({"b": cells, **others}) for name, cells in forms.items()}


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_column_with_two_values_has_the_same_results_in_every_form(share, with_missing):
    frames = frames_with_two_values(share, with_missing)
    expected = all_results(frames.pop("boolean"))
    assert expected["pair"] > 0
    assert any(step[0] == "b" and step[2] > 0 for step in expected["explained"])
    for form, frame in frames.items():
        assert all_results(frame) == expected, form


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_a_given_column_with_two_values_has_the_same_results_in_every_form(share):
    frames = frames_with_two_values(share, with_missing=False)
    given = {"columns": ["x"], "target": "k", "given": ["b"]}
    for function in (covary.score, covary.evidence):
        assert len({function(frame, **given) for frame in frames.values()}) == 1
    tests = [covary.test(frame, **given, permutations=39) for frame in frames.values()]
    assert len({tested.pvalue for tested in tests}) == 1


# ---------------------------------------------------------------- hostile labels

HOSTILE = [
    "<script>alert(1)</script>",
    "",
    "nan",
    "None",
    "NA",
    "?",
    "\u202e\u05e9\u05dd\u202c",
    "x" * 10_000,
    "\x1b[31mred\x1b[0m\x07",
    "[bold]b[/bold]",
    "two\nlines\r",
    "A",
    "a",
    "a ",
    " a",
    "a\u00a0",
    "{braces}",
    "'; DROP TABLE run; --",
    "../../etc/passwd",
]


def hostile_frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(1900) % len(HOSTILE))
    return pd.DataFrame(
        {
            "c": pd.Categorical.from_codes(codes, HOSTILE),
            "y": codes + 0.3 * rng.normal(size=codes.size),
            "noise": rng.normal(size=codes.size),
        }
    )


@pytest.fixture
def hostile(tmp_path):
    hostile_frame().to_parquet(tmp_path / "hostile.parquet")
    return tmp_path / "hostile.parquet"


def test_hostile_labels_stay_different(hostile):
    frame = hostile_frame()
    for data in (frame, hostile, pl.read_parquet(hostile), pa.table(frame)):
        column = first_column(data)
        assert sorted(column.categories) == sorted(HOSTILE)
        assert in_own_units(column) == frame["c"].tolist()
    texts = frame.assign(c=frame["c"].astype(object))
    assert in_own_units(first_column(texts, nominal=["c"])) == frame["c"].tolist()


def assert_harmless(out: str) -> None:
    """Check that output has no control characters, and that no label makes a line too long."""
    categories = {unicodedata.category(character) for character in out.replace("\n", "")}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("target", [[], ["--target", "y"], ["--target", "c"]])
def test_hostile_labels_are_printed_as_text(covary_command, hostile, target):
    code, out, err = covary_command("explain", hostile, *target)
    assert (code, err) == (0, "")
    assert_harmless(out)
    code, out, _ = covary_command("search", hostile, *target)
    assert code == 0
    assert_harmless(out)


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("nan", "nan"),
        ("None", "None"),
        ("NA", "NA"),
        ("\u202e\u05e9\u05dd\u202c", "\\u202e\u05e9\u05dd\\u202c"),
        ("x" * 10_000, "x" * 20),
        ("\x1b[31mred\x1b[0m\x07", "\\x1b[31mred\\x1b[0m\\x07"),
        ("[bold]b[/bold]", "[bold]b[/bold]"),
        ("two\nlines\r", "two\\nlines\\r"),
    ],
    ids=lambda label: ascii(label)[:20],
)
def test_hostile_labels_are_shown(covary_command, tmp_path, label, shown):
    codes = np.arange(300) % 3
    category = pd.Categorical.from_codes(codes, ["plain", "other", label])
    frame = pd.DataFrame({"c": category, "y": codes + np.linspace(0, 0.5, 300)})
    frame.to_parquet(tmp_path / "table.parquet")
    for target in ("c", "y"):
        code, out, _ = covary_command("explain", tmp_path / "table.parquet", "--target", target)
        assert code == 0
        assert_harmless(out)
        assert shown in out


def test_hostile_labels_are_exact_in_json(covary_command, hostile):
    code, out, _ = covary_command("explain", hostile, "-c", "c", "--target", "y", "--json")
    assert code == 0
    assert "\x1b" not in out
    assert "\x07" not in out
    (step,) = json.loads(out)["steps"]
    groups = step["cuts"]["c"]
    assert sorted(label for group in groups for label in group) == sorted(HOSTILE)
    assert json.loads(covary.search(hostile_frame()).to_json())["subspaces"]


def test_hostile_labels_in_messages():
    evil = "\x1b[31m\u202e" + "x" * 10_000 + "\n"
    frame = pd.DataFrame({"c": [evil, "a", "a", "b"] * 2, "one": [evil] * 8, "x": range(8)})
    messages = notices(frame)
    for options in ({"ordered": {"c": ["a"]}}, {"ordered": {"one": [evil, "a"], "c": ["b"]}}):
        with pytest.raises(ParameterError) as caught:
            read(frame, **options)
        messages.append(str(caught.value))
    assert len(messages) == 3
    for message in messages:
        assert message.isprintable()
        assert r"\x1b[31m\u202exxx" in message
        assert len(message) < 300


def test_hostile_labels_in_a_run_file(covary_command, hostile, tmp_path):
    path = tmp_path / "run.covary"
    code, out, _ = covary_command("search", hostile, "--nominal", "c", "--run", path, "--json")
    assert code == 0
    code, again, _ = covary_command(
        "search", hostile, "--nominal", "c", "--run", path, "--json", "--resume"
    )
    assert (code, again) == (0, out)
    assert b"x" * 100 not in path.read_bytes(), "a run file contains no cell of the table"


# ---------------------------------------------------------------- files that text is read from


@settings(max_examples=60)
@given(
    labels=st.lists(
        st.text(st.characters(categories=["L", "P", "S", "Nd"]), min_size=1, max_size=6),
        min_size=2,
        max_size=4,
        unique=True,
    ),
    codes=st.lists(st.integers(0, 3), min_size=6, max_size=12),
)
def test_declared_text_of_a_file_is_read_back(tmp_path_factory, labels, codes):
    cells = [*labels, *(labels[code % len(labels)] for code in codes)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([["number", "c"], *enumerate(cells)])
    path = tmp_path_factory.mktemp("declared") / "table.csv"
    path.write_bytes(text.getvalue().encode())
    number, column = read(path, nominal=["c"]).columns
    assert in_own_units(column) == cells
    assert number.values.tolist() == list(range(len(cells)))
    assert_same_columns(
        read(path, nominal=["c"]),
        read(pl.read_csv(path, schema_overrides={"c": pl.String}), nominal=["c"]),
    )
