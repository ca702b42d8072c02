"""Panels of all pairs of columns of a set: rows as points, or counts of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from covary.plots.chart_values import Scale
from covary.plots.curves import Fit
from covary.plots.figures.style import BLUE, GREY, ORANGE, Spec, rounded, shown_label

SIDE = 180
SIDE_OF_ONE_PANEL = 250
MAX_BOLD_CUTS = 8
PANELS_PER_LINE = 3
# The middle of viridis: its ends are hard to see on black or on white.
COLOUR_RANGE = ["#6480d0", "#21918c", "#7ad151"]

# A form on the report sets this parameter, so rows can be marked without a mouse.
NOTHING_MARKED = {"field": None, "low": 0, "high": 0}
IS_MARKED = (
    "mark.field === null || (isValid(datum[mark.field])"
    " && datum[mark.field] >= mark.low && datum[mark.field] <= mark.high)"
)


class Axis(NamedTuple):
    """A column of a figure.

    Parameters
    ----------
    name : the user's name of the column
    field : its name in the data of the figure
    scale : the type of its axis
    values : one per row, None if missing; empty if the figure shows counts
    categories : all labels in their order, if the column is categorical
    whole : whether all values are whole numbers
    """

    name: object
    field: str
    scale: Scale
    values: Sequence[Any] = ()
    categories: Sequence[str] = ()
    whole: bool = False


class PointColour(NamedTuple):
    """The column that gives points their colour, and its values at both ends of the scale."""

    axis: int
    low: float
    high: float


class Pair(NamedTuple):
    """The additions to the panel of two columns: a curve, cuts of the first, and a colour."""

    fit: Fit | None = None
    cuts: Sequence[Any] = ()
    colour: PointColour | None = None


Pairs = Mapping[tuple[int, int], Pair]


def scatter_panels(axes: Sequence[Axis], rows: Sequence[int], pairs: Pairs, key: str = "") -> Spec:
    """Return one scatter plot per pair of columns; a brush in one marks its rows in all.

    A tick at the edge is a row with a missing value in the other column.

    Parameters
    ----------
    axes : the columns
    rows : the numbers of the drawn rows, from 1
    pairs : the additions to each panel
    key : a suffix for names inside the figure; if several figures form one chart, each needs its
        own, because Vega-Lite draws views with the same name from the same rows
    """
    points = [
        {"row": row, **{axis.field: value for axis, value in zip(axes, values, strict=True)}}
        for row, *values in zip(rows, *(axis.values for axis in axes), strict=True)
    ]
    panels = list(combinations(range(len(axes)), 2))
    side = SIDE if len(panels) > 1 else SIDE_OF_ONE_PANEL
    specs = [
        _scatter_panel(axes, one, other, pairs.get((one, other), Pair()), side, key)
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
    counts : for each pair its cells that are not empty
    pairs : the additions to each panel
    """
    side = SIDE if len(counts) > 1 else SIDE_OF_ONE_PANEL
    panels = [
        _count_panel(
            axes[one], axes[other], counts[one, other], pairs.get((one, other), Pair()), side
        )
        for one, other in combinations(range(len(axes)), 2)
    ]
    title = {"text": "Darker cells contain more rows", "fontSize": 11, "anchor": "start"}
    names = [axis.name for axis in axes]
    return {**_concatenated(panels, names, "Counts of rows"), "title": title}


def _concatenated(panels: Sequence[Spec], names: Sequence[object], content: str) -> Spec:
    labels = ", ".join(shown_label(name) for name in names)
    return {
        "description": f"{content} for all pairs of the columns {labels}",
        "columns": PANELS_PER_LINE,
        "concat": list(panels),
    }


