"""Layout of one group of the map of a table: boxes from left to right, and lines between them.

A column is to the right of the columns that explain it. Rows of boxes and rows of long lines are
different rows, and lines change their row only between two layers. So no line runs through a box.
A group that is too wide is drawn as a tree: every column is beside the column that explains most
of it alone, and the lines of the other explaining columns, its helpers, are faint and run behind
the boxes. If the tree is too wide, it continues below in another band, like a text. Lines that
skip a band may run through boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covary.plots.figures.map_geometry import (
    TURN,
    Box,
    Path,
    Point,
    arc,
    bend,
    bounds,
    line,
    turn,
)
from covary.plots.figures.map_layers import Layers, MapLink

BOX_HEIGHT = 21.0
ROW_HEIGHT = 29.0
# The row of a line without a column.
LANE_HEIGHT = 11.0
# Between two layers, and more if there are joints.
GAP = 46.0
JOINT_GAP = 24.0
# From a joint to its target, and from the end of a line to the tip of its arrow.
JOINT_DISTANCE = 27.0
ARROW = 8.0
JOINT_SIZE = 8.0


class Route(NamedTuple):
    """A line of a link, from a column or a joint.

    Parameters
    ----------
    target : the target of the link
    path : the curves
    start : the column where the line starts; None if it starts at the joint
    is_faint : whether it is the line of a helper
    """

    target: int
    path: Path
    start: int | None
    is_faint: bool = False


class GroupLayout(NamedTuple):
    """Places in a group, from its left upper corner.

    Parameters
    ----------
    boxes : of the columns
    joints : by target, the point where several explaining columns meet
    routes : the lines
    width, height : the size
    """

    boxes: dict[int, Box]
    joints: dict[int, Point]
    routes: tuple[Route, ...]
    width: float
    height: float


def group_layout(
    columns: Sequence[int],
    links: Sequence[MapLink],
    names: Sequence[str],
    widths: Sequence[float],
    max_width: float,
    max_tree_width: float,
) -> GroupLayout:
    """Return the layout of connected columns.

    Parameters
    ----------
    columns, links : the group
    names, widths : the texts in the boxes of all columns, and the widths of these boxes
    max_width, max_tree_width : the group is a tree if it would be wider than the first number, and
        wider than the second one only if a single box is
    """
    rows = _Rows(Layers(columns, links, names), widths, max_width)
    if rows.n_bands > 1:
        rows = _Rows(Layers(columns, links, names, only_main=True), widths, max_tree_width)
    routes = tuple(_Routes(rows).all())
    boxes = list(rows.boxes.values())
    width, height = bounds(boxes, [route.path for route in routes])
    return GroupLayout(rows.boxes, rows.joints, routes, width, height)


class _Rows:
    """The place of each column: its layer gives x, its row gives y."""

    def __init__(self, layers: Layers, widths: Sequence[float], max_width: float) -> None:
        self.layers = layers
        self.boxes: dict[int, Box] = {}
        # By target: rows of long lines in the band of the target; rows below the band of the
        # first explaining column, for lines that go back to the left.
        self.lanes: dict[int, float] = {}
        self.lanes_back: dict[int, float] = {}
        self.layer_widths = self._layer_widths(widths)
        self.band_of_layer = self._bands(max_width)
        self._unstagger()
        self.layer_x = self._layer_places()
        self.row: dict[int, float] = {}
        self._bottom = 0.0
        for band in range(self.n_bands):
            self._place_band(band)
        for column, middle in self.row.items():
            x = self.layer_x[self.layers.depth[column]]
            y = middle - BOX_HEIGHT / 2
            self.boxes[column] = Box(x, y, widths[column], BOX_HEIGHT)
        self.joints = {
            target: (self.boxes[target].x - JOINT_DISTANCE, self.row[target])
            for target in self.layers.links
            if self.layers.has_joint(target)
        }

    # ------------------------------------------------------------ layers and bands

    def _layer_widths(self, widths: Sequence[float]) -> list[float]:
        found = [0.0] * (max(self.layers.depth.values()) + 1)
        for column, depth in self.layers.depth.items():
            found[depth] = max(found[depth], widths[column])
        return found

    def _gap_before(self, layer: int) -> float:
        layers = self.layers
        has_joint = any(layers.depth[c] == layer and layers.has_joint(c) for c in layers.links)
        return GAP + JOINT_GAP * has_joint

    def _bands(self, max_width: float) -> list[int]:
        """Return the band of each layer: as many layers as fit beside each other."""
        bands, used = [0], self.layer_widths[0]
        for layer in range(1, len(self.layer_widths)):
            needed = self._gap_before(layer) + self.layer_widths[layer]
            fits = used + needed + 2 * TURN <= max_width
            # A band begins with a gap for the lines that come from above.
            used = used + needed if fits else needed
            bands.append(bands[-1] + (not fits))
        return bands

    def _unstagger(self) -> None:
        """Move columns back whose own layer and that of their parent are in different bands."""
        layers = self.layers
        for column in layers.columns:
            parent = layers.parent[column]
            if parent is not None and layers.is_staggered(column):
                band = self.band_of_layer[layers.depth[column]]
                if band != self.band_of_layer[layers.depth[parent]]:
                    layers.depth[column] -= 1

    def _layer_places(self) -> list[float]:
        places: list[float] = []
        right = 0.0
        for layer, width in enumerate(self.layer_widths):
            if layer > 0:
                starts_band = self.band_of_layer[layer] != self.band_of_layer[layer - 1]
                right = (0.0 if starts_band else right) + self._gap_before(layer)
            places.append(right)
            right += width
        return places

    @property
    def n_bands(self) -> int:
        """The number of bands."""
        return self.band_of_layer[-1] + 1

    def band(self, column: int) -> int:
        """Return the band of a column."""
        return self.band_of_layer[self.layers.depth[column]]

    def layer_end(self, layer: int) -> float:
        """Return the right edge of the widest box of a layer."""
        return self.layer_x[layer] + self.layer_widths[layer]

    # ------------------------------------------------------------ rows

    def _place_band(self, band: int) -> None:
        members = [column for column in self.layers.columns if self.band(column) == band]
        for root in self._ordered_roots(band, members):
            self._place_tree(root, band)
        self._bottom += LANE_HEIGHT / 2
        for target, link in self.layers.links.items():
            before = [b for b in link.by if self.goes_back(b, target)]
            if before and min(map(self.band, before)) == band:
                self.lanes_back[target] = self._lane()
        self._bottom += ROW_HEIGHT / 4

    def _ordered_roots(self, band: int, members: Sequence[int]) -> list[int]:
        """Return the roots of a band; those that explain columns together are neighbours."""
        layers = self.layers
        roots = [c for c in members if self._is_root(c, band)]
        if band > 0:
            above = {c: self.row.get(p) for c in roots if (p := layers.parent[c]) is not None}
            return sorted(roots, key=lambda c: (above.get(c) or 0.0, layers.names[c]))
        trees = {root: {root, *layers.below(root)} for root in roots}
        waiting = sorted(roots, key=lambda c: (-len(trees[c]), layers.names[c]))
        ordered: list[int] = []
        placed: set[int] = set()
        while waiting:
            near = {c: self._common_links(trees[c], placed) for c in waiting}
            following = max(waiting, key=lambda c: near[c])  # of equals, the first
            waiting.remove(following)
            ordered.append(following)
            placed |= trees[following]
        return ordered

    def _is_root(self, column: int, band: int) -> bool:
        layers = self.layers
        beside = layers.satellite_of.get(column)
        if beside is not None:
            return self.band(beside) != band
        parent = layers.parent[column]
        return parent is None or self.band(parent) != band

    def _common_links(self, tree: set[int], placed: set[int]) -> int:
        links = [{*link.by, link.target} for link in self.layers.links.values()]
        return sum(not tree.isdisjoint(each) and not placed.isdisjoint(each) for each in links)

    def _place_tree(self, root: int, band: int) -> None:
        """Give rows to a column and all columns below it in this band.

        An explicit stack, because chains may be longer than the recursion limit.
        """
        layers = self.layers
        stack: list[tuple[int, bool]] = [(root, False)]
        while stack:
            column, is_finished = stack.pop()
            below = [c for c in layers.children.get(column, ()) if self.band(c) == band]
            if is_finished:
                # A column is beside one of its children, because only these rows have boxes.
                beside = [c for c in below if not layers.is_staggered(c)]
                self.row[column] = self.row[beside[(len(beside) - 1) // 2]]
                self._place_satellites(column, band)
                continue
            if self._needs_lane(column):
                self.lanes[column] = self._lane()
            if not below:
                self.row[column] = self._free_row(layers.is_staggered(column))
                self._place_satellites(column, band)
                continue
            stack.append((column, True))
            stack += [(each, False) for each in reversed(below)]

    def _place_satellites(self, column: int, band: int) -> None:
        for each in self.layers.columns:
            if self.layers.satellite_of.get(each) == column and self.band(each) == band:
                self.row[each] = self._free_row()

    def _free_row(self, staggered: bool = False) -> float:
        """Return the middle of a new row; a staggered one is between two others."""
        if staggered:
            return self._bottom
        self._bottom += ROW_HEIGHT
        return self._bottom - ROW_HEIGHT / 2

    def _lane(self) -> float:
        self._bottom += LANE_HEIGHT
        return self._bottom - LANE_HEIGHT / 2

    def _needs_lane(self, target: int) -> bool:
        link = self.layers.links.get(target)
        return link is not None and any(self.is_far(b, target) for b in link.by)

    def is_far(self, before: int, target: int) -> bool:
        """Return whether there are layers between two columns of one band."""
        depth = self.layers.depth
        same_band = self.band(before) == self.band(target)
        is_far = depth[target] - depth[before] > 1
        return same_band and is_far and not self.layers.is_staggered(target)

    def goes_back(self, before: int, target: int) -> bool:
        """Return whether a line goes to another band, or to the left."""
        depth = self.layers.depth
        return self.band(before) != self.band(target) or depth[before] >= depth[target]


class _Routes:
    """The lines of a group."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def all(self) -> list[Route]:
        """Return the lines of all links."""
        routes = []
        layers = self.rows.layers
        for target, link in layers.links.items():
            joint = self.rows.joints.get(target)
            end = (self.rows.boxes[target].x - ARROW * link.directed, self.rows.row[target])
            for column in link.by:
                path = self._path(column, target, joint or end)
                routes.append(Route(target, path, column))
            if joint is not None:
                routes.append(Route(target, (line(joint, end),), None))
                for column in layers.helpers[target]:
                    box = self.rows.boxes[column]
                    side = box.right if joint[0] > box.right else box.x
                    path = (arc((side, box.middle), joint),)
                    routes.append(Route(target, path, column, is_faint=True))
        return routes

    def _path(self, column: int, target: int, end: Point) -> Path:
        rows = self.rows
        layer = rows.layers.depth[column]
        box = rows.boxes[column]
        # Other boxes of this layer are wider.
        out = (rows.layer_end(layer), box.middle)
        leaving = line((box.right, box.middle), out)
        if rows.goes_back(column, target):
            return (leaving, *self._path_back(target, out, end))
        if rows.is_far(column, target):
            lane = rows.lanes[target]
            last = rows.layer_end(rows.layers.depth[target] - 1)
            onto = (rows.layer_x[layer + 1], lane)
            along = line(onto, (last, lane))
            return (leaving, bend(out, onto), along, bend((last, lane), end))
        if rows.layers.is_staggered(target):
            beside = (rows.layer_x[layer + 1], end[1])
            return (leaving, bend(out, beside), line(beside, end))
        return (leaving, bend(out, end))

    def _path_back(self, target: int, out: Point, end: Point) -> Path:
        """Return a path below the band and back to the left, or on to the right."""
        lane = self.rows.lanes_back[target]
        left = self.rows.boxes[target].x - JOINT_DISTANCE / 2 - JOINT_SIZE
        left = min(left, end[0])
        if out[0] + TURN < left - TURN:
            down, up = (out[0] + TURN, lane), (left - TURN, lane)
            return (bend(out, down), line(down, up), bend(up, (left, end[1])))
        down, up = (out[0], lane), (left, lane)
        arriving = turn(up, (left, end[1]), -1)
        return (turn(out, down, 1), line(down, up), arriving, line((left, end[1]), end))
