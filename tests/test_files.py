"""Tables from files: delimited text of many layouts, Parquet, Arrow and Feather."""

import builtins
import bz2
import csv
import datetime as dt
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covary.errors import ColumnError, CovaryWarning, TableError
from covary.table import Table, read_table

NAN = float("nan")


@pytest.fixture
def read(tmp_path):
    """Return a function that reads text or bytes as a file."""

    def read_content(content: str | bytes, columns=None, name: str = "table.csv") -> Table:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, columns)

    return read_content


@pytest.fixture
def message_of(read):
    """Return a function that reads a file and returns the error message."""

    def message(content: str | bytes, columns=None, name: str = "table.csv") -> str:
        with pytest.raises((TableError, ColumnError)) as caught:
            read(content, columns, name)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return message


def cells(table: Table) -> dict[str, list]:
    return {
        column.name: [column.in_own_units(float(value)) for value in column.values]
        for column in table.columns
    }


# ---------------------------------------------------------------- delimited text

PLAIN = {"a": [1, 2, 3], "b": [1.5, 2.5, 3.5]}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "{}", "{0}{0}{0}", "{}  {}"])
def test_delimiters_and_line_ends(read, delimiter, line_end, end):
    lines = ["a,b", "1,1.5", "2,2.5", "3,3.5"]
    content = line_end.join(lines).replace(",", delimiter) + end.format(line_end, line_end)
    assert cells(read(content)) == PLAIN


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1"]
)
def test_encodings(read, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    content = f"{mark}größe,b\n1,1.5\n2,2.5\n3,3.5\n".encode(encoding)
    assert cells(read(content)) == {"größe": [1, 2, 3], "b": [1.5, 2.5, 3.5]}


def test_byte_order_mark_before_numbers(read):
    assert cells(read("1,4\n2,5\n3,6\n".encode("utf-8-sig"))) == {"x0": [1, 2, 3], "x1": [4, 5, 6]}


def test_windows_1252(read):
    table = read(
        "a,w\n1,price in \u20ac\n2,\u201edas\u201c\n1,price in \u20ac\n2,\u201edas\u201c\n".encode(
            "cp1252"
        )
    )
    assert cells(table)["w"] == ["price in \u20ac", "\u201edas\u201c"] * 2
    undefined = read("a,w\n1,\x81\n2,x\n1,\x81\n2,x\n".encode("latin-1"))
    assert cells(undefined)["w"] == ["\x81", "x"] * 2


@pytest.mark.parametrize(
    ("late", "label"), [(b"\xe4", "\xe4"), (b"\x80", "\u20ac"), (b"\x81", "\x81")]
)
def test_encoding_that_only_late_bytes_show(read, late, label):
    rows = b"1,x\n2,y\n" * 20_000
    table = read(b"a,w\n" + rows + b"3," + late + b"\n4," + late + b"\n")
    assert cells(table)["w"] == ["x", "y"] * 20_000 + [label] * 2


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(read, encoding):
    assert cells(read("a,b\n1,1.5\n2,2.5\n3,3.5\n".encode(encoding))) == PLAIN


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_delimiter_in_the_first_line(read, line_end):
    content = "sep=;\na;b\n1;1.5\n2;2.5\n3;3.5\n".replace("\n", line_end)
    assert cells(read(content)) == PLAIN
    content = "SEP=,\n\na,b\n1,1.5\n2,2.5\n3,3.5\n".replace("\n", line_end)
    assert cells(read(content)) == PLAIN


def compressed_by_arrow(codec: str, content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


COMPRESSIONS = {
    "gzip": gzip.compress,
    "gzip of two parts": lambda content: gzip.compress(content[:9]) + gzip.compress(content[9:]),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: compressed_by_arrow("zstd", content),
    "lz4": lambda content: compressed_by_arrow("lz4", content),
}


@pytest.mark.parametrize("name", ["table.csv", "table", "table.csv.gz"])
@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_compression_is_detected_from_content(read, compress, name):
    assert cells(read(compress(b"a,b\n1,1.5\n2,2.5\n3,3.5\n"), name=name)) == PLAIN


def test_plain_text_with_the_suffix_of_a_compressed_file(read):
    assert cells(read("a,b\n1,1.5\n2,2.5\n3,3.5\n", name="table.csv.gz")) == PLAIN


def test_row_numbers_in_a_first_column_without_a_name_are_left_out(read):
    with pytest.warns(CovaryWarning, match=r"left out: 'Unnamed: 0' \(an identifier"):
        assert cells(read(",a\n0,5\n1,4\n2,4\n")) == {"a": [5, 4, 4]}
    assert read(",a\n0,5\n1,4\n1,3\n0,2\n").names == ("Unnamed: 0", "a")


def test_header_in_quotes(read):
    table = read('"a,b","c ""d""","e\nf", g \n1,2,3,4\n5,6,7,8\n9,10,11,12\n')
    assert table.names == ("a,b", 'c "d"', "e\nf", "g")
    assert table.n_rows == 3
    assert table.columns[2].values.tolist() == [3, 7, 11]


@pytest.mark.parametrize("first", ["1,2", "-1.5,+2e3", "1,NA", "?,0", " 1, 2"])
def test_no_header(read, first):
    table = read(f"{first}\n3,4\n5,6\n")
    assert table.names == ("x0", "x1")
    assert table.n_rows == 3


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,", ("a", "Unnamed: 1")),
        ("1,b", ("1", "b")),
        ("1,", ("1", "Unnamed: 1")),
        ("2020-01-01,b", ("2020-01-01", "b")),
        ("<DATE>,<OPEN>", ("<DATE>", "<OPEN>")),
        ("PAR1,FEA1", ("PAR1", "FEA1")),
        ("BZhour,b", ("BZhour", "b")),
    ],
)
def test_header(read, header, names):
    table = read(f"{header}\n1,2\n3,4\n5,2\n7,4\n")
    assert table.names == names
    assert table.columns[0].values.tolist() == [1, 3, 5, 7]


