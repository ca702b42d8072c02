"""Columns of texts that stand for numbers, booleans or dates."""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covary.table.table import Ambiguous
from covary.table.text_values import (
    Converted,
    convert_texts,
    is_missing_text,
    numbers_but,
    unit_reason,
)

# ---------------------------------------------------------------- examples

NUMBERS = [
    (["12.5", "1e-3", "-3", "+4", ".5", "5."], [12.5, 0.001, -3, 4, 0.5, 5], "numbers"),
    ([" 7 ", "\t8", "1E5"], [7, 8, 1e5], "numbers"),
    (["\u22125", "5"], [-5, 5], "numbers"),
    (["12,5", "3", "-0,25", "1,5e3"], [12.5, 3, -0.25, 1500], "a decimal comma"),
    (["1,234", "12,5"], [1.234, 12.5], 'a decimal comma, such as "12,5"'),
    (["1,234", "0,123"], [1.234, 0.123], 'a decimal comma, such as "0,123"'),
    (["1,234", "1234,567"], [1.234, 1234.567], "a decimal comma"),
    (["1,234e5"], [123400], "a decimal comma"),
    (["5,126", "1,234", "7"], [5126, 1234, 7], 'separator (assumed), such as "5,126"'),
    (["1,234,567.89", "-5"], [1234567.89, -5], "a thousands separator"),
    (["1,234", "12.5"], [1234, 12.5], "a thousands separator"),
    (["1,234,567", "1234"], [1234567, 1234], "a thousands separator"),
    (["1.234.567,89", "3,5"], [1234567.89, 3.5], "a thousands separator and a decimal comma"),
    (["1.234", "1,5"], [1234, 1.5], "a thousands separator and a decimal comma"),
    (["1.234.567", "12.345"], [1234567, 12345], 'a thousands separator, such as "1.234.567"'),
    (["1.234", "5.126"], [1.234, 5.126], "numbers"),
    (["1 000", "20"], [1000, 20], "a thousands separator"),
    (["1\u00a0000", "1\u202f000,5"], [1000, 1000.5], "a thousands separator and a decimal comma"),
    (["1'000.5", "1\u2019000'000"], [1000.5, 1000000], "a thousands separator"),
    (["$5,125.73", "$7", "$ 8"], [5125.73, 7, 8], "amounts in $ with a thousands separator"),
    (["-$5", "$-6", "+$7", "($8)", "$(9.50)"], [-5, -6, 7, -8, -9.5], "negative in parentheses"),
    (["\u20ac 5", "\u20ac-3"], [5, -3], "amounts in \u20ac, such"),
    (["5 \u20ac", "-3\u20ac", "(1,50 \u20ac)"], [5, -3, -1.5], "amounts in \u20ac with a decimal"),
    (["1.234,5 \u20ac"], [1234.5], "amounts in \u20ac with a thousands separator and a decimal"),
    (["\u00a33"], [3], "amounts in \u00a3, such"),
    (["5 EUR", "-102.25EUR"], [5, -102.25], "amounts in EUR, such"),
    (["USD 5", "USD 1,000.5"], [5, 1000.5], "amounts in USD with a thousands separator, such"),
    (["(5.00)", "3.00"], [-5, 3], 'negative in parentheses, such as "(5.00)"'),
    (["(5)", "3"], [-5, 3], "negative in parentheses"),
    (["51.3%", "4 %", "(2%)"], [51.3, 4, -2], "percentages"),
    (["51,3 %"], [51.3], "percentages with a decimal comma"),
    (["inf", "-inf", "Infinity", "INF", "1"], [np.inf, -np.inf, np.inf, np.inf, 1], "numbers"),
    (["9007199254740992", "18446744073709551616"], [2.0**53, 2.0**64], "numbers"),
    (["6.02214076e23", "1.7976931348623157e308"], [6.02214076e23, 1.7976931348623157e308], "numb"),
    (["20200913", "20200914"], [20200913, 20200914], "numbers"),
    (["2020", "2021"], [2020, 2021], "numbers"),
    (["0", "1"], [0, 1], "numbers"),
    (["007.50", "012.25"], [7.5, 12.25], "numbers"),
    (["-05", "03"], [-5, 3], "numbers"),
]


@pytest.mark.parametrize(("texts", "values", "what"), NUMBERS)
def test_numbers(texts, values, what):
    converted = convert_texts(texts)
    assert converted.kind == "number"
    assert converted.values.dtype == np.float64
    assert converted.values.tolist() == values
    assert what in converted.what
    is_plain = converted.what == "numbers"
    assert is_plain or any(f'such as "{text.strip()}"' in converted.what for text in texts)


