"""Layout of a graph: places of its nodes, lines and labels, in pixels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from covary.array_types import Floats
from covary.plots.figures.style import Spec

WIDTH = 900
SPACING = 95
MARGIN = (75, 30)
MAX_EQUAL_LEAVES = 8
ARROW_AT = 0.6
# Where numbers may be on a line, best first, and half of their size plus that of a label.
NUMBER_AT = (ARROW_AT, 0.45, 0.75, 0.3)
NUMBER_SIZE = (12, 11)
CHARACTER_WIDTH = 6
NUMBER_OFFSET = 13
LABEL_ABOVE, LABEL_BELOW = -12, 14

Line = tuple[Hashable, Hashable]
Places = dict[Hashable, tuple[float, float]]


def graph_layout(lines: Sequence[Line]) -> tuple[Places, int, int]:
    """Return the place of each node, the width and the height.

    Each connected component has its own layout. The components fill lines, the largest first.
    """
    import networkx as nx

    network = nx.Graph()
    network.add_edges_from(lines)
    number = {node: at for at, node in enumerate(network)}
    components = sorted(
        nx.connected_components(network),
        key=lambda component: (-len(component), min(number[node] for node in component)),
    )
    places: Places = {}
    left = top = line_height = 0.0
    widest = 0.0
    for component in components:
        nodes = sorted(component, key=number.__getitem__)
        inside = _component_layout(network.subgraph(nodes), nodes)
        extent = np.abs(inside).max(axis=0)
        inside[:, 0] *= min(1.0, (WIDTH / 2 - MARGIN[0]) / max(extent[0], 1.0))
        limits = (WIDTH / 2 - MARGIN[0], np.inf)
        width, height = 2 * np.minimum(extent, limits) + 2 * np.array(MARGIN)
        if left > 0 and left + width > WIDTH:
            left, top, line_height = 0.0, top + line_height, 0.0
        for node, (x, y) in zip(nodes, inside.tolist(), strict=True):
            places[node] = (round(left + width / 2 + x, 1), round(top + height / 2 + y, 1))
        left += width
        widest = max(widest, left)
        line_height = max(line_height, height)
    return places, int(widest), int(top + line_height)


class Label(NamedTuple):
    """The place of a name: its centre and half of its width."""

    x: float
    y: float
    half_width: float


def line_geometry(
    start: tuple[float, float], end: tuple[float, float], labels: Sequence[Label] = ()
) -> Spec:
    """Return the ends of a line, the place and angle of its arrowhead, and of its number.

    The number is beside the line, and not on a label if possible.
    """
    (x, y), (x2, y2) = start, end
    length = math.dist(start, end) or 1.0
    across = (NUMBER_OFFSET * (y2 - y) / length, -NUMBER_OFFSET * (x2 - x) / length)
    beside = [
        (x + at * (x2 - x) + side * across[0], y + at * (y2 - y) + side * across[1])
        for at in NUMBER_AT
        for side in (1, -1)
    ]
    xt, yt = next((place for place in beside if _is_free(place, labels)), beside[0])
    return {
        "x": x,
        "y": y,
        "x2": x2,
        "y2": y2,
        "xm": round(x + ARROW_AT * (x2 - x), 1),
        "ym": round(y + ARROW_AT * (y2 - y), 1),
        "xt": round(xt, 1),
        "yt": round(yt, 1),
        "angle": round(math.degrees(math.atan2(y2 - y, x2 - x)), 1),
    }


def _is_free(place: tuple[float, float], labels: Sequence[Label]) -> bool:
    """Return whether a number at a place overlaps no label."""
    return all(
        abs(place[0] - label.x) > label.half_width + NUMBER_SIZE[0]
        or abs(place[1] - label.y) > NUMBER_SIZE[1]
        for label in labels
    )


def label_side(node: Hashable, lines: Sequence[Line], places: Places) -> int:
    """Return the vertical offset of a label: above or below its node, away from its lines."""
    x, y = places[node]
    direction = 0.0
    for start, end in lines:
        if node in (start, end):
            x2, y2 = places[end if start == node else start]
            direction += (y2 - y) / (math.dist((x, y), (x2, y2)) or 1.0)
    return LABEL_BELOW if direction < 0 else LABEL_ABOVE


def _component_layout(network: Any, nodes: Sequence[Hashable]) -> Floats:
    """Return places of connected nodes around the origin; the longer side is horizontal."""
    import networkx as nx

    wanted = _line_lengths(network)
    layout = nx.kamada_kawai_layout(network, weight="length")
    lengths = [math.dist(layout[a], layout[b]) / wanted[a, b] for a, b in network.edges]
    places = np.array([layout[node] for node in nodes]) * (SPACING / np.median(lengths))
    places -= places.mean(axis=0)
    _, directions = np.linalg.eigh(places.T @ places)
    places = places @ directions[:, ::-1]
    return np.asarray(places - (places.min(axis=0) + places.max(axis=0)) / 2)


def _line_lengths(network: Any) -> dict[Line, float]:
    """Return a length for each line; around a node with many leaves they differ.

    With equal lengths the labels of the leaves would overlap.
    """
    for one, other in network.edges:
        network.edges[one, other]["length"] = 1.0
    for hub in network:
        leaves = [node for node in network[hub] if len(network[node]) == 1]
        if len(leaves) > MAX_EQUAL_LEAVES:
            for at, node in enumerate(leaves):
                network.edges[hub, node]["length"] = 1.0 + 0.8 * (at % 3)
    return {(a, b): network.edges[a, b]["length"] for a, b in network.edges}
