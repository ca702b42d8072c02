"""Style of all figures: colours, labels and digits."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from covary.formatting import printable

# A figure, or a part of one, in the JSON format of Vega-Lite.
Spec = dict[str, Any]

# Blue and orange are distinct for colour-blind readers, on white, on black and in print.
BLUE = "#4285d0"
ORANGE = "#d9730d"
GREY = "#9aa3ad"
DARK_GREY = "#6b7280"
# Colours of levels, after Okabe and Ito: distinct for colour-blind readers.
PALETTE = (BLUE, "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#8c6bb1")
# Colours of ordered levels: viridis without its ends, which are hard to see on black or white.
SEQUENTIAL = ("#5a4fb8", "#3c78c2", "#21918c", "#4ab566", "#a3c633", "#dcb81c")
LABEL_LIMIT = 160
# Longer names of columns are shortened.
MAX_NAME = 80


def rounded(numbers: Sequence[float | None]) -> list[float | None]:
    """Return numbers with the digits that a figure can show: six digits of their range."""
    present = np.array([number for number in numbers if number is not None])
    if present.size == 0:
        return list(numbers)
    # Halves avoid overflow.
    half_range = float(present.max() / 2 - present.min() / 2)
    largest = float(np.abs(present).max() / 2)
    digits = 6 if half_range == 0 else int(np.clip(np.log10(largest / half_range) + 6, 6, 17))
    return [None if number is None else float(f"{number:.{digits}g}") for number in numbers]


def sequential_colours(n: int) -> list[str]:
    """Return colours from low to high values, evenly spaced.

    Examples
    --------
    >>> sequential_colours(3)
    ['#5a4fb8', '#36a379', '#dcb81c']

    """
    anchors = np.array([[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in SEQUENTIAL])
    at = np.linspace(0, len(SEQUENTIAL) - 1, n)
    channels = [np.interp(at, np.arange(len(SEQUENTIAL)), anchors[:, k]) for k in range(3)]
    return [
        "#" + "".join(f"{round(value):02x}" for value in rgb)
        for rgb in zip(*channels, strict=True)
    ]


def shown_label(name: object) -> str:
    """Return the name of a column as text for a figure or page; shortened if it is long."""
    label = printable(str(name)[: 100 * MAX_NAME]) or "(no name)"
    if len(label) > MAX_NAME:
        label = f"{label[: MAX_NAME * 5 // 8]}…{label[-MAX_NAME * 3 // 8 + 1 :]}"
    return isolated(label)


def joined_labels(names: Sequence[Any]) -> str:
    """Return labels of columns as text: "a", "a and b", or "a, b and c"."""
    *others, last = (shown_label(name) for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def isolated(text: str) -> str:
    """Return a text so that right-to-left letters in it do not reorder the texts around it."""
    is_right_to_left = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    return f"\u2068{text}\u2069" if is_right_to_left else text


def distinct_labels(names: Sequence[object]) -> list[str]:
    """Return the names of columns as texts that are all different."""
    labels = [shown_label(name) for name in names]
    return [
        each if labels.count(each) == 1 else f"{each} ({at})" for at, each in enumerate(labels)
    ]


def brief_label(name: object, most: int = 18) -> str:
    """Return the name of a column, shortened if it is long."""
    label = printable(name) or "(no name)"
    return isolated(label if len(label) <= most else f"{label[: most - 1]}…")