NOT_CONVERTED = {
    "words": ["red", "green", "blue 1"],
    "nothing": [],
    "only missing": ["NA", "", "?"],
    "one text is a word": ["1", "2", "x"],
    "a unit": ["5 km", "6 km"],
    "contradicting commas": ["12,5", "1,234,567"],
    "contradicting commas with a leading zero": ["0,123", "1,234,567"],
    "contradicting points": ["0.5", "1.234.567"],
    "two decimal signs": ["1.5", "2,5"],
    "either sign may be the decimal one": ["1,234", "1.234"],
    "two thousands separators": ["1 000", "1'000"],
    "thousands, or decimals because 1234 has no separator": ["1,234", "1234"],
    "thousands with an exponent": ["1,234,567e5"],
    "groups of two": ["12,34,567"],
    "groups of two and three": ["1,23,456"],
    "zip codes": ["00123", "90210"],
    "codes of unequal length": ["007", "12"],
    "labels": ["(1)", "(2)"],
    "telephone numbers": ["+4930123456", "+49 301 234 567"],
    "addresses": ["192.168.100.101", "192.168.100.102"],
    "rounded integer": ["9007199254740993", "1"],
    "rounded large amount": ["$9,007,199,254,740,993.00"],
    "rounded id": ["12345678901234567890"],
    "too large": ["1e400", "1"],
    "too large integer": ["9" * 400],
    "underscore": ["1_000", "2_000"],
    "hexadecimal": ["0x1f"],
    "full-width digits": ["\uff11\uff12"],
    "two currencies": ["$5", "\u20ac5"],
    "currency missing": ["$5", "6"],
    "symbol on both sides": ["$5", "6$"],
    "percent missing": ["5%", "0.06"],
    "two signs": ["-$-5"],
    "sign in parentheses": ["(-5)"],
    "open parenthesis": ["(5", "6"],
    "detached sign": ["- 5", "6"],
    "percentages with three decimals, or thousands": ["51,312%"],
    "prices with three decimals, or thousands": ["1.359 \u20ac", "1.234 \u20ac"],
    "suffix with three decimals, or thousands": ["1,359 \u20ac"],
    "half of a surrogate pair": ["\ud800", "1"],
    "one boolean word": ["yes", "YES"],
    "words of two pairs": ["yes", "n"],
    "a third word": ["yes", "no", "maybe"],
    "long s": ["ye\u017f", "no"],
    "long s in a month": ["\u017fep 2020"],
    "30 February": ["2020-02-30", "2020-02-01"],
    "29 February": ["02/29/2021"],
    "month 13": ["2020-13-01"],
    "month 0": ["2020-00-01"],
    "day 0": ["2020-01-00"],
    "two large numbers": ["13/13/2020"],
    "contradicting order": ["13/09/2020", "09/13/2020"],
    "two separators": ["13/09/2020", "14.09.2020"],
    "two separators in one date": ["13/09.2020"],
    "long and short years": ["13/09/2020", "13/09/20"],
    "early year": ["0999-01-01"],
    "late year": ["10000-01-01"],
    "some have a time": ["2020-09-13", "2020-09-13 12:30"],
    "some have a zone": ["2020-09-13T12:30Z", "2020-09-13T12:30"],
    "some have PM": ["2020-09-13 12:30 PM", "2020-09-13 12:30"],
    "hour 24": ["2020-09-13 24:00"],
    "minute 60": ["12:60"],
    "second 60": ["12:30:60"],
    "hour 13 PM": ["13:05 PM"],
    "hour 0 AM": ["0:05 AM"],
    "picoseconds": ["2020-09-13 12:30:15.123456789123"],
    "nanoseconds in 1500": ["1500-09-13 12:30:15.123456789"],
    "week 53": ["2021-W53"],
    "a weekday alone": ["Tue"],
    "short ISO, or short years": ["20-09-13"],
    "versions": ["1.2.10", "1.2.11"],
    "seasons": ["2009-10", "2010-11", "2011-12"],
    "quarter 5": ["2020Q5"],
    "unknown month": ["13 Abc 2020"],
}


@pytest.mark.parametrize("texts", NOT_CONVERTED.values(), ids=NOT_CONVERTED)
def test_text(texts):
    assert not isinstance(convert_texts(texts), Converted)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (
            ["1.359 \u20ac"],
            "ambiguous, because '1.359 \u20ac' may have thousands or decimals; write",
        ),
        (["7%", "51,312%"], "ambiguous, because '51,312%' may have thousands"),
        (["1234", "1,234"], "ambiguous, because '1,234' may have thousands"),
        (["20-09-13", "20-09-14"], "ambiguous (dates with years of two digits); write years with"),
        (["9007199254740993", "1"], "a column of large numbers whose digits would be lost"),
        (["9007199254740993", "NA"], "a column of large numbers whose digits would be lost"),
    ],
)
def test_reasons(texts, reason):
    found = convert_texts(texts)
    assert isinstance(found, str)
    assert found.startswith(reason)


def test_numbers_with_a_unit():
    assert unit_reason(["5 km", "", "6.5km", "NA"]).startswith("text (numbers with 'km'); remove")
    for texts in (["5 km", "6 m"], ["5 km", "7"], ["5", "6"], ["km"], []):
        assert unit_reason(texts) is None


@pytest.mark.parametrize(
    "texts", [["5 km", "6 km"], ["5 km", "6 m"], ["00123"], ["red"], ["(1)"], ["1.2.10"]]
)
def test_texts_without_a_reason(texts):
    assert convert_texts(texts) is None


