"""Shapes of the map of a table, in pixels: boxes, curves, and the width of a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

FONT_SIZE = 12.5
# How far a turn bulges out.
TURN = 22.0
# Widths of characters, as fractions of the font size; those of common fonts at most.
NARROW, USUAL, WIDE, FULL = 0.34, 0.6, 0.9, 1.1
NARROW_LETTERS = frozenset("ijltfr.,;:'|!()[]{}I ")
WIDE_LETTERS = frozenset("mwMW@%…")

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return self.y + self.height / 2

    def moved(self, x: float, y: float) -> Box:
        """Return the box at another place."""
        return self._replace(x=self.x + x, y=self.y + y)


class Curve(NamedTuple):
    """A cubic Bézier curve: its ends and its two control points."""

    start: Point
    out: Point
    into: Point
    end: Point

    def at(self, t: float) -> Point:
        """Return the point at a fraction of the curve."""
        weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
        x = sum(w * point[0] for w, point in zip(weights, self, strict=True))
        y = sum(w * point[1] for w, point in zip(weights, self, strict=True))
        return (x, y)

    def moved(self, x: float, y: float) -> Curve:
        """Return the curve at another place."""
        return Curve(*((px + x, py + y) for px, py in self))


Path = tuple[Curve, ...]


def line(start: Point, end: Point) -> Curve:
    """Return a straight line."""
    return Curve(start, start, end, end)


def bend(start: Point, end: Point) -> Curve:
    """Return a curve that leaves to the right and arrives from the left."""
    middle = (start[0] + end[0]) / 2
    return Curve(start, (middle, start[1]), (middle, end[1]), end)


def arc(start: Point, end: Point) -> Curve:
    """Return a curve that leaves to the side of its end, and arrives there from the left."""
    if end[0] > start[0]:
        return bend(start, end)
    return Curve(start, (start[0] - TURN, start[1]), (end[0] - TURN, end[1]), end)


def turn(start: Point, end: Point, side: int) -> Curve:
    """Return a curve that turns back: to the right (1) or to the left (-1) of its ends."""
    bulge = side * TURN * 4 / 3
    return Curve(start, (start[0] + bulge, start[1]), (end[0] + bulge, end[1]), end)


def path_text(path: Path) -> str:
    """Return a path in the notation of SVG.

    Examples
    --------
    >>> path_text((line((0, 0), (10, 0)), bend((10, 0), (20, 4))))
    'M0 0L10 0C15 0 15 4 20 4'

    """
    text = f"M{_numbers(path[0].start)}"
    for curve in path:
        if (curve.start, curve.end) == (curve.out, curve.into):
            text += f"L{_numbers(curve.end)}"
        else:
            text += f"C{_numbers(curve.out, curve.into, curve.end)}"
    return text


def _numbers(*points: Point) -> str:
    return " ".join(f"{round(number, 1):g}" for point in points for number in point)


def sampled(path: Path, steps: int = 12) -> list[Point]:
    """Return points on a path, the ends of all curves included."""
    points = [path[0].start]
    for curve in path:
        straight = (curve.start, curve.end) == (curve.out, curve.into)
        n_steps = 1 if straight else steps
        points += [curve.at(step / n_steps) for step in range(1, n_steps + 1)]
    return points


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Return the approximate width of a text; rather too large than too small.

    Examples
    --------
    >>> text_width("ill", 10), text_width("WWW", 10)
    (10.2, 27.0)

    """
    return round(size * sum(map(_character_width, text)), 1)


def _character_width(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return FULL
    if character in NARROW_LETTERS:
        return NARROW
    if character in WIDE_LETTERS:
        return WIDE
    return 0.72 if character.isupper() else USUAL


def bounds(boxes: Sequence[Box], paths: Sequence[Path]) -> tuple[float, float]:
    """Return the largest x and y of all boxes and paths."""
    ends = [(box.right, box.y + box.height) for box in boxes]
    ends += [point for path in paths for point in sampled(path)]
    return max(x for x, _ in ends), max(y for _, y in ends)