def test_blank_lines(read):
    assert cells(read("\n  \n,\na,b\n\n1,1.5\n2,2.5\n   \n3,3.5\n\n \t\n\x1a")) == PLAIN


def test_many_blank_lines_before_the_rows(read):
    assert cells(read("a,b\n" + "\n" * 50 + "1,1.5\n2,2.5\n3,3.5\n")) == PLAIN


def test_rows_of_missing_cells_are_rows(read):
    assert cells(read("a,b\n1,2\n,\n3,4\n")) == {"a": [1, None, 3], "b": [2, None, 4]}


@pytest.mark.parametrize(
    "marker", ["", "NA", "N/A", "?", "NaN", "nan", "null", "None", "#N/A", "-", ".", '""', " NA"]
)
def test_missing_cells(read, marker):
    content = f"a,b,c,d\n1,{marker},2020-01-01,true\n{marker},2.5,{marker},{marker}\n3,3,,false\n"
    assert cells(read(content)) == {
        "a": [1, None, 3],
        "b": [None, 2.5, 3],
        "c": [dt.date(2020, 1, 1), None, None],
        "d": [True, None, False],
    }


def test_empty_column(read):
    with pytest.warns(CovaryWarning, match=r"left out: 'b' \(empty\)"):
        assert cells(read("a,b\n1,\n2,NA\n3,\n")) == {"a": [1, 2, 3]}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas(read, delimiter):
    content = "a;b;c\n1,5;2;01.02.2020\n-,5;,25;02.02.2020\n2;1,5e3;03.02.2020\n"
    message = (
        r"^text was read as values: 'a' \(numbers with a decimal comma, such as \"1,5\"\); "
        r"'b' \(numbers with a decimal comma, .*; 'c' \(dates as day.month"
    )
    with pytest.warns(CovaryWarning, match=message):
        table = read(content.replace(";", delimiter))
    assert cells(table) == {
        "a": [1.5, -0.5, 2],
        "b": [2, 0.25, 1500],
        "c": [dt.date(2020, 2, 1), dt.date(2020, 2, 2), dt.date(2020, 2, 3)],
    }


def test_decimal_commas_without_header(read):
    assert cells(read("1,5;2,5\n3,5;4,5\n5,5;6,5\n")) == {
        "x0": [1.5, 3.5, 5.5],
        "x1": [2.5, 4.5, 6.5],
    }