@pytest.mark.parametrize(
    ("texts", "comma", "point"),
    [
        (["1,234", "500"], [1.234, 500], [1234, 500]),
        (["1,234", "1234"], [1.234, 1234], [1234, 1234]),
        (["2.500", "500"], [2500, 500], [2.5, 500]),
        (["1.234 \u20ac"], [1234], [1.234]),
        (["1,234", "1.234"], [1.234, 1234], [1234, 1.234]),
        (["12,5", "1,234"], [12.5, 1.234], [12.5, 1.234]),
        (["0.125", "2.500"], [0.125, 2.5], [0.125, 2.5]),
        (["1.5"], [1.5], [1.5]),
    ],
)
def test_other_columns_decide_the_decimal_sign(texts, comma, point):
    for sign, values in ((",", comma), (".", point)):
        converted = convert_texts(texts, sign)
        assert converted.values.tolist() == values
        assert "assumed" not in converted.what
    alone = convert_texts(texts)
    is_certain = comma == point
    assert is_certain == (isinstance(alone, Converted) and alone.decimal in (",", "."))
    assert is_certain or isinstance(alone, Ambiguous) or alone.decimal == "?"


@pytest.mark.parametrize(
    ("texts", "values", "what"),
    [
        (["yes", "No"], [1, 0], "yes/no as true/false"),
        (["n", "Y", " y "], [0, 1, 1], "y/n as true/false"),
        (["t", "F"], [1, 0], "t/f as true/false"),
        (["TRUE", "False", "true"], [1, 0, 1], "true/false"),
        (["off", "ON"], [0, 1], "on/off as true/false"),
        (["False", "false"], [0, 0], "true/false"),
    ],
)
def test_booleans(texts, values, what):
    converted = convert_texts(texts)
    assert (converted.kind, converted.what) == ("boolean", what)
    assert converted.values.dtype == np.float64
    assert converted.values.tolist() == values


DATES = [
    (["2020-09-13", "2020-9-3"], ["2020-09-13", "2020-09-03"], "D", "year-month-day, such"),
    (["2020/09/13"], ["2020-09-13"], "D", "year/month/day"),
    (["2020.09.13"], ["2020-09-13"], "D", "year.month.day"),
    (["2020-09-13T12:30"], ["2020-09-13T12:30"], "s", "year-month-day with time, such"),
    (
        ["2020-09-13 12:30:15.5", "2020-09-13 12:30", "2020-09-13 00:00:01"],
        ["2020-09-13T12:30:15.5", "2020-09-13T12:30", "2020-09-13T00:00:01"],
        "us",
        "with time",
    ),
    (["2020-09-13 12:30:15,123456000"], ["2020-09-13T12:30:15.123456"], "us", "with time"),
    (
        ["2020-09-13 12:30 PM", "2020-09-13 12:30 AM", "2020-09-13 1:30 p.m."],
        ["2020-09-13T12:30", "2020-09-13T00:30", "2020-09-13T13:30"],
        "s",
        "with time",
    ),
    (
        ["2020-09-13T01:30Z", "2020-09-13T01:30+02:00", "2020-09-13T01:30:00 -0330"],
        ["2020-09-13T01:30", "2020-09-12T23:30", "2020-09-13T05:00"],
        "s",
        "with time, converted to UTC",
    ),
    (["2020-09-13 12:30:15+02"], ["2020-09-13T10:30:15"], "s", "time, time zone +02:00, such"),
    (["2020-09-13 12:30:15 GMT"], ["2020-09-13T12:30:15"], "s", "time, time zone UTC, such"),
    (
        ["2020-09-13 12:30:15.123456789", "2020-09-13 12:30:15"],
        ["2020-09-13T12:30:15.123456789", "2020-09-13T12:30:15"],
        "ns",
        "with time, such",
    ),
    (["09/13/2020", "1/2/2020"], ["2020-09-13", "2020-01-02"], "D", "month/day/year, such"),
    (["01/02/2020", "13/09/2020"], ["2020-02-01", "2020-09-13"], "D", 'year, such as "13/09'),
    (["13.09.2020", "1.2.2020"], ["2020-09-13", "2020-02-01"], "D", "day.month.year, such"),
    (["13-09-2020"], ["2020-09-13"], "D", "day-month-year, such"),
    (["09-13-2020"], ["2020-09-13"], "D", "month-day-year, such"),
    (["9/13/2020, 1:05:00 PM"], ["2020-09-13T13:05"], "s", "month/day/year with time, such"),
    (
        ["09/13/20", "01/02/39", "01/02/40", "01/02/99", "01/02/00"],
        ["2020-09-13", "2039-01-02", "1940-01-02", "1999-01-02", "2000-01-02"],
        "D",
        "month/day/year (assumed: years are 1940 to 2039), such",
    ),
    (["09/13/20"], ["2020-09-13"], "D", "month/day/year (assumed: years are 1940 to 2039), such"),
    (
        ["13/09/99", "01/02/20"],
        ["1999-09-13", "2020-02-01"],
        "D",
        "day/month/year (assumed: years",
    ),
    (["13.09.20"], ["2020-09-13"], "D", "day.month.year (assumed: the year is not first; years"),
    (["05/06/2020"], ["2020-05-06"], "D", "month/day/year (assumed: no day is above 12), such"),
    (["05.06.2020"], ["2020-06-05"], "D", "day.month.year (assumed: no day is above 12), such"),
    (["05-06-2020"], ["2020-06-05"], "D", "day-month-year (assumed: no day is above 12), such"),
    (["Sep-2020", "May 2020"], ["2020-09-01", "2020-05-01"], "D", "months as name and year"),
    (["Sep-20", "May-99"], ["2020-09-01", "1999-05-01"], "D", "name and year (assumed: years are"),
    (["Sep-20"], ["2020-09-01"], "D", "name and year (assumed: no cell has a day; years are 1940"),
    (["05/2020", "12/1999"], ["2020-05-01", "1999-12-01"], "D", "months as month/year, such"),
    (["2020-W37", "2020-W53"], ["2020-09-07", "2020-12-28"], "D", "weeks, as their first days"),
    (["Tue 14 Mar 1989 14:04"], ["1989-03-14T14:04"], "s", "day, name of month, year with time"),
    (["Tuesday, March 14, 1989"], ["1989-03-14"], "D", "name of month, day, year, such"),
    (["September 2020", "JULY 2020"], ["2020-09-01", "2020-07-01"], "D", "months as name"),
    (["13 Sep 2020", "1 march 2020"], ["2020-09-13", "2020-03-01"], "D", "name of month"),
    (["13-Sep-2020"], ["2020-09-13"], "D", "day, name of month, year, such"),
    (["13SEP2020"], ["2020-09-13"], "D", "day, name of month, year, such"),
    (["13-SEP-20"], ["2020-09-13"], "D", "day, name of month, year (assumed: the year is not"),
    (["Sep 13, 2020", "Sept. 3 2020"], ["2020-09-13", "2020-09-03"], "D", "month, day, year"),
    (["September 13, 2020"], ["2020-09-13"], "D", "name of month, day, year, such"),
    (["2020-09", "2020-10"], ["2020-09-01", "2020-10-01"], "D", "months as year-month"),
    (["2020Q3", "2020-Q1"], ["2020-07-01", "2020-01-01"], "D", "quarters"),
    (["Q4 2020"], ["2020-10-01"], "D", "quarters"),
    (["1000-01-01", "9999-12-31"], ["1000-01-01", "9999-12-31"], "D", "year-month-day"),
    (["2020-02-29", "2000-02-29"], ["2020-02-29", "2000-02-29"], "D", "year-month-day"),
]


