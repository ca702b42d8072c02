"""What chance does, and what the table does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from covary.names import shown
from covary.report.figures.style import FADED, ORANGE, Spec, rounded

BARS = 40


def null_distribution(
    null: npt.NDArray[np.float64], observed: float, pvalue: float, what: str
) -> Spec:
    """Return the evidence of permuted tables as bars, and that of the table itself as a line."""
    reach = (float(null.min()), max(float(null.max()), observed))
    counts, edges = np.histogram(null, bins=BARS, range=reach)
    ends = rounded(edges.tolist())
    bars = [
        {"from": a, "to": b, "count": k}
        for (a, b), k in zip(pairwise(ends), counts.tolist(), strict=True)
        if k > 0
    ]
    words = f"p = {shown(pvalue)}: this table (line) and {null.size:,} permuted ones (bars)"
    return {
        "description": f"Histogram of the {what} of {null.size:,} permuted tables, and that of "
        f"the table itself, p = {shown(pvalue)}",
        "title": {"text": words, "fontSize": 11, "fontWeight": "normal", "anchor": "start"},
        "width": 400,
        "height": 110,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "color": FADED},
                "encoding": {
                    "x": {
                        "field": "from",
                        "type": "quantitative",
                        "bin": {"binned": True},
                        "title": what,
                        "scale": {"nice": False, "padding": 8},
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
