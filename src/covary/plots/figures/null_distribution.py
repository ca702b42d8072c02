"""Histogram of the evidence of permuted tables, with the evidence of the table itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from covary.array_types import Floats
from covary.formatting import short_number
from covary.plots.figures.style import GREY, ORANGE, Spec, rounded

BARS = 40


def null_distribution(null: Floats, observed: float, pvalue: float) -> Spec:
    """Return a histogram of the null distribution, and a line at the observed evidence.

    Parameters
    ----------
    null : the evidence of each permuted table, at least one
    observed : the evidence of the table itself
    pvalue : the p-value of the set
    """
    limits = (float(null.min()), max(float(null.max()), observed))
    counts, edges = np.histogram(null, bins=BARS, range=limits)
    ends = rounded(edges.tolist())
    bars = [
        {"from": a, "to": b, "count": k}
        for (a, b), k in zip(pairwise(ends), counts.tolist(), strict=True)
        if k > 0
    ]
    title = f"p = {short_number(pvalue)}; line: this table; bars: {null.size:,} permuted tables"
    return {
        "description": f"Histogram of the evidence of {null.size:,} permuted tables, with a line "
        f"at the evidence of this table, p = {short_number(pvalue)}",
        "title": {"text": title, "fontSize": 11, "fontWeight": "normal", "anchor": "start"},
        "width": 400,
        "height": 110,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "color": GREY},
                "encoding": {
                    "x": {
                        "field": "from",
                        "type": "quantitative",
                        "bin": {"binned": True},
                        "title": "evidence",
                        "scale": {"nice": False, "padding": 8},
                        "axis": {"labelOverlap": True, "tickCount": 6},
                    },
                    "x2": {"field": "to"},
                    "y": {"field": "count", "type": "quantitative", "title": "tables"},
                },
            },
            {
                "data": {"values": [{"at": float(f"{observed:.6g}")}]},
                "mark": {"type": "rule", "color": ORANGE, "strokeWidth": 3},
                "encoding": {"x": {"field": "at", "type": "quantitative"}},
            },
        ],
    }