@pytest.mark.parametrize(("texts", "dates", "unit", "what"), DATES)
def test_dates(texts, dates, unit, what):
    converted = convert_texts(texts)
    assert converted.kind == "date"
    assert converted.values.dtype == f"M8[{unit}]"
    assert converted.values.tolist() == np.array(dates, f"M8[{unit}]").tolist()
    assert what in converted.what
    assert "assumed" in what or "assumed" not in converted.what


@pytest.mark.parametrize(
    ("texts", "seconds", "unit"),
    [
        (["12:30", "0:00", "23:59:59"], [45000, 0, 86399], "s"),
        (["3:05 PM", "12:00 am", "12:01pm"], [54300, 0, 43260], "s"),
        (["12:30:15.5"], [45015.5], "us"),
    ],
)
def test_times_of_day(texts, seconds, unit):
    converted = convert_texts(texts)
    assert converted.kind == "date"
    assert converted.what == f'times of day, such as "{texts[0]}"'
    assert converted.values.dtype == f"m8[{unit}]"
    assert (converted.values / np.timedelta64(1, "s")).tolist() == seconds


def test_missing_texts():
    for text in (
        "",
        "?",
        "-",
        ".",
        "NA",
        "#N/A",
        "NaN",
        "null",
        "None",
        "NaT",
        "--",
        "n.a.",
        " NA ",
        "\t",
        "#DIV/0!",
        "\u2014",
    ):
        assert is_missing_text(text)
    for text in ("0", "no", "none", "nano", "inf", "- 1", "NANA"):
        assert not is_missing_text(text)


@pytest.mark.parametrize("texts", [["1,5", "2"], ["yes", "no"], ["2020-09-13"], ["12:30"]])
def test_missing_texts_give_missing_values(texts):
    plain, padded = convert_texts(texts), convert_texts(["", *texts, " ? "])
    assert padded.kind == plain.kind
    assert padded.what.replace("; '?' is treated as missing", "") == plain.what != padded.what
    assert padded.values.dtype == plain.values.dtype
    assert padded.values[1:-1].tolist() == plain.values.tolist()
    is_missing = np.isnan if plain.values.dtype.kind == "f" else np.isnat
    assert is_missing(padded.values).tolist() == [True, *[False] * len(texts), True]


INTEGERS = [str(number) for number in range(1000)]
COMMAS = [f"{number},500" for number in range(1, 1000)]
UNDECIDED = [f"{month}/{day}/2020" for month in range(1, 13) for day in range(1, 13)]


