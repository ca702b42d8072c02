"""Panels of all pairs of columns of a set: rows as points, or counts of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from covary.plots.chart_values import Scale
from covary.plots.curves import Fit
from covary.plots.figures.level_panels import (
    EDGE,
    LevelColours,
    LevelPanel,
    Shares,
    Tiles,
    box_layers,
    jitter_of_rows,
    jittered,
    panel_title,
    share_axis,
    share_bins_axis,
    share_layers,
    tile_layers,
)
from covary.plots.figures.style import BLUE, GREY, ORANGE, Spec, rounded, shown_label

SIDE = 180
SIDE_OF_ONE_PANEL = 250
POINT_SIZE = 18
MAX_BOLD_CUTS = 8
PANELS_PER_LINE = 3
# The middle of viridis: its ends are hard to see on black or on white.
COLOUR_RANGE = ["#6480d0", "#21918c", "#7ad151"]

# A form on the report sets this parameter, so rows can be marked without a mouse.
NOTHING_MARKED = {"field": None, "low": 0, "high": 0, "level": None}
IS_MARKED = (
    "mark.field === null || (isValid(datum[mark.field]) && (mark.level === null"
    " ? datum[mark.field] >= mark.low && datum[mark.field] <= mark.high"
    " : datum[mark.field] === mark.level))"
)


class Axis(NamedTuple):
    """A column of a figure.

    Parameters
    ----------
    name : the user's name of the column
    field : its name in the data of the figure
    scale : the type of its axis
    values : one per row, None if missing; empty if the figure shows counts
    whole : whether all values are whole numbers
    """

    name: object
    field: str
    scale: Scale
    values: Sequence[Any] = ()
    whole: bool = False


class PointColour(NamedTuple):
    """The column that gives points their colour, and its values at both ends of the scale."""

    axis: int
    low: float
    high: float


class Pair(NamedTuple):
    """What the panel of two columns shows besides their values.

    Parameters
    ----------
    fit : a curve
    cuts : cuts of the first column
    colour : the column that gives points their colour
    panel : the content of the panel if one of the columns has levels
    """

    fit: Fit | None = None
    cuts: Sequence[Any] = ()
    colour: PointColour | LevelColours | None = None
    panel: LevelPanel | None = None


Pairs = Mapping[tuple[int, int], Pair]


def scatter_panels(
    axes: Sequence[Axis],
    rows: Sequence[int],
    pairs: Pairs,
    key: str = "",
    fields: Mapping[str, Sequence[Any]] | None = None,
) -> Spec:
    """Return one panel with rows per pair of columns; a brush in one marks its rows in all.

    A tick at the edge is a row with a missing value in the other column.

    Parameters
    ----------
    axes : the columns
    rows : the numbers of the drawn rows, from 1
    pairs : the content of each panel
    key : a suffix for names inside the figure; if several figures form one chart, each needs its
        own, because Vega-Lite draws views with the same name from the same rows
    fields : more values of each row, by their name
    """
    values = {"row": rows, **{axis.field: axis.values for axis in axes}, **(fields or {})}
    points = [
        dict(zip(values, point, strict=True)) for point in zip(*values.values(), strict=True)
    ]
    panels = list(combinations(range(len(axes)), 2))
    side = SIDE if len(panels) > 1 else SIDE_OF_ONE_PANEL
    specs = [
        _row_panel(axes, one, other, pairs.get((one, other), Pair()), side, key)
        for one, other in panels
    ]
    brush = {
        "name": f"brush{key}",
        "select": {"type": "interval", "resolve": "global"},
        "views": [_view(axes[one], axes[other], key) for one, other in panels],
    }
    return {
        **_concatenated(specs, [axis.name for axis in axes], "Scatter plots"),
        "resolve": {"scale": {"color": "independent"}},
        "params": [brush, {"name": "mark", "value": NOTHING_MARKED}],
        "data": {"values": points},
    }


def count_panels(
    axes: Sequence[Axis], counts: Mapping[tuple[int, int], Sequence[Spec]], pairs: Pairs
) -> Spec:
    """Return one panel per pair of columns with the number of rows in each cell of a grid.

    Parameters
    ----------
    axes : the columns
    counts : for each pair without levels its cells that are not empty
    pairs : the content of each panel
    """
    pairs_of_axes = list(combinations(range(len(axes)), 2))
    side = SIDE if len(pairs_of_axes) > 1 else SIDE_OF_ONE_PANEL
    panels = []
    for one, other in pairs_of_axes:
        x_axis, y_axis, pair = axes[one], axes[other], pairs.get((one, other), Pair())
        if pair.panel is None:
            panels.append(_count_panel(x_axis, y_axis, counts[one, other], pair, side))
        else:
            behind, before = _level_layers(x_axis, y_axis, pair.panel, side)
            panels.append(_panel([*behind, *before], pair, x_axis.scale, side))
    figure = _concatenated(panels, [axis.name for axis in axes], "Counts of rows")
    if counts:
        text = "Darker cells contain more rows"
        figure["title"] = {"text": text, "fontSize": 11, "anchor": "start"}
    return {**figure, "resolve": {"scale": {"color": "independent"}}}


def _level_layers(
    x_axis: Axis, y_axis: Axis, panel: LevelPanel, side: int, view: str = ""
) -> tuple[list[Spec], list[Spec]]:
    """Return the layers of a panel with levels that are behind and before its rows."""
    if isinstance(panel, Tiles):
        return tile_layers(panel, side, view), []
    if isinstance(panel, Shares):
        return share_layers(panel, _encoding(x_axis), view), []
    behind, median = box_layers(panel, _encoding(y_axis), side)
    return behind, [median]


def _concatenated(panels: Sequence[Spec], names: Sequence[object], content: str) -> Spec:
    labels = ", ".join(shown_label(name) for name in names)
    return {
        "description": f"{content} for all pairs of the columns {labels}",
        "columns": PANELS_PER_LINE,
        "concat": list(panels),
    }


def _panel(layers: list[Spec], pair: Pair, scale: Scale, side: int) -> Spec:
    """Return a panel with the cuts behind its layers and the curve in front of them."""
    title = [] if pair.panel is None else panel_title(pair.panel)
    on_shares = isinstance(pair.panel, Shares)
    rules = _cut_rules(pair.cuts, scale, on_shares)
    layers = [*layers, *rules] if on_shares else [*rules, *layers]
    if pair.fit is not None:
        title = [f"{pair.fit.kind}, R² = {pair.fit.r2:.3f}"]
        layers.append(_curve(pair.fit))
    return {
        "width": side,
        "height": side,
        "title": {
            "text": title,
            "fontSize": 11,
            "fontWeight": "normal",
            "anchor": "start",
            "limit": side + 40,
        },
        "layer": layers,
        # Only rows have offsets within their level.
        "resolve": {"scale": {"xOffset": "independent", "yOffset": "independent"}},
    }


def _cut_rules(cuts: Sequence[Any], scale: Scale, on_shares: bool) -> list[Spec]:
    """Return dashed lines at cuts; on coloured shares, black and white."""
    if not len(cuts):
        return []
    # Many cuts would hide the points.
    width = 1.0 if len(cuts) <= MAX_BOLD_CUTS else 0.4
    dashed = {"color": "black" if on_shares else GREY, "strokeDash": [3, 3]}
    return [
        {
            "data": {"values": [{"cut": cut} for cut in cuts]},
            "mark": {"type": "rule", "strokeWidth": width, **style},
            "encoding": {"x": {"field": "cut", "type": scale}},
        }
        for style in ([{"color": "white", "opacity": 0.6}] if on_shares else []) + [dashed]
    ]


def _curve(fit: Fit) -> Spec:
    points = zip(rounded(fit.x.tolist()), rounded(fit.y.tolist()), strict=True)
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in points]},
        "mark": {"type": "line", "color": ORANGE, "strokeWidth": 2.5},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }


def _view(one: Axis, other: Axis, key: str) -> str:
    return f"points{key}_{one.field}_{other.field}"


class _Places(NamedTuple):
    """Where a panel shows rows.

    Parameters
    ----------
    x, y : encodings of both directions; levels have an offset
    visible : whether rows are visible if none is marked
    """

    x: Spec
    y: Spec
    visible: bool


def _places_of_rows(x_axis: Axis, y_axis: Axis, panel: LevelPanel | None, side: int) -> _Places:
    x: Spec = {"x": _encoding(x_axis)}
    y: Spec = {"y": _encoding(y_axis)}
    if isinstance(panel, Shares):
        x = {"x": share_bins_axis(panel, x["x"])}
        return _Places(x, {"y": share_axis(panel)}, visible=False)
    if panel is not None:
        x = {"x": panel.x.position("x", side), "xOffset": jittered("xOffset")}
    if isinstance(panel, Tiles):
        y = {"y": panel.y.position("y", side), "yOffset": jittered("yOffset")}
    return _Places(x, y, visible=not isinstance(panel, Tiles))


class _Marking(NamedTuple):
    """Which rows are marked, by a brush with this suffix or by the form of the report."""

    key: str

    @property
    def test(self) -> Spec:
        """All rows, or those that are marked."""
        return {"and": [{"param": f"brush{self.key}"}, IS_MARKED]}

    def only_marked(self, size: int) -> Spec:
        """Return encodings that hide rows, from the pointer as well, unless they are marked."""
        some = {"or": [{"param": f"brush{self.key}", "empty": False}, "mark.field !== null"]}
        test = {"and": [self.test, some]}
        return {
            "size": {"condition": {"test": test, "value": size}, "value": 0},
            "opacity": {"condition": {"test": test, "value": 0.9}, "value": 0},
        }


def _row_panel(
    axes: Sequence[Axis], one: int, other: int, pair: Pair, side: int, key: str
) -> Spec:
    x_axis, y_axis = axes[one], axes[other]
    view = _view(x_axis, y_axis, key)
    marking = _Marking(key)
    places = _places_of_rows(x_axis, y_axis, pair.panel, side)
    tooltip = [{"field": "row", "type": "quantitative", "title": "row number", "format": ",d"}]
    tooltip += [{"field": a.field, "type": a.scale, "title": shown_label(a.name)} for a in axes]
    rows: Spec = {
        "transform": [
            *jitter_of_rows(pair.panel),
            {"filter": f"isValid(datum.{x_axis.field}) && isValid(datum.{y_axis.field})"},
        ],
        "mark": {"type": "circle", "size": POINT_SIZE},
        "encoding": {**places.x, **places.y, "tooltip": tooltip},
    }
    test = marking.test
    if places.visible:
        rows["name"] = view
        rows["encoding"] |= {
            "color": {"condition": {"test": test, **_colour(axes, pair)}, "value": GREY},
            "opacity": {"condition": {"test": test, "value": 0.7}, "value": 0.25},
        }
    else:
        rows["mark"] |= {"color": "white", "stroke": "black", "strokeWidth": 0.7}
        rows["encoding"] |= marking.only_marked(POINT_SIZE)
    behind: list[Spec] = []
    before: list[Spec] = []
    if pair.panel is not None:
        behind, before = _level_layers(x_axis, y_axis, pair.panel, side, view)
    ticks = _missing_ticks((x_axis, y_axis), places, side, marking, tooltip, pair.panel)
    return _panel([*behind, rows, *before, *ticks], pair, x_axis.scale, side)


def _missing_ticks(
    axes: tuple[Axis, Axis],
    places: _Places,
    side: int,
    marking: _Marking,
    tooltip: list[Spec],
    panel: LevelPanel | None,
) -> list[Spec]:
    """Return ticks at the edges for rows with a missing value of one of the columns."""
    layers: list[Spec] = []
    values = list(zip(axes[0].values, axes[1].values, strict=True))
    # Outside of tiles, which are full.
    edge = -EDGE if isinstance(panel, Tiles) else EDGE
    edges: tuple[tuple[int, Spec, str], ...] = (
        (0, {"x": {"value": edge}, **places.y}, "horizontal"),
        (1, {**places.x, "y": {"value": side - edge}}, "vertical"),
    )
    for at, place, orient in edges:
        if not any(each[at] is None and each[1 - at] is not None for each in values):
            continue
        missing, present = axes[at], axes[1 - at]
        one_missing = f"!isValid(datum.{missing.field}) && isValid(datum.{present.field})"
        shown: Spec = {
            "color": {"condition": {"test": marking.test, "value": ORANGE}, "value": GREY}
        }
        if isinstance(panel, Shares) and at == 0:  # a stack at the edge shows all of them
            shown = {"color": {"value": "black"}, **marking.only_marked(2 * EDGE)}
        layers.append(
            {
                "transform": [*jitter_of_rows(panel), {"filter": one_missing}],
                "mark": {"type": "tick", "orient": orient, "thickness": 1.5, "size": 2 * EDGE},
                "encoding": {**place, **shown, "tooltip": tooltip},
            }
        )
    return layers


def _colour(axes: Sequence[Axis], pair: Pair) -> Spec:
    """Return the colour of points, without the condition under which they have it."""
    if pair.colour is None:
        return {"value": BLUE}
    if isinstance(pair.colour, LevelColours):
        axis = pair.colour.axis
        return pair.colour.color(axis.field, f"colour: {shown_label(axis.name)}")
    return _coloured(axes[pair.colour.axis], pair.colour)


def _coloured(axis: Axis, colour: PointColour) -> Spec:
    scale = {"domain": [colour.low, colour.high], "range": COLOUR_RANGE, "clamp": True}
    legend = {"orient": "bottom", "gradientLength": 120, "gradientThickness": 8, "tickCount": 2}
    return {
        "field": axis.field,
        "type": "quantitative",
        "title": f"colour: {shown_label(axis.name)}",
        "scale": scale,
        "legend": legend,
    }


def _encoding(axis: Axis) -> Spec:
    encoded: Spec = {
        "field": axis.field,
        "type": axis.scale,
        "title": shown_label(axis.name),
        "axis": {"titleLimit": SIDE, "labelLimit": SIDE / 2, "labelOverlap": True},
    }
    if axis.whole:
        encoded["axis"]["tickMinStep"] = 1
    if axis.scale == "quantitative":
        encoded["scale"] = {"zero": False, "nice": False, "padding": 6}
    return encoded


def _count_panel(x_axis: Axis, y_axis: Axis, cells: Sequence[Spec], pair: Pair, side: int) -> Spec:
    encoding: Spec = {
        "opacity": {
            "field": "rows",
            "type": "quantitative",
            "scale": {"type": "sqrt", "domainMin": 0, "range": [0.08, 1]},
            "legend": None,
        },
        "tooltip": [{"field": "rows", "type": "quantitative"}],
    }
    for channel, axis in (("x", x_axis), ("y", y_axis)):
        encoding[channel] = {**_encoding(axis), "field": channel}
        encoding[channel]["bin"] = {"binned": True}
        encoding[f"{channel}2"] = {"field": f"{channel}2"}
    layers: list[Spec] = [
        {"data": {"values": cells}, "mark": {"type": "rect", "color": BLUE}, "encoding": encoding}
    ]
    return _panel(layers, pair, x_axis.scale, side)
