"""Layout of the map of a table: its groups side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covary.plots.figures.map_geometry import Box, Point
from covary.plots.figures.map_group import GroupLayout, Route, group_layout
from covary.plots.figures.map_layers import MapLink

WIDTH = 1040.0
# A map that would be higher than this is wider.
MAX_HEIGHT = 1000.0
WIDE = 1560.0
PADDING = 13.0
# Between two groups.
SPACE = 12.0


class MapLayout(NamedTuple):
    """Places of everything on a map, in pixels.

    Parameters
    ----------
    boxes : of the columns
    joints : by target, the point where several explaining columns meet
    routes : the lines
    panels : one rectangle per group
    width, height : the size of the map
    """

    boxes: dict[int, Box]
    joints: dict[int, Point]
    routes: tuple[Route, ...]
    panels: tuple[Box, ...]
    width: float
    height: float


def map_layout(
    links: Sequence[MapLink], names: Sequence[str], widths: Sequence[float]
) -> MapLayout:
    """Return the layout of all linked columns.

    Parameters
    ----------
    links : the links; a column is the target of at most one
    names, widths : the texts in the boxes of the columns, and the widths of these boxes
    """
    layouts = [
        group_layout(columns, own, names, widths, WIDTH - 2 * PADDING, WIDE - 2 * PADDING)
        for columns, own in _components(links)
    ]
    layouts.sort(key=lambda each: (-each.height, -each.width, _first_name(each, names)))
    sizes = [(each.width + 2 * PADDING, each.height + 2 * PADDING) for each in layouts]
    corners = _packed(sizes, max([WIDTH, *(width for width, _ in sizes)]))
    if any(y + size[1] > MAX_HEIGHT for (_, y), size in zip(corners, sizes, strict=True)):
        corners = _packed(sizes, WIDE)
    boxes: dict[int, Box] = {}
    joints: dict[int, Point] = {}
    routes: list[Route] = []
    for (left, top), own in zip(corners, layouts, strict=True):
        x, y = left + PADDING, top + PADDING
        boxes |= {column: box.moved(x, y) for column, box in own.boxes.items()}
        joints |= {target: (at[0] + x, at[1] + y) for target, at in own.joints.items()}
        for route in own.routes:
            path = tuple(curve.moved(x, y) for curve in route.path)
            routes.append(route._replace(path=path))
    panels = tuple(Box(*corner, *size) for corner, size in zip(corners, sizes, strict=True))
    width = max((panel.right for panel in panels), default=0.0)
    height = max((panel.y + panel.height for panel in panels), default=0.0)
    return MapLayout(boxes, joints, tuple(routes), panels, width, height)


def _components(links: Sequence[MapLink]) -> list[tuple[list[int], list[MapLink]]]:
    """Return connected columns with their links."""
    import networkx as nx

    network = nx.Graph()
    for link in links:
        network.add_edges_from((column, link.target) for column in link.by)
    groups = []
    for members in nx.connected_components(network):
        own = [link for link in links if link.target in members]
        groups.append((sorted(members), own))
    return groups


def _first_name(layout: GroupLayout, names: Sequence[str]) -> str:
    return min(names[column] for column in layout.boxes)


def _packed(sizes: Sequence[tuple[float, float]], max_width: float) -> list[Point]:
    """Return the left upper corners of rectangles: each as high as possible, then left."""
    placed: list[Box] = []
    for width, height in sizes:
        lefts = sorted({0.0, *(box.right + SPACE for box in placed)})
        tops = sorted({0.0, *(box.y + box.height + SPACE for box in placed)})
        fitting = [left for left in lefts if left == 0.0 or left + width <= max_width]
        places = (Box(left, top, width, height) for top in tops for left in fitting)
        placed.append(next(each for each in places if not _overlaps(each, placed)))
    return [(box.x, box.y) for box in placed]


def _overlaps(box: Box, others: Sequence[Box]) -> bool:
    """Return whether a box is too close to one of the others."""
    return any(
        box.x < other.right + SPACE
        and other.x < box.right + SPACE
        and box.y < other.y + other.height + SPACE
        and other.y < box.y + box.height + SPACE
        for other in others
    )
