"""Columns in units of their median distance, and a warning about different units."""

from __future__ import annotations

import numpy as np

from covary import errors
from covary.array_types import Floats
from covary.prepare import Prepared

# About eight square matrices of this many rows are held at a time, 0.2 GB each.
MAX_ROWS_OF_DISTANCES = 5_000
# Columns whose ranges differ by a larger factor probably have different units.
MAX_RATIO_OF_RANGES = 100.0


def warn_about_units(measure: str, prepared: Prepared, scale: str) -> None:
    """Warn if the ranges of the columns differ a lot and the measure depends on units."""
    widths = np.ldexp(prepared.widths, prepared.exponents)
    widths = widths[widths > 0]
    if widths.size and widths.max() > MAX_RATIO_OF_RANGES * widths.min():
        errors.warn(errors.units_matter(measure, scale, widths.min(), widths.max()))


def by_median_distance(values: Floats) -> Floats:
    """Return values divided by the median distance of two rows.

    If that is 0, they are divided by their standard deviation.
    """
    from scipy.spatial.distance import pdist

    median = float(np.median(pdist(values[:, None])))
    return np.asarray(values / (median if median > 0 else values.std()))