@pytest.mark.parametrize(
    ("texts", "last", "expected"),
    [
        (INTEGERS, "x", None),
        (INTEGERS, "0x1f", None),
        (INTEGERS, "1,234", [1.0, 1234.0]),
        (COMMAS, "7", [2500.0, 7.0]),
        (COMMAS, "1,000,000", [2500.0, 1e6]),
        (COMMAS, "12,5", [2.5, 12.5]),
        (COMMAS, "1000", None),
        (UNDECIDED, "12/1/2021", [date(2020, 1, 2), date(2021, 12, 1)]),
        (UNDECIDED, "09/13/2020", [date(2020, 1, 2), date(2020, 9, 13)]),
        (UNDECIDED, "13/09/2020", [date(2020, 2, 1), date(2020, 9, 13)]),
        (UNDECIDED, "02/30/2020", None),
        (UNDECIDED, "05/06/2020 12:30", None),
    ],
)
def test_a_late_text_decides(texts, last, expected):
    converted = convert_texts([*texts, last])
    is_converted = isinstance(converted, Converted)
    assert (converted.values[[1, -1]].tolist() if is_converted else None) == expected


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["1", "2", "x"], "x"),
        (["1", " x ", "2", "y"], " x "),
        (["1", "x", "y"], None),
        (["1", "NA", "x", ""], "x"),
        (["1", "2"], None),
        (["red", "green"], None),
        ([], None),
        (["NA"], None),
        (["yes", "no", "maybe"], None),
        (["$5", "$6", "free"], "free"),
        (["5,126", "1,234", "many"], "many"),
        (["12,5", "0,5", "1,234,567"], "1,234,567"),
        (["1.5", "2.5", "3,5"], "3,5"),
        (["2020-09-13", "2020-09-14", "soon"], "soon"),
        (["2020-02-28", "2020-02-29", "2020-02-30"], "2020-02-30"),
        (["13/09/2020", "14/09/2020", "09/15/2020"], "09/15/2020"),
        (["2020-09-13 12:30", "2020-09-13 12:31", "2020-09-13"], "2020-09-13"),
        (["12:30", "12:45", "3:05 PM"], "3:05 PM"),
        (["inf", "x"], "x"),
        (["1", "2", "\ud800"], "\ud800"),
        (["00123", "90210"], None),
    ],
)
def test_numbers_but(texts, first):
    assert numbers_but(texts) == first


def test_numbers_but_in_a_long_column():
    numbers = [str(number) for number in range(5000)]
    assert numbers_but([*numbers, "x"]) == "x"
    # A text that a sample may miss.
    assert numbers_but([numbers[0], "1,234", *numbers[1:]]) is None
    assert numbers_but([numbers[0], "x", *numbers[1:]]) == "x"
    words = [f"w{number}" for number in range(5001)]
    assert numbers_but(numbers + words) is None
    assert numbers_but(words[:5000] + numbers) == "w0"


# ---------------------------------------------------------------- slow oracle of numbers

CONVENTIONS = [("", "."), (",", "."), ("", ","), (".", ","), (" ", "."), (" ", ","), ("'", "."),
               ("'", ",")]  # fmt: skip
SAME = {"\u2212": "-", "\u00a0": " ", "\u202f": " ", "\u2019": "'"}
SYMBOLS = (*"%$\u20ac\u00a3", "EUR", "USD")


def slow_number(text, thousands, decimal):
    """The number in a text, or None; signs and symbols are removed one at a time."""
    text = "".join(SAME.get(character, character) for character in text).strip()
    sign = 1
    if text.count("(") == text.count(")") == 1:
        sign, text = -1, text.replace("(", "").replace(")", "")
    for symbol in SYMBOLS:
        text = text.replace(symbol, "", 1)
    text = text.strip()
    if text[:1] in ("+", "-"):
        sign, text = (-1 if text[0] == "-" else 1), text[1:].strip()
    if text.lower() in ("inf", "infinity"):
        return sign * Decimal("inf")
    mantissa, e, exponent = text.replace("E", "e").partition("e")
    whole, _, fraction = mantissa.partition(decimal)
    groups = whole.split(thousands) if thousands else [whole]
    if len(groups) > 1 and (
        not 1 <= len(groups[0]) <= 3 or groups[0][0] == "0" or {len(g) for g in groups[1:]} != {3}
    ):
        return None
    digits = "".join(groups)
    power = exponent[1:] if exponent[:1] in ("+", "-") else exponent
    for part in (digits, fraction, power):
        if any(c not in "0123456789" for c in part):
            return None
    if digits + fraction == "" or (e and not power) or len(power) > 4:
        return None
    return sign * Decimal(f"{digits or 0}.{fraction or 0}e{exponent or 0}")


def slow_readings(texts):
    """All values that a column of numbers can have: {convention: values}."""
    readings = {}
    for convention in CONVENTIONS:
        numbers = [slow_number(text, *convention) for text in texts]
        if None not in numbers:
            readings[convention] = [float(number) for number in numbers]
    return readings


def check_numbers(texts, converted):
    """The values are those of a convention that the words allow."""
    words = "a thousands separator" in converted.what, "a decimal comma" in converted.what
    has_comma = "," in "".join(texts)
    assert any(
        values == converted.values.tolist()
        for (thousands, decimal), values in slow_readings(texts).items()
        if words == (thousands != "", decimal == "," and has_comma)
    )
    assert ("negative in parentheses" in converted.what) == any("(" in text for text in texts)
    assert ("percentages" in converted.what) == any("%" in text for text in texts)


# ---------------------------------------------------------------- numbers, round trip


