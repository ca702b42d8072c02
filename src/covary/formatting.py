"""The text form of numbers and of names."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

# Longer lists of names are shortened.
MAX_LISTED = 8
# Longer labels are shortened.
MAX_LABEL = 40


def printable(name: object) -> str:
    r"""Return a name with its control characters escaped, so that a terminal ignores them.

    Examples
    --------
    >>> print(printable("naïve\x1b[31m"))
    naïve\x1b[31m

    """
    return "".join(
        repr(char)[1:-1] if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char
        for char in str(name)
    )


def shown_value(label: object) -> str:
    """Return a label as text: shortened, and in quotes if it is blank or begins or ends so.

    Examples
    --------
    >>> shown_value("red"), shown_value("red "), shown_value("")
    ('red', '"red "', '""')

    """
    text = str(label)
    text = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."
    return text if text and text == text.strip() else f'"{text}"'


def distinct_texts(values: Sequence[object]) -> list[str]:
    """Return values as text; numbers have five digits, or more if needed to differ.

    Examples
    --------
    >>> distinct_texts([0.123456, 7.0]), distinct_texts([1013300.0, 1013301.0])
    (['0.12346', '7'], ['1013300', '1013301'])

    """
    texts: list[str] = []
    for digits in range(5, 18):
        texts = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def short_number(number: float) -> str:
    """Return a score or a p-value as text, with four decimals or two significant digits.

    Examples
    --------
    >>> short_number(0.56789), short_number(0.0000123), short_number(0.0)
    ('0.5679', '1.2e-05', '0.0000')

    """
    return f"{number:.4f}" if abs(number) >= 0.001 or number == 0.0 else f"{number:.1e}"


def fraction_text(fraction: float) -> str:
    """Return a fraction with two decimals; no other one looks like 0 or 1.

    Examples
    --------
    >>> [fraction_text(each) for each in (0.0, 0.001, 0.256, 0.999, 1.0)]
    ['0.00', '<0.01', '0.26', '>0.99', '1.00']

    """
    return _bounded(fraction, f"{fraction:.2f}", "0.01", "0.99")


def percent_text(fraction: float) -> str:
    """Return a fraction in percent; no other one looks like 0% or 100%.

    Examples
    --------
    >>> [percent_text(each) for each in (0.0, 0.001, 0.256, 0.999, 1.0)]
    ['0%', '<1%', '26%', '>99%', '100%']

    """
    return _bounded(fraction, f"{fraction:.0%}", "1%", "99%")


def _bounded(fraction: float, text: str, least: str, most: str) -> str:
    if 0.0 < fraction < 0.005:
        return f"<{least}"
    return f">{most}" if 0.995 <= fraction < 1.0 else text


def listing(names: Sequence[object]) -> str:
    """Return names as a list in a sentence: a, b and c; only the first ones of many.

    Examples
    --------
    >>> listing("abc"), listing(range(20))
    ('a, b and c', '0, 1, 2, 3, 4, 5, 6 and 13 others')

    """
    shown = [printable(name) for name in names]
    if len(shown) > MAX_LISTED:
        shown[MAX_LISTED - 1 :] = [f"{len(shown) - MAX_LISTED + 1} others"]
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if needed.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')

    """
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def to_json_text(document: Any, options: Mapping[str, Any]) -> str:
    """Return a document as JSON text; the options are passed to `json.dumps`."""
    return json.dumps(document, **{"allow_nan": False, "default": str, **options})
