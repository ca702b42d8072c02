"""What all figures share: colours that everybody can tell apart, and names as labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from covary.names import printable

Spec = dict[str, Any]

# Blue and orange differ for the colour-blind, on white and on black, and in grey.
BLUE = "#4285d0"
ORANGE = "#d9730d"
FADED = "#9aa3ad"
LABEL_LIMIT = 160


def rounded(numbers: Sequence[float | None]) -> list[float | None]:
    """Return numbers with as many digits as it takes to tell them apart in a figure."""
    known = np.array([number for number in numbers if number is not None])
    if known.size == 0:
        return list(numbers)
    reach, largest = float(known.max() / 2 - known.min() / 2), float(np.abs(known).max() / 2)
    digits = 6 if reach == 0 else int(np.clip(np.log10(largest / reach) + 6, 6, 17))
    return [None if number is None else float(f"{number:.{digits}g}") for number in numbers]


def label(name: object) -> str:
    """Return the name of a column as it is shown."""
    return printable(name) or "(no name)"


def distinct_labels(names: Sequence[object]) -> list[str]:
    """Return names that can be shown, all of them different."""
    labels = [label(name) for name in names]
    return [
        each if labels.count(each) == 1 else f"{each} ({at})" for at, each in enumerate(labels)
    ]