def group(digits, separator):
    head = len(digits) % 3 or 3
    return separator.join(
        [digits[:head], *(digits[i : i + 3] for i in range(head, len(digits), 3))]
    )


@st.composite
def number_columns(draw):
    """Texts, their values, and the convention."""
    thousands, decimal = draw(st.sampled_from(CONVENTIONS))
    places = draw(st.integers(0, 4))
    largest = 10 ** draw(st.integers(1, 9))
    scaled = draw(st.lists(st.integers(-largest, largest), min_size=1, max_size=8, unique=True))
    layout = draw(st.sampled_from(["{}", "{} ", "${}", "\u20ac {}", "{} \u20ac", "{}%", "{} %"]))
    negative = draw(st.sampled_from(["-{}", "\u2212{}", "({})"]))
    if thousands == " ":
        thousands = draw(st.sampled_from([" ", "\u00a0", "\u202f"]))
    texts, values = [], []
    for number in scaled:
        whole, fraction = divmod(abs(number), 10**places)
        text = group(str(whole), thousands) if thousands else str(whole)
        text = layout.format(text + (f"{decimal}{fraction:0{places}}" if places else ""))
        texts.append(negative.format(text.strip()) if number < 0 else text)
        values.append(float(Decimal(number).scaleb(-places)))
    return texts, values, (" " if thousands.isspace() else thousands, decimal)


@given(number_columns())
def test_formatted_numbers_come_back(column):
    texts, values, convention = column
    readings = slow_readings(texts)
    assert readings[convention] == values, "the oracle is wrong"
    is_ambiguous = any(other != values for other in readings.values())
    has_symbol = any(character in SYMBOLS for character in "".join(texts))
    converted = convert_texts(texts)
    if not isinstance(converted, Converted):
        are_labels = all(re.fullmatch(r"\(\d+\)", text) for text in texts)
        are_addresses = all(re.fullmatch(r"\d+([.]\d+){3}", text) for text in texts)
        assert are_labels or are_addresses or (is_ambiguous and has_symbol)
        return
    check_numbers(texts, converted)
    if converted.values.tolist() != values:
        # A point before three digits is a decimal point, and a comma is a thousands separator.
        assert is_ambiguous
        preferred = (",", ".") if "," in "".join(texts) else ("", ".")
        assert converted.values.tolist() == readings[preferred]


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats_come_back(numbers):
    texts = [repr(number) for number in numbers]
    converted = convert_texts(texts)
    assert converted.kind == "number"
    assert converted.values.tolist() == numbers


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1), st.sampled_from(["", ",", " ", "'"]))
def test_integers_come_back_exactly_or_not_at_all(numbers, thousands):
    texts = [("-" if n < 0 else "") + group(str(abs(n)), thousands) for n in numbers]
    converted = convert_texts(texts)
    is_exact = all(int(float(number)) == number for number in numbers)
    assert isinstance(converted, Converted) == is_exact
    if is_exact:
        assert [int(value) for value in converted.values] == numbers


# ---------------------------------------------------------------- dates, round trip

DAY_FORMATS = {
    "year-month-day": ["%Y-%m-%d"],
    "year/month/day": ["%Y/%m/%d"],
    "year.month.day": ["%Y.%m.%d"],
    "month/day/year": ["%m/%d/%Y", "%m/%d/%y"],
    "day/month/year": ["%d/%m/%Y", "%d/%m/%y"],
    "month.day.year": ["%m.%d.%Y", "%m.%d.%y"],
    "day.month.year": ["%d.%m.%Y", "%d.%m.%y"],
    "month-day-year": ["%m-%d-%Y"],
    "day-month-year": ["%d-%m-%Y"],
    "day, name of month, year": [
        *("%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d%b%Y", "%d %B %Y", "%d-%B-%Y", "%d/%B/%Y"),
        *("%d%B%Y", "%d-%b-%y", "%d %b %y", "%d/%b/%y", "%d-%B-%y", "%d %B %y", "%d/%B/%y"),
    ],
    "name of month, day, year": ["%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"],
}
MONTH_FORMATS = {
    "months as name and year": ["%b-%Y", "%b %Y", "%B %Y", "%B-%Y"],
    "months as year-month": ["%Y-%m"],
}
TIME_FORMATS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p",
                "%I:%M:%S.%f %p"]  # fmt: skip


def parsed(text, formats):
    """The moment in a text, in UTC if it has a zone; None if it has none of the formats."""
    for each in formats:
        try:
            moment = datetime.strptime(text, each)
        except ValueError:
            continue
        if "%y" in each and moment.year >= 2040:  # Python begins the century at 1969
            moment = moment.replace(year=moment.year - 100)
        return (moment - (moment.utcoffset() or timedelta())).replace(tzinfo=None)
    return None


def datetimes_of(converted):
    return converted.values.astype("M8[us]").tolist()


