"""Columns of different units, and columns in units of their median distance."""

from __future__ import annotations

import numpy as np

from covary import errors
from covary.measures.rows import Floats
from covary.prepare import Prepared

# Some eight square matrices of so many rows are held at a time: 0.2 GB each.
MOST_ROWS = 5_000

# Ranges that differ by more than this are of different units.
MOST_APART = 100.0


def warn_of_units(measure: str, prepared: Prepared, scale: str) -> None:
    """Warn of columns with very different ranges, to which a measure is not blind."""
    widths = np.ldexp(prepared.widths, prepared.exponents)
    widths = widths[widths > 0]
    if widths.size and widths.max() > MOST_APART * widths.min():
        errors.warn(errors.units_matter(measure, scale, widths.min(), widths.max()))


def by_median(values: Floats) -> Floats:
    """Return values over the median distance of two rows; over their deviation if that is 0."""
    from scipy.spatial.distance import pdist

    median = float(np.median(pdist(values[:, None])))
    return np.asarray(values / (median if median > 0 else values.std()))
