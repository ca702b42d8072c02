"""Style of all figures: colours, labels and digits."""

from __future__ import annotations

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
LABEL_LIMIT = 160


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


def shown_label(name: object) -> str:
    """Return the name of a column as text for a figure."""
    return printable(name) or "(no name)"


def distinct_labels(names: Sequence[object]) -> list[str]:
    """Return the names of columns as texts that are all different."""
    labels = [shown_label(name) for name in names]
    return [
        each if labels.count(each) == 1 else f"{each} ({at})" for at, each in enumerate(labels)
    ]