@st.composite
def date_columns(draw):
    """Texts, the format of the days, the format of all, and the years as they are written."""
    day = draw(st.sampled_from([each for formats in DAY_FORMATS.values() for each in formats]))
    clock = draw(st.sampled_from(["", *(sep + each for each in TIME_FORMATS for sep in " T")]))
    zone = draw(st.sampled_from(["", "Z", "+0200", "-03:30", " +01:00"])) if clock else ""
    years = (1940, 2039) if "%y" in day else (1001, 9998)
    bounds = datetime(years[0], 1, 1), datetime(years[1], 12, 31, 23, 59, 59)
    moments = draw(st.lists(st.datetimes(*bounds), min_size=1, max_size=6))
    if draw(st.booleans()):  # only days that may also be months
        moments = [moment.replace(day=(moment.day - 1) % 12 + 1) for moment in moments]
    days = [moment.strftime(day) for moment in moments]
    if "." not in day and draw(st.booleans()):  # no zeros in front of days and months
        days = [re.sub(r"(^|[/ -])0(\d)(?=[/ ,-])", r"\1\2", text) for text in days]
    texts = [text + m.strftime(clock) + zone for text, m in zip(days, moments, strict=True)]
    zone_format = " %z" if zone.startswith(" ") else "%z" if zone else ""
    return texts, day, day + clock + zone_format, [moment.year for moment in moments]


def swap(form):
    return form.translate(str.maketrans("md", "dm"))


@given(date_columns())
def test_formatted_dates_come_back(column):
    texts, day, form, years = column
    converted = convert_texts(texts)
    expected = [parsed(text, [form]) for text in texts]
    has_time, is_undecided = form != day, False
    if not day.startswith("%Y") and "%b" not in day.lower():
        swapped = [parsed(text, [swap(day) + form[len(day) :]]) for text in texts]
        is_undecided = None not in swapped
        if is_undecided and ("/" in day) != day.startswith("%m"):
            day, expected = swap(day), swapped
    # "13/09/20" may also begin with the year.
    may_be_days = "%y" in day and day.startswith("%d") and all(1 <= y % 100 <= 31 for y in years)
    assert converted.kind == "date"
    assert datetimes_of(converted) == expected
    assert ("no day is above 12" in converted.what) == is_undecided
    assert ("year is not first" in converted.what) == (may_be_days and not is_undecided)
    assert ("years are 1940 to 2039" in converted.what) == ("%y" in day)
    assert next(name for name in DAY_FORMATS if day in DAY_FORMATS[name]) in converted.what
    assert ("with time" in converted.what) == has_time
    assert ("time zone" in converted.what) == ("%z" in form)
    if converted.zone:
        offset = datetime.strptime(texts[0], form).strftime("%z")
        assert converted.zone in (f"{offset[:3]}:{offset[3:]}", "UTC")
        assert (converted.zone == "UTC") == (offset == "+0000")


@given(st.data(), st.lists(st.dates(date(1000, 1, 1)), min_size=1, max_size=6))
def test_formatted_months_come_back(data, days):
    what = data.draw(st.sampled_from(list(MONTH_FORMATS)))
    form = data.draw(st.sampled_from(MONTH_FORMATS[what]))
    converted = convert_texts([day.strftime(form) for day in days])
    if converted is None:
        assert what == "months as year-month"
        assert all((day.year + 1) % 100 == day.month for day in days)  # seasons
    else:
        assert converted.values.tolist() == [day.replace(day=1) for day in days]
        assert what in converted.what


@given(st.sampled_from(TIME_FORMATS), st.lists(st.times(), min_size=1, max_size=6))
def test_formatted_times_come_back(form, times):
    texts = [each.strftime(form) for each in times]
    converted = convert_texts(texts)
    midnight = datetime(1900, 1, 1)
    expected = [parsed(text, [form]) - midnight for text in texts]
    assert converted.values.astype("m8[us]").tolist() == expected
    assert converted.what.startswith("times of day")


# ---------------------------------------------------------------- random texts


def slow_day(text, what):
    """The date in a text, in the format that the words name; an error if there is none."""
    if "quarters" in what:
        [quarter], year = re.findall("q([1-4])", text), re.sub("q[1-4]|[ -]", "", text)
        return date(int(year), (1, 4, 7, 10)[int(quarter) - 1], 1)
    if "weeks" in what:
        year, week = text.replace("-", "").split("w")
        return date.fromisocalendar(int(year), int(week), 1)
    order = re.search(r"(\w+)([-/.])(\w+)(?:[-/.](\w+))?", what)
    if "name" in what:
        *weekday, name = re.findall("[a-z]+", text)
        assert all(
            any(day.lower().startswith(each) for day in calendar.day_name) for each in weekday
        )
        numbers = [int(number) for number in re.findall("[0-9]+", text)]
        month = [each.lower() for each in calendar.month_abbr].index(name[:3])
        assert calendar.month_name[month].lower().startswith(name) or name == "sept"
        parts = {"day": 1, "month": month, "year": numbers.pop()}
        parts |= {"day": numbers.pop()} if numbers else {}
        assert not numbers
    else:
        words = [word for word in order.groups() if word in ("day", "month", "year")]
        numbers = [int(number) for number in text.split(order[2])]
        parts = {"day": 1} | dict(zip(words, numbers, strict=True))
    if parts["year"] < 100:
        parts["year"] += 2000 if parts["year"] < 40 else 1900
    return date(**parts)