def test_decimal_points_with_semicolons(read):
    message = r"^text was read as values: 'c' \(numbers with a decimal comma, such as \"1,2\"\)$"
    with pytest.warns(CovaryWarning, match=message):
        table = read("a;b;c\n1.5;2;1,2\n2.5;3;2,3\n3.5;4;3,4\n")
    assert cells(table) == {"a": [1.5, 2.5, 3.5], "b": [2, 3, 4], "c": [1.2, 2.3, 3.4]}


def test_other_delimiters_in_text(read):
    content = 'a,b,w\n1,4,"x;y;z|u"\n2,5,"p;q;r|s"\n3,6,"t;u;v|w"\n'
    with pytest.warns(CovaryWarning, match="^left out: 'w'"):
        assert cells(read(content)) == {"a": [1, 2, 3], "b": [4, 5, 6]}


def test_dates_times_and_truths(read):
    table = read(
        "day,moment,fraction,zoned,clock,truth\n"
        "2020-01-01,2020-01-01 10:00,2020-01-01T10:00:00.25,2020-01-01T10:00:00Z,10:30,True\n"
        "2020-01-03,2020-01-01 11:00,2020-01-01T10:00:01,2020-01-01T10:00:00+02:00,11:30,False\n"
        "2020-01-02,2020-01-01 12:00,2020-01-01T10:00:02,2020-01-01T10:00:00-02:00,12:30,True\n"
    )
    assert [column.kind for column in table.columns] == ["date"] * 5 + ["boolean"]
    assert {name: column[1] for name, column in cells(table).items()} == {
        "day": dt.date(2020, 1, 3),
        "moment": dt.datetime(2020, 1, 1, 11),
        "fraction": dt.datetime(2020, 1, 1, 10, 0, 1),
        "zoned": dt.datetime(2020, 1, 1, 8, tzinfo=dt.UTC),
        "clock": dt.time(11, 30),
        "truth": False,
    }
    assert cells(table)["fraction"][0] == dt.datetime(2020, 1, 1, 10, 0, 0, 250_000)


def test_single_column(read):
    assert cells(read("a\n1\n2\n3\n")) == {"a": [1, 2, 3]}


def test_numbers_of_many_digits(read):
    table = read("ns,x\n1152921504606846976,1\n1152921504606846977,2\n1152921504606846979,3\n")
    assert table.columns[0].values.tolist() == [0, 1, 3]
    assert cells(table)["ns"][2] == 1152921504606846979


def test_very_wide(read):
    names = [f"column_{position}" for position in range(30_000)]
    rows = [",".join([str(row)] * len(names)) for row in range(3)]
    table = read("\n".join([",".join(names), *rows]))
    assert table.names == tuple(names)
    assert table.columns[-1].values.tolist() == [0, 1, 2]


def test_types_that_only_the_last_rows_show(read):
    table = read("a,b\n" + "1,\n" * 1_500_000 + "1.5,2\n")
    assert table.n_rows == 1_500_001
    assert table.columns[0].values[-1] == 1.5
    assert table.columns[1].values[-1] == 2
    assert np.isnan(table.columns[1].values[:-1]).all()


def test_warning_names_a_text_among_numbers(read):
    rows = "".join(f"{row % 7},{row}\n" for row in range(3000))
    message = (
        r"^left out: 'b' \(text, because 'none yet' is not a number or date like most cells; "
        r"replace it, or declare the column as nominal\)$"
    )
    with pytest.warns(CovaryWarning, match=message):
        assert read(f"a,b\n{rows}1,none yet\n").names == ("a",)
    days = "".join(f"{row % 7},{row % 28 + 1}.12.2020\n" for row in range(3000))
    with pytest.warns(CovaryWarning, match=message.replace("none yet", "31.02.2020")):
        assert read(f"a,b\n{days}1,31.02.2020\n").names == ("a",)


def test_texts_for_missing_cells_that_are_only_in_the_last_rows(read):
    rows = "".join(f"{row % 7},{row}\n" for row in range(1, 3001))
    message = r"^text was read as values: 'b' \(numbers; 'n.a.' is treated as missing\)$"
    with pytest.warns(CovaryWarning, match=message):
        table = read(f"a,b\n{rows}1,n.a.\n")
    np.testing.assert_array_equal(table.columns[1].values, [*range(1, 3001), NAN])


