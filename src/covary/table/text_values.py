"""Find out what a column of texts contains: numbers, booleans, dates, or only text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from covary import errors
from covary.array_types import AnyArray, Booleans, Floats
from covary.table.table import Ambiguous
from covary.table.text_dates import DATE_FORMATS, DateFormat, any_case

_MISSING = frozenset(
    (
        *("", "?", "-", "--", "---", "–", "—", ".", "..", "...", "NA", "na", "N/A", "n/a", "N.A."),  # noqa: RUF001
        *("n.a.", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "NaT"),
        *("null", "NULL", "Null", "None", r"\N", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"),
        # errors of spreadsheets
        *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
    )
)
_BOOLEANS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("on", "off"))
# Characters that look like another one and have the same meaning.
_SAME_CHARACTERS = {"\u2212": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"}
_CURRENCIES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW"
_SYMBOL = re.compile(rf"[%$£¥¢\u20a0-\u20c0]|\b(?:{_CURRENCIES})\b")
_UNIT = re.compile(r"[+-]?\d[\d.,]* ?([^\W\d_]{1,8}[²³]?)")
_SHORT_DATE = re.compile(r"\d{2}-\d{2}-\d{2}")
_DIGIT_OR_INFINITE = re.compile(r"[0-9]|^[+\-\u2212]?inf(inity)?$", re.IGNORECASE)
# Thousands separator and decimal sign, in the order of preference.
_SEPARATORS = (
    *(("", "."), (",", "."), ("", ","), (".", ",")),
    *((" ", "."), (" ", ","), ("'", "."), ("'", ",")),
)
_INFINITE = rf"{any_case('inf')}(?:{any_case('inity')})?"
_IP_ADDRESS = r"^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:[.](?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$"
_LARGEST_EXACT = 2**53
_FIRST_TEXTS = 100
_SAMPLE_TEXTS = 1000
_MAX_EXAMPLE = 40


class Converted(NamedTuple):
    """What the distinct texts of a column stand for.

    Parameters
    ----------
    values : one per text: floats for numbers and booleans, datetime64 for dates, timedelta64 for
        times of day; NaN or NaT if missing
    kind : "number", "boolean" or "date"
    what : the format in words
    zone : the time zone of dates; the values are in UTC. Empty if they have none
    decimal : the decimal sign of numbers, "," or "."; "?" if a separator may also be the other
        one, and empty if there is no separator
    """

    values: AnyArray
    kind: str
    what: str
    zone: str = ""
    decimal: str = ""


# As a list, for Arrow.
MISSING_TEXTS = sorted(_MISSING)


def point_decimals(column: Any) -> str:
    """Return the decimal sign of plain numbers in an Arrow array: "." or "?" (see `Converted`)."""
    return _NumberFormat("", ".").certain_decimal(column)


def is_missing_text(text: str) -> bool:
    """Return whether a text stands for a missing value, such as "NA"."""
    return text.strip() in _MISSING


def convert_texts(texts: Sequence[str], decimal: str = "") -> Converted | str | None:
    """Return the values of distinct texts, or None if they are text or all missing.

    All texts must have the same format. If several formats are possible, the result says which
    one is assumed. If no assumption is safe, the result is a reason in words.

    Parameters
    ----------
    decimal : the decimal sign in other columns of the table; empty if it is unknown

    >>> convert_texts(["5,126", ""])
    Converted(values=array([5126., nan]), kind='number',
              what='numbers with a thousands separator (assumed), such as "5,126"',
              zone='', decimal='?')
    """
    stripped = map(str.strip, texts)
    first = list(islice((text for text in stripped if text not in _MISSING), _FIRST_TEXTS))
    if not first or not _may_convert(first):
        return None
    present = [text for text in map(str.strip, texts) if text not in _MISSING]
    converted = _booleans(present) or _numbers(present, first, decimal) or _dates(present, first)
    if not isinstance(converted, Converted):
        return converted or _doubt(present, first)
    what, such_as, example = converted.what.partition(", such as ")
    converted = converted._replace(what=what + missing_note(texts) + such_as + example)
    if len(present) == len(texts):
        return converted
    values = np.full(len(texts), "NaT" if converted.kind == "date" else np.nan, converted[0].dtype)
    values[[not is_missing_text(text) for text in texts]] = converted.values
    return converted._replace(values=values)


def missing_note(texts: Sequence[str]) -> str:
    """Return which of the texts are treated as missing; empty if none is, or only empty ones."""
    markers = dict.fromkeys(
        text.strip() for text in texts if is_missing_text(text) and text.strip()
    )
    return f"; {errors.missing_markers(markers)}" if markers else ""


def _doubt(present: list[str], first: list[str]) -> str | None:
    """Return why texts with numbers are not numbers or dates; None if they are only text."""
    if all(map(_SHORT_DATE.fullmatch, first)) and all(map(_SHORT_DATE.fullmatch, present)):
        return errors.short_dates_reason()
    return None


def unit_reason(texts: Sequence[str]) -> str | None:
    """Return why texts are not numbers if they are numbers with the same unit; otherwise None."""
    matches = [_UNIT.fullmatch(text.strip()) for text in texts if not is_missing_text(text)]
    units = {match and match[1] for match in matches}
    unit = units.pop() if len(units) == 1 else None
    return None if unit is None else errors.unit_reason(unit)


def numbers_but(texts: Sequence[str]) -> str | None:
    """Return the first text that is not a number or date, if at least half of the texts are.

    The result is None if fewer are, or all. Missing texts do not count, and only texts in the
    most frequent format do.
    """
    present = [text for text in texts if not is_missing_text(text)]
    sample = [text.strip() for text in present[:: max(1, len(present) // _SAMPLE_TEXTS)]]
    if not present or 2 * sum(map(bool, map(_DIGIT_OR_INFINITE.search, sample))) < len(sample):
        return None
    column = _arrow_texts(sample)
    formats: list[_NumberFormat | DateFormat] = [*_number_formats(sample), *DATE_FORMATS]
    counts = [int(_matches(each, column).sum()) for each in formats]
    if max(counts) == 0:
        return None
    column = _arrow_texts([text.strip() for text in present])
    best = [each for each, n in zip(formats, counts, strict=True) if n == max(counts)]
    matches = max((_matches(each, column) for each in best), key=np.sum)
    if matches.all() or 2 * matches.sum() < matches.size:
        return None
    return present[int(np.argmin(matches))]


def _may_convert(first: list[str]) -> bool:
    """Return whether the first texts may be numbers, dates or booleans; this is fast."""
    if all(map(_DIGIT_OR_INFINITE.search, first)):
        return True
    return any({text.lower() for text in first} <= set(words) for words in _BOOLEANS)


def _arrow_texts(texts: list[str]) -> Any:
    """Return texts as an Arrow array, with one character for all that have the same meaning."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        column = pa.array(texts, pa.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair, which is in no number
        texts = [text.encode(errors="replace").decode() for text in texts]
        column = pa.array(texts, pa.large_string())
    for other, character in _SAME_CHARACTERS.items():
        column = pc.replace_substring(column, pattern=other, replacement=character)
    return column


