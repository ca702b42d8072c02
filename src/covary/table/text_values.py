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

from covary.array_types import AnyArray, Booleans, Floats
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
_SYMBOL = re.compile("[%$£¥¢\u20a0-\u20c0]")
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
    """

    values: AnyArray
    kind: str
    what: str


def is_missing_text(text: str) -> bool:
    """Return whether a text stands for a missing value, such as "NA"."""
    return text.strip() in _MISSING


def convert_texts(texts: Sequence[str]) -> Converted | None:
    """Return the values of distinct texts, or None if they are text or all missing.

    All texts must have the same format. If several formats are possible, the result says which
    one is assumed, or it is None if the assumption is not safe.

    >>> convert_texts(["5,126", "NA"])
    Converted(values=array([5126., nan]), kind='number',
              what='numbers with a thousands separator, such as "5,126"')
    """
    stripped = map(str.strip, texts)
    first = list(islice((text for text in stripped if text not in _MISSING), _FIRST_TEXTS))
    if not first or not _may_convert(first):
        return None
    present = [text for text in map(str.strip, texts) if text not in _MISSING]
    converted = _booleans(present) or _numbers(present, first) or _dates(present, first)
    if converted is None or len(present) == len(texts):
        return converted
    values = np.full(len(texts), "NaT" if converted.kind == "date" else np.nan, converted[0].dtype)
    values[[not is_missing_text(text) for text in texts]] = converted.values
    return converted._replace(values=values)


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
    if pair is None or {text.lower() for text in present} != set(pair):
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
        values, is_date, what, example = each.read(column)
        if is_date.all():
            return Converted(values, "date", what + _such_as(present[example]))
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
        sign, symbol = "[+-]", f"[{self.symbol}]"
        if not self.symbol:
            return rf"^(?:{sign}?(?:{number}|{_INFINITE})|\({number}\))$"
        if self.is_prefix:
            before = rf"{sign}?{symbol} ?{number}|{symbol} ?{sign}{number}"
            return rf"^(?:{before}|\({symbol} ?{number}\)|{symbol} ?\({number}\))$"
        return rf"^(?:{sign}?{number} ?{symbol}|\({number} ?{symbol}\)|\({number}\) ?{symbol})$"

    def matches(self, column: Any) -> Booleans:
        """Return for each text of an Arrow array whether it has this format."""
        return _search(column, self.pattern)

    def is_doubtful(self, column: Any) -> bool:
        """Return whether texts that all have this format may well mean something else."""
        if not self.symbol and _search(column, r"^(?:\d+|\(\d+\))$").all():
            # Codes such as "00123", and labels such as "(1)".
            return _occurs(column, r"^\(?0\d") or bool(_search(column, r"^\(").all())
        if not self.symbol and _search(column, r"^\+[\d ]{7,}$").all():
            return True  # telephone numbers
        if (self.thousands, self.decimal) == ("", "."):
            # "$1.234" is 1234 in many countries, and prices rarely have three decimals.
            is_currency = self.symbol not in ("", "%")
            return is_currency and _occurs(column, "[.]") and self._fits(".", ",", column)
        if (self.thousands, self.decimal) == (",", "."):
            if _occurs(column, "[.]"):
                return self._fits(".", ",", column)
            # A column of "1,234" has thousands, unless it has a sign of a decimal comma: numbers
            # such as "1234", or a symbol after the number.
            is_suffix = self.symbol != "" and not self.is_prefix
            return self._fits("", ",", column) and (is_suffix or _occurs(column, r"\d{4}"))
        return self.thousands == "." and bool(_search(column, _IP_ADDRESS).all())

    def _fits(self, thousands: str, decimal: str, column: Any) -> bool:
        return bool(replace(self, thousands=thousands, decimal=decimal).matches(column).all())

    def values(self, column: Any) -> Floats | None:
        """Return the numbers, or None if a large one cannot be represented exactly."""
        import pyarrow.compute as pc

        negative = _search(column, r"\(")
        column = pc.replace_substring_regex(
            column, pattern=f"[{self.symbol}{self.thousands} ()]", replacement=""
        )
        if self.decimal != ".":
            column = pc.replace_substring(column, pattern=self.decimal, replacement=".")
        texts = column.to_pylist()
        values = np.fromiter(map(float, texts), np.float64, len(texts))
        for row in np.flatnonzero(np.abs(values) >= _LARGEST_EXACT):
            if not _is_exact(texts[row].lower(), float(values[row])):
                return None
        values[negative] *= -1
        return values

    def in_words(self, column: Any) -> tuple[str, int]:
        """Return the format in words, and the position of a text that shows it."""
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
            is_example = ~replace(self, thousands=",", decimal=".").matches(column)
        else:
            is_example = is_negative
        return what, int(np.argmax(is_example))


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


def _number_formats(sample: list[str]) -> Iterator[_NumberFormat]:
    """Return the formats that the texts may have, with the most frequent symbol in them."""
    symbols = Counter(_SYMBOL.findall(" ".join(sample))).most_common(1)
    for thousands, decimal in _SEPARATORS:
        yield _NumberFormat(thousands, decimal)
        for symbol, _ in symbols:
            yield _NumberFormat(thousands, decimal, symbol)
            if symbol != "%":
                yield _NumberFormat(thousands, decimal, symbol, is_prefix=True)


def _numbers(present: list[str], first: list[str]) -> Converted | None:
    column = _arrow_texts(first)
    possible = [each for each in _number_formats(first) if each.matches(column).all()]
    column = _arrow_texts(present) if possible else None
    form = next((each for each in possible if each.matches(column).all()), None)
    if form is None or form.is_doubtful(column):
        return None
    values = form.values(column)
    if values is None:
        return None
    what, example = form.in_words(column)
    return Converted(values, "number", what + _such_as(present[example]))