def test_only_the_named_columns_are_read(read):
    content = "a,b,w\n1,4,x\n2,5,y\n3,6,z\n"
    assert cells(read(content, ["b", "a"])) == {"b": [4, 5, 6], "a": [1, 2, 3]}
    with pytest.raises(ColumnError, match=r"^there is no column 'aa'. Did you mean 'a'\?"):
        read(content, ["aa"])
    with pytest.raises(ColumnError, match=r"^column 'w' cannot be used: it is an identifier"):
        read(content, ["a", "w"])
    content = "a,w,v\n1,x,p\n2,y,q\n3,x,r\n4,y,s\n"
    assert cells(read(content, ["w", "a"])) == {"w": ["x", "y", "x", "y"], "a": [1, 2, 3, 4]}


def test_columns_that_are_left_out_give_one_warning(read):
    rows = "".join(f"{row % 9},id{row},key{row},x\n" for row in range(100))
    with pytest.warns(CovaryWarning) as caught:
        read(f"a,v,w,u\n{rows}")
    assert [str(each.message) for each in caught] == [
        "left out: 'v', 'w' (an identifier (100 different values in 100 rows); declare it as "
        "nominal to use it); 'u' (a single level, 'x' in all rows)"
    ]


def test_text_that_is_converted_gives_one_warning(read):
    rows = "".join(f"{row % 7},{row % 5}%,{row % 3}%,{row % 4} €\n" for row in range(100))
    with pytest.warns(CovaryWarning) as caught:
        read(f"a,v,w,u\n{rows}")
    assert [str(each.message) for each in caught] == [
        "text was read as values: 'v', 'w' (percentages, such as \"0%\"); 'u' (amounts in €, such "
        'as "0 €")'
    ]


@pytest.mark.filterwarnings("error::covary.errors.CovaryWarning")
def test_text_gives_no_warning(read):
    table = read("a,w\n" + "1,x\n2,y\n" * 50)
    assert cells(table) == {"a": [1, 2] * 50, "w": ["x", "y"] * 50}


HEADER = st.lists(
    st.text(
        st.characters(categories=["L", "P", "S", "Zs"]) | st.sampled_from(list(',;|\t"\n\r')),
        min_size=1,
        max_size=8,
    ).map(lambda name: f"a{name}z"),
    min_size=2,
    max_size=5,
    unique=True,
)
CELLS = st.lists(
    st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
    min_size=3,
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(st.data(), HEADER, CELLS.filter(lambda row: row != [None] * len(row)))
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_written_text_is_read_back(tmp_path_factory, delimiter, data, header, column):
    line_end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    for cell in column:
        print(
            *["" if cell is None else cell] * len(header), sep=delimiter, end=line_end, file=text
        )
    path = tmp_path_factory.mktemp("written") / "table.csv"
    path.write_bytes(text.getvalue().encode())
    table = read_table(path)
    assert table.names == tuple(header)
    for read_column in table.columns:
        np.testing.assert_array_equal(read_column.values, np.array(column, dtype=float))


# ---------------------------------------------------------------- errors in text


def test_a_space_before_a_quotation_mark(message_of):
    message = message_of('a,b\n1,"x, y"\n2, "x, y"\n3,z\n')
    assert "line 3 has 3 cells, but the first row has 2" in message
    assert message.endswith(": remove the space before its quotation mark")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n4,5\n", "line 3 has 1 cell, but the first row has 2 (delimiter ',')"),
        ("a;b\n1;2\n3;4;5\n", "line 3 has 3 cells, but the first row has 2 (delimiter ';')"),
        ('"a\nb",c\n"1\n2",3\n4\n', "line 5 has 1 cell, but the first row has 2"),
        ("1,2\n3,4\n5,6,7\n", "line 3 has 3 cells, but the first row has 2"),
        ("a,b\n" + "1,2\n" * 200_000 + "3\n", "line 200002 has 1 cell, but the first row has 2"),
        ("a,b\n1,\xe9\n3\n".encode("latin-1"), "line 3 has 1 cell, but the first row has 2"),
        ("a,b\n1,x\n2,y\n3\n".encode("utf-16"), "line 4 has 1 cell, but the first row has 2"),
        ("title\n\na,b\n1,2\n", "line 3 has 2 cells, but the first row has 1"),
    ],
)
def test_ragged_rows_name_the_line(message_of, content, message):
    line = message_of(content)
    assert message in line
    assert line.endswith("give every row the same number of cells")