def slow_clock(text):
    """The time of day in a text, before midnight of the same day in UTC if it has a zone."""
    digits, zone = re.fullmatch(
        r"([0-9:.,]+(?: ?[ap][.]?m[.]?)?) ?([a-z]+|[+-].*)?", text
    ).groups()
    hour, minute, second, *_ = [*re.sub("[ apm]+[.m]*$", "", digits).split(":"), "0"]
    after_noon = {"a": False, "p": True}.get(digits.rstrip(".m")[-1])
    if after_noon is not None:
        assert 1 <= int(hour) <= 12
        hour = int(hour) % 12 + 12 * after_noon
    whole, _, fraction = second.replace(",", ".").partition(".")
    of_day = time(int(hour), int(minute), int(whole))
    moment = datetime.combine(datetime.min, of_day) - datetime.min
    moment = np.timedelta64(moment) + np.timedelta64(int(f"{fraction:0<9}"[:9]), "ns")
    assert not fraction[9:].strip("0")
    if zone and zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[3:].strip(":") or 0)
        offset = np.timedelta64(minutes, "m")
        return moment - offset if zone[0] == "+" else moment + offset  # NumPy keeps nanoseconds
    assert zone in (None, "z", "utc", "gmt")
    return moment


def check_dates(texts, converted):
    """The values are those of the slow parsers."""
    for text, value in zip(texts, converted.values, strict=True):
        text = "".join(SAME.get(character, character) for character in text).strip().lower()
        start = re.search("[0-9]+:|$", text).start()
        if converted.what.startswith("times of day"):
            assert value == slow_clock(text)
            continue
        assert ("with time" in converted.what) == (start < len(text))
        day = slow_day(text[:start].rstrip("t, "), converted.what.partition(" with time")[0])
        of_day = slow_clock(text[start:]) if start < len(text) else np.timedelta64(0, "s")
        unit = "ns" if value.dtype == "M8[ns]" else "us"  # nanoseconds cannot count all years
        assert of_day.astype(f"m8[{unit}]") == of_day
        assert value == np.datetime64(day, unit) + of_day.astype(f"m8[{unit}]")


def check(texts, converted):
    """The values of a column are those of a slow parser for what it is said to be."""
    is_missing = np.isnan if converted.values.dtype.kind == "f" else np.isnat
    assert is_missing(converted.values).tolist() == [is_missing_text(text) for text in texts]
    present = [text for text in texts if not is_missing_text(text)]
    converted = converted._replace(values=converted.values[~is_missing(converted.values)])
    if converted.kind == "number":
        check_numbers(present, converted)
    elif converted.kind == "date":
        check_dates(present, converted)
    else:
        yes, no = converted.what.split()[0].split("/")
        found = {text.strip().lower() for text in present}
        assert found == {yes, no} or (yes == "true" and found < {yes, no})
        words = [yes if value else no for value in converted.values]
        assert [text.strip().lower() for text in present] == words


CHARACTERS = "0123456789" * 2 + ".,'-+/: $\u20ac%()eETZQPMapSepinf\u2212\u00a0"
EXAMPLES = [texts for texts, *_ in (*NUMBERS, *DATES)]
EXAMPLES += [texts for texts in NOT_CONVERTED.values() if texts]


@st.composite
def disturbed_columns(draw):
    """A column in one format, in which some characters are wrong and some texts are added."""
    texts = list(
        draw(
            st.one_of(
                st.sampled_from(EXAMPLES),
                number_columns().map(lambda column: column[0]),
                date_columns().map(lambda column: column[0]),
            )
        )
    )
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.integers(0, len(texts) - 1))
        place = draw(st.integers(0, len(texts[row])))
        n_removed = draw(st.integers(0, 1))
        added = draw(st.text(CHARACTERS, max_size=1))
        texts[row] = texts[row][:place] + added + texts[row][place + n_removed :]
    others = st.one_of(
        st.sampled_from(["NA", "", "?", "x"]), st.sampled_from(EXAMPLES).flatmap(st.sampled_from)
    )
    return draw(st.permutations(texts + draw(st.lists(others, max_size=1))))


@settings(max_examples=400)
@given(disturbed_columns())
def test_disturbed_columns_are_text_or_right(texts):
    converted = convert_texts(texts)
    if isinstance(converted, Converted):
        check(texts, converted)
    odd_one_out = numbers_but(texts)
    if odd_one_out is not None:
        assert not isinstance(converted, Converted)
        assert odd_one_out in texts
        assert not is_missing_text(odd_one_out)


@settings(max_examples=300)
@given(st.lists(st.one_of(st.text(CHARACTERS, max_size=8), st.text()), max_size=4))
def test_random_texts_are_text_or_right(texts):
    numbers_but(texts)
    converted = convert_texts(texts)
    if isinstance(converted, Converted):
        check(texts, converted)


@given(disturbed_columns(), st.randoms())
def test_the_order_of_texts_does_not_matter(texts, random):
    rows = list(range(len(texts)))
    random.shuffle(rows)
    converted, shuffled = convert_texts(texts), convert_texts([texts[row] for row in rows])
    assert type(converted) is type(shuffled)
    if isinstance(converted, Converted):
        np.testing.assert_array_equal(shuffled.values, converted.values[rows])
