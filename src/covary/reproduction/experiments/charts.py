"""Charts of the experiments, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]

INK = "#1a1a1a"
CONFIG: Spec = {
    "font": "Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "titleColor": INK, "titleFontWeight": 400, "domain": False},
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12},
    "title": {"color": INK, "anchor": "start", "fontSize": 14, "offset": 10},
    "legend": {"labelColor": INK, "titleColor": INK},
}
CELL = {"width": 38, "height": 19}
# Width of a letter in the title of a panel, in pixels.
LETTER_WIDTH = 7
# Colours for colour-blind readers (Okabe and Ito 2008), and a grey.
LINE_COLOURS = (
    "#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8a8a8a",
)  # fmt: skip


def stacked(*charts: Spec) -> Spec:
    """Return a chart with some charts below each other."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "padding": 12,
        "config": CONFIG,
        "vconcat": list(charts),
        "spacing": 28,
    }


def heatmap(
    title: str,
    cells: Sequence[dict[str, Any]],
    *,
    x_field: str,
    rows: Sequence[str],
    columns: Sequence[Any] | None = None,
    panel_field: str | None = None,
) -> Spec:
    """Return a heatmap of numbers between 0 and 1; darker is higher.

    Parameters
    ----------
    title : title of the chart
    cells : each with ``row``, ``value``, and the fields ``x_field`` and ``panel_field``
    x_field : field of the columns, and title of the axis
    rows : names of the rows, from top to bottom
    columns : the columns in order; None sorts them
    panel_field : field with one panel for each value, side by side
    """
    x: Spec = {
        "field": x_field,
        "type": "ordinal",
        "title": x_field,
        "sort": list(columns) if columns is not None else "ascending",
        "axis": {"orient": "bottom", "labelAngle": 0 if columns is None else -40, "ticks": False},
    }
    y: Spec = {
        "field": "row",
        "type": "nominal",
        "title": None,
        "sort": list(rows),
        "axis": {"ticks": False},
    }
    scale = {"domain": [0, 1], "scheme": "blues"}
    inner: Spec = {
        "width": {"step": CELL["width"]},
        "height": {"step": CELL["height"]},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white"},
                "encoding": {
                    "color": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": scale,
                        "legend": None,
                    }
                },
            },
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "text": {
                        "field": "value",
                        "type": "quantitative",
                        "format": ".2f",
                    },
                    "color": {
                        "condition": {"test": "datum.value > 0.6", "value": "white"},
                        "value": INK,
                    },
                },
            },
        ],
        "encoding": {"x": x, "y": y},
    }
    if panel_field is None:
        return {"title": title, "data": {"values": list(cells)}, **inner}
    return {
        "title": title,
        "data": {"values": list(cells)},
        "facet": {"column": {"field": panel_field, "type": "nominal", "title": None}},
        "spec": inner,
        "resolve": {"scale": {"x": "independent"}},
        "spacing": _panel_spacing(cells, x_field, panel_field),
    }


def _panel_spacing(cells: Sequence[dict[str, Any]], x_field: str, panel_field: str) -> int:
    """Return the distance between panels that the longest panel title needs."""
    names = {str(cell[panel_field]) for cell in cells}
    narrowest = min(
        len({cell[x_field] for cell in cells if str(cell[panel_field]) == name}) for name in names
    )
    return max(12, LETTER_WIDTH * max(map(len, names)) - CELL["width"] * narrowest)


def line_chart(
    title: str,
    points: Sequence[dict[str, Any]],
    *,
    x_field: str,
    y_field: str,
    names: Sequence[str],
) -> Spec:
    """Return a chart with a line for each ``name`` of the points, on logarithmic axes."""
    ticks = sorted({point[x_field] for point in points})
    return {
        "title": title,
        "width": 420,
        "height": 280,
        "data": {"values": list(points)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": x_field,
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {"values": ticks, "grid": False, "format": ",d"},
            },
            "y": {
                "field": y_field,
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {"gridOpacity": 0.5},
            },
            "color": {
                "field": "name",
                "type": "nominal",
                "title": None,
                "sort": list(names),
                "scale": {"domain": list(names), "range": list(LINE_COLOURS[: len(names)])},
                "legend": {"orient": "right", "symbolType": "stroke", "symbolStrokeWidth": 3},
            },
        },
    }