@pytest.mark.parametrize("columns", [None, ["a"]])
def test_open_quotation_mark(message_of, columns):
    content = 'a,b\n1,x\n2,"y\n' + "3,z\n" * 10
    assert "the quotation mark in line 3 is never closed" in message_of(content, columns)
    content = 'a,b\n1,x\n"2,y\n' + "3,z\n" * 10
    assert "the quotation mark in line 3 is never closed" in message_of(content, columns)


def test_open_quotation_mark_in_a_large_file(message_of):
    content = 'a,b\n1,x\n2,"y\n' + "3,z\n" * 1_500_000
    assert "the quotation mark in line 3 is never closed" in message_of(content)


def test_quotation_marks_inside_cells_are_fine(read):
    with pytest.warns(CovaryWarning, match="'b'"):
        assert read('a,b\n1,5" pipe\n2,"x\ny"\n3,z\n').n_rows == 3


def test_row_that_is_too_long(message_of):
    content = "a,b\n1,x\n2,y\n3," + "z" * 9_000_000 + "\n4,z\n"
    assert "a row has more than 4194304 bytes" in message_of(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n \n\t\r\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (bz2.compress(b""), "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", "not a CSV, Parquet or Arrow file"),
        (b"\x7fELF\2\1\1\0\0\0", "not a CSV, Parquet or Arrow file"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "it is a PDF document: save the table as CSV"),
        (b'[{"a": 1, "b": 2},\n {"a": 3, "b": 4}]', "it is JSON: save the table as CSV"),
        (b'{"a": [1, 2, 3],\n "b": [4, 5, 6]}', "it is JSON: save the table as CSV"),
        (b"<!DOCTYPE html>\n<html><body>", "it is a web page or XML"),
        (b'<?xml version="1.0"?>\n<a/>', "it is a web page or XML"),
    ],
)
def test_not_a_table(message_of, content, message):
    assert message in message_of(content)
    assert message in message_of(content, name="table")


def test_first_cell_too_long(message_of):
    assert "its first cell is too long" in message_of("x" * 200_000 + "\n1\n2\n3\n")


def test_workbook_or_archive(message_of):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    assert "it is a workbook or zip archive: save the table as CSV" in message_of(
        archive.getvalue()
    )


def test_prose(message_of):
    assert "no column can be used: 'It was the best of times' is free text" in message_of(
        "It was the best of times\nit was the worst of times\nit was the age of wisdom\n"
        "it was the age of foolishness\nand so on"
    )
    assert "line 2 has 3 cells" in message_of("It was the best of times\nit was, it was, no\n")


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "a,b\n\n\n", "a,b\r\n"])
def test_header_without_rows(message_of, content):
    assert message_of(content) == "the table has 0 rows: at least 3 are needed"


def test_too_few_rows(message_of):
    assert message_of("a,b\n1,2\n3,4\n") == "the table has 2 rows: at least 3 are needed"


def test_duplicate_names(message_of):
    assert "columns 1 and 3 have the same name 'a'" in message_of("a,b,a\n1,2,3\n4,5,6\n7,8,9\n")


