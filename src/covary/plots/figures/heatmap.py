"""Heat map of the scores of all pairs of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from covary.array_types import Floats
from covary.plots.figures.style import LABEL_LIMIT, Spec, distinct_labels

CELL = 22
MAX_WIDTH = 840
CELL_WITH_NUMBER = 34
MAX_COLUMNS_WITH_NUMBERS = 14
# The colour scale does not end below this score.
LEAST_SCALE_END = 0.05


def heatmap(names: Sequence[object], scores: Floats, measure: str, n_columns: int) -> Spec:
    """Return a heat map of pair scores.

    Parameters
    ----------
    names : names of the columns, in the order of the axes
    scores : square array; the cell of a NaN stays empty
    measure : name of the measure
    n_columns : number of columns of the table; the figure may show only some of them
    """
    labels = distinct_labels(names)
    cells = [
        {"row": labels[i], "column": labels[j], "score": round(float(scores[i, j]), 4)}
        for i in range(len(labels))
        for j in range(len(labels))
        if i != j and not math.isnan(scores[i, j])
    ]
    axis = {
        "sort": labels,
        "scale": {"domain": labels},
        "axis": {"labelLimit": LABEL_LIMIT, "title": None, "ticks": False, "domain": False},
    }
    tooltip = [
        {"field": "row", "type": "nominal", "title": "column"},
        {"field": "column", "type": "nominal", "title": "other column"},
        {"field": "score", "type": "quantitative", "title": measure, "format": ".4f"},
    ]
    highest = max((cell["score"] for cell in cells), default=0.0)  # type: ignore[type-var]
    end = max(highest, LEAST_SCALE_END)  # type: ignore[call-overload]
    shade = {"scheme": "viridis", "domain": [0, end], "clamp": True}
    color = {"field": "score", "type": "quantitative", "title": measure, "scale": shade}
    layers: list[Spec] = [{"mark": {"type": "rect"}, "encoding": {"color": color}}]
    with_numbers = len(labels) <= MAX_COLUMNS_WITH_NUMBERS
    if with_numbers:
        on_light = {"test": f"datum.score > {highest} / 2", "value": "black"}
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 10},
                "encoding": {
                    "text": {"field": "score", "type": "quantitative", "format": ".2f"},
                    "color": {"condition": on_light, "value": "white"},
                },
            }
        )
    part = f" of {len(labels)} of {n_columns} columns" if len(labels) < n_columns else ""
    cell = CELL_WITH_NUMBER if with_numbers else min(CELL, MAX_WIDTH // max(len(labels), 1))
    side = cell * len(labels)
    return {
        "description": f"Heat map of the {measure} scores of all pairs of {len(labels)} columns",
        "title": f"{measure} of all pairs{part}",
        "width": side,
        "height": side,
        "data": {"values": cells},
        "encoding": {
            "x": {"field": "column", "type": "nominal", **axis},
            "y": {"field": "row", "type": "nominal", **axis},
            "tooltip": tooltip,
        },
        "layer": layers,
    }
