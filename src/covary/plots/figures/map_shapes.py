"""`TableMap`: everything that is drawn on the map of a table."""

from __future__ import annotations

from typing import NamedTuple

from covary.plots.figures.map_geometry import Box, Path, Point

# The font size of the numbers in boxes.
NUMBER_SIZE = 11.0
# Around the text in a box, and between its two texts.
MARGIN = 8.0
# The kind of the faint lines of a group that is drawn as a tree.
HELPS = "helps"


class MapColumn(NamedTuple):
    """A column on the map.

    Parameters
    ----------
    column : its position in the table
    text : its name, shortened
    number : the explained fraction, or the kind of an exact link; empty if it has no link
    box : its place
    is_explained : whether it is the target of a link
    tooltip : its name and its link
    """

    column: int
    text: str
    number: str
    box: Box
    is_explained: bool
    tooltip: str


class MapLine(NamedTuple):
    """A line on the map.

    Parameters
    ----------
    link : the number of its link
    kind : "explains", "together" with several explaining columns, "exact", or "helps" for the
        faint line of a further explaining column
    path : its curves
    width : its width in pixels
    has_arrow : whether it ends with an arrow
    columns : the positions of its ends; a joint counts as the target
    tooltip : the link as a sentence
    """

    link: int
    kind: str
    path: Path
    width: float
    has_arrow: bool
    columns: tuple[int, ...]
    tooltip: str


class MapJoint(NamedTuple):
    """The point where several explaining columns meet."""

    link: int
    kind: str
    place: Point
    tooltip: str


class TableMap(NamedTuple):
    """Everything on a map, in pixels from its left upper corner.

    Parameters
    ----------
    columns, lines, joints : what is drawn
    panels : one rectangle per group
    width, height : the size
    description : what it shows, in one sentence
    left_out : a sentence if columns with links are not drawn, else empty
    """

    columns: tuple[MapColumn, ...]
    lines: tuple[MapLine, ...]
    joints: tuple[MapJoint, ...]
    panels: tuple[Box, ...]
    width: float
    height: float
    description: str
    left_out: str = ""

    @property
    def has_helpers(self) -> bool:
        """Whether some lines are faint."""
        return any(line.kind == HELPS for line in self.lines)