@pytest.mark.parametrize("infinite", ["inf", "-inf", "Inf", "1e999"])
def test_infinite_values(read, message_of, infinite):
    content = f"a,b\n1,2\n3,{infinite}\n5,6\n"
    assert "column 'b' has 1 infinite value: use a finite" in message_of(content, ["a", "b"])
    with pytest.warns(
        CovaryWarning, match=r"^left out: 'b' \(a column with 1 infinite value; rep"
    ):
        assert cells(read(content)) == {"a": [1, 3, 5]}


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, COMPRESSIONS["zstd"]]
)
def test_damaged_compression(message_of, compress):
    content = compress("".join(f"{row},{row % 7}\n" for row in range(1000)).encode())
    assert "it is damaged" in message_of(content[:-20])
    assert "it is damaged" in message_of(content[: len(content) // 2] + b"\xff" * 40)


# ---------------------------------------------------------------- paths


def test_missing_file(tmp_path):
    (tmp_path / "measurements.csv").write_text("a,b\n1,2\n")
    path = tmp_path / "mesurements.csv"
    with pytest.raises(TableError) as caught:
        read_table(str(path))
    assert str(caught.value) == (
        f"cannot read {path}: there is no such file. Did you mean 'measurements.csv'?"
    )
    for name in ("qqqqqq", "nothing.csv"):  # the same extension is not enough
        with pytest.raises(TableError, match=r"there is no such file\.$"):
            read_table(tmp_path / name)
    with pytest.raises(TableError, match=r"there is no directory .*elsewhere$"):
        read_table(tmp_path / "elsewhere" / "measurements.csv")
    with pytest.raises(TableError, match="cannot read"):
        read_table(tmp_path / "measurements.csv" / "a.csv")


def test_missing_file_in_a_closed_directory(tmp_path, monkeypatch):
    def closed(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", closed)
    with pytest.raises(TableError, match=r"there is no such file\.$"):
        read_table(tmp_path / "table.csv")


def test_file_in_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("numbers.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    assert read_table("numbers.csv").n_rows == 3
    with pytest.raises(TableError, match=r"Did you mean 'numbers.csv'"):
        read_table("number.csv")


def test_directory(tmp_path):
    with pytest.raises(TableError, match="it is a directory: pass a file in it"):
        read_table(tmp_path)


def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="it is a pipe or device, not a file"):
        read_table(tmp_path / "pipe.csv")


def test_impossible_paths(tmp_path):
    for path in ("a\0b.csv", "x" * 5000, "a\nb/c.csv"):
        with pytest.raises(TableError, match=r"^cannot read") as caught:
            read_table(path)
        assert str(caught.value).isprintable()


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    opened = builtins.open

    def guarded(file, *args, **kwargs):
        if file == str(path):
            raise PermissionError(13, "Permission denied")
        return opened(file, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", guarded)
    with pytest.raises(TableError, match=r"secret.csv: permission denied"):
        read_table(path)


def test_failing_disk(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("covary.table.files._first_bytes", broken)
    with pytest.raises(TableError, match=r"table.csv: Input/output error$"):
        read_table(path)


def test_no_memory(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")

    def too_large(*_):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr("covary.table.files.read_delimited", too_large)
    with pytest.raises(TableError, match=r"it needs too much memory, or it is damaged$"):
        read_table(path)


# ---------------------------------------------------------------- binary formats


def arrow_table() -> pa.Table:
    size = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1]), ["s", "m"], ordered=True)
    return pa.table(
        {
            "float": [1.5, None, 2.5, 3.5],
            "int": [1, 2, 3, 4],
            "bool": [True, None, False, True],
            "date": pa.array([2, None, 1, 0], pa.date32()),
            "moment": pa.array([2, None, 1, 0], pa.timestamp("us", "UTC")),
            "size": size,
            "colour": pa.array(["red", "blue", "red", None]).dictionary_encode(),
            "word": ["a", "b", None, "d"],
        }
    )


def as_parquet(table: pa.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path, row_group_size=3)


def as_arrow_file(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def as_arrow_stream(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def as_feather(table: pa.Table, path: Path) -> None:
    pyarrow.feather.write_feather(table, str(path), compression="zstd")


BINARY = {
    "parquet": as_parquet,
    "arrow": as_arrow_file,
    "arrows": as_arrow_stream,
    "feather": as_feather,
}


@pytest.mark.parametrize("name", ["table", "table.csv"])
@pytest.mark.parametrize("write", BINARY.values(), ids=BINARY)
def test_binary_formats(tmp_path, write, name):
    path = tmp_path / name
    write(arrow_table(), path)
    message = (
        r"^left out: 'word' \(an identifier \(3 different values in 3 rows\); declare it as n"
    )
    with pytest.warns(CovaryWarning, match=message):
        table = read_table(path)
    moments = [dt.datetime(1970, 1, 1, 0, 0, 0, each, tzinfo=dt.UTC) for each in (2, 1, 0)]
    assert cells(table) == {
        "float": [1.5, None, 2.5, 3.5],
        "int": [1, 2, 3, 4],
        "bool": [True, None, False, True],
        "date": [dt.date(1970, 1, 3), None, dt.date(1970, 1, 2), dt.date(1970, 1, 1)],
        "moment": [moments[0], None, moments[1], moments[2]],
        "size": ["m", None, "s", "m"],
        "colour": ["red", "blue", "red", None],
    }
    assert [column.kind for column in table.columns[-2:]] == ["category", "nominal"]


@pytest.mark.parametrize("write", BINARY.values(), ids=BINARY)
def test_columns_of_binary_formats(tmp_path, write):
    path = tmp_path / "table"
    write(arrow_table(), path)
    assert read_table(path, ["size", "float"]).names == ("size", "float")
    with pytest.raises(ColumnError, match="Did you mean 'float'"):
        read_table(path, ["floats"])
    with pytest.raises(ColumnError, match="'word' cannot be used: it is an identifier"):
        read_table(path, ["float", "word"])
    write(pa.table([pa.array([1.0, 2.0, 3.0])] * 2, names=["a", "a"]), path)
    with pytest.raises(TableError, match="columns 1 and 2 have the same name 'a'"):
        read_table(path)


def test_parquet_names_with_points(tmp_path):
    path = tmp_path / "table.parquet"
    as_parquet(pa.table({"a": [1, 2, 3], "a.b": [4, 5, 6], "c": [{"d": 1}] * 3}), path)
    assert cells(read_table(path, ["a"])) == {"a": [1, 2, 3]}
    assert cells(read_table(path, ["a.b", "a"])) == {"a.b": [4, 5, 6], "a": [1, 2, 3]}


def test_feather_version_1(tmp_path):
    path = tmp_path / "table.feather"
    path.write_bytes(b"FEA1\0\0\0\0")
    with pytest.raises(TableError, match="it is Feather version 1: write it as version 2"):
        read_table(path)


def test_file_without_header_gives_a_warning(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,2\n" * 200)
    with pytest.warns(CovaryWarning, match="no header: the columns are named x0, x1, ..."):
        assert read_table(path).names == ("x0", "x1")


def test_pandas_index_without_a_name_is_not_a_column(tmp_path):
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]}, index=[9, 7, 8])
    frame.to_parquet(path)
    assert read_table(path).names == ("a", "b")
    frame.rename_axis("day").to_parquet(path)
    assert read_table(path).names == ("a", "b", "day")


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".PARQUET", ".arrow", ".feather", ".ipc"])
@pytest.mark.parametrize("content", [b"PAXX\x15\0\x15", b"a,b\n1,2\n3,4\n5,6\n"])
def test_damaged_at_the_start(message_of, suffix, content):
    line = message_of(content, name=f"table{suffix}")
    assert "it is damaged, or its suffix is wrong" in line


@pytest.mark.parametrize("write", BINARY.values(), ids=BINARY)
def test_truncated_files(tmp_path, write):
    path = tmp_path / "table"
    write(arrow_table(), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match="it is damaged"):
        read_table(path)


def test_text_that_is_not_valid_utf8(tmp_path):
    path = tmp_path / "table.parquet"
    words = pa.array([b"\xff", b"\xfe", b"\xfd"]).view(pa.string())
    as_parquet(pa.table({"a": [1, 2, 3], "w": words}), path)
    with pytest.warns(CovaryWarning, match=r"left out: 'w' \(text that is not valid Unicode\)"):
        assert cells(read_table(path)) == {"a": [1, 2, 3]}


def test_codes_without_a_label(tmp_path):
    path = tmp_path / "table.arrow"
    codes = pa.array([77, 78, 79], pa.int8())
    size = pa.DictionaryArray.from_arrays(codes, ["s", "m"], ordered=True, safe=False)
    as_arrow_file(pa.table({"size": size}), path)
    with pytest.raises(TableError, match="it is damaged"):
        read_table(path)


def test_empty_file_with_a_binary_name(message_of):
    assert "the file is empty" in message_of(b"", name="table.parquet")


def test_doubles_of_a_file_are_copied_at_most_once(tmp_path):
    n_rows = 200_000
    path = tmp_path / "table.parquet"
    table = pa.table({f"c{each}": np.arange(n_rows) + each / 7 for each in range(8)})
    pyarrow.parquet.write_table(table, path, row_group_size=n_rows // 4)
    before = pa.total_allocated_bytes()
    read = read_table(path)
    held = pa.total_allocated_bytes() - before
    own = sum(column.values.nbytes for column in read.columns if column.values.flags.owndata)
    assert held + own < 1.2 * 8 * 8 * n_rows


def test_reading_numbers_from_a_file_does_not_import_pandas(tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(200, 2)), delimiter=",", header="a,b")
    code = f"import covary, sys; covary.score({str(path)!r}); print('pandas' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert output.stdout == "False\n"