def _matches(form: _NumberFormat | DateFormat, column: Any) -> Booleans:
    return form.read(column).is_date if isinstance(form, DateFormat) else form.matches(column)


def _such_as(text: str) -> str:
    shown = text if len(text) <= _MAX_EXAMPLE else text[: _MAX_EXAMPLE - 3] + "..."
    return f', such as "{shown}"'


# ---------------------------------------------------------------- booleans and dates


def _booleans(present: list[str]) -> Converted | None:
    pair = next((each for each in _BOOLEANS if present[0].lower() in each), None)
    if pair is None:
        return None
    words = {text.lower() for text in present}
    if words != set(pair) and not ("true" in pair and words < set(pair)):
        return None
    what = "/".join(pair) + ("" if "true" in pair else " as true/false")
    return Converted(
        np.array([text.lower() == pair[0] for text in present], float), "boolean", what
    )


def _dates(present: list[str], first: list[str]) -> Converted | None:
    column = _arrow_texts(first)
    possible = [each for each in DATE_FORMATS if each.read(column).is_date.all()]
    column = _arrow_texts(present) if possible else None
    for each in possible:
        values, is_date, what, example, zone = each.read(column)
        if is_date.all():
            return Converted(values, "date", what + _such_as(present[example]), zone)
    return None


