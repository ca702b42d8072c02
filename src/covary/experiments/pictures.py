"""Pictures of what experiments show, as Vega-Lite has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covary.experiments.base import Spec

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
# The width of a letter above a panel.
LETTER = 7
# Colours that stay apart for colour-blind eyes (Okabe and Ito 2008), and a grey.
LINE_COLOURS = (
    "#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8a8a8a",
)  # fmt: skip


def page(*parts: Spec) -> Spec:
    """Return a picture of some parts, one below the other."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "padding": 12,
        "config": CONFIG,
        "vconcat": list(parts),
        "spacing": 28,
    }


def tiles(
    title: str,
    cells: Sequence[dict[str, Any]],
    *,
    across: str,
    rows: Sequence[str],
    columns: Sequence[Any] | None = None,
    panels: str | None = None,
) -> Spec:
    """Return numbers between 0 and 1 as a map: the darker, the higher.

    Parameters
    ----------
    title : above it
    cells : each with ``row``, ``value`` and what is named by ``across`` and ``panels``
    across : what columns are of, and their title
    rows : in the order from above; how they are called
    columns : in their order, if numbers do not tell it
    panels : what one panel each is drawn for, side by side
    """
    x: Spec = {
        "field": across,
        "type": "ordinal",
        "title": across,
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
    if panels is None:
        return {"title": title, "data": {"values": list(cells)}, **inner}
    return {
        "title": title,
        "data": {"values": list(cells)},
        "facet": {"column": {"field": panels, "type": "nominal", "title": None}},
        "spec": inner,
        "resolve": {"scale": {"x": "independent"}},
        "spacing": _spacing(cells, across, panels),
    }


def _spacing(cells: Sequence[dict[str, Any]], across: str, panels: str) -> int:
    """Return how far panels are apart: as far as it takes for the longest name above them."""
    names = {str(cell[panels]) for cell in cells}
    narrowest = min(
        len({cell[across] for cell in cells if str(cell[panels]) == name}) for name in names
    )
    return max(12, LETTER * max(map(len, names)) - CELL["width"] * narrowest)


def lines(
    title: str,
    points: Sequence[dict[str, Any]],
    *,
    across: str,
    up: str,
    names: Sequence[str],
) -> Spec:
    """Return a line for each ``name`` of the points, on logarithmic axes."""
    ticks = sorted({point[across] for point in points})
    return {
        "title": title,
        "width": 420,
        "height": 280,
        "data": {"values": list(points)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": across,
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {"values": ticks, "grid": False, "format": ",d"},
            },
            "y": {
                "field": up,
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
