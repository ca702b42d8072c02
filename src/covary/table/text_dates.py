"""Read dates and times of day that are written as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import AnyArray, Booleans, Integers

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG_MONTHS = (
    *("january", "february", "march", "april", "june", "july", "august", "september", "sept"),
    *("october", "november", "december"),
)


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LONG_WEEKDAYS = (
    *("monday", "tuesday", "tues", "wednesday", "thursday", "thurs", "thur", "friday"),
    *("saturday", "sunday"),
)
# The century of two-digit years. It is fixed, so that a table is read alike in every year.
_FIRST_SHORT_YEAR = 1940


def any_case(word: str) -> str:
    """Return a pattern for a word in upper and lower case.

    With the flag "i", other characters such as the long s match, too.
    """
    return "".join(f"[{letter.upper()}{letter}]" for letter in word)


# Parts of patterns. Each group is a part of a date. Arrow uses RE2, where \d is 0 to 9 only.
_YEAR = r"(?P<year>[1-9]\d{3})"
_SHORT_YEAR = r"(?P<short_year>\d{2})"
_MONTH = r"(?P<month>\d{1,2})"
_MONTH_NAME = rf"(?P<month_name>{'|'.join(map(any_case, (*_LONG_MONTHS, *_MONTHS)))})"
_DAY = r"(?P<day>\d{1,2})"
_QUARTER = r"[Qq](?P<quarter>[1-4])"
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    # The smallest unit is nanoseconds, so decimals after the ninth must be 0.
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9})0*)?)?"
    r"(?: ?(?P<half>[AaPp])(?:[Mm]|\.[Mm]\.))?"
)
_ZONE = r"(?P<zone>Z|UTC|GMT|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)"
_TIME_IF_ANY = rf"(?:(?:T|,? ){_TIME}(?: ?{_ZONE})?)?"

_WEEKDAY_IF_ANY = rf"(?:(?:{'|'.join(map(any_case, (*_LONG_WEEKDAYS, *_WEEKDAYS)))})[.]?,? )?"

_PART_OF_GROUP = {"short_year": "year", "month_name": "month", "quarter": "month"}
_PARTS_OF_TIME = ("hour", "minute", "second", "fraction", "zone")
_ABSENT = -10_000
# Days that 64 bits can count in nanoseconds.
_FIRST_DAY_IN_NS, _LAST_DAY_IN_NS = np.datetime64("1677-12-31"), np.datetime64("2262-01-01")


class DatesRead(NamedTuple):
    """What texts are in one format.

    Parameters
    ----------
    values : one per text: datetime64 or timedelta64, undefined if the text is not a date
    is_date : whether the text is a date in this format
    what : the format in words
    example : the position of a text that shows the format
    zone : the time zone of all texts; the values are in UTC. Empty if they have none
    """

    values: AnyArray
    is_date: Booleans
    what: str
    example: int
    zone: str = ""


@dataclass(frozen=True)
class DateFormat:
    """One way to write dates.

    Parameters
    ----------
    what : the format in words; {} stands for "day" or "month" if the order is to be decided
    pattern : a regular expression with a group for each part of a date
    """

    what: str
    pattern: str

    def read(self, texts: Any) -> DatesRead:
        """Return the dates in an Arrow array of texts.

        All texts must have the same order of day and month, and all or none must have a time,
        AM or PM, and a time zone. A text that differs from most others is not a date.
        """
        import pyarrow.compute as pc

        found = pc.extract_regex(texts, pattern=f"^(?:{self.pattern})$")
        is_date = found.is_valid().to_numpy(zero_copy_only=False).copy()
        rows = np.flatnonzero(is_date)
        if not rows.size:
            return DatesRead(np.full(is_date.size, "NaT", "M8[D]"), is_date, self.what, 0)
        parts = {
            _PART_OF_GROUP.get(field.name, field.name): _integers(values, field.name)
            for field, values in zip(found.type, found.drop_null().flatten(), strict=True)
        }
        what, note, example = self._decide_order(parts)
        moments, is_valid = _moments(parts)
        is_date[rows] = is_valid & _are_consistent(parts)
        zone = _common_zone(parts, is_date[rows])
        if self.pattern == _YEAR_AND_MONTH and np.all((parts["year"] + 1) % 100 == parts["month"]):
            is_date[:] = False  # "2010-11" may be a season from one year to the next
        values = np.full(is_date.size, "NaT", moments.dtype)
        values[rows] = moments
        what += _time_in_words(parts, zone) + note
        return DatesRead(values, is_date, what, int(rows[example]), zone)

    def _decide_order(self, parts: dict[str, Integers]) -> tuple[str, str, int]:
        """Add "day" and "month" to the parts; return the format, a note and an example's row."""
        what, note, example = self.what, "", 0
        if "left" in parts:
            left, right = parts["left"], parts["right"]
            n_left, n_right = np.sum(left > 12), np.sum(right > 12)
            # Contradictions are impossible dates in the order that most texts have.
            day_first = n_left > n_right if n_left or n_right else "/" not in what
            parts["day"], parts["month"] = (left, right) if day_first else (right, left)
            what = what.format(*(("day", "month") if day_first else ("month", "day")))
            note = "" if n_left or n_right else "no day is above 12"
            example = int(np.argmax(parts["day"] > 12))
        if _SHORT_YEAR in self.pattern:
            last = parts["year"] % 100
            may_be_days = bool(np.all((last >= 1) & (last <= 31)))
            if what.startswith("dates as day") and not note and may_be_days:
                note = "the year is not first"
            elif what.startswith("months") and may_be_days:
                note = "no cell has a day"
            years = f"years are {_FIRST_SHORT_YEAR} to {_FIRST_SHORT_YEAR + 99}"
            note += f"; {years}" if note else years
        return what, f" (assumed: {note})" if note else "", example


