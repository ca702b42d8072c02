"""The map of a table as a Vega-Lite chart."""

from __future__ import annotations

from collections.abc import Sequence

from covary.plots.figures.map_geometry import FONT_SIZE, Box, sampled
from covary.plots.figures.map_group import ARROW
from covary.plots.figures.map_shapes import HELPS, MARGIN, NUMBER_SIZE, MapLine, TableMap
from covary.plots.figures.style import BLUE, DARK_GREY, ORANGE, Spec

PANEL, START, BORDER, FAINT = "#f3f6fa", "#dbe9fa", "#8a94a0", "#e8cfae"


def map_chart(drawn: TableMap) -> Spec:
    """Return the map of a table as a chart."""
    places = _Places(drawn)
    tooltip = [{"field": "text", "type": "nominal", "title": "link"}]
    colour = {
        "field": "kind",
        "type": "nominal",
        "scale": {
            "domain": ["explains", "together", "exact", HELPS],
            "range": [BLUE, ORANGE, DARK_GREY, FAINT],
        },
        "legend": None,
    }
    dash = {"condition": {"test": "datum.kind === 'exact'", "value": [4, 3]}, "value": [1, 0]}
    name = {"type": "text", "align": "left", "baseline": "middle", "fontSize": FONT_SIZE}
    number = {"type": "text", "align": "right", "baseline": "middle", "fontSize": NUMBER_SIZE}
    panels = [_corners(panel) for panel in drawn.panels]
    boxes = [
        {
            **_corners(each.box),
            "fill": "white" if each.is_explained else START,
            "text": each.tooltip,
        }
        for each in drawn.columns
    ]
    texts = [
        {
            "left": each.box.x + MARGIN,
            "right": each.box.right - MARGIN,
            "middle": each.box.middle,
            "column": each.text,
            "number": each.number,
        }
        for each in drawn.columns
    ]
    joints = [
        {"x": each.place[0], "y": each.place[1], "kind": each.kind, "text": each.tooltip}
        for each in drawn.joints
    ]
    layers: list[Spec] = [
        {
            "data": {"values": panels},
            "mark": {"type": "rect", "color": PANEL, "cornerRadius": 8},
            "encoding": places.rectangle,
        },
        {
            "data": {"values": _points(drawn.lines)},
            "mark": {"type": "line", "opacity": 0.8, "strokeCap": "butt", "strokeJoin": "round"},
            "encoding": {
                **places.point("x", "y"),
                "detail": {"field": "line", "type": "nominal"},
                "order": {"field": "order", "type": "quantitative"},
                "strokeWidth": {"field": "width", "type": "quantitative", "scale": None},
                "strokeDash": dash,
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": _arrows(drawn.lines)},
            "mark": {"type": "point", "shape": "triangle-right", "filled": True, "opacity": 1},
            "encoding": {
                **places.point("x", "y"),
                "size": {"value": 110},
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": joints},
            "mark": {"type": "circle", "size": 60, "opacity": 1},
            "encoding": {**places.point("x", "y"), "color": colour, "tooltip": tooltip},
        },
        {
            "data": {"values": boxes},
            "mark": {"type": "rect", "cornerRadius": 6, "stroke": BORDER, "strokeWidth": 1},
            "encoding": {
                **places.rectangle,
                "fill": {"field": "fill", "type": "nominal", "scale": None},
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": texts},
            "mark": {**name, "color": "black"},
            "encoding": {
                **places.point("left", "middle"),
                "text": {"field": "column", "type": "nominal"},
            },
        },
        {
            "data": {"values": texts},
            "mark": {**number, "color": "#57606a"},
            "encoding": {
                **places.point("right", "middle"),
                "text": {"field": "number", "type": "nominal"},
            },
        },
    ]
    return {
        "description": drawn.description,
        "width": round(drawn.width),
        "height": round(drawn.height),
        "background": "white",
        "view": {"stroke": None},
        "layer": layers,
    }


class _Places:
    """How the fields of a layer give its places."""

    def __init__(self, drawn: TableMap) -> None:
        plain: Spec = {"type": "quantitative", "axis": None}
        self._across = {**plain, "scale": {"domain": [0, drawn.width], "nice": False}}
        self._down = {**plain, "scale": {"domain": [drawn.height, 0], "nice": False}}

    def point(self, x: str, y: str) -> Spec:
        """Return the encoding of points."""
        return {"x": {"field": x, **self._across}, "y": {"field": y, **self._down}}

    @property
    def rectangle(self) -> Spec:
        """The encoding of rectangles."""
        return {**self.point("x", "y"), "x2": {"field": "x2"}, "y2": {"field": "y2"}}


def _corners(box: Box) -> Spec:
    return {"x": box.x, "y": box.y, "x2": box.right, "y2": box.y + box.height}


def _points(lines: Sequence[MapLine]) -> list[Spec]:
    return [
        {
            "x": round(x, 1),
            "y": round(y, 1),
            "line": number,
            "order": order,
            "width": line.width,
            "kind": line.kind,
            "text": line.tooltip,
        }
        for number, line in enumerate(lines)
        for order, (x, y) in enumerate(sampled(line.path))
    ]


def _arrows(lines: Sequence[MapLine]) -> list[Spec]:
    return [
        {
            "x": line.path[-1].end[0] + ARROW / 3,
            "y": line.path[-1].end[1],
            "kind": line.kind,
            "text": line.tooltip,
        }
        for line in lines
        if line.has_arrow
    ]
