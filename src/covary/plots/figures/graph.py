"""Graph of the columns, with arrows from explaining columns to explained columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from covary.plots.figures.graph_layout import (
    CHARACTER_WIDTH,
    LABEL_ABOVE,
    LABEL_BELOW,
    NUMBER_OFFSET,
    Label,
    graph_layout,
    label_side,
    line_geometry,
)
from covary.plots.figures.style import BLUE, LABEL_LIMIT, ORANGE, Spec, distinct_labels

MAX_RELATIONS_WITH_NUMBERS = 40


class Relation(NamedTuple):
    """A target and its explaining columns, given by their numbers.

    Parameters
    ----------
    by : one explaining column, or several that explain the target together
    target : the explained column
    explained : the explained fraction, or a score if the measure does not explain
    directed : whether the relation has a direction
    """

    by: tuple[int, ...]
    target: int
    explained: float
    directed: bool = True


class _Line(NamedTuple):
    start: Hashable
    end: Hashable
    relation: Relation


def graph(names: Sequence[object], relations: Sequence[Relation], measure: str = "") -> Spec:
    """Return a graph with one node per column, and arrows to the explained columns.

    Columns that explain a target only together are connected to a square.

    Parameters
    ----------
    names : names of the columns
    relations : the relations to draw
    measure : name of a measure that does not explain; then the numbers are its scores
    """
    quantity = measure or "explained"
    labels = distinct_labels(names)
    lines = _lines(relations)
    ends = [(line.start, line.end) for line in lines]
    places, width, height = graph_layout(ends)
    columns: list[Spec] = [
        {"x": x, "y": y, "column": labels[node], "side": label_side(node, ends, places)}
        for node, (x, y) in places.items()
        if isinstance(node, int)
    ]
    squares = [
        {
            "x": places[_square(r)][0],
            "y": places[_square(r)][1],
            **_described(r, labels, quantity),
        }
        for r in relations
        if len(r.by) > 1
    ]
    names_at = [
        Label(
            column["x"],
            column["y"] + column["side"],
            min(CHARACTER_WIDTH * len(column["column"]), LABEL_LIMIT) / 2,
        )
        for column in columns
    ]
    drawn = [
        {
            **line_geometry(places[start], places[end], names_at),
            **_described(relation, labels, quantity),
            "arrow": relation.directed,
            "together": len(relation.by) > 1,
        }
        for start, end, relation in lines
    ]
    # Some measures have no upper bound.
    bounded = max((r.explained for r in relations), default=0.0) <= 1
    layers = _layers(drawn, squares, columns, (width, height), quantity, bounded=bounded)
    if len(relations) > MAX_RELATIONS_WITH_NUMBERS:
        layers = layers[:-1]
    together = f"; {len(squares)} of them have several explaining columns" if squares else ""
    return {
        "description": f"Graph of {len(columns)} columns and {len(relations)} relations{together}",
        "title": f"Strongest pairs by {measure}" if measure else "Columns that explain others",
        "width": width,
        "height": height,
        "layer": layers,
    }


def _layers(
    drawn: Sequence[Spec],
    squares: Sequence[Spec],
    columns: Sequence[Spec],
    size: tuple[int, int],
    quantity: str,
    *,
    bounded: bool,
) -> list[Spec]:
    """Return lines, arrowheads, squares, nodes and labels; the numbers are the last layer."""
    width, height = size
    invisible = {"title": None, "labels": False, "ticks": False, "domain": False, "grid": False}
    across = {"type": "quantitative", "axis": invisible, "scale": {"domain": [0, width]}}
    down = {"type": "quantitative", "axis": invisible, "scale": {"domain": [height, 0]}}
    here = {"x": {"field": "x", **across}, "y": {"field": "y", **down}}
    arrowhead = {"x": {"field": "xm", **across}, "y": {"field": "ym", **down}}
    beside = {"x": {"field": "xt", **across}, "y": {"field": "yt", **down}}
    color = {"condition": {"test": "datum.together", "value": ORANGE}, "value": BLUE}
    tooltip = [{"field": "text", "type": "nominal", "title": quantity}]
    line_width = {**({"domain": [0, 1]} if bounded else {}), "range": [0.5, 6]}
    layers: list[Spec] = [
        {
            "data": {"values": drawn},
            "mark": {"type": "rule", "opacity": 0.75},
            "encoding": {
                **here,
                "x2": {"field": "x2"},
                "y2": {"field": "y2"},
                "color": color,
                "strokeWidth": {
                    "field": "explained",
                    "type": "quantitative",
                    "scale": line_width,
                    "legend": {"title": quantity, "orient": "top", "tickCount": 4, "format": ".2"},
                },
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": [line for line in drawn if line["arrow"]]},
            "mark": {"type": "point", "shape": "triangle-right", "filled": True, "opacity": 1},
            "encoding": {
                **arrowhead,
                "angle": {"field": "angle", "type": "quantitative", "scale": None},
                "size": {"value": 110},
                "color": color,
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": squares},
            "mark": {"type": "square", "size": 60, "color": ORANGE, "opacity": 1},
            "encoding": {**here, "tooltip": tooltip},
        },
        {
            "data": {"values": columns},
            "mark": {"type": "circle", "size": 110, "color": BLUE, "opacity": 1},
            "encoding": {**here, "tooltip": [{"field": "column", "type": "nominal"}]},
        },
    ]
    for side in (LABEL_ABOVE, LABEL_BELOW):
        some = [column for column in columns if column["side"] == side]
        text = {"type": "text", "dy": side, "fontSize": 11, "limit": LABEL_LIMIT}
        encoding = {**here, "text": {"field": "column", "type": "nominal"}}
        # Lines must not cross out a name; the page sets the colour of the halo.
        halo = {"style": "halo", "stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.8}
        layers += [
            {"data": {"values": some}, "mark": {**text, **more}, "encoding": encoding}
            for more in (halo, {})
        ]
    numbers = [line for line in drawn if not line["together"]] + [
        {**square, "xt": square["x"] + 1.5 * NUMBER_OFFSET, "yt": square["y"]}
        for square in squares
    ]
    layers.append(
        {
            "data": {"values": numbers},
            "mark": {"type": "text", "fontSize": 9, "opacity": 0.8},
            "encoding": {**beside, "text": {"field": "percent", "type": "nominal"}},
        }
    )
    return layers


def _square(relation: Relation) -> Hashable:
    """Return the node that connects columns which explain a target together."""
    return (relation.by, relation.target)


def _lines(relations: Sequence[Relation]) -> list[_Line]:
    """Return the lines between nodes, each with its relation."""
    lines: list[_Line] = []
    for relation in relations:
        if len(relation.by) == 1:
            lines.append(_Line(relation.by[0], relation.target, relation))
        else:
            square = _square(relation)
            to_square = relation._replace(directed=False)
            lines += [_Line(column, square, to_square) for column in relation.by]
            lines.append(_Line(square, relation.target, relation))
    return lines


def _described(relation: Relation, labels: Sequence[str], quantity: str) -> Spec:
    """Return the number of a relation, and a text for its tooltip."""
    by = " and ".join(labels[column] for column in relation.by)
    percent = (
        f"{relation.explained:.0%}" if quantity == "explained" else f"{relation.explained:.2f}"
    )
    arrow = "->" if relation.directed or len(relation.by) > 1 else "-"
    text = f"{by} {arrow} {labels[relation.target]}: {relation.explained:.4f}"
    return {"explained": round(relation.explained, 4), "percent": percent, "text": text}