# ---------------------------------------------------------------- numbers


@dataclass(frozen=True)
class _NumberFormat:
    """One way to write numbers.

    Parameters
    ----------
    thousands : the thousands separator; empty if there is none
    decimal : the decimal sign
    symbol : the percent or currency sign of every number; empty if there is none
    is_prefix : whether the symbol stands before the number
    """

    thousands: str
    decimal: str
    symbol: str = ""
    is_prefix: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression for the whole text."""
        integer, exponent = r"\d+", r"(?:[eE][+-]?\d+)?"
        if self.thousands:
            integer = rf"(?:[1-9]\d{{0,2}}(?:[{self.thousands}]\d{{3}})+|0|[1-9]\d*)"
            exponent = ""
        decimals = r"(?:[.]\d*)?" if self.decimal == "." else r"(?:,\d+)?"
        number = rf"(?:(?:{integer}{decimals}|[{self.decimal}]\d+){exponent})"
        # Numbers in parentheses are negative, as in accounts.
        sign, symbol = "[+-]", f"(?:{re.escape(self.symbol)})"
        if not self.symbol:
            return rf"^(?:{sign}?(?:{number}|{_INFINITE})|\({number}\))$"
        if self.is_prefix:
            before = rf"{sign}?{symbol} ?{number}|{symbol} ?{sign}{number}"
            return rf"^(?:{before}|\({symbol} ?{number}\)|{symbol} ?\({number}\))$"
        return rf"^(?:{sign}?{number} ?{symbol}|\({number} ?{symbol}\)|\({number}\) ?{symbol})$"

    def matches(self, column: Any) -> Booleans:
        """Return for each text of an Arrow array whether it has this format."""
        return _search(column, self.pattern)

    def is_text(self, column: Any) -> bool:
        """Return whether texts that all have this format are codes, labels or addresses."""
        if not self.symbol and _search(column, r"^(?:\d+|\(\d+\))$").all():
            # Codes such as "00123", and labels such as "(1)".
            return _occurs(column, r"^\(?0\d") or bool(_search(column, r"^\(").all())
        if not self.symbol and _search(column, r"^\+[\d ]{7,}$").all():
            return True  # telephone numbers
        return self.thousands == "." and bool(_search(column, _IP_ADDRESS).all())

    def certain_decimal(self, column: Any) -> str:
        """Return the decimal sign of texts that all have this format.

        The result is "?" if they also have a format with the other decimal sign, and empty if
        they have neither comma nor point.
        """
        if not _occurs(column, "[,.]"):
            return ""
        others = (
            replace(self, thousands=t, decimal=d) for t, d in _SEPARATORS if d != self.decimal
        )
        first = column[:_FIRST_TEXTS]
        others = (each for each in others if each.matches(first).all())
        return "?" if any(each.matches(column).all() for each in others) else self.decimal

    def is_doubtful(self, column: Any) -> bool:
        """Return whether texts with an uncertain decimal sign may well mean something else."""
        if self.thousands == "":
            # "$1.234" is 1234 in many countries, and prices rarely have three decimals.
            return self.symbol not in ("", "%")
        if _occurs(column, "[.]"):
            return True
        # A column of "1,234" has thousands, unless it has a sign of a decimal comma: numbers such
        # as "1234", or a symbol after the number.
        is_suffix = self.symbol != "" and not self.is_prefix
        return is_suffix or _occurs(column, r"\d{4}")

    def values(self, column: Any) -> Floats | None:
        """Return the numbers, or None if a large one cannot be represented exactly."""
        import pyarrow.compute as pc

        negative = _search(column, r"\(")
        other = f"[{self.thousands} ()]" + (f"|{re.escape(self.symbol)}" if self.symbol else "")
        column = pc.replace_substring_regex(column, pattern=other, replacement="")
        if self.decimal != ".":
            column = pc.replace_substring(column, pattern=self.decimal, replacement=".")
        values = np.array(column.cast("double"))
        for row in np.flatnonzero(np.abs(values) >= _LARGEST_EXACT):
            if not _is_exact(column[row].as_py().lower(), float(values[row])):
                return None
        values[negative] *= -1
        return values

    def in_words(self, column: Any, note: str = "") -> tuple[str, int | None]:
        """Return the format in words, and the position of a text that shows it, if needed."""
        nouns = {"": "numbers", "%": "percentages"}
        what = nouns.get(self.symbol, f"amounts in {self.symbol}")
        has_comma = self.decimal == "," and _occurs(column, ",")
        details = ["a thousands separator"] if self.thousands else []
        details += ["a decimal comma"] if has_comma else []
        what += f" with {' and '.join(details)}" if details else ""
        is_negative = _search(column, r"\(")
        if is_negative.any():
            what += ", negative in parentheses"
        if self.thousands:
            is_example = _search(column, f"[{self.thousands}]")
        elif has_comma:  # a text whose comma is not a thousands separator
            has_comma_here = _search(column, ",")
            is_certain = ~replace(self, thousands=",", decimal=".").matches(column)
            is_example = has_comma_here & is_certain if is_certain.any() else has_comma_here
        elif not self.symbol and not is_negative.any():
            return what, None
        else:
            is_example = is_negative
        return what + note, int(np.argmax(is_example))


def _is_exact(text: str, value: float) -> bool:
    """Return whether a large number is not rounded; with an exponent it only must be finite."""
    if "e" in text:
        return math.isfinite(value)
    return "inf" in text or Decimal(text) == Decimal(value)


def _search(column: Any, pattern: str) -> Booleans:
    import pyarrow.compute as pc

    found = pc.match_substring_regex(column, pattern=pattern)
    matches: Booleans = found.to_numpy(zero_copy_only=False)
    return matches


def _occurs(column: Any, pattern: str) -> bool:
    return bool(_search(column, pattern).any())


def _number_formats(sample: list[str], decimal: str = "") -> Iterator[_NumberFormat]:
    """Return the formats that the texts may have, with the most frequent symbol in them.

    Formats with the given decimal sign come first.
    """
    symbols = Counter(_SYMBOL.findall(" ".join(sample))).most_common(1)
    for thousands, sign in sorted(_SEPARATORS, key=lambda each: decimal not in ("", each[1])):
        yield _NumberFormat(thousands, sign)
        for symbol, _ in symbols:
            yield _NumberFormat(thousands, sign, symbol)
            if symbol != "%":
                yield _NumberFormat(thousands, sign, symbol, is_prefix=True)


def _numbers(present: list[str], first: list[str], decimal: str) -> Converted | str | None:
    column = _arrow_texts(first)
    possible = [each for each in _number_formats(first, decimal) if each.matches(column).all()]
    column = _arrow_texts(present) if possible else None
    form = next((each for each in possible if each.matches(column).all()), None)
    if form is None or form.is_text(column):
        return None
    found, note = form.certain_decimal(column), ""
    if found == "?":
        is_plain = form == _NumberFormat("", ".")
        if form.decimal == decimal:
            note = "" if is_plain else " (as in other columns)"
        elif form.is_doubtful(column):
            doubtful = present[int(np.argmax(_search(column, "[,.]")))]
            return Ambiguous(errors.separator_reason(doubtful))
        else:
            note = " (assumed)"
    values = form.values(column)
    if values is None:
        return errors.lost_digits_reason()
    what, example = form.in_words(column, note)
    such_as = "" if example is None else _such_as(present[example])
    return Converted(values, "number", what + such_as, decimal=found)