def _panel(layers: list[Spec], pair: Pair, scale: Scale, side: int) -> Spec:
    """Return a panel with the cuts behind its layers and the curve in front of them."""
    title = ""
    if len(pair.cuts):
        cuts = {"values": [{"cut": cut} for cut in pair.cuts]}
        # Many cuts would hide the points.
        width = 1.0 if len(pair.cuts) <= MAX_BOLD_CUTS else 0.4
        mark = {"type": "rule", "color": GREY, "strokeDash": [3, 3], "strokeWidth": width}
        at = {"x": {"field": "cut", "type": scale}}
        layers.insert(0, {"data": cuts, "mark": mark, "encoding": at})
    if pair.fit is not None:
        title = f"{pair.fit.kind}, R² = {pair.fit.r2:.3f}"
        layers.append(_curve(pair.fit))
    return {
        "width": side,
        "height": side,
        "title": {"text": title, "fontSize": 11, "fontWeight": "normal", "anchor": "start"},
        "layer": layers,
    }


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


def _scatter_panel(
    axes: Sequence[Axis], one: int, other: int, pair: Pair, side: int, key: str
) -> Spec:
    x_axis, y_axis = axes[one], axes[other]
    x, y = _encoding(x_axis), _encoding(y_axis, vertical=True)
    marked = {"and": [{"param": f"brush{key}"}, IS_MARKED]}
    tooltip = [{"field": "row", "type": "quantitative", "title": "row number", "format": ",d"}]
    tooltip += [{"field": a.field, "type": a.scale, "title": shown_label(a.name)} for a in axes]
    color: Spec = (
        {"value": BLUE} if pair.colour is None else _coloured(axes[pair.colour.axis], pair.colour)
    )
    layers: list[Spec] = [
        {
            "name": _view(x_axis, y_axis, key),
            "transform": [
                {"filter": f"isValid(datum.{x_axis.field}) && isValid(datum.{y_axis.field})"}
            ],
            "mark": {"type": "circle", "size": 18},
            "encoding": {
                "x": x,
                "y": y,
                "color": {"condition": {"test": marked, **color}, "value": GREY},
                "opacity": {"condition": {"test": marked, "value": 0.7}, "value": 0.25},
                "tooltip": tooltip,
            },
        }
    ]
    values = list(zip(x_axis.values, y_axis.values, strict=True))
    edges = [
        (
            x_axis,
            {"x": {"value": 4}, "y": y},
            "horizontal",
            any(a is None for a, b in values if b is not None),
        ),
        (
            y_axis,
            {"x": x, "y": {"value": side - 4}},
            "vertical",
            any(b is None for a, b in values if a is not None),
        ),
    ]
    for missing, place, orient, any_missing in edges:
        if any_missing:
            present = y_axis if missing is x_axis else x_axis
            one_missing = f"!isValid(datum.{missing.field}) && isValid(datum.{present.field})"
            layers.append(
                {
                    "transform": [{"filter": one_missing}],
                    "mark": {"type": "tick", "orient": orient, "thickness": 1.5, "size": 8},
                    "encoding": {
                        **place,
                        "color": {"condition": {"test": marked, "value": ORANGE}, "value": GREY},
                        "tooltip": tooltip,
                    },
                }
            )
    return _panel(layers, pair, x_axis.scale, side)


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


def _encoding(axis: Axis, *, vertical: bool = False) -> Spec:
    encoded: Spec = {
        "field": axis.field,
        "type": axis.scale,
        "title": shown_label(axis.name),
        "axis": {"titleLimit": SIDE, "labelLimit": SIDE / 2, "labelOverlap": True},
    }
    if axis.scale == "ordinal":
        encoded["sort"] = list(axis.categories)[:: -1 if vertical else 1]
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
        encoding[channel] = {**_encoding(axis, vertical=channel == "y"), "field": channel}
        if axis.scale != "ordinal":
            encoding[channel]["bin"] = {"binned": True}
            encoding[f"{channel}2"] = {"field": f"{channel}2"}
    layers: list[Spec] = [
        {"data": {"values": cells}, "mark": {"type": "rect", "color": BLUE}, "encoding": encoding}
    ]
    return _panel(layers, pair, x_axis.scale, side)
