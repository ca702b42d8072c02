"""Every two columns of a set: as points, or as counts where no row shall be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

from covary.report.figures.style import BLUE, FADED, ORANGE, Spec, label, rounded
from covary.report.fits import Fit

SIDE = 180
SIDE_ALONE = 250
FEW_CUTS = 8
ABREAST = 3
CURVE = ORANGE
# The middle of viridis, whose ends vanish on black or on white.
TINTS = ["#6480d0", "#21918c", "#7ad151"]

Scale = Literal["quantitative", "temporal", "ordinal"]
# Which rows are marked without a brush, for those who have no mouse.
MARKED = {"field": None, "low": 0, "high": 0}
IS_MARKED = (
    "mark.field === null || (isValid(datum[mark.field])"
    " && datum[mark.field] >= mark.low && datum[mark.field] <= mark.high)"
)


class Axis(NamedTuple):
    """A column to be drawn.

    Parameters
    ----------
    name : what the user calls it
    field : what it is called in the data of the figure
    scale : what its values are to Vega-Lite
    values : one per row, None if missing; empty where rows are counted
    words : all values in their order, of a column of words
    whole : whether they are all whole numbers
    """

    name: object
    field: str
    scale: Scale
    values: Sequence[Any] = ()
    words: Sequence[str] = ()
    whole: bool = False


class Tint(NamedTuple):
    """Points coloured by another column, from one value to another."""

    axis: int
    low: float
    high: float


class Pair(NamedTuple):
    """What is drawn with two columns: a curve, where the first is cut, and colours."""

    fit: Fit | None = None
    cuts: Sequence[Any] = ()
    tint: Tint | None = None


Pairs = Mapping[tuple[int, int], Pair]


def of_rows(axes: Sequence[Axis], rows: Sequence[int], pairs: Pairs, key: str = "") -> Spec:
    """Return the points of every two columns; a brush in one marks the same rows in all.

    A tick at the edge is a row in which the other column is missing. Figures that are to be put
    into one chart need different keys: what has the same name is drawn with the same rows.
    """
    points = [
        {"row": row, **{axis.field: cell for axis, cell in zip(axes, cells, strict=True)}}
        for row, *cells in zip(rows, *(axis.values for axis in axes), strict=True)
    ]
    every = list(combinations(range(len(axes)), 2))
    side = SIDE if len(every) > 1 else SIDE_ALONE
    panels = [
        _points(axes, one, other, pairs.get((one, other), Pair()), side, key)
        for one, other in every
    ]
    brush = {
        "name": f"brush{key}",
        "select": {"type": "interval", "resolve": "global"},
        "views": [_view(axes[one], axes[other], key) for one, other in every],
    }
    return {
        **_together(panels, [axis.name for axis in axes], "Points"),
        "resolve": {"scale": {"color": "independent"}},
        "params": [brush, {"name": "mark", "value": MARKED}],
        "data": {"values": points},
    }


def of_counts(
    axes: Sequence[Axis], counts: Mapping[tuple[int, int], Sequence[Spec]], pairs: Pairs
) -> Spec:
    """Return how many rows there are in every cell of two columns: the darker, the more."""
    side = SIDE if len(counts) > 1 else SIDE_ALONE
    panels = [
        _counts(axes[one], axes[other], counts[one, other], pairs.get((one, other), Pair()), side)
        for one, other in combinations(range(len(axes)), 2)
    ]
    title = {"text": "The darker a cell, the more rows", "fontSize": 11, "anchor": "start"}
    return {**_together(panels, [axis.name for axis in axes], "Numbers of rows"), "title": title}


def _together(panels: Sequence[Spec], names: Sequence[object], what: str) -> Spec:
    words = ", ".join(label(name) for name in names)
    return {
        "description": f"{what} of every two of the columns {words}",
        "columns": ABREAST,
        "concat": list(panels),
    }


def _panel(layers: list[Spec], pair: Pair, scale: Scale, side: int) -> Spec:
    """Return a panel with the cuts behind and the curve before what it shows."""
    title = ""
    if len(pair.cuts):
        cuts = {"values": [{"cut": cut} for cut in pair.cuts]}
        # Where there are many they must not hide the points.
        width = 1.0 if len(pair.cuts) <= FEW_CUTS else 0.4
        mark = {"type": "rule", "color": FADED, "strokeDash": [3, 3], "strokeWidth": width}
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
    ends = zip(rounded(fit.x.tolist()), rounded(fit.y.tolist()), strict=True)
    along = [{"x": x, "y": y} for x, y in ends]
    return {
        "data": {"values": along},
        "mark": {"type": "line", "color": CURVE, "strokeWidth": 2.5},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }


def _view(one: Axis, other: Axis, key: str) -> str:
    return f"points{key}_{one.field}_{other.field}"


def _points(axes: Sequence[Axis], one: int, other: int, pair: Pair, side: int, key: str) -> Spec:
    across, down = axes[one], axes[other]
    x, y = _encoding(across), _encoding(down, upwards=True)
    marked = {"and": [{"param": f"brush{key}"}, IS_MARKED]}
    tooltip = [
        {"field": "row", "type": "quantitative", "title": "row of the table", "format": ",d"}
    ]
    tooltip += [{"field": a.field, "type": a.scale, "title": label(a.name)} for a in axes]
    color: Spec = (
        {"value": BLUE} if pair.tint is None else _tinted(axes[pair.tint.axis], pair.tint)
    )
    layers: list[Spec] = [
        {
            "name": _view(across, down, key),
            "transform": [
                {"filter": f"isValid(datum.{across.field}) && isValid(datum.{down.field})"}
            ],
            "mark": {"type": "circle", "size": 18},
            "encoding": {
                "x": x,
                "y": y,
                "color": {"condition": {"test": marked, **color}, "value": FADED},
                "opacity": {"condition": {"test": marked, "value": 0.7}, "value": 0.25},
                "tooltip": tooltip,
            },
        }
    ]
    cells = list(zip(across.values, down.values, strict=True))
    edges = [
        (
            across,
            {"x": {"value": 4}, "y": y},
            "horizontal",
            any(a is None for a, b in cells if b is not None),
        ),
        (
            down,
            {"x": x, "y": {"value": side - 4}},
            "vertical",
            any(b is None for a, b in cells if a is not None),
        ),
    ]
    for missing, place, orient, any_missing in edges:
        if any_missing:
            there = down if missing is across else across
            lacks = f"!isValid(datum.{missing.field}) && isValid(datum.{there.field})"
            layers.append(
                {
                    "transform": [{"filter": lacks}],
                    "mark": {"type": "tick", "orient": orient, "thickness": 1.5, "size": 8},
                    "encoding": {
                        **place,
                        "color": {"condition": {"test": marked, "value": ORANGE}, "value": FADED},
                        "tooltip": tooltip,
                    },
                }
            )
    return _panel(layers, pair, across.scale, side)


def _tinted(axis: Axis, tint: Tint) -> Spec:
    scale = {"domain": [tint.low, tint.high], "range": TINTS, "clamp": True}
    legend = {"orient": "bottom", "gradientLength": 120, "gradientThickness": 8, "tickCount": 2}
    return {
        "field": axis.field,
        "type": "quantitative",
        "title": f"colour: {label(axis.name)}",
        "scale": scale,
        "legend": legend,
    }


def _encoding(axis: Axis, *, upwards: bool = False) -> Spec:
    encoded: Spec = {
        "field": axis.field,
        "type": axis.scale,
        "title": label(axis.name),
        "axis": {"titleLimit": SIDE, "labelLimit": SIDE / 2, "labelOverlap": True},
    }
    if axis.scale == "ordinal":
        encoded["sort"] = list(axis.words)[:: -1 if upwards else 1]
    if axis.whole:
        encoded["axis"]["tickMinStep"] = 1
    if axis.scale == "quantitative":
        encoded["scale"] = {"zero": False, "nice": False, "padding": 6}
    return encoded


def _counts(one: Axis, other: Axis, cells: Sequence[Spec], pair: Pair, side: int) -> Spec:
    encoding: Spec = {
        "opacity": {
            "field": "rows",
            "type": "quantitative",
            "scale": {"type": "sqrt", "domainMin": 0, "range": [0.08, 1]},
            "legend": None,
        },
        "tooltip": [{"field": "rows", "type": "quantitative"}],
    }
    for channel, axis in (("x", one), ("y", other)):
        encoding[channel] = {**_encoding(axis, upwards=channel == "y"), "field": channel}
        if axis.scale != "ordinal":
            encoding[channel]["bin"] = {"binned": True}
            encoding[f"{channel}2"] = {"field": f"{channel}2"}
    layers: list[Spec] = [
        {"data": {"values": cells}, "mark": {"type": "rect", "color": BLUE}, "encoding": encoding}
    ]
    return _panel(layers, pair, one.scale, side)
