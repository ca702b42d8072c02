"""Panels of two columns of which at least one has levels: tiles, boxes and stacked shares."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from covary.plots.figures.style import (
    BLUE,
    DARK_GREY,
    GREY,
    ORANGE,
    PALETTE,
    Spec,
    brief_label,
    sequential_colours,
    shown_label,
)

LABEL_LIMIT = 130
# Two labels of at most this many characters fit into one line of a legend.
SHORT_LABEL = 13
# Tiles contain text if they are at least this large.
MIN_WIDTH_OF_TEXT = 30
MIN_HEIGHT_OF_TEXT = 11
MIN_HEIGHT_OF_TWO_LINES = 24
# Almost transparent: on white and on black, larger shares stand out more.
LIGHT_BLUE = "rgba(66, 133, 208, 0.05)"
# Rows without a level are in a strip of this height below stacks.
MISSING_STRIP = 0.06
# Points of a level are spread over the middle of its band.
JITTER_DOMAIN = [-0.35, 1.35]
# Multiples of these numbers, modulo 1, are evenly spread.
JITTER = {"xOffset": 0.7548776662, "yOffset": 0.5698402909}


# The distance of rows with a missing value from the edge, in pixels.
EDGE = 4


class LevelAxis(NamedTuple):
    """A column with levels on an axis.

    Parameters
    ----------
    name : the user's name of the column
    field : its name in the data of the figure
    levels : the texts of the levels in the order of the axis
    pooled : the text that stands for all other levels; empty if there is none
    """

    name: object
    field: str
    levels: Sequence[str]
    pooled: str = ""

    def position(self, channel: str, band: float) -> Spec:
        """Return the encoding of the axis, for bands of this width in pixels."""
        axis: Spec = {
            "labelLimit": LABEL_LIMIT,
            "labelFontSize": 10 if band >= 12 else 9,
            "labelOverlap": False,
            "labelPadding": 3 * EDGE,
            "titleLimit": 180,
            "ticks": False,
        }
        if channel == "x":
            axis["labelAngle"] = -45
        if self.pooled:
            is_pooled = f"datum.value === {json.dumps(self.pooled)}"
            axis["labelFontStyle"] = {
                "condition": {"test": is_pooled, "value": "italic"},
                "value": "normal",
            }
        return {
            "field": self.field,
            "type": "nominal",
            "title": shown_label(self.name),
            "scale": {"domain": list(self.levels)},
            "axis": axis,
        }

    def tooltip(self) -> Spec:
        return {"field": self.field, "type": "nominal", "title": shown_label(self.name)}


class LevelColours(NamedTuple):
    """A column with levels as colours.

    Parameters
    ----------
    axis : its levels
    numbers : the number of the colour of each level
    has_order : whether the levels have an order, which the colours must show
    """

    axis: LevelAxis
    numbers: Sequence[int]
    has_order: bool = False

    def color(self, field: str, title: str = "") -> Spec:
        """Return the encoding; a level has the same colour in all figures."""
        axis = self.axis
        palette: Sequence[str] = PALETTE
        if self.has_order and len(axis.levels) > 2:
            palette = sequential_colours(len(axis.levels))
        chosen = [
            DARK_GREY if level == axis.pooled else palette[number]
            for level, number in zip(axis.levels, self.numbers, strict=True)
        ]
        return {
            "field": field,
            "type": "nominal",
            "title": title or brief_label(axis.name),
            "scale": {"domain": list(axis.levels), "range": chosen},
            "legend": {
                "orient": "bottom",
                "columns": 2 if max(map(len, axis.levels), default=0) <= SHORT_LABEL else 1,
                "labelLimit": LABEL_LIMIT,
                "titleLimit": 2 * LABEL_LIMIT,
                "symbolType": "square",
                "symbolOpacity": 1,
                "symbolStrokeWidth": 0,
            },
        }


class Tiles(NamedTuple):
    """Shares of the levels of the vertical column within each level of the horizontal column.

    Parameters
    ----------
    x, y : the axes
    cells : the levels by field, ``share``, ``rows`` and ``of`` (the rows of the horizontal level)
    """

    x: LevelAxis
    y: LevelAxis
    cells: Sequence[Spec]


class Boxes(NamedTuple):
    """The distribution of the vertical column within each level of the horizontal column.

    Parameters
    ----------
    x : the horizontal axis
    boxes : the level by field, quantiles ``low``, ``q1``, ``median``, ``q3`` and ``high``, and
        ``rows``; of very few rows only the median
    """

    x: LevelAxis
    boxes: Sequence[Spec]


class Shares(NamedTuple):
    """Stacked shares of the levels of the vertical column in bins of the horizontal column.

    Parameters
    ----------
    y : the column with levels, from the top to the bottom of a stack
    x_field, y_field : the names of the positions of rows, and of the starts of segments
    segments : the ends of each segment, ``level``, ``share``, ``rows`` and ``of`` (the rows of the
        bin)
    missing : the same for rows without a value of the horizontal column
    any_missing : whether rows without a level need space at the lower edge
    edges : the ticks of the axis of a skewed column, which is logarithmic
    """

    y: LevelColours
    x_field: str
    y_field: str
    segments: Sequence[Spec]
    missing: Sequence[Spec]
    any_missing: bool = False
    edges: Sequence[float] = ()


LevelPanel = Tiles | Boxes | Shares


def jittered(channel: str) -> Spec:
    """Return the offset of rows within their band; the field is that of `jitter_of_rows`."""
    return {"field": channel, "type": "quantitative", "scale": {"domain": JITTER_DOMAIN}}


def jitter_of_rows(panel: LevelPanel | None) -> list[Spec]:
    """Return transforms that spread rows evenly within levels, always in the same way."""
    if panel is None or isinstance(panel, Shares):
        return []
    return [{"calculate": f"(datum.row * {k}) % 1", "as": name} for name, k in JITTER.items()]


def panel_title(panel: LevelPanel) -> list[str]:
    """Return what a panel shows, line by line."""
    if isinstance(panel, Tiles):
        x, y = brief_label(panel.x.name, 22), brief_label(panel.y.name, 24)
        return [f"share of {y}", f"within each {x}"]
    return ["box: middle 50%, line: middle 90%"] if isinstance(panel, Boxes) else []


# ---------------------------------------------------------------- tiles


def tile_layers(tiles: Tiles, side: int, view: str = "") -> list[Spec]:
    """Return tiles coloured by share, with text if they are large enough."""
    width, height = side / len(tiles.x.levels), side / len(tiles.y.levels)
    x, y = tiles.x.position("x", width), tiles.y.position("y", height)
    with_text = width >= MIN_WIDTH_OF_TEXT and height >= MIN_HEIGHT_OF_TEXT
    # Pooled levels would make all others pale.
    named = [cell["share"] for cell in tiles.cells if cell[tiles.y.field] != tiles.y.pooled]
    largest = max(named, default=1.0)
    color = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, largest], "range": [LIGHT_BLUE, BLUE], "clamp": True},
        "legend": None if with_text else _legend(),
    }
    layers: list[Spec] = [
        {
            **({"name": view} if view else {}),
            "data": {"values": list(tiles.cells)},
            "mark": {"type": "rect"},
            "encoding": {"x": x, "y": y, "color": color, "tooltip": _tile_tooltip(tiles)},
        }
    ]
    if with_text:
        two_lines = height >= MIN_HEIGHT_OF_TWO_LINES
        layers.append(_tile_text(tiles, (x, y), "share", ".0%", -5 if two_lines else 0))
        if two_lines:
            layers.append(_tile_text(tiles, (x, y), "rows", ",d", 6))
    return layers


def _legend() -> Spec:
    return {
        "orient": "bottom",
        "title": "share",
        "format": ".0%",
        "gradientLength": 120,
        "gradientThickness": 8,
        "tickCount": 2,
    }


def _tile_tooltip(tiles: Tiles) -> list[Spec]:
    return [
        tiles.x.tooltip(),
        tiles.y.tooltip(),
        *_count_tooltip(f"share within {brief_label(tiles.x.name)}"),
    ]


def _count_tooltip(share: str) -> list[Spec]:
    return [
        {"field": "share", "type": "quantitative", "title": share, "format": ".1%"},
        {"field": "rows", "type": "quantitative", "title": "rows", "format": ",d"},
        {"field": "of", "type": "quantitative", "title": "of", "format": ",d"},
    ]


def _tile_text(
    tiles: Tiles, position: tuple[Spec, Spec], field: str, form: str, shift: int
) -> Spec:
    x, y = position
    small = {"fontSize": 8, "opacity": 0.8} if field == "rows" else {"fontSize": 10}
    return {
        "data": {"values": list(tiles.cells)},
        "mark": {"type": "text", "dy": shift, "tooltip": None, **small},
        "encoding": {
            "x": x,
            "y": y,
            "text": {"field": field, "type": "quantitative", "format": form},
        },
    }


# ---------------------------------------------------------------- boxes


def box_layers(boxes: Boxes, y: Spec, side: int) -> tuple[list[Spec], Spec]:
    """Return boxes and their medians; rows are drawn between them."""
    x = boxes.x.position("x", side / len(boxes.x.levels))
    ends = {"title": y["title"], "type": y["type"]}
    names = {"low": "5%", "q1": "25%", "median": "median", "q3": "75%", "high": "95%"}
    tooltip = [
        boxes.x.tooltip(),
        *({"field": field, "type": y["type"], "title": name} for field, name in names.items()),
        {"field": "rows", "type": "quantitative", "title": "rows", "format": ",d"},
    ]
    data = {"values": list(boxes.boxes)}
    line = {
        "data": data,
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "color": GREY, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": {**y, **ends, "field": "low"}, "y2": {"field": "high"}},
    }
    box = {
        "data": data,
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {
            "type": "bar",
            "width": {"band": 0.7},
            "color": GREY,
            "fillOpacity": 0.35,
            "stroke": GREY,
        },
        "encoding": {
            "x": x,
            "y": {**y, **ends, "field": "q1"},
            "y2": {"field": "q3"},
            "tooltip": tooltip,
        },
    }
    median = {
        "data": data,
        "mark": {
            "type": "tick",
            "orient": "horizontal",
            "width": {"band": 0.7},
            "color": ORANGE,
            "thickness": 2.5,
        },
        "encoding": {"x": x, "y": {**y, **ends, "field": "median"}, "tooltip": tooltip},
    }
    return [line, box], median


# ---------------------------------------------------------------- stacked shares


def share_axis(shares: Shares) -> Spec:
    """Return the encoding of the vertical axis."""
    return {
        "field": shares.y_field,
        "type": "quantitative",
        "title": f"share of {shown_label(shares.y.axis.name)}",
        "scale": {"domain": [-MISSING_STRIP if shares.any_missing else 0, 1], "nice": False},
        "axis": {"format": ".0%", "titleLimit": 180, "values": [0, 0.25, 0.5, 0.75, 1]},
    }


def share_bins_axis(shares: Shares, x: Spec) -> Spec:
    """Return the encoding of the horizontal axis.

    It has space for a stack at the left edge, and is logarithmic above 0 if the column is skewed.
    """
    scale, axis = dict(x.get("scale", {})), dict(x["axis"])
    if shares.missing:
        scale |= {"nice": False, "padding": 4 * EDGE}
    if len(shares.edges):
        scale |= {"type": "symlog", "constant": next(e for e in shares.edges if e > 0)}
        axis |= {"values": list(shares.edges), "format": ",.6~g"}
    return {**x, "axis": axis, **({"scale": scale} if scale else {})}


def share_layers(shares: Shares, x: Spec, view: str = "") -> list[Spec]:
    """Return stacked segments; those of rows without a horizontal value are at the left edge."""
    x, y = share_bins_axis(shares, x), share_axis(shares)
    color = shares.y.color("level")
    bin_title = x["title"]
    tooltip = [
        {"field": "level", "type": "nominal", "title": shown_label(shares.y.axis.name)},
        {"field": shares.x_field, "type": x["type"], "title": f"{bin_title} from"},
        {"field": "x2", "type": x["type"], "title": f"{bin_title} to"},
        *_count_tooltip("share of these rows"),
    ]
    # A thin line between segments; the colour is that of neither theme.
    mark = {"type": "rect", "stroke": GREY, "strokeWidth": 0.4}
    layers: list[Spec] = [
        {
            **({"name": view} if view else {}),
            "data": {"values": list(shares.segments)},
            "mark": mark,
            "encoding": {
                "x": {**x, "field": shares.x_field},
                "x2": {"field": "x2"},
                "y": y,
                "y2": {"field": "y2"},
                "color": color,
                "tooltip": tooltip,
            },
        }
    ]
    if shares.missing:
        missing = {"field": "x", "type": "nominal", "title": bin_title}
        layers.append(
            {
                "data": {"values": list(shares.missing)},
                "mark": mark,
                "encoding": {
                    "x": {"value": 0},
                    "x2": {"value": 2 * EDGE},
                    "y": y,
                    "y2": {"field": "y2"},
                    "color": color,
                    "tooltip": [tooltip[0], missing, *tooltip[3:]],
                },
            }
        )
        layers.append(
            {
                "data": {"values": [{"text": f"missing {bin_title}"}]},
                "mark": {"type": "text", "align": "left", "fontSize": 9, "limit": LABEL_LIMIT},
                "encoding": {
                    "x": {"value": 0},
                    "y": {"value": -6},
                    "text": {"field": "text", "type": "nominal"},
                },
            }
        )
    return layers