def _integers(texts: Any, group: str) -> Integers:
    """Return one part of each date as an integer, converting each distinct text once."""
    encoded = texts.dictionary_encode()
    integers = [_integer(text, group) for text in encoded.dictionary.to_pylist()]
    rows: Integers = encoded.indices.to_numpy()
    return np.array(integers, dtype=np.int64)[rows]


def _integer(text: str, group: str) -> int:
    if not text:
        return _ABSENT
    if group == "short_year":
        return (int(text) - _FIRST_SHORT_YEAR) % 100 + _FIRST_SHORT_YEAR
    if group == "month_name":
        return _MONTHS.index(text[:3].lower()) + 1
    if group == "quarter":
        return 3 * int(text) - 2
    if group == "fraction":
        return int(text.ljust(9, "0"))
    if group == "half":
        return 0 if text in "Aa" else 12
    if group == "zone":
        minutes = int(text[1:3]) * 60 + int(text[3:].strip(":") or 0) if text[0] in "+-" else 0
        return -minutes if text[0] == "-" else minutes
    return int(text)


def _are_consistent(parts: dict[str, Integers]) -> Booleans:
    """Return for each date whether it has a time, AM or PM, and a zone if most dates do."""
    is_consistent = np.array(True)
    for name in ("hour", "half", "zone"):
        if name in parts:
            is_given = parts[name] != _ABSENT
            is_consistent = is_consistent & (is_given == (2 * is_given.sum() > is_given.size))
    return is_consistent


def _common_zone(parts: dict[str, Integers], is_date: Booleans) -> str:
    """Return the time zone of the dates: their offset, UTC if it differs; empty if none."""
    offsets = np.unique(parts["zone"][is_date]) if "zone" in parts else np.array([_ABSENT])
    if not offsets.size or offsets[-1] == _ABSENT:
        return ""
    if offsets.size > 1 or offsets[0] == 0:
        return "UTC"
    hours, minutes = divmod(abs(int(offsets[0])), 60)
    return f"{'-' if offsets[0] < 0 else '+'}{hours:02}:{minutes:02}"


def _time_in_words(parts: dict[str, Integers], zone: str) -> str:
    if "year" not in parts or "hour" not in parts or parts["hour"].max() == _ABSENT:
        return ""
    if zone != "UTC":
        return f" with time, time zone {zone}" if zone else " with time"
    given = parts["zone"][parts["zone"] != _ABSENT]
    return " with time, converted to UTC" if given.any() else " with time, time zone UTC"


