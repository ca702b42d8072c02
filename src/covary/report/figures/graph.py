"""Which column explains which, as a graph."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary.report.figures.style import BLUE, LABEL_LIMIT, ORANGE, Spec, distinct_labels

WIDTH = 900
SPACING = 95
MARGIN = (75, 30)
MOST_AROUND = 8
MOST_WITH_NUMBERS = 40
ARROW_AT = 0.6
BESIDE = 13
ABOVE, BELOW = -12, 14

Places = dict[Hashable, tuple[float, float]]


class Relation(NamedTuple):
    """One column, explained by one other or by several together; all by their numbers."""

    by: tuple[int, ...]
    target: int
    explained: float
    directed: bool = True


def graph(names: Sequence[object], relations: Sequence[Relation], measure: str = "") -> Spec:
    """Return columns as points, and arrows from what explains to what is explained.

    What several columns explain only together is a square that they point to. With the name of a
    measure that does not explain, lines are its scores.
    """
    what = measure or "explained"
    labels = distinct_labels(names)
    lines = _lines(relations)
    places, width, height = _layout([(start, end) for start, end, _ in lines])
    columns = [
        {"x": x, "y": y, "column": labels[node], "side": _side(node, lines, places)}
        for node, (x, y) in places.items()
        if isinstance(node, int)
    ]
    squares = [
        {"x": places[_meeting(r)][0], "y": places[_meeting(r)][1], **_told(r, labels, what)}
        for r in relations
        if len(r.by) > 1
    ]
    drawn = [
        {
            **_between(places[start], places[end]),
            **_told(relation, labels, what),
            "arrow": relation.directed,
            "together": len(relation.by) > 1,
        }
        for start, end, relation in lines
    ]
    invisible = {"title": None, "labels": False, "ticks": False, "domain": False, "grid": False}
    across = {"type": "quantitative", "axis": invisible, "scale": {"domain": [0, width]}}
    down = {"type": "quantitative", "axis": invisible, "scale": {"domain": [height, 0]}}
    here = {"x": {"field": "x", **across}, "y": {"field": "y", **down}}
    middle = {"x": {"field": "xm", **across}, "y": {"field": "ym", **down}}
    beside = {"x": {"field": "xt", **across}, "y": {"field": "yt", **down}}
    color = {"condition": {"test": "datum.together", "value": ORANGE}, "value": BLUE}
    tooltip = [{"field": "words", "type": "nominal", "title": what}]
    thick = {"domain": [0, 1], "range": [0.5, 6]}
    if relations and max(r.explained for r in relations) > 1:
        del thick["domain"]  # some measures have no upper bound
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
                    "scale": thick,
                    "legend": {"title": what, "orient": "top", "tickCount": 4, "format": ".2"},
                },
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": [line for line in drawn if line["arrow"]]},
            "mark": {"type": "point", "shape": "triangle-right", "filled": True, "opacity": 1},
            "encoding": {
                **middle,
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
    for side in (ABOVE, BELOW):
        some = [column for column in columns if column["side"] == side]
        words = {"type": "text", "dy": side, "fontSize": 11, "limit": LABEL_LIMIT}
        text = {**here, "text": {"field": "column", "type": "nominal"}}
        # What is behind a name must not cross it out; the page gives the halo its own colour.
        halo = {"style": "halo", "stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.8}
        layers += [
            {"data": {"values": some}, "mark": {**words, **more}, "encoding": text}
            for more in (halo, {})
        ]
    if len(relations) <= MOST_WITH_NUMBERS:
        numbers = [line for line in drawn if not line["together"]] + [
            {**square, "xt": square["x"] + 1.5 * BESIDE, "yt": square["y"]} for square in squares
        ]
        layers.append(
            {
                "data": {"values": numbers},
                "mark": {"type": "text", "fontSize": 9, "opacity": 0.8},
                "encoding": {**beside, "text": {"field": "percent", "type": "nominal"}},
            }
        )
    together = f", {len(squares)} of them by several columns together" if squares else ""
    return {
        "description": f"Graph of {len(columns)} columns and {len(relations)} relations between "
        f"them{together}",
        "title": f"The strongest pairs by {measure}" if measure else "What explains what",
        "width": width,
        "height": height,
        "layer": layers,
    }


def _meeting(relation: Relation) -> Hashable:
    """Return the node where columns meet that explain something together."""
    return (relation.by, relation.target)


def _lines(relations: Sequence[Relation]) -> list[tuple[Hashable, Hashable, Relation]]:
    """Return from where to where lines go, and for which relation."""
    lines: list[tuple[Hashable, Hashable, Relation]] = []
    for relation in relations:
        if len(relation.by) == 1:
            lines.append((relation.by[0], relation.target, relation))
        else:
            meeting = _meeting(relation)
            to_it = relation._replace(directed=False)
            lines += [(column, meeting, to_it) for column in relation.by]
            lines.append((meeting, relation.target, relation))
    return lines


def _told(relation: Relation, labels: Sequence[str], what: str) -> Spec:
    """Return a relation in words and numbers."""
    by = " and ".join(labels[column] for column in relation.by)
    percent = f"{relation.explained:.0%}" if what == "explained" else f"{relation.explained:.2f}"
    words = f"{by} {'->' if relation.directed or len(relation.by) > 1 else '-'} "
    words += f"{labels[relation.target]}: {relation.explained:.4f}"
    return {"explained": round(relation.explained, 4), "percent": percent, "words": words}


def _between(start: tuple[float, float], end: tuple[float, float]) -> Spec:
    """Return where a line begins and ends, and where its arrow is and points to."""
    (x, y), (x2, y2) = start, end
    length = math.dist(start, end) or 1.0
    return {
        "x": x,
        "y": y,
        "x2": x2,
        "y2": y2,
        "xm": round(x + ARROW_AT * (x2 - x), 1),
        "ym": round(y + ARROW_AT * (y2 - y), 1),
        "xt": round(x + ARROW_AT * (x2 - x) + BESIDE * (y2 - y) / length, 1),
        "yt": round(y + ARROW_AT * (y2 - y) - BESIDE * (x2 - x) / length, 1),
        "angle": round(math.degrees(math.atan2(y2 - y, x2 - x)), 1),
    }


def _side(
    node: Hashable, lines: Sequence[tuple[Hashable, Hashable, Relation]], places: Places
) -> int:
    """Return on which side of a node there is room for its name."""
    x, y = places[node]
    crowd = 0.0
    for start, end, _ in lines:
        if node in (start, end):
            x2, y2 = places[end if start == node else start]
            crowd += (y2 - y) / (math.dist((x, y), (x2, y2)) or 1.0)
    return BELOW if crowd < 0 else ABOVE


def _layout(lines: Sequence[tuple[Hashable, Hashable]]) -> tuple[Places, int, int]:
    """Return where each node goes, in pixels, and how large the picture is.

    Nodes that are connected are laid out by themselves, the largest group first, row by row.
    """
    import networkx as nx

    network = nx.Graph()
    network.add_edges_from(lines)
    number = {node: at for at, node in enumerate(network)}
    groups = sorted(
        nx.connected_components(network),
        key=lambda group: (-len(group), min(number[node] for node in group)),
    )
    places: Places = {}
    left = top = row_height = 0.0
    widest = 0.0
    for group in groups:
        members = sorted(group, key=number.__getitem__)
        inside = _spread(network.subgraph(members), members)
        reach = np.abs(inside).max(axis=0)
        inside[:, 0] *= min(1.0, (WIDTH / 2 - MARGIN[0]) / max(reach[0], 1.0))
        wide, high = 2 * np.minimum(reach, (WIDTH / 2 - MARGIN[0], np.inf)) + 2 * np.array(MARGIN)
        if left > 0 and left + wide > WIDTH:
            left, top, row_height = 0.0, top + row_height, 0.0
        for node, (x, y) in zip(members, inside.tolist(), strict=True):
            places[node] = (round(left + wide / 2 + x, 1), round(top + high / 2 + y, 1))
        left += wide
        widest = max(widest, left)
        row_height = max(row_height, high)
    return places, int(widest), int(top + row_height)


def _lengths(network: Any) -> dict[tuple[Hashable, Hashable], float]:
    """Give each line a length: of many around one node some go further, or names would collide."""
    for one, other in network.edges:
        network.edges[one, other]["length"] = 1.0
    for hub in network:
        around = [node for node in network[hub] if len(network[node]) == 1]
        if len(around) > MOST_AROUND:
            for at, node in enumerate(around):
                network.edges[hub, node]["length"] = 1.0 + 0.8 * (at % 3)
    return {(a, b): network.edges[a, b]["length"] for a, b in network.edges}


def _spread(network: Any, nodes: Sequence[Hashable]) -> npt.NDArray[np.float64]:
    """Return places of connected nodes around the origin, the longer side lying flat."""
    import networkx as nx

    wanted = _lengths(network)
    found = nx.kamada_kawai_layout(network, weight="length")
    lengths = [math.dist(found[a], found[b]) / wanted[a, b] for a, b in network.edges]
    places = np.array([found[node] for node in nodes]) * (SPACING / np.median(lengths))
    places -= places.mean(axis=0)
    _, directions = np.linalg.eigh(places.T @ places)
    places = places @ directions[:, ::-1]
    return np.asarray(places - (places.min(axis=0) + places.max(axis=0)) / 2)