def _moments(parts: dict[str, Integers]) -> tuple[AnyArray, Booleans]:
    """Return datetimes, or times of day if there is no year, and whether each is possible."""
    time, is_valid = _times(parts) if "hour" in parts else (None, np.array(True))
    if "year" not in parts:
        assert time is not None
        return time, is_valid
    if "week" in parts:
        return _mondays(parts["year"], parts["week"])
    month, day = parts["month"], parts.get("day", np.int64(1))
    is_valid = is_valid & (month >= 1) & (month <= 12)
    months = ((parts["year"] - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    is_valid = is_valid & (days.astype("M8[M]") == months)
    if time is None:
        return days, is_valid
    if time.dtype == "m8[ns]":
        is_valid = is_valid & (days > _FIRST_DAY_IN_NS) & (days < _LAST_DAY_IN_NS)
    return days + time, is_valid


def _mondays(year: Integers, week: Integers) -> tuple[AnyArray, Booleans]:
    """Return the first days of ISO weeks, and whether each week exists."""

    def first(year: Integers) -> AnyArray:
        fourth = (year - 1970).astype("M8[Y]").astype("M8[D]") + 3  # 4 January is in week 1
        return np.asarray(fourth - (fourth.astype(np.int64) + 3) % 7)

    days = first(year) + 7 * (week - 1)
    return days, (week >= 1) & (days < first(year + 1))


def _times(parts: dict[str, Integers]) -> tuple[AnyArray | None, Booleans]:
    """Return times of day, None if all are absent, and whether each is possible."""
    if parts["hour"].max() == _ABSENT:
        return None, np.array(True)
    absent = np.full_like(parts["hour"], _ABSENT)
    hour, minute, second, fraction, zone = (
        np.where(part == _ABSENT, 0, part)
        for part in (parts.get(name, absent) for name in _PARTS_OF_TIME)
    )
    is_valid = (hour <= 23) & (minute <= 59) & (second <= 59)
    half = parts["half"]
    if half.max() != _ABSENT:
        is_valid &= (half == _ABSENT) | ((hour >= 1) & (hour <= 12))
        hour = np.where(half == _ABSENT, hour, hour % 12 + half)
    seconds = hour * 3600 + (minute - zone) * 60 + second
    if not fraction.any():
        return seconds.astype("m8[s]"), is_valid
    if not (fraction % 1000).any():
        return (seconds * 1_000_000 + fraction // 1000).astype("m8[us]"), is_valid
    return (seconds * 1_000_000_000 + fraction).astype("m8[ns]"), is_valid


# ---------------------------------------------------------------- formats


_YEAR_AND_MONTH = r"(?P<year>[1-9]\d{3})-(?P<month>\d{2})"


def _formats() -> Iterator[DateFormat]:
    for sign in "-/.":
        order, literal = f"dates as year{sign}month{sign}day", f"[{sign}]"
        yield DateFormat(order, literal.join([_YEAR, _MONTH, _DAY]) + _TIME_IF_ANY)
    left, right = r"(?P<left>\d{1,2})", r"(?P<right>\d{1,2})"
    for sign in "/.-":
        order, literal = f"dates as {{}}{sign}{{}}{sign}year", f"[{sign}]"
        yield DateFormat(order, literal.join([left, right, _YEAR]) + _TIME_IF_ANY)
    # "13-09-20" may be short for 2013-09-20, and "1.2.10" may be the version of a program.
    yield DateFormat("dates as {}/{}/year", f"{left}/{right}/{_SHORT_YEAR}" + _TIME_IF_ANY)
    padded = rf"(?P<left>\d{{2}})[.](?P<right>\d{{2}})[.]{_SHORT_YEAR}"
    yield DateFormat("dates as {}.{}.year", padded + _TIME_IF_ANY)
    for sign in (" ", "-", "/", ""):
        date = _WEEKDAY_IF_ANY + f"{sign}".join([_DAY, _MONTH_NAME, ""])
        yield DateFormat("dates as day, name of month, year", date + _YEAR + _TIME_IF_ANY)
        if sign:
            yield DateFormat(
                "dates as day, name of month, year", date + _SHORT_YEAR + _TIME_IF_ANY
            )
    month_first = rf"{_WEEKDAY_IF_ANY}{_MONTH_NAME}[.]? {_DAY},? {_YEAR}"
    yield DateFormat("dates as name of month, day, year", month_first + _TIME_IF_ANY)
    yield DateFormat("months as name and year", rf"{_MONTH_NAME}(?:[.]?,? |-){_YEAR}")
    yield DateFormat("months as name and year", rf"{_MONTH_NAME}-{_SHORT_YEAR}")
    yield DateFormat("months as year-month", _YEAR_AND_MONTH)
    yield DateFormat("months as month/year", rf"(?P<month>\d{{1,2}})/{_YEAR}")
    yield DateFormat("weeks, as their first days", rf"{_YEAR}-?W(?P<week>\d{{2}})")
    yield DateFormat("quarters, as their first days", f"{_YEAR}[ -]?{_QUARTER}")
    yield DateFormat("quarters, as their first days", f"{_QUARTER}[ -]?{_YEAR}")
    yield DateFormat("times of day", _TIME)


DATE_FORMATS = tuple(_formats())
